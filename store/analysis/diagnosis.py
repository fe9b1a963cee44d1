"""All that tells whether a pool can be trusted, of one set of runs and judgements.

Nothing is computed here that another module does not: this is what the command and the report both
show, so that their numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.contributions import remove_uniques, within_depth
from store.analysis.graded_rankings import GradedRankings
from store.analysis.incomplete_measures import condensed
from store.analysis.judged_rankings import JudgedRankings
from store.analysis.leave_out import LeaveOut, leave_out
from store.analysis.measure_names import parse_measure
from store.analysis.measures import Scores, evaluate
from store.analysis.pool_errors import Adjusted, PoolErrors, adjust_scores, pool_errors
from store.analysis.pool_growth import (
    FirstRetrievals,
    MissedRelevant,
    first_retrievals,
    missed_relevant,
)
from store.analysis.pool_inference import InferredPool, infer_pool
from store.analysis.provenance import unique_contributions
from store.analysis.score_bounds import Bounds, score_bounds

DepthSource = Literal["given", "pool", "inferred"]
"""How the depth is known: somebody said so, the collection's pool was made with it, or the
judgements look like it."""


@dataclass(frozen=True, slots=True, eq=False)
class RunScores:
    """Scores of every run, undefined topics left out of the means."""

    ap: Scores
    bpref: Scores
    condensed_ap: Scores
    """AP of the judged documents alone."""
    judged: Scores
    """Share of judged documents among the first of every list."""
    bounds: Bounds
    """Of AP: the least and most it could be, whatever the unjudged documents are."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Every run, or every group, left out of the pool in turn; see `store.analysis.leave_out`."""

    scores: LeaveOut
    unique: NDArray[np.int64]
    """Shape (n_names,): documents that it alone brought to the pool; 0 of what feeds no pool."""
    errors: PoolErrors
    """Of the contributing runs."""
    mean_loss: float | None
    """Of AP, over the contributing runs; ``None`` = none of them has a score."""
    worst: int | None
    """Row of the contributing run that loses most."""
    n_moved: int
    """Contributing runs whose place among all runs changes."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthPool:
    """The pool of the first documents of every contributing run, and what it owes to each."""

    depth: int
    source: DepthSource
    contributing: NDArray[np.bool_]
    """Shape (n_runs,)."""
    n_pairs: int
    """Documents of all topics."""
    n_judged: int
    """Those that are judged."""
    n_outside: int
    """Judged documents that are not in it."""
    by_run: LeftOut
    by_group: LeftOut | None
    """``None`` = no group is known, or every run has its own."""
    adjusted: Adjusted
    """Scores of the other runs with what a contributing run loses by itself."""
    first: FirstRetrievals
    """Of the contributing runs."""
    missed: MissedRelevant
    """Down to twice the depth."""


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What a pool has, missed and owes; runs and topics in the order of the rankings."""

    rankings: JudgedRankings
    scores: RunScores
    inferred: InferredPool
    pool: DepthPool | None
    """``None`` = there is no depth pool to look at; see `reason`."""
    reason: str | None
    """Why not: what `infer_pool` says, or ``no-contributing-run``."""


def diagnose(
    rankings: JudgedRankings,
    graded: GradedRankings,
    *,
    level: int,
    depth: int | None = None,
    source: DepthSource = "given",
    contributing: NDArray[np.bool_] | None = None,
    groups: Sequence[str] | None = None,
    judged_at: int = 10,
) -> Diagnosis:
    """Look at a pool from every side.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs and judgements.
    graded : GradedRankings
        The same, with grades.
    level : int
        Least grade that counts as relevant, as in `rankings`.
    depth : int, optional
        Of the pool. Default: what the judgements look like, if they look like a depth pool.
    source : {"given", "pool"}, default="given"
        How `depth` is known.
    contributing : ndarray of bool, shape (n_runs,), optional
        Runs that fed the pool. Default: those whose documents within the depth are judged.
    groups : sequence of str, shape (n_runs,), optional
        Group of each run; empty = none.
    judged_at : int, default=10
        Ranks of which the share of judged documents is looked at.

    Returns
    -------
    Diagnosis
        Without a `pool` where there is no depth, or no run contributes.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, or the two rankings do not go together.

    Notes
    -----
    Some fifty passes over the rankings: seconds for 120 runs, 50 topics and 1,000 ranks.
    """
    inferred = infer_pool(rankings, depth)
    names = [parse_measure(text, level=level) for text in ("AP", "Bpref", f"Judged@{judged_at}")]
    ap, bpref, judged = evaluate(graded, names)
    (condensed_ap,) = evaluate(condensed(graded), names[:1])
    # Two grades will do: for AP a document is relevant or it is not.
    (bounds,) = score_bounds(graded, names[:1], scale=(level - 1, level))
    scores = RunScores(ap, bpref, condensed_ap, judged, bounds)
    if depth is None and inferred.depth is not None:
        depth, source = inferred.depth, "inferred"
    taking = inferred.pooled if contributing is None else contributing
    if depth is None:
        return Diagnosis(rankings, scores, inferred, None, inferred.reason)
    if not taking.any():
        return Diagnosis(rankings, scores, inferred, None, "no-contributing-run")
    pool = _depth_pool(rankings, depth, source, taking, groups)
    return Diagnosis(rankings, scores, inferred, pool, None)


def _depth_pool(
    rankings: JudgedRankings,
    depth: int,
    source: DepthSource,
    contributing: NDArray[np.bool_],
    groups: Sequence[str] | None,
) -> DepthPool:
    """Look at the pool of a depth."""
    pooled = within_depth(rankings, depth, contributing)
    by_run = _left_out(rankings, pooled, contributing, None, depth)
    named = [group for group in groups or () if group]
    shared = 1 < len({*named}) < len(named)
    n_pairs = n_judged = 0
    rows = np.flatnonzero(contributing)
    for topic, standing in enumerate(rankings.standing):
        there = np.unique(rankings.documents[rows, topic][pooled[rows, topic]])
        n_pairs += there.size
        n_judged += int(np.count_nonzero(standing[there] >= 0))
    feeding = replace(
        rankings,
        tags=tuple(rankings.tags[row] for row in rows),
        documents=rankings.documents[rows],
        lengths=rankings.lengths[rows],
    )
    first = first_retrievals(feeding)
    everything = sum(int(np.count_nonzero(one >= 0)) for one in rankings.standing)
    return DepthPool(
        depth=depth,
        source=source,
        contributing=contributing,
        n_pairs=n_pairs,
        n_judged=n_judged,
        n_outside=everything - n_judged,
        by_run=by_run,
        by_group=_left_out(rankings, pooled, contributing, groups, depth) if shared else None,
        adjusted=adjust_scores(by_run.scores, contributing),
        first=first,
        missed=missed_relevant(first, depth=depth, to_depth=2 * depth),
    )


def _left_out(
    rankings: JudgedRankings,
    pooled: NDArray[np.bool_],
    contributing: NDArray[np.bool_],
    groups: Sequence[str] | None,
    depth: int,
) -> LeftOut:
    """Leave every run out, or every group."""
    left = leave_out(rankings, remove_uniques(rankings, pooled, groups))
    rows = np.flatnonzero(contributing)
    owners = left.withdrawn.owners[rows]
    unique = np.zeros(len(left.withdrawn.names), dtype=np.int64)
    for topic in range(len(rankings.topics)):
        documents = np.where(pooled[rows, topic], rankings.documents[rows, topic], -1)
        alone = unique_contributions(documents[:, :depth], owners)[:, -1]
        unique[: alone.size] += alone
    loss = -left.difference()
    scored = rows[~np.isnan(loss[rows])]
    return LeftOut(
        scores=left,
        unique=unique,
        errors=pool_errors(left, contributing),
        mean_loss=float(loss[scored].mean()) if scored.size else None,
        worst=int(scored[np.argmax(loss[scored])]) if scored.size else None,
        n_moved=int(np.count_nonzero(left.rank_before[scored] != left.rank_after[scored])),
    )
