"""Who changed what, and when; or of one document of a topic, why it has its grade."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.result import Message, Result, fields_of, frozen_settings
from pooler.tables import GRADE, JUDGE, Column, Kind, Table, View
from store.errors import ArgumentError
from store.event import EVENT
from store.judging.disagreements import basis_of
from store.judging.kinds import sorts_words
from store.text import counted

if TYPE_CHECKING:
    from store.history import DetailedEvent, DocumentEvents, Entry, Pooling
    from store.records import Scale

SHOWN = 50
"""Rows that people see unless they ask for more, the newest."""
COLUMNS = (
    Column("at", "instant"),
    *map(Column, ("what", "action", "judge", "kind", "topic", "docno", "name", "round")),
    Column("withdrawn", "bool"),
    Column("revision", "int"),
    Column("state_before"),
    Column("grade_before", "int"),
    Column("state"),
    GRADE,
    Column("undid", "int"),
    Column("at_desk", "bool"),
    *map(Column, ("reason", "note")),
    *(Column(name, "int") for name in ("guideline_version", "topic_version")),
    Column("title"),
    *(Column(name, "int") for name in ("judgements", "events")),
)
"""Of everything that happened: the fields of `store.history.Entry`."""
_ORDER = (
    "at judge kind revision action state grade undid is_undone reason note passages iteration "
    "guideline_version topic_version text document_sha256 shown_at dwell_ms active_ms sitting host "
    "rested_on"
)
_CALLED = {"judged_at": "at", "undoes": "undid"}
"""Fields of an event that have another name in a history."""
_LEFT_OUT = ("topic", "docno", "display_order", "order_seed", "position", "dropped_keys")
"""Named above the history, or of no interest in it."""
_KINDS: Mapping[str, Kind] = {"int": "int", "moment": "instant", "passages": "records"}
_TOLD: Mapping[str, Kind] = {
    _CALLED.get(one.name, one.name): _KINDS.get(one.kind.name, "text")
    for one in EVENT
    if one.name not in _LEFT_OUT
}
EVENT_COLUMNS = tuple(
    Column(name, "bool" if name == "is_undone" else _TOLD.get(name, "text"))
    for name in dict.fromkeys([*_ORDER.split(), *_TOLD])
)
"""Of the events on a document."""
_POOLS = (
    Column("pool"),
    Column("round"),
    Column("withdrawn", "bool"),
    Column("sampled", "bool", "to judge"),
    Column("position", "int", about="place in the order in which judges see the topic, from 0"),
)
_STATE_COLUMNS = (JUDGE, Column("kind"), Column("state"), GRADE)
_ABOUT = Column("about", show="if_any", most=40)
_ASIDE = ("note", "mark")
"""Actions that change no grade."""
_NO_TIME = "withdrawals have no time of their own"
_WHEN = "a date or date-time like 2026-03-02, 2026-03-02T09:30, 2026-03-02T09:30+01:00"
_DAY_WITH_ZONE = re.compile(r"^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:?\d{2})$")
_NOTHING = "nothing with a date has happened"
_ONE_OF = {"people": "person", "models": "model", "imported judges": "imported judge"}
_NO_GRADE = {
    "not-pooled": "it is in no pool and has no grade",
    "unjudged": "pooled, without a decision yet",
    "skipped": "skipped, without a decision",
    "cannot": "found impossible to judge, without a grade",
    "other-kinds": "only {others} graded it, and by default {kinds} alone count;"
    " `pooler qrels define` asks for others",
    "undecided": "judges gave different grades; `pooler qrels define` says what then",
    "left-out": "the qrels leave it out",
    "refused": "by their rule the qrels cannot be made; `pooler export qrels` says why",
    "ruled-cannot": "{by} ruled that it cannot be judged",
}


def _moment(name: str, value: datetime | str | None) -> datetime | None:
    """Read a moment; without a zone it is of UTC.

    >>> _moment("since", "2026-03-02").isoformat()
    '2026-03-02T00:00:00+00:00'
    >>> _moment("since", "2026-03-02+01:00").isoformat()
    '2026-03-01T23:00:00+00:00'
    """
    if value is None:
        return None
    try:
        moment = value
        if isinstance(moment, str):  # Python reads no zone behind a date alone
            moment = datetime.fromisoformat(_DAY_WITH_ZONE.sub(r"\1T00:00\2", moment.strip()))
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ArgumentError(name, f"must be {_WHEN}", value) from None


@command
def history(
    collection: Stored,
    topic: Annotated[str | None, Option("TOPIC", "Only this topic.")] = None,
    docno: Annotated[str | None, Option("DOCNO", "Only this document of the topic.")] = None,
    *,
    since: Annotated[datetime | str | None, Option("--since WHEN", read=_moment)] = None,
    until: Annotated[datetime | str | None, Option("--until WHEN", read=_moment)] = None,
    judges: Annotated[
        Sequence[str], Option("--judge NAME", default="everything, including what no judge did")
    ] = (),
    limit: Annotated[int | None, Option(least=1, hidden=True, for_people=SHOWN)] = None,
) -> History:
    """Show who changed what and when, or why a document has its grade.

    Without DOCNO: every event of every judge by time, newest last, with the state of the document for
    that judge before and after; and everything else that has a date. For a topic that means runs,
    pools, assignments and new versions of its text; for the collection also guidelines and judges:
    added, renamed (under the current name), erased (without a name). The withdrawal of a pool has no
    date.

    With DOCNO: what was done (by the judge, unless stated otherwise), the state of the document after
    it, what an undo took back, the versions of the guidelines and the topic's text at the time, whether
    the document's text has changed since, how long the document was on the screen, and for an
    adjudicator's ruling the judges' grades it rested on. Below: the final grade where there is only one
    candidate (a ruling, or the grade of the only judge) with the levels from which it is relevant, or
    why there is none; and the current state with each judge. json has the passages in full. Times are
    UTC. --limit takes the newest; without it people see the newest 50.

    Example: pooler history G01 KG-E-002

    Example: pooler history --since 2026-03-02 --judge alice

    since : Only what happened at or after this moment: 2026-03-02 (that day at 00:00), 2026-03-02T09:30,
        or with a time zone 2026-03-02T09:30+01:00; UTC otherwise.
    until : Only what happened before this moment; a date means that day at 00:00, so the day itself is
        left out.
    judges : Only what this judge did or what was done to this judge; may be repeated.

    Raises
    ------
    ArgumentError
        If a document has no topic, a text is no moment, or the end is not after the beginning.
    UnknownNameError
        If there is no such topic, document or judge.

    Notes
    -----
    One pass over the events: 0.1 s for 100,000. Of a document O(its events).
    """
    from store.history import HistoryFilter

    if docno is not None and topic is None:
        raise ArgumentError("docno", "needs a topic", None)
    begin, end = _moment("since", since), _moment("until", until)
    if begin is not None and end is not None and end <= begin:
        raise ArgumentError("until", f"must be later than --since {since}", until)
    asked = HistoryFilter(topic, tuple(dict.fromkeys(judges)), begin, end, limit)
    settings = frozen_settings(
        collection=collection.name,
        since=begin and begin.isoformat(),
        until=end and end.isoformat(),
        judges=asked.judges,
    )
    if topic is None or docno is None:
        every = collection.history.everything(asked)
        left_out = every.total - len(every.entries)
        return History(settings=settings, entries=every.entries, n_left_out=left_out)
    found = collection.history.of_document(topic, docno, asked)
    return DocumentHistory(
        settings=settings,
        entries=found.events,
        n_left_out=found.n_left_out,
        found=found,
        scale=collection.scale,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class History(Result):
    """Who changed what, by time: every event of every judge, and everything else that has a date."""

    entries: Sequence[Any]
    """The newest last: an `Entry` each; of a document a `DetailedEvent`."""
    n_left_out: int
    """Older ones that a limit left out."""

    def closing(self) -> Sequence[Message]:
        """Return how many older rows are not shown."""
        if not self.n_left_out:
            return ()
        older = counted(self.n_left_out, f"older {'event' if isinstance(self, DocumentHistory) else 'row'}")
        verb = "is" if self.n_left_out == 1 else "are"
        return [("say", f"{older} {verb} not shown: --limit shows more, --since and --until others")]

    def _tables(self) -> Iterator[Table]:
        entries = self.entries if self.settings["limit"] else self.entries[-SHOWN:]
        heading, times = _short_times([one.at for one in entries])
        words = ("judge", "topic", "docno", "action", "grade")
        columns = [Column("at", heading=heading), *(Column(one, show="if_any") for one in words), _ABOUT]
        rows = [{"at": at, **_words(one)} for at, one in zip(times, entries, strict=True)]
        total = self.n_left_out + len(self.entries)
        notes = [_size(len(rows), total, "row") if rows else _NOTHING]
        if any(one.withdrawn for one in entries):
            notes.append(_NO_TIME)
        newest = Table.of_rows("history", columns, rows, notes=notes)
        table = Table.of_records("history", COLUMNS, self.entries)
        yield table.seen_as(View(newest, limit=len(rows) or None))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DocumentHistory(History):
    """One document of one topic: every event, its pools, how it stands, and its final grade."""

    found: DocumentEvents
    scale: Scale

    def facts(self) -> Mapping[str, Any]:
        """Return how the document is known, and its final grade or why it has none."""
        found = self.found
        status = found.ruling_status
        return {
            "topic": found.topic,
            "docno": found.docno,
            "title": found.title or None,
            "document_sha256": found.sha256,
            "newest_guideline_version": found.newest_guideline,
            "newest_topic_version": found.topic_version,
            "pooled": found.is_pooled,
            "final": {**fields_of(found.final), "ruling_status": None if status is None else status.value},
        }

    def _tables(self) -> Iterator[Table]:
        events = Table.of_records(
            "events",
            EVENT_COLUMNS,
            self.entries,
            at=lambda event: event.judged_at,
            undid=lambda event: event.undoes,
            host=lambda event: event.host or None,
            rested_on=_opinions,
            passages=lambda event: [fields_of(one) for one in event.passages],
        )
        yield events.seen_as(self._told())
        yield Table.of_records("pools", _POOLS, self.found.places)
        yield Table.of_records("standing", _STATE_COLUMNS, self.found.newest_events)

    def _told(self) -> View:
        found = self.found
        heading, times = _short_times([event.judged_at for event in self.entries])
        notes = {(event.judge, event.revision): event.note for event in self.entries}
        columns = [
            Column("at", heading=heading),
            JUDGE,
            Column("revision", "int", "no."),
            Column("action"),
            Column("stands", heading="so it stands"),
            _ABOUT,
        ]
        rows = [
            {
                "at": at,
                "judge": event.judge,
                "revision": event.revision,
                "action": event.action.value,
                "stands": _stands(event, self.scale),
                "about": "; ".join(_about(event, found.topic_version, notes)) or None,
            }
            for at, event in zip(times, self.entries, strict=True)
        ]
        title = f"topic {found.topic}, document {found.docno}"
        table = Table.of_rows("events", columns, rows, title=title, notes=[*self._opinion_lines()])
        return View(table, limit=len(rows) or None)

    def _opinion_lines(self) -> Iterator[str]:
        found = self.found
        yield _final(found, self.scale)
        if found.total:
            now = (f"{one.judge} {_stands(one, self.scale)}" for one in found.newest_events)
            yield "it stands: " + "; ".join(now)
            size = _size(len(self.entries), found.total, "event")
            yield f"{size} of {counted(len(found.newest_events), 'judge')}"
        else:
            yield "no event"
        pools = ", ".join(map(_place, found.places))
        yield f"pools: {pools}" if pools else "in no pool"


def _size(shown: int, total: int, noun: str) -> str:
    return (f"{shown:,} of " if shown < total else "") + counted(total, noun)


def _short_times(moments: Sequence[datetime]) -> tuple[str, list[str]]:
    """Write moments of UTC to the second; return a heading with what they have in common, and them."""
    if len({moment.year for moment in moments}) == 1:
        return f"when, {moments[0].year} UTC", [f"{moment:%m-%d %H:%M:%S}" for moment in moments]
    return "when (UTC)", [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in moments]


def _words(one: Entry) -> dict[str, Any]:
    is_event = one.what in ("event", "ruling")
    grade = f"{one.state if one.grade is None else one.grade}"
    if one.state_before is not None and one.action not in _ASIDE:
        grade = f"{one.state_before if one.grade_before is None else one.grade_before} -> {grade}"
    return {
        "judge": one.judge,
        "topic": one.topic,
        "docno": one.docno,
        "action": "ruling" if one.what == "ruling" else one.action,
        "grade": grade if is_event else None,
        "about": "; ".join(_about_event(one) if is_event else _about_thing(one)) or None,
    }


def _about_event(one: Entry) -> list[str]:
    words = [] if one.undid is None else [f"takes back no. {one.undid}"]
    if one.action == "reopen":
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


def _final(found: DocumentEvents, scale: Scale) -> str:
    final = found.final
    graders = {one.kind: 1 for one in found.newest_events if one.state.value == "judged"}
    others = sorts_words({kind: 1 for kind in graders if kind not in {*found.voting_kinds, "adjudicator"}})
    kinds = sorts_words(dict.fromkeys(found.voting_kinds, 1))
    if final.grade is None:
        why = _NO_GRADE[final.reason or ""].format(by=final.by, others=others, kinds=kinds)
        return f"final grade: none; {why}"
    if final.how == "rule" and final.grade not in scale.values:
        return f"final grade: {final.grade}, by the rule of {final.by}"
    grade = f"final grade: {final.grade} ({scale.label(final.grade)})"
    levels = [(scale.relaxed, "" if scale.rigid is None else " (relaxed)")]
    levels += [] if scale.rigid is None else [(scale.rigid, " (rigid)")]
    at_levels = (f"from level {at}{name}: {'yes' if final.grade >= at else 'no'}" for at, name in levels)
    relevance = f"relevant {', '.join(at_levels)}"
    if not final.is_ruling and final.how != "only":
        who = {"rule": f"by the rule of {final.by}", "primary": f"of {final.by}, primary there"}
        return f"{grade}, {who.get(final.how, f'of {final.by}, who agree')}; {relevance}"
    if not final.is_ruling:
        only = f"the only {_ONE_OF[kinds]}" if others else "the only judge"
        beside = f" ({others} did, too, and count where they are asked for)" if others else ""
        return f"{grade}, of {final.by}, {only} to grade it{beside}; {relevance}"
    since = found.ruling_status
    words = "" if since is None or since.value == "settled" else f"; {since.value}"
    return f"{grade}, ruled by {final.by}{words}; {relevance}"


def _about(event: DetailedEvent, topic_version: int, notes: Mapping[tuple[str, int], str]) -> list[str]:
    words = [event.kind.value] if event.kind.value not in ("human", "imported") else []
    remarks = [] if event.undoes is None else [f"takes back no. {event.undoes}"]
    remarks += ["taken back"] if event.is_undone else []
    words += [", ".join(remarks)] if remarks else []
    if event.action.value == "reopen":
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


def _stands(event: DetailedEvent, scale: Scale) -> str:
    return event.state.value if event.grade is None else f"{event.grade} ({scale.label(event.grade)})"


def _opinions(event: DetailedEvent) -> str | None:
    return None if event.opinions is None else basis_of(event.opinions)


def _place(place: Pooling) -> str:
    words = [f"round {place.round}"]
    words += ["withdrawn"] if place.withdrawn else []
    words += [] if place.sampled else ["not to be judged"]
    return f"{place.pool} ({', '.join(words)})"
