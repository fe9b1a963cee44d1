"""The law of one run's MAP: against all outcomes, binomial laws and simulated judgements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from store.analysis.variation import law as run_transform
from store.analysis.variation import law as variation_law
from store.analysis.variation.law import RunTransform, count_law, map_law
from store.errors import ArgumentError
from tests.store.analysis.variation.dynamic_variation import dynamic
from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, outcomes

Floats = NDArray[np.float64]
NOT = math.inf

X6_OF_A = [
    (np.array([0.9, 0.5, 1, 0.8, 0.4]), np.array([1.0, 2, 3, 5, 8])),
    (np.array([0.5, 0.4, 0.8, 1]), np.array([1.0, 4, 2, 9])),
    (np.array([0.4, 0.5, 0.9, 0.5, 0.8]), np.array([2.0, 1, 4, NOT, 7])),
]

topics_of_one_run = st.lists(drawn_topics(most_documents=5, most_runs=1), min_size=1, max_size=2)


def plain_law(topics: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """List MAP of all outcomes of all topics, with their probabilities."""
    scores, weights = np.zeros(1), np.ones(1)
    for probabilities, ranks in topics:
        cases = list(outcomes(probabilities.tolist(), np.atleast_2d(ranks).tolist()))
        of_topic = np.array([float(one.scores[0]) for one in cases])
        chances = np.array([float(one.weight) for one in cases])
        scores = (scores[:, None] + of_topic).ravel()
        weights = (weights[:, None] * chances).ravel()
    return scores / len(topics), weights


def larger_topics(n_topics: int, n_documents: int, seed: int) -> list[tuple[Floats, Floats]]:
    """Make topics of which a fifth of the documents is not retrieved and a few are sure."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_topics):
        ranks = rng.permutation(np.arange(1.0, 2 * n_documents + 1))[:n_documents]
        ranks[rng.random(n_documents) < 0.2] = np.inf
        probabilities = rng.uniform(0, 1, n_documents)
        probabilities[: n_documents // 10] = 1
        made.append((probabilities, ranks))
    return made


def simulated_maps(topics: Sequence[tuple[Floats, Floats]], m: int, seed: int) -> Floats:
    """Judge all topics m times over: plainly, by the definition of AP."""
    rng = np.random.default_rng(seed)
    maps = np.zeros(m)
    for probabilities, ranks in topics:
        order = np.argsort(ranks)
        flags = rng.random((m, ranks.size)) < probabilities[order]
        sums = (flags * np.cumsum(flags, axis=1)) @ (1 / ranks[order])
        maps += sums / np.maximum(flags.sum(axis=1), 1)
    return maps / len(topics)


@given(topics_of_one_run)
def test_characteristic_function_equals_all_outcomes(topics: list[Topic]) -> None:
    """E[exp(i theta MAP)] is the sum over outcomes, whatever theta is."""
    theta = np.array([-300.0, -2, 0, 0.1, 7, 41, 1000])
    scores, weights = plain_law(topics)
    expected = np.exp(1j * theta[:, None] * scores) @ weights
    own = [RunTransform(p, ranks, empty="zero").transform(1j * theta / len(topics)) for p, ranks in topics]
    assert np.prod(own, axis=0) == pytest.approx(expected, abs=1e-12)


@given(topics_of_one_run, st.sampled_from([0.02, 0.05, 0.5]))
def test_law_equals_all_outcomes(topics: list[Topic], resolution: float) -> None:
    """F is the sum of Phi((x - MAP) / h) over outcomes, to within the error that is told."""
    law = map_law(topics, resolution=resolution, empty="zero")
    scores, weights = plain_law(topics)
    if np.ptp(scores[weights > 0]) < 1e-11:
        assert law.resolution == 0
    x = np.linspace(-0.1, 1.1, 121)
    if not law.resolution:
        assert law.low == law.high == pytest.approx(float(scores @ weights))
        return
    assert law.error < 1e-8
    expected = ndtr((x[:, None] - scores) / law.resolution) @ weights
    np.testing.assert_allclose(law.below(x), expected, rtol=0, atol=law.error + 1e-11)
    assert law.below([[law.low, law.high]]).tolist() == [[0.0, 1.0]]


def test_law_of_the_worked_example() -> None:
    """X6, run A: mean .604309894179894 and variance (sum of sigma_h^2) / 9 out of F alone."""
    law = map_law(X6_OF_A, resolution=0.05, empty="zero")
    # E[Y] and E[Y^2] from F by the trapezoid rule, exact for so smooth a law but for the lower end.
    x = np.linspace(law.low, law.high, 4001)
    above, step = 1 - law.below(x), x[1] - x[0]
    mean = law.low + step * (above.sum() - 0.5)
    square = law.low**2 + 2 * step * ((above * x).sum() - 0.5 * law.low) + step**2 / 6
    assert mean == pytest.approx(0.604309894179894, abs=1e-8)
    variance = (0.023307451906173 + 0.048558333333333 + 0.049204614092971) / 9
    assert square - mean**2 - law.resolution**2 == pytest.approx(variance, abs=1e-8)


def test_law_of_shares_is_binomial() -> None:
    """Topics with one document, first in the run: MAP is a share, every atom in its place."""
    n, p = 40, 0.3
    law = map_law([([p], [1])] * n, resolution=0.02, empty="zero")
    assert 1 / n > 12 * law.resolution
    between = (np.arange(n) + 0.5) / n
    expected = binom.cdf(np.arange(n), n, p)
    np.testing.assert_allclose(law.below(between), expected, rtol=0, atol=2e-9)
    # On an atom, half of it counts.
    middle = binom.cdf(11, n, p) + binom.pmf(12, n, p) / 2
    assert float(law.below(12 / n)) == pytest.approx(middle, abs=1e-8)


def test_law_of_larger_topics_is_that_of_simulated_judgements() -> None:
    """12 topics of 40 documents: every tenth of the law holds a tenth of 20,000 simulations."""
    topics = larger_topics(12, 40, seed=1)
    maps = simulated_maps(topics, 20_000, seed=2)
    law = map_law(topics, empty="zero")
    for level in (0.01, 0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 0.99):
        share = float(np.mean(maps < law.quantile(level)))
        # h moves F by some thousandths of a density of at most .4 besides.
        assert abs(share - level) < 4.5 * math.sqrt(level * (1 - level) / maps.size) + 0.001


@pytest.mark.slow
def test_law_of_two_hundred_documents_a_topic() -> None:
    """20 topics of 200 documents: interval and middle agree with 20,000 simulations."""
    topics = larger_topics(20, 200, seed=3)
    maps = simulated_maps(topics, 20_000, seed=4)
    law = map_law(topics, empty="zero")
    for level in (0.025, 0.5, 0.975):
        share = float(np.mean(maps < law.quantile(level)))
        assert abs(share - level) < 4.5 * math.sqrt(level * (1 - level) / maps.size) + 0.001


def test_transform_gives_the_moments() -> None:
    """Of 150 documents, log E[exp(z AP)] has the mean and the variance of the dynamic sums."""
    (topic,) = larger_topics(1, 150, seed=5)
    exact = dynamic(*topic)
    e = 0.05
    values = RunTransform(*topic, empty="zero").transform(np.array([e, -e, 1j * e, -1j * e]))
    plus, minus, up, down = np.log(values)
    # Even and odd parts; the fourth power cancels between real and imaginary arguments.
    mean = ((plus - minus) + (up - down) / 1j).real / (4 * e)
    variance = ((plus + minus) - (up + down)).real / (2 * e**2)
    assert mean == pytest.approx(exact.mean, rel=1e-9)
    assert variance == pytest.approx(exact.variance, rel=1e-8)


@given(drawn_topics(most_documents=6, most_runs=1), st.floats(-400, 400))
def test_bound_is_no_less_than_the_transform(topic: Topic, z: float) -> None:
    """E[exp(z AP)] of all outcomes, and close to it, for steep z too."""
    scores, weights = plain_law([topic])
    expected = float(np.exp(z * scores) @ weights)
    found = RunTransform(*topic, empty="zero").bound(z)
    assert expected * (1 - 1e-11) <= found <= expected * (1 + 1e-11) + 1e-13


def test_bound_of_larger_topics_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where steep z make improbable outcomes count, they are kept: as if all were, to 1e-11."""
    ranks = np.arange(1.0, 121.0)
    topics = [(np.full(120, p), places) for p in (0.03, 0.5) for places in (ranks, ranks[::-1])]
    steep = np.array([-300.0, -60, 60, 300])
    found = [RunTransform(*topic, empty="zero").transform(steep) for topic in topics]
    monkeypatch.setattr(run_transform, "_DROPPED", 0.0)
    expected = [RunTransform(*topic, empty="zero").transform(steep) for topic in topics]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_count_law_is_binomial() -> None:
    """Of equal chances; each row is of the first documents."""
    law = count_law(np.full(30, 0.2))
    for n in (0, 1, 17, 30):
        assert law[n] == pytest.approx(binom.pmf(np.arange(31), n, 0.2), abs=1e-15)


def test_interval_has_its_level() -> None:
    """In all outcomes of X6, its probability is the level, to the resolution asked for."""
    scores, weights = plain_law(X6_OF_A)
    for level in (0.5, 0.9, 0.95):
        law = map_law(X6_OF_A, resolution=0.01, empty="zero")
        low, high = (law.quantile((1 + side * level) / 2) for side in (-1, 1))
        h = law.resolution
        assert weights[scores < low - 6 * h].sum() <= (1 - level) / 2
        assert weights[scores <= low + 6 * h].sum() >= (1 - level) / 2
        assert weights[scores > high + 6 * h].sum() <= (1 - level) / 2
        assert weights[scores >= high - 6 * h].sum() >= (1 - level) / 2


def test_constant_map_is_a_point() -> None:
    """Nothing random: F is a step, half at the point itself, and the interval has no length."""
    topics: list[tuple[list[float], list[float]]]
    topics = [([1, 0, 1], [1, 2, 4]), ([0.0], [1]), ([1.0], [NOT])]
    law = map_law(topics, empty="zero")
    score = (1 + 2 / 4) / 2 / 3
    assert (law.low, law.high, law.resolution, law.error) == pytest.approx((score, score, 0, 0))
    assert law.below([law.low - 1e-9, law.low, law.low + 1e-9]).tolist() == [0, 0.5, 1]
    assert law.quantile(0.025) == law.quantile(0.975) == pytest.approx(score)
    # Without any of the documents AP is 0, and below sure documents one more does no harm.
    for constant, at in ((([0.5, 0.2], [NOT, NOT]), 0), (([1, 1, 0.5], [1, 2, 3]), 1)):
        assert map_law([constant], empty="zero").quantile(0.5) == pytest.approx(at, abs=1e-15)


def test_resolution_is_widened_where_it_costs_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few nodes allowed, h is larger, is told, and F is exact for that h."""
    monkeypatch.setattr(variation_law, "MOST_NODES", 40)
    law = map_law(X6_OF_A, resolution=0.01, empty="zero")
    scores, weights = plain_law(X6_OF_A)
    x = np.linspace(0, 1, 51)
    assert law.theta.size <= 40
    expected = ndtr((x[:, None] - scores) / law.resolution) @ weights
    np.testing.assert_allclose(law.below(x), expected, rtol=0, atol=law.error + 1e-11)


def test_law_refuses_what_it_cannot_use() -> None:
    """Each argument outside its range is named."""
    with pytest.raises(ArgumentError, match="`topics` must be at least one"):
        map_law([], empty="zero")
    with pytest.raises(ArgumentError, match="`ranks` must be of one run"):
        map_law([([0.5], [[1], [2]])], empty="zero")
    for resolution in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="`resolution` must be a number above 0"):
            map_law(X6_OF_A, resolution=resolution, empty="zero")
    for level in (0.0, 1.0):
        with pytest.raises(ArgumentError, match="`level` must be between 0 and 1"):
            map_law(X6_OF_A, empty="zero").quantile(level)


@pytest.mark.parametrize("z", [-600.0, 300.0, 600.0])
def test_steep_transforms_are_those_of_all_outcomes(z: float) -> None:
    """Eight documents, each relevant one time of 50: exp(z S / k) of other k than R overflows on the way."""
    ranks = np.arange(1.0, 9)
    expected = math.fsum(
        math.prod(0.02 if one else 0.98 for one in flags)
        * math.exp(z * sum(sum(flags[: i + 1]) / (i + 1) for i in range(8) if flags[i]) / (sum(flags) or 1))
        for flags in product((0, 1), repeat=8)
    )
    found = RunTransform(np.full(8, 0.02), ranks, empty="zero").transform(np.array([z]))
    assert found[0] == pytest.approx(expected, rel=1e-10)
