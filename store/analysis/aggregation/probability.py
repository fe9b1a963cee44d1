"""How likely a document is relevant, given what several judges said of it.

Judges who differ are evidence that a document is neither surely relevant nor surely not. A
probability keeps that, where any rule that makes one grade of many throws it away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.analysis.aggregation.rules import check_counts
from store.errors import ArgumentError


def value_probabilities(counts: NDArray[np.int64], values: Sequence[float]) -> NDArray[np.float64]:
    """Take the mean over a document's judges of what each judge's grade is worth.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_grades)
        Judges by the grade they gave, grades ascending; as of `store.analysis.agreement.votes.grade_counts`.
        Every document has a vote: without one it has no probability.
    values : sequence of float, length n_grades
        Probability, in [0, 1], that a document is relevant when one judge gives it the grade.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]. `ArgumentError` if `counts` are no counts or have a row without votes, or `values` are not
        one probability a grade.

    References
    ----------
    .. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment", 2001
       (in Japanese), table 4: values 1 (relevant), 0.8 (partially relevant) and 0 (not relevant) of two
       judges.

    Examples
    --------
    The six patterns of two judges in table 4 of [1]_, from both relevant to neither:

    >>> counts = np.array([[0, 0, 2], [0, 1, 1], [1, 0, 1], [0, 2, 0], [1, 1, 0], [2, 0, 0]])
    >>> value_probabilities(counts, (0.0, 0.8, 1.0)).round(10).tolist()
    [1.0, 0.9, 0.5, 0.8, 0.4, 0.0]
    """
    counts = _check_counts(counts)
    worth = np.array(values, dtype=np.float64)
    if worth.shape != (counts.shape[1],) or not ((worth >= 0) & (worth <= 1)).all():
        requirement = f"must be {counts.shape[1]} probabilities from 0 to 1, one a grade"
        raise ArgumentError("values", requirement, list(values))
    # A weighted sum by hand: the same bits on every machine, which a matrix product is not.
    total = np.zeros(len(counts), dtype=np.float64)
    for place, value in enumerate(worth.tolist()):
        total += counts[:, place] * value
    probabilities: NDArray[np.float64] = np.minimum(total / counts.sum(axis=1), 1.0)
    return probabilities


def share_probabilities(counts: NDArray[np.int64], level_index: int) -> NDArray[np.float64]:
    """Take the share, in [0, 1], of a document's judges who find it relevant, shape (n_documents,).

    `counts` as for `value_probabilities`, with its errors; `level_index` is the place of the least relevant
    grade, from 1 to ``n_grades - 1``, else `ArgumentError`.

    Examples
    --------
    >>> share_probabilities(np.array([[0, 1, 3], [4, 0, 0]]), 2).tolist()
    [0.75, 0.0]
    """
    counts = _check_counts(counts)
    if not 1 <= level_index < counts.shape[1]:
        requirement = f"must be an integer from 1 to {counts.shape[1] - 1}"
        raise ArgumentError("level_index", requirement, level_index)
    shares: NDArray[np.float64] = counts[:, level_index:].sum(axis=1) / counts.sum(axis=1)
    return shares


def _check_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = check_counts(counts)
    if not counts.any(axis=1).all():
        row = int(np.argmin(counts.any(axis=1)))
        requirement = "must have a vote in every row: an ungraded document has no probability"
        raise ArgumentError("counts", requirement, f"none in row {row}")
    return counts
