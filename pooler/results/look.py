"""Status, effort, lists, details: results of a collection."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pooler.results.printed import Cell, Column, Format, Table
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from store.content.pools import StoredPool
    from store.records import AssignmentPlan, Cleared, Workloads


def moment(at: datetime, fmt: Format) -> str:
    """Write a moment: for people in local time to the minute, for programs in UTC.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment(datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC), Format.JSON)
    '2026-03-01T09:30:05+00:00'
    """
    if fmt is Format.TABLE:
        return f"{at.astimezone():%Y-%m-%d %H:%M}"
    return at.isoformat(timespec="seconds")


def day(at: datetime, fmt: Format) -> str:
    """Write a moment as `moment` does, for people without the time of the day.

    Examples
    --------
    >>> from datetime import UTC
    >>> day(datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC), Format.JSON)
    '2026-03-01T09:30:05+00:00'
    """
    return f"{at.astimezone():%Y-%m-%d}" if fmt is Format.TABLE else moment(at, fmt)


COLUMNS = (
    Column("judge"),
    Column("topics"),
    Column("documents"),
    Column("primary"),
    Column("overlap"),
    Column("calibration"),
    Column("decided"),
    Column("left"),
    Column("claimed"),
    Column("lapsed"),
    Column("until"),
)
_OFTEN_EMPTY = ("overlap", "calibration", "claimed", "lapsed", "until")


def workload_table(workloads: Workloads, fmt: Format) -> Table:
    """Make the table of what lies before every judge."""
    table = Table("workload", COLUMNS)
    for line in workloads.lines:
        row: dict[str, Cell] = {
            "judge": line.judge,
            "topics": line.topics,
            "documents": line.documents,
            "primary": line.primary,
            "overlap": line.overlap,
            "calibration": line.calibration,
            "decided": line.decided,
            "left": line.left,
            "claimed": line.claimed,
            "lapsed": line.lapsed,
            "until": None if line.until is None else moment(line.until, fmt),
        }
        table.rows.append(row)
    if fmt is Format.TABLE:
        silent = [name for name in _OFTEN_EMPTY if not any(row[name] for row in table.rows)]
        table.columns = [column for column in COLUMNS if column.name not in silent]
        table.caption = _caption(workloads)
    return table


def _caption(workloads: Workloads) -> str:
    """Explain the table to people."""
    if not workloads.lines:
        return "" if workloads.outside else "nothing is assigned: all judges see the whole pool"
    lines = []
    if workloads.lines[-1].judge is None:
        lines.append("judge -: places that are open, for whoever claims them")
    if any(line.claimed or line.lapsed for line in workloads.lines):
        lines.append("claimed: waiting for a decision until a lease runs out;"
                     " lapsed: it ran out, and others may claim them")  # fmt: skip
    return "\n".join(lines)


def report_plan(plan: AssignmentPlan, cleared: Cleared, *, dry_run: bool) -> list[str]:
    """Say what was assigned, and what went for it."""
    lines = _cleared_lines(cleared, dry_run=dry_run)
    manifest = plan.manifest
    n_documents = sum(manifest["sizes"].values())
    if not plan.places:
        named = [f"{noun}s" for noun in ("pool", "topic") if manifest.get(f"{noun}s")]
        of_named = f" of the {' and '.join(named)} named" if named else ""
        why = f"no document{of_named} is without a place"
        if n_documents:
            why = "every document has its judges"
        return [*lines, f"nothing to assign: {why}"]
    documents, topics = counted(n_documents, "document"), counted(len(manifest["sizes"]), "topic")
    to_whom = "to be claimed"
    if plan.lease_s is None:
        to_whom = f"for {counted(len({place.judge for place in plan.places}), 'judge')}"
    lines.append(f"{_verb(dry_run=dry_run)}assigned: {counted(len(plan.places), 'place')} at"
                 f" {documents} of {topics}, {to_whom}; seed {manifest['seed']}")  # fmt: skip
    counts = {name: count for name, count in manifest["documents"].items() if count}
    if set(counts) != {"primary"}:
        listed = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        lines.append(f"documents: {listed}")
    if manifest["decided"]:
        lines.append(f"{counted(manifest['decided'], 'decision')} that stood already count: their"
                     " judges keep these documents")  # fmt: skip
    return lines


def report_cleared(cleared: Cleared, workloads: Workloads, *, dry_run: bool) -> list[str]:
    """Say what was taken back, and what judges are shown now."""
    lines = _cleared_lines(cleared, dry_run=dry_run)
    if not lines:
        lines = ["nothing was assigned that has no decision"]
    places = sum(line.places for line in workloads.lines) + workloads.outside
    if places:
        lines.append(f"{counted(places, 'place')} still assigned in all; judges are shown these"
                     " and no other document until more are assigned")  # fmt: skip
    else:
        lines.append("nothing is assigned any more: every judge is shown the whole pool")
    return lines


def report_rest(workloads: Workloads) -> list[str]:
    """Say what is assigned to nobody, and what is assigned and not pooled."""
    lines = []
    if workloads.lines and workloads.unassigned:
        lines.append(f"{workloads.unassigned:,} of {counted(workloads.pooled, 'pooled document')}"
                     " assigned to nobody: pooler assign --add assigns them")  # fmt: skip
    if workloads.lines and workloads.drawn:
        lines.append(f"{counted(workloads.drawn, 'document')} that adaptive pools drew assigned to"
                     " nobody: none can be")  # fmt: skip
    if workloads.outside:
        lines.append(f"{counted(workloads.outside, 'place')} at documents in no pool any more: not"
                     " counted here, and shown to nobody")  # fmt: skip
    return lines


def _cleared_lines(cleared: Cleared, *, dry_run: bool) -> list[str]:
    """Say what was taken back and what stays."""
    if not cleared.removed and not cleared.kept:
        return []
    claimed = f" ({cleared.claimed:,} of them claimed at this moment)" if cleared.claimed else ""
    kept = counted(cleared.kept, "place")
    return [f"{_verb(dry_run=dry_run)}taken back: {counted(cleared.removed, 'place')} without a"
            f" decision{claimed}; {kept} with a decision stay"]  # fmt: skip


def _verb(*, dry_run: bool) -> str:
    """Begin a sentence of what is done, or would be."""
    return "would be " if dry_run else ""


def drawable(pools: Iterable[StoredPool]) -> list[str]:
    """Name the adaptive pools in use that have documents left to draw, were anybody to draw."""
    return [
        pool.name
        for pool in pools
        if not pool.withdrawn and pool.budget is not None and pool.pairs < pool.budget
    ]


def idle_words(names: Sequence[str]) -> str:
    """Say that nobody draws from adaptive pools, of which there are some, and why.

    Examples
    --------
    >>> idle_words(["live"])
    'nobody draws from adaptive pool `live`: while anything is assigned, each judge is shown ...'
    """
    noun = "adaptive pool" if len(names) == 1 else "adaptive pools"
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"nobody draws from {noun} {listed}: while anything is assigned, each judge is shown only"
        " what is assigned to that judge, or open to claim"
    )


def way_out(workloads: Workloads) -> str:
    """Say when judges would draw again.

    Examples
    --------
    >>> from store.records import Workload, Workloads
    >>> ann = Workload("ann", 1, 5, 5, 0, 0, decided=2, claimed=0, lapsed=0, until=None)
    >>> way_out(Workloads([ann], pooled=5))
    '2 places have a decision, which pooler assign --clear leaves: draw in another collection'
    >>> way_out(Workloads())
    'once pooler assign --clear has taken back every place, all judges draw'
    """
    if n_decided := sum(line.decided for line in workloads.lines):
        has = "has" if n_decided == 1 else "have"
        return (
            f"{counted(n_decided, 'place')} {has} a decision, which pooler assign --clear leaves:"
            " draw in another collection"
        )
    return "once pooler assign --clear has taken back every place, all judges draw"
