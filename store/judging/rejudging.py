"""Judgements made on guidelines or texts that changed since, and reopening them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from store.content.lookup import count_rows, fetch_topic_names, rows_by_key
from store.content.pools import pooled_pairs
from store.content.topics import current_versions, fetch_guidelines, texts_of
from store.db.database import Area
from store.db.digests import write_event_digests
from store.db.engine import database_now
from store.db.tables import (
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    DOCUMENT,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    TOPIC,
    TOPIC_VERSION,
)
from store.errors import ConflictError, UnknownNameError
from store.event import JudgementEvent
from store.judging.assignments import assigned_pairs, has_assignments
from store.judging.events import (
    KEY,
    Pair,
    add_passages,
    current_events,
    deciding_events,
    fetch_histories,
    fetch_passages,
    sat_down,
)
from store.judging.judges import judge_id
from store.records import DECIDED, Action, JudgeKind, State, Topic
from store.text import natural_key


def basis_of(events: Sequence[Row[Any]]) -> Row[Any] | None:
    """Return the event at a desk that decided what stands, of all events of a judge and document.

    ``None`` = no decision stands, or one that was imported.
    """
    decider = deciding_events(events)[-1]
    is_at_desk = decider is not None and decider.state in DECIDED and decider.sitting_id is not None
    return decider if is_at_desk else None


class KnownVersions:
    """The versions of guidelines and of topics' texts that a collection has."""

    def __init__(self, session: Session) -> None:
        self._guidelines = set(session.scalars(select(GUIDELINE.c.version)))
        rows = session.execute(select(TOPIC.c.number, TOPIC.c.version))
        self._topics: dict[str, int] = {row.number: row.version for row in rows}

    def without_unknown(self, event: JudgementEvent) -> JudgementEvent:
        """Return an event without versions that are not here: they are not known, then."""
        if event.guideline_version not in {None, *self._guidelines}:
            event = replace(event, guideline_version=None)
        if (event.topic_version or 0) > self._topics.get(event.topic, 1):
            event = replace(event, topic_version=None)
        return event


def is_same_event(there: JudgementEvent, event: JudgementEvent) -> bool:
    """Return whether an event from elsewhere is one here; its sitting and unknown versions aside."""
    guideline = None if there.guideline_version is None else event.guideline_version
    topic = None if there.topic_version is None else event.topic_version
    coming = replace(event, sitting=None, guideline_version=guideline, topic_version=topic)
    return replace(there, sitting=None) == coming


@dataclass(frozen=True, slots=True)
class TopicVersion:
    """One text of a topic."""

    version: int
    """From 1."""
    topic: Topic
    changed_at: datetime | None
    """UTC; when it came. ``None`` = it is the first."""
    judgements: int
    """Documents judged under it at a desk whose decision stands; of any judge."""


def fetch_topic_versions(session: Session, topic: int) -> tuple[TopicVersion, ...]:
    """Return every text of a topic, by its row id: the oldest first, the last is that of now."""
    query = select(TOPIC_VERSION).where(TOPIC_VERSION.c.topic_id == topic)
    now = session.execute(select(TOPIC).where(TOPIC.c.id == topic)).one()
    earlier = session.execute(query.order_by(TOPIC_VERSION.c.version)).all()
    counts = _count_by_version(session, {topic})
    return tuple(
        TopicVersion(
            row.version, Topic(now.number, **texts_of(row)), row.changed_at, counts[topic, row.version]
        )
        for row in (*earlier, now)
    )


def judged_under(basis: Row[Any]) -> int:
    """Return the version of the topic's text that a decision rests on; older events do not say: 1."""
    return 1 if basis.topic_version is None else basis.topic_version


def count_older(session: Session) -> Counter[int]:
    """Count, by topic row id, the judgements made at desks under another text than that of now."""
    current = current_versions(session)
    older: Counter[int] = Counter()
    for (topic, version), n in _count_by_version(session, set(current)).items():
        if version not in current[topic]:
            older[topic] += n
    return older


def _count_by_version(session: Session, topics: Collection[int]) -> Counter[tuple[int, int]]:
    counts: Counter[tuple[int, int]] = Counter()
    for judge in sat_down(session) if topics else ():
        for (topic, _), events in fetch_histories(session, judge=judge).items():
            basis = basis_of(events) if topic in topics else None
            if basis is not None:
                counts[topic, judged_under(basis)] += 1
    return counts


class Why(StrEnum):
    """What a judgement rests on that is no longer so."""

    GUIDELINES = "guidelines"
    TEXT = "text"
    TEXT_CAME = "text-came-later"
    """The judge saw no text; now there is one."""
    TOPIC = "topic"
    """The text of the topic, not of the document."""


KEEPS_PASSAGES = frozenset({Why.GUIDELINES, Why.TOPIC})
"""Marked passages of the document still fit it."""


class Obstacle(StrEnum):
    """Why a judgement cannot be made again, so that it is not reopened."""

    DISABLED = "judge-disabled"
    NOT_POOLED = "not-pooled"
    NOT_ASSIGNED = "not-assigned"


@dataclass(frozen=True, slots=True)
class Outdated:
    """A judgement that rests on something that has changed."""

    judge: str
    topic: str
    docno: str
    state: State
    """Judged, or cannot be judged."""
    grade: int | None
    why: tuple[Why, ...]
    guideline_version: int | None
    """It was made under; ``None`` = there were none."""
    judged_at: datetime
    """UTC."""
    obstacle: Obstacle | None = None
    """``None`` = reopened, its judge sees it again."""
    topic_version: int | None = None
    """Of the topic's text that it was made under; ``None`` = not known: it is older than topics'
    versions are."""


@dataclass(frozen=True, slots=True)
class OutdatedList:
    """Judgements that rest on something that has changed, and the others not looked at."""

    rows: tuple[Outdated, ...]
    """By judge, topic in natural order, docno."""
    newest_version: int | None
    """Of the guidelines; ``None`` = there are none."""
    n_imported: int
    """Imported grades of the judges and topics asked for: what they rest on is unknown."""


_Found = tuple[Outdated, Row[Any]]
"""An outdated judgement, and the newest event on its document, without texts."""


def _find(
    session: Session, judges: Sequence[str], topics: Collection[str], why: Collection[Why]
) -> list[_Found]:
    numbers = [judge_id(session, name) for name in judges]
    names = fetch_topic_names(session)
    for topic in topics:
        if topic not in names.values():
            raise UnknownNameError("topic", topic, names.values())
    versions = fetch_guidelines(session)
    current = {one.version for one in versions if one.text == versions[-1].text}
    of_topics = current_versions(session)
    pooled, is_assigned = pooled_pairs(session), has_assignments(session)
    query = select(JUDGE).order_by(JUDGE.c.name)
    sat = sat_down(session).intersection(numbers) if numbers else sat_down(session)
    found: list[_Found] = []
    for judge in session.execute(query.where(JUDGE.c.id.in_(sat))).all():
        decided: list[tuple[Pair, Row[Any], Row[Any]]] = []
        for pair, events in fetch_histories(session, judge=judge.id).items():
            if topics and names[pair[0]] not in topics:
                continue
            basis = basis_of(events)
            if basis is not None:
                decided.append((pair, basis, events[-1]))
        places = assigned_pairs(session, judge.id) if is_assigned else None
        ids = {document for (_, document), _, _ in decided}
        documents = rows_by_key(session, ids, DOCUMENT.c.id, DOCUMENT.c.sha256, DOCUMENT.c.docno)
        for pair, basis, newest in decided:
            reasons = _reasons(basis, documents[pair[1]].sha256, current, of_topics.get(pair[0]))
            if not reasons or (why and not set(reasons).intersection(why)):
                continue
            outdated = Outdated(
                judge.name,
                names[pair[0]],
                documents[pair[1]].docno,
                State(basis.state),
                basis.grade,
                reasons,
                basis.guideline_version,
                basis.judged_at,
                _obstacle(judge, pair, pooled, places),
                basis.topic_version,
            )
            found.append((outdated, newest))
    return sorted(found, key=lambda one: (one[0].judge, natural_key(one[0].topic), one[0].docno))


def _reasons(
    basis: Row[Any], sha256: str | None, current: set[int], of_topic: set[int] | None
) -> tuple[Why, ...]:
    """Return what has changed since a decision; a topic of one text never has."""
    reasons = []
    if current and basis.guideline_version not in current:
        reasons.append(Why.GUIDELINES)
    if basis.document_sha256 != sha256:
        reasons.append(Why.TEXT_CAME if basis.document_sha256 is None else Why.TEXT)
    if of_topic is not None and judged_under(basis) not in of_topic:
        reasons.append(Why.TOPIC)
    return tuple(reasons)


def _obstacle(judge: Row[Any], pair: Pair, pooled: set[Pair], places: set[Pair] | None) -> Obstacle | None:
    """Return why a reopened document would not come before its judge again."""
    if judge.disabled:
        return Obstacle.DISABLED
    if judge.kind == JudgeKind.ADJUDICATOR:  # settles disagreements, wherever there is one
        return None
    if pair not in pooled:
        return Obstacle.NOT_POOLED
    return Obstacle.NOT_ASSIGNED if places is not None and pair not in places else None


def _append(session: Session, found: Sequence[_Found], now: datetime) -> None:
    columns = (JUDGEMENT.c.id, JUDGEMENT.c.note, JUDGEMENT.c.iteration)
    before = rows_by_key(session, (newest.id for _, newest in found), *columns)
    rows = [
        {
            **{name: newest._mapping[name] for name in KEY},
            "revision": newest.revision + 1,
            "action": Action.REOPEN.value,
            "state": State.UNJUDGED.value,
            "reason": " ".join(shown.why),
            "note": before[newest.id].note,
            "iteration": before[newest.id].iteration,
            "judged_at": now,
        }
        for shown, newest in found
    ]
    try:
        with session.begin_nested():
            session.connection().execute(insert(JUDGEMENT), rows)
    except IntegrityError as error:
        raise _conflict(session, found) from error
    kept = [newest for shown, newest in found if KEEPS_PASSAGES.issuperset(shown.why)]
    passages = fetch_passages(session, [newest.id for newest in kept])
    for newest in kept:
        if newest.id in passages:
            add_passages(session, _later_event(session, newest) or 0, passages[newest.id])
    write_event_digests(session)


def _later_event(session: Session, event: Row[Any]) -> int | None:
    same = (JUDGEMENT.c[name] == event._mapping[name] for name in KEY)
    later = select(JUDGEMENT.c.id).where(*same, JUDGEMENT.c.revision > event.revision)
    return session.scalar(later.limit(1))


def _conflict(session: Session, found: Sequence[_Found]) -> ConflictError:
    message = "a judge was at work on one of these documents"
    for shown, newest in found:
        if _later_event(session, newest) is not None:
            message = f"`{shown.judge}` judged `{shown.docno}` of topic {shown.topic} at this very moment"
            break
    return ConflictError(message, hint="nothing was reopened; try again")


def _renew_leases(session: Session, found: Sequence[_Found], now: datetime) -> None:
    leased = select(ASSIGNMENT_PLAN.c.id, ASSIGNMENT_PLAN.c.lease_s).where(
        ASSIGNMENT_PLAN.c.lease_s.is_not(None)
    )
    renewed = [
        {
            "plan": plan.id,
            "until": now + timedelta(seconds=plan.lease_s),
            **{f"own_{name}": newest._mapping[name] for name in KEY},
        }
        for plan in session.execute(leased)
        for _, newest in found
    ]
    if renewed:
        own = (ASSIGNMENT.c[name] == bindparam(f"own_{name}") for name in KEY)
        statement = update(ASSIGNMENT).where(ASSIGNMENT.c.plan_id == bindparam("plan"), *own)
        session.connection().execute(statement.values(lease_until=bindparam("until")), renewed)


class Rejudging(Area):
    """Judgements that rest on what has changed since."""

    def outdated(
        self, judges: Sequence[str] = (), topics: Collection[str] = (), why: Collection[Why] = ()
    ) -> OutdatedList:
        """Find the judgements that rest on older guidelines, or on other texts than there are now.

        What counts is the event that decided. A version with the text of the newest is no older one.
        """
        with self._db.reading() as session:
            found = _find(session, judges, topics, why)
            newest = fetch_guidelines(session)[-1:]
            imported = current_events(judges=[judge_id(session, name) for name in judges] or None).where(
                JUDGEMENT.c.sitting_id.is_(None), JUDGEMENT.c.state == State.JUDGED.value
            )
            if topics:
                wanted = select(TOPIC.c.id).where(TOPIC.c.number.in_(list(topics)))
                imported = imported.where(JUDGEMENT.c.topic_id.in_(wanted))
            return OutdatedList(
                tuple(shown for shown, _ in found),
                newest[0].version if newest else None,
                count_rows(session, imported.subquery()),
            )

    def reopen(
        self, judges: Sequence[str] = (), topics: Collection[str] = (), why: Collection[Why] = ()
    ) -> list[Outdated]:
        """Reopen what `outdated` finds without an obstacle: it is unjudged again, and lies before its judge.

        Note and round stay, and marked passages unless the document's text has changed. The lease of a
        claimed place begins anew. `ConflictError`: a judge was at work on one of the documents.
        """
        with self._db.writing(bulk=True) as session:
            numbers = [judge_id(session, name) for name in judges]
            # As at a desk: the judge first, then places, so that no two wait for each other. Who is about
            # to write an event has this lock, and is waited for.
            lock = select(JUDGE.c.id).order_by(JUDGE.c.id).with_for_update(key_share=True)
            session.execute(lock.where(JUDGE.c.id.in_(numbers)) if numbers else lock).all()
            found = [one for one in _find(session, judges, topics, why) if one[0].obstacle is None]
            if found:
                now = database_now(session)
                _renew_leases(session, found, now)
                _append(session, found, now)
            return [shown for shown, _ in found]
