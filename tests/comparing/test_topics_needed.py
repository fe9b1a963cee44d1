"""Topics that a test, an interval or a reliable order needs, and what topics can find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from store.analysis.run_order import kendall_tau_b, tau_ap
from store.analysis.significance.generalizability import (
    Dependable,
    ScoreComponents,
    order_on_new_topics,
    score_components,
)
from store.analysis.significance.power import (
    detectable_effect,
    expected_width,
    least_topics,
    power_of,
    topics_for_power,
    topics_for_width,
)
from store.analysis.variation.collection import expected_tau, expected_tau_ap
from tests.helpers.agreement_tables import assert_prints

METHODS = "methods of the project 4.1, after Sakai 2016"


@pytest.mark.vector(METHODS)
def test_topics_of_the_paired_t_test() -> None:
    """At .05 with a power of .8, and at .01 with .9, for six effects."""
    effects = (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
    assert [topics_for_power(one) for one in effects] == [787, 199, 90, 52, 34, 10]
    found = [topics_for_power(one, alpha=0.01, power=0.9) for one in effects]
    assert found == [1492, 376, 169, 97, 63, 19]
    for n_topics, effect, power in ((33, 0.5, ".79536584"), (34, 0.5, ".80777750"), (50, 0.4, ".79178719")):
        assert_prints(power, power_of(n_topics, effect))


@pytest.mark.vector(METHODS)
def test_effects_that_topics_find() -> None:
    """The least effect of 8 to 150 topics."""
    for n_topics, effect in (
        (8, "1.15603468"),
        (30, ".52923562"),
        (50, ".40418300"),
        (100, ".28291263"),
        (150, ".23023577"),
    ):
        found = detectable_effect(n_topics)
        assert_prints(effect, found)
        assert power_of(n_topics, found) == pytest.approx(0.8, abs=1e-10)


@pytest.mark.vector(METHODS)
def test_topics_of_the_analysis_of_variance() -> None:
    """Sizes by the number of runs, and the power just below and at them."""
    assert [topics_for_power(0.5, n_runs=m) for m in (2, 3, 10)] == [64, 79, 127]
    for n_topics, m, power in (
        (64, 2, ".80145956"),
        (63, 2, ".79516834"),
        (78, 3, ".79953704"),
        (79, 3, ".80494082"),
    ):
        assert_prints(power, power_of(n_topics, 0.5, n_runs=m))
    effect = 0.1 / math.sqrt(0.05)
    found = [topics_for_power(effect, n_runs=m) for m in (2, 3, 5, 10, 20, 30, 50, 100)]
    assert found == [80, 98, 121, 158, 207, 243, 301, 405]


@pytest.mark.vector(METHODS)
def test_topics_of_an_interval() -> None:
    """A width of .1 for three variances, and the width just below and at one of them."""
    found = [topics_for_width(0.1 / math.sqrt(variance)) for variance in (0.05, 0.0211, 0.1)]
    assert found == [79, 35, 156]
    for n_topics, width in ((79, ".09984985"), (78, ".10050425")):
        assert_prints(width, expected_width(n_topics) * math.sqrt(0.05))


@pytest.mark.parametrize(
    ("n_topics", "effect", "m"), [(2, 3.0, None), (12, 0.7, None), (9, 0.9, 4), (40, 0, 3)]
)
def test_power_is_that_of_scipys_noncentral_f(n_topics: int, effect: float, m: int | None) -> None:
    """The mixture, added up, is SciPy's distribution, at a strict level, too."""
    first, second = (1, n_topics - 1) if m is None else (m - 1, m * (n_topics - 1))
    shift = n_topics * effect**2 / (1 if m is None else 2)
    for alpha in (0.05, 1e-4):
        limit = stats.f.isf(alpha, first, second)
        law = stats.ncf(first, second, shift) if shift else stats.f(first, second)
        assert power_of(n_topics, effect, n_runs=m, alpha=alpha) == pytest.approx(law.sf(limit), rel=1e-8)


def test_extremes_stay_probabilities() -> None:
    """A huge effect is found for sure, a tiny one takes too many topics."""
    assert power_of(2, 1e4) == pytest.approx(1.0, abs=1e-9)
    assert power_of(1_000_000, 1.0) == pytest.approx(1.0, abs=1e-9)
    assert topics_for_power(1e-4) is None
    assert topics_for_width(1e-4) is None
    assert topics_for_power(100.0) == 2
    # 15.7 = 2 (1.96 + .84)^2 over 2: some 784,000 topics, more than the last power of two below a million.
    assert topics_for_power(math.sqrt(7.849 / 784_000)) == pytest.approx(784_000, abs=1000)
    assert least_topics(lambda n: n >= 1_000_000) == 1_000_000


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.vector("methods of the project 4.2; README of gt4ireval")
def test_trec_3() -> None:
    """Coefficients of 50 and 100 topics with their 95% intervals, and topics for .95."""
    order, level = TREC3.order(), TREC3.level()
    printed(".93264935 .89311338 .96287421", order, 50)
    printed(".78613462 .66141298 .88039427", level, 50)
    assert (order.needed(0.95), level.needed(0.95)) == ((69, 37, 114), (259, 130, 487))
    assert_prints(".96515113", float(order.at(100)[0]))
    assert_prints(".88026357", float(level.at(100)[0]))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


N = 2000
RUNS, TOPICS, NEW = 15, 30, 50
V_RUNS, V_TOPICS, V_REST = 0.006, 0.02, 0.01
RHO = V_RUNS / (V_RUNS + V_REST / TOPICS)
PHI = V_RUNS / (V_RUNS + (V_TOPICS + V_REST) / TOPICS)


def collection(
    rng: np.random.Generator, law: str, n_runs: int = RUNS, n_topics: int = TOPICS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw scores, and what every run truly adds to its own.

    `law`: "normal"; "skewed", whose topics and residuals are exponential; "groups", whose runs come in threes
    that share most of their residual.
    """
    runs = math.sqrt(V_RUNS) * rng.normal(size=(n_runs, 1))
    if law == "skewed":
        topics, rest = (rng.exponential(size=shape) - 1 for shape in ((1, n_topics), (n_runs, n_topics)))
    else:
        topics, rest = rng.normal(size=(1, n_topics)), rng.normal(size=(n_runs, n_topics))
    if law == "groups":
        shared = np.repeat(rng.normal(size=(n_runs // 3, n_topics)), 3, axis=0)
        rest = math.sqrt(0.8) * shared + math.sqrt(0.2) * rest
    return 0.4 + runs + math.sqrt(V_TOPICS) * topics + math.sqrt(V_REST) * rest, runs[:, 0]


@pytest.mark.long
@pytest.mark.parametrize("law", ["normal", "skewed", "groups"])
def test_intervals_cover_what_they_say(law: str) -> None:
    """E rho^2, Phi and the topics needed, at 95 % and 80 %."""
    rng = np.random.default_rng(29)
    needed = (
        math.ceil(0.95 * V_REST / (V_RUNS * 0.05)),
        math.ceil(0.95 * (V_TOPICS + V_REST) / (V_RUNS * 0.05)),
    )
    hits: dict[str, list[bool]] = {}
    for _ in range(N):
        found = score_components(collection(rng, law)[0])
        for alpha in (0.05, 0.2):
            order, level = found.order(alpha), found.level(alpha)
            for name, coefficient, true, n in (
                ("E rho2", order, RHO, needed[0]),
                ("Phi", level, PHI, needed[1]),
            ):
                _, low, high = coefficient.at(TOPICS)
                hits.setdefault(f"{name} {1 - alpha}", []).append(bool(low <= true <= high))
                _, least, most = coefficient.needed(0.95)
                inside = (least or 1) <= n <= (most or math.inf)
                hits.setdefault(f"topics for {name} {1 - alpha}", []).append(inside)
    covered = {name: float(np.mean(one)) for name, one in hits.items()}
    print(law, {name: round(one, 4) for name, one in covered.items()})  # noqa: T201 - a note for whoever runs it
    if law == "normal":
        for name, share in covered.items():
            wanted = float(name.split()[-1])
            # That of Phi is a little wide, and a whole number of topics at a limit is inside.
            assert wanted - 0.025 < share < wanted + 0.04, name


@pytest.mark.long
@pytest.mark.parametrize("law", ["normal", "skewed", "groups"])
def test_expected_orders_are_what_new_topics_bring(law: str) -> None:
    """Tau and tau_AP with the order of 50 new topics, and with the true one, on average."""
    rng = np.random.default_rng(30)
    told, seen = [], []
    for _ in range(N):
        scores, truth = collection(rng, law)
        means = scores.mean(axis=1)
        above = order_on_new_topics(scores, [NEW, math.inf], score_components(scores))
        told.append([one(each, means) for each in above for one in (expected_tau, expected_tau_ap)])
        fresh = _again(rng, law, truth, NEW)
        seen.append([one(means, each).tau for each in (fresh, truth) for one in (kendall_tau_b, tau_ap)])
    told_mean, seen_mean = np.mean(told, axis=0), np.mean(np.array(seen, dtype=np.float64), axis=0)
    print(law, "told", told_mean.round(4), "came", seen_mean.round(4))  # noqa: T201 - a note for whoever runs it
    assert np.abs(told_mean - seen_mean).max() < (0.01 if law != "groups" else 0.03)


def _again(
    rng: np.random.Generator, law: str, truth: NDArray[np.float64], n_topics: int
) -> NDArray[np.float64]:
    """Return the means of the same runs over new topics."""
    scores, other = collection(rng, law, n_topics=n_topics)
    return np.asarray(scores.mean(axis=1) - other + truth)
