"""Adaptive pools: documents drawn one at a time, each knowing what happened to those before.

An adaptive pool lists every document it may draw; drawing one turns it into one to be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, func, select, update
from sqlmodel import Session

from store.db.digests import pool_digest
from store.db.tables import DOCUMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY, POOL_TOPIC, TOPIC
from store.errors import StoreError, UnknownNameError
from store.records import JudgeKind

_COUNT_AFTER = {JudgeKind.IMPORTED.value: 1, JudgeKind.MODEL.value: 2}
"""Kinds that count only where none before them graded: people are first, as in `store.judging.kinds`."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A document that was drawn, and what happened to it."""

    docno: str
    grade: int | None
    """Of the judges' current grades the one that has stood the longest: of people alone, where one has
    graded a document drawn for the topic; else of imported judges, else of models. ``None`` = none of
    them has graded it: unjudged, skipped, or found impossible to judge."""


Choose = Callable[[Sequence[Draw]], str | None]
"""From what was drawn so far, in order, to the next document; ``None`` = there is none."""


def draw(session: Session, *, pool: str, topic: str, choose: Choose) -> str | None:
    """Draw the next document of an adaptive pool and return its docno, now to be judged.

    The pool is locked, so that two judges never draw at once. ``None`` = the budget is spent, the strategy
    has nothing left, the pool is withdrawn, or it may draw nothing for the topic. `StoreError` is raised if
    the strategy names a document that is drawn already, or is none of the pool's.
    """
    row = session.execute(select(POOL).where(POOL.c.name == pool).with_for_update()).first()
    if row is None:
        raise UnknownNameError("pool", pool, session.scalars(select(POOL.c.name)))
    budget = session.execute(
        select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget)
        .join(TOPIC, TOPIC.c.id == POOL_TOPIC.c.topic_id)
        .where(POOL_TOPIC.c.pool_id == row.id, TOPIC.c.number == topic)
    ).first()
    if budget is None or row.withdrawn:
        return None
    drawn = fetch_draws(session, row.id, budget.topic_id)
    if len(drawn) >= budget.budget:
        return None
    docno = choose(drawn)
    if docno is None:
        return None
    document = session.scalar(select(DOCUMENT.c.id).where(DOCUMENT.c.docno == docno)) or 0
    entry = f" AND pool_entry.topic_id = {budget.topic_id:d} AND pool_entry.document_id = {document:d}"
    before = pool_digest(session, row.id, entry)
    taken = session.connection().execute(
        update(POOL_ENTRY)
        .where(
            POOL_ENTRY.c.pool_id == row.id,
            POOL_ENTRY.c.topic_id == budget.topic_id,
            POOL_ENTRY.c.document_id == document,
            ~POOL_ENTRY.c.sampled,
        )
        .values(sampled=True, position=len(drawn))
    )
    if taken.rowcount != 1:
        message = f"the strategy of pool `{pool}` named `{docno}`, which cannot be drawn"
        raise StoreError(message, hint="please report this")
    changed = row.digest ^ before ^ pool_digest(session, row.id, entry)
    session.execute(update(POOL).where(POOL.c.id == row.id).values(digest=changed))
    return docno


def is_adaptive(pool: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the SQL condition that a pool, given by its row id, is adaptive."""
    return pool.in_(select(POOL_TOPIC.c.pool_id))


def draws_left() -> Select[int, int, int]:
    """Select pool id, topic id and ``left``, of adaptive pools that may still draw there."""
    drawn = (
        select(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id, func.count().label("drawn"))
        .where(POOL_ENTRY.c.sampled, is_adaptive(POOL_ENTRY.c.pool_id))
        .group_by(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id)
        .subquery()
    )
    same = and_(drawn.c.pool_id == POOL_TOPIC.c.pool_id, drawn.c.topic_id == POOL_TOPIC.c.topic_id)
    left = POOL_TOPIC.c.budget - func.coalesce(drawn.c.drawn, 0)
    return (
        select(POOL_TOPIC.c.pool_id, POOL_TOPIC.c.topic_id, left.label("left"))
        .join(POOL, POOL.c.id == POOL_TOPIC.c.pool_id)
        .outerjoin(drawn, same)
        .where(~POOL.c.withdrawn, left > 0)
    )


def fetch_draws(session: Session, pool_id: int, topic_id: int) -> list[Draw]:
    """Return what was drawn for a topic, in order, each with its first current grade by those who count."""
    entry = and_(POOL_ENTRY.c.pool_id == pool_id, POOL_ENTRY.c.topic_id == topic_id, POOL_ENTRY.c.sampled)
    events = (
        select(JUDGEMENT.c.document_id, JUDGEMENT.c.grade, JUDGEMENT.c.judged_at, JUDGE.c.name, JUDGE.c.kind)
        .join(POOL_ENTRY, and_(entry, POOL_ENTRY.c.document_id == JUDGEMENT.c.document_id))
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .where(JUDGEMENT.c.topic_id == topic_id)
        .order_by(JUDGEMENT.c.revision)
    )
    states: dict[int, dict[str, _JudgeState]] = {}
    kinds: dict[str, int] = {}
    for document, grade, at, judge, kind in session.execute(events):
        kinds[judge] = _COUNT_AFTER.get(kind, 0)
        of_judge = states.setdefault(document, {})
        before = of_judge.get(judge)
        of_judge[judge] = _JudgeState(grade, at, at) if before is None else before.then(grade, at)
    graders = {judge for of in states.values() for judge, one in of.items() if one.grade is not None}
    first = min((kinds[judge] for judge in graders), default=0)
    counted = {judge for judge in graders if kinds[judge] == first}
    query = (
        select(DOCUMENT.c.docno, DOCUMENT.c.id)
        .join(POOL_ENTRY, POOL_ENTRY.c.document_id == DOCUMENT.c.id)
        .where(entry)
        .order_by(POOL_ENTRY.c.position)
    )
    return [
        Draw(docno, _first_grade(states.get(document, {}), counted))
        for docno, document in session.execute(query)
    ]


@dataclass(frozen=True, slots=True)
class _JudgeState:
    """How a document stands with a judge."""

    grade: int | None
    since: datetime
    """When the grade came."""
    last: datetime
    """When the last event came: none is before an earlier one, whatever the clocks said."""

    def then(self, grade: int | None, at: datetime) -> _JudgeState:
        """Return how it stands after the next event; a note keeps the grade, and its place."""
        last = max(at, self.last)
        return _JudgeState(grade, self.since if grade == self.grade else last, last)


def _first_grade(states: Mapping[str, _JudgeState], counted: Collection[str]) -> int | None:
    """Return the grade that has stood the longest, by the judges' names where times are equal."""
    graded = [
        (one.since, name, one.grade)
        for name, one in states.items()
        if name in counted and one.grade is not None
    ]
    return min(graded)[2] if graded else None
