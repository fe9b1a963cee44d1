"""What lies before every judge: counts of the places at pooled documents."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlmodel import Session

from store.assignments import is_decided, is_pooled
from store.database import database_now
from store.draws import is_adaptive
from store.models import ASSIGNMENT, JUDGE, POOL, POOL_ENTRY
from store.seats import Purpose, Workload, Workloads

_PURPOSES = tuple(purpose.value for purpose in Purpose)


def fetch_workloads(session: Session) -> Workloads:
    """Count what lies before every judge."""
    now = database_now(session)
    is_leased = ASSIGNMENT.c.lease_until.is_not(None)
    is_live = and_(is_leased, ASSIGNMENT.c.lease_until >= now)
    pooled = is_pooled(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
    places = (
        select(
            ASSIGNMENT.c.topic_id,
            ASSIGNMENT.c.document_id,
            ASSIGNMENT.c.judge_id,
            *(_one_if(ASSIGNMENT.c.purpose == purpose).label(purpose) for purpose in _PURPOSES),
            _one_if(is_decided()).label("decided"),
            _one_if(is_live).label("claimed"),
            _one_if(and_(is_leased, ~is_live)).label("lapsed"),
            case((is_live, ASSIGNMENT.c.lease_until)).label("until"),
        )
        .where(pooled)
        .subquery()
    )
    numbers = (*_PURPOSES, "decided", "claimed", "lapsed")
    by_topic = (
        select(
            places.c.judge_id,
            func.count(places.c.document_id.distinct()).label("documents"),
            *(func.sum(places.c[number]).label(number) for number in numbers),
            func.max(places.c.until).label("until"),
        )
        .group_by(places.c.judge_id, places.c.topic_id)
        .subquery()
    )
    query = (
        select(
            JUDGE.c.name.label("judge"),
            func.count().label("topics"),
            *(func.sum(by_topic.c[number]).label(number) for number in ("documents", *numbers)),
            func.max(by_topic.c.until).label("until"),
        )
        .outerjoin_from(by_topic, JUDGE, JUDGE.c.id == by_topic.c.judge_id)
        .group_by(by_topic.c.judge_id, JUDGE.c.name)
    )
    lines = [
        Workload(
            judge=row.judge,
            topics=row.topics,
            documents=int(row.documents),
            primary=int(row.primary),
            overlap=int(row.overlap),
            calibration=int(row.calibration),
            decided=int(row.decided),
            claimed=int(row.claimed),
            lapsed=int(row.lapsed),
            until=row.until,
        )
        for row in session.execute(query)
    ]
    pairs = (
        select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.sampled, ~POOL.c.withdrawn)
        .distinct()
        .subquery()
    )
    place = select(ASSIGNMENT.c.id).where(
        ASSIGNMENT.c.topic_id == pairs.c.topic_id, ASSIGNMENT.c.document_id == pairs.c.document_id
    )
    fixed = (
        select(POOL_ENTRY.c.pool_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(
            POOL_ENTRY.c.topic_id == pairs.c.topic_id,
            POOL_ENTRY.c.document_id == pairs.c.document_id,
            POOL_ENTRY.c.sampled,
            ~POOL.c.withdrawn,
            ~is_adaptive(POOL.c.id),
        )
    )
    count = select(func.count()).select_from(pairs)
    without = count.where(~place.exists())
    return Workloads(
        sorted(lines, key=lambda line: (line.judge is None, line.judge or "")),
        pooled=session.scalar(count) or 0,
        unassigned=session.scalar(without.where(fixed.exists())) or 0,
        drawn=session.scalar(without.where(~fixed.exists())) or 0,
        outside=session.scalar(select(func.count(ASSIGNMENT.c.id)).where(~pooled)) or 0,
    )


def _one_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Make 1 of what is true in SQL, else 0."""
    return case((condition, 1), else_=0)
