"""Words that judges want marked in the documents of a topic."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import delete, insert, select
from sqlmodel import Session

from store.models import JUDGE, JUDGE_TERM


def fetch_terms(session: Session, *, judge: int, topic: int) -> tuple[str, ...]:
    """Return a judge's own terms for a topic, in the order they were given."""
    query = (
        select(JUDGE_TERM.c.term)
        .where(JUDGE_TERM.c.judge_id == judge, JUDGE_TERM.c.topic_id == topic)
        .order_by(JUDGE_TERM.c.position)
    )
    return tuple(session.scalars(query))


def set_terms(session: Session, *, judge: int, topic: int, terms: Iterable[str]) -> None:
    """Replace a judge's own terms for a topic; blank ones and repetitions are left out."""
    own = (JUDGE_TERM.c.judge_id == judge, JUDGE_TERM.c.topic_id == topic)
    connection = session.connection()
    # Two sittings of one judge take turns.
    connection.execute(select(JUDGE.c.id).where(JUDGE.c.id == judge).with_for_update())
    connection.execute(delete(JUDGE_TERM).where(*own))
    kept = dict.fromkeys(stripped for term in terms if (stripped := term.strip()))
    rows = [
        {"judge_id": judge, "topic_id": topic, "position": position, "term": term}
        for position, term in enumerate(kept)
    ]
    if rows:
        connection.execute(insert(JUDGE_TERM), rows)
