"""Studentised bootstrap of paired differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from store.analysis.significance.randomisation import studentised_bootstrap
from tests.vectors.three_systems import X, Y


@pytest.mark.vector("T11: studentised bootstrap .050")
def test_bootstrap_of_two_systems() -> None:
    """The bootstrap's p is .050, to what 20,000 resamples leave open."""
    p = studentised_bootstrap(X - Y, seed=2, resamples=20_000)
    assert float(p) == pytest.approx(0.050, abs=0.0005 + 3 * math.sqrt(0.0475 / 20_000))


def test_bootstrap_equals_a_plain_loop() -> None:
    """The p-value is the share of the resamples, drawn alike, whose t is as large."""
    differences = np.array([0.1, 0.2, 0.1, 0.4, -0.1])
    bits = np.random.PCG64(7).random_raw(200 * 5) >> np.uint64(32)
    drawn = ((bits * np.uint64(5)) >> np.uint64(32)).astype(int).reshape(200, 5)
    shifted = differences - differences.mean()
    seen = abs(differences.mean() / differences.std(ddof=1))
    n_as_large = 0
    for places in drawn:
        sample = shifted[places]
        # Without variation t is infinite, unless the mean is 0, as it never is here.
        constant = np.ptp(sample) == 0
        n_as_large += constant or abs(sample.mean()) / sample.std(ddof=1) >= seen
    p = float(studentised_bootstrap(differences, seed=7, resamples=200))
    assert p == (n_as_large + 1) / 201


def test_bootstrap_of_many_pairs_is_that_of_each() -> None:
    """Every row has the p that it has alone; rows without variation and single topics have none."""
    rows = np.random.default_rng(1).normal(0.05, 0.2, (4, 12))
    rows[2] = 0.1
    together = studentised_bootstrap(rows, seed=5, resamples=500)
    for row, p in zip(rows, together, strict=True):
        alone = studentised_bootstrap(row, seed=5, resamples=500)
        np.testing.assert_array_equal(alone, p)
    assert np.isnan(together).tolist() == [False, False, True, False]
    assert np.isnan(studentised_bootstrap(np.zeros((2, 1)), seed=1)).all()
