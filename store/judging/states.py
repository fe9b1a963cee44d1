"""How documents stand with all judges together, counted by the database.

A document of a topic is judged when somebody graded it; else cannot, when somebody found it
impossible to judge; else skipped, when somebody put it off; else unjudged. Judges of every kind
count, disabled ones too: their judgements stand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, func, select
from sqlmodel import Session

from store.content.lookup import is_pooled, to_judge
from store.db.database import Area
from store.db.tables import ASSIGNMENT_PLAN, JUDGE, JUDGEMENT, POOL, POOL_ENTRY
from store.judging.assignments import has_assignments, with_judges
from store.judging.events import current_events
from store.records import RANKS, Assignable, JudgeKind, State

_COUNTED = (State.JUDGED, State.CANNOT, State.SKIPPED)


@dataclass(frozen=True, slots=True)
class StateCounts:
    """Documents counted by how they stand with all judges together, topics apart."""

    pooled: int = 0
    """To be judged in a pool not withdrawn; or in the one pool that was asked for."""
    judged: int = 0
    """Pooled, and graded by somebody."""
    cannot: int = 0
    """Pooled, graded by no judge, and found impossible to judge by some judge."""
    skipped: int = 0
    """Pooled, decided by no judge, and skipped by some judge."""
    outside: int = 0
    """Graded by somebody, but not pooled."""
    relevant: int = 0
    """Graded relevant, at the scale's relaxed level, by somebody; pooled or not, but only documents of
    the one pool that was asked for, if any."""

    @property
    def unjudged(self) -> int:
        """Pooled documents that no judge graded, skipped, or found impossible to judge."""
        return self.pooled - self.judged - self.cannot - self.skipped


@dataclass(frozen=True, slots=True)
class SoughtIds:
    """What is counted, by row ids; ``None`` = no filter."""

    topic: int | None = None
    pool: int | None = None
    """Only its documents are pooled, withdrawn or not."""
    judge: int | None = None
    """Only this judge's grades and other states count."""

    @property
    def judges(self) -> list[int] | None:
        """The one judge who counts; ``None`` = all."""
        return None if self.judge is None else [self.judge]


def pooled(found: SoughtIds, documents: Sequence[int] | None = None) -> Select[Any]:
    """Select topic, document and pool of every document to be judged, once a pool."""
    query = to_judge(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id, POOL_ENTRY.c.pool_id, pool=found.pool)
    if found.topic is not None:
        query = query.where(POOL_ENTRY.c.topic_id == found.topic)
    return query if documents is None else query.where(POOL_ENTRY.c.document_id.in_(documents))


def sizes(session: Session, found: SoughtIds) -> Counter[int]:
    """Count the documents to be judged of every topic; of several pools that have one, once."""
    pairs = pooled(found).with_only_columns(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
    inside = pairs.distinct().subquery()
    query = select(inside.c.topic_id, func.count()).group_by(inside.c.topic_id)
    return Counter(dict(map(tuple, session.execute(query))))


def looked_at(found: SoughtIds, documents: Sequence[int] | None = None) -> Select[Any]:
    """Select how every document of a topic that has an event stands; parameters as of `pooled`.

    Columns ``topic_id``, ``document_id``, ``rank`` (of `RANKS`), ``best`` (the highest grade; null = none).
    """
    names = ("topic_id", "document_id", "state", "grade")
    newest = current_events(*names, judges=found.judges, topic=found.topic)
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
    counted = [_count(events.c.rank == RANKS[state]).label(state.value) for state in _COUNTED]
    return [*counted, _count(events.c.best >= relaxed).label("relevant")]


def count_by_topic(session: Session, found: SoughtIds, relaxed: int) -> dict[int, StateCounts]:
    """Count documents by state, for every topic with a document pooled or looked at."""
    pooled_of = sizes(session, found)
    seen = looked_at(found).subquery()
    events = select(seen, is_pooled(seen, pool=found.pool).label("is_inside")).subquery()
    counts = [_count(and_(events.c.rank == RANKS[state], events.c.is_inside)) for state in _COUNTED]
    is_relevant = events.c.best >= relaxed
    if found.pool is not None:
        is_relevant = and_(is_relevant, events.c.is_inside)
    everywhere = (_count(events.c.rank == RANKS[State.JUDGED]), _count(is_relevant))
    query = select(events.c.topic_id, *counts, *everywhere).group_by(events.c.topic_id)
    by_topic = {topic: StateCounts(pooled=n) for topic, n in pooled_of.items()}
    for topic, judged, cannot, skipped, anywhere, relevant in session.execute(query):
        counted = (pooled_of[topic], judged, cannot, skipped, anywhere - judged, relevant)
        by_topic[topic] = StateCounts(*counted)
    return by_topic


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


NOWHERE: frozenset[str] = frozenset()
"""The pools of a document that is in none."""


@dataclass(frozen=True, slots=True)
class PairState:
    """One document of a topic."""

    pools: frozenset[str]
    """Names of the pools not withdrawn where it is to be judged; empty = it is not pooled."""
    state: State
    """With all judges together, as `store.judging.states` says; of what is not pooled, too."""
    grade: int | None = None
    """The highest that was given; ``None`` = none was."""


@dataclass(frozen=True, slots=True)
class IfPooled:
    """Documents as judges would see them if they were pooled now."""

    documents: tuple[Assignable, ...]
    """Without priorities; topics and docnos in no order."""
    judges: tuple[str, ...]
    """People who are not disabled, by name."""
    plan: Mapping[str, Any] | None
    """How documents were assigned last, as `store.records.AssignmentPlan.manifest`; ``None`` =
    nothing is assigned, so that every judge is shown every document."""


class PoolChanges(Area):
    """What has to be known before pools are changed."""

    def pair_states(self) -> dict[tuple[str, str], PairState]:
        """Return how every pair of topic and docno that is pooled or looked at stands."""
        with self._db.reading_keyed() as (session, topics, documents):
            names = {row.id: row.name for row in session.execute(select(POOL.c.id, POOL.c.name))}
            pools: dict[tuple[int, int], frozenset[str]] = {}
            for topic, document, pool in session.execute(pooled(SoughtIds())):
                pools[topic, document] = pools.get((topic, document), NOWHERE) | {names[pool]}
            state_of = {rank: state for state, rank in RANKS.items()}
            seen = {
                (topic, document): (state_of[rank], grade)
                for topic, document, rank, grade in session.execute(looked_at(SoughtIds()))
                if rank != RANKS[State.UNJUDGED]
            }
            untouched = (State.UNJUDGED, None)
            return {
                (topics.names[pair[0]], documents.names[pair[1]]): PairState(
                    pools.get(pair, NOWHERE), *seen.get(pair, untouched)
                )
                for pair in pools.keys() | seen.keys()
            }

    def if_pooled(self, pairs: Collection[tuple[str, str]]) -> IfPooled:
        """Return who decided on documents, who has a place there, and how new ones are assigned."""
        with self._db.reading_keyed() as (session, topics, documents):
            people = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled)
            rows = session.execute(people.where(JUDGE.c.kind == JudgeKind.HUMAN.value)).all()
            names = {row.id: row.name for row in rows}
            able = tuple(sorted(row.name for row in rows if not row.disabled))
            unknown = 0  # no row's id
            asked = []
            for topic, docno in pairs:
                pair = (topics.ids.get(topic, unknown), documents.ids.get(docno, unknown))
                asked.append((pair, Assignable(topic, docno)))
            found = with_judges(session, asked, names, names)
            if not has_assignments(session):
                return IfPooled(tuple(found), able, None)
            newest = select(ASSIGNMENT_PLAN.c.manifest).order_by(ASSIGNMENT_PLAN.c.id.desc())
            return IfPooled(tuple(found), able, json.loads(session.scalar(newest.limit(1)) or "{}"))
