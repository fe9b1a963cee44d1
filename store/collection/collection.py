"""Collection: the one object the command line talks to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from store.analysis.arrays import TopDocuments
from store.collection.measured import MeasuredCollection
from store.collection.portable import PortableCollection
from store.collection.scored import ScoredCollection
from store.collection.watched import WatchedCollection
from store.content import documents, draws, pools, rankings, runs, topics
from store.content import rankings as whole_runs
from store.content import topics as guidelines
from store.content.draws import Choose
from store.content.runs import StoredRun
from store.db.document_numbers import NumberedDocuments
from store.db.engine import reading, writing
from store.db.keys import fetch_docnos
from store.db.packing import PackedRanking
from store.errors import ArgumentError
from store.judging import adjudication, effort, judges, rejudging
from store.judging import events as judgements
from store.judging.adjudication import AdjudicationDesk
from store.judging.desk import Desk
from store.judging.disagreements import ALL, CellCount, Selection, count_cells
from store.judging.effort import Effort
from store.judging.rejudging import Outdated, OutdatedList, Why
from store.keeping.histories import import_states
from store.ranking import Order, check_order
from store.records import (
    Document,
    Guideline,
    ImportReport,
    JudgeKind,
    Judgement,
    Pool,
    PoolEntry,
    Qrel,
    Ranking,
    Run,
    Topic,
)


class Collection(MeasuredCollection, PortableCollection, ScoredCollection, WatchedCollection):
    """A test collection: one SQLite file or one PostgreSQL database; see `OpenCollection`.

    Notes
    -----
    Every method is one transaction: it does all it says or, on any error, nothing.
    """

    def add_topics(self, records: Sequence[Topic], *, replace: bool = False) -> ImportReport:
        """Add topics; see `store.content.topics.add_topics`."""
        with self._importing() as session:
            return topics.add_topics(session, self._topics, records, replace=replace)

    def listed_topics(self) -> set[str]:
        """Return the topic ids that a topics file named."""
        with reading(self._engine) as session:
            return topics.listed_topics(session)

    def add_documents(
        self, records: Iterable[Document], *, all_texts: bool = False, replace: bool = False
    ) -> ImportReport:
        """Add documents; see `store.content.documents.add_documents`."""
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

    def add_run(self, run: Run, *, replace: bool = False) -> ImportReport:
        """Add a run; see `store.content.rankings.add_run`."""
        with self._importing() as session:
            return whole_runs.add_run(session, self._topics, self._documents, run, replace=replace)

    def add_rankings(
        self, run: StoredRun, rankings: Iterable[Ranking], *, replace: bool = False
    ) -> ImportReport:
        """Add a run whose rankings come one at a time; see `store.content.runs.add_rankings`."""
        with self._importing() as session:
            packed = whole_runs.pack_rankings(session, self._documents, rankings)
            return runs.add_rankings(session, self._topics, run, packed, replace=replace)

    def add_packed_run(
        self,
        run: StoredRun,
        rankings: Iterable[PackedRanking],
        numbered: NumberedDocuments,
        *,
        replace: bool = False,
    ) -> ImportReport:
        """Add a run whose reader packed it and numbered its documents, as `add_rankings` does."""
        with self._importing() as session:
            packed = whole_runs.with_row_ids(session, self._documents, rankings, numbered)
            report = runs.add_rankings(session, self._topics, run, packed, replace=replace)
        numbered.settle()
        return report

    def run_sizes(self) -> dict[str, tuple[int, int]]:
        """Return topics and documents of every whole run, by tag."""
        with reading(self._engine) as session:
            return runs.fetch_run_sizes(session)

    def read_run(self, stored: StoredRun) -> Run:
        """Return a whole run as its file gave it."""
        with self._reading() as session:
            return whole_runs.fetch_run(session, self._topics, self._documents, stored)

    def top_documents(
        self, tags: Sequence[str] = (), *, depth: int | None, order: Order = "trec", scores: bool = False
    ) -> TopDocuments:
        """Return the first documents of the named runs (default all) as arrays of document ids.

        `depth` ``None`` = all of them; see `store.content.rankings.fetch_top_documents`. Docnos stay in
        the database, see `docnos`.

        Raises
        ------
        UnknownNameError
            If a tag is not known.
        ArgumentError
            If an argument cannot be used; also when order ``rank`` is asked of a run whose stated
            ranks are not all integers.
        """
        if depth is not None and depth < 1:
            raise ArgumentError("depth", "must be an integer >= 1", depth)
        check_order(order)
        with reading(self._engine) as session:
            self._topics.refresh(session)
            known = [run.tag for run in runs.check_tags(session, tags)]
            return rankings.fetch_top_documents(
                session, self._topics, known, depth=depth, order=order, scores=scores
            )

    def docnos(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the docnos of some document ids; ids that no document has are left out."""
        with reading(self._engine) as session:
            return fetch_docnos(session, ids)

    def add_pool(self, pool: Pool) -> bool:
        """Add a pool; see `store.content.pools.add_pool`."""
        with self._importing() as session:
            return pools.add_pool(session, self._topics, self._documents, pool)

    def draw(self, pool: str, topic: str, choose: Choose) -> str | None:
        """Draw the next document of an adaptive pool; see `store.content.draws.draw`."""
        with writing(self._engine) as session:
            return draws.draw(session, pool=pool, topic=topic, choose=choose)

    def add_pool_by_topic(self, batches: Iterable[Sequence[PoolEntry]], finish: Callable[[], Pool]) -> bool:
        """Add a pool as it is built; see `store.content.pools.add_pool_by_topic`."""
        with self._importing() as session:
            keys = self._topics, self._documents
            return pools.add_pool_by_topic(session, *keys, batches, finish)

    def withdraw_pool(self, name: str) -> bool:
        """Withdraw a pool; see `store.content.pools.withdraw_pool`."""
        with writing(self._engine, bulk=True) as session:
            return pools.withdraw_pool(session, name)

    def count_judged(self, pool: str) -> int:
        """Count the documents to judge of a pool that some judge has graded."""
        with reading(self._engine) as session:
            return judgements.count_judged(session, pool)

    def unpool(self, tag: str, alone: Mapping[str, pools.Pairs]) -> None:
        """Take a run out of pools; see `store.content.pools.remove_run`."""
        with self._importing() as session:
            pools.remove_run(session, self._topics, self._documents, tag, alone)

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

    def import_judgements(
        self,
        by_judge: Mapping[str, Sequence[Qrel]],
        kind: JudgeKind,
        *,
        pool: Pool | None = None,
        states: Sequence[Judgement] = (),
        replace: bool = False,
        advance: Callable[[int], None] = judgements.no_advance,
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
        states : sequence of Judgement
            What the judges skipped or could not judge; none of the documents is in `by_judge`.
        replace : bool, default=False
            Whether what differs from what is stored is appended as a revision.
        advance : callable
            Told of so many more judgements that are done.

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
                    session, self._topics, self._documents, judge, qrels, replace=replace, advance=advance
                )
            if states:
                kinds = dict.fromkeys((one.judge for one in states), kind)
                total += import_states(session, self._topics, self._documents, states, kinds, replace=replace)
            return total

    def judgements(self, judge_names: Sequence[str] | None = None) -> list[Judgement]:
        """Return the current state of every (topic, docno, judge) that has an event."""
        with self._reading() as session:
            return judgements.fetch_judgements(session, self._topics, self._documents, judges=judge_names)

    def effort(self) -> list[Effort]:
        """Return what judging cost every judge; see `store.judging.effort.fetch_effort`."""
        with reading(self._engine) as session:
            return effort.fetch_effort(session)

    def outdated(
        self, judge_names: Sequence[str] = (), topic_ids: Sequence[str] = (), why: Sequence[Why] = ()
    ) -> OutdatedList:
        """Return judgements to be made again; see `store.judging.rejudging.find_outdated`."""
        with reading(self._engine) as session:
            return rejudging.find_outdated(session, judges=judge_names, topics=topic_ids, why=why)

    def reopen_outdated(
        self, judge_names: Sequence[str] = (), topic_ids: Sequence[str] = (), why: Sequence[Why] = ()
    ) -> list[Outdated]:
        """Put such judgements back into queues; see `store.judging.rejudging.reopen_outdated`."""
        with writing(self._engine, bulk=True) as session:
            return rejudging.reopen_outdated(session, judges=judge_names, topics=topic_ids, why=why)

    def add_guideline(self, text: str) -> tuple[Guideline, bool]:
        """Add a version of the guidelines; see `store.content.topics.add_guideline`."""
        with writing(self._engine, bulk=True) as session:
            return guidelines.add_guideline(session, text)

    def guideline(self, version: int | None = None) -> Guideline:
        """Return a version of the guidelines, default the newest, its text raw."""
        with reading(self._engine) as session:
            return guidelines.fetch_guideline(session, version)

    def guidelines(self) -> list[Guideline]:
        """Return every version of the guidelines, the oldest first, texts raw."""
        with reading(self._engine) as session:
            return guidelines.fetch_guidelines(session)

    def desk(self, judge: str, *, program: str = "") -> Desk:
        """Return the desk of a judge; see `store.judging.desk.Desk`."""
        return Desk(self._engine, judge, self.scale, program=program)

    def adjudication_desk(
        self, judge: str, *, selection: Selection = ALL, program: str = ""
    ) -> AdjudicationDesk:
        """Return the desk of an adjudicator; see `store.judging.adjudication.AdjudicationDesk`."""
        return AdjudicationDesk(self._engine, judge, self.scale, program=program, selection=selection)

    def disagreement_cells(self, selection: Selection = ALL) -> list[CellCount]:
        """Count the disagreements that are wanted; see `store.judging.disagreements.count_cells`."""
        with reading(self._engine) as session:
            cases = adjudication.fetch_listed(session, selection)
            return count_cells(cases, adjudication.fetch_pair(session, selection))

    def count_deciders(self) -> int:
        """Count the judges who can disagree; see `store.judging.adjudication.count_deciders`."""
        with reading(self._engine) as session:
            return adjudication.count_deciders(session)

    def judge_names(self) -> dict[int, str]:
        """Return the names of all judges by row id, as `Case` has them."""
        with reading(self._engine) as session:
            return adjudication.fetch_judge_names(session)
