"""What a change of the pools comes to, in tables and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pooler.cli.console import Cell, Column, Format, Table, counted, say
from pooler.cli.dossier import without_empty
from pooler.pool_change import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pooler.judging_cost import Share
    from pooler.pool_change import Pair, PoolChange, StateCounts
    from store.collection import Collection

STATES = (Column("judged"), Column("cannot"), Column("skipped"), Column("unjudged"))
"""How documents stand with all judges together."""
DRAWABLE = "may be drawn"
"""What an adaptive pool adds while it is judged."""
_COST = (
    Column("judge"),
    Column("judgements"),
    Column("at_most", "at most"),
    Column("pace_s", "seconds each", digits=1),
    Column("hours", digits=1),
    Column("reason"),
)

_WORDS = {
    "no-judges": "there is no judge yet (pooler judges add NAME)",
    "plan-cannot-be-continued": "the new documents cannot be assigned as the others were, since"
    " judges are missing",
    "not-assigned": "documents are assigned, and those of an adaptive pool cannot be",
}
"""Reasons of `pooler.judging_cost`, for people."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What documents cost, and why it is so much."""

    shares: list[Share]
    """Judge by judge."""
    plan: Mapping[str, Any] | None
    """How documents were assigned last; ``None`` = nothing is assigned."""


def change_tables(change: PoolChange, fmt: Format, *, drawable: int, by_topic: bool) -> list[Table]:
    """Make the table of what comes, goes and stays, in all and by topic.

    Parameters
    ----------
    change : PoolChange
        The change, counted.
    fmt : Format
        Programs get every row.
    drawable : int
        Documents that an adaptive pool may draw; 0 = there is none.
    by_topic : bool
        Whether the topics follow.
    """
    columns = (Column("what"), Column("documents"), *STATES)
    table = Table("change", columns)
    table.rows = [{"what": part.value, **state_cells(change.total(part))} for part in Part]
    if drawable:
        table.rows.insert(1, {"what": DRAWABLE, "documents": drawable})
    outside = {"outside before": change.outside_before, "outside after": change.outside_after}
    table.rows += [{"what": what, "documents": n, "judged": n} for what, n in outside.items()]
    table.caption = (
        "new: in no pool now; leaving: left without a pool; outside: judged, but in no pool"
    )
    if not by_topic:
        return [table]
    topics = Table("topics", (Column("topic"), *columns))
    for topic, parts in change.by_topic.items():
        for part, counts in parts.items():
            if counts.documents or fmt is not Format.TABLE:
                topics.rows.append({"topic": topic, "what": part.value, **state_cells(counts)})
    return [table, topics]


def state_cells(counts: StateCounts) -> dict[str, Cell]:
    """Return how many documents there are, and how they stand."""
    cells: dict[str, Cell] = {"documents": counts.documents}
    return cells | {column.name: getattr(counts, column.name) for column in STATES}


def fetch_cost(opened: Collection, pairs: Iterable[Pair], *, drawable: int) -> Cost:
    """Return what documents cost, be they new or about to leave, judge by judge."""
    from pooler.judging_cost import judging_cost
    from store.analysis.effort import RECENT_DECISIONS

    prospects = opened.prospects([*pairs])
    times = opened.recent_times(limit=RECENT_DECISIONS)
    return Cost(judging_cost(prospects, times, drawable=drawable), prospects.plan)


def cost_table(cost: Cost, fmt: Format) -> Table:
    """Make the table of what new documents would cost."""
    shares = cost.shares
    table = Table("cost", _COST)
    for one in shares:
        hours = None if one.seconds is None else one.seconds / 3600
        table.rows.append({
            "judge": one.judge, "judgements": one.judgements, "at_most": one.is_at_most or None,
            "pace_s": one.pace, "hours": hours, "reason": one.reason,
        })  # fmt: skip
    table.caption = cost_words(cost) if shares else "no judgement more is asked for"
    if fmt is Format.TABLE and any(one.judgements is None for one in shares):
        table.rows = []
    if fmt is Format.TABLE:
        for row in table.rows:
            if row["judge"] is None and row["judgements"] is not None:
                table.rows[table.rows.index(row)] = {**row, "judge": "(whoever claims)"}
        table.columns = without_empty(table.columns, table.rows) or table.columns
    return table


def cost_words(cost: Cost) -> str:
    """Word what documents, of which there are some, cost in all, and how many judges each has.

    Examples
    --------
    >>> from pooler.judging_cost import Share
    >>> shares = [Share("ann", 3, 60.0, 180.0), Share("ben", 2, 60.0, 120.0)]
    >>> cost_words(Cost(shares, None))
    '5 judgements: about 5 min; every judge is shown every document'
    >>> cost_words(Cost(shares, {"per_document": 1, "overlap": 0.25, "overlap_judges": 2}))
    '5 judgements: about 5 min; as assigned last: 1 judge a document, 2 for 25% of a topic'
    """
    from pooler.judging_cost import total_seconds
    from store.analysis.effort import duration_words

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
        return "every judge is shown every document" if len(cost.shares) > 1 else ""
    words = [f"{counted(plan.get('per_document', 1), 'judge')} a document"]
    if overlap := plan.get("overlap"):
        most = plan.get("overlap_judges") or plan.get("per_document", 1) + 1
        words.append(f"{most} for {100 * overlap:g}% of a topic")
    if calibration := plan.get("calibration"):
        words.append(f"all judges for {counted(calibration, 'document')} of a topic")
    return f"as assigned last: {', '.join(words)}"


def say_change(change: PoolChange) -> None:
    """Say in short what a change did, where it did anything."""
    new, leaving = change.total(Part.NEW), change.total(Part.LEAVING)
    staying = change.total(Part.STAYING)
    if staying.documents or leaving.documents:
        words = f"{counted(new.documents, 'document')} new to the pools"
        if new.judged:
            words += f", {new.judged:,} of them judged outside every pool until now"
        say(f"{words}; {staying.documents:,} stay")
    if leaving.documents:
        say(f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}")
    if leaving.judged:
        say(f"what is judged stays judged; outside every pool are {change.outside_after:,} judged"
            f" documents now, {change.outside_before:,} before")  # fmt: skip


def in_words(counts: StateCounts) -> str:
    """Word how documents stand.

    Examples
    --------
    >>> from pooler.pool_change import StateCounts
    >>> in_words(StateCounts(judged=2, unjudged=3))
    '2 judged, 0 cannot be judged, 0 skipped, 3 unjudged'
    """
    return (
        f"{counts.judged:,} judged, {counts.cannot:,} cannot be judged, {counts.skipped:,} skipped,"
        f" {counts.unjudged:,} unjudged"
    )
