"""One judge's part as a collection of its own.

Row ids are new ones, by topic and docno, so that they do not tell in which order documents came.

It is blind by construction: no run, no rank, no priority, no stratum, no other judge is in it, and
row ids do not tell in which order documents came. Its pools say that they are a part
(`store.keeping.merge.copies.is_part`), so that a merge takes what the judge did and nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, select
from sqlalchemy.engine import URL
from sqlmodel import Session

from store.db.engine import check_schema, make_engine, reading, writing
from store.db.files import check_folder, made_whole
from store.db.raw import insert_raw, raw_rows
from store.db.schema import make_tables
from store.db.tables import (
    ASSIGNMENT,
    DOCUMENT,
    GUIDELINE,
    JUDGE,
    JUDGE_TERM,
    JUDGEMENT,
    PASSAGE,
    POOL,
    POOL_ENTRY,
    SITTING,
    TABLES,
    TOPIC,
    TOPIC_VERSION,
)
from store.errors import ConflictError, StoreError
from store.judging.assignments import assigned_documents, claimable, has_assignments
from store.judging.desk import count_undrawn, disabled_message, fetch_queue, fetch_queues
from store.judging.judges import judge_id
from store.keeping.directory.tables import Progress, no_progress
from store.keeping.merge.copies import PART, is_part
from store.records import JudgeKind, State
from store.text import natural_key

WORK = "work"
"""Name of its pool; of several, with a number."""

_BATCH = 500

Pair = tuple[int, int]
"""Row ids of a topic and a document."""


@dataclass(slots=True)
class WorkPart:
    """A part on its way out of a collection: what is known of it so far."""

    whole: Session
    into: Session
    judge: int
    """Row id there; here it is 1."""
    queues: dict[int, list[int]]
    """Row ids of documents in display order, by those of topics."""
    topics: dict[int, int] = field(default_factory=dict)
    """Row id there to row id here, as `documents`."""
    documents: dict[int, int] = field(default_factory=dict)
    states: dict[Pair, str] = field(default_factory=dict)
    n_events: int = 0
    n_without_text: int = 0


def _values(row: Any, *without: str) -> dict[str, Any]:
    """Return the values of a row, but for its row id and checksum."""
    left_out = {"id", "checksum", *without}
    return {name: value for name, value in row._mapping.items() if name not in left_out}


def write_head(part: WorkPart, program: str) -> None:
    """Write what the collection is, its guidelines, and the judge."""
    about = part.whole.execute(select(TABLES["collection"])).one()
    collection = {**_values(about), "id": 1, "created_by": program}
    part.into.execute(insert(TABLES["collection"]).values(collection))
    rows = [_values(row) for row in part.whole.execute(select(GUIDELINE))]
    _insert(part, GUIDELINE, sorted(rows, key=lambda row: int(row["version"])))
    row = part.whole.execute(select(JUDGE).where(JUDGE.c.id == part.judge)).one()
    part.into.execute(insert(JUDGE).values(id=1, **_values(row)))


def write_topics(part: WorkPart) -> None:
    """Write the topics of the queues, with the texts they had before, and the judge's terms."""
    part.topics = {topic: number for number, topic in enumerate(part.queues, start=1)}
    for table, column, key in (
        (TOPIC, TOPIC.c.id, "id"),
        (TOPIC_VERSION, TOPIC_VERSION.c.topic_id, "topic_id"),
        (JUDGE_TERM, JUDGE_TERM.c.topic_id, "topic_id"),
    ):
        query = select(table).where(column.in_(part.topics))
        if table is JUDGE_TERM:
            query = query.where(JUDGE_TERM.c.judge_id == part.judge)
        rows = []
        for row in part.whole.execute(query):
            values = {**_values(row), key: part.topics[getattr(row, key)]}
            rows.append({**values, "judge_id": 1} if table is JUDGE_TERM else values)
        order = ("position",) if table is JUDGE_TERM else ("version",)
        rows.sort(key=lambda row: (row[key], *(row[name] for name in order)))
        _insert(part, table, rows)


def write_documents(part: WorkPart, progress: Progress) -> None:
    """Write the documents of the queues, with their texts; row ids go by docno."""
    wanted = sorted({document for queue in part.queues.values() for document in queue})
    docnos: dict[int, str] = {}
    for some in _batches(wanted):
        query = select(DOCUMENT.c.id, DOCUMENT.c.docno).where(DOCUMENT.c.id.in_(some))
        docnos.update((row.id, row.docno) for row in part.whole.execute(query))
    ordered = sorted(wanted, key=docnos.__getitem__)
    part.documents = {document: number for number, document in enumerate(ordered, start=1)}
    without_text: set[int] = set()
    with progress("documents", len(ordered)) as advance:
        for some in _batches(ordered):
            query = select(DOCUMENT).where(DOCUMENT.c.id.in_(some))
            rows = part.whole.execute(query).all()
            without_text.update(row.id for row in rows if row.text is None)
            _insert(
                part,
                DOCUMENT,
                [
                    {**_values(row), "id": part.documents[row.id]}
                    for row in sorted(rows, key=lambda row: part.documents[row.id])
                ],
            )
            advance(len(some))
    part.n_without_text = sum(
        document in without_text for queue in part.queues.values() for document in queue
    )


def write_pools(part: WorkPart) -> None:
    """Write a pool for each that has documents of the queues: the oldest that has one."""
    query = (
        select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id, POOL.c.id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
        .order_by(POOL.c.id.desc())
    )
    oldest = {(topic, document): pool for topic, document, pool in part.whole.execute(query)}
    by_pool: dict[int, list[Pair]] = {}
    for topic, queue in part.queues.items():
        for document in queue:
            by_pool.setdefault(oldest[topic, document], []).append((topic, document))
    pools = {row.id: row for row in part.whole.execute(select(POOL)) if row.id in by_pool}
    for number, pool in enumerate(sorted(pools), start=1):
        pairs, row = by_pool[pool], pools[pool]
        sizes = Counter(part.topics[topic] for topic, _ in pairs)
        manifest = {
            "strategy": WORK,
            PART: True,
            "parameters": {},
            "out_order": row.display_order.partition(":")[0],
            "seed": int(row.display_order.partition(":")[2] or 0),
            "runs": [],
            "sizes": {_number(part, topic): n for topic, n in sizes.items()},
            "pairs": len(pairs),
        }
        part.into.execute(
            insert(POOL).values(
                id=number,
                name=WORK if len(pools) == 1 else f"{WORK}-{number}",
                round=row.round,
                manifest=json.dumps(manifest, sort_keys=True),
                display_order=row.display_order,
                withdrawn=False,
                created_at=row.created_at,
            )
        )
        places: Counter[int] = Counter()
        rows = []
        for topic, document in pairs:
            rows.append(
                {
                    "pool_id": number,
                    "topic_id": part.topics[topic],
                    "document_id": part.documents[document],
                    "position": places[topic],
                }
            )
            places[topic] += 1
        _insert(part, POOL_ENTRY, rows)


def _number(part: WorkPart, topic: int) -> str:
    """Return the id of a topic by its row id in the part."""
    return str(part.into.execute(select(TOPIC.c.number).where(TOPIC.c.id == topic)).scalar_one())


def write_places(part: WorkPart) -> None:
    """Write the judge's places, where documents are assigned at all; not what they are for."""
    if not has_assignments(part.whole):
        return
    for topic, queue in part.queues.items():
        held_places = assigned_documents(part.whole, part.judge, topic)
        rows = [
            {
                "topic_id": part.topics[topic],
                "document_id": part.documents[document],
                "judge_id": 1,
                "position": held_places[document].position,
                "display_order": held_places[document].display_order,
            }
            for document in queue
        ]
        _insert(part, ASSIGNMENT, rows)


def write_events(part: WorkPart) -> None:
    """Write what the judge did to these documents, and in which sittings."""
    names = [column.name for column in JUDGEMENT.columns]
    at = {name: place for place, name in enumerate(names)}
    wanted = {(topic, document) for topic, queue in part.queues.items() for document in queue}
    events = [
        list(row)
        for row in raw_rows(part.whole, JUDGEMENT, where=f"judge_id = {part.judge:d}")
        if (row[at["topic_id"]], row[at["document_id"]]) in wanted
    ]
    sittings = _write_sittings(part, {event[at["sitting_id"]] for event in events})
    ids = {event[at["id"]]: number for number, event in enumerate(events, start=1)}
    newest: dict[Pair, int] = {}
    for event in events:
        pair = event[at["topic_id"]], event[at["document_id"]]
        if event[at["revision"]] > newest.get(pair, 0):
            newest[pair] = event[at["revision"]]
            part.states[pair] = State(event[at["state"]]).value
        event[at["topic_id"]], event[at["document_id"]] = (part.topics[pair[0]], part.documents[pair[1]])
        event[at["judge_id"]] = 1
        event[at["id"]] = ids[event[at["id"]]]
        event[at["sitting_id"]] = sittings.get(event[at["sitting_id"]])
        undoes = event[at["undoes"]]
        event[at["undoes"]] = None if undoes is None else ids[undoes]
    # What an undo takes back comes before it.
    events.sort(key=lambda event: event[at["revision"]])
    insert_raw(part.into, JUDGEMENT, events)
    where = f"judgement_id IN (SELECT id FROM judgement WHERE judge_id = {part.judge:d})"
    own = [list(row) for row in raw_rows(part.whole, PASSAGE, where=where) if row[1] in ids]
    insert_raw(
        part.into, PASSAGE, ([number, ids[row[1]], *row[2:]] for number, row in enumerate(own, start=1))
    )
    part.n_events = len(events)


def _write_sittings(part: WorkPart, wanted: Iterable[int | None]) -> Mapping[int | None, int]:
    """Write some sittings; return their row ids here, by those there."""
    numbers = sorted(one for one in wanted if one is not None)
    rows = [
        row
        for some in _batches(numbers)
        for row in part.whole.execute(select(SITTING).where(SITTING.c.id.in_(some)))
    ]
    rows.sort(key=lambda row: (row.started_at, row.id))
    written: dict[int | None, int] = {}
    values = []
    for number, row in enumerate(rows, start=1):
        written[row.id] = number
        topic = part.topics.get(row.topic_id)
        values.append({**_values(row), "id": number, "judge_id": 1, "topic_id": topic})
    _insert(part, SITTING, values)
    return written


def _insert(part: WorkPart, table: Any, rows: list[dict[str, Any]]) -> None:
    """Insert rows, if there are any."""
    if rows:
        part.into.connection().execute(insert(table), rows)


def _batches(numbers: list[int]) -> Iterable[list[int]]:
    """Cut a list into batches."""
    return (numbers[first : first + _BATCH] for first in range(0, len(numbers), _BATCH))


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
    """Make a collection of what lies before one judge, in a SQLite file that is not there yet.

    In it are the topics with all their texts, the documents with theirs, the guidelines, the judge, with what
    the judge did to these documents and in which sittings, and marked terms. Places are by name: what was
    claimed stays the judge's there, whatever the lease. The file appears whole or not at all. `StoreError`:
    the judge is disabled or an adjudicator, nothing lies before the judge, the collection is a part itself,
    or something is at `file`.
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
    whole: Session, file: Path, judge: int, queues: dict[int, list[int]], program: str, progress: Progress
) -> HandedOut:
    """Write a part into a file that is not there yet."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    try:
        with writing(engine, bulk=True, creates=True) as into:
            make_tables(into)
            part = WorkPart(whole, into, judge, queues)
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
