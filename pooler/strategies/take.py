"""Take-N: depth pooling that stops at exactly N documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import NO_DOCUMENT, TopicRankings


def take_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their best rank in any run.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Minus the best rank of the document [1]_, plus a share below 1 that grows with the number
        of runs that gave it this rank.

    Notes
    -----
    The first N documents are depth pools of growing depth, the last of them cut short so that
    exactly N are taken. [1]_ breaks ties at random; here more runs at the best rank come first,
    then docno descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
       on IR evaluation measures", *ECIR* 2017 (TakeN).

    Examples
    --------
    Two runs have b first:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b", "a"], ["b"]])
    >>> dict(zip(docnos, take_values(rankings).tolist()))
    {'a': -0.75, 'b': -0.5, 'c': -1.75}
    """
    best = rankings.best_ranks()
    is_there = rankings.documents != NO_DOCUMENT
    ranks = np.broadcast_to(np.arange(1, rankings.depth + 1), is_there.shape)[is_there]
    documents = rankings.documents[is_there]
    at_best = np.bincount(documents[ranks == best[documents]], minlength=rankings.n_documents)
    values: NDArray[np.float64] = at_best / (rankings.n_runs + 1) - best
    return values
