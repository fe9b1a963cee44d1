"""Agreement of two orders of the same runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.run_order import TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
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


def tau_ap_by_definition(estimate: list[float], truth: list[float]) -> float:
    """Walk down the estimated order, without ties, as Yilmaz, Aslam and Robertson (2008) do."""
    ranked = sorted(range(len(estimate)), key=lambda run: -estimate[run])
    total = 0.0
    for place in range(1, len(ranked)):
        above = sum(truth[ranked[other]] > truth[ranked[place]] for other in range(place))
        total += above / place
    return 2 / (len(ranked) - 1) * total - 1


def test_tau_ap_by_hand() -> None:
    """Four runs a b c d, true order a b c d, estimated order b a d c.

    At place 2 (a) none of 1 above is right, at place 3 (d) 2 of 2 (a and b), at place 4 (c) 2 of 3
    (b and a): 2/3 (0 + 1 + 2/3) - 1 = 1/9. Kendall's tau is (4 - 2) / 6 = 1/3.
    """
    truth, estimate = np.array([4.0, 3.0, 2.0, 1.0]), np.array([3.0, 4.0, 1.0, 2.0])
    assert tau_ap(estimate, truth).tau == pytest.approx(1 / 9, abs=1e-15)
    assert kendall_tau_b(estimate, truth).tau == pytest.approx(1 / 3, abs=1e-15)


def test_tau_ap_with_ties_by_hand() -> None:
    """Runs tied in the estimate are not compared; a pair tied in the truth alone is wrong.

    True order a b c. The estimate ties b and c below a, both rightly: 2/2 (1/1 + 1/1) - 1 = 1.
    With b and c tied in the truth and ranked a b c, b has 1 of 1 right above it and c, of a and b,
    1 of 2: 2/2 (1 + 1/2) - 1 = .5.
    """
    untied, tied = np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0])
    assert tau_ap(tied, untied).tau == pytest.approx(1.0, abs=1e-15)
    assert tau_ap(untied, tied).tau == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize("tied", [[2.0, 1.0, 1.0], [2.0, 2.0, 1.0], [3.0, 1.0, 1.0, 3.0, 2.0]])
def test_an_unchanged_order_has_one_whatever_is_tied(tied: list[float]) -> None:
    """The same scores, or others in the same order with the same ties, are the same order."""
    same, scaled = np.array(tied), 0.1 * np.array(tied) + 0.2
    assert tau_ap(same, same) == TauResult(1.0)
    assert tau_ap(scaled, same) == TauResult(1.0)
    assert kendall_tau_b(scaled, same).tau == pytest.approx(1.0, abs=1e-15)
    assert n_swapped_pairs(scaled, same) == 0


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


@pytest.mark.vector("tests of the R package ircor by J. Urbano: tauAP and tauAP_b, 4 decimals")
@pytest.mark.parametrize(
    ("data", "untied", "both_ways", "tied"),
    [
        (SET_1, 0.8519, 0.8333, 0.7321),
        (SET_2, 0.2504, 0.2880, 0.297),
        (SET_3, -0.6971, -0.668, -0.7047),
    ],
)
def test_tau_ap_equals_ircor(
    data: tuple[list[float], list[float]], untied: float, both_ways: float, tied: float
) -> None:
    """Without ties tau_AP, with ties in both scorings its two directions, are the authors' own."""
    truth, estimate = (np.array(scores) for scores in data)
    assert tau_ap(estimate, truth).tau == pytest.approx(untied, abs=5e-5)
    assert mean_of_directions(estimate, truth) == pytest.approx(both_ways, abs=6e-5)
    # The package's tests tie the scores by rounding them to one decimal.
    assert mean_of_directions(estimate.round(1), truth.round(1)) == pytest.approx(tied, abs=6e-5)


def mean_of_directions(x: np.ndarray, y: np.ndarray) -> float:
    """Average tau_AP of both directions, which is tau_AP,b."""
    down_x, down_y = tau_ap(x, y).tau, tau_ap(y, x).tau
    assert down_x is not None
    assert down_y is not None
    return (down_x + down_y) / 2


def tau_ap_by_walking(estimate: list[float], truth: list[float]) -> float:
    """Walk down the tie groups of the estimate, each run below the top counting alike."""
    shares = []
    for score in sorted(set(estimate), reverse=True)[1:]:
        above = [run for run in range(len(estimate)) if estimate[run] > score]
        for run in range(len(estimate)):
            if estimate[run] == score:
                right = [other for other in above if truth[other] > truth[run]]
                shares.append(len(right) / len(above))
    return 2 * sum(shares) / len(shares) - 1


@given(scorings)
def test_tau_ap_with_ties_equals_a_plain_walk(pair: tuple[list[float], list[float]]) -> None:
    """Ties in either scoring or both, against a loop; without ties it is the first definition."""
    estimate, truth = pair
    assume(len(set(estimate)) > 1 and len(set(truth)) > 1)
    result = tau_ap(np.array(estimate), np.array(truth))
    assert result.tau == pytest.approx(tau_ap_by_walking(estimate, truth), abs=1e-12)
    if len(set(estimate)) == len(set(truth)) == len(estimate):
        assert result.tau == pytest.approx(tau_ap_by_definition(estimate, truth), abs=1e-12)


def test_tau_ap_of_the_same_and_the_opposite_order() -> None:
    """The true order has 1, its reverse -1."""
    truth = np.arange(9.0)
    assert tau_ap(truth**2, truth) == TauResult(1.0)
    assert tau_ap(-truth, truth) == TauResult(-1.0)


@pytest.mark.parametrize(
    ("estimate", "truth", "reason"),
    [
        ([], [], "fewer-than-two"),
        ([0.3], [0.4], "fewer-than-two"),
        ([1.0, 1.0], [1.0, 2.0], "all-tied"),
        ([1.0, 2.0], [0.5, 0.5], "all-tied"),
    ],
)
def test_undefined_tau_ap_has_a_reason(
    estimate: list[float], truth: list[float], reason: str
) -> None:
    """Without an order to compare there is no number, and the reason is named."""
    assert tau_ap(np.array(estimate), np.array(truth)) == TauResult(None, reason)


def test_tau_ap_ties_within_the_tolerance() -> None:
    """Means equal but for rounding are tied in either scoring."""
    nearly = np.array([3.0, 1.0, 1.0 + 2e-16])
    untied = np.array([3.0, 2.0, 1.0])
    assert tau_ap(nearly, untied, tolerance=1e-12).tau == pytest.approx(1.0, abs=1e-15)
    assert tau_ap(untied, nearly, tolerance=1e-12).tau == pytest.approx(0.5, abs=1e-15)
    assert tau_ap(nearly, untied).tau == pytest.approx(0.5, abs=1e-15)


def test_tau_ap_names_the_scoring_at_fault() -> None:
    """Scorings of different runs, or without a number, are named in the error."""
    with pytest.raises(ArgumentError, match="`truth` must be one-dimensional and as long as `est"):
        tau_ap(np.array([1.0]), np.array([1.0, 2.0]))
    with pytest.raises(ArgumentError, match=r"`estimate` must be finite, but got \[nan, 1.0\]"):
        tau_ap(np.array([float("nan"), 1.0]), np.array([1.0, 2.0]))
