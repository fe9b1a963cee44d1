"""Sums over documents that every agreement coefficient of many judges is made of.

Counted topic by topic; the sums of topics add up to those of all documents, so that topics can be
resampled without touching a vote again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.analysis.coefficient import Numbers
from store.analysis.votes import Votes, grade_counts
from store.errors import ArgumentError


class VoteSums(NamedTuple):
    """The parts of `vote_sums`; each may have leading axes, one entry a topic or a resample."""

    pairs: NDArray[np.float64]
    """Shape (..., n_grades, n_grades): ordered pairs of votes on one document; whole numbers."""
    coincidences: NDArray[np.float64]
    """The same, every document's divided by its votes less one."""
    rates: NDArray[np.float64]
    """The same, every document's divided by the number of its pairs."""
    given: NDArray[np.float64]
    """Shape (..., n_grades): share of a document's votes, summed over graded documents."""
    n_graded: NDArray[np.float64]
    """Shape (...): documents with a grade."""
    n_shared: NDArray[np.float64]
    """Shape (...): documents with two grades or more."""


def vote_sums(votes: Votes) -> NDArray[np.float64]:
    """Count, topic by topic, all that coefficients of many judges are made of.

    Parameters
    ----------
    votes : Votes
        Grades.

    Returns
    -------
    ndarray of float64, shape (n_topics, 3 * n_grades**2 + n_grades + 2)
        One row a topic; `sums_apart` names the parts. Rows add up; a weighted sum of rows is that
        of resampled topics.

    Notes
    -----
    Documents of one topic with equally many votes are counted in whole numbers and divided once,
    so that the order of documents and judges changes no digit. O(n_votes + n_documents *
    n_grades**2).
    """
    return sums_of_counts(grade_counts(votes), votes.topic_codes, len(votes.topics))


def sums_of_counts(
    grade_counts: NDArray[np.int64], topic_codes: NDArray[np.int64], n_topics: int
) -> NDArray[np.float64]:
    """Make `vote_sums` of counts, shape (n_documents, n_grades), each document with a vote."""
    counts = grade_counts.astype(np.float64)
    q = counts.shape[1]
    sizes = counts.sum(axis=1).astype(np.int64)
    most = int(sizes.max(initial=0)) + 1
    groups, group_of = np.unique(topic_codes * most + sizes, return_inverse=True)
    topics, m = groups // most, (groups % most)[:, np.newaxis]

    pairs = np.empty((len(groups), q, q))
    for c in range(q):
        for k in range(c, q):
            products = counts[:, c] * (counts[:, k] - (c == k))
            pairs[:, c, k] = np.bincount(group_of, products, minlength=len(groups))
            pairs[:, k, c] = pairs[:, c, k]
    flat = pairs.reshape(len(groups), q * q)
    given = [np.bincount(group_of, counts[:, k], minlength=len(groups)) for k in range(q)]
    documents = np.bincount(group_of, minlength=len(groups))
    others = np.maximum(m - 1, 1)
    shares = np.stack(given, axis=1) / m
    counted = np.stack([documents, documents * (m[:, 0] > 1)], axis=1)
    of_groups = np.hstack([flat, flat / others, flat / (others * m), shares, counted])
    sums = np.zeros((n_topics, of_groups.shape[1]))
    np.add.at(sums, topics, of_groups)
    return sums


def sums_apart(sums: Numbers) -> VoteSums:
    """Name the parts of `vote_sums`, or of sums of its rows, shape (..., n_sums).

    Raises
    ------
    ArgumentError
        If the last axis has a length that `vote_sums` never gives.
    """
    sums = np.asarray(sums, np.float64)
    n_sums = sums.shape[-1]
    q = (math.isqrt(max(12 * n_sums - 23, 0)) - 1) // 6
    if 3 * q * q + q + 2 != n_sums:
        raise ArgumentError("sums", "must be what `vote_sums` counts", f"shape {sums.shape}")
    squares = sums[..., : 3 * q * q].reshape(*sums.shape[:-1], 3, q, q)
    return VoteSums(
        squares[..., 0, :, :],
        squares[..., 1, :, :],
        squares[..., 2, :, :],
        sums[..., 3 * q * q : -2],
        sums[..., -2],
        sums[..., -1],
    )


def coincidences(votes: Votes) -> NDArray[np.float64]:
    """Count the coincidences of Krippendorff's alpha, shape (n_topics, n_grades, n_grades).

    Examples
    --------
    Three judges give 0 0 1 to a document, two of them 1 1 to another:

    >>> from store.analysis.votes import votes_from_rows
    >>> votes = votes_from_rows(
    ...     np.zeros(5, int),
    ...     np.array([0, 0, 0, 1, 1]),
    ...     np.array([0, 1, 2, 0, 1]),
    ...     np.array([0, 0, 1, 1, 1]),
    ...     topics=["1"],
    ...     judges=["ann", "bob", "cy"],
    ...     scale_values=(0, 1),
    ... )
    >>> coincidences(votes).tolist()
    [[[1.0, 1.0], [1.0, 2.0]]]
    """
    return sums_apart(vote_sums(votes)).coincidences
