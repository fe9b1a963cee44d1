"""Queries on judges and their sittings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import select, update
from sqlmodel import Session

from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.formats.lines import id_fault
from store.models import JUDGE, JudgeRow
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


def fetch_identities(session: Session) -> dict[int, str]:
    """Return what tells judges apart in every copy of the collection, by row id; no names."""
    rows = session.execute(select(JUDGE.c.id, JUDGE.c.uid))
    return {row.id: row.uid for row in rows}


def set_disabled(session: Session, names: Sequence[str], *, disabled: bool) -> list[str]:
    """Disable judges, or let them judge again; return those it changed.

    A judge who is disabled gets no desk; what was judged stays and counts as before.

    Raises
    ------
    UnknownNameError
        If there is no judge of a name; then none is changed.
    """
    ids = {name: judge_id(session, name) for name in names}
    query = select(JUDGE.c.id).where(JUDGE.c.id.in_(ids.values()), JUDGE.c.disabled != disabled)
    changed = set(session.scalars(query))
    session.execute(update(JUDGE).where(JUDGE.c.id.in_(changed)).values(disabled=disabled))
    return [name for name, number in ids.items() if number in changed]
