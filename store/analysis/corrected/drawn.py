"""A stratified sample that people judged, and what a model's grades let expect of the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

NO_GRADE = -1
"""Of a document that the model did not grade: nothing is expected of it, which is a gain of 0."""
FEWEST = 30
"""Judged documents of every grade of the model, with which its grades may be calibrated."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Simple random samples from strata; build it with `drawn`."""

    topics: NDArray[np.int64]
    """Shape (n_documents,): topic of each document of the population, from 0, ascending."""
    strata: NDArray[np.int64]
    """Shape (n_documents,): from 0; a stratum may be of several topics."""
    judged: NDArray[np.int64]
    """Shape (n_judged,): rows of the population that were sampled and judged, ascending."""
    sizes: NDArray[np.int64]
    """Shape (n_strata,): documents."""
    counts: NDArray[np.int64]
    """Shape (n_strata,): judged documents."""

    @property
    def inclusion(self) -> NDArray[np.float64]:
        """Shape (n_judged,): share of its stratum that is judged, for each judged document."""
        return np.asarray((self.counts / np.maximum(self.sizes, 1))[self.strata[self.judged]])

    @property
    def joint(self) -> NDArray[np.float64]:
        r"""Shape (n_strata,): :math:`\pi_d \pi_e / \pi_{de}` of two documents of one stratum.

        With n of N judged it is n (N - 1) / (N (n - 1)); 1 where n < 2, since no two are judged.
        """
        n, size = self.counts, self.sizes
        found = np.ones(n.size)
        return np.divide(n * (size - 1.0), size * (n - 1.0), out=found, where=n > 1)

    @property
    def uncovered(self) -> NDArray[np.int64]:
        """Strata that have documents, of which none is judged: nothing can be estimated."""
        return np.flatnonzero((self.sizes > 0) & (self.counts == 0))


def drawn(topics: NDArray[np.int64], strata: NDArray[np.int64], judged: NDArray[np.bool_]) -> Drawn:
    """Describe a sample by the topic and stratum of every document, both from 0, and whether it was judged.

    Topics ascend, else `ArgumentError`. Sampled documents that could not be judged are lost at
    random within their stratum: they count as not sampled.

    Examples
    --------
    >>> sample = drawn(np.zeros(4, int), np.array([0, 0, 0, 1]), np.array([True, False, True, True]))
    >>> sample.inclusion.round(3).tolist(), sample.joint.round(3).tolist()
    ([0.667, 0.667, 1.0], [1.333, 1.0])
    """
    if np.any(np.diff(topics) < 0):
        raise ArgumentError("topics", "must ascend", topics.tolist())
    sizes = np.bincount(strata)
    counts = np.bincount(strata[judged], minlength=sizes.size)
    return Drawn(topics, strata, np.flatnonzero(judged), sizes, counts)


def grade_counts(model: NDArray[np.int64], sample: Drawn) -> NDArray[np.int64]:
    """Count judged documents by the model's grade, for the grades that documents have, ascending.

    Examples
    --------
    >>> sample = drawn(np.zeros(3, int), np.zeros(3, int), np.array([True, True, False]))
    >>> grade_counts(np.array([2, 0, 1]), sample).tolist()
    [1, 0, 1]
    """
    known = np.unique(model[model != NO_GRADE])
    of_judged = model[sample.judged]
    return np.array([np.count_nonzero(of_judged == one) for one in known.tolist()], dtype=np.int64)


def calibrated_shares(
    model: NDArray[np.int64], outcomes: NDArray[np.int64], n_outcomes: int, sample: Drawn
) -> NDArray[np.float64]:
    r"""Estimate how people grade documents that the model grades alike.

    Parameters
    ----------
    model : ndarray of int64, shape (n_documents,)
        The model's grades as numbers from 0; `NO_GRADE`.
    outcomes : ndarray of int64, shape (n_judged,)
        What people said of the judged documents, from 0.
    n_outcomes : int
        What they can say: 2 of relevance.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_documents, n_outcomes)
        Of every document the shares of its grade, which sum to 1; all 0 without a grade.

    Notes
    -----
    With :math:`n_g` judged documents of the model's grade g, w = 1 / inclusion, and L outcomes,

    .. math:: p_{gl} = \frac{n_g \sum w [y = l] / \sum w + 1/L}{n_g + 1}

    Examples
    --------
    Grade 1: three of four judged are relevant, (3 + 1/2) / 5; grade 0: none is judged.

    >>> sample = drawn(np.zeros(5, int), np.zeros(5, int), np.array([True] * 4 + [False]))
    >>> calibrated_shares(np.array([1, 1, 1, 1, 0]), np.array([1, 1, 1, 0]), 2, sample)[:, 1].tolist()
    [0.7, 0.7, 0.7, 0.7, 0.5]
    """
    n_grades = int(model.max(initial=NO_GRADE)) + 1
    grades, expanded = model[sample.judged], 1 / sample.inclusion
    is_known = grades != NO_GRADE
    cells = grades[is_known] * n_outcomes + outcomes[is_known]
    sums = np.bincount(cells, expanded[is_known], minlength=n_grades * n_outcomes)
    sums = sums.reshape(n_grades, n_outcomes)
    counts = np.bincount(grades[is_known], minlength=n_grades)[:, None]
    total = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, total, out=np.zeros(sums.shape), where=total > 0)
    shares = (counts * shares + 1 / n_outcomes) / (counts + 1)
    return np.asarray(np.vstack([shares, np.zeros(n_outcomes)])[model])
