"""Tables of two judges: the documents that both graded, by grade of the one and of the other.

The first judge is in rows, the second in columns, grades of the declared scale in ascending order,
used or not. Tables of topics add up to the table of all documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.analysis.votes import Votes

_SECONDS_A_PAIR = 1.6e-8
_SECONDS_A_PRODUCT = 2.5e-11
"""Measured costs of counting two votes one by one, and of a multiplication in a matrix product:
they choose between two ways to the same counts."""
_BLOCK_CELLS = 1 << 22
"""Cells of a block of one-hot rows: 16 MB."""
_CHUNK_PAIRS = 1 << 20
"""Pairs of votes counted at once: 8 MB an array."""
_CHUNK_GRADES = 1 << 15
"""Grades of a judge counted at once, so that they stay near the processor."""


def count_pairs(
    first: NDArray[np.int64], second: NDArray[np.int64], n_grades: int
) -> NDArray[np.int64]:
    """Count the grades that two judges gave to the same documents.

    Parameters
    ----------
    first, second : ndarray of int, shape (n_documents,)
        Places on the scale, from 0 to ``n_grades - 1``, document by document.
    n_grades : int
        Grades of the declared scale.

    Returns
    -------
    ndarray of int64, shape (n_grades, n_grades)
        Documents by grade of `first` (rows) and of `second` (columns).

    Raises
    ------
    ArgumentError
        If the arrays differ in length or hold a place that is not on the scale.

    Examples
    --------
    >>> count_pairs(np.array([0, 1, 1]), np.array([0, 0, 2]), 3).tolist()
    [[1, 0, 0], [1, 0, 1], [0, 0, 0]]
    """
    if len(first) != len(second):
        raise ArgumentError("second", f"must be {len(first)} grades", len(second))
    counts = np.zeros(n_grades * n_grades, dtype=np.int64)
    for begin in range(0, len(first), _CHUNK_GRADES):
        part = slice(begin, begin + _CHUNK_GRADES)
        rows, columns = (np.asarray(places[part], np.int64) for places in (first, second))
        for name, places in (("first", rows), ("second", columns)):
            # Seen as unsigned, a negative place is a huge one.
            if int(places.view(np.uint64).max()) >= n_grades:
                wrong = places[(places < 0) | (places >= n_grades)]
                raise ArgumentError(name, f"must be from 0 to {n_grades - 1}", int(wrong[0]))
        counts += np.bincount(rows * n_grades + columns, minlength=counts.size)
    return counts.reshape(n_grades, n_grades)


def pair_tables(votes: Votes, first: str, second: str) -> NDArray[np.int64]:
    """Count, topic by topic, the documents that two judges graded.

    Parameters
    ----------
    votes : Votes
        Grades.
    first, second : str
        Two judges' names.

    Returns
    -------
    ndarray of int64, shape (n_topics, n_grades, n_grades)
        Documents by grade of `first` (rows) and of `second` (columns), topics as in
        ``votes.topics``; the sum over topics is the table of all documents.

    Raises
    ------
    UnknownNameError
        If there is no such judge.
    ArgumentError
        If both are the same judge.

    Examples
    --------
    Ann gives 0 1 2 to three documents, Bob 2 1 to the first two:

    >>> from store.analysis.votes import votes_from_rows
    >>> votes = votes_from_rows(
    ...     np.zeros(5, int),
    ...     np.array([1, 1, 2, 2, 3]),
    ...     np.array([0, 1, 0, 1, 0]),
    ...     np.array([0, 2, 1, 1, 2]),
    ...     topics=["1"],
    ...     judges=["ann", "bob"],
    ...     scale_values=(0, 1, 2),
    ... )
    >>> pair_tables(votes, "ann", "bob").tolist()
    [[[0, 0, 1], [0, 1, 0], [0, 0, 0]]]
    """
    codes = votes.judge_index(first), votes.judge_index(second)
    if first == second:
        raise ArgumentError("second", "must be another judge than `first`", second)
    mine, theirs = (np.flatnonzero(votes.judge_codes == code) for code in codes)
    row_of = np.full(votes.n_documents, -1, dtype=np.int64)
    row_of[votes.documents[mine]] = votes.places[mine]
    documents = votes.documents[theirs]
    rows = row_of[documents]
    both = rows >= 0
    q = votes.n_grades
    cells = (votes.topic_codes[documents] * q + rows) * q + votes.places[theirs]
    counts = np.bincount(cells[both], minlength=len(votes.topics) * q * q)
    return counts.reshape(len(votes.topics), q, q)


def all_pair_tables(votes: Votes) -> NDArray[np.int64]:
    """Count the documents of every pair of judges by their two grades, over all topics.

    Parameters
    ----------
    votes : Votes
        Grades.

    Returns
    -------
    ndarray of int64, shape (n_pairs, n_grades, n_grades)
        Pairs in the order of ``itertools.combinations(votes.judges, 2)``; the judge that comes
        first is in rows.

    Notes
    -----
    Where documents have few votes, their pairs of votes are counted one by one; where they have
    many, the one-hot rows of documents are multiplied by themselves, which is exact in float32 as
    a block has fewer than ``2**24`` documents. The cheaper way is taken.
    """
    votes_of_document = np.bincount(votes.documents, minlength=votes.n_documents)
    n_pairs_of_votes = int((votes_of_document * (votes_of_document - 1) // 2).sum())
    width = len(votes.judges) * votes.n_grades
    n_shared = int(np.count_nonzero(votes_of_document > 1))
    if n_pairs_of_votes * _SECONDS_A_PAIR > n_shared * width * width * _SECONDS_A_PRODUCT:
        return _by_product(votes, votes_of_document)
    return _one_by_one(votes, votes_of_document)


def _one_by_one(votes: Votes, votes_of_document: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count pairs of votes of one document: each vote with the next, the one after it, ..."""
    n_judges, q = len(votes.judges), votes.n_grades
    n_pairs = n_judges * (n_judges - 1) // 2
    counts = np.zeros(n_pairs * q * q, dtype=np.int64)
    ends = np.cumsum(votes_of_document)
    left = ends[votes.documents] - np.arange(len(votes.documents)) - 1
    lower = np.flatnonzero(left > 0)
    # Pairs (0, 1), (0, 2), ... are numbered in a row: those of judge a begin at start[a].
    judges = np.arange(n_judges)
    start = judges * (2 * n_judges - judges - 1) // 2 - judges - 1
    distance = 1
    while lower.size:
        for begin in range(0, lower.size, _CHUNK_PAIRS):
            one = lower[begin : begin + _CHUNK_PAIRS]
            other = one + distance
            pairs = start[votes.judge_codes[one]] + votes.judge_codes[other]
            cells = (pairs * q + votes.places[one]) * q + votes.places[other]
            counts += np.bincount(cells, minlength=counts.size)
        distance += 1
        lower = lower[left[lower] >= distance]
    return counts.reshape(n_pairs, q, q)


def _by_product(votes: Votes, votes_of_document: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count pairs of votes as a product of one-hot rows, a block of documents at a time."""
    n_judges, q = len(votes.judges), votes.n_grades
    width = n_judges * q
    rows = max(1, min(_BLOCK_CELLS // width, (1 << 24) - 1))
    columns = votes.judge_codes * q + votes.places
    bounds = np.concatenate([[0], np.cumsum(votes_of_document)])
    total = np.zeros((width, width), dtype=np.int64)
    for begin in range(0, votes.n_documents, rows):
        end = min(begin + rows, votes.n_documents)
        part = slice(bounds[begin], bounds[end])
        one_hot = np.zeros((end - begin, width), dtype=np.float32)
        cells = (votes.documents[part] - begin) * width + columns[part]
        one_hot.reshape(-1)[cells] = 1
        total += (one_hot.T @ one_hot).astype(np.int64)
    first, second = np.triu_indices(n_judges, k=1)
    return total.reshape(n_judges, q, n_judges, q).transpose(0, 2, 1, 3)[first, second]
