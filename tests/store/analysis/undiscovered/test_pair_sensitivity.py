"""Differences of two runs before and after discoveries, and the document that moves them most."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.run_order import TIED_MAP
from store.analysis.undiscovered.flips import AT, SCENARIOS, At, Scenario
from store.analysis.undiscovered.pairs import (
    FIRST,
    NEITHER,
    PairDiscovery,
    better_first,
    pair_discovery,
    pair_extremes,
    pair_sensitivity,
    sign_moves,
)
from store.analysis.undiscovered.sensitivity import sensitivity
from store.errors import ArgumentError
from tests.store.analysis.drawn_collections import Drawn, drawn_collections
from tests.store.analysis.plain_lists import arrays_of

OUTSIDE = 100
"""A document that no run retrieved."""


def test_two_runs_by_hand() -> None:
    """Runs A and B of formulas.md: the difference 13/24 - .225 after A's rank 7 and B's rank 5.

    B is relevant at 2 and 5 and its rank 3 is unjudged: with it (1/2 + 2/3 + 3/5)/5 = .3533333,
    and A, which lacks it, falls to 13/24 * 4/5 = .4333333. With A's rank 4, which B lacks, A has
    (13/6 + .9166667)/5 = .6166667 and B .18.
    """
    rankings = {("a", "t"): list(range(1, 11)), ("b", "t"): [101, 1, 104, 103, 109, 102]}
    grades = {"t": {1: True, 3: True, 6: True, 109: True, 101: False}}
    arrays = arrays_of(rankings, grades, 10)
    shared = pair_sensitivity(arrays, at="first", depth=2)
    assert float(shared.before.difference[0]) == pytest.approx(13 / 24 - 0.225)
    assert float(shared.after_first.difference[0]) == pytest.approx(0.6166667 - 0.18, abs=1e-7)
    assert float(shared.after_second.difference[0]) == pytest.approx(0.4333333 - 0.3533333, abs=1e-7)
    assert shared.before.t_reasons == ("one-topic",)


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
    np.testing.assert_array_equal(moved.status, flipped.status)
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


def changes(
    case: Drawn, topic: str, pair: tuple[str, str], scenario: Scenario, r_mode: RMode
) -> dict[tuple[str, int], Fraction]:
    """Return the change of the difference by every unjudged document and who has it."""
    before = [case.ap(tag, topic, r_mode) or Fraction(0) for tag in pair]
    result: dict[tuple[str, int], Fraction] = {}
    for holder, tag in zip("ab", pair, strict=True):
        for document in case.unjudged(tag, topic):
            after = []
            for other in pair:
                if scenario == "own" and other != tag:
                    after.append(case.ap(other, topic, r_mode, n_more=1))
                else:
                    after.append(case.ap(other, topic, r_mode, [document]))
            assert None not in after
            x, y = (value or Fraction(0) for value in after)
            result[holder, document] = (x - before[0]) - (y - before[1])
    outside = [
        case.ap(tag, topic, r_mode, n_more=1) if scenario == "own" else case.ap(tag, topic, r_mode, [OUTSIDE])
        for tag in pair
    ]
    x, y = (value or Fraction(0) for value in outside)
    result["neither", OUTSIDE] = (x - before[0]) - (y - before[1])
    return result


@given(drawn_collections(3, 3), st.sampled_from(SCENARIOS), st.sampled_from(R_MODES))
def test_most_moving_document_is_that_of_trying_each(case: Drawn, scenario: Scenario, r_mode: RMode) -> None:
    """No unjudged document of either run, or of neither, moves the difference further."""
    arrays = case.arrays()
    first, second = np.triu_indices(len(case.tags), 1)
    found = pair_extremes(arrays, first, second, scenario=scenario, r_mode=r_mode)
    for place in range(first.size):
        pair = case.tags[first[place]], case.tags[second[place]]
        for column, topic in enumerate(arrays.topics):
            down, up = float(found.down.change[place, column]), float(found.up.change[place, column])
            if any(case.ap(tag, topic, r_mode) is None for tag in pair):
                assert np.isnan([down, up]).all()
                continue
            every = changes(case, topic, pair, scenario, r_mode)
            assert down == pytest.approx(float(min(every.values())), abs=1e-14)
            assert up == pytest.approx(float(max(every.values())), abs=1e-14)
            holder = int(found.down.holder[place, column])
            if holder == NEITHER:
                key = ("neither", OUTSIDE)
            else:
                listed = case.listed(pair[0 if holder == FIRST else 1], topic)
                key = ("a" if holder == FIRST else "b", listed[found.down.column[place, column]])
            assert float(every[key]) == pytest.approx(down, abs=1e-14)
    if case.grades:
        for towards in (True, False):
            one = pair_discovery(arrays, towards=towards, scenario=scenario, r_mode=r_mode)
            check_discovery(case, one, scenario, r_mode, towards=towards)


def check_discovery(
    case: Drawn, one: PairDiscovery, scenario: Scenario, r_mode: RMode, *, towards: bool
) -> None:
    """Compare the document of each pair with the extreme over all topics."""
    topics = sorted(case.grades)
    for place in range(one.first.size):
        pair = case.tags[one.first[place]], case.tags[one.second[place]]
        defined = [t for t in topics if all(case.ap(tag, t, r_mode) is not None for tag in pair)]
        if not defined:
            assert np.isnan(one.after.difference[place])
            assert one.topic[place] == -1
            continue
        every = [
            change for topic in defined for change in changes(case, topic, pair, scenario, r_mode).values()
        ]
        most = float(min(every) if towards else max(every)) / len(defined)
        got = one.after.difference[place] - one.before.difference[place]
        assert got == pytest.approx(most, abs=1e-13)


def test_progress_of_discoveries_is_told_by_topic() -> None:
    """Three topics, and as many steps."""
    topics = ("t", "u", "v")
    rankings = {(tag, topic): ranked for tag, ranked in (("a", [1, 2]), ("b", [2, 3])) for topic in topics}
    arrays = arrays_of(rankings, {topic: {1: True} for topic in topics}, 2)
    done: list[int] = []
    pair_discovery(arrays, towards=True, progress=done.append)
    assert done == [1, 1, 1]


def test_words_for_signs() -> None:
    """Kept, swapped, tied after, parted, tied both times, and undefined."""
    before = np.array([0.2, 0.2, 0.2, 1e-15, -1e-15, np.nan])
    after = np.array([0.1, -0.1, 1e-14, -0.1, 1e-15, 0.1])
    assert sign_moves(before, after).tolist() == [0, 1, 2, 3, 0, -1]


def test_runs_whose_means_are_tied_stand_as_they_come() -> None:
    """Half the tolerance apart in the mean of ten topics is a tie, twice the tolerance is not."""
    for apart, expected in ((TIED_MAP / 2, (0, 1)), (2 * TIED_MAP, (1, 0))):
        first, second = better_first(np.array([[0.0] * 10, [apart] * 10]))
        assert (first.tolist(), second.tolist()) == ([expected[0]], [expected[1]])


def test_one_run_is_no_pair() -> None:
    """A pair needs two runs."""
    arrays = arrays_of({("a", "t"): [1]}, {"t": {1: True}}, 5)
    with pytest.raises(ArgumentError, match="must hold two runs to make a pair, but got 1"):
        pair_sensitivity(arrays, depth=1)
    with pytest.raises(ArgumentError, match="must hold two runs to make a pair, but got 1"):
        pair_discovery(arrays, towards=True)
