"""Whether a pool can be trusted: all diagnoses of one together.

This is what the command and the report both show, so that their numbers are the same. Counts are made in
O(size of the rankings). Where `pooled` is asked for, it is a ndarray of bool, shape (n_runs, n_topics,
width), of the ranks that brought their document to the pool, as of `contributions.within_depth`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.bounds import Bounds, score_bounds
from store.analysis.measures.names import Scores, evaluate, parse_measure
from store.analysis.pools.contributions import (
    NO_DOCUMENT,
    InferredPool,
    infer_pool,
    n_contributing,
    remove_uniques,
    unique_contributions,
    within_depth,
)
from store.analysis.pools.growth import FirstRetrievals, MissedRelevant, first_retrievals, missed_relevant
from store.analysis.pools.leave_out import (
    Adjusted,
    LeaveOut,
    PoolErrors,
    adjust_scores,
    leave_out,
    pool_errors,
)
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED, Depths, GradedRankings, JudgedRankings
from store.analysis.ratios import quotient


@dataclass(frozen=True, slots=True, eq=False)
class RankCounts:
    """What the runs have at each rank, over all runs and topics; arrays of shape (width,)."""

    documents: NDArray[np.int64]
    """Lists that reach the rank."""
    judged: NDArray[np.int64]
    """Of them, those with a judged document there."""

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Of them, those with an unjudged one."""
        return self.documents - self.judged

    def judged_down_to(self, share: float) -> tuple[int, int, int] | None:
        """Find the lowest rank down to which a share, in (0, 1], of all documents is judged.

        With it the documents down to it, and the judged ones; ``None`` = there is no such rank.
        """
        documents, judged = np.cumsum(self.documents), np.cumsum(self.judged)
        reached = np.flatnonzero(judged >= share * documents)
        if not reached.size:
            return None
        last = int(reached[-1])
        return last + 1, int(documents[last]), int(judged[last])

    def unjudged_share(self) -> NDArray[np.float64]:
        """Return the share of unjudged documents at each rank; NaN where no list reaches it."""
        return quotient(self.unjudged, self.documents)


def rank_counts(rankings: JudgedRankings) -> RankCounts:
    """Count documents and judged documents at each rank that some list reaches.

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([2])}
    >>> grades = {"t": (np.array([2]), np.array([True]))}
    >>> counts = rank_counts(judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10))
    >>> counts.documents.tolist(), counts.judged.tolist(), counts.unjudged_share().tolist()
    ([2, 1], [1, 1], [0.5, 0.0])
    """
    width = rankings.documents.shape[-1]
    # A list of length n reaches the ranks 1..n.
    ends = np.bincount(rankings.lengths.reshape(-1), minlength=width + 1)
    documents = np.cumsum(ends[::-1])[::-1][1 : width + 1]
    judged = np.zeros(width, np.int64)
    for topic in range(len(rankings.topics)):
        is_judged = rankings.states_by_rank(topic) >= NOT_RELEVANT
        judged += np.count_nonzero(is_judged, axis=0)
    return RankCounts(np.asarray(documents, np.int64), judged)


@dataclass(frozen=True, slots=True, eq=False)
class TopicCounts:
    """Documents of each topic; arrays of shape (n_topics,)."""

    judged: NDArray[np.int64]
    """All judged documents, retrieved or not."""
    relevant: NDArray[np.int64]
    pooled: NDArray[np.int64]
    pool_judged: NDArray[np.int64]
    pool_relevant: NDArray[np.int64]

    @property
    def pool_not_relevant(self) -> NDArray[np.int64]:
        """Documents of the pool that were judged and are not relevant."""
        return self.pool_judged - self.pool_relevant

    @property
    def pool_unjudged(self) -> NDArray[np.int64]:
        """Unjudged documents of the pool."""
        return self.pooled - self.pool_judged

    @property
    def outside(self) -> NDArray[np.int64]:
        """Judged documents that are not in the pool."""
        return self.judged - self.pool_judged


def topic_counts(rankings: JudgedRankings, pooled: NDArray[np.bool_] | None = None) -> TopicCounts:
    """Count what is judged of each topic, and of its pool, which by default is empty.

    Depth 1 holds document 1 alone, which is judged; 2 is judged, too, and relevant:

    >>> from store.analysis.pools.contributions import within_depth
    >>> from store.analysis.rankings import judged_rankings
    >>> grades = {"t": (np.array([1, 2]), np.array([False, True]))}
    >>> arrays = judged_rankings(["t"], ["a"], {("a", "t"): np.array([1, 2])}, grades, cutoff=10)
    >>> counts = topic_counts(arrays, within_depth(arrays, 1))
    >>> counts.judged.tolist(), counts.relevant.tolist(), counts.pooled.tolist()
    ([2], [1], [1])
    >>> counts.pool_relevant.tolist(), counts.pool_unjudged.tolist(), counts.outside.tolist()
    ([0], [0], [1])
    """
    counts = np.zeros((4, len(rankings.topics)), np.int64)
    for topic, states in enumerate(rankings.states):
        counts[0, topic] = np.count_nonzero(states >= NOT_RELEVANT)
        if pooled is not None:
            there = rankings.documents_at(topic, pooled[:, topic])
            for row, least in ((1, UNJUDGED), (2, NOT_RELEVANT), (3, RELEVANT)):
                counts[row, topic] = np.count_nonzero(there & (states >= least))
    return TopicCounts(counts[0], rankings.n_relevant, *counts[1:])


@dataclass(frozen=True, slots=True, eq=False)
class BroughtBy:
    """Documents of a pool by how many runs brought them; arrays of shape (n_runs + 1,).

    Place `n` counts the documents that `n` runs brought, so that the first is 0.
    """

    documents: NDArray[np.int64]
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]


def brought_by(rankings: JudgedRankings, pooled: NDArray[np.bool_]) -> BroughtBy:
    """Count the documents of a pool by how many runs brought them.

    Depth 1: both runs brought document 1, and 2 is in no pool.

    >>> from store.analysis.rankings import judged_rankings
    >>> from store.analysis.pools.contributions import within_depth
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([1])}
    >>> grades = {"t": (np.array([1]), np.array([True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> brought_by(arrays, within_depth(arrays, 1)).relevant.tolist()
    [0, 0, 1]
    """
    n_runs = len(rankings.tags)
    counts = np.zeros((3, n_runs + 1), np.int64)
    for topic, states in enumerate(rankings.states):
        documents = np.where(pooled[:, topic], rankings.documents[:, topic], NO_DOCUMENT)
        runs = n_contributing(documents, states.size)
        for row, of_kind in enumerate((states >= UNJUDGED, states >= NOT_RELEVANT, states == RELEVANT)):
            counts[row] += np.bincount(runs[(runs > 0) & of_kind], minlength=n_runs + 1)
    return BroughtBy(*counts)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Runs next to each other by their scores, and whether unjudged documents could swap them."""

    n_pairs: int
    """Neighbours: one less than the runs with a score."""
    n_overlapping: int
    """Of them, those of which the upper limit of the lower run is not below the lower limit of the
    higher one."""
    n_settled: int
    """Pairs of all runs, neighbours or not, whose limits do not overlap."""
    n_all_pairs: int


def overlaps(lower: NDArray[np.float64], scores: NDArray[np.float64], upper: NDArray[np.float64]) -> Overlap:
    """Count runs whose limits overlap.

    `lower`, `scores` and `upper`, shape (n_runs,), are of each run; NaN = without a score, and left out. Of
    equal scores the run that is first in the arrays comes first. Limits that overlap do not say that the runs
    may swap: documents that both have count for both. Limits that do not overlap say that they cannot.
    O(n_runs**2).

    >>> low, high = np.array([0.5, 0.3, 0.1]), np.array([0.7, 0.55, 0.2])
    >>> overlaps(low, (low + high) / 2, high)
    Overlap(n_pairs=2, n_overlapping=1, n_settled=2, n_all_pairs=3)
    """
    known = ~np.isnan(scores)
    order = np.argsort(-scores[known], kind="stable")
    low, high = lower[known][order], upper[known][order]
    n = order.size
    meets = np.triu(high[None, :] >= low[:, None], 1)
    n_all = n * (n - 1) // 2
    return Overlap(
        n_pairs=max(n - 1, 0),
        n_overlapping=int(np.count_nonzero(high[1:] >= low[:-1])),
        n_settled=n_all - int(np.count_nonzero(meets)),
        n_all_pairs=n_all,
    )


GUESSABLE = 0.8
"""Share of judged documents in a pool from which on the trend of its ranks may be looked at."""
MOSTLY_OUTSIDE = 0.5
"""Share of judged documents outside a pool above which it is hardly the pool that was judged: a
guess that leaves so many is none."""
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
    """Every run, or every group, left out of the pool in turn; see `store.analysis.pools.leave_out`."""

    scores: LeaveOut
    unique: NDArray[np.int64]
    """Shape (n_names,): documents that it alone brought to the pool; 0 of what feeds no pool."""
    unique_relevant: NDArray[np.int64]
    """Shape (n_names,): of them, the relevant ones. Those withdrawn are the same, unless the pool
    was made again and is not whole."""
    errors: PoolErrors
    """Of the contributing runs."""
    mean_loss: float | None
    """Of AP, over the contributing runs; ``None`` = none of them has a score."""
    worst: int | None
    """Row of the contributing run that loses most."""
    n_moved: int
    """Contributing runs whose place among all runs changes."""
    adjusted: Adjusted
    """Scores of the other runs with what a contributing run loses on average."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthPool:
    """The pool of the first documents of every contributing run, and what it owes to each."""

    depth: int
    """Ranks of every contributing run that are in it: the least, where runs and topics have several."""
    deepest: int
    """The most."""
    source: DepthSource
    contributing: NDArray[np.bool_]
    """Shape (n_runs,)."""
    n_pairs: int
    """Documents of all topics."""
    n_judged: int
    n_unjudged: int
    n_open: int
    """Of these, documents that are known to have been pooled."""
    n_outside: int
    """Judged documents that are not in it."""
    by_run: LeftOut
    by_group: LeftOut | None
    """``None`` = no group is known, or every run has its own."""
    first: FirstRetrievals
    """Of the contributing runs."""
    missed: MissedRelevant
    """Down to twice the depth, or to twice what the longest list has where all end above it;
    nothing is expected below a pool that is not whole."""
    brought: BroughtBy
    """Of the contributing runs."""

    @property
    def span(self) -> str:
        """Return the depth as text, ``7-10`` where there are several."""
        return f"{self.depth:,}" + f"-{self.deepest:,}" * (self.depth < self.deepest)


@dataclass(frozen=True, slots=True)
class BadGuess:
    """A pool that the judgements look like at their tops, and that is not what was judged."""

    depth: int
    is_depth_guessed: bool
    n_runs: int
    """Runs that seem to have fed it."""
    n_outside: int
    """Judged documents that are not in it."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolDiagnosis:
    """What a pool has, missed and owes; runs and topics in the order of the rankings."""

    rankings: JudgedRankings
    graded: GradedRankings
    pooling: JudgedRankings
    """The rankings in the order that the pool was made in."""
    scores: RunScores
    ranks: RankCounts
    """Of all runs."""
    topics: TopicCounts
    """Pooled documents are those of `pool`; without one there are none."""
    inferred: InferredPool
    pool: DepthPool | None
    """``None`` = there is no depth pool to look at; see `reason`."""
    reason: str | None
    """Why not: what `infer_pool` says, ``no-documents``, ``no-contributing-run`` or ``bad-guess``."""
    knows_runs: bool
    """Whether somebody said which runs contribute; else they are those whose first documents are judged."""
    bad_guess: BadGuess | None = None
    """What the judgements look like, where that is hardly what was judged."""


def diagnose(
    rankings: JudgedRankings,
    graded: GradedRankings,
    *,
    level: int,
    depth: Depths | None = None,
    source: DepthSource = "given",
    contributing: NDArray[np.bool_] | None = None,
    groups: Sequence[str] | None = None,
    judged_at: int = 10,
    pooling: JudgedRankings | None = None,
) -> PoolDiagnosis:
    """Compute every diagnosis of a pool.

    Parameters
    ----------
    rankings : JudgedRankings
    graded : GradedRankings
        The same, with grades.
    level : int
        Least grade that counts as relevant, as in `rankings`.
    depth : int or ndarray of int64, shape (n_runs, n_topics), optional
        Of the pool. Default: what the judgements look like, if they look like a depth pool.
    source : {"given", "pool"}, default="given"
        How `depth` is known.
    contributing : ndarray of bool, shape (n_runs,), optional
        Runs that fed the pool. Default: those whose documents within the depth are judged; where no run is
        like that and `depth` is given, all runs.
    groups : sequence of str, shape (n_runs,), optional
        Group of each run; empty = none.
    judged_at : int, default=10
        Ranks of which the share of judged documents is looked at.
    pooling : JudgedRankings, optional
        The lists of `rankings` in the order that the pool was made in, where equal scores were ordered
        another way. Scores are of `rankings`, all else of `pooling`.

    Returns
    -------
    PoolDiagnosis
        Without a `pool` where there is no depth, or no run contributes; and where depth or runs are a guess
        that leaves more than `MOSTLY_OUTSIDE` of the judged documents outside.

    Notes
    -----
    Some fifty passes over the rankings: seconds for 120 runs, 50 topics and 1,000 ranks.
    """
    pooling = pooling or rankings
    inferred = infer_pool(pooling, None if depth is None else int(np.min(depth)))
    names = [parse_measure(text, level=level) for text in ("AP", "Bpref", f"Judged@{judged_at}")]
    ap, bpref, judged, condensed_ap = evaluate(graded, [*names, replace(names[0], condensed=True)])
    # Two grades will do: for AP a document is relevant or it is not.
    (bounds,) = score_bounds(graded, names[:1], scale=(level - 1, level))
    scores = RunScores(ap, bpref, condensed_ap, judged, bounds)
    if depth is None and inferred.depth is not None:
        depth, source = inferred.depth, "inferred"
    taking = inferred.pooled if contributing is None else contributing
    if contributing is None and depth is not None and not taking.any():
        # Somebody knows the depth; holes in every run leave no better guess than all of them.
        taking = np.asarray(rankings.lengths.any(axis=1))
    reason: str | None = None
    if depth is None:
        reason = inferred.reason
    elif not rankings.lengths.any():
        reason = "no-documents"
    elif not taking.any():
        reason = "no-contributing-run"
    ranks = rank_counts(pooling)
    pool, bad_guess, topics = None, None, topic_counts(rankings)
    if depth is not None and reason is None:
        pooled = within_depth(pooling, depth, taking)
        n_outside = int(topic_counts(pooling, pooled).outside.sum())
        is_guess = source == "inferred" or contributing is None
        if is_guess and n_outside > MOSTLY_OUTSIDE * int(topics.judged.sum()):
            n_runs = int(np.count_nonzero(taking))
            bad_guess = BadGuess(int(np.min(depth)), source == "inferred", n_runs, n_outside)
            reason = "bad-guess"
    if depth is not None and reason is None:
        n_open = 0
        for one in range(0 if graded.open is None else len(rankings.topics)):
            known = rankings.documents_at(one, graded.open[:, one])  # type: ignore[index]
            n_open += int((known & pooling.documents_at(one, pooled[:, one])).sum())
        pool = _depth_pool(rankings, pooling, taking, depth, pooled, groups, source=source, n_open=n_open)
        topics = topic_counts(pooling, pooled)
    found = scores, ranks, topics, inferred, pool, reason, contributing is not None, bad_guess
    return PoolDiagnosis(rankings, graded, pooling, *found)


def _depth_pool(
    rankings: JudgedRankings,
    pooling: JudgedRankings,
    contributing: NDArray[np.bool_],
    depth: Depths,
    pooled: NDArray[np.bool_],
    groups: Sequence[str] | None,
    *,
    source: DepthSource,
    n_open: int,
) -> DepthPool:
    """Diagnose the pool of a depth; `pooled`: the ranks that brought their document."""
    named = [group or tag for group, tag in zip(groups or (), rankings.tags, strict=False)]
    shared = 1 < len({*named}) < len(named)
    rows = np.flatnonzero(contributing)
    depths = np.broadcast_to(depth, rankings.lengths.shape)[rows]
    least, deepest = int(depths.min()), int(depths.max())
    feeding = replace(
        pooling,
        tags=tuple(rankings.tags[row] for row in rows),
        documents=pooling.documents[rows],
        lengths=pooling.lengths[rows],
    )
    first = first_retrievals(feeding)
    brought = brought_by(feeding, pooled[rows])
    n_judged = int(brought.judged.sum())
    reach = min(least, first.documents.shape[1])
    everything = sum(int(np.count_nonzero(one >= 0)) for one in rankings.states)
    missed = missed_relevant(first, depth=reach, to_depth=2 * reach)
    n_pairs = int(brought.documents.sum())
    if n_judged < GUESSABLE * n_pairs:
        missed = replace(missed, expected=None, low=None, high=None, reason="pool-unjudged")
    left_out = partial(_left_out, rankings, pooling, contributing, deepest, pooled)
    return DepthPool(
        depth=least,
        deepest=deepest,
        source=source,
        contributing=contributing,
        n_pairs=n_pairs,
        n_judged=n_judged,
        n_unjudged=n_pairs - n_judged,
        n_open=n_open,
        n_outside=everything - n_judged,
        by_run=left_out(None),
        by_group=left_out(groups) if shared else None,
        first=first,
        missed=missed,
        brought=brought,
    )


def _left_out(
    rankings: JudgedRankings,
    pooling: JudgedRankings,
    contributing: NDArray[np.bool_],
    depth: int,
    pooled: NDArray[np.bool_],
    groups: Sequence[str] | None,
) -> LeftOut:
    """Compute what leaving out every run, or every group, changes."""
    uniques = remove_uniques(pooling, pooled, groups)
    left = leave_out(rankings, uniques)
    rows = np.flatnonzero(contributing)
    owners = left.withdrawn.owners[rows]
    unique, relevant = np.zeros((2, len(left.withdrawn.names)), dtype=np.int64)
    for topic in range(len(rankings.topics)):
        documents = np.where(pooled[rows, topic], pooling.documents[rows, topic], -1)
        alone = unique_contributions(documents[:, :depth], owners)[:, -1]
        unique[: alone.size] += alone
        here = uniques.topics == topic
        found = uniques.by[here][rankings.states[topic][uniques.codes[here]] == RELEVANT]
        relevant += np.bincount(found, minlength=relevant.size)
    loss = -left.difference()
    scored = rows[~np.isnan(loss[rows])]
    return LeftOut(
        scores=left,
        unique=unique,
        unique_relevant=relevant,
        errors=pool_errors(left, contributing),
        mean_loss=float(loss[scored].mean()) if scored.size else None,
        worst=int(scored[np.argmax(loss[scored])]) if scored.size else None,
        n_moved=int(np.count_nonzero(left.rank_before[scored] != left.rank_after[scored])),
        adjusted=adjust_scores(left, contributing),
    )
