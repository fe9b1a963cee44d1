"""How documents stand with all judges together, counted by the database.

A document of a topic has one standing: judged when somebody graded it; else cannot, when somebody
found it impossible to judge; else skipped, when somebody put it off; else unjudged. Judges of
every kind count, disabled ones too: their judgements stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, func, select
from sqlmodel import Session

from store.db.tables import JUDGEMENT, POOL, POOL_ENTRY, TOPIC
from store.errors import UnknownNameError
from store.judging.events import current_events
from store.judging.judges import judge_id
from store.records import State

RANKS = {State.UNJUDGED: 0, State.SKIPPED: 1, State.CANNOT: 2, State.JUDGED: 3}
"""Of several judges' states the one of the highest rank is the document's standing."""


@dataclass(frozen=True, slots=True)
class StateCounts:
    """Documents counted by how they stand with all judges together, topics apart."""

    pooled: int = 0
    """To be judged in a pool not withdrawn; or in the one pool that was asked for."""
    judged: int = 0
    """Pooled, and graded by somebody."""
    cannot: int = 0
    """Pooled, graded by nobody, and found impossible to judge by somebody."""
    skipped: int = 0
    """Pooled, decided by nobody, and skipped by somebody."""
    outside: int = 0
    """Graded by somebody, but not pooled."""
    relevant: int = 0
    """Graded relevant, at the scale's relaxed level, by somebody; pooled or not, unless one pool
    was asked for: of its documents then."""

    @property
    def unjudged(self) -> int:
        """Pooled documents that nobody graded, skipped, or found impossible to judge."""
        return self.pooled - self.judged - self.cannot - self.skipped


@dataclass(frozen=True, slots=True)
class Sought:
    """What is counted; whatever is ``None`` is not asked for."""

    topic: str | None = None
    pool: str | None = None
    """Only its documents are pooled, withdrawn or not."""
    judge: str | None = None
    """Only this judge's grades and other states count."""


@dataclass(frozen=True, slots=True)
class SoughtIds:
    """The row ids of what is `Sought`."""

    topic: int | None = None
    pool: int | None = None
    judge: int | None = None

    @property
    def judges(self) -> list[int] | None:
        """The one judge who counts; ``None`` = all."""
        return None if self.judge is None else [self.judge]


def find(session: Session, sought: Sought) -> SoughtIds:
    """Look up names."""
    return SoughtIds(
        topic=None if sought.topic is None else topic_id(session, sought.topic),
        pool=None if sought.pool is None else pool_id(session, sought.pool),
        judge=None if sought.judge is None else judge_id(session, sought.judge),
    )


def topic_id(session: Session, topic: str) -> int:
    """Return the row id of a topic; raise `UnknownNameError` when there is none."""
    row_id = session.scalar(select(TOPIC.c.id).where(TOPIC.c.number == topic))
    if row_id is None:
        raise UnknownNameError("topic", topic, session.scalars(select(TOPIC.c.number)))
    return int(row_id)


def pool_id(session: Session, pool: str) -> int:
    """Return the row id of a pool; raise `UnknownNameError` when there is none."""
    row_id = session.scalar(select(POOL.c.id).where(POOL.c.name == pool))
    if row_id is None:
        raise UnknownNameError("pool", pool, session.scalars(select(POOL.c.name)))
    return int(row_id)


def pooled(found: SoughtIds, documents: Sequence[int] | None = None) -> Select[Any]:
    """Select topic, document and pool of every document to be judged, once a pool."""
    query = (
        select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id, POOL_ENTRY.c.pool_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.sampled)
    )
    query = query.where(~POOL.c.withdrawn if found.pool is None else POOL.c.id == found.pool)
    if found.topic is not None:
        query = query.where(POOL_ENTRY.c.topic_id == found.topic)
    return query if documents is None else query.where(POOL_ENTRY.c.document_id.in_(documents))


def looked_at(found: SoughtIds, documents: Sequence[int] | None = None) -> Select[Any]:
    """Select the standing of every document of a topic that has an event.

    Columns ``topic_id``, ``document_id``, ``rank`` (of `RANKS`), ``best`` (the highest grade that
    anybody gave; null = nobody did). Parameters as of `pooled`; of one judge, or all.
    """
    names = ("topic_id", "document_id", "state", "grade")
    newest = current_events(judges=found.judges, topic=found.topic).with_only_columns(
        *(JUDGEMENT.c[name] for name in names), maintain_column_froms=True
    )
    if documents is not None:
        newest = newest.where(JUDGEMENT.c.document_id.in_(documents))
    now = newest.subquery()
    ranks = {state.value: rank for state, rank in RANKS.items()}
    return select(
        now.c.topic_id,
        now.c.document_id,
        func.max(case(ranks, value=now.c.state, else_=0)).label("rank"),
        func.max(now.c.grade).label("best"),
    ).group_by(now.c.topic_id, now.c.document_id)


def counts_of_states(events: FromClause, relaxed: int) -> list[ColumnElement[int]]:
    """Count rows by their rank: ``judged``, ``cannot``, ``skipped``, and ``relevant``."""
    counted = [
        _count(events.c.rank == RANKS[state]).label(state.value)
        for state in (State.JUDGED, State.CANNOT, State.SKIPPED)
    ]
    return [*counted, _count(events.c.best >= relaxed).label("relevant")]


def count_by_topic(session: Session, found: SoughtIds, relaxed: int) -> dict[int, StateCounts]:
    """Count documents by state, for every topic with a document pooled or looked at."""
    # Of several pools that have a document, one row.
    inside = pooled(found).with_only_columns(*_pair(POOL_ENTRY)).distinct().subquery()
    sizes = session.execute(select(inside.c.topic_id, func.count()).group_by(inside.c.topic_id)).all()
    seen = looked_at(found).subquery()
    # Looked up one by one: of a join, SQLite may make every pair of rows.
    entry = pooled(found).where(same_pair(POOL_ENTRY, seen)).correlate(seen).exists()
    events = select(seen, entry.label("is_inside")).subquery()
    counts = [
        _count(and_(events.c.rank == RANKS[state], events.c.is_inside))
        for state in (State.JUDGED, State.CANNOT, State.SKIPPED)
    ]
    is_relevant = events.c.best >= relaxed
    if found.pool is not None:
        is_relevant = and_(is_relevant, events.c.is_inside)
    everywhere = (_count(events.c.rank == RANKS[State.JUDGED]), _count(is_relevant))
    query = select(events.c.topic_id, *counts, *everywhere).group_by(events.c.topic_id)
    document_states = {topic: StateCounts(pooled=n) for topic, n in sizes}
    for topic, judged, cannot, skipped, anywhere, relevant in session.execute(query):
        size = document_states[topic].pooled if topic in document_states else 0
        document_states[topic] = StateCounts(size, judged, cannot, skipped, anywhere - judged, relevant)
    return document_states


def same_pair(first: FromClause, second: FromClause) -> ColumnElement[bool]:
    """Say in SQL that two rows are of one document of one topic."""
    return and_(*(one == other for one, other in zip(_pair(first), _pair(second), strict=True)))


def _pair(table: FromClause) -> tuple[ColumnElement[int], ColumnElement[int]]:
    """Return the columns that name a document of a topic."""
    return table.c.topic_id, table.c.document_id


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Count the rows of which something is true."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)
