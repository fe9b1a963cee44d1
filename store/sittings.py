"""Sittings: stretches of work of one judge at one terminal, and their signs of life."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from sqlalchemy import select, update
from sqlmodel import Session

from store.database import database_now
from store.models import SITTING, TOPIC, SittingRow
from store.records import LiveSitting
from store.sanitise import sanitise_line

ALIVE = timedelta(minutes=2)
"""A sitting without a sign of life for longer is taken for dead."""


def open_sitting(session: Session, judge: int, *, program: str) -> int:
    """Begin a sitting of a judge and return its id."""
    now = database_now(session)
    row = SittingRow(
        judge_id=judge,
        started_at=now,
        seen_at=now,
        host=socket.gethostname(),
        process=os.getpid(),
        program=program,
    )
    session.add(row)
    session.flush()
    return row.id or 0


def beat(session: Session, sitting: int, *, topic: int | None) -> None:
    """Give a sign of life: the sitting is at work on a topic, by its row id."""
    values = {"seen_at": database_now(session), "topic_id": topic}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def close_sitting(session: Session, sitting: int) -> None:
    """End a sitting."""
    now = database_now(session)
    values = {"seen_at": now, "ended_at": now}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def live_sittings(session: Session, judge: int, *, but: int | None) -> list[LiveSitting]:
    """Return the sittings of a judge that are alive, the latest sign of life first.

    Parameters
    ----------
    session : Session
        Any session.
    judge : int
        Row id.
    but : int or None
        The sitting that asks.
    """
    query = (
        select(SITTING.c.id, SITTING.c.host, SITTING.c.seen_at, TOPIC.c.number)
        .outerjoin(TOPIC, TOPIC.c.id == SITTING.c.topic_id)
        .where(
            SITTING.c.judge_id == judge,
            SITTING.c.ended_at.is_(None),
            SITTING.c.seen_at > database_now(session) - ALIVE,
        )
        .order_by(SITTING.c.seen_at.desc(), SITTING.c.id.desc())
    )
    return [
        LiveSitting(sanitise_line(row.host), row.number or "", row.seen_at)
        for row in session.execute(query)
        if row.id != but
    ]
