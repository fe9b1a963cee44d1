"""How far judging has come, counted with the five states kept apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlmodel import Session

from store.assignments import has_assignments
from store.database import database_now
from store.deciding import Pair
from store.effort import recent_active_ms
from store.judgements import current_events
from store.keys import Keys
from store.models import ASSIGNMENT, JUDGE, JUDGEMENT
from store.pools import pooled_pairs
from store.queues import count_undrawn
from store.records import Counts, JudgeKind, Scale, State


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """What lies before no judge yet, counted by topic; topics without any are left out."""

    undrawn: dict[str, int] = field(default_factory=dict)
    """Documents that adaptive pools may still draw; every judge will be shown them."""
    is_assigned: bool = False
    """Whether documents are assigned to judges; the other counts are 0 otherwise."""
    open_places: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents for whoever claims them."""
    lapsed: dict[str, int] = field(default_factory=dict)
    """Places at pooled documents whose judge let the lease run out: others may claim them."""
    unassigned: dict[str, int] = field(default_factory=dict)
    """Pooled documents without any place: nobody will be shown them."""


def count_states(session: Session, topics: Keys, scale: Scale) -> dict[tuple[str, str], Counts]:
    """Count documents by state for every topic and judge.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    scale : Scale
        The declared grades; every one gets its count.

    Returns
    -------
    dict of (str, str) to Counts
        By (topic, judge), for topics with a pooled or judged document, or one that may still be
        drawn, and judges who are not disabled or have judged.

    Notes
    -----
    Once anything is assigned, a person's pool is what is assigned to that person; the rest, when
    judged all the same, counts as outside. Imported and model judges, and adjudicators, are
    assigned nothing: their pool is the whole.
    """
    pooled = pooled_pairs(session)
    undrawn = count_undrawn(session)
    pools = {row.id: pooled for row in session.execute(select(JUDGE.c.id))}
    if has_assignments(session):
        places = _places_by_judge(session)
        people = select(JUDGE.c.id).where(JUDGE.c.kind == JudgeKind.HUMAN.value)
        pools |= {judge: pooled & places.get(judge, set()) for judge in session.scalars(people)}
    whole = Counter(topic for topic, _ in pooled)
    sizes = {
        judge: whole if pool is pooled else Counter(topic for topic, _ in pool)
        for judge, pool in pools.items()
    }
    seen: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    grades: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    names = ("topic_id", "document_id", "judge_id", "state", "grade")
    current = current_events().with_only_columns(
        *(JUDGEMENT.c[name] for name in names), maintain_column_froms=True
    )
    for topic, document, judge_id, state, grade in session.execute(current):
        key = (topic, judge_id)
        inside = (topic, document) in pools[judge_id]
        counter = seen[key]
        if state == State.JUDGED.value:
            grades[key][grade] += 1
            counter["judged" if inside else "outside"] += 1
        elif inside:
            counter[state] += 1
    topic_ids = {topic for topic, _ in pooled} | {topic for topic, _ in seen} | set(undrawn)
    counts = {}
    for judge in session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled)):
        for topic in topic_ids:
            key = (topic, judge.id)
            if judge.disabled and key not in seen:
                continue
            states, by_grade = seen.get(key, Counter()), grades.get(key, Counter())
            counts[topics.names[topic], judge.name] = Counts(
                pooled=sizes[judge.id][topic],
                judged=states["judged"],
                skipped=states[State.SKIPPED],
                cannot=states[State.CANNOT],
                outside=states["outside"],
                by_grade={value: by_grade[value] for value in scale.values},
            )
    return counts


def count_unclaimed(session: Session, topics: Keys) -> Unclaimed:
    """Count what lies before no judge yet.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    """
    undrawn = _by_name(topics, Counter(count_undrawn(session)))
    if not has_assignments(session):
        return Unclaimed(undrawn)
    pooled, now = pooled_pairs(session), database_now(session)
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
        if (topic, document) not in pooled:
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
        unassigned=_by_name(topics, (topic for topic, _ in pooled - with_place)),
    )


def recent_times(session: Session, *, limit: int) -> dict[str, list[int]]:
    """Return the active times of every judge's latest decisions; see `recent_active_ms`."""
    judges = session.execute(select(JUDGE.c.id, JUDGE.c.name)).all()
    return {row.name: recent_active_ms(session, judge=row.id, limit=limit) for row in judges}


def _places_by_judge(session: Session) -> dict[int, set[Pair]]:
    """Return the pairs each judge holds a place at."""
    places: dict[int, set[Pair]] = {}
    query = select(ASSIGNMENT.c.judge_id, ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
    for judge, topic, document in session.execute(query.where(ASSIGNMENT.c.judge_id.is_not(None))):
        places.setdefault(judge, set()).add((topic, document))
    return places


def _by_name(topics: Keys, ids: Counter[int] | Iterable[int]) -> dict[str, int]:
    """Count topic ids by their names."""
    return {topics.names[topic]: count for topic, count in Counter(ids).items()}
