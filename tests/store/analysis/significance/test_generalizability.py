"""Generalizability of runs x topics: components, coefficients, and the order to expect with new topics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from store.analysis.run_order import kendall_tau_b, tau_ap
from store.analysis.significance.generalizability import (
    Dependable,
    Limited,
    ScoreComponents,
    order_on_new_topics,
    score_components,
)
from store.analysis.variation.collection import expected_tau, expected_tau_ap
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints

pytestmark = pytest.mark.slow

BRENNAN = np.array(
    [
        [5, 9, 3, 7, 9, 3, 7, 5, 9, 4],
        [6, 3, 4, 5, 2, 4, 3, 8, 9, 4],
        [5, 7, 3, 5, 9, 3, 7, 5, 8, 4],
        [5, 7, 3, 3, 7, 5, 7, 7, 8, 3],
        [5, 7, 5, 3, 7, 3, 7, 7, 6, 3],
        [3, 5, 3, 1, 7, 3, 5, 5, 6, 5],
        [4, 5, 3, 4, 3, 6, 5, 5, 6, 6],
        [5, 5, 5, 3, 7, 3, 7, 4, 5, 5],
        [6, 7, 6, 5, 2, 4, 5, 3, 5, 5],
        [7, 7, 5, 3, 7, 5, 5, 2, 8, 7],
        [3, 5, 1, 3, 5, 1, 5, 1, 1, 1],
        [3, 2, 6, 5, 3, 2, 4, 1, 1, 1],
    ],
    dtype=np.float64,
).T
"""Synthetic data no. 4 of Brennan 2001, a line a topic and a column a run: here runs by topics."""
TREC3 = ScoreComponents(
    30, 50, (50 * 0.0028116986 + 0.0101522471, 30 * 0.0280934288 + 0.0101522471, 0.0101522471), None
)
"""TREC-3 ad hoc, the best 30 of 40 runs: from its components, as gt4ireval prints them."""


def printed(expected: str, found: Dependable, n_topics: int) -> None:
    """Assert a coefficient and its limits, to the digits given."""
    for digits, value in zip(expected.split(), found.at(n_topics), strict=True):
        assert_prints(digits, float(value))


@pytest.mark.vector("methods of the project 4.2; Brennan 2001, synthetic data no. 4")
def test_brennans_example() -> None:
    """Mean squares, components, E rho^2 and Phi of 12 topics with their 80% intervals."""
    found = score_components(BRENNAN)
    for digits, value in zip(("10.29629630", "11.62727273", "2.78720539"), found.mean_squares, strict=True):
        assert_prints(digits, value)
    for digits, value in zip((".62575758", ".88400673", "2.78720539"), found.variances, strict=True):
        assert_prints(digits, value)
    printed(".72930020 .54101091 .87636314", found.order(0.2), 12)
    printed(".67163572 .45690133 .84541930", found.level(0.2), 12)


@pytest.mark.vector("methods of the project 4.2; README of gt4ireval")
def test_trec_3() -> None:
    """Coefficients of 50 and 100 topics with their 95% intervals, and topics for .95."""
    order, level = TREC3.order(), TREC3.level()
    printed(".93264935 .89311338 .96287421", order, 50)
    printed(".78613462 .66141298 .88039427", level, 50)
    assert (order.needed(0.95), level.needed(0.95)) == ((69, 37, 114), (259, 130, 487))
    assert_prints(".96515113", float(order.at(100)[0]))
    assert_prints(".88026357", float(level.at(100)[0]))


def test_components_are_those_of_the_textbook_sums() -> None:
    """Mean squares from sums of squares, a component below 0 taken as 0."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4, 6))
    n_runs, n_topics = x.shape
    correction = x.sum() ** 2 / x.size
    of_runs = (x.sum(axis=1) ** 2).sum() / n_topics - correction
    of_topics = (x.sum(axis=0) ** 2).sum() / n_runs - correction
    rest = (x**2).sum() - correction - of_runs - of_topics
    found = score_components(x)
    assert found.mean_squares == pytest.approx((of_runs / 3, of_topics / 5, rest / 15))
    flat = score_components(np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.2], [0.2, 0.2, 0.2001]]))
    assert flat.variances[0] == 0.0
    assert flat.order().needed(0.9)[0] is None
    assert float(flat.order().at(50)[0]) == 0.0


def test_what_is_not_known_has_a_reason() -> None:
    """Two runs, two topics, and runs that differ by a constant have no components."""
    for scores, reason in (
        (BRENNAN[:2], "fewer-than-three-runs"),
        (BRENNAN[:, :2], "fewer-than-three-topics"),
        (BRENNAN[:1] + np.arange(4)[:, None], "no-residual"),
    ):
        found = score_components(scores)
        assert found.reason == reason
        numbers = [*found.variances, *found.order().one, *found.level().one]
        assert np.isnan(numbers).all()
        assert np.isnan(order_on_new_topics(scores, 10, found)).all()
    with pytest.raises(ArgumentError, match="`target` must be above 0 and below 1"):
        TREC3.order().needed(1.0)


def test_topics_needed_reach_the_target_and_one_less_does_not() -> None:
    """By the coefficient itself; a coefficient of 1 needs one topic."""
    one = Dependable(Limited(0.3, 0.1, 0.6))
    for target in (0.5, 0.9, 0.95):
        needed = one.needed(target)[0]
        assert needed is not None
        assert one.at(needed)[0] >= target > one.at(needed - 1)[0]
    assert Dependable(Limited(1.0, 0.5, 1.0)).needed(0.95)[0] == 1


def test_order_on_new_topics_by_hand() -> None:
    """The shrunk difference and its t, written out for one pair; certain pairs are certain."""
    x = np.array([[0.1, 0.3, 0.2, 0.2], [0.2, 0.4, 0.6, 0.1], [0.9, 0.5, 0.7, 0.8]])
    found = score_components(x)
    above = order_on_new_topics(x, np.array([5.0, math.inf]), found)
    assert above.shape == (2, 3, 3)
    d = x[2] - x[0]
    s2, v = d.var(ddof=1), found.variances[0]
    w = 2 * v / (2 * v + s2 / 4)
    assert above[0, 2, 0] == pytest.approx(stats.t(3).cdf(w * d.mean() / math.sqrt(w * s2 / 4 + s2 / 5)))
    assert above[1, 2, 0] == pytest.approx(stats.t(3).cdf(w * d.mean() / math.sqrt(w * s2 / 4)))
    assert above[0, 2, 0] < above[1, 2, 0]
    assert np.allclose(above + np.swapaxes(above, 1, 2), 1)
    # A run that is another one raised by .1 is above it with any topics.
    sure = np.vstack([x, x[2] + 0.1])
    assert order_on_new_topics(sure, 5, score_components(sure))[3, 2] == 1.0


def test_expected_taus_are_means_over_orders() -> None:
    """With the runs drawn independently around far and near means, tau and tau_AP are simulated means."""
    rng = np.random.default_rng(8)
    means, deviation = np.array([0.5, 0.42, 0.4, 0.2]), 0.05
    spread = math.sqrt(2) * deviation
    above = stats.norm.cdf((means[:, None] - means) / spread)
    drawn = means + deviation * rng.normal(size=(20_000, 4))
    tau = np.mean([kendall_tau_b(means, one).tau for one in drawn])
    by_place = np.mean([tau_ap(means, one).tau for one in drawn])
    assert expected_tau(above, means) == pytest.approx(tau, abs=0.006)
    assert expected_tau_ap(above, means) == pytest.approx(by_place, abs=0.006)
    assert math.isnan(expected_tau_ap(above[:1, :1], means[:1]))
    assert expected_tau_ap(np.full((2, 2), 0.9), np.array([0.3, 0.3])) == 0.0
