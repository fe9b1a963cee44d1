"""Depth pooling: the first documents of every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def depth_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value the documents of a depth pool by how likely they are relevant.

    The pool itself is the union of the rankings, cut at the depth [1]_; a shorter run gives all
    it has. The values order it for judges, as NTCIRPOOL does [2]_.

    Parameters
    ----------
    rankings : TopicRankings
        Cut at the depth of the pool.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        The number of runs that returned the document, less a share below 1 that grows with the
        sum of its ranks: documents of more runs first, then those of the smaller sum of ranks.
        With n runs, the value is in (n - 1, n).

    Notes
    -----
    O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Sparck Jones and van Rijsbergen, "Report on the need for and provision of an 'ideal'
       information retrieval test collection", British Library R&D Report 5266, 1975.
    .. [2] Sakai et al., "Relevance assessments for web search evaluation: should we randomise or
       prioritise the pooled documents?", *ACM TOIS* 40(4), 2022.

    Examples
    --------
    The ranks of b are 2 and 1; two runs at depth 2 have a sum of at most 4:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "d"]], depth=2)
    >>> dict(zip(docnos, depth_values(rankings).tolist()))["b"] == 2 - 3 / 5
    True
    """
    n_returning = rankings.n_returning()
    rank_sums = rankings.sum_by_rank(np.arange(1.0, rankings.depth + 1))
    values: NDArray[np.float64] = n_returning - rank_sums / (n_returning * rankings.depth + 1)
    return values
