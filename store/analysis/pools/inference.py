"""How deep a pool was, and which runs fed it, inferred from runs and judgements alone.

A run that was pooled to depth k has its first k documents judged in every topic. So the shortest
stretch of judged documents at the top of its lists is k or, by luck, more; the runs that were
pooled share k, and it is the mode. A list judged to its end says nothing about the depth. Where
judgements are missing there are holes, and some are forgiven.

The rank order must be that of the pool's makers: with ties broken another way the stretches
are cut short. And it must be a depth pool; of others it gives the depth down to which all is judged.

Reasons for what cannot be inferred:

============ ======================================================================================
no-documents no run has a document for any topic with judgements
all-judged   every list of every run is judged to its end, or to the cutoff, so that the depth is at
             least that
none-judged  of no run is the first document judged in every topic: there is no common depth
============ ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.pools.contributions import check_depth
from store.analysis.rankings import JudgedRankings

RANKS_PER_HOLE = 20
"""One unjudged document is forgiven for every so many ranks of the depth."""
UNTOLD = -1
"""Stands for a prefix that cannot be inferred."""

PoolReason = Literal["no-documents", "all-judged", "none-judged"]


@dataclass(frozen=True, slots=True, eq=False)
class InferredPool:
    """A depth pool as far as it can be inferred. Runs are in the order of the rankings."""

    prefixes: NDArray[np.int64]
    """Shape (n_runs,): ranks from the top that are judged in every topic, leaving out the lists
    that are judged to their end; `UNTOLD` where there are no others."""
    depth: int | None
    """Mode of the prefixes above 0; of several, the largest."""
    reason: PoolReason | None
    pooled: NDArray[np.bool_]
    """Shape (n_runs,): runs of which no list has more unjudged documents within `depth` than are
    forgiven; those that are judged to their end are among them. Without a depth, no run."""


def infer_pool(rankings: JudgedRankings, depth: int | None = None) -> InferredPool:
    """Infer the depth of the pool and the runs that fed it.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs, whether pooled or not, in the order they were pooled in, looked at deeper than the pool may have
        been.
    depth : int, optional
        Where it is known, from 1 to the cutoff of the rankings, else `ArgumentError`; only the runs are
        inferred then.

    Notes
    -----
    As PoolAnalyzer of Lipani's PoolBiasEstimators, of which versions differ: some take the mode over runs and
    topics, and forgive depth/10. Here, over runs, and depth/20. A topic that a run does not answer is passed
    over. A run that was not pooled may have all of its first documents judged by chance, the more so the
    shallower the pool; so the pooled runs are at least those that fed it. O(size of the rankings).

    Examples
    --------
    Two runs were pooled to depth 2; the third, which was not, has only document 1 in common.

    >>> from store.analysis.rankings import judged_rankings
    >>> ranked = {"a": [1, 2, 8], "b": [1, 3, 9], "c": [1, 7, 2]}
    >>> lists = {(tag, "t"): np.array(ranking) for tag, ranking in ranked.items()}
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, False, True]))}
    >>> pool = infer_pool(judged_rankings(["t"], ["a", "b", "c"], lists, grades, cutoff=10))
    >>> pool.depth, pool.prefixes.tolist(), pool.pooled.tolist()
    (2, [2, 2, 1], [True, True, False])
    """
    if depth is not None:
        check_depth(depth, rankings)
    lengths = rankings.lengths
    width = rankings.documents.shape[-1]
    unjudged = ~rankings.judged() & (np.arange(width) < lengths[:, :, None])
    is_open = np.asarray(unjudged.any(axis=-1))
    # Where a list is judged to its end, one more than any rank.
    first_hole = np.where(is_open, np.argmax(unjudged, axis=-1) if width else 0, width)
    shortest = first_hole.min(axis=1, initial=width)
    prefixes = np.where(is_open.any(axis=1), shortest, UNTOLD).astype(np.int64)
    n_documents = lengths.sum(axis=1)
    reason: PoolReason | None = None
    if depth is None:
        positive = prefixes[prefixes > 0]
        counts = np.bincount(positive)
        if positive.size:
            depth = int(np.flatnonzero(counts == counts.max())[-1])
        elif not n_documents.any():
            reason = "no-documents"
        else:
            reason = "none-judged" if np.any(prefixes == 0) else "all-judged"
    reach = 0 if depth is None else depth
    holes = np.count_nonzero(unjudged[:, :, :reach], axis=-1)
    pooled = (n_documents > 0) & np.all(holes <= reach // RANKS_PER_HOLE, axis=1) & (reach > 0)
    return InferredPool(prefixes, depth, reason, pooled)
