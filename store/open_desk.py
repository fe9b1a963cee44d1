"""A judge's desk, opened: whose it is, its sitting, and what can be read at it beside the queue.

Its queries name no run, rank, score, or other judge. What it returns for display is sanitised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import ColumnElement, Engine, and_, func, select
from sqlalchemy.exc import IntegrityError, NoResultFound
from sqlmodel import Session

from store.analysis.effort import RECENT_DECISIONS
from store.database import JUDGE_PATIENCE_MS, reading, writing
from store.effort import recent_active_ms
from store.errors import StoreError, UnknownNameError
from store.events import fetch_events
from store.guidelines import newest_guideline
from store.judges import judge_id
from store.models import DOCUMENT, GUIDELINE, JUDGE, JUDGEMENT, TOPIC
from store.records import Event, Guideline, LiveSitting, Page, Scale, Topic
from store.sanitise import sanitise, sanitise_line
from store.sittings import beat, live_sittings, open_sitting
from store.terms import fetch_terms, set_terms


class OpenDesk:
    """One judge at one collection, in one sitting.

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
        self._has_begun = False
        """Whether a document was shown."""
        self._topic_ids: dict[str, int] = {}
        self._topic_versions: dict[int, int] = {}
        """Version of a topic's text that the judge was last shown, by row id."""
        self._guideline: int | None = None
        """Version of the guidelines that the judge was last shown or offered; 0 = there were
        none, ``None`` = none were asked for."""
        self.judge = judge
        self.scale = scale
        with reading(engine) as session:
            self._judge_id = judge_id(session, judge)
            if session.scalar(select(JUDGE.c.disabled).where(JUDGE.c.id == self._judge_id)):
                hint = f"pooler judges enable {judge}"
                raise StoreError(disabled_message(judge), hint=hint)

    @property
    def judge_name(self) -> str:
        """The judge's name, fit for a terminal."""
        return sanitise_line(self.judge)

    def topic(self, topic: str) -> Topic:
        """Return a topic, fit for a terminal but for its id.

        From here on decisions are taken to be made by this text.

        Raises
        ------
        UnknownNameError
            If there is no such topic.
        """
        with reading(self._engine) as session:
            row = session.execute(select(TOPIC).where(TOPIC.c.number == topic)).first()
            if row is None:
                raise UnknownNameError("topic", topic, session.scalars(select(TOPIC.c.number)))
        self._topic_versions[row.id] = row.version
        return Topic(
            row.number,
            sanitise_line(row.title),
            sanitise(row.description),
            sanitise(row.narrative),
        )

    def page(self, docno: str) -> Page:
        """Return a document, fit for a terminal but for its id."""
        self._has_begun = True
        with reading(self._engine) as session:
            row = session.execute(select(DOCUMENT).where(DOCUMENT.c.docno == docno)).first()
        if row is None:
            return Page(docno, "", None)
        text = None if row.text is None else sanitise(row.text)
        return Page(docno, sanitise_line(row.title or ""), text, row.sha256)

    def events(self) -> list[Event]:
        """Return what was done in this sitting, the newest first."""
        if self._sitting is None:
            return []
        return self._events(JUDGEMENT.c.sitting_id == self._sitting)

    def events_of(self, topic: str, docno: str) -> list[Event]:
        """Return everything the judge ever did to a document, the newest first."""
        return self._events(and_(TOPIC.c.number == topic, DOCUMENT.c.docno == docno))

    def recent_active_ms(self) -> list[int]:
        """Return the active times of the judge's latest decisions, the newest last."""
        with reading(self._engine) as session:
            return recent_active_ms(session, judge=self._judge_id, limit=RECENT_DECISIONS)

    def guidelines(self) -> Guideline | None:
        """Return the newest guidelines, fit for a terminal; ``None`` = there are none."""
        with reading(self._engine) as session:
            newest = newest_guideline(session)
        self._guideline = 0 if newest is None else newest.version
        return None if newest is None else replace(newest, text=sanitise(newest.text))

    def has_seen_guidelines(self, topic: str) -> bool:
        """Say whether the judge decided anything in a topic under the newest guidelines.

        From here on decisions are taken to be made under those.
        """
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

    def terms(self, topic: str) -> tuple[str, ...]:
        """Return the judge's own terms for a topic, fit for a terminal."""
        with reading(self._engine) as session:
            topic_id = self._topic_id(session, topic)
            return tuple(
                map(sanitise_line, fetch_terms(session, judge=self._judge_id, topic=topic_id))
            )

    def set_terms(self, topic: str, terms: tuple[str, ...]) -> None:
        """Replace the judge's own terms for a topic."""
        with self._writing() as session:
            topic_id = self._topic_id(session, topic)
            set_terms(session, judge=self._judge_id, topic=topic_id, terms=terms)

    def beat(self, topic: str) -> None:
        """Give a sign of life: the judge is at work on a topic."""
        self._sit()
        with self._writing() as session:
            if self._sitting is not None:
                beat(session, self._sitting, topic=self._topic_id(session, topic))

    def live_elsewhere(self) -> list[LiveSitting]:
        """Return other sittings of the same judge that are alive."""
        with reading(self._engine) as session:
            return live_sittings(session, self._judge_id, but=self._sitting)

    def _events(self, where: ColumnElement[bool]) -> list[Event]:
        """Return some of the judge's events."""
        with reading(self._engine) as session:
            return fetch_events(session, judge=self._judge_id, sitting=self._sitting, where=where)

    @contextmanager
    def _writing(self, *, is_start: bool = False) -> Iterator[Session]:
        """Open a writing session; but for a start it does not keep the judge waiting for long."""
        try:
            patience_ms = None if is_start else JUDGE_PATIENCE_MS
            with writing(self._engine, patience_ms=patience_ms) as session:
                try:
                    yield session
                except NoResultFound as error:
                    # Here, before anybody looks for damage in the whole collection.
                    self._check_not_gone(session, error)
                    raise
        except IntegrityError as error:
            with reading(self._engine) as session:
                self._check_not_gone(session, error)
            raise

    def _check_not_gone(self, session: Session, cause: Exception) -> None:
        """Raise `StoreError` if the judge has been erased meanwhile."""
        if session.scalar(select(JUDGE.c.id).where(JUDGE.c.id == self._judge_id)) is None:
            raise StoreError(gone_message(self.judge)) from cause

    def _sit(self, *, is_start: bool = False) -> None:
        """Begin the sitting, in a transaction of its own, unless it has begun."""
        if self._sitting is None:
            with self._writing(is_start=is_start) as session:
                sitting = open_sitting(session, self._judge_id, program=self._program)
            self._sitting = sitting  # there is none before it is durable

    def _topic_id(self, session: Session, topic: str) -> int:
        """Return the row id of a topic."""
        if topic not in self._topic_ids:
            row_id = session.scalar(select(TOPIC.c.id).where(TOPIC.c.number == topic))
            if row_id is None:
                raise UnknownNameError("topic", topic, session.scalars(select(TOPIC.c.number)))
            self._topic_ids[topic] = row_id
        return self._topic_ids[topic]


def gone_message(judge: str) -> str:
    """Word the refusal of a judge who is no longer there."""
    return f"judge `{judge}` is no longer in the collection"


def disabled_message(judge: str) -> str:
    """Word the refusal of a judge who is disabled."""
    return f"judge `{judge}` is disabled"
