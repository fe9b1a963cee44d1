"""Whole runs: their rankings packed for the store, and unpacked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace as with_changes

import numpy as np
from sqlalchemy import select
from sqlmodel import Session

from store.imports import ImportReport
from store.keys import Keys
from store.models import RANKING, RUN
from store.natural_order import natural_key
from store.numbered_documents import NumberedDocuments
from store.packing import PackedRanking, pack_ranking, unpack_floats, unpack_integers
from store.records import Ranking, Run
from store.runs import StoredRun, add_rankings


def add_run(
    session: Session, topics: Keys, documents: Keys, run: Run, *, replace: bool = False
) -> ImportReport:
    """Add a run, or see that it is there already; see `store.runs.add_rankings`.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh.
    run : Run
        As read from its file.
    replace : bool, default=False
        Whether another file under a known tag takes its place.
    """
    about = StoredRun(run.tag, run.group, run.contributes, run.sha256, run.file)
    packed = pack_rankings(session, documents, run.rankings)
    return add_rankings(session, topics, about, packed, replace=replace)


def pack_rankings(
    session: Session, documents: Keys, rankings: Iterable[Ranking]
) -> Iterator[PackedRanking]:
    """Pack rankings one after another, adding the documents that are new."""
    for ranking in rankings:
        ids = list(map(documents.ids.get, ranking.docnos))
        if None in ids:
            documents.add(session, ranking.docnos)
            ids = list(map(documents.ids.get, ranking.docnos))
        numbers = np.array(ids, np.int32)
        yield pack_ranking(ranking.topic, ranking.docnos, numbers, ranking.scores, ranking.ranks)


def with_row_ids(
    session: Session,
    documents: Keys,
    rankings: Iterable[PackedRanking],
    numbered: NumberedDocuments,
) -> Iterator[PackedRanking]:
    """Turn a reader's own numbers of documents into row ids, adding the documents that are new."""
    ids = numbered.resolve(session, documents)
    for ranking in rankings:
        numbers = np.frombuffer(ranking.documents, "<i4")
        yield with_changes(ranking, documents=ids[numbers].astype("<i4", copy=False).tobytes())


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
