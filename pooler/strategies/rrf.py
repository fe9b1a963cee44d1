"""Reciprocal rank fusion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def rrf_values(rankings: TopicRankings, *, k: float) -> NDArray[np.float64]:
    r"""Value documents by the reciprocals of their ranks.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    k : float
        Added to every rank, at least 0; the larger, the less the first ranks stand out. [1]_ has
        60.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive, at most the number of runs.

    Notes
    -----
    .. math:: s(d) = \sum_r 1 / (k + \mathrm{rank}_r(d))    ([1]_)

    over the runs that returned d; ranks are those of the cut rankings. With one run this is the
    run's own order. Ties: docno descending (trectools: ascending). A `k` of 1e16 or more drowns
    the ranks, and leaves the number of runs. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
       individual rank learning methods", *SIGIR* 2009, pp. 758-759, doi:10.1145/1571941.1572114.

    Examples
    --------
    b is second and first: 1/4 + 1/3.

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b"]])
    >>> rrf_values(rankings, k=2).round(4).tolist()
    [0.3333, 0.5833]
    """
    return rankings.sum_by_rank(1 / (k + np.arange(1.0, rankings.depth + 1)))
