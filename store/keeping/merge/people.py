"""Judges, sittings and places united.

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

from sqlalchemy import delete, func, insert, select, update
from sqlmodel import Session

from store.db.engine import overwrite_removed
from store.db.raw import CHECKSUM, with_ids
from store.db.tables import (
    ANSWER,
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    ERASURE,
    JUDGE,
    JUDGE_TERM,
    JUDGEMENT,
    MODEL_JUDGE,
)
from store.judging.assignments import is_decided
from store.judging.erasing import erase
from store.judging.judges import rename_in_lists
from store.keeping.merge.copies import Copy, Here
from store.keeping.merge.tables import ERASURES, JUDGES, MODELS, PLANS, Values, fetch_rows, sittings


def unite_judges(here: Here, copy: Copy) -> None:
    """Take in the judges of a copy.

    A judge is known by an identity that copies share, else by name. What a copy still has of a judge who is
    erased here is left out, and counted.
    """
    erased = set(here.session.scalars(select(ERASURE.c.uid)))
    own = {row["uid"]: row for row in JUDGES.fetch(here.session)}
    theirs = JUDGES.fetch(copy.session)
    for row in theirs:
        if row["uid"] in erased:
            events = select(func.count(JUDGEMENT.c.id)).where(JUDGEMENT.c.judge_id == row["id"])
            copy.count.left_out["events of judges who were erased"] += copy.session.scalar(events) or 0
    known = {row["uid"] for row in theirs}
    free = {row["name"]: row for row in own.values() if row["uid"] not in known}
    for row in theirs:
        if row["uid"] not in erased:
            mine = own.get(row["uid"]) or free.get(row["name"])
            copy.judges[row["id"]] = JUDGES.unite(here, copy, mine, row)


def unite_erasures(here: Here, copy: Copy) -> None:
    """Erase here whom the copy has erased, and keep what is left of them.

    To be done of every copy before judges are taken in: another one may still have such a judge.
    """
    session = here.session
    erased = ERASURES.fetch(copy.session)
    for row in erased:
        name = session.scalar(select(JUDGE.c.name).where(JUDGE.c.uid == row["uid"]))
        if name is not None:
            overwrite_removed(session)
            erase(session, name)
            session.execute(delete(ERASURE).where(ERASURE.c.uid == row["uid"]))
            here.erased.append(name)
    if erased:
        ERASURES.unite_all(here, copy)


def unite_sittings(here: Here, copy: Copy) -> None:
    """Take in the sittings of a copy, in the order in which they began.

    A judge begins one at a moment, unless hosts or processes differ that both copies know.
    """
    table = sittings(here.topics.names)
    by_start: dict[tuple[int, datetime], list[Values]] = {}
    for row in table.fetch(here.session):
        by_start.setdefault((row["judge_id"], row["started_at"]), []).append(row)
    for row in table.fetch(copy.session):
        judge, topic = copy.judges.get(row["judge_id"]), row["topic_id"]
        if judge is None:
            continue
        known = by_start.get((judge, row["started_at"]), [])
        mine = next((one for one in known if _is_same(one, row)), None)
        values = {**row, "judge_id": judge, "topic_id": None if topic is None else copy.topics[topic]}
        copy.sittings[row["id"]] = table.unite(here, copy, mine, values)


def _is_same(one: Values, other: Values) -> bool:
    """Say whether two sittings of one judge that began at one moment are one."""
    hosts = [(row["host"], row["process"]) for row in (one, other) if row["host"]]
    return len(set(hosts)) < 2


def unite_models(here: Here, copy: Copy) -> None:
    """Take in who model judges are, and what they answered.

    An answer refers to its judgement by judge, document and moment, which no merge changes.
    """
    session = here.session
    own = {row["judge_id"]: row for row in MODELS.fetch(session)}
    names = {row.id: row.name for row in session.execute(select(JUDGE.c.id, JUDGE.c.name))}
    for row in MODELS.fetch(copy.session):
        judge = copy.judges.get(row["judge_id"])
        if judge is not None:
            mine = {**own[judge], "judge": names[judge]} if judge in own else None
            MODELS.unite(here, copy, mine, with_ids(MODEL_JUDGE, row, judge_id=judge))
    theirs = fetch_rows(copy.session, ANSWER)
    if not theirs:
        return
    known = Counter(_said(row) for row in fetch_rows(session, ANSWER))
    new = []
    for row in theirs:
        judge = copy.judges.get(row["judge_id"])
        if judge is not None:
            topic, document = copy.topics[row["topic_id"]], copy.documents[row["document_id"]]
            values = with_ids(ANSWER, row, topic_id=topic, document_id=document, judge_id=judge)
            if known[_said(values)]:
                known[_said(values)] -= 1
            else:
                new.append({name: value for name, value in values.items() if name != "id"})
    for first in range(0, len(new), _BATCH):
        session.connection().execute(insert(ANSWER), new[first : first + _BATCH])
    copy.count.new["answers of models"] += len(new)


def _said(row: Values) -> tuple[object, ...]:
    """Return all that an answer says."""
    return tuple(value for name, value in row.items() if name not in ("id", CHECKSUM))


def unite_terms(here: Here, copy: Copy) -> None:
    """Take in words that judges want marked; lists that differ become one, by the alphabet."""
    own, theirs = _terms(here.session), _terms(copy.session)
    connection = here.session.connection()
    for (judge_there, topic_there), terms in theirs.items():
        if judge_there not in copy.judges:
            continue
        judge, topic = copy.judges[judge_there], copy.topics[topic_there]
        mine = own.get((judge, topic), [])
        united = sorted({*mine, *terms}) if mine and mine != terms else terms
        if united == mine:
            continue
        at_topic = (JUDGE_TERM.c.judge_id == judge, JUDGE_TERM.c.topic_id == topic)
        connection.execute(delete(JUDGE_TERM).where(*at_topic))
        rows = [
            {"judge_id": judge, "topic_id": topic, "position": place, "term": term}
            for place, term in enumerate(united)
        ]
        connection.execute(insert(JUDGE_TERM), rows)
        copy.count.new["terms"] += len(set(united) - set(mine))


def _terms(session: Session) -> Mapping[tuple[int, int], list[str]]:
    """Return the terms of every judge for every topic, in their order, by row ids."""
    order = (JUDGE_TERM.c.judge_id, JUDGE_TERM.c.topic_id, JUDGE_TERM.c.position)
    found: dict[tuple[int, int], list[str]] = {}
    for row in session.execute(select(JUDGE_TERM).order_by(*order)):
        found.setdefault((row.judge_id, row.topic_id), []).append(row.term)
    return found


_BATCH = 1000
_LATEST = datetime.max.replace(tzinfo=UTC)

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
    known, new = PLANS.unite_all(here, copy)
    if new:
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
    columns = [ASSIGNMENT.c[name] for name in ("topic_id", "document_id", *_Place._fields)]
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
    gone, new = Counter(own) - Counter(united), Counter(united) - Counter(own)
    at_document = (ASSIGNMENT.c.topic_id == topic, ASSIGNMENT.c.document_id == document)
    connection = session.connection()
    for place, n in gone.items():
        same = [ASSIGNMENT.c[name].is_not_distinct_from(value) for name, value in place._asdict().items()]
        ids = select(ASSIGNMENT.c.id).where(*at_document, *same).order_by(ASSIGNMENT.c.id).limit(n)
        connection.execute(delete(ASSIGNMENT).where(ASSIGNMENT.c.id.in_(session.scalars(ids).all())))
    rows = [{"topic_id": topic, "document_id": document, **place._asdict()} for place in new.elements()]
    if rows:
        connection.execute(insert(ASSIGNMENT), rows)
