"""Exact moments of AP: worked examples, all 2^n outcomes, dynamic programming, many documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from store.analysis.variation import moments as module
from store.analysis.variation.moments import variation, variation_gradient
from store.errors import ArgumentError
from tests.store.analysis.variation.dynamic_variation import dynamic
from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, enumerated
from tests.store.analysis.variation.outcome_table import outcome_table
from tests.strategies import examples
from tests.vectors.variation_examples import EXAMPLES, NEAR


@pytest.mark.vector("formulas of the project, section 6: X1 to X5")
@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    """Every printed digit of means, variances and gradients."""
    example = EXAMPLES[name]
    p = [float(Fraction(one)) for one in example.p.split()]
    found = variation(p, example.ranks, empty="zero")
    assert found.mean == pytest.approx([float(one) for one in example.mean], abs=3e-15)
    upper = np.triu_indices(len(example.ranks))
    assert found.covariance[upper] == pytest.approx(example.covariance, abs=1e-15)
    if example.gradient:
        gradient = variation_gradient(p, example.ranks, empty="zero")[: len(example.gradient)]
        assert gradient.ravel() == pytest.approx(np.ravel(example.gradient), abs=NEAR)


def check_all_outcomes(topic: Topic) -> None:
    """Compare every moment with the sum over all outcomes, below 1e-12."""
    p, ranks = topic
    expected = enumerated(p, ranks)
    found = variation(p, ranks, empty="zero")
    assert np.abs(found.mean - expected.mean).max() < 1e-12
    assert np.abs(found.covariance - expected.covariance).max() < 1e-12
    assert np.abs(variation_gradient(p, ranks, empty="zero") - expected.gradient).max() < 1e-12
    assert found.none_relevant == pytest.approx(math.prod((1 - p).tolist()), rel=1e-12)


@given(drawn_topics(most_documents=6))
def test_moments_equal_all_outcomes(topic: Topic) -> None:
    """Sure, impossible and hardly possible documents, unretrieved ones, empty runs."""
    check_all_outcomes(topic)


@settings(max_examples=examples(300))
@given(drawn_topics(most_documents=12))
def test_moments_equal_all_outcomes_of_twelve(topic: Topic) -> None:
    """Up to twelve documents and 4,096 outcomes, in arrays."""
    p, ranks = topic
    table = outcome_table(ranks)
    mean, covariance = table.moments(p)
    found = variation(p, ranks, empty="zero")
    assert np.abs(found.mean - mean).max() < 1e-12
    assert np.abs(found.covariance - covariance).max() < 1e-12
    assert np.abs(variation_gradient(p, ranks, empty="zero") - table.gradient(p)).max() < 1e-12


def drawn(
    rng: np.random.Generator, n_random: int, n_sure: int, *, n_runs: int, depth: int | None = None
) -> Topic:
    """Draw a topic; half of the documents below `depth` are not retrieved."""
    n = n_random + n_sure
    p = np.concatenate([rng.uniform(0.001, 0.999, n_random), np.ones(n_sure)])
    ranks = np.array([rng.permutation(2 * n)[:n] + 1.0 for _ in range(n_runs)])
    ranks[ranks > (1.5 * n if depth is None else depth)] = np.inf
    return p, ranks


CHANCES: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "half": lambda n: np.full(n, 0.5),
    "hardly any": lambda n: np.full(n, 1e-5),
    "falling": lambda n: 1 / np.arange(1.0, n + 1),
    "some sure": lambda n: np.where(np.arange(n) % 3 == 0, 1.0, 0.3),
    "spread": lambda n: np.random.default_rng(1).beta(0.3, 0.7, n),
}


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize(
    ("n", "limit"), [(60, None), (1000, None), pytest.param(5000, None, marks=pytest.mark.long)]
)
def test_many_documents_equal_dynamic_programming(chances: str, n: int, limit: int | None) -> None:
    """Mean and variance of one run, relative error below 1e-10 however small the variance."""
    p = CHANCES[chances](n)
    ranks = np.random.default_rng(n).permutation(n) + 1.0
    ranks[ranks > n * 0.8] = np.inf
    found, expected = variation(p, ranks[None], empty="zero"), dynamic(p, ranks)
    assert found.mean[0] == pytest.approx(expected.mean, rel=1e-11)
    assert found.covariance[0, 0] == pytest.approx(expected.variance, rel=1e-10)
    assert found.error <= 1e-12


@pytest.mark.parametrize("n", [7, 300, 700])
def test_ways_to_sum_pairs_agree(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs at once, all of them, and nodes in blocks give one covariance."""
    p, ranks = drawn(np.random.default_rng(n), n - 3, 3, n_runs=4)
    whole = variation(p, ranks, empty="zero").covariance
    monkeypatch.setattr(module, "_BLOCK", 4 * n * 5)
    assert variation(p, ranks, empty="zero").covariance == pytest.approx(whole, rel=1e-12, abs=1e-18)
    for pair in ([0, 1], [2, 3]):
        two = variation(p, ranks[pair], empty="zero").covariance
        assert two == pytest.approx(whole[np.ix_(pair, pair)], rel=1e-12, abs=1e-18)


def test_gradient_is_the_slope_of_the_mean() -> None:
    """E[AP] is linear in each p: two problems give the slope, of 400 documents a few."""
    p, ranks = drawn(np.random.default_rng(5), 380, 20, n_runs=2)
    p[:5] = 0.0
    gradient = variation_gradient(p, ranks, empty="zero")
    for document in (0, 3, 10, 200, 395):
        ends = []
        for value in (0.0, 1.0):
            settled = p.copy()
            settled[document] = value
            ends.append(variation(settled, ranks, empty="zero").mean)
        assert gradient[:, document] == pytest.approx(ends[1] - ends[0], abs=1e-12)


def test_sure_judgements_do_not_vary() -> None:
    """Probabilities of 0 and 1 alone: AP as it is, and a variance of 0 exactly."""
    found = variation([1.0, 0.0, 1.0, 1.0], [[1, 2, 3, 6], [np.inf, 1, 2, np.inf]], empty="zero")
    assert found.mean == pytest.approx([(1 + 2 / 3 + 3 / 6) / 3, (1 / 2) / 3], rel=1e-15)
    assert not found.covariance.any()


@pytest.mark.parametrize("p", [[], [0.0, 0.0]])
def test_no_document_can_be_relevant(p: list[float]) -> None:
    """AP is 0 and surely so; a gradient is what one relevant document would give."""
    ranks: NDArray[np.float64] = np.array([[4.0, np.inf]])[:, : len(p)]
    found = variation(p, ranks, empty="zero")
    assert (found.mean.tolist(), found.covariance.tolist(), found.none_relevant) == ([0], [[0]], 1)
    assert found.error == 0.0  # nothing is integrated
    assert variation_gradient(p, ranks, empty="zero").ravel() == pytest.approx([0.25, 0.0][: len(p)])


@pytest.mark.parametrize(
    ("p", "ranks", "words"),
    [
        ([1.2], [[1]], "from 0 to 1"),
        ([np.nan], [[1]], "from 0 to 1"),
        ([0.5], [[0]], "at least 1"),
        ([0.5, 0.5], [[3, 3]], "must not repeat"),
        ([0.5, 0.5], [[1]], r"shape \(n_runs, 2\)"),
        ([0.5], [1], "shape"),
    ],
)
def test_wrong_topics_are_refused(p: list[float], ranks: list[list[float]], words: str) -> None:
    """Each fault in words; two documents that were not retrieved share no rank."""
    with pytest.raises(ArgumentError, match=words):
        variation(p, ranks, empty="zero")
    assert variation([0.5, 0.5], [[np.inf, np.inf]], empty="zero").mean.tolist() == [0.0]
