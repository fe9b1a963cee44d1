"""Agreement of two orders of the same runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.run_order import TauResult, kendall_tau_b, n_swapped_pairs
from store.errors import ArgumentError

scorings = st.integers(2, 12).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.integers(0, 6).map(float), min_size=size, max_size=size) for _ in "xy")
    )
)


@given(scorings)
def test_tau_equals_scipy(pair: tuple[list[float], list[float]]) -> None:
    """With and without ties, tau-b is that of scipy."""
    x, y = (np.array(scores) for scores in pair)
    assume(len(set(pair[0])) > 1 and len(set(pair[1])) > 1)
    result = kendall_tau_b(x, y)
    assert result.reason is None
    assert result.tau == pytest.approx(float(stats.kendalltau(x, y).statistic), abs=1e-14)


@given(scorings)
def test_swaps_equal_a_plain_loop(pair: tuple[list[float], list[float]]) -> None:
    """A pair counts as swapped when the two orders are strictly opposite."""
    x, y = pair
    expected = 0
    for i in range(len(x)):
        for j in range(i):
            expected += (x[i] < x[j] and y[i] > y[j]) or (x[i] > x[j] and y[i] < y[j])
    assert n_swapped_pairs(np.array(x), np.array(y)) == expected


def test_ties_by_hand() -> None:
    """Four runs, one tie in each scoring: (4 - 0) / sqrt(5 * 5) = .8."""
    # Pairs of x: ab tied. Pairs of y: cd tied. The other four agree.
    x, y = np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 3.0])
    assert kendall_tau_b(x, y) == TauResult(0.8)
    assert n_swapped_pairs(x, -y) == 4


def test_reversed_order() -> None:
    """The opposite order has tau -1 and every pair swapped."""
    x = np.arange(7.0)
    assert kendall_tau_b(x, -x) == TauResult(-1.0)
    assert n_swapped_pairs(x, -x) == 21


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "fewer-than-two"),
        ([0.3], [0.4], "fewer-than-two"),
        ([1.0, 1.0], [1.0, 2.0], "all-tied"),
        ([1.0, 2.0], [0.5, 0.5], "all-tied"),
    ],
)
def test_undefined_tau_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    """Without a pair to compare there is no number, and the reason is named."""
    assert kendall_tau_b(np.array(x), np.array(y)) == TauResult(None, reason)
    assert n_swapped_pairs(np.array(x), np.array(y)) == 0


def test_tolerance_ties_what_rounding_separates() -> None:
    """Two means equal but for rounding are tied when a tolerance is given."""
    x = np.array([0.1 + 0.2, 0.3, 0.5])  # .30000000000000004, .3
    y = np.array([0.1, 0.2, 0.3])
    assert n_swapped_pairs(x, y) == 1
    assert n_swapped_pairs(x, y, tolerance=1e-12) == 0
    assert kendall_tau_b(x, y).tau == pytest.approx(1 / 3)
    assert kendall_tau_b(x, y, tolerance=1e-12).tau == pytest.approx(2 / math.sqrt(6))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            [1.0],
            [1.0, 2.0],
            r"`y` must be one-dimensional and as long as `x`, but got 'shapes \(1,",
        ),
        ([[1.0]], [[1.0]], "`y` must be one-dimensional"),
        ([1.0, float("nan")], [1.0, 2.0], r"`x` must be finite, but got \[1.0, nan\]"),
        ([1.0, 2.0], [float("inf"), 2.0], "`y` must be finite"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(
    x: list[float], y: list[float], message: str
) -> None:
    """Scorings of different runs, or without a number, are named in the error."""
    with pytest.raises(ArgumentError, match=message):
        kendall_tau_b(np.array(x), np.array(y))
    with pytest.raises(ArgumentError, match=message):
        n_swapped_pairs(np.array(x), np.array(y))
