"""Checks of judgements: whole histories, states that follow from actions, undo, passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlmodel import Session

from store.checks.check import (
    EVENT_NAMES,
    REPORT,
    RESTORE,
    Check,
    Found,
    count,
    gather,
    quoted,
)
from store.records import Action, State
from store.scale import scale_from_json

_STATES = {
    Action.JUDGE: State.JUDGED,
    Action.SKIP: State.SKIPPED,
    Action.CANNOT: State.CANNOT,
    Action.REOPEN: State.UNJUDGED,
}
"""The state after an action, where the action alone says it."""


def _pair(row: Sequence[Any]) -> str:
    """Name what an event is about: the first three columns are topic, docno and judge."""
    topic, docno, judge = row[:3]
    return f"topic {topic} `{docno}` of `{judge}`"


def _event(row: Sequence[Any]) -> str:
    """Name an event: the fourth column is its revision."""
    return f"{_pair(row)}, revision {row[3]}"


def _revisions(session: Session) -> Found:
    """Check that revisions count from 1 without gaps."""
    found = Found(count(session, "judgement"))
    query = f"""
        SELECT t.number, d.docno, j.name, e.n, e.lowest, e.highest
        FROM (SELECT topic_id, document_id, judge_id, count(*) AS n, min(revision) AS lowest,
                     max(revision) AS highest
              FROM judgement GROUP BY topic_id, document_id, judge_id
              HAVING min(revision) <> 1 OR max(revision) <> count(*)) e {EVENT_NAMES}
        ORDER BY 1, 2, 3"""
    gather(
        session,
        found,
        query,
        lambda row: f"{_pair(row)} has {row[3]} events, numbered {row[4]} to {row[5]}",
    )
    return found


def _states(session: Session) -> Found:
    """Check that a state is known, fits its action, and has a grade where it is judged."""
    found = Found(count(session, "judgement"))
    scale = session.execute(text("SELECT scale FROM collection")).scalar()
    grades = ", ".join(map(str, scale_from_json(json.loads(str(scale))).values))
    fits = " ".join(f"WHEN '{action}' THEN '{state}'" for action, state in _STATES.items())
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision, e.action, e.state, e.grade
        FROM judgement e {EVENT_NAMES}
        WHERE e.state NOT IN ({quoted(State)}) OR e.action NOT IN ({quoted(Action)})
           OR (e.state = '{State.JUDGED}') <> (e.grade IS NOT NULL)
           OR e.grade NOT IN ({grades})
           OR e.state <> CASE e.action {fits} ELSE e.state END
        ORDER BY 1, 2, 3, 4"""
    gather(
        session,
        found,
        query,
        lambda row: f"{_event(row)}: action {row[4]}, state {row[5]}, grade {row[6]}",
    )
    return found


def _kept_states(session: Session) -> Found:
    """Check that a note or a mark leaves state and grade as they were before it."""
    actions = quoted((Action.NOTE, Action.MARK))
    n_checked = text(f"SELECT count(*) FROM judgement WHERE action IN ({actions})")
    found = Found(int(session.execute(n_checked).scalar_one()))
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision, e.action
        FROM judgement e LEFT JOIN judgement b ON b.topic_id = e.topic_id
             AND b.document_id = e.document_id AND b.judge_id = e.judge_id
             AND b.revision = coalesce(e.follows, e.revision - 1) {EVENT_NAMES}
        WHERE e.action IN ({actions})
          AND (e.state <> coalesce(b.state, '{State.UNJUDGED}')
               OR coalesce(e.grade, -1000000) <> coalesce(b.grade, -1000000))
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: a {row[4]} changed the state")
    return found


def _undone(session: Session) -> Found:
    """Check that an undo names an earlier event, and restores what was before that."""
    n_checked = text(f"SELECT count(*) FROM judgement WHERE action = '{Action.UNDO}'")
    found = Found(int(session.execute(n_checked).scalar_one()))
    same = "{0}.topic_id = e.topic_id AND {0}.document_id = e.document_id"
    same += " AND {0}.judge_id = e.judge_id"
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision,
               CASE WHEN (e.action = '{Action.UNDO}') <> (e.undoes IS NOT NULL)
                         THEN 'an undo names what it takes back, and nothing else does'
                    WHEN u.id IS NULL OR NOT ({same.format("u")}) OR u.revision >= e.revision
                         THEN 'it takes back no earlier event of the same judge and document'
                    ELSE 'it does not restore what was before the event it takes back' END
        FROM judgement e LEFT JOIN judgement u ON u.id = e.undoes
        LEFT JOIN judgement b ON {same.format("b")}
             AND b.revision = coalesce(u.follows, u.revision - 1) {EVENT_NAMES}
        WHERE (e.action = '{Action.UNDO}') <> (e.undoes IS NOT NULL)
           OR (e.undoes IS NOT NULL
               AND (u.id IS NULL OR NOT ({same.format("u")}) OR u.revision >= e.revision
                    OR e.state <> coalesce(b.state, '{State.UNJUDGED}')
                    OR coalesce(e.grade, -1000000) <> coalesce(b.grade, -1000000)))
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: {row[4]}")
    return found


def _lineage(session: Session) -> Found:
    """Check what an event says of copies that came together, and of the text that was shown."""
    found = Found(count(session, "judgement"))
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision,
               CASE WHEN e.follows < 0 OR e.follows >= e.revision THEN 'it follows no earlier one'
                    WHEN (e.action = '{Action.SETTLE}') <> (e.settled IS NOT NULL)
                         THEN 'copies are settled by a rule, and nothing else is'
                    ELSE 'its topic has no text of version ' || e.topic_version END
        FROM judgement e {EVENT_NAMES}
        WHERE e.follows < 0 OR e.follows >= e.revision
           OR (e.action = '{Action.SETTLE}') <> (e.settled IS NOT NULL)
           OR e.topic_version < 1 OR e.topic_version > t.version
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: {row[4]}")
    return found


def _passages(session: Session) -> Found:
    """Check that a passage is a part of the text that was judged, where that is still stored."""
    found = Found(count(session, "passage"))
    query = """
        SELECT d.id, p.id, t.number, d.docno, j.name, e.revision, p.start, p.length, p.text,
               coalesce(e.document_sha256 = d.sha256, d.sha256 IS NULL) AS is_same
        FROM passage p JOIN judgement e ON e.id = p.judgement_id
        LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN judge j ON j.id = e.judge_id
        JOIN document d ON d.id = e.document_id ORDER BY d.id, p.id"""
    document, whole = None, ""
    stored = text("SELECT text FROM document WHERE id = :id")
    for row in session.execute(text(query)).all():
        if row[0] != document:
            document = row[0]
            raw = session.execute(stored, {"id": document}).scalar()
            whole = _decoded(raw or b"")
        part, start, length = _decoded(row.text), row.start, row.length
        # Offsets refer to the text that was judged; another one may have replaced it.
        is_there = not row.is_same or whole[start : start + length] == part
        if start < 0 or length < 1 or len(part) != length or not is_there:
            found.add(f"{_event(tuple(row)[2:])}: no part of its text at {start}")
    return found


def _decoded(raw: Any) -> str:
    """Return text of a column of bytes."""
    return raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "surrogatepass")


EVENT_CHECKS = (
    Check("revisions", "judgement events", _revisions, f"events are missing: {RESTORE}"),
    Check("states", "judgement events", _states, RESTORE),
    Check("notes", "notes and marks", _kept_states, REPORT),
    Check("undo", "undo events", _undone, REPORT),
    Check("lineage", "judgement events", _lineage, RESTORE),
    Check("passages", "passages", _passages, RESTORE),
)
