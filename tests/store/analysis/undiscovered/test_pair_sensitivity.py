"""Differences of two runs before and after discoveries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.run_order import TIED_MAP
from store.analysis.undiscovered import (
    AT,
    SCENARIOS,
    At,
    Scenario,
    better_first,
    pair_sensitivity,
    sensitivity,
    sign_moves,
)
from store.errors import ArgumentError
from tests.store.analysis.drawn_collections import Drawn, drawn_collections
from tests.store.analysis.plain_lists import arrays_of


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
