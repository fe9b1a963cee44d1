"""Undiscovered relevant documents: AP, MAP, the order of runs and pairs, against scoring the lists again."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import kendalltau

from store.analysis.measures.average_precision import R_MODES, RMode, average_precision
from store.analysis.rankings import NOT_RETRIEVED, UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.undiscovered import (
    AT,
    ENDED,
    JUDGED,
    NO_RUN,
    SCENARIOS,
    At,
    Scenario,
    better_first,
    check_at,
    choose_flips,
    discovery_effect,
    discovery_effect_below,
    discovery_range,
    flip_topic,
    pair_sensitivity,
    run_thresholds,
    sensitivity,
    threshold_ranks,
)
from store.errors import ArgumentError
from store.ranking import Order
from tests.helpers.plain_lists import (
    Drawn,
    arrays_of,
    as_float,
    drawn_collections,
    plain_ap,
    plain_mean,
    plain_tau_ap,
)
from tests.helpers.trec_covid import MIN_GRADE, covid_arrays, load_qrels, load_rankings


def at_ranks(ranks: Iterable[int], width: int) -> NDArray[np.bool_]:
    """Return a list of `width` ranks, relevant at the given ones."""
    return np.isin(np.arange(1, width + 1), list(ranks))


@given(st.lists(st.booleans(), min_size=1, max_size=25), st.integers(0, 5))
def test_effect_equals_recomputation(relevant: list[bool], unretrieved: int) -> None:
    """Eq. 19 is AP computed again with the document relevant, less AP before."""
    n_relevant = sum(relevant) + unretrieved
    effect = discovery_effect(np.array(relevant), np.array(n_relevant))
    before = plain_ap([bool(flag) for flag in relevant], n_relevant) or Fraction(0)
    for rank in range(len(relevant)):
        if relevant[rank]:
            assert np.isnan(effect[rank])
            continue
        after = plain_ap([*relevant[:rank], True, *relevant[rank + 1 :]], n_relevant + 1)
        assert after is not None
        assert float(effect[rank]) == pytest.approx(float(after - before), abs=1e-14)
        assert -0.5 <= effect[rank] <= 1


TABLE_3 = [
    (10, 0.1, 0.00081),
    (10, 0.3, -0.01737),
    (10, 0.5, -0.03555),
    (50, 0.1, 0.00794),
    (50, 0.3, 0.00402),
    (50, 0.5, 0.00010),
    (100, 0.1, 0.00891),
    (100, 0.3, 0.00693),
    (100, 0.5, 0.00495),
]


@pytest.mark.vector("Kishida 2001, table 3: five decimals")
@pytest.mark.parametrize(("n_relevant", "ap", "printed"), TABLE_3)
def test_table_3(n_relevant: int, ap: float, printed: float) -> None:
    """Eq. 20 at rank 101 gives every printed digit of table 3."""
    assert discovery_effect_below(n_relevant, ap, 101) == pytest.approx(printed, abs=5e-6)


# Ranks within 1..100 whose AP is the column of table 3, to within 2e-6.
RANKS_OF_TABLE_3 = {
    (10, 0.1): [23, 27, 33, 42, 47, 48, 62, 63, 79, 90],
    (10, 0.3): [1, 4, 7, 17, 24, 27, 75, 79, 88, 92],
    (10, 0.5): [1, 2, 3, 5, 16, 27, 31, 46, 69, 74],
    (50, 0.5): [
        *(2, 3, 6, 10, 11, 12, 15, 16, 19, 21, 22, 25, 27, 29, 30, 33, 35, 36, 38, 40, 43, 45),
        *(46, 48, 49, 50, 57, 59, 61, 62, 63, 64, 66, 68, 69, 70, 71, 73, 76, 77, 79, 81, 83),
        *(86, 87, 89, 91, 92, 98, 99),
    ],
}


@pytest.mark.vector("Kishida 2001, table 3: five decimals")
@pytest.mark.parametrize(("n_relevant", "ap", "printed"), TABLE_3)
def test_table_3_from_rankings(n_relevant: int, ap: float, printed: float) -> None:
    """The cells of table 3 that can occur come from whole rankings too; the others cannot."""
    # The least AP with all R documents in the first 100 ranks has them at the very bottom.
    lowest = plain_ap([False] * (100 - n_relevant) + [True] * n_relevant, n_relevant)
    assert lowest is not None
    assert (float(lowest) <= ap) == ((n_relevant, ap) in RANKS_OF_TABLE_3)
    if lowest > ap:
        return
    relevant = at_ranks(RANKS_OF_TABLE_3[n_relevant, ap], 101)
    before = float(average_precision(relevant, np.array(n_relevant)))
    assert before == pytest.approx(ap, abs=2e-6)
    effect = float(discovery_effect(relevant, np.array(n_relevant))[100])
    assert effect == pytest.approx(printed, abs=5e-6)
    assert effect == pytest.approx(discovery_effect_below(n_relevant, before, 101), abs=1e-15)


def test_special_case_is_wrong_where_documents_are_not_retrieved() -> None:
    """With 6 of 10 relevant documents not retrieved, eq. 20 understates the loss."""
    # S = 4, AP = .4. Exact: (5/101 - .4)/11. Eq. 20: 1/101 - .4/11.
    relevant = at_ranks([1, 2, 3, 4], 101)
    exact = float(discovery_effect(relevant, np.array(10))[100])
    assert exact == pytest.approx(-0.0318631863, abs=5e-11)
    assert discovery_effect_below(10, 0.4, 101) == pytest.approx(-0.0264626463, abs=5e-11)


# The analysis of rank N+1.
@pytest.mark.parametrize(
    ("depth", "own_after"), [(1, 0.7333333), (6, 0.5476190), (7, 0.5333333), (9, 0.5133333)]
)
def test_two_runs_by_hand(depth: int, own_after: float) -> None:
    """A, relevant at 1, 3, 6, and B, relevant at 2, 5, move as computed by hand, R being 4."""
    found = depth + 1
    a = list(range(1, 11))
    without = [101, 1, 102, 103, 109, 104]
    with_it = [101, 1, 102, found, 109, 104]
    grades = {"t": {1: True, 3: True, 6: True, 109: True, 102: False}}
    for b, b_shared in ((without, 0.18), (with_it, 0.32)):
        # AP of B: (1/2 + 2/5)/4 = .225; then .9/5, or with rank 4, (1/2 + 2/4 + 3/5)/5.
        arrays = arrays_of({("a", "t"): a, ("b", "t"): b}, grades, 10)
        shared = sensitivity(arrays, depth=depth)
        np.testing.assert_allclose(shared.map_before, [13 / 24, 0.225], rtol=1e-15)
        np.testing.assert_allclose(shared.map_after[0], [own_after, b_shared], atol=5e-8)
        own = sensitivity(arrays, depth=depth, scenario="own")
        np.testing.assert_allclose(own.map_after[0], [own_after, 0.18], atol=5e-8)
        assert float(own.ap_after[0, 0]) == pytest.approx(own_after, abs=5e-8)


def test_topic_that_becomes_defined_stays_out_of_both_means() -> None:
    """A topic with R = 0 enters neither MAP, is counted, and shows its AP after."""
    rankings = {("a", "t1"): [1, 2], ("a", "t2"): [1, 2]}
    result = sensitivity(arrays_of(rankings, {"t1": {}, "t2": {1: True}}, 2), depth=1)
    assert np.isnan(result.ap_before[0, 0])
    assert result.ap_after[0].tolist() == [0.5, 1.0]
    assert result.map_before.tolist() == [1.0]
    assert result.map_after.tolist() == [[1.0]]  # topic t2: (1 + 2/2)/2
    assert result.tau_reason == ("fewer-than-two",)
    assert np.isnan(result.tau_b[0])


def test_means_equal_but_for_rounding_are_tied() -> None:
    """Runs with the same APs on different topics are tied, so no flip can swap them."""
    places = {"a": (1, 2, 6), "b": (2, 6, 1)}
    rankings = {
        (tag, f"t{number}"): [9 if rank == place else rank for rank in range(1, 7)]
        for tag, ranks in places.items()
        for number, place in enumerate(ranks)
    }
    grades = {f"t{number}": {9: True} | dict.fromkeys(range(1, 7), False) for number in range(3)}
    rankings |= {("a", "t3"): [1, 2], ("b", "t3"): [1, 3]}
    grades["t3"] = {1: True}
    result = sensitivity(arrays_of(rankings, grades, 6), depth=1)
    # (1 + 1/2 + 1/6 + 1)/4 in two orders of summation: a is ahead by the last bit.
    assert 0 < result.map_before[0] - result.map_before[1] < 1e-15
    # Each run gets ahead of the other in topic t3 when its own document is found.
    assert result.map_after[0, 0] - result.map_after[0, 1] == pytest.approx(1 / 8)
    assert result.map_after[1, 1] - result.map_after[1, 0] == pytest.approx(1 / 8)
    assert result.n_swapped.tolist() == [0, 0]
    assert result.tau_reason == ("all-tied", "all-tied")
    assert np.isnan(result.tau_ap).all()


@pytest.mark.parametrize(
    ("n_relevant", "ap", "least", "greatest"),
    [
        (10, 0.1, -0.0072907291, 0.0008100810),
        (10, 0.3, -0.0236723672, -0.0173717372),
        (10, 0.5, -0.0400540054, -0.0355535554),
        (50, 0.1, -0.0007959619, 0.0038633275),
        (50, 0.3, -0.0027761600, 0.0038245001),
        (50, 0.5, -0.0047563580, 0.0000970685),
        (100, 0.1, 0.0000882266, 0.0030291148),
        (100, 0.3, 0.0000686207, 0.0035976865),
        (100, 0.5, 0.0000490148, 0.0030879326),
    ],
)
def test_cells_of_table_3_have_the_range_of_what_can_occur(
    n_relevant: int, ap: float, least: float, greatest: float
) -> None:
    """Computed apart, from the bounds of AP for every number of documents above rank 101."""
    found = discovery_range(n_relevant, ap, 101)
    assert found == pytest.approx((least, greatest), abs=5.1e-11)


def test_ranges_hold_what_all_rankings_show() -> None:
    """Every set of relevant ranks above rank 6, with R = 3 of which some are nowhere."""
    for count in range(4):
        for ranks in itertools.combinations(range(1, 6), count):
            ap = sum((place + 1) / rank for place, rank in enumerate(ranks)) / 3
            after = (ap * 3 + (count + 1) / 6) / 4
            found = discovery_range(3, ap, 6)
            assert found is not None
            assert found[0] - 1e-12 <= after - ap <= found[1] + 1e-12
    assert discovery_range(3, 0.0, 6) == pytest.approx((1 / 24, 1 / 24))
    assert discovery_range(2, 0.9, 2) is None


# TREC-COVID round 1: 143 runs, 30 topics, first 120 ranks.
@pytest.mark.parametrize(
    ("order", "depth", "unjudged", "deep_enough"),
    [
        # Counted by other programs from the same files.
        ("docno-asc", 7, 1993, 4270),
        ("docno-asc", 10, 2211, 4262),
        ("docno-asc", 20, 2532, 4252),
        ("docno-asc", 50, 3027, 4151),
        ("trec", 7, 1978, 4270),
        ("trec", 10, 2205, 4262),
        pytest.param("trec", 20, 2530, 4252, marks=pytest.mark.slow),
        pytest.param("trec", 50, 3026, 4151, marks=pytest.mark.slow),
    ],
)
def test_unjudged_documents_of_trec_covid(order: Order, depth: int, unjudged: int, deep_enough: int) -> None:
    """The documents at rank N+1 that nobody judged are as many as counted elsewhere."""
    result = sensitivity(covid_arrays(order=order), depth=depth)
    n = {code: np.count_nonzero(result.status == code) for code in (UNJUDGED, JUDGED, ENDED, NO_RUN)}
    assert n[UNJUDGED] == unjudged
    assert n[UNJUDGED] + n[JUDGED] == deep_enough
    assert n[ENDED] + n[NO_RUN] == 143 * 30 - deep_enough


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_changes_of_trec_covid_equal_recomputation(scenario: Scenario) -> None:
    """In 200 sampled flips the AP of all 143 runs is that of scoring the lists again."""
    arrays, depth = covid_arrays(), 7
    rankings, grades = load_rankings(), load_qrels()
    whole = sensitivity(arrays, depth=depth, scenario=scenario)
    flips = np.argwhere(whole.status == UNJUDGED).tolist()
    sample = random.Random(20).sample(flips, 200)
    total = np.zeros((143, 143))
    for column, topic in enumerate(arrays.topics):
        # Over one topic, MAP is AP.
        single = sensitivity(one_topic(arrays, column), depth=depth, scenario=scenario)
        total += single.map_after
        relevant = {docno for docno, grade in grades[topic].items() if grade >= MIN_GRADE}
        for run in [run for run, of_topic in sample if of_topic == column]:
            discovered = rankings[arrays.tags[run], topic][depth]
            assert discovered not in grades[topic]
            for other, tag in enumerate(arrays.tags):
                counted = relevant | {discovered}
                if scenario == "own" and other != run:
                    counted = relevant
                flags = [docno in counted for docno in rankings.get((tag, topic), [])[:120]]
                hits = [rank for rank, flag in enumerate(flags, start=1) if flag]
                expected = math.fsum(number / rank for number, rank in enumerate(hits, start=1)) / (
                    len(relevant) + 1
                )
                value = float(single.map_after[run, other])
                assert value == pytest.approx(expected, rel=1e-12), (topic, run, tag)
                if other == run:
                    assert whole.ap_after[run, column] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(whole.map_after, total / 30, rtol=1e-12)


def one_topic(arrays: JudgedRankings, column: int) -> JudgedRankings:
    """Return the arrays of one topic alone."""
    kept = slice(column, column + 1)
    parts = {name: getattr(arrays, name)[kept] for name in ("topics", "states", "n_relevant")}
    return replace(arrays, documents=arrays.documents[:, kept], lengths=arrays.lengths[:, kept], **parts)


@given(
    drawn_collections(),
    st.sampled_from(AT),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from(SCENARIOS),
    st.sampled_from(R_MODES),
)
def test_flips_equal_recomputation(
    case: Drawn, at: At, depth: int, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """Wherever documents turn relevant, one or several, every AP, MAP and tau is that of the edited lists."""
    depth = min(depth, case.cutoff - 1)
    arrays = case.arrays()
    how: dict[str, Any] = {"at": at, "depth": depth, "flips": flips, "scenario": scenario, "r_mode": r_mode}
    whole = sensitivity(arrays, **how)
    topics = sorted(case.grades)
    after: dict[tuple[str, str], list[tuple[Fraction | None, Fraction | None]]] = {}
    for column, topic in enumerate(topics):
        one = flip_topic(arrays, column, **how)
        before = [case.ap(tag, topic, r_mode) for tag in case.tags]
        np.testing.assert_allclose(one.before, list(map(as_float, before)), rtol=1e-14)
        for row, tag in enumerate(case.tags):
            places = [place for place in one.columns[row].tolist() if place >= 0]
            found = {case.listed(tag, topic)[place] for place in places}
            assert found <= set(case.unjudged(tag, topic))
            assert (row in one.flipped) == bool(found)
            values = []
            for other in case.tags:
                if scenario == "own" and other != tag:
                    values.append(case.ap(other, topic, r_mode, n_more=len(found)))
                else:
                    values.append(case.ap(other, topic, r_mode, found))
            after[tag, topic] = list(zip(before, values, strict=True))
            if found:
                got = one.after[list(one.flipped).index(row)]
                np.testing.assert_allclose(got, list(map(as_float, values)), rtol=1e-13)
            assert whole.ap_after[row, column] == pytest.approx(as_float(values[row]), rel=1e-13, nan_ok=True)
    for row, tag in enumerate(case.tags):
        maps = []
        for other in range(len(case.tags)):
            pairs = [after[tag, topic][other] for topic in topics]
            mean = plain_mean(new for old, new in pairs if old is not None)
            maps.append((mean, plain_mean(old for old, _ in pairs)))
            assert whole.map_after[row, other] == pytest.approx(as_float(mean), rel=1e-12, nan_ok=True)
        y, x = ([one[side] for one in maps if one[1] is not None] for side in (0, 1))
        if len({*x}) < 2 or len({*y}) < 2:
            assert whole.tau_reason[row] == ("all-tied" if len(x) > 1 else "fewer-than-two")
            continue
        tau = kendalltau([*map(float, x)], [*map(float, y)]).statistic
        assert whole.tau_b[row] == pytest.approx(tau, abs=1e-14)
        assert whole.tau_ap[row] == pytest.approx(plain_tau_ap(y, x), abs=1e-13)
        steps = [(a - b) * (c - d) for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2)]
        assert whole.n_swapped[row] == sum(one < 0 for one in steps)


def test_more_flips_than_ranks_are_those_there_are() -> None:
    """A number of flips beyond any list needs no memory and flips all that is unjudged."""
    arrays = arrays_of({("a", "t"): [1, 2, 3]}, {"t": {1: True}}, 10)
    moved = sensitivity(arrays, at="first", depth=1, flips=10**12)
    assert moved.columns.tolist() == [[[1, 2, -1]]]
    assert moved.map_after.tolist() == [[1.0]]


pair_states = st.integers(0, 9).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([-1, -1, 0, 1]), max_size=width).map(
            lambda row: row + [NOT_RETRIEVED] * (width - len(row))
        ),
        min_size=1,
        max_size=3,
    )
)


@given(pair_states, st.sampled_from(AT), st.integers(1, 6), st.integers(1, 4))
def test_choice_equals_a_plain_loop(rows: list[list[int]], at: str, depth: int, flips: int) -> None:
    """Chosen are the unjudged ranks the words name; the four states of a list stay apart."""
    known = check_at(at, depth, depth + 1)
    rows_of_states = np.array(rows, dtype=np.int8).reshape(len(rows), -1)
    chosen, states = choose_flips(rows_of_states, at=known, depth=depth, flips=flips)
    for row, columns, status, count in zip(
        rows, chosen.tolist(), states.tolist(), np.count_nonzero(chosen >= 0, axis=1).tolist(), strict=True
    ):
        searched = range(depth, depth + flips if at == "next" else len(row))
        unjudged = [place for place in searched if place < len(row) and row[place] == UNJUDGED]
        expected = unjudged[:flips]
        assert columns == expected + [-1] * (flips - len(expected))
        assert count == len(expected)
        length = len(row) - row.count(NOT_RETRIEVED)
        if not length:
            assert status == NO_RUN
        elif expected:
            assert status == UNJUDGED
        else:
            assert status == (ENDED if length <= depth else JUDGED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lowest", 1, 5), "`at` must be one of next, first, but got 'lowest'"),
        (("next", 0, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
        (("first", 5, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, int, int], message: str) -> None:
    """The argument at fault is named."""
    with pytest.raises(ArgumentError, match=message):
        check_at(*arguments)


def first_that_lowers(flags: list[bool], n_relevant: int) -> int:
    """Try rank after rank, of a list that goes on without relevant documents."""
    before = plain_ap(flags, n_relevant)
    if not before:
        return 0
    for rank in range(1, 10_000):
        longer = flags + [False] * (rank - len(flags))
        if longer[rank - 1]:
            continue
        longer[rank - 1] = True
        after = plain_ap(longer, n_relevant + 1)
        assert after is not None
        if after < before:
            return rank
    raise AssertionError


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 4))
def test_threshold_equals_trying_every_rank(flags: list[bool], unretrieved: int) -> None:
    """A discovery lowers AP from the threshold down, also below the list; equal is not lower."""
    n_relevant = sum(flags) + unretrieved
    found = threshold_ranks(np.array(flags, dtype=bool), np.array(n_relevant))
    assert int(found) == first_that_lowers(flags, n_relevant)


@given(drawn_collections(), st.sampled_from(R_MODES))
def test_threshold_of_every_run_and_topic(case: Drawn, r_mode: RMode) -> None:
    """R is of the pool or of the run; without a relevant document there is no threshold."""
    arrays = case.arrays()
    found = run_thresholds(arrays, r_mode=r_mode)
    width = arrays.documents.shape[2]
    for column, topic in enumerate(arrays.topics):
        relevant = case.relevant(topic)
        for row, tag in enumerate(arrays.tags):
            flags = [one in relevant for one in case.listed(tag, topic)]
            flags += [False] * (width - len(flags))
            n_relevant = len(relevant) if r_mode == "pool" else sum(flags)
            assert int(found[row, column]) == first_that_lowers(flags, n_relevant)
            if plain_ap(flags, n_relevant) == Fraction(0):
                assert found[row, column] == 0


def plain_differences(
    case: Drawn,
    r_mode: RMode,
    scenario: Scenario,
    flipped: str,
    found: dict[str, set[int]],
    pair: tuple[str, str],
) -> list[float]:
    """Compute the differences by topic, where both have an AP before, from scratch."""
    result = []
    for topic in sorted(case.grades):
        if any(case.ap(tag, topic, r_mode) is None for tag in pair):
            continue
        values = []
        for tag in pair:
            if scenario == "own" and tag != flipped:
                value = case.ap(tag, topic, r_mode, n_more=len(found[topic]))
            else:
                value = case.ap(tag, topic, r_mode, found[topic])
            assert value is not None
            values.append(value)
        result.append(float(values[0] - values[1]))
    return result


@given(
    drawn_collections(3, 4),
    st.sampled_from(AT),
    st.integers(1, 3),
    st.sampled_from(SCENARIOS),
    st.sampled_from(R_MODES),
)
def test_pairs_equal_recomputation(
    case: Drawn, at: At, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """Difference and t2 are those of the edited lists; the run ahead before comes first."""
    how: dict[str, Any] = {"at": at, "depth": 1, "flips": flips, "scenario": scenario, "r_mode": r_mode}
    arrays = case.arrays()
    moved = pair_sensitivity(arrays, **how)
    flipped = sensitivity(arrays, **how)
    found = {
        tag: {
            topic: {case.listed(tag, topic)[place] for place in places if place >= 0}
            for topic, places in zip(arrays.topics, flipped.columns[row].tolist(), strict=True)
        }
        for row, tag in enumerate(case.tags)
    }
    nothing: dict[str, set[int]] = {topic: set() for topic in case.grades}
    for place, (first, second) in enumerate(zip(moved.first, moved.second, strict=True)):
        a, b = case.tags[first], case.tags[second]
        for tests, whose, documents in (
            (moved.before, a, nothing),
            (moved.after_first, a, found[a]),
            (moved.after_second, b, found[b]),
        ):
            expected = plain_differences(case, r_mode, scenario, whose, documents, (a, b))
            assert tests.n_topics[place] == len(expected)
            if not expected:
                assert np.isnan(tests.difference[place])
                continue
            assert tests.difference[place] == pytest.approx(np.mean(expected), abs=1e-14)
            assert moved.before.difference[place] > -1e-12
            if len(expected) < 2 or np.ptp(expected) < 1e-9:
                assert tests.t_reasons[place] in ("one-topic", "no-variation")
                continue
            peer = stats.ttest_1samp(expected, 0.0)
            assert tests.t[place] == pytest.approx(float(peer.statistic), rel=1e-9, abs=1e-9)
            assert tests.p_t[place] == pytest.approx(float(peer.pvalue), rel=1e-9)


def test_runs_whose_means_are_tied_stand_as_they_come() -> None:
    """Half the tolerance apart in the mean of ten topics is a tie, twice the tolerance is not."""
    for apart, expected in ((TIED_MAP / 2, (0, 1)), (2 * TIED_MAP, (1, 0))):
        first, second = better_first(np.array([[0.0] * 10, [apart] * 10]))
        assert (first.tolist(), second.tolist()) == ([expected[0]], [expected[1]])
