"""Judgement events: appended, never changed; and the one SELECT of the current state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, and_, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from store.errors import ConflictError, StoreError
from store.imports import ImportReport
from store.judges import judge_id
from store.keys import Keys
from store.models import JUDGE, JUDGEMENT, JudgementRow
from store.records import Action, Judgement, Qrel, State

_BATCH = 5000
"""Rows that are written at once."""


def no_advance(_steps: int) -> None:
    """Show nobody how many steps were done."""


def current_events(*, judges: Sequence[int] | None = None, topic: int | None = None) -> Select[Any]:
    """Select the newest event of every (topic, document, judge): the current state.

    Parameters
    ----------
    judges : sequence of int, optional
        Row ids of the judges; default all.
    topic : int, optional
        Row id of one topic; default all.
    """
    key = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.judge_id)
    newest = select(*key, func.max(JUDGEMENT.c.revision).label("revision")).group_by(*key)
    if judges is not None:
        newest = newest.where(JUDGEMENT.c.judge_id.in_(list(judges)))
    if topic is not None:
        newest = newest.where(JUDGEMENT.c.topic_id == topic)
    last = newest.subquery()
    same = (JUDGEMENT.c[name] == last.c[name] for name in last.c.keys())  # noqa: SIM118 - SQL columns
    return select(JUDGEMENT).join(last, and_(*same))


def append_event(session: Session, row: JudgementRow, *, seen_revision: int) -> JudgementRow:
    """Append one event after the revision its author saw.

    Parameters
    ----------
    session : Session
        A writing session.
    row : JudgementRow
        The event; its revision is set here.
    seen_revision : int
        The revision on the author's screen; 0 = none.

    Raises
    ------
    ConflictError
        If another event of the same judge on the same document came in between.
    """
    row.revision = seen_revision + 1
    message = "this document was judged under the same name somewhere else in between"
    newest = session.scalar(
        select(func.max(JUDGEMENT.c.revision)).where(
            JUDGEMENT.c.topic_id == row.topic_id,
            JUDGEMENT.c.document_id == row.document_id,
            JUDGEMENT.c.judge_id == row.judge_id,
        )
    )
    if (newest or 0) != seen_revision:
        raise ConflictError(message, hint="the other judgement stands; look at it again")
    session.add(row)
    try:
        session.flush()
    except IntegrityError as error:
        if "unique" in str(error.orig).lower():
            raise ConflictError(message) from error
        message = "the judgement refers to something that is no longer in the collection"
        raise StoreError(message) from error
    return row


def import_judgements(
    session: Session,
    topics: Keys,
    documents: Keys,
    judge: str,
    qrels: Sequence[Qrel],
    *,
    replace: bool = False,
    advance: Callable[[int], None] = no_advance,
) -> ImportReport:
    """Append a judge's judgements from a file.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh.
    judge : str
        A judge of the collection.
    qrels : sequence of Qrel
        Grades of the declared scale, each (topic, docno) once.
    replace : bool, default=False
        Whether a grade that differs from the stored one is appended as a new revision.
    advance : callable
        Told of so many more of `qrels` that are done.

    Raises
    ------
    ConflictError
        If a grade differs from the stored one and `replace` is false, or the judge was at work on
        the same documents meanwhile.
    UnknownNameError
        If the judge is not known.
    """
    number = judge_id(session, judge)
    topics.add(session, (qrel.topic for qrel in qrels))
    documents.add(session, (qrel.docno for qrel in qrels))
    current = {
        (row.topic_id, row.document_id): row
        for row in session.execute(current_events(judges=[number]))
    }
    now = datetime.now(UTC)
    unchanged = replaced = 0
    rows: list[dict[str, Any]] = []
    differing: list[str] = []
    for qrel in qrels:
        pair = (topics.ids[qrel.topic], documents.ids[qrel.docno])
        old = current.get(pair)
        if old is not None:
            if (old.grade, old.iteration) == (qrel.grade, qrel.iteration):
                unchanged += 1
                continue
            replaced += 1
            was = old.state if old.grade is None else old.grade
            differing.append(f"{qrel.topic} {qrel.docno}: {was} -> {qrel.grade}")
        rows.append(
            {
                "topic_id": pair[0],
                "document_id": pair[1],
                "judge_id": number,
                "revision": 1 if old is None else old.revision + 1,
                "action": Action.JUDGE.value,
                "state": State.JUDGED.value,
                "grade": qrel.grade,
                "reason": "",
                "note": "" if old is None else old.note,
                "iteration": qrel.iteration,
                "judged_at": now,
                "dropped_keys": 0,
            }
        )
    if differing and not replace:
        some = "; ".join(differing[:3]) + ("; ..." if len(differing) > 3 else "")
        message = f"{len(differing)} judgements of `{judge}` are there otherwise: {some}"
        raise ConflictError(message, hint="--replace appends the new ones as revisions")
    advance(unchanged)
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        try:
            session.connection().execute(insert(JUDGEMENT), batch)
        except IntegrityError as error:
            message = f"`{judge}` judged one of these documents during the import"
            raise ConflictError(message, hint="nothing was imported; try again") from error
        advance(len(batch))
    added = len(rows) - replaced
    return ImportReport(added=added, unchanged=unchanged, replaced=replaced)


def count_events(session: Session, judges: Sequence[str] | None = None) -> int:
    """Count the events there are, taken back or not: of some judges, by name, or of all."""
    query = select(func.count(JUDGEMENT.c.id))
    if judges is not None:
        query = query.join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id).where(
            JUDGE.c.name.in_(judges)
        )
    return session.scalar(query) or 0


def fetch_judgements(
    session: Session, topics: Keys, documents: Keys, *, judges: Sequence[str] | None = None
) -> list[Judgement]:
    """Return the current state of every (topic, document, judge) that has an event.

    Parameters
    ----------
    session : Session
        Any session.
    topics, documents : Keys
        Fresh.
    judges : sequence of str, optional
        Judges of the collection; default all.

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    """
    names = {row.id: row.name for row in session.execute(select(JUDGE.c.id, JUDGE.c.name))}
    numbers = None if judges is None else [judge_id(session, name) for name in judges]
    rows = session.execute(current_events(judges=numbers))
    return [as_record(row, topics, documents, names[row.judge_id]) for row in rows]


def as_record(row: Any, topics: Keys, documents: Keys, judge: str) -> Judgement:
    """Turn an event row into a `Judgement`."""
    return Judgement(
        topic=topics.names[row.topic_id],
        docno=documents.names[row.document_id],
        judge=judge,
        state=State(row.state),
        grade=row.grade,
        revision=row.revision,
        reason=row.reason,
        note=row.note,
        iteration=row.iteration,
        judged_at=row.judged_at,
    )


def check_grades(grades: Iterable[int], values: Sequence[int]) -> list[int]:
    """Return the grades that are not on the scale, each once, ascending."""
    return sorted(set(grades).difference(values))
