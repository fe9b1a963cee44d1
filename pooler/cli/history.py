"""`pooler history`: why a document has the grade it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import Cell, Column, Format, Table, counted, emit, json_text, write_lines
from pooler.cli.dossier import without_empty
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption

if TYPE_CHECKING:
    from datetime import datetime

    from store.chronicle import Chronicle, Happening
    from store.records import Scale

COLUMNS = (
    Column("at", "when (UTC)"),
    Column("judge"),
    Column("kind"),
    Column("revision"),
    Column("action"),
    Column("state"),
    Column("grade"),
    Column("undid"),
    Column("is_undone", "taken back"),
    Column("follows"),
    Column("settled"),
    Column("reason"),
    Column("note"),
    Column("passages"),
    Column("iteration", "round"),
    Column("guideline_version", "guidelines"),
    Column("topic_version"),
    Column("text"),
    Column("document_sha256"),
    Column("shown_at"),
    Column("dwell_ms"),
    Column("active_ms"),
    Column("sitting"),
    Column("host"),
    Column("rested_on", "rested on"),
)
FOR_PEOPLE = (
    Column("at", "when (UTC)"),
    Column("judge"),
    Column("kind"),
    Column("revision", "no."),
    Column("action"),
    Column("stands", "so it stands"),
    Column("remark"),
    Column("reason"),
    Column("note"),
    Column("passages"),
    Column("rested_on", "rested on"),
    Column("guideline_version", "guidelines"),
    Column("topic_version", "topic text"),
    Column("text"),
    Column("dwell_s", "dwell s", 1),
    Column("sitting"),
    Column("host"),
)
_SETTLED = {
    "agreed": "they said the same",
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
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's id.")],
    docno: Annotated[str, typer.Argument(metavar="DOCNO", help="The document's docno.")],
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Tell why a document has its grade: every event of every judge on it, for one topic.

    By time, in UTC: what was done (by the judge, unless it says otherwise), how the document stood
    after it, what an undo took back, the versions of the guidelines and the topic's text it was
    done under, whether the document's text has changed since, how long the document was on the
    screen, and for an adjudicator's ruling the judges' verdicts it rested on. At the end how it
    stands with each judge, and the final grade where none has to be chosen - a ruling's, or that of
    the only judge who graded it - with the levels from which it is relevant, or why there is none.
    json has the passages in full; tsv the events alone.

    Example: pooler history G01 KG-E-002
    """
    from store.listed_collection import ListedCollection

    with ListedCollection(collection) as opened:
        found = opened.chronicle(topic, docno)
        scale = opened.scale
    if fmt is Format.JSON:
        write_lines(None, [json_text(_data(found))])
    elif fmt is Format.TSV:
        emit([Table("events", COLUMNS, [_row(event) for event in found.events])], fmt)
    else:
        emit([_for_people(found, scale)], fmt)


def _row(event: Happening) -> dict[str, Cell]:
    """Return the cells of an event; passages counted."""
    return {
        "at": _moment(event.at), "judge": event.judge, "kind": event.kind.value,
        "revision": event.revision, "action": event.action.value, "state": event.state.value,
        "grade": event.grade, "undid": event.undid, "is_undone": event.is_undone,
        "follows": event.follows, "settled": event.settled,
        "reason": event.reason, "note": event.note, "passages": len(event.passages),
        "iteration": event.iteration, "guideline_version": event.guideline_version,
        "topic_version": event.topic_version,
        "text": event.text, "document_sha256": event.document_sha256,
        "shown_at": None if event.shown_at is None else _moment(event.shown_at),
        "dwell_ms": event.dwell_ms, "active_ms": event.active_ms, "sitting": event.sitting,
        "host": event.host or None, "rested_on": _opinions(event),
    }  # fmt: skip


def _data(found: Chronicle) -> dict[str, Any]:
    """Return a history as JSON values."""
    events = []
    for event in found.events:
        marked = [
            {"start": one.start, "length": one.length, "text": one.text} for one in event.passages
        ]
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
    table = Table("events", FOR_PEOPLE, title=f"topic {found.topic}, document {found.docno}")
    for event in found.events:
        dwell = None if event.dwell_ms is None else event.dwell_ms / 1000
        table.rows.append({
            "at": f"{event.at:%Y-%m-%d %H:%M:%S}", "judge": event.judge, "kind": event.kind.value,
            "revision": event.revision, "action": _action(event),
            "stands": _stands(event, scale), "remark": _remark(event),
            "reason": _reason(event), "note": event.note or None,
            "passages": len(event.passages) or None, "rested_on": _opinions(event),
            "guideline_version": event.guideline_version,
            # Of a text that never changed there is nothing to say.
            "topic_version": event.topic_version if found.topic_version > 1 else None,
            "text": event.text, "dwell_s": dwell,
            "sitting": event.sitting, "host": event.host or None,
        })  # fmt: skip
    table.columns = without_empty(table.columns, table.rows)
    pools = ", ".join(_place(one.pool, one.round, one.withdrawn, one.sampled)
                      for one in found.places)  # fmt: skip
    lines = [f"pools: {pools}" if pools else "in no pool"]
    if not found.events:
        lines.append("no event: nobody has looked at it")
    else:
        lines.insert(0, f"{counted(len(found.events), 'event')}"
                     f" of {counted(len(found.standing), 'judge')}")  # fmt: skip
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


def _action(event: Happening) -> str:
    """Say what was done; and by whom, where it was not the judge."""
    if event.action.value == "settle":
        return "settled by merge"
    if event.action.value != "reopen":
        return event.action.value
    return f"reopened by organiser: {event.reason}" if event.reason else "reopened by organiser"


def _reason(event: Happening) -> str | None:
    """Return the judge's own reason."""
    return None if event.action.value == "reopen" else event.reason or None


def _stands(event: Happening, scale: Scale) -> str:
    """Say how the document stands after an event."""
    if event.grade is None:
        return event.state.value
    return f"{event.grade} ({scale.label(event.grade)})"


def _remark(event: Happening) -> str | None:
    """Say what an event took back, what it followed on another copy, or how copies were settled."""
    words = [] if event.undid is None else [f"takes back no. {event.undid}"]
    if event.settled is not None:
        words.append(f"copies settled: {_SETTLED.get(event.settled, f'by {event.settled}')}")
    elif event.follows is not None:
        last = f"no. {event.follows} as the last" if event.follows else "no event before it"
        words.append(f"done on a copy that had {last}")
    return ", ".join([*words, *(["taken back"] if event.is_undone else [])]) or None


def _opinions(event: Happening) -> str | None:
    """Write the verdicts that a ruling rested on."""
    if event.opinions is None:
        return None
    from store.verdicts import basis_of

    return basis_of(event.opinions)


def _place(pool: str, label: str, withdrawn: bool, sampled: bool) -> str:  # noqa: FBT001 - of one row
    """Name a pool, and in what way the document is in it."""
    words = [f"round {label}", *(["withdrawn"] if withdrawn else []),
             *([] if sampled else ["not to be judged"])]  # fmt: skip
    return f"{pool} ({', '.join(words)})"


def _moment(at: datetime) -> str:
    """Write a moment of UTC for programs, to the microsecond that orders events."""
    return at.isoformat(timespec="microseconds")
