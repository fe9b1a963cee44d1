"""One judge's documents as a small collection of their own, to be handed out and merged back.

It is blind by construction: no run, no rank, no priority, no stratum, no other judge is in it, and
row ids do not tell in which order documents came. Its pools say that they are a part
(`store.merging.copies.is_part`), so that a merge takes what the judge did and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.engine import URL
from sqlmodel import Session

from store.assignments import claimable, has_assignments
from store.database import check_schema, make_engine, reading, writing
from store.directory.moving import Progress, no_progress
from store.errors import ConflictError, StoreError
from store.judges import judge_id
from store.merging.copies import is_part
from store.models import JUDGE, TOPIC
from store.natural_order import natural_key
from store.open_desk import disabled_message
from store.queues import count_undrawn, fetch_queue, fetch_queues
from store.records import JudgeKind, State
from store.schema import make_tables
from store.whole_files import check_folder, made_whole
from store.work_tables import (
    Part,
    write_documents,
    write_events,
    write_head,
    write_places,
    write_pools,
    write_topics,
)


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What is in a judge's part."""

    topics: int
    documents: int
    """Of all topics: a document of two topics is two."""
    unjudged: int
    """Those without a decision that were not skipped, ..."""
    skipped: int
    """... and those that were."""
    without_text: int
    events: int
    """Of the judge, on these documents, so far."""
    elsewhere: int
    """Documents that could still come to the judge at the whole collection: to be claimed, or
    drawn by adaptive pools. They are not in the part."""


def hand_out(
    engine: Engine, judge: str, file: Path, *, program: str, progress: Progress = no_progress
) -> HandedOut:
    """Make a collection of what lies before one judge.

    Parameters
    ----------
    engine : Engine
        Of the whole collection.
    judge : str
        A judge of it who is not disabled.
    file : Path
        A SQLite file that is not there yet.
    program : str
        Name and version of the program.
    progress : callable
        Shows how far it is.

    Returns
    -------
    HandedOut

    Raises
    ------
    UnknownNameError
        If the judge is not known.
    StoreError
        If the judge is disabled or an adjudicator, nothing lies before the judge, the collection is
        a part itself, or there is something at `file`.

    Notes
    -----
    In it are the topics with all their texts, the documents with theirs, the guidelines, the judge,
    with what the judge did to these documents and in which sittings, and marked terms. Places are
    by name: what was claimed stays the judge's there, whatever the lease. The file appears
    whole or not at all.
    """
    if file.exists() or file.is_symlink():
        message = f"{file} is there already"
        raise StoreError(message, hint="name another file: nothing is overwritten")
    check_folder(file)
    with reading(engine) as whole:
        number = _check_judge(whole, judge)
        queues = _queues(whole, number)
        if not queues:
            message = f"no document lies before judge `{judge}`"
            hint = "pooler pool makes a pool, pooler assign gives documents to judges"
            raise StoreError(message, hint=hint)
        with made_whole(file) as part:
            return _fill(whole, part, number, queues, program, progress)


def _check_judge(whole: Session, judge: str) -> int:
    """Return the row id of a judge who can be handed a part."""
    if is_part(whole):
        message = "this collection is one judge's part of another"
        raise ConflictError(message, hint="hand out parts of the whole one")
    number = judge_id(whole, judge)
    row = whole.execute(select(JUDGE).where(JUDGE.c.id == number)).one()
    if row.disabled:
        raise StoreError(disabled_message(judge))
    if row.kind == JudgeKind.ADJUDICATOR.value:
        message = f"`{judge}` is an adjudicator, who sees what all judges decided"
        raise StoreError(message, hint="adjudicate in the whole collection")
    return number


def _queues(whole: Session, judge: int) -> dict[int, list[int]]:
    """Return what lies before a judge, topics in natural order."""
    numbers = {row.id: row.number for row in whole.execute(select(TOPIC.c.id, TOPIC.c.number))}
    topics = sorted(fetch_queues(whole, judge), key=lambda topic: natural_key(numbers[topic]))
    queues = {topic: [one.document for one in fetch_queue(whole, judge, topic)] for topic in topics}
    return {topic: queue for topic, queue in queues.items() if queue}


def _fill(
    whole: Session,
    file: Path,
    judge: int,
    queues: dict[int, list[int]],
    program: str,
    progress: Progress,
) -> HandedOut:
    """Write a part into a file that is not there yet."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    try:
        with writing(engine, bulk=True, creates=True) as into:
            make_tables(into)
            part = Part(whole, into, judge, queues)
            write_head(part, program)
            write_topics(part)
            write_documents(part, progress)
            write_pools(part)
            write_places(part)
            write_events(part)
        check_schema(engine)
    finally:
        engine.dispose()
    pairs = [(topic, document) for topic, queue in queues.items() for document in queue]
    states = [part.states.get(pair, State.UNJUDGED.value) for pair in pairs]
    undrawn = sum(count_undrawn(whole).values())
    to_claim = sum(claimable(whole, judge).values()) if has_assignments(whole) else 0
    return HandedOut(
        topics=len(queues),
        documents=len(pairs),
        unjudged=states.count(State.UNJUDGED.value),
        skipped=states.count(State.SKIPPED.value),
        without_text=part.n_without_text,
        events=part.n_events,
        elsewhere=undrawn + to_claim,
    )
