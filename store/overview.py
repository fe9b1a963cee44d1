"""What a collection holds: runs, topics, documents, pools and judges, as lists and one by one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from struct import Struct, unpack, unpack_from
from typing import Any

from sqlalchemy import Column, ColumnElement, func, literal_column, or_, select
from sqlmodel import Session

from store.content.documents import fetch_metadata
from store.content.lookup import count_rows, fetch_topic_names, row_named, same_pair, topic_id
from store.content.runs import fetch_pool_runs
from store.db.database import Area
from store.db.tables import (
    ASSIGNMENT,
    DOCUMENT,
    JUDGE,
    JUDGEMENT,
    POOL,
    POOL_ENTRY,
    POOL_RUN,
    POOL_TOPIC,
    RANKING,
    RUN,
    SITTING,
    TOPIC,
)
from store.history import Pooling, find_document, poolings
from store.judging.events import as_record, current_events
from store.judging.judges import fetch_sitting_numbers, judge_named
from store.judging.models import ModelWork, StatedModel, fetch_models, fetch_work
from store.judging.rejudging import TopicVersion, count_older, fetch_topic_versions
from store.judging.states import SoughtIds, StateCounts, count_by_topic, counts_of_states, looked_at, pooled
from store.records import RANKS, Document, JudgeKind, Judgement, State, Topic
from store.text import natural_key


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run, and how much it retrieved."""

    tag: str
    group: str
    contributes: bool
    topics: int
    documents: int
    """Over these topics."""
    pools: int
    """That it fed, withdrawn ones too."""
    file: str
    sha256: str
    imported_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic, and how its documents stand."""

    topic: str
    title: str
    listed: bool
    """Named by a topics file."""
    runs: int
    """That have documents for it."""
    counts: StateCounts
    version: int
    """Of its text, from 1."""
    older: int
    """Judgements made at desks under an earlier text of it, in all pools and by all judges."""


@dataclass(frozen=True, slots=True)
class PoolLine:
    """A pool, and how its documents stand."""

    name: str
    round: str
    withdrawn: bool
    topics: int
    """With a document to judge."""
    runs: int
    budget: int | None
    """The most documents it may draw; ``None`` = the pool is not adaptive."""
    created_at: datetime
    """UTC."""
    manifest: Mapping[str, Any]
    counts: StateCounts
    """Of its documents, in whatever other pools they are; `StateCounts.outside` does not apply."""


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge, and what they did, in pools or not."""

    name: str
    kind: JudgeKind
    disabled: bool
    topics: int
    """Where they did anything."""
    judged: int
    cannot: int
    skipped: int
    undecided: int
    """Documents with a note or a mark alone, or undone, or reopened."""
    relevant: int
    """Graded relevant at the scale's relaxed level."""
    events: int
    """All they ever did, taken back or not."""
    last_at: datetime | None
    """UTC; of the last event."""
    model: str | None = None
    """The id of a model that has stated who it is."""
    family: str | None = None
    """Its family, where that is declared."""


def run_lines(session: Session, found: SoughtIds) -> list[RunLine]:
    """Return every run by tag; of a topic those that have it."""
    counted = select(RANKING.c.run_id, func.count(), func.sum(RANKING.c.length))
    if found.topic is not None:
        counted = counted.where(RANKING.c.topic_id == found.topic)
    counted = counted.group_by(RANKING.c.run_id)
    sizes = {run: (topics, int(documents)) for run, topics, documents in session.execute(counted)}
    fed = _counts(session, POOL_RUN.c.run_id)
    lines = []
    for row in session.execute(select(RUN).order_by(RUN.c.tag)):
        if found.topic is None or row.id in sizes:
            counts = (*sizes.get(row.id, (0, 0)), fed.get(row.id, 0))
            known = row.file, row.sha256, row.imported_at
            lines.append(RunLine(row.tag, row.group, row.contributes, *counts, *known))
    return lines


def topic_lines(session: Session, found: SoughtIds, *, relaxed: int) -> list[TopicLine]:
    """Return every topic in natural order; of a pool those with a document of it to judge."""
    counts = count_by_topic(session, found, relaxed)
    runs, older = _counts(session, RANKING.c.topic_id), count_older(session)
    query = select(TOPIC.c.id, TOPIC.c.number, TOPIC.c.title, TOPIC.c.listed, TOPIC.c.version)
    if found.topic is not None:
        query = query.where(TOPIC.c.id == found.topic)
    lines = []
    for row in session.execute(query):
        own, n_runs = counts.get(row.id, StateCounts()), runs.get(row.id, 0)
        if found.pool is None or own.pooled:
            known = row.number, row.title, row.listed
            lines.append(TopicLine(*known, n_runs, own, row.version, older[row.id]))
    return sorted(lines, key=lambda line: natural_key(line.topic))


def pool_lines(session: Session, found: SoughtIds, *, relaxed: int) -> list[PoolLine]:
    """Return every pool, the oldest first; of a topic those with a document of it to judge."""
    events = looked_at(SoughtIds(topic=found.topic)).subquery()
    entries = POOL_ENTRY
    query = (
        select(
            entries.c.pool_id,
            func.count(entries.c.topic_id.distinct()).label("topics"),
            func.count().label("pooled"),
            *counts_of_states(events, relaxed),
        )
        .select_from(entries)
        .outerjoin(events, same_pair(events, entries))
        .where(entries.c.sampled)
        .group_by(entries.c.pool_id)
    )
    budgets = select(POOL_TOPIC.c.pool_id, func.sum(POOL_TOPIC.c.budget)).group_by(POOL_TOPIC.c.pool_id)
    if found.topic is not None:
        query = query.where(entries.c.topic_id == found.topic)
        budgets = budgets.where(POOL_TOPIC.c.topic_id == found.topic)
    if found.pool is not None:
        query = query.where(entries.c.pool_id == found.pool)
    rows = {row.pool_id: row for row in session.execute(query)}
    budget_of = {pool: int(budget) for pool, budget in session.execute(budgets)}
    runs = _counts(session, POOL_RUN.c.pool_id)
    lines = []
    for pool in session.execute(select(POOL).order_by(POOL.c.id)):
        row = rows.get(pool.id)
        if found.pool not in (None, pool.id):
            continue
        if row is None and found.topic is not None and pool.id not in budget_of:
            continue
        n_topics, counts = 0, StateCounts()
        if row is not None:
            n_topics = row.topics
            counts = StateCounts(row.pooled, row.judged, row.cannot, row.skipped, relevant=row.relevant)
        about, made = (pool.name, pool.round, pool.withdrawn), (pool.created_at, json.loads(pool.manifest))
        n_runs, budget = runs.get(pool.id, 0), budget_of.get(pool.id)
        lines.append(PoolLine(*about, n_topics, n_runs, budget, *made, counts))
    return lines


def judge_lines(session: Session, found: SoughtIds, *, relaxed: int) -> list[JudgeLine]:
    """Return every judge by name; of a topic or a pool, with what they did there alone."""
    # An expression, for which SQLite walks through the table: by an index of judges, which lacks
    # the moment, it looks every row up.
    whose = (JUDGEMENT.c.judge_id + literal_column("0")).label("judge")
    every = select(whose, func.count().label("events"), func.max(JUDGEMENT.c.judged_at))
    if found.topic is not None:
        every = every.where(JUDGEMENT.c.topic_id == found.topic)
    if found.pool is not None:
        every = every.join(entries := pooled(found).subquery(), same_pair(JUDGEMENT, entries))
    events = {judge: (n, last) for judge, n, last in session.execute(every.group_by(whose))}
    people = select(JUDGE).order_by(JUDGE.c.name)
    if found.judge is not None:
        people = people.where(JUDGE.c.id == found.judge)
    rows = session.execute(people).all()
    from store.judging.progress import count_by_judge  # loads numpy, which other lists do not need

    counts = count_by_judge(session, found, [row.id for row in rows], relaxed)
    models = {one.judge: one.identity for one in fetch_models(session)}
    lines = []
    for row in rows:
        stated, did = models.get(row.name), (*counts[row.id], *events.get(row.id, (0, None)))
        model = () if stated is None else (stated.model, stated.family or None)
        lines.append(JudgeLine(row.name, JudgeKind(row.kind), row.disabled, *did, *model))
    return lines


def _counts(session: Session, key: Column[Any]) -> dict[Any, int]:
    return dict(map(tuple, session.execute(select(key, func.count()).group_by(key))))


_IDS_A_QUERY = 1_000
"""Up to so many documents a query names each; beyond, it counts all, and the others are dropped."""


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document, counted over topics: pooled for so many, judged for so many, and so on."""

    docno: str
    title: str
    """Empty where the text is not in the collection."""
    has_text: bool
    listed: bool
    """Named by a documents file."""
    pools: int
    """It is to be judged in, for some topic."""
    counts: StateCounts


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Some documents, and how many there are."""

    lines: tuple[DocumentLine, ...]
    """By docno, bytewise."""
    total: int
    """Of those asked for, with the ones that the limit left out."""


def _of_topic(found: SoughtIds) -> ColumnElement[bool]:
    """Say in a query which documents are pooled or looked at for a topic."""
    acted = select(JUDGEMENT.c.document_id).where(JUDGEMENT.c.topic_id == found.topic)
    in_pool = pooled(found).with_only_columns(pooled(found).selected_columns.document_id)
    return or_(DOCUMENT.c.id.in_(acted), DOCUMENT.c.id.in_(in_pool))


def _states_of_documents(
    session: Session, found: SoughtIds, ids: Sequence[int] | None, relaxed: int
) -> tuple[dict[int, StateCounts], dict[int, set[int]]]:
    """Count the topics of documents by state, and name their pools; by document id."""
    pools: defaultdict[int, set[int]] = defaultdict(set)
    topics: defaultdict[int, set[int]] = defaultdict(set)
    for topic, document, pool in session.execute(pooled(found, ids)):
        pools[document].add(pool)
        topics[document].add(topic)
    ranks: defaultdict[int, list[tuple[int, int, int | None]]] = defaultdict(list)
    for topic, document, rank, best in session.execute(looked_at(found, ids)):
        ranks[document].append((topic, rank, best))
    counts = {}
    for document in topics.keys() | ranks.keys():
        inside = topics.get(document, set())
        seen = ranks.get(document, [])
        by_rank = [rank for topic, rank, _ in seen if topic in inside]
        judged = by_rank.count(RANKS[State.JUDGED])
        anywhere = sum(rank == RANKS[State.JUDGED] for _, rank, _ in seen)
        counts[document] = StateCounts(
            pooled=len(inside),
            judged=judged,
            cannot=by_rank.count(RANKS[State.CANNOT]),
            skipped=by_rank.count(RANKS[State.SKIPPED]),
            outside=anywhere - judged,
            relevant=sum(best is not None and best >= relaxed for _, _, best in seen),
        )
    return counts, dict(pools)


class ListQueries(Area):
    """Lists of what a collection has."""

    def runs(self) -> list[RunLine]:
        """Return the runs, each with its counts; see `run_lines`."""
        with self._db.reading() as session:
            return run_lines(session, SoughtIds())

    def topics(self) -> list[TopicLine]:
        """Return the topics, each with its counts; see `topic_lines`."""
        with self._db.reading() as session:
            return topic_lines(session, SoughtIds(), relaxed=self._db.scale.relaxed)

    def pools(self) -> list[PoolLine]:
        """Return the pools, each with its counts; see `pool_lines`."""
        with self._db.reading() as session:
            return pool_lines(session, SoughtIds(), relaxed=self._db.scale.relaxed)

    def judges(self) -> list[JudgeLine]:
        """Return the judges, each with their counts; see `judge_lines`."""
        with self._db.reading() as session:
            return judge_lines(session, SoughtIds(), relaxed=self._db.scale.relaxed)

    def documents(self, topic: str | None = None, *, limit: int | None = None) -> DocumentLines:
        """Return the first documents, by docno, each with its counts; of a topic, those pooled or looked at.

        A topic that is not there is an `UnknownNameError`.
        """
        columns = [DOCUMENT.c[name] for name in ("id", "docno", "title", "listed")]
        query = select(*columns, DOCUMENT.c.sha256.is_not(None).label("has_text")).order_by(DOCUMENT.c.docno)
        with self._db.reading() as session:
            found = SoughtIds(topic=None if topic is None else topic_id(session, topic))
            wanted = [] if topic is None else [_of_topic(found)]
            rows = session.execute(query.where(*wanted).limit(limit)).all()
            ids = [row.id for row in rows] if len(rows) <= _IDS_A_QUERY else None
            counts, pools = _states_of_documents(session, found, ids, self._db.scale.relaxed)
            lines = []
            for row in rows:
                n_pools, own = len(pools.get(row.id, ())), counts.get(row.id, StateCounts())
                known = row.docno, row.title or "", bool(row.has_text), row.listed
                lines.append(DocumentLine(*known, n_pools, own))
            total = count_rows(session, DOCUMENT, *wanted) if len(lines) == limit else len(lines)
            return DocumentLines(tuple(lines), total)


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
class JudgeState(Judgement):
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
    judge_states: tuple[JudgeState, ...]


_FLOAT_FORMS = {b"f": Struct("<f"), b"d": Struct("<d")}


def read_ids(packed: bytes | None) -> tuple[int, ...]:
    r"""Return the document ids of a ranking, without loading numpy; SQLite gives NULL for no bytes.

    >>> read_ids(b"\x07\x00\x00\x00\x08\x00\x00\x00"), read_ids(None)
    ((7, 8), ())
    """
    whole = packed or b""
    return unpack(f"<{len(whole) // 4}i", whole)


def float_at(packed: bytes, place: int) -> float:
    """Return one of the numbers that `store.db.packing.pack_floats` packed."""
    form = packed[:1]
    if form in _FLOAT_FORMS:
        layout = _FLOAT_FORMS[form]
        return float(layout.unpack_from(packed, 1 + layout.size * place)[0])
    return float(unpack_from("<i", packed, 1 + 4 * place)[0] / float(10 ** int(form)))


def _retrievals(session: Session, document: int, names: dict[int, str]) -> Iterator[Retrieval]:
    query = select(RANKING.c.run_id, RANKING.c.topic_id, RANKING.c.document_ids)
    places: dict[tuple[int, int], int] = {}
    options = {"yield_per": _BATCH}
    with session.connection().execute(query, execution_options=options) as result:
        for run, topic, packed in result:
            if document in (ids := read_ids(packed)):
                places[run, topic] = ids.index(document)
    tags = dict(map(tuple, session.execute(select(RUN.c.id, RUN.c.tag))))
    for (run, topic), index in places.items():
        one = select(RANKING.c.scores, RANKING.c.length)
        row = session.execute(one.where(RANKING.c.run_id == run, RANKING.c.topic_id == topic)).one()
        score = float_at(row.scores, index)
        yield Retrieval(names[topic], tags[run], index + 1, row.length, score)


def _judge_states(session: Session, document: int, docno: str, names: dict[int, str]) -> list[JudgeState]:
    """Return how a document stands with every judge, topics in natural order, then by judge."""
    query = current_events().where(JUDGEMENT.c.document_id == document)
    named = query.join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id).add_columns(JUDGE.c.name, JUDGE.c.kind)
    found = []
    for row in session.execute(named):
        whose = {"topic": names[row.topic_id], "docno": docno, "judge": row.name, "kind": JudgeKind(row.kind)}
        found.append(as_record(row, JudgeState, **whose))
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
    """One sitting of a judge, at a terminal or a page."""

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
    numbers = fetch_sitting_numbers(session)
    query = select(SITTING).where(SITTING.c.judge_id == judge).order_by(SITTING.c.started_at, SITTING.c.id)
    lines = []
    for row in session.execute(query):
        moments = row.started_at, row.seen_at, row.ended_at
        lines.append(SittingLine(numbers[row.id], *moments, row.host, row.program, events.get(row.id, 0)))
    return lines


class DetailQueries(Area):
    """Everything known of one thing of a collection; raises `UnknownNameError` for one that is not there."""

    def run(self, tag: str) -> RunDetails:
        """Return everything known of a run; raise `UnknownNameError` when there is none."""
        relaxed = self._db.scale.relaxed
        with self._db.reading() as session:
            row_id = row_named(session, "run", RUN.c.tag, tag, "id").id
            line = next(line for line in run_lines(session, SoughtIds()) if line.tag == tag)
            fed = select(POOL.c.name).join(POOL_RUN, POOL_RUN.c.pool_id == POOL.c.id).order_by(POOL.c.id)
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
            pools = session.scalars(fed.where(POOL_RUN.c.run_id == row_id))
            return RunDetails(line, tuple(pools), tuple(topics))

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
                tuple(_judge_states(session, row.id, docno, names)),
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
