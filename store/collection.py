"""Collection: the one object that stands for a test collection in a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from store.db.database import Database, Inside, create_database
from store.db.engine import MISREAD, damaged
from store.records import Scale
from store.text import Pairs

if TYPE_CHECKING:
    from pathlib import Path

    from store.content.documents import Documents
    from store.content.pools import Pools
    from store.content.runs import Runs
    from store.content.topics import Guidelines, Topics
    from store.grades.definitions import Definitions
    from store.grades.votes import CollectionGrades
    from store.history import HistoryQueries
    from store.judging.adjudication import AdjudicationDesk, Disagreements
    from store.judging.assignments import Assignments
    from store.judging.codes import Codes
    from store.judging.desk import Desk
    from store.judging.disagreements import Selection
    from store.judging.erasing import Erasures
    from store.judging.judges import Judges
    from store.judging.models import ModelDesk, Models
    from store.judging.progress import JudgingProgress
    from store.judging.rejudging import Rejudging
    from store.judging.states import PoolChanges
    from store.keeping.histories import Judgements
    from store.keeping.verify import Verified
    from store.keeping.work import WorkDone
    from store.overview import DetailQueries, ListQueries


def _area(module: str, name: str) -> Any:
    """Make an attribute for a part of a collection's methods, loaded when it is first asked for."""

    def load(collection: Collection) -> Any:
        return getattr(import_module(f"store.{module}"), name)(collection._db)

    return cached_property(load)


class Collection:
    """A test collection: one SQLite file or one PostgreSQL database, by path or ``postgresql://`` URL.

    Its methods stand in areas, whose modules are loaded when they are first asked for: looking at a
    collection loads none of the arithmetic. Every method is one transaction: it does all it says or, on any
    error, nothing. `StoreError` is raised if there is no collection there, or it cannot be reached;
    `SchemaError` if its schema is older or newer than this program's.
    """

    topics: Topics = _area("content.topics", "Topics")
    guidelines: Guidelines = _area("content.topics", "Guidelines")
    documents: Documents = _area("content.documents", "Documents")
    runs: Runs = _area("content.runs", "Runs")
    pools: Pools = _area("content.pools", "Pools")
    judges: Judges = _area("judging.judges", "Judges")
    models: Models = _area("judging.models", "Models")
    codes: Codes = _area("judging.codes", "Codes")
    erasures: Erasures = _area("judging.erasing", "Erasures")
    assignments: Assignments = _area("judging.assignments", "Assignments")
    rejudging: Rejudging = _area("judging.rejudging", "Rejudging")
    disagreements: Disagreements = _area("judging.adjudication", "Disagreements")
    progress: JudgingProgress = _area("judging.progress", "JudgingProgress")
    judgements: Judgements = _area("keeping.histories", "Judgements")
    grades: CollectionGrades = _area("grades.votes", "CollectionGrades")
    qrels: Definitions = _area("grades.definitions", "Definitions")
    lists: ListQueries = _area("overview", "ListQueries")
    details: DetailQueries = _area("overview", "DetailQueries")
    history: HistoryQueries = _area("history", "HistoryQueries")
    pool_changes: PoolChanges = _area("judging.states", "PoolChanges")

    def __init__(self, name: str) -> None:
        self._db = Database(name)
        self.name = self._db.name
        self.scale = self._db.scale

    @classmethod
    def create(cls, where: str, *, name: str, scale: Scale, program: str) -> Self:
        """Make an empty collection at a file path or in an empty PostgreSQL database, and open it."""
        create_database(where, name=name, scale=scale, program=program)
        return cls(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, MISREAD):
                # A value that no whole collection has fails wherever sense is made of it.
                from store.keeping.verify import damage

                if fault := damage(self._db.engine):
                    raise damaged(self.where, fault) from error
        finally:
            self.close()

    def close(self) -> None:
        """Close every connection."""
        self._db.close()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self._db.where

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of documents that judges are shown above a text, in their order."""
        return self._db.fields

    @property
    def look_alikes(self) -> Pairs:
        """Documents added here whose docnos differ from others in Unicode normal form alone."""
        return self._db.documents.look_alikes

    @contextmanager
    def as_it_stands(self) -> Iterator[Inside]:
        """Open a transaction that sees one state of everything, whatever judges do meanwhile.

        `StoreError`: they are not as they were written.
        """
        with self._db.reading_keyed() as inside:
            self._db.check_digests(inside.session, judgements=True, work=True)
            yield inside

    def being_filled(self) -> AbstractContextManager[Inside]:
        """Open a transaction that fills the collection: wholly, or on any error not at all."""
        return self._db.filling()

    def desk(self, judge: str, *, program: str = "") -> Desk:
        """Return the desk of a judge; see `store.judging.desk.Desk`."""
        from store.judging.desk import Desk

        return Desk(self._db.engine, judge, self.scale, program=program, fields=self._db.fields)

    def model_desk(self, judge: str, *, program: str = "") -> ModelDesk:
        """Return the desk of a model judge; see `store.judging.models.ModelDesk`."""
        from store.judging.models import ModelDesk

        return ModelDesk(self._db.engine, judge, self.scale, program=program, fields=self._db.fields)

    def disputes(self, qrels: str | None = None) -> Selection:
        """Select what those disagree on whose kinds qrels count, by default the default ones."""
        from store.judging.disagreements import Selection

        return Selection(kinds=self.qrels.kinds(qrels))

    def adjudication_desk(
        self, judge: str, *, selection: Selection | None = None, program: str = ""
    ) -> AdjudicationDesk:
        """Return the desk of an adjudicator; see `store.judging.adjudication.AdjudicationDesk`."""
        from store.judging.adjudication import AdjudicationDesk
        from store.judging.disagreements import ALL

        wanted = ALL if selection is None else selection
        fields = self._db.fields
        return AdjudicationDesk(
            self._db.engine, judge, self.scale, program=program, selection=wanted, fields=fields
        )

    def verify(self, **chosen: Any) -> list[Verified]:
        """Check it against its own rules; see `store.keeping.verify.verify`."""
        from store.keeping.verify import verify

        return verify(self._db.engine.url, **chosen)

    def page_head(self, judge: str, **shown: Any) -> str:
        """Write the first line of what a judge's page saves; see `store.keeping.work.head_of`."""
        from store.keeping.work import head_of

        with self._db.reading() as session:
            self._db.check_digests(session, judgements=True)
            return head_of(session, judge, **shown)

    def clock_doubt(self) -> str:
        """Return how the clock and what is stored contradict each other; empty = they do not."""
        from store.judging.judges import clock_doubt

        with self._db.reading() as session:
            return clock_doubt(session)

    def import_work(self, file: Path, **chosen: Any) -> WorkDone:
        """Do again, as its judge, what a page saved; see `store.keeping.work.import_work`."""
        from store.keeping.work import import_work

        return import_work(self._db.engine, self.scale, file, **chosen)
