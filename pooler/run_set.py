"""Runs at one depth and in one order, topic by topic: what pools are built from.

The runs may come from files or from a collection; a pool cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pooler.top_ranking import RunTop, TieAtCut
from pooler.topic_rankings import NO_DOCUMENT, TopicRankings
from store.errors import ArgumentError, PoolerError
from store.natural_order import natural_key
from store.ranking import Order


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run, without its documents."""

    tag: str
    group: str
    contributes: bool
    file: str
    """File name without its folder."""
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


class RunSet(Protocol):
    """Runs at one depth and in one order."""

    @property
    def depth(self) -> int:
        """Ranks taken from each run."""

    @property
    def order(self) -> Order:
        """What orders the runs."""

    @property
    def runs(self) -> Sequence[RunFacts]:
        """All runs, by tag."""

    @property
    def feeding(self) -> Sequence[RunFacts]:
        """The runs that contribute, by tag."""

    @property
    def topics(self) -> Sequence[str]:
        """The topics of the runs that contribute, in natural order."""

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic, those of runs that contribute; `scores` if asked."""

    def ties_at_cut(self) -> list[TieAtCut]:
        """List the ties across the cut in runs that contribute, by tag, then topic."""

    def lengths(self) -> NDArray[np.int64]:
        """Return the whole length of every ranking of the runs that contribute, in any order."""


class FileRuns:
    """Runs read from files (`pooler.top.read_tops`).

    Parameters
    ----------
    tops : sequence of RunTop
        In any order, all read at one depth and order, each with its own tag; one contributes.

    Raises
    ------
    ArgumentError
        If no run contributes, or the runs differ in depth or order.
    PoolerError
        If two runs have the same tag.
    """

    def __init__(self, tops: Sequence[RunTop]) -> None:
        by_tag = sorted(tops, key=lambda top: top.tag)
        self._tops = [top for top in by_tag if top.contributes]
        self.runs = [_facts(top) for top in by_tag]
        check_feeding(self.runs)
        self.depth = by_tag[0].depth
        self.order = by_tag[0].order
        for top in by_tag:
            if (top.depth, top.order) != (self.depth, self.order):
                requirement = f"must be read at depth {self.depth} and order {self.order} alike"
                got = f"depth {top.depth} and order {top.order} for `{top.tag}`"
                raise ArgumentError("runs", requirement, got)
        for top, following in pairwise(by_tag):
            if top.tag == following.tag:
                files = sorted((top.file, following.file))
                message = f"run tag `{top.tag}` is that of two files, `{files[0]}` and `{files[1]}`"
                is_same = top.sha256 == following.sha256
                hint = "the files have the same bytes: leave one out" if is_same else None
                raise PoolerError(message, hint=hint)
        self.feeding = [run for run in self.runs if run.contributes]
        found = {topic for top in self._tops for topic in top.topics}
        self.topics = sorted(found, key=natural_key)

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic; O(n log n) for n documents taken."""
        rows = [row for row, top in enumerate(self._tops) if topic in top.topics]
        rankings = [self._tops[row].topics[topic] for row in rows]
        taken = [ranking.docnos for ranking in rankings]
        docnos = sorted(set().union(*taken))
        numbers = dict(zip(docnos, range(len(docnos)), strict=True))
        shape = (len(taken), max(map(len, taken), default=0))
        documents = np.full(shape, NO_DOCUMENT, np.int32)
        for place, of_run in enumerate(taken):
            documents[place, : len(of_run)] = np.fromiter(
                map(numbers.__getitem__, of_run), np.int32, len(of_run)
            )
        table = None
        if scores:
            table = np.full(shape, np.nan)
            for place, ranking in enumerate(rankings):
                table[place, : len(taken[place])] = ranking.scores
        return TopicRuns(TopicRankings(documents, len(docnos), table, topic), docnos, rows)

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


def check_feeding(runs: Sequence[RunFacts]) -> None:
    """Raise `ArgumentError` when none of the runs contributes."""
    if not any(run.contributes for run in runs):
        raise ArgumentError("runs", "must hold a run that contributes", [run.tag for run in runs])


def _facts(top: RunTop) -> RunFacts:
    """Say what a run is."""
    return RunFacts(
        top.tag, top.group, top.contributes, top.file, top.sha256, len(top.topics), top.n_lines
    )
