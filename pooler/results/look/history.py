"""`pooler history` of a topic or a whole collection: a row for everything that happened."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from pooler.results.printed import Cell, Column, Format, Table, folded, short_times, without_empty
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store.looking.history import Annals, Entry

COLUMNS = (
    Column("at"),
    Column("what"),
    Column("action"),
    Column("judge"),
    Column("kind"),
    Column("topic"),
    Column("docno"),
    Column("name"),
    Column("round"),
    Column("withdrawn"),
    Column("revision"),
    Column("state_before"),
    Column("grade_before"),
    Column("state"),
    Column("grade"),
    Column("undid"),
    Column("settled"),
    Column("at_desk"),
    Column("reason"),
    Column("note"),
    Column("guideline_version"),
    Column("topic_version"),
    Column("title"),
    Column("judgements"),
    Column("events"),
)
FOR_PEOPLE = (
    Column("judge"),
    Column("topic"),
    Column("docno"),
    Column("action"),
    Column("grade"),
    Column("about"),
)
_ASIDE = ("note", "mark")
"""Actions that change no grade."""
_NO_TIME = (
    "merges and withdrawals have no time of their own: a settlement by merge stands at that"
    " of the last event it settled"
)
_NOTHING = "nothing happened that has a date"


def history_table(found: Annals, fmt: Format) -> Table:
    """Make the table of what happened: for people folded to a page, for programs in full."""
    if fmt is not Format.TABLE:
        return Table("history", COLUMNS, [_row(one) for one in found.entries])
    heading, times = short_times([one.at for one in found.entries])
    rows: list[Mapping[str, Cell]] = [
        {"at": at, **_words(one)} for at, one in zip(times, found.entries, strict=True)
    ]
    columns = without_empty((Column("at", heading), *FOR_PEOPLE), rows)
    table = Table("history", columns, folded(columns, rows, whole=("at",)) if rows else [])
    shown = len(found.entries)
    size = f"{shown:,} of " if shown < found.total else ""
    lines = [size + counted(found.total, "row") if shown else _NOTHING]
    if any(one.settled or one.withdrawn for one in found.entries):
        lines.append(_NO_TIME)
    table.caption = "\n".join(lines)
    return table


def _row(one: Entry) -> dict[str, Cell]:
    """Return the cells of an entry, for programs."""
    row: dict[str, Cell] = {
        column.name: getattr(one, column.name) for column in COLUMNS if column.name != "at"
    }
    return {**row, "at": one.at.astimezone(UTC).isoformat(timespec="microseconds")}


def _words(one: Entry) -> dict[str, Cell]:
    """Return the cells of an entry, for people; the time apart."""
    is_event = one.docno is not None
    return {
        "judge": one.judge,
        "topic": one.topic,
        "docno": one.docno,
        "action": "ruling" if one.what == "ruling" else one.action,
        "grade": _grades(one) if is_event else None,
        "about": "; ".join(_about_event(one) if is_event else _about_thing(one)) or None,
    }


def _grades(one: Entry) -> str:
    """Write how a document stood and stands with the judge."""
    after = one.state if one.grade is None else str(one.grade)
    if one.state_before is None or one.action in _ASIDE:
        return f"{after}"
    return f"{one.state_before if one.grade_before is None else one.grade_before} -> {after}"


def _about_event(one: Entry) -> list[str]:
    """Say why, and under what, an event came."""
    words = [] if one.undid is None else [f"takes back no. {one.undid}"]
    if one.settled is not None:
        words.append(f"by merge: {one.settled}")
    elif one.action == "reopen":
        words.append(f"by the organiser: {one.reason}" if one.reason else "by the organiser")
    elif one.at_desk is False:
        words.append("imported")
    if one.reason and one.action not in (*_ASIDE, "reopen"):
        words.append(one.reason)
    if one.note and one.has_new_note:
        words.append(f"note: {one.note}")
    elif one.has_new_note:
        words.append("without the note")
    if one.guideline_version is not None:
        words.append(f"guidelines {one.guideline_version}")
    # The first text of a topic goes without saying.
    if one.topic_version is not None and one.topic_version > 1:
        words.append(f"topic text {one.topic_version}")
    return words


def _about_thing(one: Entry) -> list[str]:
    """Say what it was, and which."""
    if one.what == "pool":
        since = ["withdrawn since"] if one.withdrawn else []
        return [f"pool {one.name}", f"round {one.round}", *since]
    if one.what == "guidelines":
        return [f"guidelines {one.guideline_version}"]
    if one.what == "topic":
        return [f"topic text {one.topic_version}", one.title]
    if one.what == "assignment":
        return ["documents"]
    if one.what != "judge" or one.kind is None:
        return [f"{one.what} {one.name}"]
    if one.action != "erased":
        return [f"judge of kind {one.kind.value}", *(["to this name"] * (one.action == "renamed"))]
    gone = f"{counted(one.judgements or 0, 'judgement')}, {counted(one.events or 0, 'event')}"
    return [f"a judge of kind {one.kind.value}", f"with {gone}"]
