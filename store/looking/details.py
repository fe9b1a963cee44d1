"""Everything known of one run, topic, document, pool, judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session

from store.content.documents import fetch_metadata
from store.content.lookup import count_rows, fetch_topic_names, row_named, topic_id
from store.content.runs import fetch_pool_runs
from store.db.database import Area
from store.db.ranking_bytes import float_at, place_of, read_ids
from store.db.tables import (
    ASSIGNMENT,
    DOCUMENT,
    JUDGE,
    JUDGEMENT,
    POOL,
    POOL_RUN,
    RANKING,
    RUN,
    SITTING,
    TOPIC,
)
from store.judging.events import as_record, current_events
from store.judging.judges import judge_named
from store.judging.models.stored import ModelWork, StatedModel, fetch_models, fetch_work
from store.judging.rejudging import TopicVersion, fetch_topic_versions
from store.judging.states import SoughtIds, looked_at, pooled
from store.looking.history import Pooling, find_document, poolings
from store.looking.lists import (
    JudgeLine,
    PoolLine,
    RunLine,
    TopicLine,
    judge_lines,
    pool_lines,
    run_lines,
    topic_lines,
)
from store.records import RANKS, Document, JudgeKind, Judgement, State, Topic
from store.text import natural_key

_BATCH = 256
"""Rankings read at a time."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One run that retrieved a document for one topic."""

    topic: str
    run: str
    rank: int
    """From 1, in trec order."""
    of: int
    """Documents of the ranking."""
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint(Judgement):
    """How a document stands with one judge for one topic."""

    kind: JudgeKind


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """Everything known of a document."""

    document: Document
    listed: bool
    """Named by a documents file."""
    sha256: str | None
    """Of title and text; ``None`` = no text."""
    poolings: tuple[Pooling, ...]
    retrievals: tuple[Retrieval, ...]
    standpoints: tuple[Standpoint, ...]


def _retrievals(session: Session, document: int, names: dict[int, str]) -> Iterator[Retrieval]:
    query = select(RANKING.c.run_id, RANKING.c.topic_id, RANKING.c.document_ids)
    places: dict[tuple[int, int], int] = {}
    options = {"yield_per": _BATCH}
    with session.connection().execute(query, execution_options=options) as result:
        for run, topic, packed in result:
            if (place := place_of(document, packed)) is not None:
                places[run, topic] = place
    tags = {row.id: row.tag for row in session.execute(select(RUN.c.id, RUN.c.tag))}
    for (run, topic), index in places.items():
        one = select(RANKING.c.scores, RANKING.c.length)
        row = session.execute(one.where(RANKING.c.run_id == run, RANKING.c.topic_id == topic)).one()
        score = float_at(row.scores, index)
        yield Retrieval(names[topic], tags[run], index + 1, row.length, score)


def _standpoints(session: Session, document: int, docno: str, names: dict[int, str]) -> list[Standpoint]:
    """Return how a document stands with every judge, topics in natural order, then by judge."""
    query = (
        current_events()
        .where(JUDGEMENT.c.document_id == document)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .add_columns(JUDGE.c.name, JUDGE.c.kind)
    )
    found = [
        as_record(
            row, Standpoint, topic=names[row.topic_id], docno=docno, judge=row.name, kind=JudgeKind(row.kind)
        )
        for row in session.execute(query)
    ]
    return sorted(found, key=lambda one: (natural_key(one.topic), one.judge))


@dataclass(frozen=True, slots=True)
class RankedTopic:
    """What one run has for one topic."""

    topic: str
    documents: int
    pooled: int
    """Of them, to be judged in a pool not withdrawn."""
    judged: int
    """Of them, graded by somebody, pooled or not."""
    relevant: int
    """Of them, graded relevant at the scale's relaxed level by somebody."""


@dataclass(frozen=True, slots=True)
class RunDetails:
    """Everything known of a run."""

    line: RunLine
    pools: tuple[str, ...]
    """It fed, the oldest first."""
    topics: tuple[RankedTopic, ...]


@dataclass(frozen=True, slots=True)
class TopicDetails:
    """Everything known of a topic; whatever is counted is of this topic alone."""

    topic: Topic
    line: TopicLine
    versions: tuple[TopicVersion, ...]
    """Of its text, the oldest first; the last is that of `topic`."""
    pools: tuple[PoolLine, ...]
    judges: tuple[JudgeLine, ...]
    """Who did anything."""
    runs: tuple[RunLine, ...]


@dataclass(frozen=True, slots=True)
class PoolDetails:
    """Everything known of a pool; whatever is counted is of its documents alone."""

    line: PoolLine
    display_order: str
    runs: tuple[str, ...]
    topics: tuple[TopicLine, ...]
    judges: tuple[JudgeLine, ...]
    """Who did anything."""


@dataclass(frozen=True, slots=True)
class SittingLine:
    """One stretch of work at one terminal."""

    number: int
    """From 1, of all judges' sittings in the order in which they began."""
    started_at: datetime
    seen_at: datetime
    """Last sign of life."""
    ended_at: datetime | None
    """``None`` = it is going on, or broke off."""
    host: str
    program: str
    events: int


@dataclass(frozen=True, slots=True)
class JudgeDetails:
    """Everything known of a judge; whatever is counted is this judge's own."""

    line: JudgeLine
    created_at: datetime
    assigned: int | None
    """Documents assigned by name or claimed; ``None`` = nothing is assigned to anybody."""
    topics: tuple[TopicLine, ...]
    """Where they did anything."""
    sittings: tuple[SittingLine, ...]
    stated: StatedModel | None = None
    """Of a model alone."""
    work: ModelWork | None = None
    """Of a model that has answered or judged."""


def _active(lines: list[JudgeLine]) -> tuple[JudgeLine, ...]:
    return tuple(line for line in lines if line.events)


def _by_topic(rows: Any) -> dict[int, list[int]]:
    """Return document ids by topic id, of rows that begin with both."""
    documents: dict[int, list[int]] = {}
    for topic, document, *_ in rows:
        documents.setdefault(topic, []).append(document)
    return documents


def _sittings(session: Session, judge: int | None) -> list[SittingLine]:
    counts = (
        select(JUDGEMENT.c.sitting_id, func.count())
        .where(JUDGEMENT.c.judge_id == judge, JUDGEMENT.c.sitting_id.is_not(None))
        .group_by(JUDGEMENT.c.sitting_id)
    )
    events: dict[int, int] = dict(map(tuple, session.execute(counts)))
    ids = session.scalars(select(SITTING.c.id).order_by(SITTING.c.id))
    numbers = {row_id: number for number, row_id in enumerate(ids, start=1)}
    columns = [SITTING.c[name] for name in ("id", "started_at", "seen_at", "ended_at", "host", "program")]
    query = select(*columns).where(SITTING.c.judge_id == judge).order_by(SITTING.c.id)
    return [
        SittingLine(numbers[row], started_at, seen_at, ended_at, host, program, events.get(row, 0))
        for row, started_at, seen_at, ended_at, host, program in session.execute(query)
    ]


class DetailQueries(Area):
    """Everything known of one thing of a collection; raises `UnknownNameError` for one that is not there."""

    def run(self, tag: str) -> RunDetails:
        """Return everything known of a run; raise `UnknownNameError` when there is none."""
        relaxed = self._db.scale.relaxed
        with self._db.reading() as session:
            row_id = row_named(session, "run", RUN.c.tag, tag, "id").id
            line = next(line for line in run_lines(session, SoughtIds()) if line.tag == tag)
            fed = (
                select(POOL.c.name)
                .join(POOL_RUN, POOL_RUN.c.pool_id == POOL.c.id)
                .where(POOL_RUN.c.run_id == row_id)
                .order_by(POOL.c.id)
            )
            inside = session.execute(pooled(SoughtIds()))
            seen = session.execute(looked_at(SoughtIds()))
            graded = [row for row in seen if row.rank == RANKS[State.JUDGED]]
            relevant = [row for row in graded if row.best >= relaxed]
            parts = [_by_topic(rows) for rows in (inside, graded, relevant)]
            names = fetch_topic_names(session)
            query = select(RANKING.c.topic_id, RANKING.c.document_ids).where(RANKING.c.run_id == row_id)
            topics = []
            for topic, packed in session.execute(query):
                ids = set(read_ids(packed))
                counts = (len(ids.intersection(part.get(topic, ()))) for part in parts)
                topics.append(RankedTopic(names[topic], len(ids), *counts))
            topics.sort(key=lambda one: natural_key(one.topic))
            return RunDetails(line, tuple(session.scalars(fed)), tuple(topics))

    def topic(self, topic: str) -> TopicDetails:
        """Return everything known of a topic; raise `UnknownNameError` when there is none."""
        relaxed = self._db.scale.relaxed
        with self._db.reading() as session:
            found = SoughtIds(topic=topic_id(session, topic))
            [line] = topic_lines(session, found, relaxed=relaxed)
            versions = fetch_topic_versions(session, found.topic or 0)
            return TopicDetails(
                versions[-1].topic,
                line,
                versions,
                tuple(pool_lines(session, found, relaxed=relaxed)),
                _active(judge_lines(session, found, relaxed=relaxed)),
                tuple(run_lines(session, found)),
            )

    def document(self, docno: str) -> DocumentDetails:
        """Return everything known of a document; reads the document ids of every ranking."""
        with self._db.reading() as session:
            row = find_document(session, docno)
            text = session.execute(select(DOCUMENT.c.text).where(DOCUMENT.c.id == row.id)).scalar_one()
            names = fetch_topic_names(session)
            markup, values = fetch_metadata(session, [row.id]).get(row.id, (None, {}))
            in_order = [*(name for name in self._db.fields if name in values), *values]
            fields = tuple((name, values[name]) for name in dict.fromkeys(in_order))
            found = _retrievals(session, row.id, names)
            return DocumentDetails(
                Document(docno, row.title or "", text, fields, markup),
                row.listed,
                row.sha256,
                poolings(session, row.id),
                tuple(sorted(found, key=lambda one: (natural_key(one.topic), one.rank, one.run))),
                tuple(_standpoints(session, row.id, docno, names)),
            )

    def pool(self, name: str) -> PoolDetails:
        """Return everything known of a pool; raise `UnknownNameError` when there is none."""
        relaxed = self._db.scale.relaxed
        with self._db.reading() as session:
            stored = row_named(session, "pool", POOL.c.name, name)
            found = SoughtIds(pool=stored.id)
            [line] = pool_lines(session, found, relaxed=relaxed)
            return PoolDetails(
                line,
                stored.display_order,
                fetch_pool_runs(session, stored.id),
                tuple(topic_lines(session, found, relaxed=relaxed)),
                _active(judge_lines(session, found, relaxed=relaxed)),
            )

    def judge(self, name: str) -> JudgeDetails:
        """Return everything known of a judge; raise `UnknownNameError` when there is none."""
        relaxed = self._db.scale.relaxed
        with self._db.reading() as session:
            row = judge_named(session, name, "id", "created_at")
            found = SoughtIds(judge=row.id)
            [line] = judge_lines(session, found, relaxed=relaxed)
            of_events = select(TOPIC.c.number).join(JUDGEMENT, JUDGEMENT.c.topic_id == TOPIC.c.id)
            acted = set(session.scalars(of_events.where(JUDGEMENT.c.judge_id == found.judge).distinct()))
            lines = topic_lines(session, found, relaxed=relaxed)
            models = {one.judge: one for one in fetch_models(session)}
            work = {one.judge: one for one in fetch_work(session)} if name in models else {}
            is_assigned = session.scalar(select(ASSIGNMENT.c.id).limit(1)) is not None
            return JudgeDetails(
                line,
                row.created_at,
                count_rows(session, ASSIGNMENT, ASSIGNMENT.c.judge_id == row.id) if is_assigned else None,
                tuple(one for one in lines if one.topic in acted),
                tuple(_sittings(session, found.judge)),
                models.get(name),
                work.get(name),
            )
