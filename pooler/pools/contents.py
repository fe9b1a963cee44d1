"""What a pool is made of, who brought what, and the annotated pool: at which rank, with which score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pooler.pools.runs import RunFacts, RunSet, TopicRuns
from pooler.reading.tops import TieAtCut
from pooler.strategies.fixed import n_constant_rankings
from store.analysis.pools.contributions import NO_DOCUMENT, best_ranks, only_contributor, unique_contributions
from store.records import Pool
from store.text import natural_key

IsRelevant = Mapping[tuple[str, str], bool]
"""(topic, docno) to whether it is relevant, for every pair that is judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each of several runs, or groups of runs, brought to a depth pool."""

    names: list[str]
    documents: NDArray[np.int64]
    """Shape (n_names, n_topics), as the next five: documents it has within the depth, alone or not."""
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]
    unique: NDArray[np.int64]
    unique_judged: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class DepthCurve:
    """The depth pool at every depth; index ``k - 1`` of each array is depth k."""

    pairs: NDArray[np.int64]
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]
    unique: NDArray[np.int64]
    """Pairs that one run alone brought."""


def contributions(
    runs: RunSet, is_relevant: IsRelevant, *, depth: int, by_group: bool = False
) -> Contributions:
    """Count what runs or groups brought to the pool of one depth.

    A pair is unique to a group when every run that has it belongs to it; a run without a group is one of its
    own.
    """
    owners = [run.group or run.tag if by_group else run.tag for run in runs.feeding]
    names = sorted(set(owners))
    codes = np.array([names.index(owner) for owner in owners], np.int64)
    counts = np.zeros((6, len(names), len(runs.topics)), np.int64)
    for place, topic in enumerate(runs.topics):
        of_topic = runs.of_topic(topic)
        documents = of_topic.rankings.documents[:, :depth]
        n_documents, owners_here = of_topic.rankings.n_documents, codes[of_topic.runs]
        judged, relevant = _grades(of_topic, is_relevant)
        for code in np.unique(owners_here).tolist():
            own = documents[owners_here == code]
            has = np.zeros(n_documents, np.bool_)
            has[own[own != NO_DOCUMENT]] = True
            for row, kept in enumerate((has, has & judged, has & relevant)):
                counts[row, code, place] = np.count_nonzero(kept)
        owner_of = only_contributor(documents, n_documents, owners_here)
        alone = owner_of >= 0
        for row, kept in enumerate((alone, alone & judged, alone & relevant), start=3):
            counts[row, :, place] = np.bincount(owner_of[kept], minlength=len(names))
    return Contributions(names, *counts)


def depth_curve(runs: RunSet, is_relevant: IsRelevant) -> DepthCurve:
    """Count the pool at every depth up to that of the runs, in one pass."""
    curve = np.zeros((4, runs.depth), np.int64)
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        documents = of_topic.rankings.documents
        enters = best_ranks(documents, of_topic.rankings.n_documents)
        judged, relevant = _grades(of_topic, is_relevant)
        for row, kept in enumerate((np.ones(enters.size, np.bool_), judged, relevant)):
            entering = np.bincount(enters[kept], minlength=runs.depth + 1)[1:]
            curve[row] += np.cumsum(entering)
        unique = unique_contributions(documents).sum(axis=0)
        curve[3, : unique.size] += unique
        curve[3, unique.size :] += unique[-1] if unique.size else 0
    return DepthCurve(*curve)


def _grades(of_topic: TopicRuns, is_relevant: IsRelevant) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    topic = of_topic.rankings.topic
    found = [is_relevant.get((topic, docno)) for docno in of_topic.docnos]
    judged = np.array([one is not None for one in found], np.bool_)
    return judged, np.array([bool(one) for one in found], np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class TopicContents:
    """What the pool of one topic is made of."""

    topic: str
    size: int
    overlap: NDArray[np.int64]
    """Documents to judge by the number of runs that returned them, from 0."""
    runs: list[int]
    unique: NDArray[np.int64]
    """Shape (len(runs),): documents to judge that no other run returned."""
    n_not_sampled: int
    n_constant: int
    is_below_budget: bool


def topic_contents(
    of_topic: TopicRuns, to_judge: Collection[str], *, n_listed: int, budget: int | None
) -> TopicContents:
    """Count a topic: of `n_listed` documents those that are to be judged, of a `budget` if any."""
    rankings = of_topic.rankings
    known = set(to_judge)
    chosen = np.array([docno in known for docno in of_topic.docnos], np.bool_)
    n_returning = rankings.n_returning()
    unique_places = (chosen & (n_returning == 1))[rankings.documents] & (rankings.documents != NO_DOCUMENT)
    return TopicContents(
        rankings.topic,
        len(known),
        np.bincount(n_returning[chosen]),
        of_topic.runs,
        unique_places.sum(axis=1),
        n_listed - len(known),
        0 if rankings.scores is None else n_constant_rankings(rankings),
        budget is not None and rankings.n_documents < budget,
    )


class PoolStatistics:
    """What a pool is made of, while it is built. Runs that do not contribute are not counted."""

    def __init__(self, runs: RunSet) -> None:
        self._runs = runs
        self.sizes: dict[str, int] = {}
        """Documents to judge by topic, topics in natural order."""
        self._overlap = np.zeros(len(runs.feeding) + 1, np.int64)
        self._unique = np.zeros(len(runs.feeding), np.int64)
        self.n_below_budget = 0
        """Topics with fewer documents than their budget."""
        self.n_not_sampled = 0
        """Pairs that stand in a stratum, but were not sampled."""
        self.n_constant = 0
        """Rankings whose scores are all equal, where the strategy looks at scores."""

    def add(self, counts: TopicContents) -> None:
        """Add one topic."""
        self.sizes[counts.topic] = counts.size
        self._overlap[: counts.overlap.size] += counts.overlap
        self._unique[counts.runs] += counts.unique
        self.n_below_budget += counts.is_below_budget
        self.n_not_sampled += counts.n_not_sampled
        self.n_constant += counts.n_constant

    @property
    def total(self) -> int:
        """(topic, docno) pairs to judge."""
        return sum(self.sizes.values())

    @property
    def ties_at_cut(self) -> list[TieAtCut]:
        """Rankings in which a tie rule decided what is in, by run tag, then topic."""
        return self._runs.ties_at_cut()

    @property
    def overlap(self) -> dict[int, int]:
        """Pairs by the number of runs that returned them, that number ascending."""
        return {count: pairs for count, pairs in enumerate(self._overlap.tolist()) if pairs}

    @property
    def unique(self) -> dict[str, int]:
        """Pairs that no other run returned, by run tag; every contributing run has its key."""
        return dict(zip((run.tag for run in self._runs.feeding), self._unique.tolist(), strict=True))

    @property
    def n_rankings(self) -> int:
        """Rankings: one for every run and each of its topics."""
        return int(self._runs.lengths().size)

    @property
    def n_short(self) -> int:
        """Rankings with fewer documents than the depth."""
        return int((self._runs.lengths() < self._runs.depth).sum())


def brought_by(
    runs: RunSet, pairs: Collection[tuple[str, str]]
) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Return which runs returned documents: their ranks and tags, the best rank first."""
    wanted: dict[str, set[str]] = {}
    for topic, docno in pairs:
        wanted.setdefault(topic, set()).add(docno)
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for topic in filter(wanted.__contains__, runs.topics):
        for row in _rows(runs.feeding, runs.of_topic(topic), wanted[topic]):
            found.setdefault((topic, row.docno), []).append((row.rank, row.run))
    return {pair: sorted(bringers) for pair, bringers in found.items()}


def brought_alone(runs: RunSet, tag: str, pooled: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """List the documents of a pool that only one of its runs returned: topic, docno, its rank from 1."""
    place = [run.tag for run in runs.feeding].index(tag)
    known = set(pooled)
    alone = []
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        if place not in of_topic.runs:
            continue
        rankings = of_topic.rankings
        own = rankings.documents[of_topic.runs.index(place)]
        own = own[own != NO_DOCUMENT]
        unique = rankings.n_returning()[own] == 1
        alone += [
            (topic, of_topic.docnos[number], rank + 1)
            for rank, number in zip(np.flatnonzero(unique).tolist(), own[unique].tolist(), strict=True)
            if (topic, of_topic.docnos[number]) in known
        ]
    return alone


NOTHING = "-"
"""No group; and, in a line of its own, no run that has the document."""

UNJUDGED = "unjudged"
"""The word for a document without a judgement."""


class AnnotatedRow(NamedTuple):
    """A document, and a run that has it."""

    topic: str
    docno: str
    run: str
    group: str
    """Empty = none."""
    rank: int
    score: float

    @property
    def text(self) -> str:
        """A line of the annotated pool, without line end."""
        return f"{self.topic} {self.docno} {self.run} {self.group or NOTHING} {self.rank} {self.score!r}"


def annotated_lines(runs: RunSet, pool: Pool) -> Iterator[str]:
    """Yield ``topic docno run group rank score`` for each document of a pool and each run that put it there.

    A format of its own, after the annotated pools of NIST (`topic docno run pid rank sim rel`): ``-`` stands
    for no group, and scores have the fewest digits that give the same float64 back.
    """
    pooled = _pooled(pool)
    wanted = {topic: pooled.get(topic, set()) for topic in runs.topics}
    for lines in runs.for_each_topic(partial(_lines, runs.feeding), wanted, scores=True):
        yield from lines


def graded_lines(runs: RunSet | None, pool: Pool, grades: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the lines of `annotated_lines` with a grade behind each; no document is left out.

    `grades`: how (topic, docno) stand: a grade, or a word for why there is none; a document that is not in it
    is `UNJUDGED`. A document that no run has is on one line with ``-`` for run, group, rank and score.
    """
    known = frozenset() if runs is None else frozenset(runs.topics)
    for topic, docnos in sorted(_pooled(pool).items(), key=lambda item: natural_key(item[0])):
        lines: dict[str, list[str]] = {}
        if runs is not None and topic in known:
            for row in _rows(runs.feeding, runs.of_topic(topic, scores=True), docnos):
                lines.setdefault(row.docno, []).append(row.text)
        for docno in sorted(docnos):
            grade = grades.get((topic, docno), UNJUDGED)
            nothing = f"{topic} {docno} {NOTHING} {NOTHING} {NOTHING} {NOTHING}"
            for line in lines.get(docno, [nothing]):
                yield f"{line} {grade}"


def annotated_rows(runs: RunSet) -> Iterator[AnnotatedRow]:
    """Yield every document of the contributing runs, once for each run that has it."""
    for topic in runs.topics:
        yield from _rows(runs.feeding, runs.of_topic(topic, scores=True), None)


def _pooled(pool: Pool) -> dict[str, set[str]]:
    pooled: dict[str, set[str]] = {}
    for entry in pool.entries:
        if entry.sampled:
            pooled.setdefault(entry.topic, set()).add(entry.docno)
    return pooled


def _lines(feeding: Sequence[RunFacts], of_topic: TopicRuns, wanted: AbstractSet[str]) -> list[str]:
    return [row.text for row in _rows(feeding, of_topic, wanted)]


def _rows(
    feeding: Sequence[RunFacts], of_topic: TopicRuns, wanted: AbstractSet[str] | None
) -> Iterator[AnnotatedRow]:
    documents, scores = of_topic.rankings.documents, of_topic.rankings.scores
    is_listed = documents != NO_DOCUMENT
    if wanted is not None:
        is_wanted = np.array([docno in wanted for docno in of_topic.docnos] + [False])
        is_listed &= is_wanted[documents]  # the padding is -1, and takes the last
    rows, places = np.nonzero(is_listed)
    numbers = documents[rows, places]
    worth = np.zeros(numbers.size) if scores is None else scores[rows, places]
    sources = [feeding[place] for place in of_topic.runs]
    for index in np.lexsort((rows, numbers)).tolist():
        run = sources[rows[index]]
        yield AnnotatedRow(
            of_topic.rankings.topic,
            of_topic.docnos[numbers[index]],
            run.tag,
            run.group,
            int(places[index]) + 1,
            float(worth[index]),
        )
