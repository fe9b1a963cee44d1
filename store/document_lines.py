"""The documents of a collection, one line each: where they are pooled, and how they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, or_, select
from sqlmodel import Session

from store.models import DOCUMENT, JUDGEMENT
from store.records import State
from store.standing import RANKS, Found, Standing, looked_at, pooled

_IDS_A_QUERY = 1_000
"""Up to so many documents are named one by one; beyond, all are counted and most forgotten."""


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
    standing: Standing


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Some documents, and how many there are."""

    lines: tuple[DocumentLine, ...]
    """By docno, bytewise."""
    total: int
    """Of those asked for, with the ones that the limit left out."""


def document_lines(
    session: Session, found: Found, *, relaxed: int, limit: int | None = None
) -> DocumentLines:
    """Return the first documents, by docno.

    Parameters
    ----------
    session : Session
        Any session.
    found : Found
        Of a topic: documents pooled or looked at for it, counted for it alone. Of a pool: its
        documents to judge. Of a judge: documents with an event of theirs, whose states alone
        count.
    relaxed : int
        Least relevant grade.
    limit : int, optional
        Most documents to return; default all.
    """
    query = select(
        DOCUMENT.c.id,
        DOCUMENT.c.docno,
        DOCUMENT.c.title,
        DOCUMENT.c.sha256.is_not(None).label("has_text"),
        DOCUMENT.c.listed,
    ).order_by(DOCUMENT.c.docno)
    count = select(func.count()).select_from(DOCUMENT)
    for part in _wanted(found):
        query, count = query.where(DOCUMENT.c.id.in_(part)), count.where(DOCUMENT.c.id.in_(part))
    rows = session.execute(query if limit is None else query.limit(limit)).all()
    ids = [row.id for row in rows] if len(rows) <= _IDS_A_QUERY else None
    standing, pools = _standing(session, found, ids, relaxed)
    lines = tuple(
        DocumentLine(
            row.docno,
            row.title or "",
            bool(row.has_text),
            row.listed,
            len(pools.get(row.id, ())),
            standing.get(row.id, Standing()),
        )
        for row in rows
    )
    is_cut = limit is not None and len(lines) == limit
    return DocumentLines(lines, (session.scalar(count) or 0) if is_cut else len(lines))


def _wanted(found: Found) -> list[Select[int]]:
    """Select the ids of the documents that are asked for, in as many ways as there are filters."""
    ids = []
    acted = select(JUDGEMENT.c.document_id)
    if found.topic is not None:
        acted = acted.where(JUDGEMENT.c.topic_id == found.topic)
    if found.judge is not None:
        ids.append(acted.where(JUDGEMENT.c.judge_id == found.judge))
    in_pool = pooled(found).with_only_columns(pooled(found).selected_columns.document_id)
    if found.pool is not None:
        ids.append(in_pool)
    if found.topic is not None and not ids:
        either = select(DOCUMENT.c.id).where(
            or_(DOCUMENT.c.id.in_(acted), DOCUMENT.c.id.in_(in_pool))
        )
        ids.append(either)
    return ids


def _standing(
    session: Session, found: Found, ids: Sequence[int] | None, relaxed: int
) -> tuple[dict[int, Standing], dict[int, set[int]]]:
    """Count the topics of documents by standing, and name their pools; by document id."""
    pools: defaultdict[int, set[int]] = defaultdict(set)
    topics: defaultdict[int, set[int]] = defaultdict(set)
    for topic, document, pool in session.execute(pooled(found, ids)):
        pools[document].add(pool)
        topics[document].add(topic)
    ranks: defaultdict[int, list[tuple[int, int, int | None]]] = defaultdict(list)
    for topic, document, rank, best in session.execute(looked_at(found, ids)):
        ranks[document].append((topic, rank, best))
    standing = {}
    for document in topics.keys() | ranks.keys():
        inside = topics.get(document, set())
        seen = ranks.get(document, [])
        by_rank = [rank for topic, rank, _ in seen if topic in inside]
        judged = by_rank.count(RANKS[State.JUDGED])
        anywhere = sum(rank == RANKS[State.JUDGED] for _, rank, _ in seen)
        standing[document] = Standing(
            pooled=len(inside),
            judged=judged,
            cannot=by_rank.count(RANKS[State.CANNOT]),
            skipped=by_rank.count(RANKS[State.SKIPPED]),
            outside=anywhere - judged,
            relevant=sum(best is not None and best >= relaxed for _, _, best in seen),
        )
    return standing, dict(pools)
