"""How far judging has come, counted with the five states kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, func, select
from sqlmodel import Session

from store.analysis.agreement.votes import CANNOT, SKIPPED, UNJUDGED
from store.content.lookup import is_pooled, same_pair
from store.db.database import Area
from store.db.engine import database_now
from store.db.keys import Keys
from store.db.tables import ASSIGNMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY
from store.judging.assignments import has_assignments
from store.judging.desk import count_undrawn
from store.judging.event_arrays import (
    PAIR,
    POOLED,
    are_in,
    as_pairs,
    codes_of,
    fetch_integers,
    fetch_pairs,
    newest_events,
)
from store.judging.events import Effort, current_events, fetch_effort, recent_active_ms, sat_down
from store.judging.states import SoughtIds
from store.records import JudgeKind, Scale, State
from store.text import natural_key

_CLAIMED_PAIRS = f"SELECT {PAIR}, judge_id FROM assignment WHERE judge_id IS NOT NULL"
_ALL_PLACES = f"SELECT {PAIR}, CASE WHEN judge_id IS NULL THEN 1 ELSE 0 END FROM assignment"
"""The second column: whether it is open."""
_ASSIGNABLE = f"{POOLED} AND pool.id NOT IN (SELECT pool_id FROM pool_topic)"
"""Pooled documents but those that adaptive pools alone have."""


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Documents without a judge, counted by topic; topics without any are left out."""

    undrawn: dict[str, int] = field(default_factory=dict)
    """Documents that adaptive pools may still draw; every judge will be shown them. None where
    documents are assigned: nothing is drawn."""
    is_assigned: bool = False
    """Whether documents are assigned to judges; the other counts are 0 otherwise."""
    open_places: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents that any judge may claim."""
    lapsed: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents whose judge let the lease run out: others may claim them."""
    unassigned: dict[str, int] = field(default_factory=dict)
    """Pooled documents without any place: no judge sees them until they are assigned."""
    drawn: dict[str, int] = field(default_factory=dict)
    """Pooled documents without any place that adaptive pools alone have: none can be assigned."""


_PLACES, _EVENTS, _JUDGED, _SKIPPED, _CANNOT, _OUTSIDE = range(6)
"""Columns of `Progress.table`; one for each grade follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many documents stand where: arrays of one length, a row a judge, or a topic and judge."""

    topics: NDArray[np.int64]
    """Of each row the place in `Progress.topics`; empty = all topics together."""
    judges: NDArray[np.int64]
    """Of each row the place in `Progress.judges`."""
    pooled: NDArray[np.int64]
    """What the judge owes, in the end."""
    table: NDArray[np.int64]

    @property
    def judged(self) -> NDArray[np.int64]:
        """Pooled and judged."""
        return self.table[:, _JUDGED]

    @property
    def skipped(self) -> NDArray[np.int64]:
        """Pooled and skipped."""
        return self.table[:, _SKIPPED]

    @property
    def cannot(self) -> NDArray[np.int64]:
        """Pooled and found impossible to judge."""
        return self.table[:, _CANNOT]

    @property
    def outside(self) -> NDArray[np.int64]:
        """Judged, but in no pool that is not withdrawn, or not the judge's."""
        return self.table[:, _OUTSIDE]

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Pooled documents neither judged, nor skipped, nor found impossible to judge."""
        return self.pooled - self.judged - self.skipped - self.cannot

    @property
    def by_grade(self) -> NDArray[np.int64]:
        """Judged documents by grade of the scale, pooled or not; shape (n_rows, n_grades)."""
        return self.table[:, _OUTSIDE + 1 :]


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far judging has come."""

    topics: tuple[str, ...]
    """In natural order: all with a document pooled, looked at, or yet to be drawn."""
    judges: tuple[str, ...]
    """By name."""
    pooled: NDArray[np.int64]
    """Documents of each topic."""
    has_own: NDArray[np.bool_]
    """Whose pool is what is assigned to them."""
    disabled: NDArray[np.bool_]
    """Which judges have rows only where they have an event."""
    table: NDArray[np.int64]
    """Of each topic, and in it of each judge: places, events, and as in `Counts`."""

    def by_topic(self) -> Counts:
        """Count for every topic and judge."""
        n_judges = len(self.judges)
        is_row = np.tile(~self.disabled, len(self.topics)) | (self.table[:, _EVENTS] > 0)
        topics, judges = np.divmod(np.flatnonzero(is_row), max(n_judges, 1))
        table = self.table if is_row.all() else self.table[is_row]
        pooled = np.where(self.has_own[judges], table[:, _PLACES], self.pooled[topics])
        return Counts(topics, judges, pooled, table)

    def by_judge(self) -> Counts:
        """Count for every judge: the sums of `by_topic`."""
        rows, n_judges = self.by_topic(), len(self.judges)
        sums = [np.bincount(rows.judges, column, n_judges) for column in (rows.pooled, *rows.table.T)]
        pooled, *columns = np.array(sums, dtype=np.int64)
        judges = np.flatnonzero(np.bincount(rows.judges, minlength=n_judges))
        nothing = np.empty(0, dtype=np.int64)
        return Counts(nothing, judges, pooled[judges], np.stack(columns, axis=1)[judges])


def count_states(session: Session, topics: Keys, scale: Scale) -> Progress:
    """Count documents by state for topics and judges.

    Once anything is assigned, a person's pool is what is assigned to that person; the rest, when judged all
    the same, counts as outside. Of judges of other kinds the pool is the whole.
    """
    connection = session.connection()
    columns = (JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled, JUDGE.c.kind)
    rows = sorted(session.execute(select(*columns)), key=lambda row: str(row.name))
    judge_ids = np.array([row.id for row in rows], dtype=np.int64)
    is_assigned = has_assignments(session)
    has_own = np.array([is_assigned and row.kind == JudgeKind.HUMAN.value for row in rows], dtype=np.bool_)
    n_judges, n_columns = len(rows), _OUTSIDE + 1 + len(scale.values)
    topic_of, document_of, judge_of, state_of, grade_of = newest_events(connection, None)
    judge_of = codes_of(judge_of, judge_ids)
    pooled = fetch_pairs(connection, POOLED)
    found = codes_of(as_pairs(topic_of, document_of), pooled)
    is_inside = found >= 0
    holders = np.empty((0, 2), dtype=np.int64)
    if is_assigned:
        held = fetch_integers(connection, _CLAIMED_PAIRS, 2)
        holders = np.stack([codes_of(held[:, 0], pooled), codes_of(held[:, 1], judge_ids)], axis=1)
        holders = holders[(holders[:, 0] >= 0) & has_own[holders[:, 1]]]
        is_held = codes_of(found * n_judges + judge_of, holders[:, 0] * n_judges + holders[:, 1]) >= 0
        is_inside &= is_held | ~has_own[judge_of]
    undrawn = np.array([*count_undrawn(session)], dtype=np.int64)
    topic_ids = np.flatnonzero(np.bincount(np.concatenate([pooled >> 32, topic_of, undrawn])))
    by_number = sorted(topic_ids.tolist(), key=lambda number: natural_key(topics.names[number]))
    topic_ids = np.array(by_number, dtype=np.int64)
    pooled_topics = codes_of(pooled >> 32, topic_ids)
    of_event = codes_of(topic_of, topic_ids) * n_judges + judge_of
    of_holder = pooled_topics[holders[:, 0]] * n_judges + holders[:, 1]
    is_judged = state_of == 0
    column_of = np.full((2, 1 - min(SKIPPED, CANNOT)), -1)
    column_of[:, 0] = _OUTSIDE, _JUDGED
    column_of[1, [-SKIPPED, -CANNOT]] = _SKIPPED, _CANNOT
    column = column_of[is_inside.astype(np.int64), -state_of]
    grade = codes_of(grade_of, np.array(scale.values, dtype=np.int64))
    is_graded = is_judged & (grade >= 0)
    counted = (
        of_holder * n_columns + _PLACES,
        of_event * n_columns + _EVENTS,
        (of_event * n_columns + column)[column >= 0],
        of_event[is_graded] * n_columns + _OUTSIDE + 1 + grade[is_graded],
    )
    table = np.bincount(np.concatenate(counted), minlength=len(by_number) * n_judges * n_columns)
    return Progress(
        topics=tuple(topics.names[number] for number in by_number),
        judges=tuple(row.name for row in rows),
        pooled=np.bincount(pooled_topics, minlength=len(by_number)),
        has_own=has_own,
        disabled=np.array([row.disabled for row in rows], dtype=np.bool_),
        table=table.reshape(-1, n_columns),
    )


def _by_name(topics: Keys, ids: Counter[int] | Iterable[int]) -> dict[str, int]:
    return {topics.names[topic]: count for topic, count in Counter(ids).items()}


class JudgingProgress(Area):
    """How far the judging of a collection has come."""

    def counts(self) -> Progress:
        """Count how many documents stand where; see `count_states`."""
        with self._db.reading_topics() as (session, topics):
            return count_states(session, topics, self._db.scale)

    def unclaimed(self) -> Unclaimed:
        """Count the documents without a judge."""
        with self._db.reading_topics() as (session, topics):
            undrawn = _by_name(topics, Counter(count_undrawn(session)))
            if not has_assignments(session):
                return Unclaimed(undrawn)
            connection = session.connection()
            pooled, assignable = (fetch_pairs(connection, query) for query in (POOLED, _ASSIGNABLE))
            with_place, is_open = fetch_integers(connection, _ALL_PLACES, 2).T
            open_places = with_place[are_in(with_place, pooled) & (is_open == 1)]
            is_lapsed = (ASSIGNMENT.c.judge_id.is_not(None), ASSIGNMENT.c.lease_until < database_now(session))
            lapsed = select(ASSIGNMENT.c.topic_id).where(*is_lapsed, is_pooled(ASSIGNMENT))
            without = np.setdiff1d(pooled, with_place)
            is_assignable = are_in(without, assignable)
            return Unclaimed(
                undrawn,
                is_assigned=True,
                open_places=_by_name(topics, (open_places >> 32).tolist()),
                lapsed=_by_name(topics, session.scalars(lapsed)),
                unassigned=_by_name(topics, (without[is_assignable] >> 32).tolist()),
                drawn=_by_name(topics, (without[~is_assignable] >> 32).tolist()),
            )

    def recent_times(self, *, limit: int) -> dict[str, list[int]]:
        """Return the active times of every judge's latest decisions; see `recent_active_ms`."""
        with self._db.reading() as session:
            sat = sat_down(session)
            judges = session.execute(select(JUDGE.c.id, JUDGE.c.name)).all()
            return {
                row.name: recent_active_ms(session, judge=row.id, limit=limit) if row.id in sat else []
                for row in judges
            }

    def effort(self) -> list[Effort]:
        """Return what judging cost every judge; see `fetch_effort`."""
        with self._db.reading() as session:
            return fetch_effort(session)

    def count_judged(self, pool: str) -> int:
        """Count the documents to judge of a pool that some judge has graded."""
        with self._db.reading() as session:
            graded = current_events("topic_id", "document_id").where(JUDGEMENT.c.state == State.JUDGED.value)
            has_grade = exists().where(same_pair(graded.subquery(), POOL_ENTRY))
            entries = (
                select(func.count()).select_from(POOL_ENTRY).join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
            )
            query = entries.where(POOL.c.name == pool, POOL_ENTRY.c.sampled, has_grade)
            return session.scalar(query) or 0


def count_by_judge(
    session: Session, found: SoughtIds, ids: Sequence[int], relaxed: int
) -> dict[int, tuple[int, int, int, int, int, int]]:
    """Count what stands of each judge: topics, judged, cannot, skipped, unjudged, relevant, by row id."""
    judges = np.array(ids, dtype=np.int64)
    connection = session.connection()
    events = newest_events(connection, None if found.judge is None else judges, topic=found.topic)
    if found.pool is not None:
        query = f"SELECT {PAIR} FROM pool_entry WHERE sampled AND pool_id = {found.pool:d}"
        events = events[:, are_in(as_pairs(events[0], events[1]), fetch_pairs(connection, query))]
    topic_of, _, judge_of, state_of, grade_of = events
    judge_of = codes_of(judge_of, judges)
    topics, seen = np.unique(topic_of, return_inverse=True)
    pairs = np.unique(judge_of * topics.size + seen)
    counted = [pairs // max(topics.size, 1)]
    counted += [judge_of[state_of == state] for state in (0, CANNOT, SKIPPED, UNJUDGED)]
    counted += [judge_of[(state_of == 0) & (grade_of >= relaxed)]]
    columns = (np.bincount(one, minlength=judges.size).tolist() for one in counted)
    return dict(zip(judges.tolist(), zip(*columns, strict=True), strict=True))
