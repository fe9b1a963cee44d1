"""What an undiscovered relevant document does to AP, MAP and the order of the runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.average_precision import average_precision
from store.analysis.rankings import UNJUDGED
from store.analysis.undiscovered import (
    ENDED,
    JUDGED,
    NO_RUN,
    discovery_effect,
    discovery_effect_below,
    discovery_range,
    sensitivity,
)
from store.errors import ArgumentError
from tests.store.analysis.plain_lists import arrays_of, plain_ap


def at_ranks(ranks: Iterable[int], width: int) -> NDArray[np.bool_]:
    """Return a list of `width` ranks, relevant at the given ones."""
    return np.isin(np.arange(1, width + 1), list(ranks))


# One discovery, by hand and by the paper.


@pytest.mark.parametrize(
    ("rank", "after", "change"),
    [
        # Relevant at 1, 3, 6; R = 4. After a discovery R = 5 and S = 13/6 + g.
        (2, 0.7333333, 0.1916667),  # g = 1.5
        (7, 0.5476190, 0.0059524),  # g = 4/7
        (8, 0.5333333, -0.0083333),  # g = 4/8, below AP = 13/24
        (10, 0.5133333, -0.0283333),  # g = 4/10
    ],
)
def test_one_discovery_by_hand(rank: int, after: float, change: float) -> None:
    """A discovery raises AP above the threshold rank and lowers it below."""
    effect = discovery_effect(at_ranks([1, 3, 6], 10), np.array(4))
    assert float(effect[rank - 1]) == pytest.approx(change, abs=5e-8)
    assert 13 / 24 + float(effect[rank - 1]) == pytest.approx(after, abs=5e-8)


def test_effect_is_undefined_where_the_document_is_relevant() -> None:
    """A rank that is relevant already cannot turn relevant."""
    effect = discovery_effect(at_ranks([1, 3, 6], 10), np.array(4))
    assert (np.flatnonzero(np.isnan(effect)) + 1).tolist() == [1, 3, 6]


def test_first_relevant_document_of_a_topic() -> None:
    """Where R = 0 before, the discovery at rank r gives AP 1/r, counted from 0."""
    effect = discovery_effect(np.zeros((1, 4), dtype=bool), np.array([0]))
    np.testing.assert_array_equal(effect, [[1, 1 / 2, 1 / 3, 1 / 4]])


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


def test_limit_of_the_loss() -> None:
    """With R = 1 at rank 1 a discovery far down costs up to one half; rank 102 beats rank 101."""
    assert discovery_effect_below(1, 1.0, 10**12) == pytest.approx(-0.5, abs=1e-11)
    assert discovery_effect_below(10, 0.5, 102) == pytest.approx(-0.0356506239, abs=5e-11)


def test_special_case_is_wrong_where_documents_are_not_retrieved() -> None:
    """With 6 of 10 relevant documents not retrieved, eq. 20 understates the loss."""
    # S = 4, AP = .4. Exact: (5/101 - .4)/11. Eq. 20: 1/101 - .4/11.
    relevant = at_ranks([1, 2, 3, 4], 101)
    exact = float(discovery_effect(relevant, np.array(10))[100])
    assert exact == pytest.approx(-0.0318631863, abs=5e-11)
    assert discovery_effect_below(10, 0.4, 101) == pytest.approx(-0.0264626463, abs=5e-11)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0.1, 101), "`n_relevant` must be an integer >= 0, but got -1"),
        ((10, 1.5, 101), "`average_precision` must be between 0 and 1, but got 1.5"),
        ((10, 0.5, 10), "`rank` must be above the 10 relevant documents that precede it, but got"),
    ],
)
def test_special_case_refuses_what_cannot_be(arguments: tuple[int, float, int], message: str) -> None:
    """Arguments outside their range are named."""
    with pytest.raises(ArgumentError, match=message):
        discovery_effect_below(*arguments)


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


def test_statuses_are_counted_apart() -> None:
    """Judged, unjudged, ended early and not there are four things."""
    rankings = {
        ("a", "t1"): [1, 2, 3],
        ("a", "t2"): [1, 2, 3],
        ("b", "t1"): [3, 1],
        ("b", "t2"): [],
        ("c", "t1"): [4, 3, 1],
    }
    grades = {"t1": {1: True, 2: False}, "t2": {3: False}}
    result = sensitivity(arrays_of(rankings, grades, 3), depth=2)
    assert result.status.tolist() == [[UNJUDGED, JUDGED], [ENDED, NO_RUN], [JUDGED, NO_RUN]]


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
    # With a third run, far below, the tie is one pair of three, and stays: nothing changed.
    rankings |= {("c", topic): [20, 1] for topic in grades}
    with_c = sensitivity(arrays_of(rankings, grades, 6), depth=5)
    assert np.count_nonzero(with_c.status == UNJUDGED) == 0
    assert with_c.tau_b.tolist() == [1.0] * 3
    assert with_c.tau_ap.tolist() == [1.0] * 3  # c has both above it, rightly: 2/2


def test_nothing_unjudged_changes_nothing() -> None:
    """Where every document at rank N+1 is judged, MAP stays the same to the last bit."""
    rankings = {("a", "t1"): [1, 2, 3], ("b", "t1"): [3, 2, 1], ("a", "t2"): [1], ("b", "t2"): [3]}
    grades = {"t1": {1: True, 2: False, 3: True}, "t2": {1: True, 3: False, 4: True, 5: True}}
    result = sensitivity(arrays_of(rankings, grades, 3), depth=1)
    np.testing.assert_array_equal(result.map_after, [result.map_before, result.map_before])
    assert result.tau_b.tolist() == [1.0, 1.0]


def test_no_rankings_at_all() -> None:
    """Runs without any document are analysed too: every pair of run and topic is without one."""
    result = sensitivity(arrays_of({}, {"t": {1: True}}, 5, ["a", "b"]), depth=2)
    assert np.count_nonzero(result.status == NO_RUN) == 2
    assert result.map_after.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert result.tau_reason == ("all-tied", "all-tied")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, r"`depth` must be an integer >= 1 and below the cutoff \(5\), but got 0"),
        ({"depth": 5}, r"`depth` must be an integer >= 1 and below the cutoff \(5\), but got 5"),
        ({"depth": 2, "scenario": "all"}, "`scenario` must be one of shared, own, but got 'all'"),
        ({"depth": 2, "r_mode": "all"}, "`r_mode` must be one of pool, own, but got 'all'"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, object], message: str) -> None:
    """A rank that is never looked at, or an unknown mode, is named in the error."""
    with pytest.raises(ArgumentError, match=message):
        sensitivity(arrays_of({("a", "t"): [1]}, {"t": {1: True}}, 5), **arguments)  # type: ignore[arg-type]


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


def test_range_where_every_rank_above_is_relevant() -> None:
    """One of three at rank 1, AP 1/3: one more at rank 2 makes it (1 + 1) / 4, and nothing else can be."""
    assert discovery_range(3, 1 / 3, 2) == pytest.approx((1 / 6, 1 / 6))


@pytest.mark.parametrize("arguments", [(-1, 0.5, 3), (1, 1.5, 3), (1, 0.5, 0)])
def test_range_refuses_what_is_out_of_range(arguments: tuple[int, float, int]) -> None:
    """As the special case does."""
    with pytest.raises(ArgumentError):
        discovery_range(*arguments)
