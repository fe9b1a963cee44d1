"""What a change of the pools comes to: what is new, leaves and stays, and what judging it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pooler.pools.change import (
    JudgeShare,
    Pair,
    PoolChange,
    PooledWhen,
    StatesInPool,
    judging_cost,
    total_seconds,
)
from pooler.tables import Column, Table
from store.analysis.pools.pace import RECENT_DECISIONS, duration_words
from store.records import Pool
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

STATES = tuple(Column(name, "int") for name in ("judged", "cannot", "skipped", "unjudged"))

_WORDS = {
    "no-judges": "no person judges yet (pooler judges add NAME)",
    "plan-cannot-be-continued": "the new documents cannot be assigned like the others, since judges are"
    " missing",
    "not-assigned": "documents are assigned, but those of an adaptive pool cannot be",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What documents cost, and why it is so much."""

    shares: list[JudgeShare]
    plan: Mapping[str, Any] | None
    """How documents were assigned last; ``None`` = nothing is assigned."""


def pairs_to_judge(pool: Pool) -> set[Pair]:
    """Return topic and docno of what a pool has to judge."""
    return {(one.topic, one.docno) for one in pool.entries if one.sampled}


def filled_columns(table: Table) -> list[str]:
    """Return the columns that say something in at least one row; 0 does, all without a row."""
    filled = [name for name in table.data if any(cell not in (None, "", []) for cell in table.cells(name))]
    return filled or [*table.data]


def fetch_cost(opened: Collection, pairs: Iterable[Pair], *, drawable: int) -> Cost:
    """Return what documents cost, be they new or about to leave, judge by judge."""
    if_pooled = opened.pool_changes.if_pooled([*pairs])
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    return Cost(judging_cost(if_pooled, times, drawable=drawable), if_pooled.plan)


def cost_words(cost: Cost) -> str:
    """Word what documents, of which there are some, cost in all, and how many judges each has.

    >>> from pooler.pools.change import JudgeShare
    >>> shares = [JudgeShare("ann", 3, 60.0, 180.0), JudgeShare("ben", 2, 60.0, 120.0)]
    >>> cost_words(Cost(shares, None))
    '5 judgements: about 5 min; every judge sees every document'
    >>> cost_words(Cost(shares, {"per_document": 1, "overlap": 0.25, "overlap_judges": 2}))
    '5 judgements: about 5 min; as last assigned: 1 judge per document, 2 for 25% of each topic'
    """
    shares = cost.shares
    numbers = [one.judgements for one in shares if one.judgements is not None]
    if len(numbers) < len(shares):
        return f"what it costs is not known: {_WORDS.get(shares[0].reason or '')}"
    seconds = total_seconds(shares)
    time = "how long is not known" if seconds is None else duration_words(seconds)
    at_most = "at most " if any(one.is_at_most for one in shares) else ""
    how = _sharing(cost)
    return f"{at_most}{counted(sum(numbers), 'judgement')}: {time}" + (f"; {how}" if how else "")


def _sharing(cost: Cost) -> str:
    """Say how many judges a document has; empty where there is but one judge."""
    plan = cost.plan
    if plan is None:
        return "every judge sees every document" if len(cost.shares) > 1 else ""
    words = [f"{counted(plan.get('per_document', 1), 'judge')} per document"]
    if overlap := plan.get("overlap"):
        most = plan.get("overlap_judges") or plan.get("per_document", 1) + 1
        words.append(f"{most} for {100 * overlap:g}% of each topic")
    if calibration := plan.get("calibration"):
        words.append(f"all judges for {counted(calibration, 'document')} of each topic")
    return f"as last assigned: {', '.join(words)}"


def change_words(change: PoolChange) -> list[str]:
    """Say in short what a change did, where it did anything."""
    new, leaving = change.total(PooledWhen.NEW), change.total(PooledWhen.LEAVING)
    staying = change.total(PooledWhen.STAYING)
    lines = []
    if staying.documents or leaving.documents:
        words = f"{counted(new.documents, 'document')} new to the pools"
        if new.judged:
            words += f", {new.judged:,} of them so far judged outside every pool"
        lines.append(f"{words}; {staying.documents:,} stay")
    if leaving.documents:
        lines.append(f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}")
    if leaving.judged:
        lines.append(
            f"judgements stay; judged documents outside every pool: {change.outside_after:,} now,"
            f" {change.outside_before:,} before"
        )
    return lines


def planned_words(change: PoolChange, *, drawable: int = 0) -> list[str]:
    """Say in four lines what a change would come to; `drawable` documents may be drawn while it is judged."""
    lines = []
    for part in PooledWhen:
        counts = change.total(part)
        words = f"{part.value}: {counted(counts.documents, 'document')}"
        lines.append(f"{words}: {in_words(counts)}" if counts.documents else words)
    if drawable:
        lines[0] += f"; {drawable:,} may be drawn"
    lines.append(
        f"judged outside every pool: {change.outside_before:,} before, {change.outside_after:,} after"
    )
    return lines


def in_words(counts: StatesInPool) -> str:
    """Word how documents stand.

    >>> from pooler.pools.change import StatesInPool
    >>> in_words(StatesInPool(judged=2, unjudged=3))
    '2 judged, 0 cannot be judged, 0 skipped, 3 unjudged'
    """
    return (
        f"{counts.judged:,} judged, {counts.cannot:,} cannot be judged, {counts.skipped:,} skipped,"
        f" {counts.unjudged:,} unjudged"
    )
