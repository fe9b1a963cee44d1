"""A judge erased, the count that stays, the bytes overwritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, select, update
from sqlmodel import Session

from store.content.lookup import count_rows, same_pair
from store.db.database import Area
from store.db.digests import note_events
from store.db.engine import Scrubbed, database_now, overwrite_removed, scrub
from store.db.tables import (
    ANSWER,
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    ERASURE,
    JUDGE,
    JUDGEMENT,
    MODEL_JUDGE,
    OF_THIS_PLACE,
    PASSAGE,
    QRELS,
    SITTING,
)
from store.judging.events import Pair, current_events
from store.judging.judges import (
    NamesReplaced,
    count_mentions,
    count_notes,
    judge_named,
    refuse_live,
    replace_name,
)
from store.records import DECIDED, JudgeKind, State

ERASED = "erased"
"""What stands where the name of an erased judge stood."""
_BY_CLAIM = select(ASSIGNMENT_PLAN.c.id).where(ASSIGNMENT_PLAN.c.lease_s.is_not(None))
"""Plans whose places are claimed, not given by name."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What a judge who is erased has in common with another."""

    judge: str
    documents: int
    """Both graded: the pair's agreement rests on them."""


@dataclass(frozen=True, slots=True)
class Erasing:
    """What goes with a judge, and what stays."""

    judge: str
    kind: JudgeKind
    judgements: int
    """Documents with a grade; of an adjudicator, those ruled on."""
    cannot: int
    """Documents found impossible to judge."""
    skipped: int
    events: int
    passages: int
    """Marked passages, each once a document."""
    notes: int
    """Notes and reasons, each once a document."""
    sittings: int
    answers: int
    """Of a model; its identity goes with them."""
    kept: int
    """Documents graded by this judge and by others, who are no adjudicators."""
    lost: int
    """Documents that only this judge graded: they are unjudged then, or what others made of
    them."""
    shared: tuple[Shared, ...]
    """Other judges with documents in common, by name; no adjudicator has any."""
    rulings: int
    """Rulings of others on documents that this judge decided: they stay."""
    places: int
    """Assigned by name to this judge; they go."""
    reopened: int
    """Claimed by this judge; they are open to any judge."""
    unassigned: int
    """Documents of `places` that are unassigned then."""
    is_last_assigned: bool
    """Whether nothing is assigned to anybody then, so that every judge is shown every pool."""
    named: NamesReplaced
    """Where the name stands beside the list of judges: it is `ERASED` there, then."""
    in_notes: int
    """Notes and reasons of others in which the name stands; they stay as they are."""
    scrubbed: Scrubbed | None = field(default=None, compare=False)
    """Whether the bytes are gone from the file; ``None`` = nothing was erased."""

    @property
    def is_adjudicator(self) -> bool:
        """Whether the judgements are rulings."""
        return self.kind is JudgeKind.ADJUDICATOR


def look_at(session: Session, name: str) -> Erasing:
    """Return what erasing a judge would take and leave; raise `UnknownNameError` for an unknown one."""
    row = judge_named(session, name, "id", "kind")
    number, kind = row.id, JudgeKind(row.kind)
    states = Counter(row.state for row in session.execute(current_events(judges=[number])))
    own = JUDGEMENT.c.judge_id == number
    is_adjudicator = kind is JudgeKind.ADJUDICATOR
    marked = (
        select(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, PASSAGE.c.start, PASSAGE.c.length)
        .join(PASSAGE, PASSAGE.c.judgement_id == JUDGEMENT.c.id)
        .where(own)
    )
    graded, shared, rulings = _beside(session, number)
    kept = set().union(*shared.values()) if shared else set()
    claimed = _claimed(number)
    n_places = count_rows(session, ASSIGNMENT, ASSIGNMENT.c.judge_id == number, ~claimed)
    return Erasing(
        judge=name,
        kind=kind,
        judgements=states[State.JUDGED],
        cannot=states[State.CANNOT],
        skipped=states[State.SKIPPED],
        events=count_rows(session, JUDGEMENT, own),
        passages=count_rows(session, marked.distinct().subquery()),
        notes=count_notes(session, [number]),
        sittings=count_rows(session, SITTING, SITTING.c.judge_id == number),
        answers=count_rows(session, ANSWER, ANSWER.c.judge_id == number),
        kept=0 if is_adjudicator else len(kept),
        lost=0 if is_adjudicator else len(graded) - len(kept),
        shared=() if is_adjudicator else _listed(session, shared),
        rulings=0 if is_adjudicator else rulings,
        places=n_places,
        reopened=count_rows(session, ASSIGNMENT, claimed),
        unassigned=_count_unassigned(session, number),
        is_last_assigned=0 < count_rows(session, ASSIGNMENT) == n_places,
        named=replace_name(session, name, ERASED, keeps_seeds=False, dry_run=True),
        in_notes=count_mentions(session, name, JUDGEMENT.c.judge_id != number),
    )


def _beside(session: Session, judge: int) -> tuple[set[Pair], dict[int, set[Pair]], int]:
    """Return the documents a judge graded, those others graded too, and rulings where the judge decided."""
    kinds = {row.id: row.kind for row in session.execute(select(JUDGE.c.id, JUDGE.c.kind))}
    graded: set[Pair] = set()
    decided: set[Pair] = set()
    for event in session.execute(current_events("topic_id", "document_id", "state", judges=[judge])):
        pair = (event.topic_id, event.document_id)
        if event.state == State.JUDGED:
            graded.add(pair)
        if event.state in DECIDED:
            decided.add(pair)
    shared: dict[int, set[Pair]] = {}
    ruled: set[Pair] = set()
    others = [number for number in kinds if number != judge]
    for event in session.execute(current_events(judges=others)) if decided else ():
        pair = (event.topic_id, event.document_id)
        if kinds[event.judge_id] == JudgeKind.ADJUDICATOR:
            if pair in decided and event.state in DECIDED:
                ruled.add(pair)
        elif pair in graded and event.state == State.JUDGED:
            shared.setdefault(event.judge_id, set()).add(pair)
    return graded, shared, len(ruled)


def _listed(session: Session, shared: dict[int, set[Pair]]) -> tuple[Shared, ...]:
    query = select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.id.in_(shared)).order_by(JUDGE.c.name)
    return tuple(Shared(row.name, len(shared[row.id])) for row in session.execute(query))


def _claimed(judge: int) -> ColumnElement[bool]:
    return and_(ASSIGNMENT.c.judge_id == judge, ASSIGNMENT.c.plan_id.in_(_BY_CLAIM))


def _count_unassigned(session: Session, judge: int) -> int:
    """Count the documents at which no judge has a place, nor may claim one, without this judge's."""
    other = ASSIGNMENT.alias("other")
    is_anothers = other.c.judge_id.is_distinct_from(judge) | other.c.plan_id.in_(_BY_CLAIM)
    stays = exists(select(other.c.id).where(same_pair(other, ASSIGNMENT), is_anothers))
    return count_rows(session, ASSIGNMENT, ASSIGNMENT.c.judge_id == judge, ~stays)


@dataclass(frozen=True, slots=True)
class Erasure:
    """A judge who was erased."""

    uid: str
    """The same in every backup of the collection; it says nothing of whose it was."""
    kind: JudgeKind
    judgements: int
    """Documents that had a grade."""
    events: int
    """All there were, taken back or not."""
    erased_at: datetime
    """UTC."""


def fetch_erasures(session: Session) -> list[Erasure]:
    """Return every erasure, the oldest first; those of one moment in an order of their content."""
    found = [
        Erasure(row.uid, JudgeKind(row.kind), row.judgements, row.events, row.erased_at)
        for row in session.execute(select(ERASURE))
    ]
    return sorted(found, key=lambda one: (one.erased_at, one.kind, one.judgements, one.events, one.uid))


def removed_words(judgements: Iterable[int]) -> str:
    """Return how much is gone with judges who were erased, by their graded documents; empty = none was."""
    counts = list(judgements)
    if not counts:
        return ""
    noun = "judgement" if sum(counts) == 1 else "judgements"
    whose = "an erased judge" if len(counts) == 1 else f"{len(counts):,} erased judges"
    return f"{sum(counts):,} {noun} of {whose} removed"


class Erasures(Area):
    """The judges of a collection who were erased, and are to be."""

    def all(self) -> list[Erasure]:
        """Return what is left of judges who were erased."""
        with self._db.reading() as session:
            return fetch_erasures(session)

    def erase(self, name: str, *, dry_run: bool = False) -> Erasing:
        """Erase a judge: events, passages, sittings, places, answers, and the name; or return what would go.

        A row of table `erasure` stays, by which a backup is kept from bringing them back by mistake.
        `ConflictError`: the judge is at work.
        """
        if dry_run:
            with self._db.reading() as session:
                return look_at(session, name)
        with self._db.writing(bulk=True) as session:
            overwrite_removed(session)
            judge = judge_named(session, name, "id", "uid")
            number = judge.id
            refuse_live(session, {name: number})
            found = look_at(session, name)
            own = JUDGEMENT.c.judge_id == number
            connection = session.connection()
            events = select(JUDGEMENT.c.id).where(own)
            for table in (JUDGEMENT, ANSWER):
                gone = select(table.c.digest).where(table.c.judge_id == number)
                note_events(session, table, (one or 0 for one in session.scalars(gone)))
            connection.execute(delete(PASSAGE).where(PASSAGE.c.judgement_id.in_(events)))
            # For every event that goes the database looks for one that takes it back: without an index,
            # among all of them.
            connection.exec_driver_sql("CREATE INDEX judgement_undone ON judgement (undoes)")
            is_before = JUDGEMENT.c.id <= QRELS.c.last_event
            newest = select(func.max(JUDGEMENT.c.id)).where(is_before, ~own).scalar_subquery()
            connection.execute(update(QRELS).values(last_event=newest))  # ids that go are given again
            connection.execute(delete(JUDGEMENT).where(own))
            connection.exec_driver_sql("DROP INDEX judgement_undone")
            for table in (ANSWER, MODEL_JUDGE, *OF_THIS_PLACE):
                connection.execute(delete(table).where(table.c.judge_id == number))
            connection.execute(delete(SITTING).where(SITTING.c.judge_id == number))
            given_back = {"judge_id": None, "lease_until": None}
            connection.execute(update(ASSIGNMENT).where(_claimed(number)).values(given_back))
            connection.execute(delete(ASSIGNMENT).where(ASSIGNMENT.c.judge_id == number))
            replace_name(session, name, ERASED, keeps_seeds=False)
            connection.execute(delete(JUDGE).where(JUDGE.c.id == number))
            tombstone = {
                "uid": judge.uid,
                "kind": found.kind.value,
                "judgements": found.judgements,
                "events": found.events,
                "erased_at": database_now(session),
            }
            connection.execute(insert(ERASURE), [tombstone])
        return replace(found, scrubbed=scrub(self._db.engine))
