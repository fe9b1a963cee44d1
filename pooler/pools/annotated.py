"""The annotated pool: which run put a document into it, at which rank, with which score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from pooler.pools.runs import RunFacts, RunSet, TopicRuns
from store.analysis.pools.contributions import NO_DOCUMENT
from store.records import Pool
from store.text import natural_key

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
        rows = _rows_of(runs, topic, docnos) if runs is not None and topic in known else iter(())
        lines = {
            docno: [annotated_text(row) for row in of_document]
            for docno, of_document in groupby(rows, key=lambda row: row.docno)
        }
        for docno in sorted(docnos):
            grade = grades.get((topic, docno), UNJUDGED)
            nothing = f"{topic} {docno} {NOTHING} {NOTHING} {NOTHING} {NOTHING}"
            for line in lines.get(docno, [nothing]):
                yield f"{line} {grade}"


def annotated_rows(runs: RunSet) -> Iterator[AnnotatedRow]:
    """Yield every document of the contributing runs, once for each run that has it.

    In the order of `annotated_lines`.
    """
    for topic in runs.topics:
        yield from _rows_of(runs, topic, None)


def _pooled(pool: Pool) -> dict[str, set[str]]:
    pooled: dict[str, set[str]] = {}
    for entry in pool.entries:
        if entry.sampled:
            pooled.setdefault(entry.topic, set()).add(entry.docno)
    return pooled


def _rows_of(runs: RunSet, topic: str, wanted: AbstractSet[str] | None) -> Iterator[AnnotatedRow]:
    return _rows(runs.feeding, runs.of_topic(topic, scores=True), wanted)


def _lines(feeding: Sequence[RunFacts], of_topic: TopicRuns, wanted: AbstractSet[str]) -> list[str]:
    return [annotated_text(row) for row in _rows(feeding, of_topic, wanted)]


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


def annotated_text(row: AnnotatedRow) -> str:
    """Write a row as a line of the annotated pool, without line end."""
    group = row.group or NOTHING
    return f"{row.topic} {row.docno} {row.run} {group} {row.rank} {row.score!r}"
