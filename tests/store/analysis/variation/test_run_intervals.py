"""Intervals of MAP and of differences by the normal law, beside those of all outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from store.analysis.variation.collection import collection_variation, pair_components, run_components
from tests.store.analysis.variation.kitchen_garden import two_runs

KG = "methods of the project, section 1.6"
NORMAL = ([0.615267, 0.589225], [0.738639, 0.692005])
OUTSIDE = (0.0359, 0.0152)
"""Probability by all outcomes that A is below and above its limits by the normal law; .025 were meant."""


@pytest.mark.vector(KG)
def test_intervals_of_the_sample_collection() -> None:
    """To six digits; and how much is outside, by draws within four standard errors."""
    topics = two_runs()
    low, high = run_components(collection_variation(topics)).interval()
    assert low == pytest.approx(NORMAL[0], abs=0.51e-6)
    assert high == pytest.approx(NORMAL[1], abs=0.51e-6)
    maps, n = np.zeros(40_000), 40_000
    rng = np.random.default_rng(1)
    for p, ranks in topics:
        assert (p == 1).any()
        order = np.argsort(ranks[0])
        order = order[np.isfinite(ranks[0, order])]
        flags = rng.random((n, p.size)) < p
        own = flags[:, order]
        maps += (own * own.cumsum(axis=1)) @ (1 / ranks[0, order]) / flags.sum(axis=1) / len(topics)
    for share, expected in zip(((maps < low[0]).mean(), (maps > high[0]).mean()), OUTSIDE, strict=True):
        assert share == pytest.approx(expected, abs=4 * (expected * (1 - expected) / n) ** 0.5)


@pytest.mark.vector(KG)
def test_difference_of_the_sample_collection() -> None:
    """Its limits and its deviation, and those of both runs."""
    varied = collection_variation(two_runs())
    parts = run_components(varied)
    assert parts.by_judging == pytest.approx((0.0314731968, 0.0262198362), abs=0.51e-10)
    of_both = pair_components(varied, (np.array([0]), np.array([1]))).components
    assert of_both.by_judging == pytest.approx(0.0253007302, abs=0.51e-10)
    assert np.ravel(of_both.interval()) == pytest.approx((-0.013250, 0.085927), abs=0.51e-6)
