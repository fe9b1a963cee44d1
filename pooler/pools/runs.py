"""Runs at one depth and order, of files or of a collection: a pool does not distinguish them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from pooler.reading.tops import RunTop, TieAtCut, TopRanking
from pooler.strategies.rankings import TopicRankings, rankings_of
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import ArgumentError, PoolerError
from store.records import Order
from store.text import natural_key

if TYPE_CHECKING:
    from store.analysis.arrays import TopDocuments
    from store.collection import Collection

Given = TypeVar("Given")
Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run, without its documents."""

    tag: str
    group: str
    contributes: bool
    file: str
    sha256: str
    n_topics: int
    n_documents: int
    """Of the whole run, over all topics."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicRuns:
    """One topic's rankings, and what their numbers mean."""

    rankings: TopicRankings
    docnos: list[str]
    """By document number, ascending bytewise."""
    runs: list[int]
    """For each row of `TopicRankings.documents`, the place of its run in `RunSet.feeding`."""


class RunSet(ABC):
    """Runs at one depth and in one order; one at least contributes."""

    topics: Sequence[str]
    """The topics of the runs that contribute, in natural order."""

    def __init__(self, runs: Sequence[RunFacts], depth: int, order: Order) -> None:
        self.runs = runs
        """All runs, by tag."""
        self.feeding = [run for run in runs if run.contributes]
        """The runs that contribute, by tag."""
        self.depth = depth
        """Ranks taken from each run."""
        self.order: Order = order

    @abstractmethod
    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic, those of runs that contribute; `scores` if asked."""

    def for_each_topic(
        self, task: Callable[[TopicRuns, Given], Output], given: Mapping[str, Given], *, scores: bool = False
    ) -> Iterator[Output]:
        """Yield what a task makes of the rankings of each topic, topics in natural order."""
        for topic in self.topics:
            yield task(self.of_topic(topic, scores=scores), given[topic])

    @abstractmethod
    def ties_at_cut(self) -> list[TieAtCut]:
        """List the ties across the cut in runs that contribute, by tag, then topic."""

    @abstractmethod
    def lengths(self) -> NDArray[np.int64]:
        """Return the whole length of every ranking of the runs that contribute, in any order."""


class FileRuns(RunSet):
    """Runs read from files, at one depth and order, each with its own tag; one at least contributes."""

    def __init__(self, tops: Sequence[RunTop]) -> None:
        by_tag = sorted(tops, key=lambda top: top.tag)
        facts = [
            RunFacts(
                *(top.tag, top.group, top.contributes, top.file, top.sha256), len(top.topics), top.n_lines
            )
            for top in by_tag
        ]
        check_feeding(facts)
        super().__init__(facts, by_tag[0].depth, by_tag[0].order)
        self._tops = [top for top in by_tag if top.contributes]
        for top, following in pairwise(by_tag):
            if top.tag == following.tag:
                files = sorted((top.file, following.file))
                message = f"run tag `{top.tag}` is that of two files, `{files[0]}` and `{files[1]}`"
                is_same = top.sha256 == following.sha256
                hint = "the files have the same bytes: leave one out" if is_same else None
                raise PoolerError(message, hint=hint)
        found = {topic for top in self._tops for topic in top.topics}
        self.topics = sorted(found, key=natural_key)

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic; O(n log n) for n documents taken."""
        tops = [(row, top.topics[topic]) for row, top in enumerate(self._tops) if topic in top.topics]
        return topic_runs(topic, tops, scores=scores)

    def ties_at_cut(self) -> list[TieAtCut]:
        """List the ties across the cut, by tag, then topic."""
        return [
            TieAtCut(top.tag, topic, top.topics[topic].n_tied_in, top.topics[topic].n_tied_out)
            for top in self._tops
            for topic in sorted(top.topics, key=natural_key)
            if top.topics[topic].n_tied_in
        ]

    def lengths(self) -> NDArray[np.int64]:
        """Return the whole length of every ranking."""
        return np.array(
            [ranking.n_documents for top in self._tops for ranking in top.topics.values()], np.int64
        )


def topic_runs(topic: str, tops: Sequence[tuple[int, TopRanking]], *, scores: bool = False) -> TopicRuns:
    """Put the rankings of one topic together: the places of their runs in `RunSet.feeding`, ascending."""
    taken = [top.docnos for _, top in tops]
    values = [top.scores for _, top in tops] if scores else None
    rankings, docnos = rankings_of(taken, values, topic=topic)
    return TopicRuns(rankings, docnos, [row for row, _ in tops])


def check_feeding(runs: Sequence[RunFacts]) -> None:
    """Raise `ArgumentError` when none of the runs contributes."""
    if not any(run.contributes for run in runs):
        raise ArgumentError("runs", "must hold a run that contributes", [run.tag for run in runs])


def numbered(
    taken: Sequence[NDArray[np.int64]], docnos: Mapping[int, str], topic: str
) -> tuple[TopicRankings, NDArray[np.int64]]:
    """Turn rankings of ids into numbers by docno; return with them the id of each number."""
    shape = (len(taken), max((row.size for row in taken), default=0))
    present, places = np.unique(np.concatenate([np.zeros(0, np.int64), *taken]), return_inverse=True)
    names = [docnos[one] for one in present.tolist()]
    by_docno = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    numbers = np.empty(len(names), np.int32)
    numbers[by_docno] = np.arange(len(names))
    documents = np.full(shape, NO_DOCUMENT, np.int32)
    lengths = np.array([row.size for row in taken], np.int64)
    # A boolean mask is filled row by row: the order in which `taken` was joined.
    documents[np.arange(shape[1]) < lengths[:, np.newaxis]] = numbers[places]
    return TopicRankings(documents, len(names), topic=topic), present[by_docno]


class StoredRuns(RunSet):
    """Runs of a collection, the first documents of those that contribute."""

    def __init__(
        self,
        runs: Sequence[RunFacts],
        top: TopDocuments,
        docnos: Mapping[int, str],
        *,
        depth: int,
        order: Order,
    ) -> None:
        super().__init__(runs, depth, order)
        self._top = top
        self._docnos = docnos
        self._columns = {topic: column for column, topic in enumerate(top.topics)}
        self.topics = [topic for topic, column in self._columns.items() if top.lengths[:, column].any()]

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic; O(n log n) for n documents taken."""
        column = self._columns[topic]
        rows = np.flatnonzero(self._top.lengths[:, column])
        taken = [ids[ids >= 0] for ids in self._top.ids[rows, column]]
        rankings, present = numbered(taken, self._docnos, topic)
        if scores:
            if self._top.scores is None:
                raise ArgumentError("scores", "must have been loaded with the runs", None)
            rankings = replace(rankings, scores=self._top.scores[rows, column, : rankings.depth])
        return TopicRuns(rankings, [self._docnos[one] for one in present.tolist()], rows.tolist())

    def ties_at_cut(self) -> list[TieAtCut]:
        """List the ties across the cut, by tag, then topic."""
        return [
            TieAtCut(
                self._top.tags[row],
                self._top.topics[column],
                int(self._top.tied_in[row, column]),
                int(self._top.tied_out[row, column]),
            )
            for row, column in np.argwhere(self._top.tied_in).tolist()
        ]

    def lengths(self) -> NDArray[np.int64]:
        """Return the whole length of every ranking."""
        lengths: NDArray[np.int64] = self._top.lengths[self._top.lengths > 0].astype(np.int64)
        return lengths


def stored_runs(
    collection: Collection,
    *,
    depth: int,
    order: Order,
    tags: Sequence[str] | None = None,
    scores: bool = False,
) -> StoredRuns:
    """Load the first documents of a collection's runs.

    `tags`: these runs, and all of them contribute; default every run, each as the collection says.
    """
    sizes = collection.runs.sizes()
    facts = [
        RunFacts(
            run.tag,
            run.group,
            run.contributes or tags is not None,
            run.file,
            run.sha256,
            *sizes.get(run.tag, (0, 0)),
        )
        for run in collection.runs.all(() if tags is None else tags)
    ]
    if not facts:
        raise PoolerError("there is no run in the collection", hint="pooler import runs, or name run files")
    check_feeding(facts)
    feeding = [run.tag for run in facts if run.contributes]
    top = collection.runs.top(feeding, depth=depth, order=order, scores=scores)
    present = np.unique(top.ids)
    docnos = collection.documents.names(present[present >= 0].tolist())
    return StoredRuns(facts, top, docnos, depth=depth, order=order)
