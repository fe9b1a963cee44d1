"""The world of a test: a run, a pool, an empty collection, a judge at work, what is stored."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, create_engine, event, inspect, select, text
from sqlmodel import Session

from store.collection import Collection
from store.db.digests import write_all_digests
from store.db.engine import collection_url, make_engine, reading, writing
from store.db.packing import unpack_floats, unpack_integers
from store.db.tables import RANKING, RUN
from store.errors import ConflictError
from store.event import JudgementEvent
from store.formats.scale import make_scale as make_scale
from store.formats.scale import parse_scale as parse_scale
from store.judging.desk import Desk
from store.keeping.backup import back_up, restore
from store.keeping.histories import import_histories
from store.records import (
    Action,
    Decision,
    ImportReport,
    JudgeKind,
    Pool,
    PoolEntry,
    Ranking,
    Run,
    StoredRun,
    Task,
)
from store.text import natural_key


def new_collection(where: str, scale: str = "0-2") -> Collection:
    """Make an empty collection named "test" where there is none, and open it."""
    if "://" in where:
        return _new_on_server(where, scale)
    file = Path(where)
    assert not file.exists(), where
    file.write_bytes(_empty(scale))
    return Collection(where)


_making: dict[str, list[tuple[str, Any]]] = {}
"""Scale -> the statements that make an empty collection of it on PostgreSQL, as they were sent first."""


def _new_on_server(where: str, scale: str) -> Collection:
    """Make an empty collection on PostgreSQL, all but the first in one round trip of one connection."""
    if scale in _making:
        with create_engine(collection_url(where)).connect() as connection:
            plain = connection.connection.driver_connection
            assert plain is not None
            with plain.pipeline(), plain.cursor() as cursor:
                for statement, values in _making[scale]:
                    many = isinstance(values, list)
                    (cursor.executemany if many else cursor.execute)(statement, values)
            plain.commit()
            connection.invalidate()
        return Collection(where)
    sent = []

    def keep(_: Any, __: Any, statement: str, values: Any, *more: Any) -> None:
        if statement.lstrip().startswith(("CREATE", "INSERT")):
            sent.append((statement, values))

    event.listen(Engine, "before_cursor_execute", keep)
    try:
        made = Collection.create(where, name="test", scale=parse_scale(scale), program="test")
    finally:
        event.remove(Engine, "before_cursor_execute", keep)
    _making[scale] = sent
    return made


@cache
def _empty(scale: str) -> bytes:
    """Return the file of an empty collection."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        parsed = parse_scale(scale)
        Collection.create(str(file), name="test", scale=parsed, program="test").close()
        return file.read_bytes()


def carry(source: Path | str, target: Path | str) -> None:
    """Carry a whole collection from a file to a server, or back to a new file."""
    if "://" in str(target):
        restore(Path(source), collection_url(str(target)))
    else:
        back_up(collection_url(str(source)), Path(target))


@contextmanager
def engine_of(name: str) -> Iterator[Engine]:
    """Make the engine of a collection and close it in any case."""
    engine = make_engine(collection_url(name))
    try:
        yield engine
    finally:
        engine.dispose()


def stored_rows(name: str) -> dict[str, list[tuple[Any, ...]]]:
    """Read every row of every table of a database, each table sorted."""
    with engine_of(name) as engine, reading(engine) as session:
        tables = inspect(session.connection()).get_table_names()
        return {
            table: sorted((tuple(row) for row in session.execute(text(f'SELECT * FROM "{table}"'))), key=repr)
            for table in sorted(tables)
        }


def count_rows(name: str) -> dict[str, int]:
    """Count the rows of every table."""
    return {table: len(rows) for table, rows in stored_rows(name).items()}


def named_rows(name: str, table: str) -> list[dict[str, Any]]:
    """Read every row of a table, the oldest first, as column to value."""
    with engine_of(name) as engine, reading(engine) as session:
        return [dict(row) for row in session.execute(text(f"SELECT * FROM {table} ORDER BY id")).mappings()]


def change_stored(name: str, statement: str, *, renews: bool = False, **parameters: Any) -> None:
    """Change a database behind the program's back; with `renews` nothing tells that it was another once."""
    with engine_of(name) as engine, writing(engine) as session:
        session.execute(text(statement), parameters)
        if renews:
            renew_digests(session)


def renew_digests(session: Session) -> None:
    """Give everything the digest of what it is now."""
    write_all_digests(session)


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """Gather every statement sent to any database, with its parameters."""
    sent: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@contextmanager
def meanwhile(fragment: str, act: Any) -> Iterator[None]:
    """Call `act` once, just before the first statement that contains `fragment` is sent."""
    waiting = [act]

    def interrupt(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if fragment in statement and waiting:
            waiting.pop()()

    event.listen(Engine, "before_cursor_execute", interrupt)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", interrupt)
    assert not waiting, f"no statement had {fragment!r}"


def bring(
    collection: Collection, events: Sequence[JudgementEvent], kind: JudgeKind = JudgeKind.HUMAN
) -> ImportReport:
    """Import a history, all its judges of one kind."""
    kinds = {event.judge: kind for event in events}
    with collection.being_filled() as inside:
        return import_histories(inside, events, kinds)


def make_run(
    tag: str, rankings: Mapping[str, Sequence[tuple[str, float]]], *, sha256: str = "", **other: Any
) -> Run:
    """Make a run whose stated ranks count from 1 in file order."""
    return Run(
        tag=tag,
        rankings=[
            Ranking(
                topic,
                [docno for docno, _ in ranked],
                np.array([score for _, score in ranked], dtype=np.float64),
                np.arange(1, len(ranked) + 1, dtype=np.int64),
            )
            for topic, ranked in rankings.items()
        ],
        sha256=sha256 or f"sha256 of {tag}",
        file=f"{tag}.run",
        **other,
    )


def pairs_to_judge(collection: Collection) -> set[tuple[str, str]]:
    """Return topic and docno of what is to be judged in pools in use."""
    pools = (collection.pools.get(pool.name) for pool in collection.pools.all() if not pool.withdrawn)
    return {(entry.topic, entry.docno) for pool in pools for entry in pool.entries if entry.sampled}


def stored_run(collection: Collection, stored: StoredRun) -> Run:
    """Return a whole run as its file gave it: topics in natural order, documents of each in file order."""
    rankings = []
    with collection._db.reading_keyed() as (session, topics, documents):
        query = select(RANKING).join(RUN, RUN.c.id == RANKING.c.run_id).where(RUN.c.tag == stored.tag)
        for row in session.execute(query):
            in_file = np.argsort(unpack_integers(row.positions, row.length))
            ids = np.frombuffer(row.document_ids or b"", "<i4")[in_file].tolist()
            docnos = [documents.names[number] for number in ids]
            ranks = None if row.ranks is None else unpack_integers(row.ranks, row.length)[in_file]
            scores = unpack_floats(row.scores)[in_file]
            rankings.append(Ranking(topics.names[row.topic_id], docnos, scores, ranks))
    rankings.sort(key=lambda ranking: natural_key(ranking.topic))
    facts = stored.sha256, stored.file, stored.group, stored.contributes
    return Run(stored.tag, rankings, *facts)


def make_pool(documents: Mapping[str, Sequence[str]], **other: Any) -> Pool:
    """Make a pool that shows each topic's documents in the order given."""
    entries = [
        PoolEntry(topic, docno, position)
        for topic, docnos in documents.items()
        for position, docno in enumerate(docnos)
    ]
    manifest = other.pop("manifest", {"strategy": "depth", "depth": 1, "out_order": "docno"})
    return Pool(entries, manifest, **other)


@dataclass
class JudgeAtWork:
    """A judge at a desk, who remembers how every document stood when last seen."""

    desk: Desk
    topic: str

    def __post_init__(self) -> None:
        self.look()

    def look(self) -> list[Task]:
        """Fetch the queue afresh."""
        self.tasks = {task.docno: task for task in self.desk.queue(self.topic)}
        return list(self.tasks.values())

    def act(self, docno: str, action: Action, **fields: Any) -> Task:
        """Decide on a document as it was last seen."""
        seen = self.tasks[docno].revision
        decision = Decision(self.topic, docno, action, seen_revision=seen, **fields)
        self.tasks[docno] = self.desk.record(decision)
        return self.tasks[docno]

    def grade(self, docno: str, grade: int) -> Task:
        """Give a grade."""
        return self.act(docno, Action.JUDGE, grade=grade)

    def undo(self) -> Task | None:
        """Take back the latest event."""
        undone = self.desk.undo()
        if undone is None:
            return None
        self.tasks[undone[1].docno] = undone[1]
        return undone[1]


def judge_in_turn(name: str, judge: str, barrier: Barrier, n_events: int) -> None:
    """Grade the documents of topic 1 one after the other, and again, until `n_events` are written.

    Runs in a process of its own.
    """
    with Collection(name) as collection:
        sitting = JudgeAtWork(collection.desk(judge), "1")
        docnos = list(sitting.tasks)
        barrier.wait()
        for number in range(n_events):
            sitting.grade(docnos[number % len(docnos)], number % 3)
        sitting.desk.leave()


def race(name: str, judge: str, barrier: Barrier, answers: Pipe) -> None:
    """Grade every document of topic 1 at its first revision at the same moment as the others do.

    Runs in a process of its own; sends the docnos it won and those somebody else had first.
    """
    with Collection(name) as collection:
        sitting = JudgeAtWork(collection.desk(judge), "1")
        won, lost = [], []
        sitting.desk._sit()
        for docno in list(sitting.tasks):
            barrier.wait()
            try:
                sitting.grade(docno, 1)
            except ConflictError:
                lost.append(docno)
            else:
                won.append(docno)
        answers.send((won, lost))
