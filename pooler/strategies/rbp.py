"""RBP-weighted pooling, the fixed kind: method A."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def rbp_weights(depth: int, *, p: float) -> NDArray[np.float64]:
    """Return what rank-biased precision gives each rank.

    Parameters
    ----------
    depth : int
        Number of ranks.
    p : float
        Persistence, the chance that a reader goes on to the next rank, in (0, 1).

    Returns
    -------
    ndarray of float64, shape (depth,)
        ``(1 - p) * p**(rank - 1)`` for ranks from 1; all of them add up to ``1 - p**depth``. Far
        down, where the number is too small for a float, 0.

    Examples
    --------
    >>> rbp_weights(3, p=0.5).tolist()
    [0.5, 0.25, 0.125]
    """
    factors = np.full(depth, p, np.float64)
    factors[:1] = 1 - p
    # A running product has the same last bit on every machine, which a power has not.
    return np.cumprod(factors, dtype=np.float64)


def rbp_a_values(rankings: TopicRankings, *, p: float) -> NDArray[np.float64]:
    r"""Value documents by what they are worth to the RBP of all runs together.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    p : float
        Persistence, in (0, 1); the smaller, the more the first ranks count.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive, at most the number of runs. 0 only where a weight is too small for a float
        (below 1e-323; with ``p=0.8`` after rank 3300).

    Notes
    -----
    .. math:: s(d) = \sum_r (1 - p) p^{\mathrm{rank}_r(d) - 1}    (Method A of [1]_)

    over the runs that returned d. With one run this is the run's own order. [1]_ leaves ties
    open; here docno descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
       judgments", *SIGIR* 2007, pp. 375-382, doi:10.1145/1277741.1277806.

    Examples
    --------
    b is second and first: 0.25 + 0.5.

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b"]])
    >>> dict(zip(docnos, rbp_a_values(rankings, p=0.5).tolist()))
    {'a': 0.5, 'b': 0.75}
    """
    return rankings.sum_by_rank(rbp_weights(rankings.depth, p=p))
