"""Queries on judges and their sittings."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime

from sqlalchemy import select
from sqlmodel import Session

from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.formats.lines import id_fault
from store.models import JUDGE, JudgeRow, SittingRow
from store.records import Judge, JudgeKind


def add_judge(session: Session, name: str, kind: JudgeKind) -> bool:
    """Add a judge; return whether the name was new.

    Raises
    ------
    ArgumentError
        If the name cannot be one: empty, with blanks or control characters.
    ConflictError
        If the name is taken by a judge of another kind.
    """
    if fault := id_fault(name):
        raise ArgumentError("judge", f"must be one word ({fault})", name)
    old = session.execute(select(JUDGE).where(JUDGE.c.name == name)).first()
    if old is not None:
        if old.kind != kind:
            message = f"judge `{name}` is there as kind {old.kind}, not {kind}"
            raise ConflictError(message, hint=f"--kind {old.kind}, or another name")
        return False
    session.add(JudgeRow(name=name, kind=kind, created_at=datetime.now(UTC)))
    session.flush()
    return True


def fetch_judges(session: Session) -> list[Judge]:
    """Return every judge, by name."""
    rows = session.execute(select(JUDGE).order_by(JUDGE.c.name))
    return [Judge(row.name, JudgeKind(row.kind), row.disabled) for row in rows]


def judge_id(session: Session, name: str) -> int:
    """Return the row id of a judge.

    Raises
    ------
    UnknownNameError
        If there is no judge of that name.
    """
    row = session.execute(select(JUDGE.c.id).where(JUDGE.c.name == name)).first()
    if row is None:
        known = [judge.name for judge in fetch_judges(session)]
        hint = "pooler judges list shows them; pooler judges add makes a new one"
        raise UnknownNameError("judge", name, known, hint=hint)
    return int(row.id)


def open_sitting(session: Session, judge: int, *, program: str) -> int:
    """Begin a sitting of a judge and return its id."""
    now = datetime.now(UTC)
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


def close_sitting(session: Session, sitting: int) -> None:
    """End a sitting."""
    row = session.get_one(SittingRow, sitting)
    row.ended_at = row.seen_at = datetime.now(UTC)
