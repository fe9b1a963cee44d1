"""How far judging has come, counted with the five states kept apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import exists, func, select
from sqlmodel import Session

from store.content.lookup import is_pooled, same_pair
from store.content.pools import pooled_pairs
from store.db.database import Area
from store.db.engine import database_now
from store.db.keys import Keys
from store.db.tables import ASSIGNMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY
from store.judging.assignments import has_assignments
from store.judging.desk import count_undrawn
from store.judging.effort import Effort, fetch_effort, recent_active_ms
from store.judging.events import Pair, current_events
from store.judging.states import SoughtIds, sizes
from store.records import Counts, JudgeKind, Scale, State


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """What lies before no judge yet, counted by topic; topics without any are left out."""

    undrawn: dict[str, int] = field(default_factory=dict)
    """Documents that adaptive pools may still draw; every judge will be shown them. None where
    documents are assigned: nobody draws."""
    is_assigned: bool = False
    """Whether documents are assigned to judges; the other counts are 0 otherwise."""
    open_places: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents for whoever claims them."""
    lapsed: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents whose judge let the lease run out: others may claim them."""
    unassigned: dict[str, int] = field(default_factory=dict)
    """Pooled documents without any place: nobody will be shown them until they are assigned."""
    drawn: dict[str, int] = field(default_factory=dict)
    """Pooled documents without any place that adaptive pools alone have: none can be assigned."""


def count_states(session: Session, topics: Keys, scale: Scale) -> dict[tuple[str, str], Counts]:
    """Count documents by state for every topic and judge.

    Once anything is assigned, a person's pool is what is assigned to that person; the rest, when judged all
    the same, counts as outside. Of judges of other kinds the pool is the whole.
    """
    undrawn = count_undrawn(session)
    whole = sizes(session, SoughtIds())
    places = _places(session) if has_assignments(session) else None
    seen: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    grades: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    counted = _count_events(session, by_places=places is not None)
    for topic, judge_id, state, grade, inside, count in counted:
        key = (topic, judge_id)
        if state == State.JUDGED.value:
            grades[key][grade] += count
            seen[key]["judged" if inside else "outside"] += count
        else:
            seen[key][state] += count if inside else 0
    topic_ids = whole.keys() | undrawn.keys() | {topic for topic, _ in seen}
    counts = {}
    judges = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled, JUDGE.c.kind)
    for judge in session.execute(judges):
        by_name = places is not None and judge.kind == JudgeKind.HUMAN.value
        own = places[judge.id] if places is not None and by_name else whole
        for topic in topic_ids:
            key = (topic, judge.id)
            if judge.disabled and key not in seen:
                continue
            states, by_grade = seen.get(key, Counter()), grades.get(key, Counter())
            counts[topics.names[topic], judge.name] = Counts(
                pooled=own[topic],
                judged=states["judged"],
                skipped=states[State.SKIPPED],
                cannot=states[State.CANNOT],
                outside=states["outside"],
                by_grade={value: by_grade[value] for value in scale.values},
            )
    return counts


def _places(session: Session) -> defaultdict[int, Counter[int]]:
    """Count the pooled documents of every topic that each judge has a place at."""
    key = (ASSIGNMENT.c.judge_id, ASSIGNMENT.c.topic_id)
    named = select(*key, func.count()).where(ASSIGNMENT.c.judge_id.is_not(None), is_pooled(ASSIGNMENT))
    places: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for judge, topic, count in session.execute(named.group_by(*key)):
        places[judge][topic] = count
    return places


def _count_events(session: Session, *, by_places: bool) -> Iterable[Any]:
    """Count the current states by topic, judge, state, grade, and whether the document is theirs.

    Theirs = pooled, and for a person, where documents are assigned (`by_places`), assigned too.
    """
    now = current_events("topic_id", "document_id", "judge_id", "state", "grade").subquery()
    inside = is_pooled(now)
    if by_places:
        people = select(JUDGE.c.id).where(JUDGE.c.kind == JudgeKind.HUMAN.value)
        place = select(ASSIGNMENT.c.id).where(
            same_pair(ASSIGNMENT, now), ASSIGNMENT.c.judge_id == now.c.judge_id
        )
        inside = inside & (now.c.judge_id.not_in(people) | place.correlate(now).exists())
    events = select(now, inside.label("is_inside")).subquery()
    key = [events.c[name] for name in ("topic_id", "judge_id", "state", "grade", "is_inside")]
    return session.execute(select(*key, func.count()).group_by(*key))


def _by_name(topics: Keys, ids: Counter[int] | Iterable[int]) -> dict[str, int]:
    """Count topic ids by their names."""
    return {topics.names[topic]: count for topic, count in Counter(ids).items()}


class JudgingProgress(Area):
    """How far the judging of a collection has come."""

    def counts(self) -> dict[tuple[str, str], Counts]:
        """Return how many documents stand where, by (topic, judge); see `count_states`."""
        with self._db.reading_keyed() as (session, topics, _):
            return count_states(session, topics, self._db.scale)

    def unclaimed(self) -> Unclaimed:
        """Count what lies before no judge yet."""
        with self._db.reading_topics() as (session, topics):
            undrawn = _by_name(topics, Counter(count_undrawn(session)))
            if not has_assignments(session):
                return Unclaimed(undrawn)
            pairs, assignable = pooled_pairs(session), pooled_pairs(session, drawn=False)
            now = database_now(session)
            open_places, lapsed = [], []
            with_place: set[Pair] = set()
            query = select(
                ASSIGNMENT.c.topic_id,
                ASSIGNMENT.c.document_id,
                ASSIGNMENT.c.judge_id,
                ASSIGNMENT.c.lease_until,
            )
            for topic, document, judge, until in session.execute(query):
                with_place.add((topic, document))
                if (topic, document) not in pairs:
                    continue
                if judge is None:
                    open_places.append(topic)
                elif until is not None and until < now:
                    lapsed.append(topic)
            return Unclaimed(
                undrawn,
                is_assigned=True,
                open_places=_by_name(topics, open_places),
                lapsed=_by_name(topics, lapsed),
                unassigned=_by_name(topics, (topic for topic, _ in assignable - with_place)),
                drawn=_by_name(topics, (topic for topic, _ in pairs - assignable - with_place)),
            )

    def recent_times(self, *, limit: int) -> dict[str, list[int]]:
        """Return the active times of every judge's latest decisions; see `recent_active_ms`."""
        with self._db.reading() as session:
            judges = session.execute(select(JUDGE.c.id, JUDGE.c.name)).all()
            return {row.name: recent_active_ms(session, judge=row.id, limit=limit) for row in judges}

    def effort(self) -> list[Effort]:
        """Return what judging cost every judge; see `store.judging.effort.fetch_effort`."""
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
