"""Queries on runs; `store.content.rankings` packs and unpacks their rankings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update
from sqlmodel import Session

from store.db.columns import insert_new, insert_row
from store.db.database import Area, Inside
from store.db.digests import write_run_digest
from store.db.tables import POOL_RUN, RANKING, RUN
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.records import ImportReport, StoredRun

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments, TopDocuments
    from store.content.rankings import NumberedDocuments
    from store.db.packing import PackedRanking
    from store.records import Order, Run

_BATCH = 256
"""Rankings inserted at a time."""
_PACKED = attrgetter("length", "documents", "scores", "ranks", "positions")
"""Of a packed ranking, in the order of the columns."""


def add_rankings(
    inside: Inside, run: StoredRun, rankings: Iterable[PackedRanking], *, replace: bool = False
) -> ImportReport:
    """Add a run ranking by ranking, or see that it is there already.

    Rankings are of row ids, one a topic in file order; none is touched when the same file is there. That
    gives the run its group, if any, and can end its contributing, which begins again by `replace` alone.
    With `replace` another file takes the place of a known tag's, else it raises `ConflictError`.
    """
    session, topics, _ = inside
    old = session.execute(select(RUN).where(RUN.c.tag == run.tag)).first()
    values: dict[str, Any] = {**asdict(run), "imported_at": datetime.now(UTC)}
    if old is None:
        row_id = insert_row(session, RUN, **values)
    else:
        row_id = old.id
        same_file = old.sha256 == run.sha256
        values["group"] = run.group or old.group
        if same_file and not replace:
            values["contributes"] = old.contributes and run.contributes
        is_same = (old.group, old.contributes) == (values["group"], values["contributes"])
        if same_file and is_same:
            return ImportReport(unchanged=1)
        if not same_file and not replace:
            message = f"run `{run.tag}` exists with another file ({old.file})"
            raise ConflictError(message, hint="--replace takes the new file")
        session.execute(update(RUN).where(RUN.c.id == row_id).values(values))
        if same_file:
            return ImportReport(replaced=1)
        session.execute(delete(RANKING).where(RANKING.c.run_id == row_id))
    coming = iter(rankings)
    while batch := list(islice(coming, _BATCH)):
        topics.add(session, (ranking.topic for ranking in batch))
        rows = [(row_id, topics.ids[one.topic], *_PACKED(one), 1) for one in batch]
        insert_new(session, RANKING, RANKING.columns.keys(), rows)
    write_run_digest(session, row_id)
    return ImportReport(replaced=1) if old is not None else ImportReport(added=1)


def check_tags(session: Session, tags: Sequence[str]) -> list[StoredRun]:
    """Return the named runs (all when none is named), by tag; an unknown one raises `UnknownNameError`."""
    query = select(RUN.c.tag, RUN.c.group, RUN.c.contributes, RUN.c.sha256, RUN.c.file)
    runs = [StoredRun(*row) for row in session.execute(query.order_by(RUN.c.tag))]
    known = {run.tag for run in runs}
    for tag in tags:
        if tag not in known:
            raise UnknownNameError("run", tag, known)
    return [run for run in runs if not tags or run.tag in tags]


def add_pool_runs(session: Session, pool_id: int, tags: Sequence[str]) -> None:
    """Note which runs fed a pool."""
    query = select(RUN.c.id).where(RUN.c.tag.in_(list(tags))).order_by(RUN.c.tag)
    rows = [{"pool_id": pool_id, "run_id": row_id} for row_id in session.scalars(query)]
    if rows:
        session.execute(insert(POOL_RUN), rows)


def fetch_pool_runs(session: Session, pool_id: int) -> tuple[str, ...]:
    """Return the tags of the runs that fed a pool and are in the collection, sorted."""
    query = select(RUN.c.tag).join(POOL_RUN, POOL_RUN.c.run_id == RUN.c.id)
    return tuple(session.scalars(query.where(POOL_RUN.c.pool_id == pool_id).order_by(RUN.c.tag)))


class Runs(Area):
    """The runs of a collection and their rankings."""

    def all(self, tags: Sequence[str] = ()) -> list[StoredRun]:
        """Return the named runs, or all, by tag; raise `UnknownNameError` for an unknown tag."""
        with self._db.reading() as session:
            return check_tags(session, tags)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return topics and documents of every whole run, by tag."""
        with self._db.reading() as session:
            query = (
                select(RUN.c.tag, func.count(), func.sum(RANKING.c.length))
                .join(RANKING, RANKING.c.run_id == RUN.c.id)
                .group_by(RUN.c.tag)
            )
            return {tag: (topics, int(documents)) for tag, topics, documents in session.execute(query)}

    def add(self, run: Run, *, replace: bool = False) -> ImportReport:
        """Add a run, its rankings one at a time; see `store.content.runs.add_rankings`."""
        from store.content.rankings import pack_rankings

        about = StoredRun(run.tag, run.group, run.contributes, run.sha256, run.file)
        with self._db.filling() as inside:
            return add_rankings(inside, about, pack_rankings(inside, run.rankings), replace=replace)

    def add_packed(
        self,
        run: StoredRun,
        rankings: Iterable[PackedRanking],
        numbered: NumberedDocuments,
        *,
        replace: bool = False,
    ) -> ImportReport:
        """Add a run whose reader packed it and numbered its documents, as `add_rankings` does."""
        from store.content.rankings import with_row_ids

        with self._db.filling() as inside:
            report = add_rankings(inside, run, with_row_ids(inside, rankings, numbered), replace=replace)
        numbered.settle()
        return report

    def top(
        self, tags: Sequence[str] = (), *, depth: int | None, order: Order = "trec", scores: bool = False
    ) -> TopDocuments:
        """Return the first documents of the named runs (default all) as arrays of document ids.

        `depth` ``None`` = all of them; see `store.content.rankings.fetch_top_documents`. Docnos stay in the
        database, see `store.content.documents.Documents.names`.
        """
        from store.content.rankings import fetch_top_documents
        from store.ranking import check_order

        if depth is not None and depth < 1:
            raise ArgumentError("depth", "must be an integer >= 1", depth)
        check_order(order)
        with self._db.reading_topics() as (session, topics):
            known = [run.tag for run in check_tags(session, tags)]
            self._db.check_digests(session, runs=known)
            return fetch_top_documents(session, topics, known, depth=depth, order=order, scores=scores)

    def ranked(
        self, tags: Sequence[str] = (), *, order: Order = "trec", docnos: bool = True
    ) -> RankedDocuments:
        """Return the named runs (default all) as document ids in rank order; `docnos` if asked."""
        from store.analysis.arrays import RankedDocuments
        from store.content.rankings import iterate_document_ids

        opened = self._db.reading_keyed() if docnos else self._db.reading_topics()
        with opened as (session, topics, *_):
            known = tuple(run.tag for run in check_tags(session, tags))
            self._db.check_digests(session, runs=known)
            rankings_read = iterate_document_ids(session, topics, known, order=order)
            by_run = {(tag, topic): ids for tag, topic, ids in rankings_read}
        documents = self._db.documents
        return RankedDocuments(known, by_run, *((documents.ids, documents.names) if docnos else ({}, {})))
