"""Borda fusion: every run is a voter who hands out points by rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def borda_values(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by their points in a Borda election.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Multiples of one half, from 1 to the number of runs times that of documents.

    Notes
    -----
    With c documents in the union, a run of length L gives [1]_

    .. math:: c - \mathrm{rank}(d) + 1

    points to a document it returned, and to each of the others (c - L + 1) / 2: the points of the
    ranks after its last, shared equally. The values are the sums over all runs, exact, so that
    ties are ties. The union is that of the rankings after the cut, as in ranx; other programs
    count the documents of the collection. A run that returned nothing for the topic would give
    all the same, and is no voter. With one run this is the run's own order. Ties: docno
    descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Aslam and Montague, "Models for metasearch", *SIGIR* 2001,
       doi:10.1145/383952.384007.

    Examples
    --------
    Of three documents, the first run gives 3 to a, 2 to b and 1 to c; the second gives 3 to b,
    and its 2 and 1 are shared:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b"]])
    >>> dict(zip(docnos, borda_values(rankings).tolist()))
    {'a': 4.5, 'b': 5.0, 'c': 2.5}
    """
    missing = (rankings.n_documents - rankings.lengths + 1) / 2
    points = rankings.n_documents - np.arange(float(rankings.depth))
    gains = rankings.sum_by_place(points - missing[:, np.newaxis])
    values: NDArray[np.float64] = gains + missing.sum()
    return values
