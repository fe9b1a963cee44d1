"""Judgements that hardly vary, lists that hardly differ: where digits would be lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from store.analysis.variation.collection import (
    collection_variation,
    next_documents,
    order_probabilities,
    pair_components,
    settled_pairs,
)
from store.analysis.variation.moments import pair_matrix, variation
from tests.store.analysis.variation.enumerated_variation import outcomes

RANKS = ((1.0, 2.0, 3.0, 4.0, 5.0, np.inf), (7.0, 3.0, 2.0, np.inf, 1.0, 5.0))
NEARLY = (0.5, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1 - 2.0**-53)


def exact(p: float) -> NDArray[np.float64]:
    """Compute the covariance of two runs in fractions; six documents of one probability."""
    found = list(outcomes([Fraction(p)] * 6, RANKS))
    weights = [Fraction(one.weight) for one in found]
    means = [sum(w * one.scores[run] for w, one in zip(weights, found, strict=True))
             for run in (0, 1)]  # fmt: skip
    return np.array([
        [float(sum((w * (one.scores[a] - means[a]) * (one.scores[b] - means[b])
                    for w, one in zip(weights, found, strict=True)), Fraction(0)))
         for b in (0, 1)] for a in (0, 1)
    ])  # fmt: skip


@pytest.mark.parametrize("p", NEARLY)
def test_covariances_keep_their_digits(p: float) -> None:
    """Relative to the standard deviations: what `ScoreMoments.error` promises."""
    found, expected = variation([p] * 6, RANKS, empty="zero"), exact(p)
    spread = np.sqrt(expected.diagonal())
    off = np.abs(found.covariance - expected) / np.outer(spread, spread)
    assert off.max() <= found.error + 3e-13


def test_equal_lists_do_not_vary_from_each_other() -> None:
    """Whatever rounding leaves of their difference: no variance, no open pair."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 600))
        p, row = rng.random(n), rng.permutation(n) + 1.0
        topics = [(p, np.array([row, row]))]
        varied = collection_variation(topics, empty="zero")
        assert settled_pairs(varied).all()
        assert next_documents(topics, varied).n_unsettled == 0
        assert pair_components(varied).components.judging_variance.tolist() == [0.0]
        assert order_probabilities(varied)[0, 1] == 0.5


def test_lists_with_one_swap_do() -> None:
    """Ranks 249 and 250 swapped: by hand, twice p (1 - p) E[((1 + c) / (249 250 R))^2]."""
    n, p = 250, 0.5
    first = np.arange(1.0, n + 1)
    second = first.copy()
    second[[248, 249]] = 250.0, 249.0
    # All other documents are above both: R = 1 + c, and the difference is 1 / (249 250) or 0.
    expected = 2 * p * (1 - p) / (249 * 250) ** 2
    varied = collection_variation([(np.full(n, p), np.array([first, second]))], empty="zero")
    found = pair_components(varied).components.judging_variance[0]
    assert found == pytest.approx(expected, rel=1e-6)


def test_runs_of_few_documents_among_many() -> None:
    """Pairs taken by runs are those taken one by one; one run is empty."""
    rng = np.random.default_rng(0)
    n_runs, n = 7, 500
    v, weights = rng.random((5, n)) / 4, rng.random(5)
    ranks = np.full((n_runs, n), np.inf)
    for run in range(1, n_runs):
        ranks[run, rng.permutation(n)[: 30 + run]] = rng.permutation(100)[: 30 + run] + 1.0
    ranks[2, :40] = np.arange(1.0, 41)
    ranks[2, 40:] = np.inf
    ranks[3, :40] = np.arange(40.0, 0, -1)
    ranks[3, 40:] = np.inf
    found = pair_matrix(ranks, v, weights)
    inverse = 1 / ranks
    for a in range(n_runs):
        for b in range(a + 1):
            both = np.minimum.outer(inverse[a], inverse[a]) * np.minimum.outer(inverse[b], inverse[b])
            expected = sum(w * (one @ np.triu(both, 1) @ one) for w, one in zip(weights, v, strict=True))
            assert found[a, b] == found[b, a] == pytest.approx(expected, rel=1e-12)
