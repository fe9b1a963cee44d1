"""Judges of several copies: who is who, under which name, and who was erased."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from store.erasing import erase
from store.merging.copies import Copy, Here
from store.merging.raw_writing import insert_one
from store.models import ERASURE, JUDGE, JUDGEMENT
from store.people import rename
from store.records import State

_NEVER = datetime.min.replace(tzinfo=UTC)


def unite_judges(here: Here, copy: Copy) -> None:
    """Take in the judges of a copy.

    A judge is known by an identity that copies share, else by name. The name given last stands; who
    is disabled on one copy is disabled. Who was erased on one copy is erased: what others still
    have of such a judge is left out, and counted.
    """
    _unite_erasures(here, copy)
    erased = set(here.session.scalars(select(ERASURE.c.uid)))
    own = {row.uid: row for row in here.session.execute(select(JUDGE))}
    theirs = []
    for row in copy.session.execute(select(JUDGE).order_by(JUDGE.c.uid)):
        if row.uid in erased:
            _leave_out(here, copy, row)
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


def _unite_erasures(here: Here, copy: Copy) -> None:
    """Erase here whom the copy has erased, and keep what is left of them."""
    for row in copy.session.execute(select(ERASURE).order_by(ERASURE.c.uid)).all():
        name = here.session.scalar(select(JUDGE.c.name).where(JUDGE.c.uid == row.uid))
        if name is not None:
            erase(here.session, name)
            here.erased.append(name)
        _keep(here, row.uid, row.kind, row.judgements, row.events, row.erased_at)


def _keep(
    here: Here, uid: str, kind: str, judgements: int, events: int, erased_at: datetime | None
) -> None:
    """Keep of an erased judge the larger counts, and the earlier moment."""
    session = here.session
    own = session.execute(select(ERASURE).where(ERASURE.c.uid == uid)).first()
    if own is None:
        values = {"uid": uid, "kind": kind, "judgements": judgements, "events": events}
        session.execute(insert(ERASURE).values(**values, erased_at=erased_at))
        return
    values = {
        "judgements": max(own.judgements, judgements),
        "events": max(own.events, events),
        "erased_at": min(_known([own.erased_at, erased_at])),
    }
    session.execute(update(ERASURE).where(ERASURE.c.id == own.id).values(values))


def _known(moments: Iterable[datetime | None]) -> list[datetime]:
    return [one for one in moments if one is not None]


def _leave_out(here: Here, copy: Copy, row: Row[Any]) -> None:
    """Count what a copy still has of a judge who is erased."""
    own = JUDGEMENT.c.judge_id == row.id
    events = copy.session.scalar(select(func.count(JUDGEMENT.c.id)).where(own)) or 0
    newest = (
        select(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, func.max(JUDGEMENT.c.revision))
        .where(own)
        .group_by(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id)
    )
    last = {(topic, document): number for topic, document, number in copy.session.execute(newest)}
    graded = select(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.revision).where(
        own, JUDGEMENT.c.state == State.JUDGED.value
    )
    judgements = sum(
        last[topic, document] == number for topic, document, number in copy.session.execute(graded)
    )
    _keep(here, row.uid, row.kind, judgements, events, None)
    copy.count.left_out["events of judges who were erased"] += events
