"""Every outcome of judging a topic at once, as arrays: for hundreds of topics of twelve documents.

A second obvious reference beside `enumerated_variation`, which goes from outcome to outcome with
fractions; the two are compared in the tests of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OutcomeTable:
    """Scores of all runs in all 2^n outcomes; probabilities come later."""

    relevant: NDArray[np.bool_]
    """Shape (2^n, n)."""
    scores: Floats
    """Shape (2^n, n_runs): AP, 0 without a relevant document."""

    def weights(self, p: Floats) -> Floats:
        """Return the probability of every outcome."""
        return np.asarray(np.where(self.relevant, p, 1 - p).prod(axis=1))

    def moments(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Return means, covariances, and third moments of the row's run less the column's."""
        weights = self.weights(p)
        mean = weights @ self.scores
        apart = self.scores - mean
        covariance = (apart * weights[:, None]).T @ apart
        differences = apart[:, :, None] - apart[:, None, :]
        return mean, covariance, np.einsum("o,oab->ab", weights, differences**3)

    def gradient(self, p: Floats) -> Floats:
        """Return E[AP | relevant] - E[AP | not relevant], shape (n_runs, n)."""
        columns = []
        for document in range(p.size):
            ends = []
            for value in (0.0, 1.0):
                settled = p.copy()
                settled[document] = value
                ends.append(self.weights(settled) @ self.scores)
            columns.append(ends[1] - ends[0])
        return np.array(columns).T


def outcome_table(ranks: Floats, *, own: bool = False) -> OutcomeTable:
    """Score every outcome; with `own`, R counts what the run retrieved."""
    n = ranks.shape[1]
    relevant = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    scores = np.zeros((2**n, len(ranks)))
    for run, row in enumerate(ranks):
        retrieved = np.isfinite(row)
        order = np.argsort(row)[: retrieved.sum()]
        flags = relevant[:, order].astype(np.float64)
        precision = flags.cumsum(axis=1) / row[order]
        counted = relevant[:, retrieved] if own else relevant
        scores[:, run] = (flags * precision).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return OutcomeTable(relevant, scores)
