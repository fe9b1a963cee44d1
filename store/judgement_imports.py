"""Judgements of many judges at once, out of a file: whole histories, or how documents stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from store.errors import ConflictError
from store.formats.judgements import JudgementEvent
from store.histories import EventWriter, Pair, append_histories
from store.imports import ImportReport
from store.judgements import current_events
from store.judges import add_judge
from store.keys import Keys
from store.models import JUDGE
from store.records import Action, JudgeKind, Judgement, State

_ACTIONS = {State.JUDGED: Action.JUDGE, State.SKIPPED: Action.SKIP, State.CANNOT: Action.CANNOT}


def import_histories(
    session: Session,
    topics: Keys,
    documents: Keys,
    events: Sequence[JudgementEvent],
    kinds: Mapping[str, JudgeKind],
) -> ImportReport:
    """Append the events that are not there yet; see `store.histories.append_histories`.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh; ids that are new are added.
    events : sequence of JudgementEvent
        As `append_histories` takes them; judges that are new are added.
    kinds : mapping of str to JudgeKind
        Of every judge who is new; others stay what they are.

    Raises
    ------
    ConflictError
        If another event stands at a revision, or one before it is missing.
    """
    _add_judges(session, (event.judge for event in events), kinds)
    with _alone():
        return append_histories(session, topics, documents, events)


def import_states(
    session: Session,
    topics: Keys,
    documents: Keys,
    states: Sequence[Judgement],
    kinds: Mapping[str, JudgeKind],
    *,
    replace: bool = False,
) -> ImportReport:
    """Append what makes documents stand with judges as a file says.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh; ids that are new are added.
    states : sequence of Judgement
        Each (topic, docno, judge) once; grades of the declared scale. Revisions and moments are not
        looked at. Judges that are new are added.
    kinds : mapping of str to JudgeKind
        Of every judge who is new; others stay what they are.
    replace : bool, default=False
        Whether a state that differs from the stored one is appended as a revision.

    Returns
    -------
    ImportReport
        States added, replaced, and there already: the same but for revision and moment.

    Raises
    ------
    ConflictError
        If a state differs from the stored one and `replace` is false.

    Notes
    -----
    A document without a decision and without an event before it gets a note, which may be empty;
    one that had a decision is reopened.
    """
    numbers = _add_judges(session, (one.judge for one in states), kinds)
    topics.add(session, (one.topic for one in states))
    documents.add(session, (one.docno for one in states))
    current = {
        (row.topic_id, row.document_id, row.judge_id): row
        for row in session.execute(current_events(judges=list(numbers.values())))
    }
    now = datetime.now(UTC)
    events: list[tuple[Pair, JudgementEvent]] = []
    added = unchanged = 0
    differing: list[str] = []
    for one in states:
        key = (topics.ids[one.topic], documents.ids[one.docno], numbers[one.judge])
        old = current.get(key)
        if old is not None:
            stands = (old.state, old.grade, old.reason, old.note, old.iteration)
            if stands == (one.state.value, one.grade, one.reason, one.note, one.iteration):
                unchanged += 1
                continue
            differing.append(f"{one.topic} {one.docno} of {one.judge}")
        added += old is None
        action = _ACTIONS.get(one.state, Action.NOTE if old is None else Action.REOPEN)
        revision = 1 if old is None else old.revision + 1
        events.append((key, _event(one, action, revision, now)))
    if differing and not replace:
        some = "; ".join(differing[:3]) + ("; ..." if len(differing) > 3 else "")
        message = f"{len(differing)} judgements are there otherwise: {some}"
        raise ConflictError(message, hint="--replace appends the new ones as revisions")
    writer = EventWriter(session)
    with _alone():
        for key, event in events:
            writer.add(key, event, None)
        writer.flush()
    return ImportReport(added=added, unchanged=unchanged, replaced=len(differing))


@contextmanager
def _alone() -> Iterator[None]:
    """Word what happens when a judge is at work on the same documents meanwhile."""
    try:
        yield
    except IntegrityError as error:
        message = "one of the judges judged one of these documents during the import"
        raise ConflictError(message, hint="nothing was imported; try again") from error


def _add_judges(
    session: Session, names: Iterable[str], kinds: Mapping[str, JudgeKind]
) -> dict[str, int]:
    """Add judges that are new; return the row ids of all that are named."""
    wanted = dict.fromkeys(names)
    known = set(session.scalars(select(JUDGE.c.name)))
    for name in wanted:
        if name not in known:
            add_judge(session, name, kinds[name])
    rows = session.execute(select(JUDGE.c.name, JUDGE.c.id))
    return {row.name: row.id for row in rows if row.name in wanted}


def _event(one: Judgement, action: Action, revision: int, now: datetime) -> JudgementEvent:
    """Make the event that leads to a state."""
    return JudgementEvent(
        topic=one.topic,
        docno=one.docno,
        judge=one.judge,
        revision=revision,
        action=action,
        undoes=None,
        state=one.state,
        grade=one.grade,
        reason=one.reason,
        note=one.note,
        iteration=one.iteration,
        passages=(),
        display_order=None,
        position=None,
        shown_at=None,
        judged_at=now,
        dwell_ms=None,
        active_ms=None,
        dropped_keys=0,
        guideline_version=None,
        document_sha256=None,
        sitting=None,
    )
