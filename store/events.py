"""What one judge did, event by event, as that judge may see it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, select
from sqlmodel import Session

from store.models import DOCUMENT, JUDGEMENT, SITTING, TOPIC
from store.records import Action, Event, State
from store.sanitise import sanitise, sanitise_line


def fetch_events(
    session: Session,
    *,
    judge: int,
    sitting: int | None,
    where: ColumnElement[bool],
    limit: int | None = None,
) -> list[Event]:
    """Return a judge's events, the newest first, fit for a terminal but for the ids.

    Parameters
    ----------
    session : Session
        Any session.
    judge : int
        Row id.
    sitting : int or None
        The sitting that asks.
    where : ColumnElement of bool
        Which of them.
    limit : int, optional
        Most events to return.
    """
    own = JUDGEMENT.c.judge_id == judge
    undone = select(JUDGEMENT.c.undoes).where(own, JUDGEMENT.c.undoes.is_not(None))
    query = (
        select(
            JUDGEMENT,
            JUDGEMENT.c.id.in_(undone).label("is_undone"),
            TOPIC.c.number,
            DOCUMENT.c.docno,
            SITTING.c.host,
        )
        .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
        .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
        .outerjoin(SITTING, SITTING.c.id == JUDGEMENT.c.sitting_id)
        .where(own, where)
        .order_by(JUDGEMENT.c.id.desc())
        .limit(limit)
    )
    return [_as_event(row, sitting) for row in session.execute(query)]


def _as_event(row: Row[Any], sitting: int | None) -> Event:
    """Turn a row into what the judge is shown."""
    return Event(
        topic=row.number,
        docno=row.docno,
        action=Action(row.action),
        state=State(row.state),
        grade=row.grade,
        reason=sanitise_line(row.reason),
        note=sanitise(row.note),
        revision=row.revision,
        judged_at=row.judged_at,
        is_undone=bool(row.is_undone),
        is_here=sitting is not None and row.sitting_id == sitting,
        host=sanitise_line(row.host or ""),
    )
