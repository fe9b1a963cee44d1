"""Queries on stored rankings: the documents of runs in any rank order, as arrays.

Rankings are stored in trec order, so that order needs no other column; `trec9` alone has to know docnos:
of documents whose scores differ and round to one 32-bit float.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as with_changes
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, func, select
from sqlmodel import Session

from store.analysis.arrays import TopDocuments
from store.db.database import Inside
from store.db.keys import Keys, fetch_docnos
from store.db.packing import PackedRanking, pack_ranking, packed_elements, unpack_floats, unpack_integers
from store.db.tables import RANKING, RUN
from store.errors import ArgumentError
from store.ranking import compared_scores, rank_order, ties_at_cut
from store.records import Order, Ranking
from store.text import natural_key

_BATCH = 256
"""Rankings fetched at a time."""
_COLUMNS: dict[Order, tuple[str, ...]] = {
    "trec": (),
    "trec9": ("scores",),
    "docno-asc": ("scores",),
    "rank": ("positions", "ranks"),
    "file": ("positions",),
}
"""What must be read beside the document ids."""


class _Ranked(NamedTuple):
    """One stored ranking, and how an order turns it."""

    row: Any
    places: NDArray[np.int64] | slice
    """Places of the stored ranking from the first document in this order to the last."""
    compared: NDArray[Any] | None
    """What ties are found by, in this order; ``None`` = not read, or there are none by nature."""


def iterate_document_ids(
    session: Session, topics: Keys, tags: Sequence[str], *, order: Order
) -> Iterator[tuple[str, str, NDArray[np.int32]]]:
    """Yield tag, topic and document ids in rank order, for every ranking of the named runs, which are known.

    Order ``rank`` raises `ArgumentError` for a run whose stated ranks are not all integers.
    """
    for ranked in _iterate(session, tags, order, ()):
        ids = np.frombuffer(ranked.row.document_ids, "<i4").astype(np.int32, copy=False)
        yield ranked.row.tag, topics.names[ranked.row.topic_id], ids[ranked.places]


def fetch_top_documents(
    session: Session, topics: Keys, tags: Sequence[str], *, depth: int | None, order: Order, scores: bool
) -> TopDocuments:
    """Return the first documents of every ranking of known runs, tags ascending; `depth` ``None`` = all.

    As `pooler.reading.tops.top_of` of each run gives them; raises as `iterate_document_ids` does.
    """
    of_runs = select(RUN.c.tag, RANKING.c.topic_id, RANKING.c.length)
    sizes = session.connection().execute(_of_runs(of_runs, tags)).all()
    topic_ids = sorted(
        {topic_id for _, topic_id, _ in sizes}, key=lambda topic_id: natural_key(topics.names[topic_id])
    )
    rows = {tag: row for row, tag in enumerate(tags)}
    columns = {topic_id: column for column, topic_id in enumerate(topic_ids)}
    lengths = np.zeros((len(rows), len(columns)), np.int32)
    for tag, topic_id, length in sizes:
        lengths[rows[tag], columns[topic_id]] = length
    longest = int(lengths.max(initial=0))
    width = longest if depth is None else min(depth, longest)
    ids = np.full((*lengths.shape, width), -1, np.int32)
    tied_in, tied_out = np.zeros_like(lengths), np.zeros_like(lengths)
    values = np.full(ids.shape, np.nan) if scores else None
    # A ranking no longer than the depth is not cut, so its ties do not matter.
    is_cut = width < longest
    extra = ("scores",) if scores or (is_cut and order == "trec") else ()
    head = width if is_cut and order == "trec" else None
    for ranked in _iterate(session, tags, order, extra, head):
        row = ranked.row
        place = rows[row.tag], columns[row.topic_id]
        # To SQLite, a part of no bytes is no value.
        stored = np.frombuffer(row.document_ids or b"", "<i4")
        first = stored[ranked.places][:width]
        ids[place][: first.size] = first
        if is_cut and ranked.compared is not None:
            tied_in[place], tied_out[place] = ties_at_cut(ranked.compared, width)
        if values is not None:
            values[place][: first.size] = unpack_floats(row.scores)[ranked.places][:width]
    names = tuple(topics.names[topic_id] for topic_id in topic_ids)
    return TopDocuments(tuple(tags), names, ids, lengths, tied_in, tied_out, values)


def _of_runs(query: Any, tags: Sequence[str]) -> Any:
    return query.join(RUN, RUN.c.id == RANKING.c.run_id).where(RUN.c.tag.in_(list(tags)))


def _iterate(
    session: Session, tags: Sequence[str], order: Order, extra: Iterable[str], head: int | None = None
) -> Iterator[_Ranked]:
    """Yield the named runs' rankings, by tag; with `head`, only so many document ids of each."""
    documents: Any = RANKING.c.document_ids
    if head is not None:
        documents = func.substr(documents, 1, 4 * head, type_=documents.type)
    columns: list[Column[Any]] = [RANKING.c[name] for name in {*_COLUMNS[order], *extra}]
    query = select(RUN.c.tag, RANKING.c.topic_id, RANKING.c.length, documents.label("document_ids"), *columns)
    ordered = _of_runs(query, tags).order_by(RUN.c.tag, RANKING.c.topic_id)
    options = {"yield_per": _BATCH}  # PostgreSQL would send all of them at once
    with session.connection().execute(ordered, execution_options=options) as result:
        for batch in result.partitions():
            wanted = (
                np.frombuffer(row.document_ids, "<i4")[_are_mixed(unpack_floats(row.scores))].tolist()
                for row in (batch if order == "trec9" else ())
            )
            docnos = fetch_docnos(session, chain.from_iterable(wanted))
            for row in batch:
                yield _turned(row, order, docnos)


def _turned(row: Any, order: Order, docnos: Mapping[int, str]) -> _Ranked:
    if order == "trec":
        has_scores = "scores" in row._fields
        return _Ranked(row, slice(None), packed_elements(row.scores) if has_scores else None)
    if order in ("docno-asc", "trec9"):
        scores = unpack_floats(row.scores)
        # As stored, documents of one score stand by docno, descending.
        names: Sequence[Any] = range(row.length, 0, -1)
        if order == "trec9":
            ids = np.frombuffer(row.document_ids, "<i4").tolist()
            are_mixed = enumerate(_are_mixed(scores).tolist())
            names = [(docnos[ids[place]] if is_mixed else "", -place) for place, is_mixed in are_mixed]
        return _Ranked(row, rank_order(names, scores, order=order), compared_scores(scores, order))
    positions = unpack_integers(row.positions, row.length)
    if order == "file":
        return _Ranked(row, np.argsort(positions), None)
    if row.ranks is None:
        raise ArgumentError("order", f"needs integer ranks, which run `{row.tag}` lacks", order)
    ranks = unpack_integers(row.ranks, row.length)
    places = np.lexsort((positions, ranks))
    return _Ranked(row, places, ranks[places])


def _are_mixed(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which scores round to one 32-bit float with another score."""
    compared = compared_scores(scores, "trec9")
    is_new = compared[1:] != compared[:-1]
    groups = np.append(0, np.cumsum(is_new))[: scores.size]
    return np.isin(groups, groups[1:][~is_new & (scores[1:] != scores[:-1])])


def pack_rankings(inside: Inside, rankings: Iterable[Ranking]) -> Iterator[PackedRanking]:
    """Pack rankings one after another, adding the documents that are new."""
    session, _, documents = inside
    for ranking in rankings:
        documents.add(session, ranking.docnos)
        numbers = np.array([documents.ids[docno] for docno in ranking.docnos], np.int32)
        yield pack_ranking(ranking.topic, ranking.docnos, numbers, ranking.scores, ranking.ranks)


class NumberedDocuments:
    """Documents as one reader of runs numbers them, from 0 on, and their row ids.

    The reader reports the docnos it meets, each once, in the order of their numbers. A run that is
    stored turns those still waiting into row ids, for good once its transaction is committed.
    """

    def __init__(self) -> None:
        self._ids: NDArray[np.int32] = np.empty(0, np.int32)
        self._waiting: list[str] = []
        self._proposed: NDArray[np.int32] | None = None

    def extend(self, docnos: Iterable[str]) -> None:
        """Take in the docnos of the numbers that come next."""
        self._waiting.extend(docnos)

    def resolve(self, inside: Inside) -> NDArray[np.int32]:
        """Return the row id of every number so far, inserting the documents that are new."""
        inside.documents.add(inside.session, self._waiting)
        ids = map(inside.documents.ids.__getitem__, self._waiting)
        new = np.fromiter(ids, np.int32, len(self._waiting))
        self._proposed = np.concatenate((self._ids, new))
        return self._proposed

    def settle(self) -> None:
        """Keep what `resolve` returned: its transaction is committed."""
        if self._proposed is not None:
            self._ids, self._proposed = self._proposed, None
            self._waiting.clear()


def with_row_ids(
    inside: Inside, rankings: Iterable[PackedRanking], numbered: NumberedDocuments
) -> Iterator[PackedRanking]:
    """Turn a reader's own numbers of documents into row ids, adding the documents that are new."""
    ids = numbered.resolve(inside)
    for ranking in rankings:
        numbers = np.frombuffer(ranking.documents, "<i4")
        yield with_changes(ranking, documents=ids[numbers].astype("<i4", copy=False).tobytes())
