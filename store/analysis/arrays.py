"""The bridge from records to numpy: rankings and qrels, from a collection or from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.rankings import GradedRankings, JudgedRankings, graded_rankings, judged_rankings
from store.records import Qrel, QrelColumns
from store.text import natural_key

Grades = Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Topic to the ids of its judged documents, each once, and their grades; both shape (n_judged,)."""


@dataclass(frozen=True, slots=True, eq=False)
class TopDocuments:
    """The first documents of several runs for all their topics, by document id.

    `width` is the depth asked for, or the length of the longest ranking where that is less.
    """

    tags: tuple[str, ...]
    """The runs, ascending bytewise: the rows."""
    topics: tuple[str, ...]
    """Every topic that one of the runs has, in natural order."""
    ids: NDArray[np.int32]
    """Shape (n_runs, n_topics, width): ids of documents in rank order, -1 after the last."""
    lengths: NDArray[np.int32]
    """Shape (n_runs, n_topics): documents of the whole ranking; 0 = the run has no such topic."""
    tied_in: NDArray[np.int32]
    """Shape (n_runs, n_topics): documents taken that tie with one not taken."""
    tied_out: NDArray[np.int32]
    """Shape (n_runs, n_topics): documents not taken that tie with the last one taken; 0 exactly
    where `tied_in` is."""
    scores: NDArray[np.float64] | None = None
    """Shape (n_runs, n_topics, width), NaN after the last; ``None`` = not loaded."""


@dataclass(frozen=True, slots=True)
class RankedDocuments:
    """Document ids in rank order of several runs, and what the ids mean."""

    tags: tuple[str, ...]
    """The runs, in the order they are to be shown."""
    rankings: Mapping[tuple[str, str], NDArray[np.signedinteger]]
    """(tag, topic) to ids, shape (n_documents,), from rank 1 on."""
    ids: Mapping[str, int]
    """Docno to id; empty where docnos were not asked for."""
    docnos: Mapping[int, str]
    """Id to docno; empty likewise."""


def judged_arrays(
    ranked: RankedDocuments, qrels: Sequence[Qrel], *, level: int, cutoff: int
) -> JudgedRankings:
    """Put rankings and qrels into the arrays that measures of one level work on.

    `level` is the least relevant grade. Every listed pair is judged. Topics are those of the qrels in natural
    order; a run without one of them has length 0 there.
    """
    judged = grades_by_topic(ranked, qrels)
    binary = {topic: (numbers, grades >= level) for topic, (numbers, grades) in judged.items()}
    return judged_rankings(list(judged), ranked.tags, ranked.rankings, binary, cutoff=cutoff)


def graded_arrays(
    ranked: RankedDocuments,
    grades: Grades,
    *,
    cutoff: int,
    pooled: Mapping[str, NDArray[np.int64]] | None = None,
) -> GradedRankings:
    """Put rankings and grades into the arrays that measures of all levels work on; see `graded_rankings`.

    `grades` are those of `grades_by_topic`, or a collection's; docnos are not needed. Topics are in the order
    of `grades`; a run without one of them has length 0 there. `pooled`: by topic, documents that were pooled
    and have no grade.
    """
    found = graded_rankings(list(grades), ranked.tags, ranked.rankings, grades, cutoff=cutoff)
    if not pooled:
        return found
    is_open = np.zeros(found.judged.shape, dtype=np.bool_)
    for column, topic in enumerate(found.topics):
        for row, tag in enumerate(found.tags if topic in pooled else ()):
            if size := int(found.lengths[row, column]):
                is_open[row, column, :size] = np.isin(ranked.rankings[tag, topic][:size], pooled[topic])
    return replace(found, open=is_open)


def grades_by_topic(ranked: RankedDocuments, qrels: Sequence[Qrel]) -> Grades:
    """Return the documents of qrels, one grade a (topic, docno), the numbers that they have in the rankings.

    Topics come in natural order.
    """
    rows = QrelColumns.of(qrels)
    topics = sorted({*rows.topics}, key=natural_key)
    code_of = {topic: code for code, topic in enumerate(topics)}
    codes = np.fromiter(map(code_of.__getitem__, rows.topics), np.int64)
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    numbers = np.fromiter(map(ranked.ids.get, rows.docnos, repeat(-1)), np.int64)[order]
    # Judged documents that no run retrieved count in R; they need an id all the same.
    unranked = 1 + max(ranked.docnos, default=0) + np.arange(codes.size) - np.searchsorted(codes, codes)
    numbers = np.where(numbers < 0, unranked, numbers)
    return cut_by_code(topics, codes, numbers, np.array(rows.grades, np.int64)[order])


def cut_by_code(
    names: Sequence[str] | Mapping[int, str], codes: NDArray[np.int64], *columns: NDArray[Any]
) -> dict[str, Any]:
    """Cut columns into the parts of equal codes, which ascend: a tuple of arrays by the name of each code.

    >>> cut_by_code(["9", "10"], np.array([0, 1, 1]), np.array([7, 5, 6]))
    {'9': (array([7]),), '10': (array([5, 6]),)}
    """
    found, starts = np.unique(codes, return_index=True)
    parts = zip(*(np.split(column, starts[1:]) for column in columns), strict=True)
    named = (names[code] for code in found.tolist())
    return dict(zip(named, parts, strict=False))  # nothing splits into one empty part
