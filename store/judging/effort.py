"""What judging cost each judge, read from the events.

A document's active time is that of every time it was shown and something came of it, taken back or
not: the time was spent. A document looked at and left without an event has none. Its dwell is that
of the event that decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select
from sqlmodel import Session

from store.content.lookup import fetch_topic_names
from store.db.keys import fetch_docnos
from store.db.tables import JUDGE, JUDGEMENT
from store.judging.events import (
    current_events,
    deciding_events,
    fetch_histories,
    fetch_recent_histories,
    sat_down,
)
from store.records import DECIDED, Action, JudgeKind, State

_EVENTS_A_DECISION = 5
"""Events read for each decision that is asked for: notes, undone grades, skipped documents."""


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """A document that a judge graded, or found impossible to judge, at a desk."""

    topic: str
    docno: str
    state: State
    grade: int | None
    dwell_ms: int | None
    """How long it had been on the screen when it was decided; ``None`` = not known."""
    active_ms: int | None
    """Over every time it was shown since it was last reopened; ``None`` = not known."""
    judged_at: datetime
    """UTC; of the event that decided."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What judging cost one judge."""

    judge: str
    kind: JudgeKind
    sittings: int
    """Those in which anything was done."""
    active_ms: int | None
    """Over all events, those taken back too; ``None`` = none was timed."""
    dropped_keys: int
    """Grade keys that came sooner than the minimum dwell."""
    undone: int
    """Events taken back."""
    elsewhere: int
    """Documents with a grade that was imported: when and how fast it was given is not known."""
    documents: tuple[DecidedDocument, ...]
    """Decided at a desk, in the order in which each was first graded or found impossible."""


def fetch_effort(session: Session) -> list[Effort]:
    """Return what judging cost, for every judge with an event, by name."""
    topics = fetch_topic_names(session)
    sat = sat_down(session)
    is_imported = (JUDGEMENT.c.sitting_id.is_(None), JUDGEMENT.c.state == State.JUDGED.value)
    newest = current_events("judge_id").where(*is_imported).subquery()
    counted = select(newest.c.judge_id, func.count()).group_by(newest.c.judge_id)
    imported: dict[int, int] = dict(map(tuple, session.execute(counted)))
    query = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind).order_by(JUDGE.c.name)
    return [
        _effort(session, row, topics)
        if row.id in sat
        else Effort(row.name, JudgeKind(row.kind), 0, None, 0, 0, imported[row.id], ())
        for row in session.execute(query).all()
        if row.id in sat or row.id in imported
    ]


def recent_active_ms(session: Session, *, judge: int, limit: int) -> list[int]:
    """Return the active times of a judge's latest decisions, in milliseconds, the newest last.

    The time of every showing of a document, so that a grade corrected later costs what it cost; anew for one
    that was reopened. Decisions without a time are left out.
    """
    histories = fetch_recent_histories(session, judge=judge, limit=limit * _EVENTS_A_DECISION)
    decisions = []
    for events in histories.values():
        for part in _parts(events):
            decider = deciding_events(part)[-1]
            spent = _active_ms(part)
            if decider is not None and decider.state in DECIDED and spent is not None:
                decisions.append((decider.id, spent))
    return [spent for _, spent in sorted(decisions)][-limit:]


def _effort(session: Session, judge: Row[Any], topics: dict[int, str]) -> Effort:
    histories = fetch_histories(session, judge=judge.id)
    found = []
    elsewhere = 0
    for pair, history in histories.items():
        part = _parts(history)[-1]
        deciders = deciding_events(part)
        last = deciders[-1]
        if last is None or last.state not in DECIDED:
            continue
        if last.sitting_id is None:
            elsewhere += 1
            continue
        first = next(one for one in deciders if one is not None and one.state in DECIDED)
        found.append((first.id, pair, last, _active_ms(part)))
    found.sort(key=lambda one: one[0])
    docnos = fetch_docnos(session, (document for _, (_, document), _, _ in found))
    events = [event for history in histories.values() for event in history]
    times = [spent for history in histories.values() if (spent := _active_ms(history)) is not None]
    return Effort(
        judge=judge.name,
        kind=JudgeKind(judge.kind),
        sittings=len({event.sitting_id for event in events} - {None}),
        active_ms=sum(times) if times else None,
        dropped_keys=sum(event.dropped_keys for event in events),
        undone=sum(event.action == Action.UNDO for event in events),
        elsewhere=elsewhere,
        documents=tuple(
            DecidedDocument(
                topics[topic],
                docnos[document],
                State(last.state),
                last.grade,
                last.dwell_ms,
                spent,
                last.judged_at,
            )
            for _, (topic, document), last, spent in found
        ),
    )


def _parts(events: list[Row[Any]]) -> list[list[Row[Any]]]:
    """Split the events of a document where it was reopened: there the judge began anew."""
    parts: list[list[Row[Any]]] = [[]]
    for event in events:
        if event.action == Action.REOPEN and parts[-1]:
            parts.append([])
        parts[-1].append(event)
    return parts


def _active_ms(events: Iterable[Row[Any]]) -> int | None:
    """Add up the active time of every showing; ``None`` = none was timed.

    Several events of one showing - a note, then a grade - each have the time since its beginning.
    """
    showings: dict[object, int] = {}
    for event in events:
        if event.active_ms is not None:
            key = event.shown_at or event.id
            showings[key] = max(showings.get(key, 0), event.active_ms)
    return sum(showings.values()) if showings else None
