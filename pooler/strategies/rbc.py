"""Rank-biased centroids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.rbp import rbp_weights
from pooler.topic_rankings import TopicRankings


def rbc_values(rankings: TopicRankings, *, phi: float) -> NDArray[np.float64]:
    r"""Value documents by the geometric weights of their ranks.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    phi : float
        Persistence, in (0, 1): how far down the rankings weight reaches. There is no usual value;
        [1]_ has several between 0.8 and 0.98.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive, at most the number of runs; 0 only where a weight is too small for a float.

    Notes
    -----
    .. math:: s(d) = \sum_r (1 - \phi) \phi^{\mathrm{rank}_r(d) - 1}    ([1]_)

    over the runs that returned d: the same numbers as RBP-weighted pooling, method A, under the
    name and with the parameter of the fusion literature. With one run this is the run's own
    order. Ties: docno descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Bailey, Moffat, Scholer and Thomas, "Retrieval consistency in the presence of query
       variations", *SIGIR* 2017, pp. 395-404, doi:10.1145/3077136.3080839.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b", "c"]])
    >>> dict(zip(docnos, rbc_values(rankings, phi=0.75).tolist()))
    {'a': 0.25, 'b': 0.4375, 'c': 0.1875}
    """
    return rankings.sum_by_rank(rbp_weights(rankings.depth, p=phi))
