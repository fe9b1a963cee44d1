"""What a change of the pools comes to, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import Cell, Column, Format, Table, counted, say
from pooler.cli.dossier import without_empty
from pooler.pool_change import Part

if TYPE_CHECKING:
    from pooler.judging_cost import Share
    from pooler.pool_change import PoolChange, StateCounts
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


def fetch_cost(opened: Collection, change: PoolChange, *, drawable: int) -> list[Share]:
    """Return what the new documents of a change would cost, judge by judge."""
    from pooler.judging_cost import judging_cost
    from store.analysis.effort import RECENT_DECISIONS

    prospects = opened.prospects(change.new)
    times = opened.recent_times(limit=RECENT_DECISIONS)
    return judging_cost(prospects, times, drawable=drawable)


def cost_table(shares: list[Share], fmt: Format) -> Table:
    """Make the table of what new documents would cost."""
    from pooler.judging_cost import total_seconds
    from store.analysis.effort import duration_words

    table = Table("cost", _COST)
    for one in shares:
        hours = None if one.seconds is None else one.seconds / 3600
        table.rows.append({
            "judge": one.judge, "judgements": one.judgements, "at_most": one.is_at_most or None,
            "pace_s": one.pace, "hours": hours, "reason": one.reason,
        })  # fmt: skip
    numbers = [one.judgements for one in shares if one.judgements is not None]
    if not shares:
        table.caption = "no judgement more is asked for"
    elif len(numbers) < len(shares):
        table.caption = f"what it costs is not known: {_WORDS.get(shares[0].reason or '')}"
    else:
        seconds = total_seconds(shares)
        time = "how long is not known" if seconds is None else duration_words(seconds)
        at_most = "at most " if any(one.is_at_most for one in shares) else ""
        table.caption = f"{at_most}{counted(sum(numbers), 'judgement')}: {time}"
    if fmt is Format.TABLE and len(numbers) < len(shares):
        table.rows = []
    if fmt is Format.TABLE:
        for row in table.rows:
            if row["judge"] is None and row["judgements"] is not None:
                table.rows[table.rows.index(row)] = {**row, "judge": "(whoever claims)"}
        table.columns = without_empty(table.columns, table.rows) or table.columns
    return table


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
