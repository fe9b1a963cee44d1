"""Sittings, signs of life, a judge's own terms."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, bindparam, case, collate, select, update
from sqlmodel import Session

from store.db.columns import insert_row
from store.db.engine import database_now
from store.db.tables import JUDGE, JUDGEMENT, SITTING, TOPIC
from store.records import LiveSitting
from store.text import sanitise_line

ALIVE = timedelta(minutes=2)
"""A sitting without a sign of life for longer is taken for dead."""


def open_sitting(session: Session, judge: int, *, program: str) -> int:
    """Begin a sitting of a judge and return its id."""
    moments = dict.fromkeys(("started_at", "seen_at"), database_now(session))
    where = {"host": socket.gethostname(), "process": os.getpid(), "program": program}
    return insert_row(session, SITTING, judge_id=judge, **moments, **where)


def beat(session: Session, sitting: int, *, topic: int | None) -> None:
    """Renew the sign of life: the sitting is at work on a topic, by its row id."""
    values = {"seen_at": database_now(session), "topic_id": topic}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def close_sitting(session: Session, sitting: int) -> None:
    """End a sitting."""
    now = database_now(session)
    values = {"seen_at": now, "ended_at": now}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def live_sittings(session: Session, judge: int, *, but: int | None) -> list[LiveSitting]:
    """Return a judge's other sittings that are alive, the latest sign of life first."""
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


CLOCK_SLACK, LONG_AGO = timedelta(minutes=1), timedelta(days=365)
"""How far two computers' clocks may differ; after which silence the clock is doubted."""


def clock_doubt(session: Session) -> str:
    """Return how the clock and what is stored contradict each other; empty = they do not."""
    now = database_now(session)
    moments = JUDGEMENT.c.judged_at, SITTING.c.seen_at
    newest = [
        session.scalar(select(moment).order_by(moment.table.c.id.desc()).limit(1)) for moment in moments
    ]
    last = max((one for one in newest if one is not None), default=now)
    if now - LONG_AGO <= last <= now + CLOCK_SLACK:
        return ""
    days = f"{abs(now - last).days:,} days {'after' if last > now else 'before'}"
    return (
        f"the clock says {now:%Y-%m-%d %H:%M} UTC, and what was done last is of {last:%Y-%m-%d %H:%M}, {days}"
        " that: moments of what is judged may be wrong; its order is kept by revisions"
    )


def lock_judge(session: Session, judge: int) -> None:
    """Make two programs of one judge take turns; other judges do not wait."""
    session.execute(_LOCK, {"judge": judge}).one()


_LOCK = select(JUDGE.c.id).where(JUDGE.c.id == bindparam("judge")).with_for_update(key_share=True)


def fetch_sitting_numbers(session: Session, names: Mapping[int, str] | None = None) -> dict[int | None, int]:
    """Return the number of every sitting, from 1 in the order in which they began, by row id."""
    order = SITTING.c.started_at, judge_called(session, names), SITTING.c.id
    ids = session.scalars(select(SITTING.c.id).join(JUDGE, JUDGE.c.id == SITTING.c.judge_id).order_by(*order))
    return {row_id: number for number, row_id in enumerate(ids, start=1)}


def judge_called(session: Session, names: Mapping[int, str] | None = None) -> ColumnElement[str]:
    """Return the names of judges in SQL, compared bytewise: their own, or those of `names` by row id."""
    if not names:
        return JUDGE.c.name
    collation = "C" if session.get_bind().dialect.name == "postgresql" else "BINARY"
    return collate(case(dict(names), value=JUDGE.c.id), collation)
