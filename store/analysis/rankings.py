"""Rankings beside judgements, as arrays: binary at one level, or with grades that serve every level and gain.

A document gets a small code within its topic, so that what is known of it is one lookup. Unjudged and judged
not relevant stay apart: a measure may treat both as not relevant, a report may not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.errors import ArgumentError

Scalar = TypeVar("Scalar", bound=np.generic)

NOT_RETRIEVED = -2
"""Standing of a rank the run does not fill."""
UNJUDGED = -1
NOT_RELEVANT = 0
RELEVANT = 1
Depths = int | NDArray[np.int64]
"""Depth of a pool: one, or that of every run in every topic, shape (n_runs, n_topics)."""

_TABLE_FACTOR = 64
"""Ids are coded through a table unless it would be this many times as long as the ids."""


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """Runs and judgements over the evaluation topics; build it with `judged_rankings`."""

    topics: tuple[str, ...]
    """The evaluation topics: those with judgements."""
    tags: tuple[str, ...]
    documents: NDArray[np.int32]
    """Shape (n_runs, n_topics, width): codes within the topic, in rank order, then -1."""
    lengths: NDArray[np.int64]
    """Shape (n_runs, n_topics): ranks filled; 0 = the run has no document for the topic."""
    states: tuple[NDArray[np.int8], ...]
    """One array a topic, indexed by code: `UNJUDGED`, `NOT_RELEVANT` or `RELEVANT`."""
    n_relevant: NDArray[np.int64]
    """Shape (n_topics,): documents judged relevant, retrieved or not (R of mode ``pool``)."""
    cutoff: int
    """Ranks that count, at least 1. The width is smaller when every run is shorter."""

    def states_by_rank(self, topic: int) -> NDArray[np.int8]:
        """Look up what is known of every rank of one topic, an index into `topics`; shape (n_runs, width).

        `RELEVANT`, `NOT_RELEVANT`, `UNJUDGED`, or `NOT_RETRIEVED` below the end of the run.
        """
        return self.by_rank(topic, self.states[topic], NOT_RETRIEVED)

    def by_rank(self, topic: int, values: NDArray[Scalar], beyond: int = 0) -> NDArray[Scalar]:
        """Look up a value of every document of one topic, by code, at each rank; shape (n_runs, width).

        `beyond` stands below the end of a run.
        """
        # The padding code -1 picks the last element.
        table = np.append(values, values.dtype.type(beyond))
        return table[self.documents[:, topic]]

    def documents_at(self, topic: int, ranks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which documents of one topic, by code, stand at some ranks of runs.

        `ranks`, shape (n_runs, up to the width), may hold some below the end of a run.
        """
        found = np.zeros(self.states[topic].size + 1, np.bool_)
        found[self.documents[:, topic, : ranks.shape[1]][ranks]] = True
        return found[:-1]  # the padding code -1 marked the last element

    def relevant(self) -> NDArray[np.bool_]:
        """Return which ranks hold a relevant document; shape (n_runs, n_topics, width)."""
        return self._at_least(RELEVANT)

    def judged(self) -> NDArray[np.bool_]:
        """Return which ranks hold a judged document, relevant or not; shape (n_runs, n_topics, width)."""
        return self._at_least(NOT_RELEVANT)

    def _at_least(self, least: int) -> NDArray[np.bool_]:
        """Return which ranks hold a document of which at least this is known."""
        found = np.empty(self.documents.shape, dtype=np.bool_)
        for topic in range(len(self.topics)):
            found[:, topic] = self.states_by_rank(topic) >= least
        return found


def judged_rankings(
    topics: Sequence[str],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.int64]],
    judged: Mapping[str, tuple[NDArray[np.int64], NDArray[np.bool_]]],
    *,
    cutoff: int,
) -> JudgedRankings:
    """Put rankings and binary judgements side by side in arrays.

    `topics`, those evaluated, and `tags`, the runs, are in the order of the result. `rankings` has by (tag,
    topic) document ids in rank order, each once; a run without an entry has length 0 there, and others are
    not used. `judged` has for every topic the ids of the judged documents, each once, and whether each is
    relevant, both of shape (n_judged,). Documents below `cutoff`, at least 1, are cut off. Codes ascend with
    the document id. O(m) a topic for m documents retrieved and judged, or O(m log m) where ids are sparse.

    Examples
    --------
    Document 30 is judged not relevant, 10 is unjudged, and run `b` has nothing for the topic:

    >>> lists = {("a", "t1"): np.array([30, 20, 10])}
    >>> grades = {"t1": (np.array([20, 30, 40]), np.array([True, False, True]))}
    >>> arrays = judged_rankings(["t1"], ["a", "b"], lists, grades, cutoff=1000)
    >>> arrays.states_by_rank(0).tolist()
    [[0, 1, -1], [-2, -2, -2]]
    >>> arrays.n_relevant.tolist(), arrays.lengths.tolist()
    ([2], [[3], [0]])
    """
    check_cutoff(cutoff)
    lengths = np.zeros((len(tags), len(topics)), dtype=np.int64)
    for run, tag in enumerate(tags):
        for column, topic in enumerate(topics):
            ranking = rankings.get((tag, topic))
            if ranking is not None:
                lengths[run, column] = min(ranking.size, cutoff)
    width = int(lengths.max(initial=0))
    documents = np.full((len(tags), len(topics), width), -1, dtype=np.int32)
    states: list[NDArray[np.int8]] = []
    n_relevant = np.zeros(len(topics), dtype=np.int64)
    for column, topic in enumerate(topics):
        ids, relevant = judged[topic]
        retrieved = [
            rankings[tag, topic][:cutoff] for run, tag in enumerate(tags) if lengths[run, column] > 0
        ]
        everything = np.concatenate([ids, *retrieved])
        n_known, codes = dense_codes(everything)
        # A boolean mask is filled row by row: the order in which `retrieved` was gathered.
        filled = np.arange(width) < lengths[:, column, None]
        documents[:, column][filled] = codes[ids.size :]
        of_topic = np.full(n_known, UNJUDGED, dtype=np.int8)
        of_topic[codes[: ids.size]] = np.where(relevant, RELEVANT, NOT_RELEVANT)
        states.append(of_topic)
        n_relevant[column] = np.count_nonzero(relevant)
    return JudgedRankings(
        topics=tuple(topics),
        tags=tuple(tags),
        documents=documents,
        lengths=lengths,
        states=tuple(states),
        n_relevant=n_relevant,
        cutoff=cutoff,
    )


def dense_codes(ids: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """Count the distinct ids and return with it each id's place among them, from 0 ascending."""
    if ids.size == 0:
        return 0, ids
    least = int(ids.min())
    span = int(ids.max()) - least + 1
    if span > _TABLE_FACTOR * ids.size:
        known, codes = np.unique(ids, return_inverse=True)
        return known.size, codes
    offsets = ids - least
    table = np.zeros(span, dtype=np.int64)
    table[offsets] = 1
    present = np.flatnonzero(table)
    table[present] = np.arange(present.size)
    return present.size, table[offsets]


@dataclass(frozen=True, eq=False)
class GradedRankings:
    """Runs and grades over the evaluation topics; build it with `graded_rankings`."""

    topics: tuple[str, ...]
    tags: tuple[str, ...]
    grades: NDArray[np.int32]
    """Shape (n_runs, n_topics, width), in rank order; 0 where `judged` is False."""
    judged: NDArray[np.bool_]
    """Shape (n_runs, n_topics, width): which ranks hold a judged document."""
    lengths: NDArray[np.int64]
    """As of `JudgedRankings`."""
    judged_grades: tuple[NDArray[np.int32], ...]
    """One array a topic, shape (n_judged,), descending: grades of all judged documents, retrieved or not."""
    cutoff: int
    """Ranks that were looked at, at least 1. The width is smaller when every run is shorter."""
    open: NDArray[np.bool_] | None = None
    """Shape of `judged`: which ranks hold a document that was pooled and has no grade; ``None`` = none."""

    def relevant(self, level: int) -> NDArray[np.bool_]:
        """Return which ranks hold a document of at least a level; shape (n_runs, n_topics, width).

        False for unjudged documents and ranks that are not filled, whatever the level.
        """
        reached: NDArray[np.bool_] = self.grades >= level
        # Above 0 the filler grade is never reached, so that the mask would change nothing.
        return reached if level > 0 else reached & self.judged

    def n_relevant(self, level: int) -> NDArray[np.int64]:
        """Count the relevant documents of each topic, retrieved or not, shape (n_topics,): R of ``pool``."""
        counts = [np.count_nonzero(grades >= level) for grades in self.judged_grades]
        return np.array(counts, dtype=np.int64)


def graded_rankings(
    topics: Sequence[str],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.int64]],
    judged: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]],
    *,
    cutoff: int,
) -> GradedRankings:
    """Put rankings and graded judgements side by side in arrays.

    As `judged_rankings`, with a grade for each judged document; `ArgumentError` if one does not fit into 32
    bits.

    Examples
    --------
    Document 30 has grade 2 and 10 is unjudged; 40, of grade 1, was not retrieved:

    >>> lists = {("a", "t1"): np.array([30, 20, 10])}
    >>> grades = {"t1": (np.array([20, 30, 40]), np.array([0, 2, 1]))}
    >>> arrays = graded_rankings(["t1"], ["a"], lists, grades, cutoff=1000)
    >>> arrays.grades.tolist(), arrays.judged.tolist()
    ([[[2, 0, 0]]], [[[True, True, False]]])
    >>> arrays.relevant(1).tolist(), arrays.n_relevant(1).tolist(), arrays.n_relevant(2).tolist()
    ([[[True, False, False]]], [2], [1])
    """
    limits = np.iinfo(np.int32)
    binary = {}
    for topic, (ids, grades) in judged.items():
        grades = np.asarray(grades)
        if grades.size and (grades.min() < limits.min or grades.max() > limits.max):
            raise ArgumentError("judged", "must hold grades of at most 32 bits", topic)
        binary[topic] = (ids, np.zeros(grades.shape, dtype=np.bool_))
    arrays = judged_rankings(topics, tags, rankings, binary, cutoff=cutoff)
    by_rank = np.zeros(arrays.documents.shape, dtype=np.int32)
    is_judged = np.zeros(arrays.documents.shape, dtype=np.bool_)
    judged_grades = []
    for column, topic in enumerate(topics):
        ids, grades = judged[topic]
        # Codes ascend with the id; the padding code -1 picks the last element.
        known = np.append(arrays.states[column] >= NOT_RELEVANT, np.False_)
        of_code = np.zeros(known.size, dtype=np.int32)
        of_code[known] = np.asarray(grades)[np.argsort(ids)]
        codes = arrays.documents[:, column]
        by_rank[:, column] = of_code[codes]
        is_judged[:, column] = known[codes]
        judged_grades.append(np.sort(of_code[known])[::-1])
    return GradedRankings(
        topics=arrays.topics,
        tags=arrays.tags,
        grades=by_rank,
        judged=is_judged,
        lengths=arrays.lengths,
        judged_grades=tuple(judged_grades),
        cutoff=cutoff,
    )
