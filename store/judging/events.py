"""Events appended and fetched, with their passages; the current state; what decided it, and what it cost.

The newest event need not be it: a note keeps the grade of an earlier event, and an undo brings one
back. What a decision rests on - the guidelines, the text, the time taken - stands with the event
that decided.

A document's active time is that of every time it was shown and something came of it, taken back or
not: the time was spent. A document looked at and left without an event has none. Its dwell is that
of the event that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Select, exists, func, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from store.db.columns import insert_new, raw_form
from store.db.digests import write_event_digests
from store.db.keys import Keys
from store.db.tables import DOCUMENT, DOCUMENT_METADATA, JUDGE, JUDGEMENT, PASSAGE, SITTING
from store.errors import ArgumentError, ConflictError, StoreError
from store.event import COLUMNS, EVENT, STATE_OF, JudgementEvent
from store.formats.markup import readable
from store.judging.disagreements import Ruling, seen_opinions
from store.judging.judges import fetch_judge_names, judge_id
from store.records import (
    DECIDED,
    Action,
    AsOf,
    Decision,
    ImportReport,
    JudgeKind,
    Judgement,
    Passage,
    Qrel,
    State,
    Task,
)
from store.text import Readable, natural_key

_BATCH = 5000
"""Rows that are written at once."""
KEY = ("topic_id", "document_id", "judge_id")
"""The columns of the row ids of what an event is of."""
_TOPICS = 50
"""Topics whose states are read at once."""
_STATE_COLUMNS = (
    *("topic_id", "judge_id", "revision"),
    *("state", "grade", "reason", "note", "iteration", "judged_at"),
)


def no_advance(_steps: int) -> None:
    """Take the number of steps done, and do nothing."""


@lru_cache(maxsize=32)  # to build it takes half a millisecond
def _of_newest(columns: tuple[str, ...], until: AsOf | None = None) -> Select[Any]:
    # Of a join with the highest revisions, PostgreSQL expects one row, and looks each up in all.
    later = JUDGEMENT.alias()
    same = (JUDGEMENT.c[name] == later.c[name] for name in KEY)
    is_later = select(later.c.id).where(*same, later.c.revision > JUDGEMENT.c.revision).correlate(JUDGEMENT)
    if until is not None:
        is_later = is_later.where(until.took(later))
    query = select(*(JUDGEMENT.c[name] for name in columns)).where(~is_later.exists())
    return query if until is None else query.where(until.took(JUDGEMENT))


def current_events(
    *columns: str,
    judges: Sequence[int] | None = None,
    topic: int | ColumnElement[int] | None = None,
    until: AsOf | None = None,
) -> Select[Any]:
    """Select columns, or all, of the newest event of every (topic, document, judge): the current state.

    `until`: the state of then.
    """
    query = _of_newest(columns or tuple(JUDGEMENT.c.keys()), until)
    if judges is not None:
        query = query.where(JUDGEMENT.c.judge_id.in_(list(judges)))
    return query if topic is None else query.where(JUDGEMENT.c.topic_id == topic)


def count_graded(session: Session, until: AsOf | None = None) -> dict[JudgeKind, int]:
    """Count the documents that judges of each kind graded.

    In SQL: a look at one document asks, too, and is not to wait for numpy.
    """
    graded = current_events(*KEY, until=until).where(JUDGEMENT.c.state == State.JUDGED.value).subquery()
    pairs = select(JUDGE.c.kind, graded.c.topic_id, graded.c.document_id)
    each = pairs.join(graded, graded.c.judge_id == JUDGE.c.id).distinct().subquery()
    query = select(each.c.kind, func.count()).group_by(each.c.kind)
    return {JudgeKind(kind): int(count) for kind, count in session.execute(query)}


def no_earlier() -> ColumnElement[datetime]:
    """Return the moment of an event, or of one before it by revision that a clock put later."""
    key = [JUDGEMENT.c[name] for name in KEY]
    return func.max(JUDGEMENT.c.judged_at).over(partition_by=key, order_by=JUDGEMENT.c.revision)


def fetch_current(session: Session, judge: int, *columns: str) -> dict[Pair, Row[Any]]:
    """Return the newest event of a judge by its document; of `columns` two are topic and document."""
    rows = session.execute(current_events(*columns, judges=[judge]))
    return {(row.topic_id, row.document_id): row for row in rows}


EventRecord = TypeVar("EventRecord", bound=JudgementEvent)
JudgementRecord = TypeVar("JudgementRecord", bound=Judgement)
_IDS = ("topic", "docno", "judge", "undoes", "sitting")
_EVENT_COLUMNS = tuple((name, column) for name, column in COLUMNS.items() if name not in _IDS)
"""Fields whose columns hold no id of another row."""
_LOADED = tuple((one.name, one.kind.load) for one in EVENT if one.kind.load is not None)


def event_of_row(row: Row[Any], record: type[EventRecord], **known: Any) -> EventRecord:
    """Turn an event row into an event, or into a record with more of it.

    `known`: names, revision and sitting number of `_IDS`, the passages, and what the record has besides.
    """
    values = row._mapping
    event = {name: values[column] for name, column in _EVENT_COLUMNS}
    for name, load in _LOADED:
        if event[name] is not None:
            event[name] = load(event[name])
    return record(**event, **known)


STORED = tuple(column for _, column in _EVENT_COLUMNS)
"""Columns of an event's row that hold no id of another row."""
_FORMS = tuple((name, raw_form(JUDGEMENT.c[column])) for name, column in _EVENT_COLUMNS)


def stored_values(event: JudgementEvent) -> list[Any]:
    """Return what an event's row holds in the columns `STORED`, as SQLite keeps it."""
    values = ((getattr(event, name), form) for name, form in _FORMS)
    return [None if value is None else form(value) for value, form in values]


def conflict() -> ConflictError:
    """Return the error that a judge's own state of a document changed elsewhere since it was shown."""
    message = "this document was judged under the same name somewhere else in between"
    return ConflictError(message, hint="the other judgement stands; look at it again")


def append_event(session: Session, values: dict[str, Any]) -> Row[Any]:
    """Append one event and return its row; raise `conflict` if its revision is there already."""
    try:
        return session.execute(_INSERT, values).one()
    except IntegrityError as error:
        if "unique" in str(error.orig).lower():
            raise conflict() from error
        raise StoreError("the judgement refers to something that is no longer in the collection") from error


# Of a decision; built once, for that takes longer than to execute it, and the judge waits.
_INSERT = insert(JUDGEMENT).returning(*JUDGEMENT.columns)

_COMPARED = ("topic_id", "document_id", "revision", "state", "grade", "note", "iteration")


def import_judgements(
    session: Session,
    topics: Keys,
    documents: Keys,
    judge: str,
    qrels: Sequence[Qrel],
    *,
    replace: bool = False,
    advance: Callable[[int], None] = no_advance,
) -> ImportReport:
    """Append a judge's judgements from a file: grades of the declared scale, each (topic, docno) once.

    A grade that differs from the stored one becomes a new revision with `replace`, else a `ConflictError`.
    """
    number = judge_id(session, judge)
    topics.add(session, (qrel.topic for qrel in qrels))
    documents.add(session, (qrel.docno for qrel in qrels))
    current = fetch_current(session, number, *_COMPARED)
    now = datetime.now(UTC)
    unchanged = replaced = 0
    rows: list[tuple[Any, ...]] = []
    differing: list[str] = []
    for qrel in qrels:
        pair = (topics.ids[qrel.topic], documents.ids[qrel.docno])
        old = current.get(pair)
        if old is not None:
            if (old.grade, old.iteration) == (qrel.grade, qrel.iteration):
                unchanged += 1
                continue
            replaced += 1
            was = old.state if old.grade is None else old.grade
            differing.append(f"{qrel.topic} {qrel.docno}: {was} -> {qrel.grade}")
        revision, note = (1, "") if old is None else (old.revision + 1, old.note)
        values = (Action.JUDGE.value, State.JUDGED.value, qrel.grade, b"", _NOTE(note), qrel.iteration)
        rows.append((*pair, number, revision, *values))
    if not replace:
        refuse_differing(judge, differing)
    advance(unchanged)
    rows.sort()  # so that each index is filled from left to right
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        with importing(f"`{judge}`"):
            append_states(session, batch, now)
        advance(len(batch))
    added = len(rows) - replaced
    return ImportReport(added=added, unchanged=unchanged, replaced=replaced)


_STATE = ("revision", "action", "state", "grade", "reason", "note", "iteration", "judged_at", "dropped_keys")
_NOTE, _MOMENT = raw_form(JUDGEMENT.c.note), raw_form(JUDGEMENT.c.judged_at)


def refuse_differing(judge: str, differing: Sequence[str]) -> None:
    """Raise `ConflictError` where judgements from elsewhere differ from those that are there."""
    if differing:
        some = "; ".join(differing[:3]) + ("; ..." if len(differing) > 3 else "")
        message = f"{len(differing):,} judgements of `{judge}` are there otherwise: {some}"
        raise ConflictError(message, hint="--replace appends the new ones as revisions")


def append_states(session: Session, rows: Iterable[tuple[Any, ...]], now: datetime) -> None:
    """Append events that were not made at a desk; a row has the ids of `KEY`, and revision to iteration."""
    at = _MOMENT(now)
    highest = session.scalar(select(func.max(JUDGEMENT.c.id))) or 0
    insert_new(session, JUDGEMENT, (*KEY, *_STATE), ((*row, at, 0) for row in rows))
    write_event_digests(session, where=f"judgement.id > {highest:d} AND digest IS NULL")


@contextmanager
def importing(who: str) -> Iterator[None]:
    """Word that a judge decided on one of the same documents during an import."""
    try:
        yield
    except IntegrityError as error:
        message = f"{who} judged one of these documents during the import"
        raise ConflictError(message, hint="nothing was imported; try again") from error


def count_events(session: Session, judges: Sequence[str] | None = None, *, first: bool = False) -> int:
    """Count the events there are, taken back or not: of some judges, by name, or of all.

    `first`: those alone that are a judge's first on a document, as many as there are current states.
    """
    query = select(func.count(JUDGEMENT.c.id))
    if first:
        query = query.where(JUDGEMENT.c.revision == 1)
    if judges is not None:
        query = query.join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id).where(JUDGE.c.name.in_(judges))
    return session.scalar(query) or 0


def fetch_judgements(
    session: Session, topics: Keys, *, judges: Sequence[str] | None = None
) -> Iterator[Judgement]:
    """Yield the current state of every (topic, document, judge) that has an event, some topics at a time.

    Topics come in natural order, docnos and judges bytewise.
    """
    names = fetch_judge_names(session)
    numbers = None if judges is None else [judge_id(session, name) for name in judges]
    wanted = [JUDGEMENT.c[name] for name in _STATE_COLUMNS]
    query = select(*wanted, DOCUMENT.c.docno).join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
    if numbers is not None:
        query = query.where(JUDGEMENT.c.judge_id.in_(numbers))
    ordered = sorted(topics.ids, key=natural_key)
    for start in range(0, len(ordered), _TOPICS):
        place_of = {topics.ids[name]: place for place, name in enumerate(ordered[start : start + _TOPICS])}
        rows = session.execute(query.where(JUDGEMENT.c.topic_id.in_(place_of)).order_by(JUDGEMENT.c.revision))
        newest = {(place_of[row.topic_id], row.docno, names[row.judge_id]): row for row in rows}
        for (place, docno, judge), row in sorted(newest.items(), key=itemgetter(0)):
            yield as_record(row, Judgement, topic=ordered[start + place], docno=docno, judge=judge)


def as_record(row: Any, record: type[JudgementRecord], **known: Any) -> JudgementRecord:
    """Turn an event row into a `Judgement`, or a record with more; `known`: names, and what is more."""
    return record(
        state=State(row.state),
        grade=row.grade,
        revision=row.revision,
        reason=row.reason,
        note=row.note,
        iteration=row.iteration,
        judged_at=row.judged_at,
        **known,
    )


_COLUMNS = [column for column in JUDGEMENT.columns if column.name not in ("note", "reason", "iteration")]
DECIDES = (Action.JUDGE, Action.SKIP, Action.CANNOT)

Pair = tuple[int, int]
"""Row ids of a topic and a document."""


def deciding_events(events: Sequence[Row[Any]]) -> list[Row[Any] | None]:
    """Return for each event of a judge and document, by revision, the one that decided the state after it.

    ``None`` = no decision stands, or one that is missing, as earlier events may be.
    """
    by_revision: dict[int, Row[Any] | None] = {}
    by_id = {event.id: event for event in events}
    decided: list[Row[Any] | None] = []
    for event in events:
        if event.action in DECIDES:
            decider: Row[Any] | None = event
        elif event.action == Action.REOPEN:
            decider = None
        elif event.action == Action.UNDO:
            undone = by_id.get(event.undoes)
            decider = None if undone is None else by_revision.get(undone.revision - 1)
        else:
            decider = by_revision.get(event.revision - 1)
        by_revision[event.revision] = decider
        decided.append(decider)
    return decided


def ruling_of(judge: int, events: Sequence[Row[Any]]) -> Ruling | None:
    """Return the ruling that stands after all events of an adjudicator on a document, by revision."""
    decider = deciding_events(events)[-1]
    if decider is None or decider.state not in DECIDED:
        return None
    basis, kinds = seen_opinions(decider.display_order)
    at = max(event.judged_at for event in events if event.revision <= decider.revision)
    return Ruling(judge, decider.grade, decider.id, basis, at, kinds)


def fetch_histories(session: Session, *, judge: int, limit: int | None = None) -> dict[Pair, list[Row[Any]]]:
    """Return every event of a judge by document, by rising revision; without their texts.

    `limit`: the last so many that were made at a desk.
    """
    query = select(*_COLUMNS).where(JUDGEMENT.c.judge_id == judge)
    if limit is None:
        rows: Iterable[Row[Any]] = session.execute(query.order_by(JUDGEMENT.c.revision))
    else:
        query = query.where(at_desk()).order_by(JUDGEMENT.c.id.desc()).limit(limit)
        rows = reversed(session.execute(query).all())
    histories: dict[Pair, list[Row[Any]]] = {}
    for row in rows:
        histories.setdefault((row.topic_id, row.document_id), []).append(row)
    return histories


def at_desk() -> ColumnElement[bool]:
    """Return the SQL condition that an event was made at a desk, or ends what was: no import."""
    return or_(JUDGEMENT.c.sitting_id.is_not(None), JUDGEMENT.c.action == Action.REOPEN.value)


def sat_down(session: Session) -> set[int]:
    """Return the row ids of the judges who have an event made at a desk."""
    # Sittings are few, and each has its judge's events alone: the events would all be looked at.
    has_event = exists().where(JUDGEMENT.c.sitting_id == SITTING.c.id)
    return set(session.scalars(select(SITTING.c.judge_id).where(has_event).distinct()))


def state_after(decision: Decision, old: Row[Any] | JudgementEvent | None) -> tuple[str, int | None, str]:
    """Return state, grade and reason after a decision."""
    if state := STATE_OF.get(decision.action):
        grade = decision.grade if state is State.JUDGED else None
        return state.value, grade, decision.reason if state is State.CANNOT else ""
    if decision.action in (Action.NOTE, Action.MARK):
        return (old.state, old.grade, old.reason) if old else (State.UNJUDGED.value, None, "")
    raise StoreError(f"`{decision.action}` is not a decision")


def is_same_decision(decision: Decision, event: Row[Any], passages: tuple[Passage, ...]) -> bool:
    """Return whether an event, with its passages, is what a decision would make."""
    return (
        event.action == decision.action.value
        and decision.passages in (None, passages)
        and (event.state, event.grade, event.reason) == state_after(decision, event)
        and decision.note in (None, event.note)
        and decision.shown_at == event.shown_at
    )


def as_task(docno: str, event: Row[Any] | None, passages: tuple[Passage, ...] = ()) -> Task:
    """Return how a document stands after an event; its passages as a screen has them."""
    if event is None:
        return Task(docno, State.UNJUDGED, None, "", "", 0)
    return Task(
        docno,
        State(event.state),
        event.grade,
        event.note,
        event.reason,
        event.revision,
        passages,
        event.dwell_ms,
        event.judged_at,
    )


def fetch_passages(session: Session, events: Sequence[int]) -> dict[int, tuple[Passage, ...]]:
    """Return the passages of events that have any, as offsets into the raw text, ascending."""
    found: dict[int, list[Passage]] = {}
    for first in range(0, len(events), 1000):
        batch = list(events[first : first + 1000])
        query = select(PASSAGE).where(PASSAGE.c.judgement_id.in_(batch))
        for row in session.execute(query):
            passage = Passage(row.start, row.length, row.text)
            found.setdefault(row.judgement_id, []).append(passage)
    return {event: tuple(sorted(passages)) for event, passages in found.items()}


def fetch_shown_passages(session: Session, events: Mapping[int, int]) -> dict[int, tuple[Passage, ...]]:
    """Return the passages of events, by event, as parts of the texts as read; `events` have their documents.

    Passages whose text is no longer in its place - the document was replaced - are left out.
    """
    raw = fetch_passages(session, list(events))
    texts = fetch_readable(session, {events[event] for event in raw})
    return {event: as_shown(some, texts[events[event]]) for event, some in raw.items()}


def fetch_readable(session: Session, documents: Collection[int]) -> dict[int, Readable]:
    """Return what is read of the texts of documents, by row id."""
    query = (
        select(DOCUMENT.c.id, DOCUMENT.c.text, DOCUMENT_METADATA.c.markup)
        .outerjoin(DOCUMENT_METADATA, DOCUMENT_METADATA.c.document_id == DOCUMENT.c.id)
        .where(DOCUMENT.c.id.in_(documents))
    )
    rows = session.execute(query) if documents else ()
    return {row.id: readable(row.text or "", row.markup) for row in rows}


def add_passages(session: Session, event: int, passages: Iterable[Passage]) -> None:
    """Store the passages of an event, as offsets into the raw text, and its digest: the event is whole."""
    rows = [
        {"judgement_id": event, "start": one.start, "length": one.length, "text": one.text}
        for one in passages
    ]
    if rows:
        session.connection().execute(insert(PASSAGE), rows)
    write_event_digests(session, where=f"judgement.id = {event:d}")


def as_raw(passages: Iterable[Passage], text: Readable) -> tuple[Passage, ...]:
    """Turn passages of a text as it is read into those of the raw one; `ArgumentError`: one is not there."""
    found = []
    for one in sorted(set(passages)):
        is_there = text.text[one.start : one.end] == one.text and len(one.text) == one.length
        if one.length < 1 or one.start < 0 or not is_there:
            raise ArgumentError("passage", "must be a part of the document", one)
        start, end = text.raw_span(one.start, one.end)
        found.append(Passage(start, end - start, text.raw[start:end]))
    return tuple(found)


def as_shown(passages: Iterable[Passage], text: Readable) -> tuple[Passage, ...]:
    """Turn passages of a raw text into those of the text as it is read, but for those that are not there."""
    shown = []
    for one in passages:
        span = text.span(one.start, one.end) if text.raw[one.start : one.end] == one.text else None
        if span is not None:
            shown.append(Passage(span[0], span[1] - span[0], text.text[slice(*span)]))
    return tuple(shown)


_EVENTS_A_DECISION = 5
"""Events read for each decision that is asked for: notes, undone grades, skipped documents."""


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """Times of a document that a judge graded, or found impossible to judge, at a desk."""

    dwell_ms: int | None
    """How long it had been on the screen when it was decided; ``None`` = not known."""
    active_ms: int | None
    """Over every time it was shown since it was last reopened; ``None`` = not known."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What judging cost one judge."""

    judge: str
    kind: JudgeKind
    sittings: int
    """Those in which anything was done."""
    active_ms: int | None
    """Over all events, those taken back too; ``None`` = none was timed."""
    dropped_keys: int
    """Grade keys that came sooner than the minimum dwell."""
    undone: int
    """Events taken back."""
    elsewhere: int
    """Documents with a grade that was imported: when and how fast it was given is not known."""
    documents: tuple[DecidedDocument, ...]
    """Decided at a desk, in the order in which each was first graded or found impossible."""


def fetch_effort(session: Session) -> list[Effort]:
    """Return what judging cost, for every judge with an event, by name."""
    sat = sat_down(session)
    is_imported = (JUDGEMENT.c.sitting_id.is_(None), JUDGEMENT.c.state == State.JUDGED.value)
    newest = current_events("judge_id").where(*is_imported).subquery()
    counted = select(newest.c.judge_id, func.count()).group_by(newest.c.judge_id)
    imported: dict[int, int] = dict(map(tuple, session.execute(counted)))
    query = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind).order_by(JUDGE.c.name)
    return [
        _effort(session, row)
        if row.id in sat
        else Effort(row.name, JudgeKind(row.kind), 0, None, 0, 0, imported[row.id], ())
        for row in session.execute(query).all()
        if row.id in sat or row.id in imported
    ]


def recent_active_ms(session: Session, *, judge: int, limit: int) -> list[int]:
    """Return the active times of a judge's latest decisions, in milliseconds, the newest last.

    The time of every showing of a document, so that a grade corrected later costs what it cost; anew for one
    that was reopened. Decisions without a time are left out.
    """
    histories = fetch_histories(session, judge=judge, limit=limit * _EVENTS_A_DECISION)
    decisions = []
    for events in histories.values():
        for part in _parts(events):
            decider = deciding_events(part)[-1]
            spent = _active_ms(part)
            if decider is not None and decider.state in DECIDED and spent is not None:
                decisions.append((decider.id, spent))
    return [spent for _, spent in sorted(decisions)][-limit:]


def _effort(session: Session, judge: Row[Any]) -> Effort:
    histories = fetch_histories(session, judge=judge.id)
    found = []
    elsewhere = 0
    for history in histories.values():
        part = _parts(history)[-1]
        deciders = deciding_events(part)
        last = deciders[-1]
        if last is None or last.state not in DECIDED:
            continue
        if last.sitting_id is None:
            elsewhere += 1
            continue
        first = next(one for one in deciders if one is not None and one.state in DECIDED)
        found.append((first.id, DecidedDocument(last.dwell_ms, _active_ms(part))))
    found.sort(key=itemgetter(0))
    events = [event for history in histories.values() for event in history]
    times = [spent for history in histories.values() if (spent := _active_ms(history)) is not None]
    return Effort(
        judge=judge.name,
        kind=JudgeKind(judge.kind),
        sittings=len({event.sitting_id for event in events} - {None}),
        active_ms=sum(times) if times else None,
        dropped_keys=sum(event.dropped_keys for event in events),
        undone=sum(event.action == Action.UNDO for event in events),
        elsewhere=elsewhere,
        documents=tuple(one for _, one in found),
    )


def _parts(events: list[Row[Any]]) -> list[list[Row[Any]]]:
    """Split the events of a document where it was reopened: there the judge began anew."""
    parts: list[list[Row[Any]]] = [[]]
    for event in events:
        if event.action == Action.REOPEN and parts[-1]:
            parts.append([])
        parts[-1].append(event)
    return parts


def _active_ms(events: Iterable[Row[Any]]) -> int | None:
    """Add up the active time of every showing; ``None`` = none was timed.

    Several events of one showing - a note, then a grade - each have the time since its beginning.
    """
    showings: dict[object, int] = {}
    for event in events:
        if event.active_ms is not None:
            key = event.shown_at or event.id
            showings[key] = max(showings.get(key, 0), event.active_ms)
    return sum(showings.values()) if showings else None
