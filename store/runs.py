"""Queries on runs and their rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.imports import ImportReport
from store.keys import Keys
from store.models import POOL_RUN, RANKING, RUN, RunRow
from store.packing import pack_floats, pack_integers, unpack_floats, unpack_integers
from store.ranking import Order, compared_scores, natural_key, rank_order
from store.records import Ranking, Run


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What is known of a run without reading its rankings."""

    tag: str
    group: str
    contributes: bool
    sha256: str
    file: str


def add_run(
    session: Session, topics: Keys, documents: Keys, run: Run, *, replace: bool = False
) -> ImportReport:
    """Add a run, or see that it is there already.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh.
    run : Run
        As read from its file.
    replace : bool, default=False
        Whether another file under a known tag takes its place. Pools that the old file fed keep
        their entries.

    Raises
    ------
    ConflictError
        If the tag is known with another file and `replace` is false.

    Notes
    -----
    The same file again, with no group and contributing as by default, changes nothing; otherwise
    the run takes the group that is given, and contributes or not as is said.
    """
    old = session.execute(select(RUN).where(RUN.c.tag == run.tag)).first()
    values: dict[str, Any] = {
        "tag": run.tag,
        "group": run.group,
        "contributes": run.contributes,
        "sha256": run.sha256,
        "file": run.file,
        "imported_at": datetime.now(UTC),
    }
    if old is None:
        row = RunRow(**values)
        session.add(row)
        session.flush()
        row_id = row.id
    else:
        row_id = old.id
        same_file = old.sha256 == run.sha256
        if same_file and not replace:
            nothing_said = not run.group and run.contributes
            values["group"] = run.group or old.group
            values["contributes"] = old.contributes if nothing_said else run.contributes
        if same_file and (old.group, old.contributes) == (values["group"], values["contributes"]):
            return ImportReport(unchanged=1)
        if not same_file and not replace:
            message = f"run `{run.tag}` is there with another file ({old.file})"
            raise ConflictError(message, hint="--replace takes the new file")
        session.execute(update(RUN).where(RUN.c.id == row_id).values(values))
        if same_file:
            return ImportReport(replaced=1)
        session.execute(delete(RANKING).where(RANKING.c.run_id == row_id))
    topics.add(session, (ranking.topic for ranking in run.rankings))
    documents.add(session, (docno for ranking in run.rankings for docno in ranking.docnos))
    rows = [
        {"run_id": row_id, "topic_id": topics.ids[ranking.topic], **_packed(ranking, documents)}
        for ranking in run.rankings
    ]
    if rows:
        session.connection().execute(insert(RANKING), rows)
    return ImportReport(replaced=1) if old is not None else ImportReport(added=1)


def fetch_runs(session: Session) -> list[StoredRun]:
    """Return every run, by tag."""
    query = select(RUN.c.tag, RUN.c.group, RUN.c.contributes, RUN.c.sha256, RUN.c.file)
    rows = session.execute(query.order_by(RUN.c.tag))
    return [StoredRun(*row) for row in rows]


def check_tags(session: Session, tags: Sequence[str]) -> list[StoredRun]:
    """Return the named runs (all when none is named), by tag.

    Raises
    ------
    UnknownNameError
        If a tag is not known.
    """
    runs = fetch_runs(session)
    known = {run.tag for run in runs}
    for tag in tags:
        if tag not in known:
            raise UnknownNameError("run", tag, known)
    return [run for run in runs if not tags or run.tag in tags]


def fetch_run(session: Session, topics: Keys, documents: Keys, stored: StoredRun) -> Run:
    """Return a whole run: topics in natural order, the documents of each in file order."""
    query = select(RANKING).join(RUN, RUN.c.id == RANKING.c.run_id).where(RUN.c.tag == stored.tag)
    rankings = []
    for row in session.execute(query):
        in_file = np.argsort(unpack_integers(row.positions, row.length))
        ids = np.frombuffer(row.document_ids, "<i4")[in_file].tolist()
        ranks = None if row.ranks is None else unpack_integers(row.ranks, row.length)[in_file]
        rankings.append(
            Ranking(
                topics.names[row.topic_id],
                [documents.names[number] for number in ids],
                unpack_floats(row.scores)[in_file],
                ranks,
            )
        )
    return Run(
        tag=stored.tag,
        rankings=sorted(rankings, key=lambda ranking: natural_key(ranking.topic)),
        sha256=stored.sha256,
        file=stored.file,
        group=stored.group,
        contributes=stored.contributes,
    )


def iterate_document_ids(
    session: Session, topics: Keys, documents: Keys, tags: Sequence[str], *, order: Order
) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield tag, topic and document ids in rank order, for every ranking of the named runs.

    Parameters
    ----------
    session : Session
        Any session.
    topics, documents : Keys
        Fresh.
    tags : sequence of str
        Known runs.
    order : Order
        The rank order; `trec` is how rankings are stored and costs nothing.

    Raises
    ------
    ArgumentError
        If order ``rank`` is asked of a run whose stated ranks are not all integers.
    """
    query = (
        select(RANKING, RUN.c.tag)
        .join(RUN, RUN.c.id == RANKING.c.run_id)
        .where(RUN.c.tag.in_(list(tags)))
        .order_by(RUN.c.tag, RANKING.c.topic_id)
    )
    for row in session.execute(query):
        ids = np.frombuffer(row.document_ids, "<i4").astype(np.int64)
        yield row.tag, topics.names[row.topic_id], ids[_reorder(row, ids, documents, order)]


def _packed(ranking: Ranking, documents: Keys) -> dict[str, Any]:
    """Pack one ranking into the columns of its row."""
    in_order = rank_order(ranking.docnos, ranking.scores, order="trec")
    ids = np.array([documents.ids[docno] for docno in ranking.docnos], dtype="<i4")
    ranks = None if ranking.ranks is None else pack_integers(ranking.ranks[in_order])
    return {
        "length": len(ranking.docnos),
        "document_ids": ids[in_order].tobytes(),
        "scores": pack_floats(ranking.scores[in_order]),
        "ranks": ranks,
        "positions": pack_integers(in_order),
        "codec": 1,
    }


def _reorder(row: Any, ids: NDArray[np.int64], documents: Keys, order: Order) -> Any:
    """Return the places of a stored (trec) ranking in another order."""
    if order == "trec":
        return slice(None)
    if order in ("docno-asc", "trec9"):
        scores = unpack_floats(row.scores)
        compared = compared_scores(scores, order)
        if not np.any(compared[:-1] == compared[1:]):
            return slice(None)
        docnos = [documents.names[number] for number in ids.tolist()]
        return rank_order(docnos, scores, order=order)
    positions = unpack_integers(row.positions, row.length)
    if order == "file":
        return np.argsort(positions)
    if row.ranks is None:
        raise ArgumentError("--order", f"needs integer ranks, which run `{row.tag}` lacks", order)
    return np.lexsort((positions, unpack_integers(row.ranks, row.length)))


def run_ids(session: Session, tags: Sequence[str]) -> list[int]:
    """Return the row ids of runs."""
    query = select(RUN.c.id).where(RUN.c.tag.in_(list(tags))).order_by(RUN.c.tag)
    return list(session.scalars(query))


def add_pool_runs(session: Session, pool_id: int, tags: Sequence[str]) -> None:
    """Note which runs fed a pool."""
    rows = [{"pool_id": pool_id, "run_id": row_id} for row_id in run_ids(session, tags)]
    if rows:
        session.execute(insert(POOL_RUN), rows)


def fetch_pool_runs(session: Session, pool_id: int) -> tuple[str, ...]:
    """Return the tags of the runs that fed a pool and are in the collection, sorted."""
    query = select(RUN.c.tag).join(POOL_RUN, POOL_RUN.c.run_id == RUN.c.id)
    return tuple(session.scalars(query.where(POOL_RUN.c.pool_id == pool_id).order_by(RUN.c.tag)))
