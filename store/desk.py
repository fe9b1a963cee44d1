"""A judge's desk: the only thing of a collection the judging interface can touch.

It has no method for runs, ranks, scores, pools' manifests, or other judges; its queries name none
of them. What it returns for display is sanitised.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine, Row, and_, func, select
from sqlmodel import Session

from store.database import reading, writing
from store.decisions import as_task, state_after
from store.errors import ConflictError, StoreError, UnknownNameError
from store.judgements import append_event, current_events
from store.judges import close_sitting, judge_id, open_sitting
from store.models import (
    ASSIGNMENT,
    DOCUMENT,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    POOL,
    POOL_ENTRY,
    POOL_TOPIC,
    TOPIC,
    JudgementRow,
)
from store.ranking import natural_key
from store.records import Action, Decision, InboxLine, Page, Scale, State, Task, Topic
from store.sanitise import sanitise, sanitise_line


class Desk:
    """One judge's work on one collection, in one sitting.

    Parameters
    ----------
    engine : Engine
        Of the collection.
    judge : str
        A judge of the collection who is not disabled.
    scale : Scale
        The declared grades.
    program : str
        Name and version of the front end, kept with the sitting.

    Raises
    ------
    UnknownNameError
        If the judge is not known.
    StoreError
        If the judge is disabled.
    """

    def __init__(self, engine: Engine, judge: str, scale: Scale, *, program: str = "") -> None:
        self._engine = engine
        self._program = program
        self._sitting: int | None = None
        self._orders: dict[tuple[int, int], tuple[str, str]] = {}
        self._topic_ids: dict[str, int] = {}
        self._document_ids: dict[str, int] = {}
        self.judge = judge
        self.scale = scale
        with reading(engine) as session:
            self._judge_id = judge_id(session, judge)
            if session.scalar(select(JUDGE.c.disabled).where(JUDGE.c.id == self._judge_id)):
                message = f"judge `{judge}` is disabled"
                raise StoreError(message)

    @property
    def judge_name(self) -> str:
        """The judge's name, fit for a terminal."""
        return sanitise_line(self.judge)

    def inbox(self) -> list[InboxLine]:
        """Return the judge's topics in natural order, those without a document left out."""
        with reading(self._engine) as session:
            undrawn = self._undrawn(session)
            queues: dict[int, set[int]] = {}
            for topic, document in self._pairs(session):
                queues.setdefault(topic, set()).add(document)
            events: dict[int, list[Row[tuple[object, ...]]]] = {}
            for event in session.execute(current_events(judges=[self._judge_id])):
                events.setdefault(event.topic_id, []).append(event)
            lines = []
            for row in session.execute(select(TOPIC.c.id, TOPIC.c.number, TOPIC.c.title)):
                queue = queues.get(row.id, set())
                mine = [event for event in events.get(row.id, []) if event.document_id in queue]
                states = [event.state for event in mine]
                n_documents = len(queue) + undrawn.get(row.id, 0)
                if n_documents:
                    lines.append(
                        InboxLine(
                            row.number,
                            sanitise_line(row.title),
                            n_documents,
                            states.count(State.JUDGED),
                            states.count(State.SKIPPED),
                            states.count(State.CANNOT),
                            max((event.judged_at for event in mine), default=None),
                        )
                    )
        return sorted(lines, key=lambda line: natural_key(line.topic))

    def topic(self, topic: str) -> Topic:
        """Return a topic, fit for a terminal but for its id.

        Raises
        ------
        UnknownNameError
            If there is no such topic.
        """
        with reading(self._engine) as session:
            row = session.execute(select(TOPIC).where(TOPIC.c.number == topic)).first()
            if row is None:
                known = session.scalars(select(TOPIC.c.number))
                raise UnknownNameError("topic", topic, known)
        return Topic(
            row.number,
            sanitise_line(row.title),
            sanitise(row.description),
            sanitise(row.narrative),
        )

    def queue(self, topic: str) -> list[Task]:
        """Return the judge's documents of a topic in display order, each as it stands."""
        with reading(self._engine) as session:
            row = session.execute(select(TOPIC.c.id).where(TOPIC.c.number == topic)).first()
            if row is None:
                known = session.scalars(select(TOPIC.c.number))
                raise UnknownNameError("topic", topic, known)
            self._topic_ids[topic] = row.id
            query = (
                select(
                    DOCUMENT.c.id,
                    DOCUMENT.c.docno,
                    POOL.c.display_order,
                    POOL.c.round,
                )
                .join(POOL_ENTRY, POOL_ENTRY.c.document_id == DOCUMENT.c.id)
                .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
                .where(POOL_ENTRY.c.topic_id == row.id, ~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
                .order_by(POOL.c.id, POOL_ENTRY.c.position)
            )
            assigned = self._assigned(session, row.id)
            current = {
                event.document_id: event
                for event in session.execute(current_events(judges=[self._judge_id], topic=row.id))
            }
            tasks: dict[int, Task] = {}
            for document, docno, order, label in session.execute(query):
                if document in tasks or (assigned is not None and document not in assigned):
                    continue
                self._document_ids[docno] = document
                self._orders[row.id, document] = (order, label)
                tasks[document] = as_task(docno, current.get(document))
        return list(tasks.values())

    def undrawn(self, topic: str) -> int:
        """Count the documents that adaptive pools may still draw for a topic."""
        with reading(self._engine) as session:
            row_id = session.scalar(select(TOPIC.c.id).where(TOPIC.c.number == topic))
            return self._undrawn(session).get(row_id or 0, 0)

    def page(self, docno: str) -> Page:
        """Return a document, fit for a terminal but for its id."""
        with reading(self._engine) as session:
            query = select(DOCUMENT.c.title, DOCUMENT.c.text).where(DOCUMENT.c.docno == docno)
            row = session.execute(query).first()
        if row is None:
            return Page(docno, "", None)
        text = None if row.text is None else sanitise(row.text)
        return Page(docno, sanitise_line(row.title or ""), text)

    def record(self, decision: Decision) -> Task:
        """Append a decision durably and return the document as it stands now.

        Raises
        ------
        ConflictError
            If the judge's own state of this document changed elsewhere since it was shown.
        UnknownNameError
            If the grade is not on the scale.
        StoreError
            If it could not be written; nothing is.
        """
        if decision.action is Action.JUDGE and decision.grade not in self.scale.values:
            raise UnknownNameError("grade", str(decision.grade), map(str, self.scale.values))
        topic = self._topic_ids[decision.topic]
        document = self._document_ids[decision.docno]
        self._sit()
        with writing(self._engine) as session:
            old = self._current(session, topic, document)
            state, grade, reason = state_after(decision, old)
            note = decision.note if decision.note is not None else (old.note if old else "")
            row = self._event(session, topic, document, decision.action, decision)
            row.state, row.grade, row.reason, row.note = state, grade, reason, note
            if decision.action is Action.NOTE and old is not None:
                row.iteration = old.iteration
            append_event(session, row, seen_revision=decision.seen_revision)
        return as_task(decision.docno, row)

    def undo(self) -> tuple[str, Task] | None:
        """Take back this sitting's latest event that is not taken back yet.

        Returns
        -------
        tuple of topic and Task, or None
            Where it was and how the document stands again; ``None`` when nothing is left to undo.

        Raises
        ------
        ConflictError
            If the same judge decided again elsewhere in between.
        """
        if self._sitting is None:
            return None
        with writing(self._engine) as session:
            own = (
                JUDGEMENT.c.sitting_id == self._sitting,
                JUDGEMENT.c.judge_id == self._judge_id,
            )
            undone = select(JUDGEMENT.c.undoes).where(*own, JUDGEMENT.c.undoes.is_not(None))
            last = session.execute(
                select(JUDGEMENT)
                .where(
                    *own,
                    JUDGEMENT.c.action != Action.UNDO.value,
                    JUDGEMENT.c.id.not_in(undone),
                )
                .order_by(JUDGEMENT.c.id.desc())
                .limit(1)
            ).first()
            if last is None:
                return None
            topic, document = last.topic_id, last.document_id
            pair = (
                JUDGEMENT.c.topic_id == topic,
                JUDGEMENT.c.document_id == document,
                JUDGEMENT.c.judge_id == self._judge_id,
            )
            newer = session.execute(
                select(JUDGEMENT.c.sitting_id, JUDGEMENT.c.revision).where(
                    *pair, JUDGEMENT.c.revision > last.revision
                )
            ).all()
            if any(event.sitting_id != self._sitting for event in newer):
                message = "this document was judged under the same name somewhere else"
                raise ConflictError(message, hint="the other judgement stands")
            before = session.execute(
                select(JUDGEMENT).where(*pair, JUDGEMENT.c.revision == last.revision - 1)
            ).first()
            row = self._event(session, topic, document, Action.UNDO)
            row.undoes = last.id
            row.display_order, row.position = last.display_order, last.position
            row.state, row.grade, row.reason, row.note, row.iteration = (
                (before.state, before.grade, before.reason, before.note, before.iteration)
                if before
                else (State.UNJUDGED.value, None, "", "", last.iteration)
            )
            # Only what was looked at above counts as seen: a newer event is a conflict.
            seen = max((event.revision for event in newer), default=last.revision)
            append_event(session, row, seen_revision=seen)
            number = session.scalar(select(TOPIC.c.number).where(TOPIC.c.id == topic))
            docno = session.scalar(select(DOCUMENT.c.docno).where(DOCUMENT.c.id == document))
        return str(number), as_task(str(docno), row)

    def leave(self) -> None:
        """End the sitting, if anything was judged in it."""
        if self._sitting is not None:
            with writing(self._engine) as session:
                close_sitting(session, self._sitting)
            self._sitting = None

    def _sit(self) -> None:
        """Begin the sitting at the first event, in a transaction of its own."""
        if self._sitting is None:
            with writing(self._engine) as session:
                self._sitting = open_sitting(session, self._judge_id, program=self._program)

    def _pairs(self, session: Session) -> list[tuple[int, int]]:
        """Return the pairs this judge is to grade."""
        query = (
            select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
            .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
            .where(~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
            .distinct()
        )
        pairs = [(topic, document) for topic, document in session.execute(query)]
        if not self._has_assignments(session):
            return pairs
        mine = select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id).where(
            ASSIGNMENT.c.judge_id == self._judge_id
        )
        assigned = set(session.execute(mine))
        return [pair for pair in pairs if pair in assigned]

    def _undrawn(self, session: Session) -> dict[int, int]:
        """Count what adaptive pools may still draw, by topic; nothing for assigned documents."""
        if self._has_assignments(session):
            return {}
        drawn = (
            select(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id, func.count().label("drawn"))
            .where(POOL_ENTRY.c.sampled)
            .group_by(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id)
            .subquery()
        )
        same = and_(
            drawn.c.pool_id == POOL_TOPIC.c.pool_id, drawn.c.topic_id == POOL_TOPIC.c.topic_id
        )
        left = func.sum(POOL_TOPIC.c.budget - func.coalesce(drawn.c.drawn, 0))
        query = (
            select(POOL_TOPIC.c.topic_id, left)
            .join(POOL, POOL.c.id == POOL_TOPIC.c.pool_id)
            .outerjoin(drawn, same)
            .where(~POOL.c.withdrawn)
            .group_by(POOL_TOPIC.c.topic_id)
        )
        return {topic: int(count) for topic, count in session.execute(query) if count}

    def _assigned(self, session: Session, topic: int) -> set[int] | None:
        """Return the documents assigned for a topic; ``None`` = the whole pool."""
        if not self._has_assignments(session):
            return None
        query = select(ASSIGNMENT.c.document_id).where(
            ASSIGNMENT.c.judge_id == self._judge_id, ASSIGNMENT.c.topic_id == topic
        )
        return set(session.scalars(query))

    def _has_assignments(self, session: Session) -> bool:
        """Say whether this judge grades assigned documents only."""
        query = select(func.count()).where(ASSIGNMENT.c.judge_id == self._judge_id)
        return bool(session.scalar(query))

    def _current(
        self, session: Session, topic: int, document: int
    ) -> Row[tuple[object, ...]] | None:
        """Return this judge's newest event on a document."""
        query = (
            select(JUDGEMENT)
            .where(
                JUDGEMENT.c.topic_id == topic,
                JUDGEMENT.c.document_id == document,
                JUDGEMENT.c.judge_id == self._judge_id,
            )
            .order_by(JUDGEMENT.c.revision.desc())
            .limit(1)
        )
        return session.execute(query).first()

    def _event(
        self,
        session: Session,
        topic: int,
        document: int,
        action: Action,
        decision: Decision | None = None,
    ) -> JudgementRow:
        """Make an event of this judge and sitting; its state is still to be set."""
        order, label = self._orders.get((topic, document), ("", "0"))
        sha256 = session.scalar(select(DOCUMENT.c.sha256).where(DOCUMENT.c.id == document))
        return JudgementRow(
            topic_id=topic,
            document_id=document,
            judge_id=self._judge_id,
            revision=0,
            action=action.value,
            state=State.UNJUDGED.value,
            iteration=label,
            display_order=order,
            position=decision.position if decision else None,
            shown_at=decision.shown_at if decision else None,
            judged_at=datetime.now(UTC),
            dwell_ms=decision.dwell_ms if decision else None,
            active_ms=decision.active_ms if decision else None,
            dropped_keys=decision.dropped_keys if decision else 0,
            guideline_version=session.scalar(select(func.max(GUIDELINE.c.version))),
            document_sha256=sha256,
            sitting_id=self._sitting,
        )
