"""Collection: the one object that stands for a test collection in a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from store.db.database import Database, Inside
from store.db.engine import collection_url
from store.records import Scale
from store.text import Pairs

if TYPE_CHECKING:
    from pathlib import Path

    from store.content.documents import Documents
    from store.content.pools import Pools
    from store.content.runs import Runs
    from store.content.topics import Guidelines, Topics
    from store.grades.votes import CollectionGrades
    from store.judging.adjudication import AdjudicationDesk, Disagreements
    from store.judging.assignments import Assignments
    from store.judging.desk import Desk
    from store.judging.disagreements import Selection
    from store.judging.erasing import Erasures
    from store.judging.judges import Judges
    from store.judging.progress import JudgingProgress
    from store.judging.rejudging import Rejudging
    from store.keeping.directory.tables import Progress
    from store.keeping.histories import Judgements
    from store.keeping.merge.copies import Merged
    from store.keeping.merge.histories import HowToSettle
    from store.keeping.verify import Verified
    from store.keeping.work_copy import HandedOut
    from store.looking.details import DetailQueries
    from store.looking.history import HistoryQueries
    from store.looking.lists import ListQueries
    from store.looking.pool_change import PoolChanges


class Collection:
    """A test collection: one SQLite file or one PostgreSQL database, by path or ``postgresql://`` URL.

    Its methods stand in areas, whose modules are loaded when they are first asked for: looking at a
    collection loads none of the arithmetic. Every method is one transaction: it does all it says or, on any
    error, nothing. `StoreError` is raised if there is no collection there, or it cannot be reached;
    `SchemaError` if its schema is older or newer than this program's.
    """

    def __init__(self, name: str) -> None:
        self._db = Database(name)
        self.name = self._db.name
        self.scale = self._db.scale

    @classmethod
    def create(cls, where: str, *, name: str, scale: Scale, program: str) -> Self:
        """Make an empty collection and open it; see `store.db.database.Database.create`."""
        Database.create(where, name=name, scale=scale, program=program).close()
        return cls(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.__exit__(kind, error, trace)

    def close(self) -> None:
        """Close every connection."""
        self._db.close()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self._db.where

    @property
    def look_alikes(self) -> Pairs:
        """Documents added here whose docnos differ from others in Unicode normal form alone."""
        return self._db.documents.look_alikes

    @contextmanager
    def as_it_stands(self) -> Iterator[Inside]:
        """Open a transaction that sees one state of everything, whatever judges do meanwhile."""
        with self._db.reading_keyed() as inside:
            yield inside

    @contextmanager
    def being_filled(self) -> Iterator[Inside]:
        """Open a transaction that fills the collection: wholly, or on any error not at all."""
        with self._db.filling() as inside:
            yield inside

    @cached_property
    def topics(self) -> Topics:
        """See `store.content.topics.Topics`."""
        from store.content.topics import Topics

        return Topics(self._db)

    @cached_property
    def guidelines(self) -> Guidelines:
        """See `store.content.topics.Guidelines`."""
        from store.content.topics import Guidelines

        return Guidelines(self._db)

    @cached_property
    def documents(self) -> Documents:
        """See `store.content.documents.Documents`."""
        from store.content.documents import Documents

        return Documents(self._db)

    @cached_property
    def runs(self) -> Runs:
        """See `store.content.runs.Runs`."""
        from store.content.runs import Runs

        return Runs(self._db)

    @cached_property
    def pools(self) -> Pools:
        """See `store.content.pools.Pools`."""
        from store.content.pools import Pools

        return Pools(self._db)

    @cached_property
    def judges(self) -> Judges:
        """See `store.judging.judges.Judges`."""
        from store.judging.judges import Judges

        return Judges(self._db)

    @cached_property
    def erasures(self) -> Erasures:
        """See `store.judging.erasing.Erasures`."""
        from store.judging.erasing import Erasures

        return Erasures(self._db)

    @cached_property
    def assignments(self) -> Assignments:
        """See `store.judging.assignments.Assignments`."""
        from store.judging.assignments import Assignments

        return Assignments(self._db)

    @cached_property
    def rejudging(self) -> Rejudging:
        """See `store.judging.rejudging.Rejudging`."""
        from store.judging.rejudging import Rejudging

        return Rejudging(self._db)

    @cached_property
    def disagreements(self) -> Disagreements:
        """See `store.judging.adjudication.Disagreements`."""
        from store.judging.adjudication import Disagreements

        return Disagreements(self._db)

    @cached_property
    def progress(self) -> JudgingProgress:
        """See `store.judging.progress.JudgingProgress`."""
        from store.judging.progress import JudgingProgress

        return JudgingProgress(self._db)

    @cached_property
    def judgements(self) -> Judgements:
        """See `store.keeping.histories.Judgements`."""
        from store.keeping.histories import Judgements

        return Judgements(self._db)

    @cached_property
    def grades(self) -> CollectionGrades:
        """See `store.grades.votes.CollectionGrades`."""
        from store.grades.votes import CollectionGrades

        return CollectionGrades(self._db)

    @cached_property
    def lists(self) -> ListQueries:
        """See `store.looking.lists.ListQueries`."""
        from store.looking.lists import ListQueries

        return ListQueries(self._db)

    @cached_property
    def details(self) -> DetailQueries:
        """See `store.looking.details.DetailQueries`."""
        from store.looking.details import DetailQueries

        return DetailQueries(self._db)

    @cached_property
    def history(self) -> HistoryQueries:
        """See `store.looking.history.HistoryQueries`."""
        from store.looking.history import HistoryQueries

        return HistoryQueries(self._db)

    @cached_property
    def pool_changes(self) -> PoolChanges:
        """See `store.looking.pool_change.PoolChanges`."""
        from store.looking.pool_change import PoolChanges

        return PoolChanges(self._db)

    def desk(self, judge: str, *, program: str = "") -> Desk:
        """Return the desk of a judge; see `store.judging.desk.Desk`."""
        from store.judging.desk import Desk

        return Desk(self._db.engine, judge, self.scale, program=program)

    def adjudication_desk(
        self, judge: str, *, selection: Selection | None = None, program: str = ""
    ) -> AdjudicationDesk:
        """Return the desk of an adjudicator; see `store.judging.adjudication.AdjudicationDesk`."""
        from store.judging.adjudication import AdjudicationDesk
        from store.judging.disagreements import ALL

        wanted = ALL if selection is None else selection
        return AdjudicationDesk(self._db.engine, judge, self.scale, program=program, selection=wanted)

    def merge(
        self,
        others: Sequence[str],
        wanted: HowToSettle | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Merged:
        """Bring copies together in this collection; see `store.keeping.merge.merge.merge`."""
        from store.keeping.directory.tables import no_progress
        from store.keeping.merge.histories import HowToSettle
        from store.keeping.merge.merge import merge

        urls = [collection_url(other) for other in others]
        shown = progress or no_progress
        return merge(self._db.engine, urls, wanted or HowToSettle(), dry_run=dry_run, progress=shown)

    def verify(self, *, progress: Progress | None = None) -> list[Verified]:
        """Check it against its own rules; see `store.keeping.verify.verify`."""
        from store.keeping.directory.tables import no_progress
        from store.keeping.verify import verify

        return verify(self._db.engine.url, progress=progress or no_progress)

    def hand_out(
        self, judge: str, file: Path, *, program: str, progress: Progress | None = None
    ) -> HandedOut:
        """Make a collection of one judge's documents; see `store.keeping.work_copy.hand_out`."""
        from store.keeping.directory.tables import no_progress
        from store.keeping.work_copy import hand_out

        shown = progress or no_progress
        return hand_out(self._db.engine, judge, file, program=program, progress=shown)
