"""Places at documents, laid straight into the tables: what a desk shows must not depend on how."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update

from store.db.engine import reading, writing
from store.db.tables import ASSIGNMENT, ASSIGNMENT_PLAN, DOCUMENT, JUDGE, TOPIC
from tests.helpers.world import engine_of


def held_place(
    name: str,
    topic: str,
    docnos: str,
    judge: str | None,
    *,
    lease_s: int | None = None,
    first: int = 0,
    display_order: str = "docno",
    order_seed: int | None = None,
    purpose: str = "primary",
) -> None:
    """Make a place at each document, by name or open; open ones need a lease.

    Positions count from `first` in the order given.
    """
    with engine_of(name) as engine, writing(engine) as session:
        connection = session.connection()
        plan = session.scalar(
            select(ASSIGNMENT_PLAN.c.id).where(ASSIGNMENT_PLAN.c.lease_s == lease_s)
            if lease_s is not None
            else select(ASSIGNMENT_PLAN.c.id).where(ASSIGNMENT_PLAN.c.lease_s.is_(None))
        )
        if plan is None:
            values = {"manifest": "{}", "lease_s": lease_s, "created_at": datetime.now(UTC)}
            made = connection.execute(insert(ASSIGNMENT_PLAN).values(values))
            plan = made.inserted_primary_key[0]
        topic_id = session.scalar(select(TOPIC.c.id).where(TOPIC.c.number == topic))
        judge_id = session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == judge))
        documents = {row.docno: row.id for row in session.execute(select(DOCUMENT.c.docno, DOCUMENT.c.id))}
        rows = [
            {
                "topic_id": topic_id,
                "document_id": documents[docno],
                "judge_id": judge_id,
                "position": first + place,
                "purpose": purpose,
                "plan_id": plan,
                "display_order": display_order,
                "order_seed": order_seed,
            }
            for place, docno in enumerate(docnos)
        ]
        connection.execute(insert(ASSIGNMENT), rows)


def places(name: str) -> list[tuple[str, str, str | None, datetime | None]]:
    """Return topic, docno, judge and lease of every place, sorted."""
    with engine_of(name) as engine, reading(engine) as session:
        query = (
            select(TOPIC.c.number, DOCUMENT.c.docno, JUDGE.c.name, ASSIGNMENT.c.lease_until)
            .join(TOPIC, TOPIC.c.id == ASSIGNMENT.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == ASSIGNMENT.c.document_id)
            .outerjoin(JUDGE, JUDGE.c.id == ASSIGNMENT.c.judge_id)
        )
        return sorted((tuple(row) for row in session.execute(query)), key=repr)


def let_lapse(name: str, judge: str = "", docnos: str = "") -> None:
    """Let leases have run out an hour ago: all, those of a judge, or those at some documents."""
    with engine_of(name) as engine, writing(engine) as session:
        where: list[Any] = [ASSIGNMENT.c.lease_until.is_not(None)]
        if judge:
            where.append(ASSIGNMENT.c.judge_id.in_(select(JUDGE.c.id).where(JUDGE.c.name == judge)))
        if docnos:
            chosen = select(DOCUMENT.c.id).where(DOCUMENT.c.docno.in_(list(docnos)))
            where.append(ASSIGNMENT.c.document_id.in_(chosen))
        past = datetime.now(UTC) - timedelta(hours=1)
        session.connection().execute(update(ASSIGNMENT).where(*where).values(lease_until=past))
