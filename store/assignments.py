"""Places at documents: who may judge what, and claims that lapse.

One row is one place, so a document with k places never gets a (k+1)th judge: whoever decides
holds a place in the transaction that writes the decision. A place is open (nobody's), claimed
(until its lease runs out), settled (a decision stands), or given by name (it never lapses).

A lapsed place stays its holder's until another judge claims it. Rows are locked in one order, the
judge's own first and then places, and claims wait for no place, so no two transactions wait for
each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, ScalarSelect, and_, exists, func, or_, select, update
from sqlmodel import Session

from store.database import database_now
from store.errors import ConflictError
from store.models import ASSIGNMENT, ASSIGNMENT_PLAN, JUDGE, JUDGEMENT, POOL, POOL_ENTRY
from store.records import DECIDED, State
from store.seats import Seat

Id = ColumnElement[int]
"""A column of row ids."""


def has_assignments(session: Session) -> bool:
    """Say whether anything is assigned: if so, judges are shown only what they have places at."""
    return session.scalar(select(ASSIGNMENT.c.id).limit(1)) is not None


def assigned_documents(session: Session, judge: int, topic: int) -> dict[int, Seat]:
    """Return the places a judge holds in a topic, by document id.

    Parameters
    ----------
    session : Session
        Any session.
    judge, topic : int
        Row ids.

    Returns
    -------
    dict of int to Seat
        In the judge's display order; places that lapsed to another judge are not the judge's any
        more. Of pooled documents and others.
    """
    query = (
        select(
            ASSIGNMENT.c.document_id,
            ASSIGNMENT.c.position,
            ASSIGNMENT.c.display_order,
            ASSIGNMENT.c.lease_until,
        )
        .where(ASSIGNMENT.c.judge_id == judge, ASSIGNMENT.c.topic_id == topic)
        .order_by(ASSIGNMENT.c.position, ASSIGNMENT.c.id)
    )
    return {row.document_id: Seat(*row) for row in session.execute(query)}


def assigned_pairs(session: Session, judge: int) -> set[tuple[int, int]]:
    """Return topic id and document id of every place a judge holds, pooled or not."""
    query = select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id).where(
        ASSIGNMENT.c.judge_id == judge
    )
    return {(topic, document) for topic, document in session.execute(query)}


def claimable(session: Session, judge: int) -> dict[int, int]:
    """Count the documents that a judge could claim now, by topic id.

    Those pooled with a place that is open or has lapsed, where the judge neither holds a place
    nor has a decision that stands. Topics without any are left out.
    """
    # Each document once before the rest is looked up: half the work where it has two places.
    free = (
        select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
        .where(_is_free(judge, database_now(session)))
        .distinct()
        .subquery()
    )
    query = (
        select(free.c.topic_id, func.count().label("documents"))
        .where(*_is_for(judge, free.c.topic_id, free.c.document_id))
        .group_by(free.c.topic_id)
    )
    return {row.topic_id: row.documents for row in session.execute(query)}


def claim(session: Session, judge: int, topic: int, *, n: int) -> list[int]:
    """Take places of a topic for a judge, the first in the plan's order.

    Parameters
    ----------
    session : Session
        A writing session.
    judge, topic : int
        Row ids.
    n : int
        Most places to take, at least 1.

    Returns
    -------
    list of int
        The documents, in the plan's order; empty = there is none to claim now. Places that other
        judges are claiming at this moment are passed over.
    """
    _lock_judge(session, judge)
    now = database_now(session)
    query = (
        select(
            ASSIGNMENT.c.id,
            ASSIGNMENT.c.document_id,
            ASSIGNMENT.c.position,
            ASSIGNMENT_PLAN.c.lease_s,
        )
        .join(ASSIGNMENT_PLAN, ASSIGNMENT_PLAN.c.id == ASSIGNMENT.c.plan_id)
        .where(
            ASSIGNMENT.c.topic_id == topic,
            _is_free(judge, now),
            *_is_for(judge, ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id),
        )
        .order_by(ASSIGNMENT.c.position, ASSIGNMENT.c.id)
        .limit(1)
        .with_for_update(of=ASSIGNMENT, skip_locked=True)
    )
    documents: list[int] = []
    by_lease: dict[int, list[int]] = {}
    # One by one: two at once could be two places of one document.
    while len(documents) < n and (row := session.execute(query).first()) is not None:
        by_lease.setdefault(row.lease_s, []).append(row.id)
        documents.append(row.document_id)
        query = query.where(
            ASSIGNMENT.c.position >= row.position, ASSIGNMENT.c.document_id != row.document_id
        )
    for lease_s, places in by_lease.items():
        _take(session, places, judge, now + timedelta(seconds=lease_s))
    return documents


def hold(session: Session, judge: int, topic: int, document: int, *, decided: bool) -> None:
    """Make sure that a judge may write an event on a document, and settle or renew the place.

    Parameters
    ----------
    session : Session
        The writing session that will write the event.
    judge, topic, document : int
        Row ids.
    decided : bool
        Whether a decision stands after the event: it settles the place, and anything else lets a
        claimed place's lease begin anew.

    Raises
    ------
    ConflictError
        If the judge has no place there, or had one that lapsed to another judge, and none is open.

    Notes
    -----
    Does nothing in a collection without any assignment.
    """
    _lock_judge(session, judge)
    here = and_(ASSIGNMENT.c.topic_id == topic, ASSIGNMENT.c.document_id == document)
    query = (
        select(ASSIGNMENT.c.id, ASSIGNMENT_PLAN.c.lease_s)
        .outerjoin(ASSIGNMENT_PLAN, ASSIGNMENT_PLAN.c.id == ASSIGNMENT.c.plan_id)
        .where(here)
        .order_by(ASSIGNMENT.c.id)
        .limit(1)
        .with_for_update(of=ASSIGNMENT)
    )
    # Locked even where nothing will change: who assigns anew waits until the event is written.
    place = session.execute(query.where(ASSIGNMENT.c.judge_id == judge)).first()
    if place is None and not has_assignments(session):
        return
    now = database_now(session)
    if place is None:
        place = session.execute(query.where(_is_free(judge, now))).first()
    if place is None:
        message = "this document is not yours to judge, or no longer: it is other judges' now"
        raise ConflictError(message, hint="nothing was written; go on with the next one")
    if place.lease_s is not None:
        until = None if decided else now + timedelta(seconds=place.lease_s)
        _take(session, [place.id], judge, until)


def release(session: Session, judge: int) -> int:
    """Give back what a judge claimed and left alone; return how many places.

    Skipped documents stay the judge's until their leases run out.
    """
    _lock_judge(session, judge)
    newest = _newest_state(judge, ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
    given_back = session.connection().execute(
        update(ASSIGNMENT)
        .where(
            ASSIGNMENT.c.judge_id == judge,
            ASSIGNMENT.c.lease_until.is_not(None),
            func.coalesce(newest, State.UNJUDGED.value) == State.UNJUDGED.value,
        )
        .values(judge_id=None, lease_until=None)
    )
    return given_back.rowcount


def is_pooled(topic: Id, document: Id) -> ColumnElement[bool]:
    """Say in SQL that a document is to be judged in a pool not withdrawn."""
    return exists(
        select(POOL_ENTRY.c.pool_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(
            POOL_ENTRY.c.topic_id == topic,
            POOL_ENTRY.c.document_id == document,
            POOL_ENTRY.c.sampled,
            ~POOL.c.withdrawn,
        )
    )


def is_decided() -> ColumnElement[bool]:
    """Say in SQL that a place's own judge has decided; never so of an open place."""
    state = _newest_state(ASSIGNMENT.c.judge_id, ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
    return func.coalesce(state, State.UNJUDGED.value).in_(DECIDED)


def _is_free(judge: int, now: datetime) -> ColumnElement[bool]:
    """Say in SQL that a place is open, or another judge's lease on it has run out."""
    is_open = ASSIGNMENT.c.judge_id.is_(None)
    # Said apart, as an index of unsettled places says it.
    unsettled = or_(is_open, ASSIGNMENT.c.lease_until.is_not(None))
    lapsed = and_(ASSIGNMENT.c.judge_id != judge, ASSIGNMENT.c.lease_until < now)
    return and_(unsettled, or_(is_open, lapsed))


def _is_for(judge: int, topic: Id, document: Id) -> tuple[ColumnElement[bool], ...]:
    """Say in SQL that a judge may claim a place at a document, if one is free."""
    own = ASSIGNMENT.alias("own")
    held = exists(
        select(own.c.id).where(
            own.c.topic_id == topic, own.c.document_id == document, own.c.judge_id == judge
        )
    )
    state = func.coalesce(_newest_state(judge, topic, document), State.UNJUDGED.value)
    return ~held, state.not_in(DECIDED), is_pooled(topic, document)


def _newest_state(judge: int | Id, topic: Id, document: Id) -> ScalarSelect[str]:
    """Select where a document stands with a judge; null = there is no event."""
    return (
        select(JUDGEMENT.c.state)
        .where(
            JUDGEMENT.c.judge_id == judge,
            JUDGEMENT.c.topic_id == topic,
            JUDGEMENT.c.document_id == document,
        )
        .order_by(JUDGEMENT.c.revision.desc())
        .limit(1)
        .scalar_subquery()
    )


def _lock_judge(session: Session, judge: int) -> None:
    """Let two programs of one judge take places one after the other.

    The weakest lock that excludes itself: it is in no other judge's way, nor in that of rows that
    refer to the judge.
    """
    lock = select(JUDGE.c.id).where(JUDGE.c.id == judge).with_for_update(key_share=True)
    session.execute(lock).one()


def _take(session: Session, places: Sequence[int], judge: int, until: datetime | None) -> None:
    """Give places that are locked to a judge."""
    session.execute(
        update(ASSIGNMENT)
        .where(ASSIGNMENT.c.id.in_(places))
        .values(judge_id=judge, lease_until=until)
    )
