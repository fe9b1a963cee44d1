"""Collection: the one object the command line talks to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from sqlalchemy import select
from sqlmodel import Session

from store import documents, judgements, judges, pools, progress, runs, topics
from store.arrays import RankedDocuments
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
from store.errors import ArgumentError
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
        self._documents = document_keys()
        self._topics = topic_keys()
        try:
            check_schema(self._engine)
            with reading(self._engine) as session:
                table = TABLES["collection"]
                row = session.execute(select(table.c.name, table.c.scale)).one()
        except BaseException:
            self._engine.dispose()
            raise
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
        declared = json.dumps(scale_to_json(scale), ensure_ascii=False)
        now = datetime.now(UTC)
        row = CollectionRow(name=name, scale=declared, created_at=now, created_by=program)
        engine = make_engine(collection_url(where))
        try:
            create_schema(engine, row)
        finally:
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

    def ranked_documents(
        self, tags: Sequence[str] = (), *, order: Order = "trec"
    ) -> RankedDocuments:
        """Return the named runs (default all) as document ids in rank order.

        Raises
        ------
        UnknownNameError
            If a tag is not known.
        ArgumentError
            If order ``rank`` is asked of a run whose stated ranks are not all integers.
        """
        with self._reading() as session:
            known = tuple(run.tag for run in runs.check_tags(session, tags))
            rankings = runs.iterate_document_ids(
                session, self._topics, self._documents, known, order=order
            )
            by_run = {(tag, topic): ids for tag, topic, ids in rankings}
            return RankedDocuments(known, by_run, self._documents.ids, self._documents.names)

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

    def pooled_rounds(self) -> dict[tuple[str, str], str]:
        """Return the round of every (topic, docno) in a pool not withdrawn: of its first pool."""
        with self._reading() as session:
            rounds = pools.pooled_rounds(session)
            topic, document = self._topics.names, self._documents.names
            return {(topic[first], document[second]): label
                    for (first, second), label in rounds.items()}  # fmt: skip

    def add_judge(self, name: str, kind: JudgeKind) -> bool:
        """Add a judge; see `store.judges.add_judge`."""
        with writing(self._engine, bulk=True) as session:
            return judges.add_judge(session, name, kind)

    def judges(self) -> list[Judge]:
        """Return every judge, by name."""
        with reading(self._engine) as session:
            return judges.fetch_judges(session)

    def import_judgements(
        self,
        by_judge: Mapping[str, Sequence[Qrel]],
        kind: JudgeKind,
        *,
        pool: Pool | None = None,
        replace: bool = False,
    ) -> ImportReport:
        """Append the judgements of a file in one transaction.

        Parameters
        ----------
        by_judge : mapping of str to sequence of Qrel
            Judges, added when they are new, and what each graded.
        kind : JudgeKind
            Of the judges.
        pool : Pool, optional
            What the file says was pooled; one without entries is not added.
        replace : bool, default=False
            Whether grades that differ from stored ones are appended as revisions.

        Raises
        ------
        ArgumentError
            If a grade is not on the scale.
        ConflictError
            If a stored grade differs and `replace` is false, or the pool's name is taken.
        """
        grades = (qrel.grade for qrels in by_judge.values() for qrel in qrels)
        if off_scale := judgements.check_grades(grades, self.scale.values):
            raise ArgumentError("grade", f"must be one of {self.scale.values}", off_scale)
        with self._importing() as session:
            if pool is not None and pool.entries:
                pools.add_pool(session, self._topics, self._documents, pool)
            total = ImportReport()
            for judge, qrels in by_judge.items():
                judges.add_judge(session, judge, kind)
                total += judgements.import_judgements(
                    session, self._topics, self._documents, judge, qrels, replace=replace
                )
            return total

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
