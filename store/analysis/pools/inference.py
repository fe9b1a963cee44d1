"""How deep a pool was, and which runs fed it, told from runs and judgements alone.

A run that was pooled to depth k has its first k documents judged in every topic. So the shortest
stretch of judged documents at the top of its lists is k or, by luck, more; the runs that were
pooled share k, and it is the mode. A list judged to its end says nothing about the depth. Where
judgements are missing there are holes, and some are forgiven.

The rank order must be that of whoever made the pool: with ties broken another way the stretches
are cut short. And it must be a depth pool; of others it tells how far down all is judged.

Reasons for what cannot be told:

============ ======================================================================================
no-documents a run has no document for any topic with judgements; or no run has
all-judged   every list of a run is judged to its end, or to the cutoff, so that the depth is at
             least that; or every run that has documents is like this
none-judged  of no run is the first document judged in every topic: there is no common depth
============ ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.pools.contributions import check_depth
from store.analysis.rankings import NOT_RELEVANT, JudgedRankings

RANKS_PER_HOLE = 20
"""One unjudged document is forgiven for every so many ranks of the depth."""
UNTOLD = -1
"""Stands for a prefix that cannot be told."""

RunReason = Literal["no-documents", "all-judged"]
PoolReason = Literal["no-documents", "all-judged", "none-judged"]


@dataclass(frozen=True, slots=True, eq=False)
class InferredPool:
    """A depth pool as far as it can be told. Runs are in the order of the rankings."""

    prefixes: NDArray[np.int64]
    """Shape (n_runs,): ranks from the top that are judged in every topic, leaving out the lists
    that are judged to their end; `UNTOLD` where there are no others."""
    run_reasons: tuple[RunReason | None, ...]
    """Why a prefix is `UNTOLD`."""
    depth: int | None
    """Mode of the prefixes above 0; of several, the largest."""
    reason: PoolReason | None
    n_at_depth: int
    """Runs whose prefix is `depth`; 0 without one."""
    pooled: NDArray[np.bool_]
    """Shape (n_runs,): runs of which no list has more unjudged documents within `depth` than are
    forgiven; those that are judged to their end are among them. Without a depth, no run."""
    holes: NDArray[np.int64]
    """Shape (n_runs,): unjudged documents within `depth`, over all topics; 0 without a depth."""
    n_pairs: int
    """Documents of all topics within `depth` of a pooled run."""
    n_judged: int
    n_judged_outside: int
    """Judged documents that are not among them: the pool was fed by more than these runs, or was
    deeper in places, or is no depth pool. Without a depth, all judged documents."""


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

    Returns
    -------
    InferredPool

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
    >>> pool.n_pairs, pool.n_judged_outside
    (3, 0)
    """
    if depth is not None:
        check_depth(depth, rankings)
    lengths = rankings.lengths
    width = rankings.documents.shape[-1]
    unjudged = ~rankings.judged() & (np.arange(width) < lengths[:, :, None])
    is_open = np.asarray(unjudged.any(axis=-1))
    # Where a list is judged to its end, one more than any rank.
    first_hole = np.where(is_open, _first(unjudged), width)
    shortest = first_hole.min(axis=1, initial=width)
    prefixes = np.where(is_open.any(axis=1), shortest, UNTOLD).astype(np.int64)
    n_documents = lengths.sum(axis=1)
    run_reasons = tuple(map(_run_reason, prefixes.tolist(), n_documents.tolist()))
    reason: PoolReason | None = None
    if depth is None:
        told = prefixes[prefixes > 0]
        counts = np.bincount(told)
        if told.size:
            depth = int(np.flatnonzero(counts == counts.max())[-1])
        elif not n_documents.any():
            reason = "no-documents"
        else:
            reason = "none-judged" if np.any(prefixes == 0) else "all-judged"
    reach = 0 if depth is None else depth
    holes = np.count_nonzero(unjudged[:, :, :reach], axis=-1)
    forgiven = reach // RANKS_PER_HOLE
    pooled = (n_documents > 0) & np.all(holes <= forgiven, axis=1) & (reach > 0)
    n_pairs, n_inside = _pool_size(rankings, pooled, reach)
    n_all = sum(int(np.count_nonzero(one >= NOT_RELEVANT)) for one in rankings.document_states)
    return InferredPool(
        prefixes=prefixes,
        run_reasons=run_reasons,
        depth=depth,
        reason=reason,
        n_at_depth=int(np.count_nonzero(prefixes == depth)) if depth is not None else 0,
        pooled=pooled,
        holes=holes.sum(axis=1),
        n_pairs=n_pairs,
        n_judged=n_inside,
        n_judged_outside=n_all - n_inside,
    )


def _first(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the place of the first True of each list; 0 where there is none."""
    if flags.shape[-1] == 0:
        return np.zeros(flags.shape[:-1], np.int64)
    return np.asarray(np.argmax(flags, axis=-1), dtype=np.int64)


def _run_reason(prefix: int, n_documents: int) -> RunReason | None:
    """Say why a prefix cannot be told."""
    if prefix != UNTOLD:
        return None
    return "all-judged" if n_documents else "no-documents"


def _pool_size(rankings: JudgedRankings, pooled: NDArray[np.bool_], depth: int) -> tuple[int, int]:
    """Count the documents within a depth of some runs, and the judged among them."""
    n_pairs = n_judged = 0
    for topic, document_states in enumerate(rankings.document_states):
        is_in = np.zeros(document_states.size + 1, np.bool_)
        is_in[rankings.documents[pooled, topic, :depth]] = True
        # The padding code -1 marked the last element.
        n_pairs += int(np.count_nonzero(is_in[:-1]))
        n_judged += int(np.count_nonzero(is_in[:-1] & (document_states >= NOT_RELEVANT)))
    return n_pairs, n_judged
