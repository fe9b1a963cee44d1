"""Runs and qrels of a collection."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Set, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from pooler.judge_kinds import warn_about_qrels, warn_about_voters, who_judged
from pooler.messages import say
from pooler.sources.judged import GivenQrels, Judged, Level
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.formats.pairs import TopicJudges, read_topic_judges
from store.grades.definition import NamedQrels
from store.records import Order, Run
from store.text import counted

if TYPE_CHECKING:
    from pooler.pools.runs import RunSet
    from store.analysis.arrays import RankedDocuments
    from store.analysis.pools.contributions import FedPool
    from store.collection import Collection
    from store.grades.qrels import FinalQrels

DEFAULT_COLLECTION = "collection.db"


def is_collection(given: object) -> TypeGuard[Collection]:
    """Tell an open collection; who measures files has no database loaded, and no such object."""
    module = sys.modules.get("store.collection")
    return module is not None and isinstance(given, module.Collection)


def named_collection(collection: str | Path | Collection | None) -> dict[str, str]:
    """Return the collection for settings, where it was named."""
    return {"collection": str(collection)} if isinstance(collection, str | Path) else {}


@contextmanager
def opened_collection(collection: str | Path | Collection) -> Iterator[Collection]:
    """Open a collection by its name; one that is open stays so."""
    if is_collection(collection):
        yield collection
        return
    from store.collection import Collection

    with Collection(str(collection)) as opened:
        yield opened


@dataclass(eq=False)
class CollectionRuns:
    """Runs of a collection, by their tags; none = all."""

    tags: Sequence[str]
    collection: str | Collection
    order: Order

    @property
    def rankings(self) -> RankedDocuments:
        """Rankings alone, of all runs."""
        with opened_collection(self.collection) as opened:
            return opened.runs.ranked(order=self.order)

    def beside(self, known: Set[str] | None) -> tuple[RankedDocuments, dict[str, Any]]:  # noqa: ARG002 - of files
        """Return the rankings, with all docnos, and facts of the runs that are fields of `Judged`."""
        with opened_collection(self.collection) as opened:
            try:
                ranked = opened.runs.ranked(self.tags, order=self.order)
            except UnknownNameError as error:
                error.hint = f"there is no file {error.name}, either"
                raise
            check_some_run(ranked.tags)
            return ranked, _facts(opened, ranked)

    def tops(self, depth: int, *, scores: bool, tags: Sequence[str] | None) -> RunSet:
        """Return the first documents of every run; of those with these tags as if they contributed."""
        from pooler.pools.runs import stored_runs

        chosen = tags or self.tags or None
        with opened_collection(self.collection) as opened:
            return stored_runs(opened, depth=depth, order=self.order, tags=chosen, scores=scores)


def _facts(opened: Collection, ranked: RankedDocuments) -> dict[str, Any]:
    chosen = [run for run in opened.runs.all() if run.tag in ranked.tags]
    return {
        "feeding": tuple(run.tag for run in chosen if run.contributes),
        "groups": {run.tag: run.group for run in chosen},
    }


@dataclass(eq=False)
class CollectionQrels:
    """Qrels of a collection, as a definition makes them."""

    named: NamedQrels
    collection: str | Collection
    level: Level

    def _final(self, opened: Collection, level: int) -> tuple[FinalQrels, int]:
        """Return the qrels, and the least relevant of their grades; grades, or sums, where they can be."""
        from store.grades.qrels import check_sum

        definition = self.named.definition
        final = opened.grades.final(definition, level if definition.binary_first else None)
        if definition.aggregate == "sum":
            check_sum(final.all_votes, level)
        return final, 1 if definition.binary_first else level

    def decided(self, opened: Collection) -> tuple[FinalQrels, int]:
        """Return the qrels, and the least relevant of their grades; say whose they are."""
        level = self.named.definition.level_on(opened.scale, self.level)
        final, least = self._final(opened, level)
        self._tell(opened, final, level)
        return final, least

    def read(self) -> GivenQrels:
        """Read the qrels, for runs of files."""
        definition = self.named.definition
        with opened_collection(self.collection) as opened:
            final, least = self.decided(opened)
            pooled: dict[str, list[str]] = {}
            for topic, docno in (*final.left_out, *opened.grades.open_pairs(final.all_votes, definition)):
                pooled.setdefault(topic, []).append(docno)
        voters = final.all_votes.voters
        return GivenQrels(self.named.label, final.rows, least, pooled, final.left_out, voters=voters)

    def beside(self, runs: CollectionRuns, hint: str, *, docnos: bool) -> Judged:
        """Read the qrels beside runs of the collection, by numbers of documents where these will do."""
        from pooler.sources.meeting import check_stored
        from store.analysis.arrays import grades_by_topic

        definition, label = self.named.definition, self.named.label
        with opened_collection(self.collection) as opened:
            tags = check_no_file_for_a_tag(opened, runs.tags, hint)
            check_some_run(tags)
            for tag in runs.tags:  # or judging would be asked for first
                if tag not in tags:
                    raise UnknownNameError("run", tag, tags)
            level = definition.level_on(opened.scale, self.level)
            sole = None if docnos else opened.grades.sole(definition)
            final, least = (None, level) if sole is not None else self._final(opened, level)
            ranked = opened.runs.ranked(runs.tags, order=runs.order, docnos=final is not None)
            pools = depth_pools(opened)
            if sole is not None:
                grades = sole.by_topic
                facts: dict[str, Any] = {"qrels": (), "level": least, "grades": grades, "voters": sole.voters}
                pooled = opened.grades.ungraded(grades, definition)
                n_rows = counted(sole.n_documents, "judgement")
                say(f"{label}: {n_rows} (judge {sole.judge}), relevant = grade {level} or more")
                warn_about_voters(sole.voters, is_headed=True)
            else:
                assert final is not None
                pooled = opened.grades.ungraded(final.by_topic(), definition)
                self._tell(opened, final, level)
                grades = grades_by_topic(ranked, final.rows)
                facts = {"qrels": final.rows, "level": least, "left_out": final.left_out}
                facts |= {"voters": final.all_votes.voters, **_facts(opened, ranked)}
            check_stored(opened, ranked, grades, runs.order)
            return Judged(ranked, pools=pools, pooled=pooled, **facts)

    def _tell(self, opened: Collection, final: FinalQrels, level: int) -> None:
        """Say whose grades are measured, and warn of what has none."""
        named = self.named
        what = "sum of grades" if named.definition.aggregate == "sum" else "grade"
        n_rows = counted(final.n_documents, "judgement")
        say(f"{named.label}: {n_rows} ({who_judged(final)}), relevant = {what} {level} or more")
        warn_about_qrels(opened, named, final)
        warn_about_voters(final.all_votes.voters, is_headed=True)


def topic_judges_of(opened: Collection, given: TopicJudges) -> dict[str, str]:
    """Return who is primary for each topic: topics and judges of the collection, any other is a fault."""
    topics = {one.topic for one in opened.topics.all()}
    return read_topic_judges(given, topics, {judge.name for judge in opened.judges.all()})


def depth_pools(opened: Collection) -> tuple[FedPool, ...]:
    """Return a collection's depth pools, withdrawn ones left out."""
    from store.analysis.pools.contributions import FedPool

    manifests = [pool.manifest for pool in opened.pools.all() if not pool.withdrawn]
    return tuple(
        FedPool(
            one["parameters"]["depth"],
            frozenset(run["tag"] for run in one["runs"] if run["contributes"]),
            frozenset(one["sizes"]),
            one.get("order", "trec"),
        )
        for one in manifests
        if one.get("strategy") == "depth"
    )


def check_no_file_for_a_tag(opened: Collection, runs: Iterable[str], hint: str) -> set[str]:
    """Return the tags of a collection; raise `PoolerError` where a run file is named for one."""
    tags = {run.tag for run in opened.runs.all()}
    for run in runs:
        if run not in tags and Path(run).is_file():
            raise PoolerError(f"{run} is a file, not a run tag of the collection", hint=hint)
    return tags


def check_some_run(tags: Sized) -> None:
    """Raise `PoolerError` for a collection without runs."""
    if not tags:
        raise PoolerError("there is no run in the collection", hint="pooler import runs")


def check_no_files(runs: Iterable[str | Run], collection: str | Collection, what: str, hint: str) -> None:
    """Raise `PoolerError` for runs in files or memory that neither a collection nor `what` measures."""
    if not isinstance(collection, str) or "://" in collection or Path(collection).exists():
        return
    for run in runs:
        if not isinstance(run, str):
            message = f"run `{run.tag}` is given, and {what} to measure it with"
            raise PoolerError(message, hint="pooler.source(runs, qrels=...)")
        if Path(run).is_file():
            raise PoolerError(f"{run} is a file, and {what} to measure it with", hint=hint)


def check_named(runs: Sequence[str]) -> None:
    """Raise `ArgumentError` where one run alone is named, or one twice."""
    if len(runs) == 1:
        raise ArgumentError("runs", "must name two, or none for all", runs[0])
    for place, tag in enumerate(runs):
        if tag in runs[:place]:
            raise ArgumentError("runs", "must name each run once", tag)
