"""Places: planned, claimed, cleared.

One row is one place, so a document with k places never gets a (k+1)th judge: who decides
holds a place in the transaction that writes the decision. A place is open (no judge's), claimed
(until its lease runs out), settled (a decision stands), or given by name (it never lapses).

A lapsed place stays its holder's until another judge claims it. Rows are locked in one order, the
judge's own first and then places, and claims wait for no place, so no two transactions wait for
each other.

What changes places for all judges first waits until every event that is being written is
written, and lets none begin before the change is done.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Row,
    Select,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    text,
    true,
    update,
)
from sqlmodel import Session

from store.content.lookup import count_rows, fetch_topic_names, is_pooled, same_pair, to_judge
from store.content.pools import is_adaptive
from store.db.columns import insert_row
from store.db.database import Area
from store.db.engine import database_now
from store.db.keys import fetch_docnos
from store.db.tables import ASSIGNMENT, ASSIGNMENT_PLAN, DOCUMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY, TOPIC
from store.errors import ConflictError
from store.judging.events import Pair, current_events
from store.judging.judges import fetch_judge_names, lock_judge
from store.records import (
    DECIDED,
    Assignable,
    AssignmentPlan,
    Cleared,
    Existing,
    JudgeKind,
    Purpose,
    Scope,
    State,
    Workload,
    Workloads,
)
from store.text import counted, natural_key


def has_assignments(session: Session) -> bool:
    """Return whether anything is assigned: if so, judges are shown only what they have places at."""
    return session.scalar(_ANY_PLACE) is not None


_ANY_PLACE = select(ASSIGNMENT.c.id).limit(1)


def assigned_documents(session: Session, judge: int, topic: int) -> dict[int, Row[Any]]:
    """Return the places a judge holds in a topic, by document id, in the judge's display order."""
    columns = (
        ASSIGNMENT.c[name]
        for name in ("document_id", "position", "display_order", "order_seed", "lease_until")
    )
    held = select(*columns).where(ASSIGNMENT.c.judge_id == judge, ASSIGNMENT.c.topic_id == topic)
    rows = session.execute(held.order_by(ASSIGNMENT.c.position, ASSIGNMENT.c.id))
    return {row.document_id: row for row in rows}


def assigned_pairs(session: Session, judge: int) -> set[tuple[int, int]]:
    """Return topic id and document id of every place a judge holds, pooled or not."""
    query = select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id).where(ASSIGNMENT.c.judge_id == judge)
    return {(topic, document) for topic, document in session.execute(query)}


def claimable(session: Session, judge: int) -> dict[int, int]:
    """Count the documents that a judge could claim now, by topic id; topics without any are left out."""
    # Each document once before the rest is looked up: half the work where it has two places.
    free = (
        select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id)
        .where(_is_free(judge, database_now(session)))
        .distinct()
        .subquery()
    )
    query = select(free.c.topic_id, func.count()).where(*_is_for(judge, free)).group_by(free.c.topic_id)
    return dict(session.execute(query).all())


def claim(session: Session, judge: int, topic: int, *, n: int) -> list[int]:
    """Take up to `n` places of a topic for a judge, in the plan's order, and return their documents.

    Places that other judges are claiming at this moment are passed over.
    """
    lock_judge(session, judge)
    now = database_now(session)
    next_free = (
        select(ASSIGNMENT.c.id, ASSIGNMENT.c.document_id, ASSIGNMENT_PLAN.c.lease_s)
        .join(ASSIGNMENT_PLAN, ASSIGNMENT_PLAN.c.id == ASSIGNMENT.c.plan_id)
        .where(ASSIGNMENT.c.topic_id == topic, _is_free(judge, now), *_is_for(judge, ASSIGNMENT))
        .order_by(ASSIGNMENT.c.position, ASSIGNMENT.c.id)
        .limit(1)
        .with_for_update(of=ASSIGNMENT, skip_locked=True)
    )
    documents: list[int] = []
    # One by one: two at once could be two places of one document.
    while len(documents) < n and (row := session.execute(next_free).first()) is not None:
        _take(session, row.id, judge, now + timedelta(seconds=row.lease_s))
        documents.append(row.document_id)
    return documents


def hold(session: Session, judge: int, topic: int, document: int, *, decided: bool) -> None:
    """Make sure that a judge may write an event on a document, in the session that writes it.

    A decision settles the place; anything else lets the lease of a claimed one begin anew. `ConflictError`:
    the judge has no place there, or had one that lapsed to another judge, and none is open.
    """
    lock_judge(session, judge)
    # Locked even where nothing will change: who assigns anew waits until the event is written.
    whose = {"judge": judge, "topic": topic, "document": document}
    place = session.execute(_OWN_PLACE, whose).first()
    if place is None and not has_assignments(session):
        return
    now = database_now(session)
    if place is None:
        place = session.execute(_place(topic, document).where(_is_free(judge, now))).first()
    if place is None:
        message = "this document is not assigned to you: other judges have it"
        raise ConflictError(message, hint="nothing was written; go on with the next one")
    if place.lease_s is not None:
        until = None if decided else now + timedelta(seconds=place.lease_s)
        _take(session, place.id, judge, until)


def _place(topic: int | ColumnElement[int], document: int | ColumnElement[int]) -> Select[Any]:
    return (
        select(ASSIGNMENT.c.id, ASSIGNMENT_PLAN.c.lease_s)
        .outerjoin(ASSIGNMENT_PLAN, ASSIGNMENT_PLAN.c.id == ASSIGNMENT.c.plan_id)
        .where(ASSIGNMENT.c.topic_id == topic, ASSIGNMENT.c.document_id == document)
        .order_by(ASSIGNMENT.c.id)
        .limit(1)
        .with_for_update(of=ASSIGNMENT)
    )


_OWN_PLACE = _place(bindparam("topic"), bindparam("document")).where(
    ASSIGNMENT.c.judge_id == bindparam("judge")
)


def release(session: Session, judge: int) -> int:
    """Give back what a judge claimed and left without an event; return how many places."""
    lock_judge(session, judge)
    is_untouched = _newest_state(judge, ASSIGNMENT) == State.UNJUDGED.value
    claimed = update(ASSIGNMENT).where(ASSIGNMENT.c.judge_id == judge, ASSIGNMENT.c.lease_until.is_not(None))
    opening = claimed.where(is_untouched).values(judge_id=null(), lease_until=null())
    return session.connection().execute(opening).rowcount


def is_decided() -> ColumnElement[bool]:
    """Return the SQL condition that a place's own judge has decided; never so of an open place."""
    return _newest_state(ASSIGNMENT.c.judge_id, ASSIGNMENT).in_(DECIDED)


def _is_free(judge: int, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition that a place is open, or another judge's lease on it has run out."""
    is_open = ASSIGNMENT.c.judge_id.is_(None)
    # Said apart, as an index of unsettled places says it.
    unsettled = or_(is_open, ASSIGNMENT.c.lease_until.is_not(None))
    lapsed = and_(ASSIGNMENT.c.judge_id != judge, ASSIGNMENT.c.lease_until < now)
    return and_(unsettled, or_(is_open, lapsed))


def _is_for(judge: int, places: FromClause) -> tuple[ColumnElement[bool], ...]:
    own = ASSIGNMENT.alias("own")
    held = exists(select(own.c.id).where(same_pair(own, places), own.c.judge_id == judge))
    return ~held, _newest_state(judge, places).not_in(DECIDED), is_pooled(places)


def _newest_state(judge: int | ColumnElement[int], places: FromClause) -> ColumnElement[str]:
    state = (
        select(JUDGEMENT.c.state)
        .where(JUDGEMENT.c.judge_id == judge, same_pair(JUDGEMENT, places))
        .order_by(JUDGEMENT.c.revision.desc())
        .limit(1)
    )
    return func.coalesce(state.scalar_subquery(), State.UNJUDGED.value)


def _take(session: Session, place: int, judge: int, until: datetime | None) -> None:
    taken = {"judge_id": judge, "lease_until": until}
    session.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.id == place).values(taken))


Make = Callable[[Sequence[Assignable]], AssignmentPlan]
"""From the documents as they stand to the places to be made."""


def _wait_for_events(session: Session) -> None:
    """Keep everybody else from places until this transaction ends; SQLite does so anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE assignment IN EXCLUSIVE MODE"))


def _refuse_places(session: Session, scope: Scope) -> None:
    if taken := count_rows(session, ASSIGNMENT, _is_in(scope)):
        message = f"documents are assigned already: {counted(taken, 'assignment')}"
        hint = (
            "--add assigns what no judge has, --replace assigns anew what has no decision;"
            " pooler assign alone shows who has how much"
        )
        raise ConflictError(message, hint=hint)


def _clear(session: Session, scope: Scope) -> Cleared:
    goes = and_(_is_in(scope), ~is_decided())
    claimed = count_rows(session, ASSIGNMENT, goes, ASSIGNMENT.c.lease_until >= database_now(session))
    removed = session.connection().execute(delete(ASSIGNMENT).where(goes)).rowcount
    return Cleared(removed, claimed, kept=count_rows(session, ASSIGNMENT, _is_in(scope)))


def _is_in(scope: Scope) -> ColumnElement[bool]:
    """Return the SQL condition that a place is in a scope; with nothing named, every place is."""
    conditions: list[ColumnElement[bool]] = []
    if scope.topics:
        topics = select(TOPIC.c.id).where(TOPIC.c.number.in_(scope.topics))
        conditions.append(ASSIGNMENT.c.topic_id.in_(topics))
    if scope.pools:
        entries = select(POOL_ENTRY.c.pool_id).join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        named = entries.where(POOL.c.name.in_(scope.pools), same_pair(POOL_ENTRY, ASSIGNMENT))
        conditions.append(exists(named))
    return and_(true(), *conditions)


def with_judges(
    session: Session,
    documents: Sequence[tuple[Pair, Assignable]],
    people: Mapping[int, str],
    judges: Mapping[int, str],
) -> list[Assignable]:
    """Return documents with the people who decided on them and the judges who have a place there."""
    wanted = {pair for pair, _ in documents}
    decided: defaultdict[Pair, set[str]] = defaultdict(set)
    holders: defaultdict[Pair, set[str]] = defaultdict(set)
    n_open: Counter[Pair] = Counter()
    for event in session.execute(current_events(judges=sorted(people))):
        pair = (event.topic_id, event.document_id)
        if event.state in DECIDED and pair in wanted:
            decided[pair].add(people[event.judge_id])
    places = select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id, ASSIGNMENT.c.judge_id)
    for topic, document, judge in session.execute(places):
        if judge is None:
            n_open[topic, document] += 1
        elif judge in judges and (topic, document) in wanted:
            holders[topic, document].add(judges[judge])
    return [
        replace(
            one,
            decided=frozenset(decided.get(pair, ())),
            holders=frozenset(holders.get(pair, ())),
            n_open=n_open[pair],
        )
        for pair, one in documents
    ]


def _fetch_assignable(session: Session, scope: Scope) -> dict[Pair, Assignable]:
    names = ("topic_id", "document_id", "pool_id", "priority")
    query = to_judge(*(POOL_ENTRY.c[name] for name in names))
    query = query.where(~is_adaptive(POOL.c.id))
    if scope.pools:
        query = query.where(POOL.c.name.in_(scope.pools))
    topics = fetch_topic_names(session)
    if scope.topics:
        wanted = select(TOPIC.c.id).where(TOPIC.c.number.in_(scope.topics))
        query = query.where(POOL_ENTRY.c.topic_id.in_(wanted))
    entries: dict[Pair, tuple[int, float | None]] = {}
    for topic, document, *entry in session.execute(query.order_by(POOL_ENTRY.c.pool_id)):
        entries.setdefault((topic, document), tuple(entry))
    docnos = fetch_docnos(session, (document for _, document in entries))
    rows = session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind)).all()
    judges = {row.id: row.name for row in rows}
    people = {row.id: row.name for row in rows if row.kind == JudgeKind.HUMAN}
    found = [(pair, Assignable(topics[pair[0]], docnos[pair[1]], *entry)) for pair, entry in entries.items()]
    return dict(zip(entries, with_judges(session, found, people, judges), strict=True))


def _add_places(session: Session, plan: AssignmentPlan, documents: Mapping[Pair, Assignable]) -> None:
    judges = {name: row_id for row_id, name in fetch_judge_names(session).items()}
    ids = {(one.topic, one.docno): pair for pair, one in documents.items()}
    manifest, now = json.dumps(plan.manifest, sort_keys=True), database_now(session)
    plan_id = insert_row(session, ASSIGNMENT_PLAN, manifest=manifest, lease_s=plan.lease_s, created_at=now)
    last = select(ASSIGNMENT.c.topic_id, func.max(ASSIGNMENT.c.position).label("position"))
    staying = session.execute(last.group_by(ASSIGNMENT.c.topic_id))
    first = {topic.topic_id: topic.position + 1 for topic in staying}
    rows = [
        {
            "topic_id": topic,
            "document_id": document,
            "judge_id": None if place.judge is None else judges[place.judge],
            "position": first.get(topic, 0) + place.position,
            "purpose": place.purpose.value,
            "plan_id": plan_id,
            "display_order": place.display_order,
            "order_seed": place.order_seed,
        }
        for place in plan.places
        for topic, document in [ids[place.topic, place.docno]]
    ]
    session.connection().execute(insert(ASSIGNMENT), rows)


_PURPOSES = tuple(purpose.value for purpose in Purpose)


def fetch_workloads(session: Session) -> Workloads:
    """Count the workload of every judge."""
    now = database_now(session)
    is_leased = ASSIGNMENT.c.lease_until.is_not(None)
    is_live = and_(is_leased, ASSIGNMENT.c.lease_until >= now)
    pooled = is_pooled(ASSIGNMENT)
    places = (
        select(
            ASSIGNMENT.c.topic_id,
            ASSIGNMENT.c.document_id,
            ASSIGNMENT.c.judge_id,
            *(_one_if(ASSIGNMENT.c.purpose == purpose).label(purpose) for purpose in _PURPOSES),
            _one_if(is_decided()).label("decided"),
            _one_if(is_live).label("claimed"),
            _one_if(and_(is_leased, ~is_live)).label("lapsed"),
            case((is_live, ASSIGNMENT.c.lease_until)).label("until"),
        )
        .where(pooled)
        .subquery()
    )
    numbers = (*_PURPOSES, "decided", "claimed", "lapsed")
    pair = cast(places.c.topic_id, BigInteger) * (1 << 32) + places.c.document_id
    query = (
        select(
            JUDGE.c.name,
            func.count(places.c.topic_id.distinct()),
            func.count(pair.distinct()),
            *(func.sum(places.c[number]) for number in numbers),
            func.max(places.c.until),
        )
        .outerjoin_from(places, JUDGE, JUDGE.c.id == places.c.judge_id)
        .group_by(places.c.judge_id, JUDGE.c.name)
    )
    lines = []
    for judge, topics, *counts, until in session.execute(query):
        whole: list[Any] = [judge, topics, *map(int, counts), until]
        lines.append(Workload(*whole))
    pairs = to_judge(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id).distinct().subquery()
    is_without = ~select(ASSIGNMENT.c.id).where(same_pair(ASSIGNMENT, pairs)).exists()
    fixed = to_judge(POOL_ENTRY.c.pool_id).where(same_pair(POOL_ENTRY, pairs), ~is_adaptive(POOL.c.id))
    is_fixed = fixed.exists()
    return Workloads(
        sorted(lines, key=lambda line: (line.judge is None, line.judge or "")),
        pooled=count_rows(session, pairs),
        unassigned=count_rows(session, pairs, is_without, is_fixed),
        drawn=count_rows(session, pairs, is_without, ~is_fixed),
        outside=count_rows(session, ASSIGNMENT, ~pooled),
    )


def _one_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


class Assignments(Area):
    """Who is to judge what in a collection."""

    def make(
        self, scope: Scope, make: Make, *, existing: Existing, dry_run: bool = False
    ) -> tuple[AssignmentPlan, Cleared, Workloads]:
        """Make places at documents; return the plan, and what went for it. `dry_run`: take all back.

        `make` is given the pooled documents of the scope as they stand once places that go have gone, but for
        those that adaptive pools alone have. New places of a topic stand behind those that stay: nothing
        moves that a judge has seen. `ConflictError`: a place is there, and `existing` says to refuse.
        """
        with self._db.writing(bulk=True) as session:
            _wait_for_events(session)
            if existing is Existing.REFUSE:
                _refuse_places(session, scope)
            cleared = _clear(session, scope) if existing is Existing.REPLACE else Cleared()
            documents = _fetch_assignable(session, scope)
            plan = make(sorted(documents.values(), key=lambda one: (natural_key(one.topic), one.docno)))
            if plan.places:
                _add_places(session, plan, documents)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return plan, cleared, after

    def clear(self, scope: Scope, *, dry_run: bool = False) -> tuple[Cleared, Workloads]:
        """Take away every place of a scope that has no decision; the rest and all events stay."""
        with self._db.writing(bulk=True) as session:
            _wait_for_events(session)
            cleared = _clear(session, scope)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return cleared, after

    def workloads(self) -> Workloads:
        """Return the workload of every judge; see `fetch_workloads`."""
        with self._db.reading() as session:
            return fetch_workloads(session)

    def topic_judges(self) -> dict[str, str]:
        """Return who is primary for each topic by the newest plan of it of which a place is left."""
        is_used = exists(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.plan_id == ASSIGNMENT_PLAN.c.id))
        query = select(ASSIGNMENT_PLAN.c.manifest).where(is_used).order_by(ASSIGNMENT_PLAN.c.id)
        found: dict[str, str] = {}
        with self._db.reading() as session:
            for plan in map(json.loads, session.scalars(query)):
                found = {topic: judge for topic, judge in found.items() if topic not in plan["sizes"]}
                found |= plan.get("primary", {})
        return found

    def places(self) -> list[Row[Any]]:
        """Return judge, topic, docno, purpose and decided of every place at a pooled document.

        By judge, places open to any judge last, then by topic, and as they stand there.
        """
        query = (
            select(
                JUDGE.c.name.label("judge"),
                TOPIC.c.number.label("topic"),
                DOCUMENT.c.docno,
                ASSIGNMENT.c.purpose,
                is_decided().label("decided"),
            )
            .select_from(ASSIGNMENT)
            .join(TOPIC, TOPIC.c.id == ASSIGNMENT.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == ASSIGNMENT.c.document_id)
            .outerjoin(JUDGE, JUDGE.c.id == ASSIGNMENT.c.judge_id)
            .where(is_pooled(ASSIGNMENT))
            .order_by(ASSIGNMENT.c.position, ASSIGNMENT.c.id)
        )
        with self._db.reading() as session:
            found = session.execute(query).all()
        return sorted(found, key=lambda one: (one.judge is None, one.judge or "", natural_key(one.topic)))
