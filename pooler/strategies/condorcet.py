"""Condorcet fusion: every run is a voter between each two documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import NO_DOCUMENT, TopicRankings

_CELLS = 1 << 20
"""Pairs of documents held in memory at once."""


def condorcet_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by how many others they beat.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Whole numbers from 0 to ``n_documents - 1``: the documents to which more runs prefer this
        one than the other way round.

    Notes
    -----
    A run prefers what it ranks higher, and what it returned to what it did not; between two
    documents it did not return it has no preference. [1]_ sorts documents by their pairwise
    majorities, which can go in circles, so that the result depends on where the sort began;
    counting victories [2]_ depends on nothing but the runs. A document that beats all others is
    first. With one run this is the run's own order. Ties: docno descending.

    O(u**2 + m l**2) for a union of u documents and m runs of length l: a margin is the difference
    of the numbers of runs that returned either document, put right by the runs that returned
    both. Memory: some 20 MB, whatever u is.

    References
    ----------
    .. [1] Montague and Aslam, "Condorcet fusion for improved retrieval", *CIKM* 2002, pp. 538-548,
       doi:10.1145/584792.584881.
    .. [2] Lipani, Lupu, Palotti, Zuccon and Hanbury, "Fixed budget pooling strategies based on
       fusion methods", *SAC* 2017, pp. 919-924, doi:10.1145/3019612.3019692.

    Examples
    --------
    b beats a by two runs to one and c by three to none; a beats c by two to one:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "a"], ["b", "c"]])
    >>> dict(zip(docnos, condorcet_values(rankings).tolist()))
    {'a': 1.0, 'b': 2.0, 'c': 0.0}
    """
    n_documents = rankings.n_documents
    n_returning = rankings.n_returning().astype(np.int32)
    by_run = [_by_number(row) for row in rankings.documents]
    wins = np.zeros(n_documents, np.float64)
    n_rows = max(1, _CELLS // max(1, n_documents))
    for first in range(0, n_documents, n_rows):
        block = slice(first, first + n_rows)
        # Runs that returned the row's document less those that returned the column's.
        margins = n_returning[block, np.newaxis] - n_returning
        for numbers, ranks in by_run:
            low, high = np.searchsorted(numbers, (first, first + n_rows))
            if low < high:
                preferences = np.sign(ranks - ranks[low:high, np.newaxis])
                margins[np.ix_(numbers[low:high] - first, numbers)] += preferences
        wins[block] = (margins > 0).sum(axis=1)
    return wins


def _by_number(row: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a run's documents by ascending number, and their ranks from 0."""
    documents = row[row != NO_DOCUMENT]
    ranks = np.argsort(documents, kind="stable").astype(np.int32)
    return documents[ranks], ranks
