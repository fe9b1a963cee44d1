"""One judge's part as a collection of its own.

It is blind by construction: no run, no rank, no priority, no stratum, no other judge is in it, and row ids
are new ones by topic and docno, which tell nothing of the order in which documents came. A merge takes what
the judge did and nothing else, since its pools say that they are a part
(`store.keeping.merge.copies.is_part`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, insert, select
from sqlmodel import Session

from store.db.engine import check_schema, engine_at, reading, writing
from store.db.files import check_folder, made_whole
from store.db.keys import fetch_docnos
from store.db.raw import insert_raw, raw_rows
from store.db.schema import make_tables
from store.db.tables import (
    ANSWER,
    ASSIGNMENT,
    DOCUMENT,
    DOCUMENT_METADATA,
    GUIDELINE,
    JUDGE,
    JUDGE_TERM,
    JUDGEMENT,
    MODEL_JUDGE,
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
from store.judging.desk import count_queues, count_undrawn, disabled_message, fetch_queue
from store.judging.judges import judge_id
from store.keeping.merge.copies import PART, is_part
from store.keeping.progress import Progress, no_progress
from store.records import JudgeKind, State
from store.text import natural_key

WORK = "work"
"""Name of its pool; of several, with a number."""

_BATCH = 500

Pair = tuple[int, int]
"""Row ids of a topic and a document."""
Row = dict[str, Any]


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

    Places are by name: what was claimed stays the judge's there, whatever the lease. The file appears whole
    or not at all. `StoreError`: the judge is disabled or an adjudicator, nothing lies before the judge, the
    collection is a part itself, or something is at `file`.
    """
    if file.exists() or file.is_symlink():
        message = f"{file} already exists"
        raise StoreError(message, hint="name another file: nothing is overwritten")
    check_folder(file)
    with reading(engine) as whole:
        number = _check_judge(whole, judge)
        queues = _queues(whole, number)
        if not queues:
            message = f"there is no document for judge `{judge}`"
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
    topics = sorted(count_queues(whole, judge), key=lambda topic: natural_key(numbers[topic]))
    queues = {topic: [one.document for one in fetch_queue(whole, judge, topic)] for topic in topics}
    return {topic: queue for topic, queue in queues.items() if queue}


def _fill(
    whole: Session, file: Path, judge: int, queues: dict[int, list[int]], program: str, progress: Progress
) -> HandedOut:
    """Write a part into a file that is not there yet."""
    pairs = [(topic, document) for topic, queue in queues.items() for document in queue]
    with engine_at(file) as engine:
        with writing(engine, bulk=True, creates=True) as into:
            make_tables(into)
            part = _Part(whole, into, judge, pairs)
            _write_head(part, program)
            n_without_text = _write_documents(part, progress)
            _write_pools(part)
            _write_places(part)
            states = _write_events(part)
        check_schema(engine)
    stand = Counter(states.get(pair, State.UNJUDGED.value) for pair in pairs)
    undrawn = sum(count_undrawn(whole).values())
    to_claim = sum(claimable(whole, judge).values()) if has_assignments(whole) else 0
    return HandedOut(
        topics=len(queues),
        documents=len(pairs),
        unjudged=stand[State.UNJUDGED.value],
        skipped=stand[State.SKIPPED.value],
        without_text=n_without_text,
        events=len(part.ids["judgement_id"]),
        elsewhere=undrawn + to_claim,
    )


class _Part:
    """A part on its way out of a collection."""

    def __init__(self, whole: Session, into: Session, judge: int, pairs: list[Pair]) -> None:
        self.whole = whole
        self.into = into
        self.judge = judge
        self.pairs = pairs
        """Topic by topic, in display order."""
        topics = {topic: number for number, topic in enumerate(dict(pairs), start=1)}
        self.ids: dict[str, dict[int, int]] = {"judge_id": {judge: 1}, "topic_id": topics}
        """Row ids there to row ids here, by the columns that refer to them."""

    def read(self, table: Table, where: str = "") -> list[Row]:
        """Read the rows of the whole collection that a condition chooses."""
        names = table.columns.keys()
        return [dict(zip(names, row, strict=True)) for row in raw_rows(self.whole, table, where=where)]

    def write(self, table: Table, rows: list[Row], *order: str) -> None:
        """Write rows in an order, under the row ids here; where none are known yet, they are numbered."""
        own = f"{table.name}_id"
        for row in rows:
            row |= {name: ids.get(row[name]) for name, ids in self.ids.items() if name in row}
            if "id" in row and own in self.ids:
                row["id"] = self.ids[own][row["id"]]
        rows.sort(key=itemgetter(*order))
        if "id" in table.columns and own not in self.ids:
            numbers = self.ids[own] = {row["id"]: number for number, row in enumerate(rows, start=1)}
            for row in rows:
                row |= {name: numbers.get(row[name]) for name in ("id", "undoes") if name in row}
        insert_raw(self.into, table, (list(row.values()) for row in rows))

    def copy(self, table: Table, where: str, *order: str) -> None:
        """Write the rows of the whole collection that a condition chooses, in an order."""
        self.write(table, self.read(table, where), *order)


def _write_head(part: _Part, program: str) -> None:
    """Write what the collection is, its guidelines, the judge, and the topics with all their texts."""
    about = [row | {"created_by": program} for row in part.read(TABLES["collection"])]
    part.write(TABLES["collection"], about, "id")
    part.copy(GUIDELINE, "", "version")
    part.copy(JUDGE, f"id = {part.judge:d}", "id")
    part.copy(MODEL_JUDGE, f"judge_id = {part.judge:d}", "judge_id")
    topics = _listed(part.ids["topic_id"])
    part.copy(TOPIC, f"id IN ({topics})", "id")
    part.copy(TOPIC_VERSION, f"topic_id IN ({topics})", "topic_id", "version")
    part.copy(JUDGE_TERM, f"judge_id = {part.judge:d} AND topic_id IN ({topics})", "topic_id", "position")


def _write_documents(part: _Part, progress: Progress) -> int:
    """Write the documents with their texts, and return for how many pairs there is none."""
    docnos = fetch_docnos(part.whole, (document for _, document in part.pairs))
    ordered = sorted(docnos, key=docnos.__getitem__)
    part.ids["document_id"] = {document: number for number, document in enumerate(ordered, start=1)}
    without_text: set[int] = set()
    with progress("documents", len(ordered)) as advance:
        for first in range(0, len(ordered), _BATCH):
            some = ordered[first : first + _BATCH]
            rows = part.read(DOCUMENT, f"id IN ({_listed(some)})")
            without_text.update(row["id"] for row in rows if row["text"] is None)
            part.write(DOCUMENT, rows, "id")
            part.copy(DOCUMENT_METADATA, f"document_id IN ({_listed(some)})", "document_id")
            advance(len(some))
    return sum(document in without_text for _, document in part.pairs)


def _write_pools(part: _Part) -> None:
    """Write a pool for each that has documents of the queues: the oldest that has one."""
    query = (
        select(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id, POOL.c.id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(~POOL.c.withdrawn, POOL_ENTRY.c.sampled)
        .order_by(POOL.c.id.desc())
    )
    oldest = {(topic, document): pool for topic, document, pool in part.whole.execute(query)}
    by_pool: dict[int, list[Pair]] = {}
    for pair in part.pairs:
        by_pool.setdefault(oldest[pair], []).append(pair)
    topics, documents = part.ids["topic_id"], part.ids["document_id"]
    called = {row.id: row.number for row in part.into.execute(select(TOPIC.c.id, TOPIC.c.number))}
    pools = part.whole.execute(select(POOL).where(POOL.c.id.in_(by_pool)).order_by(POOL.c.id)).all()
    for number, pool in enumerate(pools, start=1):
        order, _, seed = pool.display_order.partition(":")
        sizes = Counter(called[topics[topic]] for topic, _ in by_pool[pool.id])
        manifest = {
            "strategy": WORK,
            PART: True,
            "parameters": {},
            "out_order": order,
            "seed": int(seed or 0),
            "runs": [],
            "sizes": sizes,
            "pairs": len(by_pool[pool.id]),
        }
        values = {
            "id": number,
            "name": WORK if len(pools) == 1 else f"{WORK}-{number}",
            "round": pool.round,
            "manifest": json.dumps(manifest, sort_keys=True),
            "display_order": pool.display_order,
            "created_at": pool.created_at,
        }
        part.into.execute(insert(POOL).values(values))
        places = {topic: count() for topic, _ in by_pool[pool.id]}
        entries = [
            {
                "pool_id": number,
                "topic_id": topics[topic],
                "document_id": documents[document],
                "position": next(places[topic]),
            }
            for topic, document in by_pool[pool.id]
        ]
        part.into.connection().execute(insert(POOL_ENTRY), entries)


def _write_places(part: _Part) -> None:
    """Write the judge's places, where documents are assigned at all; not what they are for."""
    if not has_assignments(part.whole):
        return
    held = {topic: assigned_documents(part.whole, part.judge, topic) for topic in part.ids["topic_id"]}
    places = [
        {
            "topic_id": part.ids["topic_id"][topic],
            "document_id": part.ids["document_id"][document],
            "judge_id": 1,
            "position": held[topic][document].position,
            "display_order": held[topic][document].display_order,
        }
        for topic, document in part.pairs
    ]
    part.into.connection().execute(insert(ASSIGNMENT), places)


def _write_events(part: _Part) -> dict[Pair, str]:
    """Write what the judge did to these documents, and in which sittings; return the states after it."""
    wanted = {*part.pairs}
    of_judge = f"judge_id = {part.judge:d}"
    events = [
        one for one in part.read(JUDGEMENT, of_judge) if (one["topic_id"], one["document_id"]) in wanted
    ]
    events.sort(key=itemgetter("revision"))
    states = {(one["topic_id"], one["document_id"]): one["state"] for one in events}
    sat = {one["sitting_id"] for one in events}
    sittings = [one for one in part.read(SITTING, of_judge) if one["id"] in sat]
    part.write(SITTING, sittings, "started_at", "id")
    # What an undo takes back comes before it.
    part.write(JUDGEMENT, events, "topic_id", "document_id", "revision")
    passages = part.read(PASSAGE, f"judgement_id IN (SELECT id FROM judgement WHERE {of_judge})")
    written = [one for one in passages if one["judgement_id"] in part.ids["judgement_id"]]
    part.write(PASSAGE, written, "judgement_id", "start", "id")
    answers = [one for one in part.read(ANSWER, of_judge) if (one["topic_id"], one["document_id"]) in wanted]
    part.write(ANSWER, answers, "id")
    return states


def _listed(numbers: Iterable[int]) -> str:
    """List row ids for a statement."""
    return ", ".join(map(str, numbers))
