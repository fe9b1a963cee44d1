"""Everything known of one document: its pools, the runs that retrieved it, its judgements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from store.chronicle import find_document
from store.judgements import current_events
from store.models import DOCUMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY, RANKING, RUN, TOPIC
from store.natural_order import natural_key
from store.ranking_bytes import float_at, place_of
from store.records import Document, JudgeKind, State

_BATCH = 256
"""Rankings read at a time."""


@dataclass(frozen=True, slots=True)
class Pooling:
    """One pool that has a document for one topic."""

    topic: str
    pool: str
    round: str
    withdrawn: bool
    sampled: bool
    """False = not to be judged: listed in its stratum alone, or not drawn yet."""
    position: int
    """In the display order, from 0."""
    priority: float | None
    stratum: int | None
    inclusion_probability: float | None


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


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where a document stands with one judge for one topic."""

    topic: str
    judge: str
    kind: JudgeKind
    state: State
    grade: int | None
    reason: str
    note: str
    iteration: str
    revision: int
    judged_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True)
class DocumentDossier:
    """Everything known of a document."""

    document: Document
    listed: bool
    """Named by a documents file."""
    sha256: str | None
    """Of title and text; ``None`` = no text."""
    poolings: tuple[Pooling, ...]
    retrievals: tuple[Retrieval, ...]
    standpoints: tuple[Standpoint, ...]


def document_dossier(session: Session, docno: str) -> DocumentDossier:
    """Return everything known of a document; raise `UnknownNameError` when there is none.

    Notes
    -----
    Reads the document ids of every ranking in the collection, a few hundred at a time.
    """
    row = find_document(session, docno)
    text = session.execute(select(DOCUMENT.c.text).where(DOCUMENT.c.id == row.id)).scalar_one()
    names = topic_names(session)
    return DocumentDossier(
        Document(docno, row.title or "", text),
        row.listed,
        row.sha256,
        tuple(_poolings(session, row.id, names)),
        tuple(sorted(_retrievals(session, row.id, names),
                     key=lambda one: (natural_key(one.topic), one.rank, one.run))),
        tuple(_standpoints(session, row.id, names)),
    )  # fmt: skip


def topic_names(session: Session) -> dict[int, str]:
    """Return the topics' ids by row id."""
    return {row.id: row.number for row in session.execute(select(TOPIC.c.id, TOPIC.c.number))}


def _poolings(session: Session, document: int, names: dict[int, str]) -> list[Pooling]:
    """Return the pools that have a document, topics in natural order, the oldest pool first."""
    query = (
        select(POOL_ENTRY, POOL.c.name, POOL.c.round, POOL.c.withdrawn)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.document_id == document)
        .order_by(POOL.c.id)
    )
    found = [
        Pooling(
            names[row.topic_id],
            row.name,
            row.round,
            row.withdrawn,
            row.sampled,
            row.position,
            row.priority,
            row.stratum,
            row.inclusion_probability,
        )
        for row in session.execute(query)
    ]
    return sorted(found, key=lambda one: natural_key(one.topic))


def _retrievals(session: Session, document: int, names: dict[int, str]) -> Iterator[Retrieval]:
    """Yield the rankings that have a document, with its rank and score there."""
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


def _standpoints(session: Session, document: int, names: dict[int, str]) -> list[Standpoint]:
    """Return how a document stands with every judge, topics in natural order, then by judge."""
    columns = [column for column in JUDGEMENT.c if column.name != "id"]
    query = (
        current_events()
        .where(JUDGEMENT.c.document_id == document)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .with_only_columns(*columns, JUDGE.c.name, JUDGE.c.kind, maintain_column_froms=True)
    )
    found = [_standpoint(row, names) for row in session.execute(query)]
    return sorted(found, key=lambda one: (natural_key(one.topic), one.judge))


def _standpoint(row: Row[Any], names: dict[int, str]) -> Standpoint:
    """Turn an event row into a `Standpoint`."""
    return Standpoint(
        names[row.topic_id],
        row.name,
        JudgeKind(row.kind),
        State(row.state),
        row.grade,
        row.reason,
        row.note,
        row.iteration,
        row.revision,
        row.judged_at,
    )
