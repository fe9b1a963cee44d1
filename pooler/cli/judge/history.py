"""`pooler history`: who changed what, and why a document has the grade it has."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import emit, json_text, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption, check_stretch
from pooler.results.look.history import history_table
from pooler.results.printed import Cell, Column, Format, Table, folded, short_times, without_empty
from pooler.telling import say
from store.event import FIELDS
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store.looking.history import Chronicle, Happening
    from store.records import Scale

_ORDER = (
    "at", "judge", "kind", "revision", "action", "state", "grade", "undid", "is_undone", "follows", "settled",
    "reason", "note", "passages", "iteration", "guideline_version", "topic_version", "text",
    "document_sha256", "shown_at", "dwell_ms", "active_ms", "sitting", "host", "rested_on",
)  # fmt: skip
_CALLED = {"judged_at": "at", "undoes": "undid"}
"""Fields of an event that have another name in a history."""
_LEFT_OUT = ("topic", "docno", "display_order", "position", "dropped_keys")
"""Named above the history, or of interest to nobody who asks for one."""
_TOLD = {name: _CALLED.get(name, name) for name in FIELDS if name not in _LEFT_OUT}
COLUMNS = tuple(Column(name) for name in dict.fromkeys([*_ORDER, *_TOLD.values()]))
FOR_PEOPLE = (
    Column("judge"),
    Column("revision", "no."),
    Column("action"),
    Column("stands", "so it stands"),
    Column("about"),
)
DEFAULT_LIMIT = 50
_SETTLED = {
    "agreed": "no two decisions differed",
    "decision": "a decision stood against none",
    "by hand": "by hand",
    "unjudged": "put back into the queue",
}
"""How copies were settled, in words; the rest are rules by their names."""
_AT_SETTLEMENT = (
    "a merge has no time of its own: it stands at that of the last event on the copies it settled"
)
_NO_GRADE = {
    "not-pooled": "it is in no pool, and nobody graded it",
    "unjudged": "pooled, and nobody has decided on it yet",
    "skipped": "nobody decided on it, and somebody skipped it",
    "cannot": "nobody graded it, and somebody found it impossible to judge",
    "several-judges": "several judges graded it; --judge or --aggregate of `pooler export qrels`"
    " says whose grade counts",
    "ruled-cannot": "{by} ruled that it cannot be judged",
}


def history(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Of this topic alone.", show_default=False)
    ] = None,
    docno: Annotated[
        str | None,
        typer.Argument(metavar="DOCNO", help="Of this document of the topic alone.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Not what happened before: 2026-03-02, which is that day at 00:00,"
            " 2026-03-02T09:30, or with a zone 2026-03-02T09:30+01:00; UTC without.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="WHEN",
            help="Not what happened at this moment or later; a date is that day at 00:00 here too,"
            " so that the day is not in it.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="Only what this judge did, or became; may be repeated.",
            show_default="all, and what no judge did",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Most rows, the newest.",
            show_default=f"{DEFAULT_LIMIT} in a table for people, else all; all of one document",
        ),
    ] = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Tell who changed what, and when; or of one document of a topic, why it has its grade.

    Without DOCNO: every event of every judge by time, the newest last, with how the document stood
    with that judge before and after it; and whatever else has a date. Of a topic that is runs,
    pools, assignments and new versions of its text; of the collection guidelines and judges too:
    added, renamed (by the name of now), erased (without one). A pool's withdrawal has no date.

    With DOCNO: what was done (by the judge, unless it says otherwise), how the document stood after
    it, what an undo took back, the versions of the guidelines and the topic's text it was done
    under, whether the document's text has changed since, how long the document was on the screen,
    and for an adjudicator's ruling the judges' verdicts it rested on. At the end how it stands with
    each judge now, and the final grade where none has to be chosen - a ruling's, or that of the
    only judge who graded it - with the levels from which it is relevant, or why there is none.
    json has the passages in full; tsv the events alone. Times are UTC.

    Example: pooler history G01 KG-E-002

    Example: pooler history --since 2026-03-02 --judge carol
    """
    from store.collection import Collection
    from store.looking.history import Stretch

    begin, end = check_stretch(since, until)
    asked = Stretch(topic, tuple(dict.fromkeys(judge or ())), begin, end, limit)
    if topic is None or docno is None:
        if limit is None and fmt is Format.TABLE:
            asked = replace(asked, limit=DEFAULT_LIMIT)
        with Collection(collection) as opened:
            annals = opened.history.everything(asked)
        emit([history_table(annals, fmt)], fmt)
        _say_rest(annals.total - len(annals.entries), "row")
        return
    with Collection(collection) as opened:
        found = opened.history.of_document(topic, docno, asked)
        scale = opened.scale
    if fmt is Format.JSON:
        write_lines(None, [json_text(_data(found))])
    elif fmt is Format.TSV:
        emit([Table("events", COLUMNS, [_row(event) for event in found.events])], fmt)
    else:
        emit([_for_people(found, scale)], fmt)
    _say_rest(found.n_left_out, "event")


def _say_rest(n_left: int, noun: str) -> None:
    """Say how many are not shown for the limit."""
    if n_left:
        verb = "is" if n_left == 1 else "are"
        say(f"{counted(n_left, f'older {noun}')} {verb} not shown: --limit shows more, --since and"
            " --until others")  # fmt: skip


def _row(event: Happening) -> dict[str, Cell]:
    """Return the cells of an event; passages counted."""
    row: dict[str, Cell] = {called: _plain(getattr(event, name)) for name, called in _TOLD.items()}
    row |= {"kind": event.kind.value, "is_undone": event.is_undone, "text": event.text}
    row |= {"host": event.host or None, "rested_on": _opinions(event)}
    return {column.name: row[column.name] for column in COLUMNS}


def _plain(value: Any) -> Cell:
    """Write a value for programs: a moment to the microsecond that orders events, passages counted."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, tuple):
        return len(value)
    return value.value if isinstance(value, StrEnum) else value


def _data(found: Chronicle) -> dict[str, Any]:
    """Return a history as JSON values."""
    events = []
    for event in found.events:
        marked = [{"start": one.start, "length": one.length, "text": one.text} for one in event.passages]
        events.append({**_row(event), "passages": marked})
    return {
        "topic": found.topic,
        "docno": found.docno,
        "title": found.title or None,
        "document_sha256": found.sha256,
        "newest_guideline_version": found.newest_guideline,
        "newest_topic_version": found.topic_version,
        "pooled": found.is_pooled,
        "pools": [
            {"pool": one.pool, "round": one.round, "withdrawn": one.withdrawn,
             "sampled": one.sampled, "position": one.position}
            for one in found.places
        ],
        "events": events,
        "standing": [
            {"judge": one.judge, "kind": one.kind.value, "state": one.state.value,
             "grade": one.grade}
            for one in found.standing
        ],
        "final": {
            "grade": found.final.grade,
            "reason": found.final.reason,
            "by": found.final.by,
            "is_ruling": found.final.is_ruling,
            "ruling_status": None if found.ruling_status is None else found.ruling_status.value,
        },
    }  # fmt: skip


def _for_people(found: Chronicle, scale: Scale) -> Table:
    """Make the table of events, and the sentences below it."""
    heading, times = short_times([event.judged_at for event in found.events])
    notes = {(event.judge, event.revision): event.note for event in found.events}
    rows: list[Mapping[str, Cell]] = [
        {
            "at": at,
            "judge": event.judge,
            "revision": event.revision,
            "action": event.action.value,
            "stands": _stands(event, scale),
            "about": "; ".join(_about(event, found.topic_version, notes)) or None,
        }
        for at, event in zip(times, found.events, strict=True)
    ]
    columns = without_empty((Column("at", heading), *FOR_PEOPLE), rows)
    table = Table("events", columns, title=f"topic {found.topic}, document {found.docno}")
    table.rows = folded(columns, rows, whole=("at",)) if rows else []
    pools = ", ".join(_place(one.pool, one.round, one.withdrawn, one.sampled)
                      for one in found.places)  # fmt: skip
    lines = [f"pools: {pools}" if pools else "in no pool"]
    if not found.total:
        lines.append("no event: nobody has looked at it")
    else:
        shown = len(found.events)
        size = "" if shown == found.total else f"{shown:,} of "
        lines.insert(0, f"{size}{counted(found.total, 'event')} of"
                     f" {counted(len(found.standing), 'judge')}")  # fmt: skip
        now = (f"{one.judge} {_stands(one, scale)}" for one in found.standing)
        lines.append("it stands: " + "; ".join(now))
    if any(event.settled is not None for event in found.events):
        lines.append(_AT_SETTLEMENT)
    table.caption = "\n".join([*lines, _final(found, scale)])
    return table


def _final(found: Chronicle, scale: Scale) -> str:
    """Say which grade follows without a rule, or why none does."""
    final = found.final
    if final.grade is None:
        return "final grade: none; " + _NO_GRADE[final.reason or ""].format(by=final.by)
    grade = f"final grade: {final.grade} ({scale.label(final.grade)})"
    relevance = _relevance(final.grade, scale)
    if not final.is_ruling:
        return f"{grade}, of {final.by}, who alone graded it; {relevance}"
    since = found.ruling_status
    words = "" if since is None or since.value == "settled" else f"; {since.value}"
    return f"{grade}, ruled by {final.by}{words}; {relevance}"


def _relevance(grade: int, scale: Scale) -> str:
    """Say from which levels of the scale a grade counts as relevant."""
    levels = [(scale.relaxed, "" if scale.rigid is None else " (relaxed)")]
    levels += [] if scale.rigid is None else [(scale.rigid, " (rigid)")]
    said = (f"from level {level}{name}: {'yes' if grade >= level else 'no'}"
            for level, name in levels)  # fmt: skip
    return "relevant " + ", ".join(said)


def _about(event: Happening, topic_version: int, notes: Mapping[tuple[str, int], str]) -> list[str]:
    """Say by whom if not by the judge, why, on what it rested, and how long it took."""
    words = [event.kind.value] if event.kind.value not in ("human", "imported") else []
    remark = _remark(event)
    words += [] if remark is None else [remark]
    if event.action.value == "settle":
        words.append("settled by merge")
    elif event.action.value == "reopen":
        words.append(": ".join(["reopened by organiser", *filter(None, [event.reason])]))
    elif event.sitting is None:
        words.append("imported")
    if event.reason and event.action.value != "reopen":
        words.append(event.reason)
    # Said once, by the event that it came with.
    if event.note and event.note != notes.get((event.judge, event.revision - 1)):
        words.append(f"note: {event.note}")
    words += [counted(len(event.passages), "passage")] if event.passages else []
    rested_on = _opinions(event)
    words += [f"rested on {rested_on}"] if rested_on else []
    if event.guideline_version is not None:
        words.append(f"guidelines {event.guideline_version}")
    # Of a text that never changed there is nothing to say.
    if topic_version > 1 and event.topic_version is not None:
        words.append(f"topic text {event.topic_version}")
    if event.text != "not known":
        words.append(f"text {event.text}")
    if event.dwell_ms is not None:
        words.append(f"{event.dwell_ms / 1000:.1f} s")
    if event.sitting is not None:
        words.append(f"sitting {event.sitting}" + (f" on {event.host}" if event.host else ""))
    return words


def _stands(event: Happening, scale: Scale) -> str:
    """Say how the document stands after an event."""
    if event.grade is None:
        return event.state.value
    return f"{event.grade} ({scale.label(event.grade)})"


def _remark(event: Happening) -> str | None:
    """Say what an event took back, what it followed on another copy, or how copies were settled."""
    words = [] if event.undoes is None else [f"takes back no. {event.undoes}"]
    if event.settled is not None:
        words.append(f"copies settled: {_SETTLED.get(event.settled, f'by {event.settled}')}")
    elif event.follows is not None:
        # What stands between was done on other copies meanwhile: none of it was known to the judge.
        first, last = event.follows + 1, event.revision - 1
        others = f"no. {first}" if first == last else f"no. {first} to {last}"
        known = f"after no. {event.follows}, " if event.follows else ""
        it = "it" if first == last else "them"
        words.append(f"{known}done on another copy than {others}, not knowing {it}")
    return ", ".join([*words, *(["taken back"] if event.is_undone else [])]) or None


def _opinions(event: Happening) -> str | None:
    """Write the verdicts that a ruling rested on."""
    if event.opinions is None:
        return None
    from store.judging.disagreements import basis_of

    return basis_of(event.opinions)


def _place(pool: str, label: str, withdrawn: bool, sampled: bool) -> str:  # noqa: FBT001 - of one row
    """Name a pool, and in what way the document is in it."""
    words = [f"round {label}", *(["withdrawn"] if withdrawn else []),
             *([] if sampled else ["not to be judged"])]  # fmt: skip
    return f"{pool} ({', '.join(words)})"
