"""The documents of one judge, and what that judge may see and do.

It has no method for runs, ranks, scores, pools' manifests, or other judges; its queries name none
of them. What it returns for display is sanitised.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, FromClause, Row, Select, and_, bindparam, case, func, select
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlmodel import Session

from store.analysis.pools.pace import RECENT_DECISIONS
from store.content.lookup import is_pooled, row_named, same_pair, to_judge, topic_id
from store.content.pools import draws_left
from store.content.topics import newest_guideline
from store.db.engine import JUDGE_PATIENCE_MS, database_now, reading, writing
from store.db.tables import (
    ASSIGNMENT,
    DOCUMENT,
    DOCUMENT_METADATA,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    POOL,
    POOL_ENTRY,
    SITTING,
    TOPIC,
)
from store.errors import ConflictError, StoreError, UnknownNameError
from store.event import SHOWN
from store.formats.markup import MOST_CHARACTERS, readable
from store.judging.assignments import assigned_documents, claim, claimable, has_assignments, hold, release
from store.judging.events import (
    KEY,
    add_passages,
    append_event,
    as_raw,
    as_task,
    conflict,
    current_events,
    fetch_passages,
    fetch_readable,
    fetch_shown_passages,
    is_same_decision,
    recent_active_ms,
    state_after,
)
from store.judging.judges import beat, close_sitting, judge_named, live_sittings, open_sitting
from store.records import (
    DECIDED,
    Action,
    Decision,
    Guideline,
    InboxLine,
    LiveSitting,
    Passage,
    Scale,
    SeenEvent,
    ShownDocument,
    State,
    Task,
    Topic,
    Undone,
)
from store.text import Readable, natural_key, sanitise, sanitise_line


def gone_message(judge: str) -> str:
    """Word the refusal of a judge who is no longer there."""
    return f"judge `{judge}` is no longer in the collection"


def disabled_message(judge: str) -> str:
    """Word the refusal of a judge who is disabled."""
    return f"judge `{judge}` is disabled"


@dataclass(frozen=True, slots=True)
class Queued:
    """One document of a queue."""

    document: int
    """Row id."""
    docno: str
    display_order: str | None
    round: str
    order_seed: int | None = None


_NOT_QUEUED = Queued(0, "", None, "0")


def fetch_pooled(session: Session, topic: int) -> dict[int, Queued]:
    """Return the documents of a topic that pools hold, by row id."""
    query = (
        to_judge(DOCUMENT.c.id, DOCUMENT.c.docno, POOL.c.display_order, POOL.c.round)
        .join(DOCUMENT, DOCUMENT.c.id == POOL_ENTRY.c.document_id)
        .where(POOL_ENTRY.c.topic_id == topic)
        .order_by(POOL.c.id, POOL_ENTRY.c.position)
    )
    pooled: dict[int, Queued] = {}
    for row in session.execute(query):
        pooled.setdefault(row.id, Queued(*row))
    return pooled


def fetch_queue(session: Session, judge: int, topic: int) -> list[Queued]:
    """Return a judge's documents of a topic in display order: what is assigned, or else every pool."""
    pooled = fetch_pooled(session, topic)
    if not has_assignments(session):
        return list(pooled.values())
    return [
        replace(pooled[document], display_order=place.display_order, order_seed=place.order_seed)
        for document, place in assigned_documents(session, judge, topic).items()
        if document in pooled
    ]


def count_queues(session: Session, judge: int) -> dict[int, int]:
    """Count the documents of every queue of a judge, by topic; topics without any are left out.

    In SQL, like everything before the first screen: loading numpy would keep the judge waiting.
    """
    if has_assignments(session):
        held = select(ASSIGNMENT.c.topic_id, func.count()).where(ASSIGNMENT.c.judge_id == judge)
        query = held.where(is_pooled(ASSIGNMENT)).group_by(ASSIGNMENT.c.topic_id)
    else:
        # A document of several pools counts once.
        pooled = to_judge(POOL_ENTRY.c.topic_id, func.count(POOL_ENTRY.c.document_id.distinct()))
        query = pooled.group_by(POOL_ENTRY.c.topic_id)
    return {topic: int(count) for topic, count in session.execute(query)}


def count_undrawn(session: Session) -> dict[int, int]:
    """Count, by topic, the documents that adaptive pools may still draw: none once any is assigned."""
    if has_assignments(session):
        return {}
    one = draws_left().subquery()
    query = select(one.c.topic_id, func.sum(one.c.left)).group_by(one.c.topic_id)
    return {topic: int(count) for topic, count in session.execute(query)}


def inbox_line(topic: str, title: str, n_documents: int, events: Sequence[tuple[str, datetime]]) -> InboxLine:
    """Return how a topic stands with a judge, by the state and the moment of each newest event."""
    states = [state for state, _ in events]
    return InboxLine(
        topic,
        sanitise_line(title),
        n_documents,
        states.count(State.JUDGED),
        states.count(State.SKIPPED),
        states.count(State.CANNOT),
        max((at for _, at in events), default=None),
    )


CLAIMED_AT_ONCE = 3
"""Documents claimed together: the next one can be read ahead, and few wait for one judge."""


SAMPLED_TEXTS = 40
SAMPLED_BYTES = 3000
SAMPLED_MARKED_BYTES = 12_000
"""How much of a topic's texts is read to find common words; more where they have markup."""


# Queries made for every document, built once: building takes longer than executing, and the judge waits.
_PAGE = (
    select(
        *(DOCUMENT.c[name] for name in ("title", "text", "sha256")),
        DOCUMENT_METADATA.c.markup,
        DOCUMENT_METADATA.c.fields,
    )
    .outerjoin(DOCUMENT_METADATA, DOCUMENT_METADATA.c.document_id == DOCUMENT.c.id)
    .where(DOCUMENT.c.docno == bindparam("docno"))
)
_NEWEST_EVENT = (
    select(JUDGEMENT)
    .where(*(JUDGEMENT.c[name] == bindparam(name) for name in KEY))
    .order_by(JUDGEMENT.c.revision.desc())
    .limit(1)
)
_FACTS = select(
    DOCUMENT.c.sha256,
    select(JUDGE.c.disabled).where(JUDGE.c.id == bindparam("judge_id")).label("disabled"),
    select(func.max(GUIDELINE.c.version)).label("guidelines"),
    select(TOPIC.c.version).where(TOPIC.c.id == bindparam("topic_id")).label("topic"),
).where(DOCUMENT.c.id == bindparam("document_id"))


_RECORDED = (Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE, Action.MARK)
"""Actions that `record` takes; undoing has a method of its own, and organisers reopen elsewhere."""


class Desk:
    """One judge's work on one collection, in one sitting. `StoreError`: the judge is disabled."""

    patience_ms: int | None = JUDGE_PATIENCE_MS
    """How long a writer is waited for once the judge is at work; ``None`` = as long as commands do."""

    def __init__(
        self, engine: Engine, judge: str, scale: Scale, *, program: str = "", fields: tuple[str, ...] = ()
    ) -> None:
        self._engine = engine
        self._program = program
        self._fields = fields
        """Of documents: what is shown above the text, in this order."""
        self._sitting: int | None = None
        self._has_begun = False
        """Whether a document was shown."""
        self._topic_ids: dict[str, int] = {}
        self._document_ids: dict[str, int] = {}
        self._orders: dict[tuple[int, int], Queued] = {}
        self._undoing: int | None = None
        """An event whose undo was sent, without a confirmation yet."""
        self._topic_versions: dict[int, int | None] = {}
        """Version of a topic's text that the judge was last shown, by row id."""
        self._guideline: int | None = None
        """Version of the guidelines that the judge was last shown or offered; 0 = there were
        none, ``None`` = none were asked for."""
        self.judge = judge
        self.scale = scale
        with reading(engine) as session:
            row = judge_named(session, judge, "id", "disabled")
        if row.disabled:
            raise StoreError(disabled_message(judge), hint=f"pooler judges enable {judge}")
        self._judge_id = row.id

    @property
    def judge_name(self) -> str:
        """The judge's name, fit for a terminal."""
        return sanitise_line(self.judge)

    def topic(self, topic: str) -> Topic:
        """Return a topic, fit for a terminal but for its id; decisions are made by this text from now on."""
        with reading(self._engine) as session:
            row = row_named(session, "topic", TOPIC.c.number, topic)
        self._topic_versions[row.id] = row.version
        return Topic(row.number, sanitise_line(row.title), sanitise(row.description), sanitise(row.narrative))

    def page(self, docno: str) -> ShownDocument:
        """Return a document, fit for a terminal but for its id."""
        self._has_begun = True
        with reading(self._engine) as session:
            row = session.execute(_PAGE, {"docno": docno}).first()
        if row is None:
            return ShownDocument(docno, "", None)
        values = json.loads(row.fields or "{}") if self._fields else {}
        fields = [(sanitise_line(name), sanitise_line(values.get(name, ""))) for name in self._fields]
        text = found = None
        if row.text is not None:
            found = readable(row.text, row.markup) if row.markup in MOST_CHARACTERS else None
            text = sanitise(row.text) if found is None else found.text
        shown = tuple((name, value) for name, value in fields if value.strip())
        return ShownDocument(docno, sanitise_line(row.title or ""), text, row.sha256, shown, found)

    def events(self) -> list[SeenEvent]:
        """Return what was done in this sitting, the newest first."""
        if self._sitting is None:
            return []
        return self._events(JUDGEMENT.c.sitting_id == self._sitting)

    def events_of(self, topic: str, docno: str) -> list[SeenEvent]:
        """Return everything the judge ever did to a document, the newest first."""
        return self._events(and_(TOPIC.c.number == topic, DOCUMENT.c.docno == docno))

    def recent_active_ms(self) -> list[int]:
        """Return the active times of the judge's latest decisions, the newest last."""
        with reading(self._engine) as session:
            return recent_active_ms(session, judge=self._judge_id, limit=RECENT_DECISIONS)

    def shown_versions(self) -> tuple[int | None, dict[str, int]]:
        """Return the versions that were shown last: of the guidelines, and of the topics' texts by id."""
        topics = {name: self._topic_versions.get(row) for name, row in self._topic_ids.items()}
        return self._guideline or None, {name: one for name, one in topics.items() if one is not None}

    def guidelines(self) -> Guideline | None:
        """Return the newest guidelines, fit for a terminal; ``None`` = there are none."""
        with reading(self._engine) as session:
            newest = newest_guideline(session)
        self._guideline = 0 if newest is None else newest.version
        return None if newest is None else replace(newest, text=sanitise(newest.text))

    def topic_version(self, topic: str) -> int | None:
        """Return the version of a topic's text that was shown last; ``None`` = none was."""
        return self._topic_versions.get(self._topic_ids.get(topic, 0))

    def note_shown(self, topic: str, *, version: int | None, guidelines: int | None) -> None:
        """Note the versions that a page says its judge decides by; none later than the newest is taken."""
        with reading(self._engine) as session:
            topic_id = self._topic_id(session, topic)
            newest = session.scalar(select(TOPIC.c.version).where(TOPIC.c.id == topic_id))
            newest_guideline = session.scalar(select(func.max(GUIDELINE.c.version))) or 0
        if version is not None and newest is not None:
            self._topic_versions[topic_id] = min(version, newest)
        self._guideline = min(guidelines or 0, newest_guideline)

    def has_seen_guidelines(self, topic: str) -> bool:
        """Return whether the judge decided in a topic under the newest guidelines, set from now on."""
        with reading(self._engine) as session:
            query = select(func.max(JUDGEMENT.c.guideline_version), func.count()).where(
                JUDGEMENT.c.judge_id == self._judge_id,
                JUDGEMENT.c.topic_id == self._topic_id(session, topic),
                JUDGEMENT.c.sitting_id.is_not(None),
            )
            version, count = session.execute(query).one()
            newest = session.scalar(select(func.max(GUIDELINE.c.version)))
        self._guideline = newest or 0
        return bool(count) and (version or 0) >= (newest or 0)

    def beat(self, topic: str) -> None:
        """Renew the sign of life: the judge is at work on a topic."""
        self._sit()
        with self._writing() as session:
            if self._sitting is not None:
                beat(session, self._sitting, topic=self._topic_id(session, topic))

    def sit_at(self, window: str) -> None:
        """Resume the sitting of a page's window, as after a reload, or begin it."""
        goes_on = and_(SITTING.c.window == window, SITTING.c.ended_at.is_(None))
        with reading(self._engine) as session:
            own = select(SITTING.c.id).where(SITTING.c.judge_id == self._judge_id, goes_on)
            self._sitting = session.scalar(own)
        if self._sitting is None:
            with self._writing(is_start=True) as session:
                begun = open_sitting(session, self._judge_id, program=self._program, window=window)
            self._sitting = begun

    def has_in_queue(self, topic: str, docno: str) -> bool:
        """Return whether a document of a topic is, or was in this sitting, in the judge's queue."""
        if (self._topic_ids.get(topic), self._document_ids.get(docno)) not in self._orders:
            self.queue(topic)
        return (self._topic_ids.get(topic), self._document_ids.get(docno)) in self._orders

    def live_elsewhere(self) -> list[LiveSitting]:
        """Return other sittings of the same judge that are alive."""
        with reading(self._engine) as session:
            return live_sittings(session, self._judge_id, but=self._sitting)

    def inbox(self) -> list[InboxLine]:
        """Return the judge's topics in natural order, those without a document left out."""
        with reading(self._engine) as session:
            n_queued = Counter(self._to_come(session))
            n_queued.update(count_queues(session, self._judge_id))
            mine = current_events("topic_id", "state", "judged_at", judges=[self._judge_id])
            mine = mine.where(is_pooled(JUDGEMENT))
            if has_assignments(session):
                mine = mine.where(self._is_held(JUDGEMENT))
            events: dict[int, list[tuple[str, datetime]]] = {}
            for event in session.execute(mine):
                events.setdefault(event.topic_id, []).append((event.state, event.judged_at))
            lines = [
                inbox_line(row.number, row.title, n_queued[row.id], events.get(row.id, []))
                for row in session.execute(select(TOPIC.c.id, TOPIC.c.number, TOPIC.c.title))
                if n_queued[row.id]
            ]
        return sorted(lines, key=lambda line: natural_key(line.topic))

    def is_idle(self) -> bool:
        """Return whether the judge has no document, decided or not, and none may come."""
        with reading(self._engine) as session:
            queued = to_judge(POOL_ENTRY.c.document_id).limit(1)
            if has_assignments(session):
                queued = queued.where(self._is_held(POOL_ENTRY))
            return session.scalar(queued) is None and not self._to_come(session)

    def queue(self, topic: str) -> list[Task]:
        """Return the judge's documents of a topic in display order, each as it stands."""
        with reading(self._engine) as session:
            topic_id = self._topic_id(session, topic)
            current = {
                event.document_id: event
                for event in session.execute(current_events(judges=[self._judge_id], topic=topic_id))
            }
            events = {event.id: document for document, event in current.items()}
            passages = fetch_shown_passages(session, events)
            tasks = []
            for one in self._queue(session, topic_id):
                self._document_ids[one.docno] = one.document
                self._orders[topic_id, one.document] = one
                event = current.get(one.document)
                shown = () if event is None else passages.get(event.id, ())
                tasks.append(as_task(one.docno, event, shown))
        return tasks

    def titles(self, topic: str) -> dict[str, str]:
        """Return the titles of the judge's documents of a topic, fit for a terminal, by docno."""
        with reading(self._engine) as session:
            topic_id = self._topic_id(session, topic)
            mine = {one.docno for one in self._queue(session, topic_id)}
            query = to_judge(DOCUMENT.c.docno, DOCUMENT.c.title).join(
                DOCUMENT, DOCUMENT.c.id == POOL_ENTRY.c.document_id
            )
            rows = session.execute(query.where(POOL_ENTRY.c.topic_id == topic_id))
            return {docno: sanitise_line(title or "") for docno, title in rows if docno in mine}

    def sample_texts(self, topic: str) -> list[str]:
        """Return the beginnings of some texts of the judge's documents of a topic, evenly spread."""
        with reading(self._engine) as session:
            queue = self._queue(session, self._topic_id(session, topic))
            chosen = [one.document for one in queue[:: max(len(queue) // SAMPLED_TEXTS, 1)]]
            markup = DOCUMENT_METADATA.c.markup
            n_bytes = case((markup.is_(None), SAMPLED_BYTES), else_=SAMPLED_MARKED_BYTES)
            query = (
                select(func.substr(DOCUMENT.c.text, 1, n_bytes), markup)
                .outerjoin(DOCUMENT_METADATA, DOCUMENT_METADATA.c.document_id == DOCUMENT.c.id)
                .where(DOCUMENT.c.id.in_(chosen[:SAMPLED_TEXTS]), DOCUMENT.c.text.is_not(None))
            )
            # Bytes are counted, and a character may be cut; to SQLite a part of nothing is NULL.
            texts = (
                (bytes(one or b"").decode("utf-8", "ignore"), form) for one, form in session.execute(query)
            )
            return [text if form is None else readable(text, form).text for text, form in texts]

    def undrawn(self, topic: str) -> int:
        """Count the documents that adaptive pools may still draw for a topic."""
        with reading(self._engine) as session:
            return count_undrawn(session).get(self._topic_id(session, topic), 0)

    def claimable(self, topic: str) -> int:
        """Count the documents of a topic that the judge may still claim."""
        with reading(self._engine) as session:
            return claimable(session, self._judge_id).get(self._topic_id(session, topic), 0)

    def claim(self, topic: str) -> bool:
        """Claim a few more documents of a topic; False = there are none left."""
        is_start = not self._has_begun
        self._sit(is_start=is_start)
        with self._writing(is_start=is_start) as session:
            topic_id = self._topic_id(session, topic)
            if session.scalar(select(JUDGE.c.disabled).where(JUDGE.c.id == self._judge_id)):
                raise StoreError(disabled_message(self.judge))
            return bool(claim(session, self._judge_id, topic_id, n=CLAIMED_AT_ONCE))

    def record(self, decision: Decision, *, is_strict: bool = False) -> Task:
        """Append a decision durably and return the document as it stands now.

        With `is_strict` it is a conflict, too, that this sitting itself has decided otherwise since: a page
        may be open twice.

        `ConflictError`: the judge's own state of this document changed elsewhere since it was shown, or its
        place went to another judge. `StoreError`: nothing could be written; where the connection broke at the
        very end it may be written all the same, and the same decision again is then not written twice.
        """
        self._check(decision)
        self._sit()
        with self._writing() as session:
            old = self._current(session, *self._ids(decision))
            seen = decision.seen_revision
            if old is not None and self._all_own(session, decision):
                # This sitting wrote it, and the answer was lost on the way.
                task = self._task(session, decision.docno, old)
                if is_same_decision(decision, old, task.passages):
                    return task
                seen = seen if is_strict else old.revision
            row, has_passages = self._append(session, decision, old, seen=seen)
            task = self._task(session, decision.docno, row, has_passages=has_passages)
        self._undoing = None
        return task

    def record_and_undo(self, decision: Decision) -> Task:
        """Record a decision and take it back at once: what was decided elsewhere stays.

        Sent twice on the same revision it is recorded once.
        """
        self._check(decision)
        self._sit()
        with self._writing() as session:
            old = self._current(session, *self._ids(decision))
            if old is not None and self._was_kept(session, decision, old):
                return self._task(session, decision.docno, old)
            row, _ = self._append(session, decision, old)
            task = self._take_back(session, row, old, seen=row.revision).task
        self._undoing = None
        return task

    def undo(self, of: tuple[str, str, int] | None = None) -> Undone | None:
        """Take back this sitting's latest event that is not taken back yet; ``None`` = nothing is left.

        `of`: which that is to be, by topic, docno and revision; asked twice, it is taken back once.
        `ConflictError`: the same judge decided again elsewhere in between, or the latest event is another.
        """
        if self._sitting is None:
            return None
        with self._writing() as session:
            newest = session.execute(self._own_events().limit(1)).first()
            if of is not None:
                self._undoing = self._asked_to_undo(session, newest, *of)
            if newest is not None and newest.undoes and newest.undoes == self._undoing:
                # It was done, and the answer was lost on the way.
                topic, docno = self._names(session, newest)
                undone = Undone(topic, self._task(session, docno, newest), newest.revision - 1)
            else:
                last = self._latest(session)
                if last is None:
                    return None
                events = select(JUDGEMENT).where(self._pair(last.topic_id, last.document_id))
                newer = session.execute(events.where(JUDGEMENT.c.revision > last.revision)).all()
                if any(event.sitting_id != self._sitting for event in newer):
                    message = "this document was judged under the same name somewhere else"
                    raise ConflictError(message, hint="the other judgement stands")
                before = session.execute(events.where(JUDGEMENT.c.revision == last.revision - 1)).first()
                # Only what was looked at above counts as seen: a newer event is a conflict.
                seen = max((event.revision for event in newer), default=last.revision)
                self._undoing = int(last.id)
                undone = self._take_back(session, last, before, seen=seen)
        self._undoing = None
        return undone

    def _asked_to_undo(
        self, session: Session, newest: Row[Any] | None, topic: str, docno: str, revision: int
    ) -> int:
        """Return the event to undo; `ConflictError`: something else was done since, or there is none."""
        pair = self._pair(self._topic_ids[topic], self._document_ids[docno])
        event = session.scalar(select(JUDGEMENT.c.id).where(pair, JUDGEMENT.c.revision == revision))
        last = self._latest(session)
        known = [one for one in (newest and newest.undoes, last and last.id) if one is not None]
        if event is None or event not in known:
            message = "something else was done here since"
            raise ConflictError(message, hint="look at it again")
        return int(event)

    def leave(self) -> None:
        """End the sitting; what was claimed and not decided is given back."""
        if self._sitting is not None:
            with self._writing() as session:
                # What the same judge has on another screen is not given away.
                if not live_sittings(session, self._judge_id, but=self._sitting):
                    release(session, self._judge_id)
                close_sitting(session, self._sitting)
            self._sitting = None

    def _queue(self, session: Session, topic: int) -> list[Queued]:
        return fetch_queue(session, self._judge_id, topic)

    def _to_come(self, session: Session) -> dict[int, int]:
        return count_undrawn(session) | claimable(session, self._judge_id)

    def _is_held(self, rows: FromClause) -> ColumnElement[bool]:
        held = select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.judge_id == self._judge_id)
        return held.where(same_pair(ASSIGNMENT, rows)).exists()

    def _check(self, decision: Decision) -> None:
        if decision.action not in _RECORDED:
            message = f"`{decision.action}` is not a decision"
            raise StoreError(message)
        if decision.action is Action.JUDGE and decision.grade not in self.scale.values:
            raise UnknownNameError("grade", str(decision.grade), map(str, self.scale.values))

    def _ids(self, decision: Decision) -> tuple[int, int]:
        return self._topic_ids[decision.topic], self._document_ids[decision.docno]

    def _key(self, topic: int, document: int) -> dict[str, int]:
        return {"topic_id": topic, "document_id": document, "judge_id": self._judge_id}

    def _pair(self, topic: int, document: int) -> ColumnElement[bool]:
        return and_(*(JUDGEMENT.c[name] == value for name, value in self._key(topic, document).items()))

    def _current(self, session: Session, topic: int, document: int) -> Row[Any] | None:
        return session.execute(_NEWEST_EVENT, self._key(topic, document)).first()

    def _own_events(self) -> Select[Any]:
        own = and_(JUDGEMENT.c.sitting_id == self._sitting, JUDGEMENT.c.judge_id == self._judge_id)
        return select(JUDGEMENT).where(own).order_by(JUDGEMENT.c.id.desc())

    def _latest(self, session: Session) -> Row[Any] | None:
        own = self._own_events()
        undone = own.where(JUDGEMENT.c.undoes.is_not(None)).with_only_columns(JUDGEMENT.c.undoes)
        is_undone = JUDGEMENT.c.id.in_(undone.order_by(None).correlate(None))
        last = own.where(JUDGEMENT.c.action != Action.UNDO.value, ~is_undone)
        return session.execute(last.limit(1)).first()

    def _all_own(self, session: Session, decision: Decision) -> bool:
        """Return whether there are newer events than a decision saw, and all are of this sitting."""
        query = select(JUDGEMENT.c.sitting_id).where(
            self._pair(*self._ids(decision)), JUDGEMENT.c.revision > decision.seen_revision
        )
        return set(session.scalars(query)) == {self._sitting}

    def _was_kept(self, session: Session, decision: Decision, newest: Row[Any]) -> bool:
        """Return whether `record_and_undo` has written a decision, and the answer was lost on the way."""
        if newest.undoes is None or newest.revision != decision.seen_revision + 2:
            return False
        own = and_(JUDGEMENT.c.id == newest.undoes, JUDGEMENT.c.sitting_id == self._sitting)
        noted = session.execute(select(JUDGEMENT).where(own)).first()
        if noted is None:
            return False
        return is_same_decision(decision, noted, self._task(session, decision.docno, noted).passages)

    def _names(self, session: Session, event: Row[Any]) -> tuple[str, str]:
        topic = select(TOPIC.c.number).where(TOPIC.c.id == event.topic_id)
        docno = select(DOCUMENT.c.docno).where(DOCUMENT.c.id == event.document_id)
        return session.execute(topic).scalar_one(), session.execute(docno).scalar_one()

    def _task(self, session: Session, docno: str, event: Row[Any], *, has_passages: bool = True) -> Task:
        """Return how a document stands after an event; its passages are not asked for if it has none."""
        passages: dict[int, tuple[Passage, ...]] = {}
        if has_passages:
            passages = fetch_shown_passages(session, {event.id: event.document_id})
        return as_task(docno, event, passages.get(event.id, ()))

    def _append(
        self, session: Session, decision: Decision, old: Row[Any] | None, *, seen: int | None = None
    ) -> tuple[Row[Any], bool]:
        """Append the event of a decision after the newest; return its row, and whether it has passages.

        `seen`: the revision that the judge saw; `ConflictError`: there is a newer one.
        """
        topic, document = self._ids(decision)
        newest = 0 if old is None else old.revision
        values = self._event(session, topic, document, decision.action) | {"revision": newest + 1}
        values["state"], values["grade"], values["reason"] = state_after(decision, old)
        values["note"] = decision.note if decision.note is not None else (old.note if old else "")
        if decision.action in (Action.NOTE, Action.MARK) and old is not None:
            values["iteration"] = old.iteration
        values |= {name: getattr(decision, name) for name in SHOWN}
        if decision.document_sha256 != "":
            values["document_sha256"] = decision.document_sha256
        self._hold(session, values)
        if seen not in (None, newest):
            raise conflict()
        row = append_event(session, values)
        if decision.passages is not None:
            passages = as_raw(decision.passages, self._readable(session, document))
        else:
            passages = self._passages(session, old)
        add_passages(session, row.id, passages)
        return row, bool(passages)

    def _take_back(self, session: Session, undone: Row[Any], before: Row[Any] | None, *, seen: int) -> Undone:
        """Append the event that restores the state before another one."""
        topic, document = undone.topic_id, undone.document_id
        values = self._event(session, topic, document, Action.UNDO)
        values |= {"revision": seen + 1, "undoes": undone.id}
        values |= {name: undone._mapping[name] for name in ("display_order", "order_seed", "position")}
        restored = ("state", "grade", "reason", "note", "iteration")
        if before is None:
            values |= {"state": State.UNJUDGED.value, "iteration": undone.iteration}
        else:
            values |= {name: before._mapping[name] for name in restored}
        self._hold(session, values)
        row = append_event(session, values)
        add_passages(session, row.id, self._passages(session, before))
        number, docno = self._names(session, row)
        return Undone(number, self._task(session, docno, row), undone.revision)

    def _hold(self, session: Session, values: Mapping[str, Any]) -> None:
        decided = values["state"] in DECIDED
        hold(session, self._judge_id, values["topic_id"], values["document_id"], decided=decided)

    def _passages(self, session: Session, event: Row[Any] | None) -> tuple[Passage, ...]:
        return () if event is None else fetch_passages(session, [event.id]).get(event.id, ())

    def _readable(self, session: Session, document: int) -> Readable:
        return fetch_readable(session, [document]).get(document) or readable("")

    def _event(self, session: Session, topic: int, document: int, action: Action) -> dict[str, Any]:
        """Return the values of an event of this judge and sitting; its state is still to be set."""
        key = self._key(topic, document)
        facts = session.execute(_FACTS, key).one()
        if facts.disabled is None:
            raise StoreError(gone_message(self.judge))
        if facts.disabled:
            raise StoreError(disabled_message(self.judge))
        shown = self._orders.get((topic, document), _NOT_QUEUED)
        return {
            **key,
            "action": action.value,
            "iteration": shown.round,
            "display_order": shown.display_order,
            "order_seed": shown.order_seed,
            "judged_at": database_now(session),
            "guideline_version": facts.guidelines if self._guideline is None else self._guideline or None,
            "document_sha256": facts.sha256,
            "sitting_id": self._sitting,
            "topic_version": self._topic_versions.get(topic, facts.topic),
        }

    def _events(self, where: ColumnElement[bool]) -> list[SeenEvent]:
        """Return the judge's events, the newest first, fit for a terminal but for ids."""
        own = JUDGEMENT.c.judge_id == self._judge_id
        undone = select(JUDGEMENT.c.undoes).where(own, JUDGEMENT.c.undoes.is_not(None))
        query = (
            select(
                JUDGEMENT,
                JUDGEMENT.c.id.in_(undone).label("is_undone"),
                TOPIC.c.number,
                DOCUMENT.c.docno,
                SITTING.c.host,
            )
            .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
            .outerjoin(SITTING, SITTING.c.id == JUDGEMENT.c.sitting_id)
            .where(own, where)
            .order_by(JUDGEMENT.c.id.desc())
        )
        with reading(self._engine) as session:
            rows = session.execute(query).all()
        return [
            SeenEvent(
                topic=row.number,
                docno=row.docno,
                action=Action(row.action),
                state=State(row.state),
                grade=row.grade,
                reason=sanitise_line(row.reason),
                note=sanitise(row.note),
                revision=row.revision,
                judged_at=row.judged_at,
                is_undone=bool(row.is_undone),
                is_here=self._sitting is not None and row.sitting_id == self._sitting,
                host=sanitise_line(row.host or ""),
            )
            for row in rows
        ]

    @contextmanager
    def _writing(self, *, is_start: bool = False) -> Iterator[Session]:
        """Open a writing session; but for a start it does not keep the judge waiting for long."""
        try:
            patience_ms = None if is_start else self.patience_ms
            with writing(self._engine, patience_ms=patience_ms) as session:
                try:
                    yield session
                except NoResultFound as error:
                    # Checked here, before the whole collection is searched for damage.
                    self._check_not_gone(session, error)
                    raise
        except IntegrityError as error:
            with reading(self._engine) as session:
                self._check_not_gone(session, error)
            raise

    def _check_not_gone(self, session: Session, cause: Exception) -> None:
        if session.scalar(select(JUDGE.c.id).where(JUDGE.c.id == self._judge_id)) is None:
            raise StoreError(gone_message(self.judge)) from cause

    def _sit(self, *, is_start: bool = False) -> None:
        """Begin the sitting, in a transaction of its own, unless it has begun."""
        if self._sitting is None:
            with self._writing(is_start=is_start) as session:
                sitting = open_sitting(session, self._judge_id, program=self._program)
            self._sitting = sitting  # there is none before it is durable

    def _topic_id(self, session: Session, topic: str) -> int:
        if topic not in self._topic_ids:
            self._topic_ids[topic] = topic_id(session, topic)
        return self._topic_ids[topic]
