"""DCG-weighted pooling."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def dcg_values(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by what they are worth to the DCG of all runs together.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive, at most the number of runs.

    Notes
    -----
    .. math:: s(d) = \sum_r 1 / \log_2(\mathrm{rank}_r(d) + 1)    (DCGBased of [1]_)

    over the runs that returned d. With one run this is the run's own order. [1]_ breaks ties at
    random; here docno descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
       on IR evaluation measures", *ECIR* 2017, doi:10.1007/978-3-319-56608-5_28.

    Examples
    --------
    b is third and first: 1 / log2(4) + 1 / log2(2).

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c", "b"], ["b"]])
    >>> dict(zip(docnos, dcg_values(rankings).tolist()))["b"]
    1.5
    """
    # The last bit of numpy's logarithm depends on the processor.
    discounts = [1 / math.log2(rank + 1) for rank in range(1, rankings.depth + 1)]
    return rankings.sum_by_rank(np.array(discounts, np.float64))
