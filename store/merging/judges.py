"""Judges of several copies: who is who, under which name, and who was erased."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from store.erasing import erase
from store.merging.copies import Copy, Here
from store.merging.raw_writing import insert_one
from store.models import ERASURE, JUDGE, JUDGEMENT
from store.people import rename
from store.scrubbing import overwrite_removed

_NEVER = datetime.min.replace(tzinfo=UTC)


def unite_judges(here: Here, copy: Copy) -> None:
    """Take in the judges of a copy.

    A judge is known by an identity that copies share, else by name. The name given last stands; who
    is disabled on one copy is disabled. What a copy still has of a judge who is erased here is left
    out, and counted.
    """
    erased = set(here.session.scalars(select(ERASURE.c.uid)))
    own = {row.uid: row for row in here.session.execute(select(JUDGE))}
    theirs = []
    for row in copy.session.execute(select(JUDGE).order_by(JUDGE.c.uid)):
        if row.uid in erased:
            _leave_out(copy, row)
        else:
            theirs.append(row)
    pairs = [(own.get(row.uid), row) for row in theirs]
    taken = {one.id for one, _ in pairs if one is not None}
    free = {one.name: one for one in own.values() if one.id not in taken}
    for known, row in pairs:
        found = known or free.get(row.name)
        if found is not None and found.kind != row.kind:
            here.differs(copy, f"judge `{row.name}` is of kind {row.kind}, here {found.kind}")
        elif found is not None:
            copy.judges[row.id] = found.id
            _unite(here, copy, found, row)
        else:
            copy.judges[row.id] = _add(here, copy, row)


def _add(here: Here, copy: Copy, row: Row[Any]) -> int:
    """Add a judge who is not here yet; where another one has the name, note it."""
    if here.session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == row.name)) is not None:
        here.differs(copy, f"judge `{row.name}` is another judge here; rename one of them")
        return 0
    values = {column.name: getattr(row, column.name) for column in JUDGE.c if column.name != "id"}
    copy.count.new["judges"] += 1
    return insert_one(here.session, JUDGE, values)


def _unite(here: Here, copy: Copy, own: Row[Any], row: Row[Any]) -> None:
    """Make of two rows of one judge what both copies come to."""
    session = here.session
    is_newer = (row.renamed_at or _NEVER, row.name) > (own.renamed_at or _NEVER, own.name)
    if is_newer and row.name != own.name:
        if session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == row.name)) is not None:
            what = f"judge `{own.name}` is called `{row.name}` there, as another judge is here"
            here.differs(copy, what)
            return
        rename(session, own.name, row.name)
        copy.count.changed["judges"] += 1
    renamed_at = max(own.renamed_at or _NEVER, row.renamed_at or _NEVER)
    values = {
        "uid": min(own.uid, row.uid),
        "disabled": own.disabled or row.disabled,
        "created_at": min(own.created_at, row.created_at),
        "renamed_at": None if renamed_at == _NEVER else renamed_at,
    }
    if is_newer or any(getattr(own, name) != value for name, value in values.items()):
        session.execute(update(JUDGE).where(JUDGE.c.id == own.id).values(values))
    copy.count.changed["judges"] += own.disabled != values["disabled"]


def unite_erasures(here: Here, copy: Copy) -> None:
    """Erase here whom the copy has erased, and keep what is left of them.

    To be done of every copy before judges are taken in: another one may still have such a judge.
    The counts are those of whoever erased the judge, the larger ones where several did: what copies
    still had depends on which of them came together before.
    """
    session = here.session
    for row in copy.session.execute(select(ERASURE).order_by(ERASURE.c.uid)).all():
        name = session.scalar(select(JUDGE.c.name).where(JUDGE.c.uid == row.uid))
        if name is not None:
            overwrite_removed(session)
            erase(session, name)
            session.execute(delete(ERASURE).where(ERASURE.c.uid == row.uid))
            here.erased.append(name)
        own = session.execute(select(ERASURE).where(ERASURE.c.uid == row.uid)).first()
        if own is None:
            values = {column.name: getattr(row, column.name)
                      for column in ERASURE.c if column.name != "id"}  # fmt: skip
            insert_one(session, ERASURE, values)
            continue
        values = {
            "judgements": max(own.judgements, row.judgements),
            "events": max(own.events, row.events),
            "erased_at": min(own.erased_at, row.erased_at),
        }
        session.execute(update(ERASURE).where(ERASURE.c.id == own.id).values(values))


def _leave_out(copy: Copy, row: Row[Any]) -> None:
    """Count what a copy still has of a judge who is erased."""
    own = JUDGEMENT.c.judge_id == row.id
    events = copy.session.scalar(select(func.count(JUDGEMENT.c.id)).where(own)) or 0
    copy.count.left_out["events of judges who were erased"] += events
