"""Pooling by the number of runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def count_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the number of runs that returned them.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, cut at a depth: only the documents above the cut count as returned.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Whole numbers from 1 to the number of runs.

    Notes
    -----
    Called PP in the program that belongs to [1]_, which breaks the many ties at random; here
    they are broken by docno descending. With one run every document is tied. For documents of as
    many runs in the order of their ranks, take the strategy ``depth`` with a budget. O(n) for n
    documents taken from all runs.

    References
    ----------
    .. [1] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
       on IR evaluation measures", *ECIR* 2017, doi:10.1007/978-3-319-56608-5_28.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b", "c"]])
    >>> dict(zip(docnos, count_values(rankings).tolist()))
    {'a': 1.0, 'b': 2.0, 'c': 1.0}
    """
    return rankings.n_returning().astype(np.float64)
