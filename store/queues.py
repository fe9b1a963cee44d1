"""Which documents lie before a judge, and in which order; no run, rank, score or other judge."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import exists, func, select
from sqlmodel import Session

from store.assignments import assigned_documents, assigned_pairs, claimable, has_assignments
from store.draws import draws_left
from store.models import ASSIGNMENT, DOCUMENT, POOL, POOL_ENTRY


@dataclass(frozen=True, slots=True)
class Queued:
    """One document of a queue."""

    document: int
    """Row id."""
    docno: str
    display_order: str
    round: str


def fetch_queue(session: Session, judge: int, topic: int) -> list[Queued]:
    """Return a judge's documents of a topic in display order.

    Parameters
    ----------
    session : Session
        Any session.
    judge, topic : int
        Row ids.

    Returns
    -------
    list of Queued
        What is assigned to the judge, in the order of the assignment; the whole pool, one pool
        after the other, where nothing is assigned to anybody.
    """
    query = (
        select(DOCUMENT.c.id, DOCUMENT.c.docno, POOL.c.display_order, POOL.c.round)
        .join(POOL_ENTRY, POOL_ENTRY.c.document_id == DOCUMENT.c.id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.topic_id == topic, ~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
        .order_by(POOL.c.id, POOL_ENTRY.c.position)
    )
    pooled: dict[int, Queued] = {}
    for document, docno, order, label in session.execute(query):
        pooled.setdefault(document, Queued(document, docno, order, label))
    if not has_assignments(session):
        return list(pooled.values())
    return [
        Queued(document, pooled[document].docno, seat.display_order, pooled[document].round)
        for document, seat in assigned_documents(session, judge, topic).items()
        if document in pooled
    ]


def fetch_queues(session: Session, judge: int) -> dict[int, set[int]]:
    """Return the row ids of the documents of every queue of a judge, by topic."""
    query = (
        select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
        .distinct()
    )
    assigned = assigned_pairs(session, judge) if has_assignments(session) else None
    queues: dict[int, set[int]] = {}
    for topic, document in session.execute(query):
        if assigned is None or (topic, document) in assigned:
            queues.setdefault(topic, set()).add(document)
    return queues


def is_queued(session: Session, judge: int) -> bool:
    """Say whether any document lies before a judge, decided or not, without counting them."""
    pooled = (
        select(POOL_ENTRY.c.document_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
    )
    if has_assignments(session):
        held = exists().where(
            ASSIGNMENT.c.judge_id == judge,
            ASSIGNMENT.c.topic_id == POOL_ENTRY.c.topic_id,
            ASSIGNMENT.c.document_id == POOL_ENTRY.c.document_id,
        )
        pooled = pooled.where(held)
    return session.scalar(pooled.limit(1)) is not None


def count_claimable(session: Session, judge: int) -> dict[int, int]:
    """Count, by topic, the documents that a judge may still claim."""
    return claimable(session, judge) if has_assignments(session) else {}


def count_undrawn(session: Session) -> dict[int, int]:
    """Count, by topic, the documents that adaptive pools may still draw.

    Nothing where documents are assigned: judges are shown those alone, and nobody draws.
    """
    if has_assignments(session):
        return {}
    one = draws_left().subquery()
    query = select(one.c.topic_id, func.sum(one.c.left)).group_by(one.c.topic_id)
    return {topic: int(count) for topic, count in session.execute(query)}
