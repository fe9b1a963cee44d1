"""Collection: the one object the command line talks to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlmodel import Session

from store import documents, judgements, judges, pools, progress, runs, topics
from store.database import (
    check_schema,
    collection_url,
    create_schema,
    display,
    make_engine,
    reading,
    writing,
)
from store.desk import Desk
from store.imports import ImportReport
from store.keys import document_keys, topic_keys
from store.models import TABLES, CollectionRow
from store.pools import StoredPool
from store.ranking import Order
from store.records import (
    Counts,
    Document,
    Judge,
    JudgeKind,
    Judgement,
    Pool,
    Qrel,
    Run,
    Scale,
    Topic,
)
from store.runs import StoredRun
from store.scale import scale_from_json, scale_to_json


class Collection:
    """A test collection: one SQLite file or one PostgreSQL database.

    Parameters
    ----------
    name : str
        A file path or a ``postgresql://`` URL.

    Raises
    ------
    StoreError
        If there is no collection there, or it cannot be reached.
    SchemaError
        If its schema is older or newer than this program's.

    Notes
    -----
    Every method is one transaction: it does all it says or, on any error, nothing.
    """

    def __init__(self, name: str) -> None:
        self._engine = make_engine(collection_url(name))
        check_schema(self._engine)
        self._documents = document_keys()
        self._topics = topic_keys()
        with reading(self._engine) as session:
            table = TABLES["collection"]
            row = session.execute(select(table.c.name, table.c.scale)).one()
        self.name: str = row.name
        self.scale: Scale = scale_from_json(json.loads(row.scale))

    @classmethod
    def create(cls, where: str, *, name: str, scale: Scale, program: str) -> Self:
        """Make an empty collection and open it.

        Parameters
        ----------
        where : str
            A file path or a ``postgresql://`` URL of an empty database.
        name : str
            What the collection is called.
        scale : Scale
            The declared grades.
        program : str
            Name and version of the program, kept in the collection.

        Raises
        ------
        StoreError
            If there is a collection already.
        """
        engine = make_engine(collection_url(where))
        create_schema(engine)
        with writing(engine) as session:
            declared = json.dumps(scale_to_json(scale), ensure_ascii=False)
            now = datetime.now(UTC)
            session.add(
                CollectionRow(name=name, scale=declared, created_at=now, created_by=program)
            )
        engine.dispose()
        return cls(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return display(self._engine.url)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        """Open a reading session with fresh keys."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            self._documents.refresh(session)
            yield session

    @contextmanager
    def _importing(self) -> Iterator[Session]:
        """Open a bulk writing session with fresh keys, forgotten again on an error."""
        try:
            with writing(self._engine, bulk=True) as session:
                self._topics.refresh(session)
                self._documents.refresh(session)
                yield session
        except BaseException:
            self._topics.forget()
            self._documents.forget()
            raise

    def add_topics(self, records: Sequence[Topic], *, replace: bool = False) -> ImportReport:
        """Add topics; see `store.topics.add_topics`."""
        with self._importing() as session:
            return topics.add_topics(session, self._topics, records, replace=replace)

    def topics(self) -> list[Topic]:
        """Return every topic in natural order."""
        with reading(self._engine) as session:
            return topics.fetch_topics(session)

    def listed_topics(self) -> set[str]:
        """Return the topic ids that a topics file named."""
        with reading(self._engine) as session:
            return topics.listed_topics(session)

    def add_documents(
        self, records: Iterable[Document], *, all_texts: bool = False, replace: bool = False
    ) -> ImportReport:
        """Add documents; see `store.documents.add_documents`."""
        with self._importing() as session:
            return documents.add_documents(
                session, self._documents, records, all_texts=all_texts, replace=replace
            )

    def document(self, docno: str) -> Document | None:
        """Return a document; ``None`` = no such docno."""
        with reading(self._engine) as session:
            return documents.fetch_document(session, docno)

    def listed_docnos(self) -> set[str]:
        """Return the docnos that a documents file named."""
        with reading(self._engine) as session:
            return documents.listed_docnos(session)

    def count_pooled_without_text(self) -> tuple[int, int]:
        """Count the pooled documents without text, and all pooled documents."""
        with reading(self._engine) as session:
            return documents.count_pooled_without_text(session)

    def add_run(self, run: Run, *, replace: bool = False) -> ImportReport:
        """Add a run; see `store.runs.add_run`."""
        with self._importing() as session:
            return runs.add_run(session, self._topics, self._documents, run, replace=replace)

    def runs(self, tags: Sequence[str] = ()) -> list[StoredRun]:
        """Return the named runs, or all, by tag; raise `UnknownNameError` for an unknown tag."""
        with reading(self._engine) as session:
            return runs.check_tags(session, tags)

    def read_run(self, stored: StoredRun) -> Run:
        """Return a whole run as its file gave it."""
        with self._reading() as session:
            return runs.fetch_run(session, self._topics, self._documents, stored)

    def ranked_document_ids(
        self, tags: Sequence[str], *, order: Order = "trec"
    ) -> dict[tuple[str, str], NDArray[np.int64]]:
        """Return document ids in rank order by (tag, topic); see `iterate_document_ids`."""
        with self._reading() as session:
            rankings = runs.iterate_document_ids(
                session, self._topics, self._documents, tags, order=order
            )
            return {(tag, topic): ids for tag, topic, ids in rankings}

    def document_ids(self, docnos: Iterable[str]) -> NDArray[np.int64]:
        """Return the ids of docnos that the collection knows."""
        with self._reading():
            ids = self._documents.ids
            return np.array([ids[docno] for docno in docnos], dtype=np.int64)

    def add_pool(self, pool: Pool) -> bool:
        """Add a pool; see `store.pools.add_pool`."""
        with self._importing() as session:
            return pools.add_pool(session, self._topics, self._documents, pool)

    def pools(self) -> list[StoredPool]:
        """Return every pool without its entries, the oldest first."""
        with reading(self._engine) as session:
            return pools.fetch_pools(session)

    def pool(self, name: str) -> Pool:
        """Return a pool; raise `UnknownNameError` when there is none of that name."""
        with self._reading() as session:
            return pools.fetch_pool(session, self._topics, self._documents, name)

    def pooled_pairs(self) -> set[tuple[str, str]]:
        """Return (topic, docno) of every pair in a pool that is not withdrawn."""
        with self._reading() as session:
            pairs = pools.pooled_pairs(session)
            topic, document = self._topics.names, self._documents.names
            return {(topic[first], document[second]) for first, second in pairs}

    def add_judge(self, name: str, kind: JudgeKind) -> bool:
        """Add a judge; see `store.judges.add_judge`."""
        with writing(self._engine) as session:
            return judges.add_judge(session, name, kind)

    def judges(self) -> list[Judge]:
        """Return every judge, by name."""
        with reading(self._engine) as session:
            return judges.fetch_judges(session)

    def import_judgements(
        self,
        judge: str,
        kind: JudgeKind,
        qrels: Sequence[Qrel],
        *,
        pool: Pool | None = None,
        replace: bool = False,
    ) -> ImportReport:
        """Append judgements from a file, adding the judge and the file's own pool if need be.

        See `store.judgements.import_judgements`.
        """
        with self._importing() as session:
            judges.add_judge(session, judge, kind)
            if pool is not None and pool.entries:
                pools.add_pool(session, self._topics, self._documents, pool)
            return judgements.import_judgements(
                session, self._topics, self._documents, judge, qrels, replace=replace
            )

    def judgements(self, judge_names: Sequence[str] | None = None) -> list[Judgement]:
        """Return the current state of every (topic, docno, judge) that has an event."""
        with self._reading() as session:
            return judgements.fetch_judgements(
                session, self._topics, self._documents, judges=judge_names
            )

    def progress(self) -> dict[tuple[str, str], Counts]:
        """Return how many documents stand where, by (topic, judge)."""
        with self._reading() as session:
            return progress.count_states(session, self._topics, self.scale)

    def desk(self, judge: str, *, program: str = "") -> Desk:
        """Return the desk of a judge; see `store.desk.Desk`."""
        return Desk(self._engine, judge, self.scale, program=program)
