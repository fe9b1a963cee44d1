"""Mean and variance of one run's AP by dynamic programming over the number of relevant documents.

Slow, but of positive terms only, and for thousands of documents (formulas of the project, 5.6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Long = NDArray[np.longdouble]


@dataclass(frozen=True)
class Dynamic:
    """Exact moments of one run, pool mode."""

    mean: float
    variance: float
    n_relevant: NDArray[np.float64]
    """Shape (n_documents + 1,): P(R = k)."""


def dynamic(probabilities: NDArray[np.float64], ranks: NDArray[np.float64]) -> Dynamic:
    """Compute E[AP] and Var[AP] of one run.

    By the number of relevant documents so far, in rank order: the probability, and the first two
    moments of the precision sum over the outcomes with that number. O(n_documents**2).
    """
    order = np.argsort(ranks, kind="stable")
    weights = 1 / ranks[order].astype(np.longdouble)
    length = len(probabilities) + 1
    counts = np.arange(length, dtype=np.longdouble)
    chance: Long = np.zeros(length, dtype=np.longdouble)
    chance[0] = 1
    first, second = np.zeros_like(chance), np.zeros_like(chance)
    for p, weight in zip(probabilities[order].astype(np.longdouble), weights, strict=True):
        step = weight * counts[1:]
        gained_second = second[:-1] + 2 * step * first[:-1] + step**2 * chance[:-1]
        gained_first = first[:-1] + step * chance[:-1]
        gained = chance[:-1].copy()
        for array, more in ((second, gained_second), (first, gained_first), (chance, gained)):
            array *= 1 - p
            array[1:] += p * more
    some = counts[1:]
    mean = (first[1:] / some).sum()
    # Centred before the division by R^2: nothing cancels but within one number of documents.
    spread = second[1:] - 2 * mean * some * first[1:] + (mean * some) ** 2 * chance[1:]
    variance = (spread / some**2).sum() + mean**2 * chance[0]
    return Dynamic(float(mean), float(variance), chance.astype(np.float64))
