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

    def moments(self, p: Floats) -> tuple[Floats, Floats]:
        """Return means and covariances."""
        weights = self.weights(p)
        mean = weights @ self.scores
        apart = self.scores - mean
        return mean, (apart * weights[:, None]).T @ apart

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


def outcome_table(ranks: Floats) -> OutcomeTable:
    """Score every outcome."""
    n = ranks.shape[1]
    relevant = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    scores = np.zeros((2**n, len(ranks)))
    for run, row in enumerate(ranks):
        order = np.argsort(row)[: np.isfinite(row).sum()]
        flags = relevant[:, order].astype(np.float64)
        precision = flags.cumsum(axis=1) / row[order]
        scores[:, run] = (flags * precision).sum(axis=1) / np.maximum(relevant.sum(axis=1), 1)
    return OutcomeTable(relevant, scores)


def all_maps(topics: list[tuple[Floats, Floats]], *, empty: str = "given") -> tuple[Floats, Floats]:
    """Return the runs' MAPs in every outcome of all topics, shape (n, n_runs), and its probability."""
    totals, chances = np.zeros((1, len(topics[0][1]))), np.ones(1)
    for p, ranks in topics:
        table = outcome_table(ranks)
        weights = table.weights(p) * (table.relevant.any(axis=1) if empty == "given" else 1)
        kept = weights > 0
        totals = (totals[:, None] + table.scores[kept]).reshape(-1, len(ranks))
        chances = np.multiply.outer(chances, weights[kept] / weights.sum()).ravel()
    return totals / len(topics), chances


def reversed_in(
    topics: list[tuple[Floats, Floats]], first: int, second: int, *, empty: str = "given"
) -> float:
    """Add up the probabilities of all outcomes in which the second run has the higher MAP."""
    maps, chances = all_maps(topics, empty=empty)
    return float(chances[maps[:, second] - maps[:, first] > 1e-12].sum())
