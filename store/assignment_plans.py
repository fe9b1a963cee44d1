"""Plans of who judges what: stored as places, and cleared away again.

Whoever changes places for all judges first waits until every event that is being written is
written, and lets none begin before the change is done.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, select, text, true
from sqlmodel import Session

from store.assignments import is_decided
from store.database import database_now
from store.draws import is_adaptive
from store.errors import ConflictError
from store.judgements import current_events
from store.keys import fetch_docnos
from store.models import (
    ASSIGNMENT,
    JUDGE,
    POOL,
    POOL_ENTRY,
    TOPIC,
    AssignmentPlanRow,
)
from store.natural_order import natural_key
from store.records import DECIDED, JudgeKind
from store.seats import Assignable, AssignmentPlan, Cleared, Existing, Scope

Make = Callable[[Sequence[Assignable]], AssignmentPlan]
"""From the documents as they stand to the places to be made."""


def assign(
    session: Session, scope: Scope, make: Make, *, existing: Existing
) -> tuple[AssignmentPlan, Cleared]:
    """Make places at documents.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    scope : Scope
        Pools and topics of the collection.
    make : callable
        The planner. It is given the pooled documents of the scope, but for those that adaptive
        pools alone have, topics in natural order, then by docno, as they stand once places that go
        have gone.
    existing : Existing
        What becomes of places that are there already.

    Returns
    -------
    tuple of AssignmentPlan and Cleared
        What was made, and what went for it.

    Raises
    ------
    ConflictError
        If there is a place in the scope already and `existing` says to refuse.

    Notes
    -----
    New places of a topic stand behind those that stay: nothing moves that a judge has seen.
    """
    _wait_for_events(session)
    if existing is Existing.REFUSE:
        _refuse_places(session, scope)
    cleared = _clear(session, scope) if existing is Existing.REPLACE else Cleared()
    ids, documents = _fetch_assignable(session, scope)
    plan = make(documents)
    if plan.places:
        _add_places(session, ids, plan)
    return plan, cleared


def clear_places(session: Session, scope: Scope) -> Cleared:
    """Take away every place of a scope that has no decision; the rest and all events stay."""
    _wait_for_events(session)
    return _clear(session, scope)


def _wait_for_events(session: Session) -> None:
    """Keep everybody else from places until this transaction ends; SQLite does so anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE assignment IN EXCLUSIVE MODE"))


def _refuse_places(session: Session, scope: Scope) -> None:
    """Raise `ConflictError` when there is a place in the scope."""
    pairs = func.count(ASSIGNMENT.c.id)
    taken = session.scalar(select(pairs).where(_is_in(scope)))
    if taken:
        message = f"there are places assigned already: {taken}"
        hint = (
            "--add assigns documents that have no place, --replace all that have no decision;"
            " --show shows what is assigned"
        )
        raise ConflictError(message, hint=hint)


def _clear(session: Session, scope: Scope) -> Cleared:
    """Take away the places of a scope that have no decision."""
    now = database_now(session)
    goes = and_(_is_in(scope), ~is_decided())
    live = select(func.count(ASSIGNMENT.c.id)).where(goes, ASSIGNMENT.c.lease_until >= now)
    claimed = session.scalar(live) or 0
    removed = session.connection().execute(delete(ASSIGNMENT).where(goes)).rowcount
    kept = session.scalar(select(func.count(ASSIGNMENT.c.id)).where(_is_in(scope))) or 0
    return Cleared(removed, claimed, kept)


def _is_in(scope: Scope) -> ColumnElement[bool]:
    """Say in SQL that a place is in a scope; with nothing named, every place is."""
    conditions: list[ColumnElement[bool]] = []
    if scope.topics:
        topics = select(TOPIC.c.id).where(TOPIC.c.number.in_(scope.topics))
        conditions.append(ASSIGNMENT.c.topic_id.in_(topics))
    if scope.pools:
        entries = (
            select(POOL_ENTRY.c.pool_id)
            .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
            .where(
                POOL.c.name.in_(scope.pools),
                POOL_ENTRY.c.topic_id == ASSIGNMENT.c.topic_id,
                POOL_ENTRY.c.document_id == ASSIGNMENT.c.document_id,
            )
        )
        conditions.append(exists(entries))
    return and_(true(), *conditions)


class _Ids:
    """Row ids of what a plan names."""

    def __init__(self, session: Session) -> None:
        topics = session.execute(select(TOPIC.c.number, TOPIC.c.id))
        self.topics: dict[str, int] = {row.number: row.id for row in topics}
        judges = session.execute(select(JUDGE.c.name, JUDGE.c.id))
        self.judges: dict[str, int] = {row.name: row.id for row in judges}
        self.documents: dict[str, int] = {}


def _fetch_assignable(session: Session, scope: Scope) -> tuple[_Ids, list[Assignable]]:
    """Return the documents that pools of a scope hold, adaptive ones left out, as they stand."""
    ids = _Ids(session)
    query = (
        select(
            POOL_ENTRY.c.topic_id,
            POOL_ENTRY.c.document_id,
            POOL_ENTRY.c.pool_id,
            POOL_ENTRY.c.priority,
        )
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.sampled, ~POOL.c.withdrawn, ~is_adaptive(POOL.c.id))
        .order_by(POOL_ENTRY.c.pool_id)
    )
    if scope.pools:
        query = query.where(POOL.c.name.in_(scope.pools))
    if scope.topics:
        wanted = [ids.topics[topic] for topic in scope.topics]
        query = query.where(POOL_ENTRY.c.topic_id.in_(wanted))
    entries: dict[tuple[int, int], tuple[int, float | None]] = {}
    for topic, document, pool, priority in session.execute(query):
        entries.setdefault((topic, document), (pool, priority))
    docnos = fetch_docnos(session, (document for _, document in entries))
    ids.documents = {docno: document for document, docno in docnos.items()}
    topics = {number: topic for topic, number in ids.topics.items()}
    names = {number: judge for judge, number in ids.judges.items()}
    people = set(session.scalars(select(JUDGE.c.id).where(JUDGE.c.kind == JudgeKind.HUMAN.value)))
    decided: dict[tuple[int, int], set[str]] = {}
    for event in session.execute(current_events(judges=sorted(people))):
        if event.state in DECIDED:
            pair = (event.topic_id, event.document_id)
            decided.setdefault(pair, set()).add(names[event.judge_id])
    holders: dict[tuple[int, int], set[str]] = {}
    n_open: Counter[tuple[int, int]] = Counter()
    places = select(ASSIGNMENT.c.topic_id, ASSIGNMENT.c.document_id, ASSIGNMENT.c.judge_id)
    for topic, document, judge in session.execute(places):
        if judge is None:
            n_open[topic, document] += 1
        else:
            holders.setdefault((topic, document), set()).add(names[judge])
    found = [
        Assignable(
            topics[pair[0]],
            docnos[pair[1]],
            *entry,
            frozenset(decided.get(pair, ())),
            frozenset(holders.get(pair, ())),
            n_open[pair],
        )
        for pair, entry in entries.items()
    ]
    return ids, sorted(found, key=lambda one: (natural_key(one.topic), one.docno))


def _add_places(session: Session, ids: _Ids, plan: AssignmentPlan) -> None:
    """Write a plan and its places, behind those that stay."""
    row = AssignmentPlanRow(
        manifest=json.dumps(plan.manifest, sort_keys=True),
        lease_s=plan.lease_s,
        created_at=database_now(session),
    )
    session.add(row)
    session.flush()
    last = select(ASSIGNMENT.c.topic_id, func.max(ASSIGNMENT.c.position).label("position"))
    staying = session.execute(last.group_by(ASSIGNMENT.c.topic_id))
    first = {topic.topic_id: topic.position + 1 for topic in staying}
    rows = [
        {
            "topic_id": ids.topics[place.topic],
            "document_id": ids.documents[place.docno],
            "judge_id": None if place.judge is None else ids.judges[place.judge],
            "position": first.get(ids.topics[place.topic], 0) + place.position,
            "purpose": place.purpose.value,
            "plan_id": row.id,
            "display_order": place.display_order,
        }
        for place in plan.places
    ]
    session.connection().execute(insert(ASSIGNMENT), rows)
