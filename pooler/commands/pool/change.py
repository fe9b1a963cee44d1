"""What a change of the pools comes to: what is new, leaves and stays, and what judging it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pooler.pools.change import Pair, PoolChange, PooledWhen, StatesInPool, n_judgements
from pooler.tables import Column, Table
from store.analysis.pools.pace import RECENT_DECISIONS, duration_words, forecast
from store.records import Pool
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

STATES = tuple(Column(name, "int") for name in ("judged", "cannot", "skipped", "unjudged"))


def pairs_to_judge(pool: Pool) -> set[Pair]:
    """Return topic and docno of what a pool has to judge."""
    return {(one.topic, one.docno) for one in pool.entries if one.sampled}


def filled_columns(table: Table) -> list[str]:
    """Return the columns that say something in at least one row; 0 does, all without a row."""
    filled = [name for name in table.data if any(cell not in (None, "", []) for cell in table.cells(name))]
    return filled or [*table.data]


def cost_words(opened: Collection, pairs: Iterable[Pair], *, drawable: int = 0) -> str:
    """Word what documents cost, be they new or about to leave; empty where they cost nothing.

    The time is at the pace of all who judge; `drawable` more documents may be drawn.
    """
    if_pooled = opened.pool_changes.if_pooled([*pairs])
    plan, judges = if_pooled.plan, if_pooled.judges
    if not if_pooled.documents and not drawable:
        return ""
    if plan is None and not judges:
        return "an unknown number of judgements: no person judges yet (pooler judges add NAME)"
    if plan is not None and drawable:
        why = "documents are assigned, but those of an adaptive pool cannot be"
        return f"an unknown number of judgements: {why}"
    n = n_judgements(if_pooled, drawable=drawable)
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    seconds = forecast([one for judge in judges for one in times.get(judge, ())], n).seconds
    time = "how long is not known" if seconds is None else duration_words(seconds)
    how = "every judge sees every document" if plan is None and len(judges) > 1 else _sharing(plan)
    words = f"{'at most ' * bool(drawable)}{counted(n, 'judgement')}: {time}"
    return f"{words}; {how}" if how else words


def _sharing(plan: Mapping[str, Any] | None) -> str:
    """Say how many judges a document has; empty where documents are not assigned."""
    if plan is None:
        return ""
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
