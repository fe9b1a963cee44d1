"""Agreement of two orders of the same runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.run_order import TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
from tests.helpers.plain_lists import plain_tau_ap

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


def test_tau_ap_with_ties_by_hand() -> None:
    """A tie made and a tie broken cost the same, half of a swap, and more at the first places.

    Orders a b c d and a b (c d): places 2 and 3 are right, 1/1 and 2/2. Of c and d, the one at
    place 4 has a and b rightly above, and the other half rightly: 2/3 (1 + 1 + 2.5/3) - 1 = 8/9;
    swapped, 2/3 (1 + 1 + 2/3) - 1 = 7/9. Orders a b c d and (a b) c d: place 2 has 1/2 of 1, and
    2/3 (1/2 + 1 + 1) - 1 = 2/3; swapped 1/3.
    """
    untied = np.array([4.0, 3.0, 2.0, 1.0])
    last, first = np.array([4.0, 3.0, 2.0, 2.0]), np.array([4.0, 4.0, 2.0, 1.0])
    for estimate, truth in ((last, untied), (untied, last)):
        assert tau_ap(estimate, truth).tau == pytest.approx(8 / 9, abs=1e-15)
    for estimate, truth in ((first, untied), (untied, first)):
        assert tau_ap(estimate, truth).tau == pytest.approx(2 / 3, abs=1e-15)
    assert tau_ap(np.array([4.0, 3.0, 1.0, 2.0]), untied).tau == pytest.approx(7 / 9, abs=1e-15)
    assert tau_ap(np.array([3.0, 4.0, 2.0, 1.0]), untied).tau == pytest.approx(1 / 3, abs=1e-15)


SET_1 = (
    [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
)
SET_2 = (
    [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
)
SET_3 = (
    [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
)


@pytest.mark.vector("tests of the R package ircor by J. Urbano: tauAP and tauAP_a, 4 decimals")
@pytest.mark.parametrize(
    ("data", "untied", "tied"), [(SET_1, 0.8519, 0.7454), (SET_2, 0.2504, 0.2692), (SET_3, -0.6971, -0.5558)]
)
def test_tau_ap_equals_ircor(data: tuple[list[float], list[float]], untied: float, tied: float) -> None:
    """Without ties tau_AP, with ties in the estimate tau_AP,a: both as their authors print them."""
    truth, estimate = (np.array(scores) for scores in data)
    assert tau_ap(estimate, truth).tau == pytest.approx(untied, abs=6e-5)
    # The package's tests tie the scores by rounding them to one decimal.
    assert tau_ap(estimate.round(1), truth).tau == pytest.approx(tied, abs=6e-5)


few = st.integers(2, 6).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.integers(0, 3).map(float), min_size=size, max_size=size) for _ in "xy")
    )
)


@given(few)
def test_tau_ap_with_ties_equals_a_plain_walk(pair: tuple[list[float], list[float]]) -> None:
    """Ties in either scoring or both, against a walk down every order they may stand for."""
    estimate, truth = pair
    assume(len(set(estimate)) > 1 and len(set(truth)) > 1)
    result = tau_ap(np.array(estimate), np.array(truth))
    assert result.tau == pytest.approx(plain_tau_ap(estimate, truth), abs=1e-12)


@given(scorings)
def test_tau_ap_is_one_for_the_same_order_only(pair: tuple[list[float], list[float]]) -> None:
    """1 says that nothing moved, ties and all; less than 0, that a pair was swapped."""
    estimate, truth = (np.array(scores) for scores in pair)
    assume(len(set(pair[0])) > 1 and len(set(pair[1])) > 1)
    tau = tau_ap(estimate, truth).tau
    is_same = [np.unique(scores, return_inverse=True)[1].tolist() for scores in (estimate, truth)]
    assert (tau == 1) == (is_same[0] == is_same[1])
    assert tau is not None
    assert tau >= 0 or n_swapped_pairs(estimate, truth) > 0


@pytest.mark.parametrize(
    ("estimate", "truth", "reason"),
    [
        ([], [], "fewer-than-two"),
        ([0.3], [0.4], "fewer-than-two"),
        ([1.0, 1.0], [1.0, 2.0], "all-tied"),
        ([1.0, 2.0], [0.5, 0.5], "all-tied"),
    ],
)
def test_undefined_tau_ap_has_a_reason(estimate: list[float], truth: list[float], reason: str) -> None:
    """Without an order to compare there is no number, and the reason is named."""
    assert tau_ap(np.array(estimate), np.array(truth)) == TauResult(None, reason)


def test_tau_ap_ties_within_the_tolerance() -> None:
    """Means equal but for rounding are tied in either scoring."""
    nearly = np.array([3.0, 1.0, 1.0 + 2e-16])
    untied = np.array([3.0, 2.0, 1.0])
    assert tau_ap(nearly, untied, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(untied, nearly, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(nearly, untied).tau == pytest.approx(0.5, abs=1e-15)
