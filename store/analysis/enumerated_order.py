"""The order of two runs over every outcome of judging: exact, for some eighteen documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.analysis.collection_variation import Topic
from store.analysis.empty_outcomes import Empty, chance_left, check_chances
from store.analysis.undiscovered import TIED_MAP

_AT_ONCE = 1 << 14
"""Outcomes of a topic that are looked at at once."""


def enumerate_order(topics: Sequence[Topic], *, empty: Empty = "given") -> tuple[float, float]:
    """Add up the probabilities of all outcomes in which the first run is above, and tied.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        Two runs; see `store.analysis.variation.variation`.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.

    Returns
    -------
    above, tied : float
        Probabilities; MAPs closer than 1e-12 are tied.

    Notes
    -----
    O(n 2^n) time and O(2^n) memory in the documents of all topics that are neither sure nor
    impossible.

    Examples
    --------
    >>> topics = [(np.array([0.75]), np.array([[1.0], [np.inf]]))]
    >>> enumerate_order(topics), enumerate_order(topics, empty="zero")
    ((1.0, 0.0), (0.75, 0.25))
    """
    check_chances([p for p, _ in topics], empty)
    totals, weights = np.zeros(1), np.ones(1)
    for probabilities, ranks in topics:
        differences, own = _differences(probabilities, ranks, empty)
        totals = np.add.outer(totals, differences).ravel()
        weights = np.multiply.outer(weights, own).ravel()
    tied = np.abs(totals) <= TIED_MAP * len(topics)
    return float(weights[~tied & (totals > 0)].sum()), float(weights[tied].sum())


def _differences(
    probabilities: NDArray[np.float64], ranks: NDArray[np.float64], empty: Empty
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the difference of AP for every outcome of a topic, and its probability."""
    random = np.flatnonzero((probabilities > 0) & (probabilities < 1))
    n_outcomes = 1 << random.size
    differences, weights = np.empty(n_outcomes), np.empty(n_outcomes)
    for first in range(0, n_outcomes, _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, n_outcomes))
        outcomes = (numbers[:, None] >> np.arange(random.size) & 1).astype(np.bool_)
        relevant = np.tile(probabilities == 1, (numbers.size, 1))
        relevant[:, random] = outcomes
        p = probabilities[random]
        weights[numbers] = np.where(outcomes, p, 1 - p).prod(axis=1)
        sums = [_sums(relevant, row) for row in ranks]
        n_relevant = np.maximum(relevant.sum(axis=1), 1)
        differences[numbers] = (sums[0] - sums[1]) / n_relevant
    if empty == "given" and not (probabilities == 1).any():
        # The outcome of number 0 has no relevant document.
        differences, weights = differences[1:], weights[1:] / chance_left(probabilities, empty)
    return differences, weights


def _sums(relevant: NDArray[np.bool_], ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of precisions of one run for every outcome."""
    order = np.argsort(ranks)
    order = order[np.isfinite(ranks[order])]
    flags = relevant[:, order].astype(np.float64)
    return np.asarray((flags * flags.cumsum(axis=1)) @ (1 / ranks[order]))
