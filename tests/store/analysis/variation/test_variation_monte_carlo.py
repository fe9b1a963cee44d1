"""Judging again and again at random: against all outcomes, other programs and a plain loop."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from store.analysis.variation import simulation as variation_monte_carlo
from store.analysis.variation.simulation import SimulatedMaps, simulate_maps
from store.errors import ArgumentError
from tests.store.analysis.variation.dynamic_variation import dynamic
from tests.store.analysis.variation.enumerated_variation import enumerated, plain_ap

NOT = math.inf

X3 = (np.array([0.9, 0.5, 1, 0.8, 0.4, 0.5]), np.array([[1, 2, 3, 5, 8, NOT], [2, 1, NOT, 3, 4, 10]]))
X4 = (np.array([0.1, 0.2, 0.05, 0.3]), np.array([[1, 2, 3, 4], [4, 3, 2, NOT]]))
X6 = [
    (np.array([0.9, 0.5, 1, 0.8, 0.4]), np.array([[1, 2, 3, 5, 8], [2, 1, NOT, 3, 4]])),
    (np.array([0.5, 0.4, 0.8, 1]), np.array([[1, 4, 2, 9], [3, 1, NOT, 2]])),
    (np.array([0.4, 0.5, 0.9, 0.5, 0.8]), np.array([[2, 1, 4, NOT, 7], [1, 5, 3, 2, NOT]])),
]


def simulate(probabilities: ArrayLike, ranks: ArrayLike, **how: Any) -> SimulatedMaps:
    """Judge one topic many times over."""
    return simulate_maps([(probabilities, ranks)], **how)


def assert_near(
    found: SimulatedMaps, mean: NDArray[np.float64], covariance: NDArray[np.float64], within: float = 4.5
) -> None:
    """Moments are so near by their standard errors; of a covariance, as of normal variables."""
    variance = covariance.diagonal()
    assert (np.abs(found.mean - mean) <= within * (variance / found.repetitions) ** 0.5).all()
    of_covariance = np.sqrt((np.outer(variance, variance) + covariance**2) / found.repetitions)
    assert (np.abs(found.covariance - covariance) <= 6 * of_covariance).all()


@pytest.mark.parametrize(("topic", "seed"), [(X3, 1), (X3, 2), (X4, 3), (X6[1], 4), (X6[2], 5)])
def test_simulation_is_near_all_outcomes(
    topic: tuple[NDArray[np.float64], NDArray[np.float64]], seed: int
) -> None:
    """Means and covariances of two runs agree with the enumeration."""
    expected = enumerated(*topic)
    found = simulate(*topic, seed=seed, repetitions=50_000, empty="zero")
    assert_near(found, expected.mean, expected.covariance)


def test_simulation_equals_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits, judged one by one and scored by definition over three blocks, agree."""
    monkeypatch.setattr(variation_monte_carlo, "_AT_ONCE", 18)
    # By probability, then by rank: documents are drawn in this order.
    order = [4, 1, 5, 3, 0, 2]
    probabilities, ranks = X3[0][order], X3[1][:, order]
    repetitions = 50
    bits = np.random.PCG64(11)
    scores: list[list[Fraction]] = []
    for n in (18, 18, 14):
        flags = np.ones((n, len(probabilities)), dtype=int)
        for document, p in enumerate(probabilities):
            if p < 1:
                flags[:, document] = [int(word) < p * 2**64 for word in bits.random_raw(n)]
        scores += [[plain_ap(row, run) for run in ranks] for row in flags.tolist()]
    expected = np.array(scores, dtype=np.float64)
    found = simulate(probabilities, ranks, seed=11, repetitions=repetitions, empty="zero")
    assert found.mean == pytest.approx(expected.mean(axis=0), abs=1e-14)
    assert found.covariance == pytest.approx(np.cov(expected.T), abs=1e-14)
    maps = simulate_maps([(probabilities, ranks)], seed=11, repetitions=repetitions, empty="zero")
    first, second = expected.T
    assert maps.above[0, 1] == np.mean(first > second)
    assert maps.above[1, 0] == np.mean(second > first)


def test_hundreds_of_documents_are_counted() -> None:
    """R above 255, and runs that retrieve sure and unsure documents alike: as by dynamic sums."""
    rng = np.random.default_rng(3)
    probabilities = np.concatenate([rng.uniform(0, 1, 300), np.ones(200)])
    ranks = rng.permutation(np.arange(1.0, 701.0))[:500]
    ranks[rng.random(500) < 0.2] = np.inf
    expected = dynamic(probabilities, ranks)
    found = simulate(probabilities, ranks, seed=7, repetitions=20_000, empty="zero")
    assert_near(found, np.array([expected.mean]), np.array([[expected.variance]]))


@pytest.mark.slow
def test_a_thousand_documents_are_judged() -> None:
    """M = 100,000 of a thousand documents: inside 4 standard errors."""
    rng = np.random.default_rng(4)
    probabilities, ranks = rng.beta(0.5, 2, 1000), rng.permutation(np.arange(1.0, 1001.0))
    expected = dynamic(probabilities, ranks)
    found = simulate(probabilities, ranks, seed=8, repetitions=100_000, empty="zero")
    assert_near(found, np.array([expected.mean]), np.array([[expected.variance]]), within=4)


def test_errors_of_many_simulations_are_those_of_chance() -> None:
    """Of 100 seeds the errors average out, and spread as their standard errors say."""
    expected = enumerated(*X3)
    found = [simulate(*X3, seed=seed, repetitions=20_000, empty="zero") for seed in range(100)]
    deviations = (expected.covariance.diagonal() / 20_000) ** 0.5
    errors = np.array([(one.mean - expected.mean) / deviations for one in found])
    assert (np.abs(errors.mean(axis=0)) < 4 / np.sqrt(100)).all()
    assert (np.abs(errors.std(axis=0) - 1) < 4 / np.sqrt(200)).all()


def test_sure_judgements_do_not_vary() -> None:
    """With p of 0 and 1 only, AP is what it is and its covariance exactly 0."""
    ranks = np.array([[1, 3, 4, NOT], [NOT, NOT, NOT, NOT], [9, 1, 2, 3]])
    found = simulate([1, 0, 1, 1], ranks, seed=1, repetitions=20_000, empty="zero")
    assert found.mean == pytest.approx([(1 + 2 / 4) / 3, 0, (1 / 2 + 2 / 3 + 3 / 9) / 3])
    assert not found.covariance.any()
    nothing = simulate([0, 0], [[1, 2]], seed=1, repetitions=100, empty="zero")
    assert (nothing.mean.tolist(), nothing.covariance.tolist()) == ([0.0], [[0.0]])


def test_maps_of_three_topics() -> None:
    """X6: MAPs, their variance and the printed P(A > B) = .7450588 and P(A = B) = .00023328."""
    m = 200_000
    found = simulate_maps(X6, seed=2, repetitions=m, empty="zero")
    tied = 1 - found.above[0, 1] - found.above[1, 0]
    for share, expected in ((found.above[0, 1], 0.7450588), (tied, 0.00023328)):
        assert abs(share - expected) < 4.5 * math.sqrt(expected * (1 - expected) / m)
    assert found.above.diagonal().tolist() == [0, 0]
    exact = [enumerated(*topic) for topic in X6]
    mean = np.mean([one.mean for one in exact], axis=0)
    assert mean == pytest.approx([0.604309894179894, 0.517638148148148])
    assert_near(found, mean, np.sum([one.covariance for one in exact], axis=0) / 9)


def test_many_runs_are_each_as_alone() -> None:
    """Runs see the same judgements of documents that differ in probability, whichever runs there are."""
    probabilities, ranks = np.array([0.9, 0.5, 1, 0.8, 0.4, 0.6]), X3[1]
    runs = np.concatenate([ranks, ranks[:, ::-1], [np.arange(6, 0, -1.0)]])
    together = simulate(probabilities, runs, seed=9, repetitions=20_000, empty="zero")
    alone = [simulate(probabilities, run, seed=9, repetitions=20_000, empty="zero") for run in runs]
    assert together.mean == pytest.approx([one.mean[0] for one in alone], rel=1e-13)
    variance = [one.covariance[0, 0] for one in alone]
    assert together.covariance.diagonal() == pytest.approx(variance, rel=1e-12)
    assert (together.covariance == together.covariance.T).all()


def test_seed_decides_and_progress_adds_up() -> None:
    """The same seed gives the same bits of every result, another one others."""
    done: list[int] = []
    first = simulate(*X3, seed=1, repetitions=40_000, progress=done.append, empty="zero")
    assert (sum(done), first.repetitions, first.seed) == (40_000, 40_000, 1)
    again = simulate(*X3, seed=1, repetitions=40_000, empty="zero")
    assert first.covariance.tobytes() == again.covariance.tobytes()
    assert first.mean[0] != simulate(*X3, seed=2, repetitions=40_000, empty="zero").mean[0]
    done.clear()
    simulate_maps(X6, seed=1, repetitions=20_000, progress=done.append, empty="zero")
    assert sum(done) == 20_000


def test_simulation_refuses_what_it_cannot_use() -> None:
    """Each argument outside its range is named."""
    with pytest.raises(ArgumentError, match="`repetitions` must be an integer >= 2, but got 1"):
        simulate([0.5], [1], seed=1, repetitions=1, empty="zero")
    with pytest.raises(ArgumentError, match="`seed` must be an integer >= 0, but got -1"):
        simulate_maps(X6, seed=-1, empty="zero")
    with pytest.raises(ArgumentError, match="`probabilities` must be"):
        simulate([1.5], [1], seed=1, empty="zero")
    with pytest.raises(ArgumentError, match="`ranks` must"):
        simulate([0.5, 0.5], [1, 1], seed=1, empty="zero")
    one_run = (np.array([0.5]), np.array([[1.0]]))
    for topics, numbers in (([], r"\[\]"), ([*X6, one_run], r"\[1, 2\]")):
        with pytest.raises(ArgumentError, match="`topics` must be at least one, .*" + numbers):
            simulate_maps(topics, seed=1, empty="zero")
