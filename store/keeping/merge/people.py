"""Judges, sittings, seats united.

A place that a judge holds on one copy is held. Where documents are claimed, a document has as many
places as its plan gave it: what is settled or given by name stays, then the claims that last
longest, and the rest is open. Places that were taken away on one copy and not on another are there
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, delete, func, insert, select, update
from sqlmodel import Session

from store.db.engine import overwrite_removed
from store.db.raw import insert_one
from store.db.tables import ASSIGNMENT, ASSIGNMENT_PLAN, ERASURE, JUDGE, JUDGE_TERM, JUDGEMENT, SITTING
from store.judging.assignments import is_decided
from store.judging.erasing import erase
from store.judging.judges import rename, rename_in_lists
from store.keeping.merge.copies import Copy, Here

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
            values = {column.name: getattr(row, column.name) for column in ERASURE.c if column.name != "id"}
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


Key = tuple[int, datetime]
"""Row id of a judge, here, and when a sitting began: nobody begins two at once."""


def unite_sittings(here: Here, copy: Copy) -> None:
    """Take in the sittings of a copy, in the order in which they began.

    One that is on both has gone on as far as the later of them knows; its host is not known where
    one of them has forgotten it.
    """
    own: dict[Key, list[Row[Any]]] = {}
    for row in here.session.execute(select(SITTING)):
        own.setdefault((row.judge_id, row.started_at), []).append(row)
    connection = here.session.connection()
    order = (SITTING.c.started_at, SITTING.c.id)
    for row in copy.session.execute(select(SITTING).order_by(*order)).all():
        judge = copy.judges.get(row.judge_id)
        if judge is None:
            continue
        known = own.get((judge, row.started_at), [])
        mine = next((one for one in known if _is_same(one, row)), None)
        topic = None if row.topic_id is None else copy.topics[row.topic_id]
        if mine is None:
            values = {column.name: getattr(row, column.name) for column in SITTING.c if column.name != "id"}
            values |= {"judge_id": judge, "topic_id": topic}
            copy.sittings[row.id] = insert_one(here.session, SITTING, values)
            copy.count.new["sittings"] += 1
            continue
        copy.sittings[row.id] = mine.id
        merged = _one_sitting(here, mine, row, topic)
        if any(getattr(mine, name) != value for name, value in merged.items()):
            connection.execute(update(SITTING).where(SITTING.c.id == mine.id).values(merged))


def _is_same(one: Row[Any], other: Row[Any]) -> bool:
    """Say whether two sittings of one judge that began at one moment are one."""
    if not one.host or not other.host:
        return True
    return (one.host, one.process) == (other.host, other.process)


def _one_sitting(here: Here, mine: Row[Any], row: Row[Any], topic: int | None) -> dict[str, Any]:
    """Return what two rows of one sitting come to."""
    names = here.topics.names
    last = max(
        (mine.seen_at, names[mine.topic_id] if mine.topic_id else "", mine.topic_id),
        (row.seen_at, names[topic] if topic else "", topic),
        key=lambda one: one[:2],
    )
    ends = [one.ended_at for one in (mine, row) if one.ended_at is not None]
    is_forgotten = not (mine.host and row.host) and mine.host != row.host
    return {
        "seen_at": last[0],
        "topic_id": last[2],
        "ended_at": max(ends, default=None),
        "host": "" if is_forgotten else mine.host,
        "process": 0 if is_forgotten else mine.process,
        "program": min(mine.program, row.program),
    }


def unite_terms(here: Here, copy: Copy) -> None:
    """Take in words that judges want marked; lists that differ become one, by the alphabet."""
    own, theirs = _terms(here.session), _terms(copy.session)
    for (judge, topic), terms in theirs.items():
        if judge not in copy.judges:
            continue
        key = copy.judges[judge], copy.topics[topic]
        mine = own.get(key, [])
        if mine == terms:
            continue
        united = sorted({*mine, *terms}) if mine else terms
        if united != mine:
            _write_terms(here.session, key, united)
            copy.count.new["terms"] += len(set(united) - set(mine))


def _terms(session: Session) -> Mapping[tuple[int, int], list[str]]:
    """Return the terms of every judge for every topic, in their order, by row ids."""
    order = (JUDGE_TERM.c.judge_id, JUDGE_TERM.c.topic_id, JUDGE_TERM.c.position)
    found: dict[tuple[int, int], list[str]] = {}
    for row in session.execute(select(JUDGE_TERM).order_by(*order)):
        found.setdefault((row.judge_id, row.topic_id), []).append(row.term)
    return found


def _write_terms(session: Session, key: tuple[int, int], terms: list[str]) -> None:
    """Replace the terms of a judge for a topic."""
    judge, topic = key
    own = (JUDGE_TERM.c.judge_id == judge, JUDGE_TERM.c.topic_id == topic)
    session.connection().execute(delete(JUDGE_TERM).where(*own))
    rows = [
        {"judge_id": judge, "topic_id": topic, "position": position, "term": term}
        for position, term in enumerate(terms)
    ]
    session.connection().execute(insert(JUDGE_TERM), rows)


_LATEST = datetime.max.replace(tzinfo=UTC)
_COLUMNS = ("judge_id", "plan_id", "position", "purpose", "display_order", "lease_until")

Pair = tuple[int, int]
"""Row ids, here, of a topic and a document."""


class _Place(NamedTuple):
    """One place at a document, by row ids here."""

    judge_id: int | None
    plan_id: int | None
    position: int
    purpose: str
    display_order: str
    lease_until: datetime | None


class _Order(NamedTuple):
    """What row ids stand for, so that nothing depends on them."""

    uids: Mapping[int, str]
    plans: Mapping[int, tuple[datetime, int]]
    leases: frozenset[int]
    """Plans whose places are claimed."""

    def terms(self, place: _Place) -> tuple[object, ...]:
        """Order places of one judge at one document: the oldest plan goes first."""
        plan = () if place.plan_id is None else self.plans[place.plan_id]
        return plan, place.position, place.purpose, place.display_order

    def is_claimed(self, place: _Place) -> bool:
        """Say whether a place is of a plan whose places are claimed."""
        return place.plan_id in self.leases


def unite_places(here: Here, copy: Copy) -> None:
    """Take in the plans and places of a copy."""
    plans = _unite_plans(here, copy)
    theirs = _fetch(copy.session, copy, plans)
    if not theirs:
        return
    order = _order(here.session)
    own = _fetch(here.session)
    n_new = 0
    for pair, places in theirs.items():
        mine = own.get(pair, [])
        united = _united(mine, places, order)
        if Counter(united) != Counter(mine):
            _write(here.session, pair, mine, united)
            n_new += max(0, len(united) - len(mine))
    copy.count.new["places"] += n_new


def settle_claims(session: Session) -> None:
    """Let no lease run on a place whose judge has decided."""
    session.connection().execute(
        update(ASSIGNMENT).where(ASSIGNMENT.c.lease_until.is_not(None), is_decided()).values(lease_until=None)
    )


def _unite_plans(here: Here, copy: Copy) -> dict[int, int]:
    """Take in plans: known by when they were made, and return their row ids here."""
    session = here.session
    key = (ASSIGNMENT_PLAN.c.created_at, ASSIGNMENT_PLAN.c.id)
    own = {(row.created_at, row.lease_s): row for row in session.execute(select(ASSIGNMENT_PLAN))}
    known: dict[int, int] = {}
    for row in copy.session.execute(select(ASSIGNMENT_PLAN).order_by(*key)).all():
        mine = own.get((row.created_at, row.lease_s))
        if mine is not None:
            known[row.id] = mine.id
            continue
        values = {"manifest": row.manifest, "lease_s": row.lease_s, "created_at": row.created_at}
        known[row.id] = insert_one(session, ASSIGNMENT_PLAN, values)
        copy.count.new["plans of assignment"] += 1
    if copy.count.new["plans of assignment"]:
        names = {row.id: row.name for row in session.execute(select(JUDGE.c.id, JUDGE.c.name))}
        for row in copy.session.execute(select(JUDGE.c.id, JUDGE.c.name)).all():
            name = names.get(copy.judges.get(row.id, 0), row.name)
            if name != row.name and row.name not in names.values():
                rename_in_lists(session, row.name, name)
    return known


def _order(session: Session) -> _Order:
    """Look up what row ids stand for."""
    plans = session.execute(select(ASSIGNMENT_PLAN)).all()
    return _Order(
        {row.id: row.uid for row in session.execute(select(JUDGE.c.id, JUDGE.c.uid))},
        {row.id: (row.created_at, row.lease_s or 0) for row in plans},
        frozenset(row.id for row in plans if row.lease_s is not None),
    )


def _fetch(
    session: Session, copy: Copy | None = None, plans: Mapping[int, int] | None = None
) -> dict[Pair, list[_Place]]:
    """Return the places of a collection by document, by row ids here."""
    columns = [ASSIGNMENT.c[name] for name in ("topic_id", "document_id", *_COLUMNS)]
    found: dict[Pair, list[_Place]] = {}
    for topic, document, *values in session.connection().execute(select(*columns)):
        place = _Place(*values)
        if copy is not None and plans is not None:
            topic, document = copy.topics[topic], copy.documents[document]
            plan = None if place.plan_id is None else plans[place.plan_id]
            judge = None if place.judge_id is None else copy.judges.get(place.judge_id)
            if judge is None and place.judge_id is not None:
                if place.lease_until is None:
                    continue  # given by name to one who is erased
                place = place._replace(lease_until=None)
            place = place._replace(plan_id=plan, judge_id=judge)
        found.setdefault((topic, document), []).append(place)
    return found


def _united(own: list[_Place], theirs: list[_Place], order: _Order) -> list[_Place]:
    """Return the places that a document has on both copies together."""
    holders: dict[int, _Place] = {}
    for place in (*own, *theirs):
        if place.judge_id is None:
            continue
        other = holders.get(place.judge_id)
        holders[place.judge_id] = place if other is None else _one_of(place, other, order)
    sizes = {
        plan: max(sum(one.plan_id == plan for one in side) for side in (own, theirs))
        for plan in {place.plan_id for place in (*own, *theirs) if order.is_claimed(place)}
    }
    united = [place for place in holders.values() if not order.is_claimed(place)]
    for plan, size in sizes.items():
        held = [place for place in holders.values() if place.plan_id == plan]
        held.sort(key=lambda place: order.uids[place.judge_id or 0])
        held.sort(key=lambda place: place.lease_until or _LATEST, reverse=True)
        n_settled = sum(place.lease_until is None for place in held)
        united += held[: max(size, n_settled)]
        n_open = size - len(held)
        if n_open > 0:
            every = (place for place in (*own, *theirs) if place.plan_id == plan)
            first = min(every, key=order.terms)
            united += [first._replace(judge_id=None, lease_until=None)] * n_open
    return united


def _one_of(one: _Place, other: _Place, order: _Order) -> _Place:
    """Make one place of two that a judge has at a document."""
    first = min(one, other, key=order.terms)
    leases = (one.lease_until, other.lease_until)
    until = None if None in leases else max(lease for lease in leases if lease is not None)
    return first._replace(lease_until=until)


def _write(session: Session, pair: Pair, own: Iterable[_Place], united: Iterable[_Place]) -> None:
    """Put places in the place of others; those that stay keep their rows."""
    topic, document = pair
    gone, new = Counter(own), Counter(united)
    gone.subtract(united)
    new.subtract(own)
    at_document = (ASSIGNMENT.c.topic_id == topic, ASSIGNMENT.c.document_id == document)
    connection = session.connection()
    for place, n in gone.items():
        same = [ASSIGNMENT.c[name].is_not_distinct_from(getattr(place, name)) for name in _COLUMNS]
        query = select(ASSIGNMENT.c.id).where(*at_document, *same).order_by(ASSIGNMENT.c.id)
        ids = session.scalars(query.limit(max(n, 0))).all() if n > 0 else []
        if ids:
            connection.execute(delete(ASSIGNMENT).where(ASSIGNMENT.c.id.in_(ids)))
    rows = [
        {"topic_id": topic, "document_id": document, **place._asdict()}
        for place, n in new.items()
        for _ in range(n)
    ]
    if rows:
        connection.execute(insert(ASSIGNMENT), rows)
