"""Who judges what, on several copies: plans of assignment and their places.

A place that a judge holds on one copy is held. Where documents are claimed, a document has as many
places as its plan gave it: what is settled or given by name stays, then the claims that last
longest, and the rest is open. Places that were taken away on one copy and not on another are there
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from store.assignments import is_decided
from store.judge_names import rename_in_lists
from store.merging.copies import Copy, Here
from store.merging.raw_writing import insert_one
from store.models import ASSIGNMENT, ASSIGNMENT_PLAN, JUDGE

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
        update(ASSIGNMENT)
        .where(ASSIGNMENT.c.lease_until.is_not(None), is_decided())
        .values(lease_until=None)
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
