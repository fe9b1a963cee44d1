"""The annotated pool: which run put a document into it, at which rank, with which score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pooler.run_set import RunSet
from pooler.topic_rankings import NO_DOCUMENT
from store.records import Pool

NO_GROUP = "-"


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
    """Yield one line for each document of a pool and each run that put it there.

    Parameters
    ----------
    runs : RunSet
        The runs the pool was built from, with scores; those that do not contribute are passed
        over.
    pool : Pool
        The pool.

    Yields
    ------
    str
        ``topic docno run group rank score`` between single blanks, without line end: the rank from
        1 in the order the run was read in, the score in the fewest digits that give the same
        float64 back, and ``-`` for no group. Topics are in natural order, then docnos and run
        tags ascending bytewise.

    Notes
    -----
    A format of its own, after the annotated pools of NIST (`topic docno run pid rank sim rel`).

    Examples
    --------
    >>> from pooler.plan import Plan, build_pool
    >>> from pooler.run_set import FileRuns
    >>> from pooler.top_ranking import RunTop, TopRanking
    >>> top = TopRanking(["d2", "d1"], np.array([0.5, 0.1]), 2)
    >>> run = RunTop("x", "x.run", "", 2, "trec", {"51": top}, 2, group="acme")
    >>> runs = FileRuns([run])
    >>> list(annotated_lines(runs, build_pool(runs, Plan(), version="1").pool))
    ['51 d1 x acme 2 0.1', '51 d2 x acme 1 0.5']
    """
    pooled: dict[str, set[str]] = {}
    for entry in pool.entries:
        if entry.sampled:
            pooled.setdefault(entry.topic, set()).add(entry.docno)
    for row in annotated_rows(runs):
        if row.docno in pooled.get(row.topic, ()):
            yield annotated_text(row)


def annotated_rows(runs: RunSet) -> Iterator[AnnotatedRow]:
    """Yield every document of the runs, once for each run that has it.

    Parameters
    ----------
    runs : RunSet
        With scores; those that do not contribute are passed over.

    Yields
    ------
    AnnotatedRow
        In the order of `annotated_lines`.
    """
    for topic in runs.topics:
        of_topic = runs.of_topic(topic, scores=True)
        documents, scores = of_topic.rankings.documents, of_topic.rankings.scores
        rows, places = np.nonzero(documents != NO_DOCUMENT)
        numbers = documents[rows, places]
        worth = np.zeros(numbers.size) if scores is None else scores[rows, places]
        sources = [runs.feeding[place] for place in of_topic.runs]
        for index in np.lexsort((rows, numbers)).tolist():
            run = sources[rows[index]]
            yield AnnotatedRow(
                topic,
                of_topic.docnos[numbers[index]],
                run.tag,
                run.group,
                int(places[index]) + 1,
                float(worth[index]),
            )


def annotated_text(row: AnnotatedRow) -> str:
    """Write a row as a line of the annotated pool, without line end."""
    group = row.group or NO_GROUP
    return f"{row.topic} {row.docno} {row.run} {group} {row.rank} {row.score!r}"
