"""Agreement of two orders of the same runs."""

from __future__ import annotations

import itertools
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
    """A tie of the estimate takes the mean of both orders, a tie of the truth is half right.

    True order a b c. The estimate ties b and c below a: at place 2 stands b or c, both rightly
    below a; at place 3 c below a, b (2 right) or b below a, c (1 right). The mean of
    1 + 2/2 and 1 + 1/2 is 1.75, and 2/2 * 1.75 - 1 = .75. With b and c tied in the truth and
    ranked a b c: 1 + (1 + 1/2) / 2 = 1.75 again.
    """
    untied, tied = np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0])
    assert tau_ap(tied, untied).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(untied, tied).tau == pytest.approx(0.75, abs=1e-15)


SET_1 = (
    [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
    [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
)
SET_2 = (
    [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
    [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
)
SET_3 = (
    [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
    [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
)


@pytest.mark.vector("tests of the R package ircor by J. Urbano: tauAP and tauAP_a, 4 decimals")
@pytest.mark.parametrize(
    ("data", "untied", "tied"),
    [(SET_1, 0.8519, 0.7454), (SET_2, 0.2504, 0.2692), (SET_3, -0.6971, -0.5558)],
)
def test_tau_ap_equals_ircor(
    data: tuple[list[float], list[float], list[float]], untied: float, tied: float
) -> None:
    """Without ties and with ties in the estimate, tau_AP is what the authors' own package has."""
    truth, estimate, rounded = (np.array(scores) for scores in data)
    assert tau_ap(estimate, truth).tau == pytest.approx(untied, abs=5e-5)
    assert tau_ap(rounded, truth).tau == pytest.approx(tied, abs=5e-5)


@given(
    st.integers(2, 4).flatmap(
        lambda size: st.tuples(
            *(st.lists(st.integers(0, 3).map(float), min_size=size, max_size=size) for _ in "xy")
        )
    )
)
def test_tau_ap_is_the_mean_over_all_ways_of_breaking_ties(
    pair: tuple[list[float], list[float]],
) -> None:
    """Every tie broken in every way, by nudges that no untied pair notices, gives the mean."""
    estimate, truth = pair
    assume(len(set(estimate)) > 1 and len(set(truth)) > 1)
    nudges = list(itertools.permutations([place / 10 for place in range(len(estimate))]))
    estimates, truths = (
        [[score + nudge for score, nudge in zip(scores, one, strict=True)] for one in nudges]
        for scores in (estimate, truth)
    )
    values = [tau_ap_by_definition(one, other) for one in estimates for other in truths]
    result = tau_ap(np.array(estimate), np.array(truth))
    assert result.tau == pytest.approx(sum(values) / len(values), abs=1e-12)


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
    assert tau_ap(nearly, untied, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(untied, nearly, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(nearly, untied).tau == pytest.approx(0.5, abs=1e-15)


def test_tau_ap_names_the_scoring_at_fault() -> None:
    """Scorings of different runs, or without a number, are named in the error."""
    with pytest.raises(ArgumentError, match="`truth` must be one-dimensional and as long as `est"):
        tau_ap(np.array([1.0]), np.array([1.0, 2.0]))
    with pytest.raises(ArgumentError, match=r"`estimate` must be finite, but got \[nan, 1.0\]"):
        tau_ap(np.array([float("nan"), 1.0]), np.array([1.0, 2.0]))
