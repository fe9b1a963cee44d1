"""Which event decided how a document stands with a judge.

The newest event need not be it: a note keeps the grade of an earlier event, and an undo brings one
back. What a decision rests on - the guidelines, the text, the time taken - stands with the event
that decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, or_, select
from sqlmodel import Session

from store.models import JUDGEMENT
from store.records import Action, State

_COLUMNS = [
    column for column in JUDGEMENT.columns if column.name not in ("note", "reason", "iteration")
]
_DECIDES = (Action.JUDGE, Action.SKIP, Action.CANNOT)

Pair = tuple[int, int]
"""Row ids of a topic and a document."""


def deciding_events(events: Sequence[Row[Any]]) -> list[Row[Any] | None]:
    """Return for each event of a document the one that decided the state after it.

    Parameters
    ----------
    events : sequence of Row
        Of one judge and one document, by rising revision. Earlier ones may be missing.

    Returns
    -------
    list of Row or None
        ``None`` = no decision stands, or one that is missing.
    """
    by_revision: dict[int, Row[Any] | None] = {}
    by_id = {event.id: event for event in events}
    decided: list[Row[Any] | None] = []
    for event in events:
        if event.action in _DECIDES:
            decider: Row[Any] | None = event
        elif event.action == Action.REOPEN:
            decider = None
        elif event.action == Action.UNDO:
            undone = by_id.get(event.undoes)
            decider = None if undone is None else by_revision.get(_followed(undone))
        else:
            decider = by_revision.get(_followed(event))
        if event.action == Action.SETTLE:
            decider = _settled(event, decider)
        by_revision[event.revision] = decider
        decided.append(decider)
    return decided


def _followed(event: Row[Any]) -> int:
    """Return the revision that stood when the judge acted; of a settlement, the one it took."""
    return int(event.revision - 1 if event.follows is None else event.follows)


def _settled(event: Row[Any], decider: Row[Any] | None) -> Row[Any] | None:
    """Return what decided after copies were settled: on one of them, or by hand here."""
    if event.state == State.UNJUDGED:
        return None
    taken = None if decider is None else (decider.state, decider.grade)
    return decider if taken == (event.state, event.grade) else event


def fetch_histories(session: Session, *, judge: int) -> dict[Pair, list[Row[Any]]]:
    """Return every event of a judge by document, by rising revision; without their texts."""
    query = select(*_COLUMNS).where(JUDGEMENT.c.judge_id == judge)
    return _by_pair(session.execute(query.order_by(JUDGEMENT.c.revision)))


def fetch_recent_histories(
    session: Session, *, judge: int, limit: int
) -> dict[Pair, list[Row[Any]]]:
    """Return the last so many events of a judge at a desk, as `fetch_histories` does."""
    query = select(*_COLUMNS).where(JUDGEMENT.c.judge_id == judge, at_desk()).limit(limit)
    rows = session.execute(query.order_by(JUDGEMENT.c.id.desc())).all()
    return _by_pair(reversed(rows))


def at_desk() -> ColumnElement[bool]:
    """Say in SQL that an event was made at a desk, or ends what was: no import."""
    return or_(JUDGEMENT.c.sitting_id.is_not(None), JUDGEMENT.c.action == Action.REOPEN.value)


def sat_down(session: Session) -> set[int]:
    """Return the row ids of the judges who have an event made at a desk."""
    query = select(JUDGEMENT.c.judge_id).where(JUDGEMENT.c.sitting_id.is_not(None)).distinct()
    return set(session.scalars(query))


def _by_pair(rows: Iterable[Row[Any]]) -> dict[Pair, list[Row[Any]]]:
    """Sort rows by their documents."""
    histories: dict[Pair, list[Row[Any]]] = {}
    for row in rows:
        histories.setdefault((row.topic_id, row.document_id), []).append(row)
    return histories
