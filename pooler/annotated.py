"""The annotated pool: which run put a document into it, at which rank, with which score."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pooler.run_set import RunSet
from pooler.topic_rankings import NO_DOCUMENT
from store.ranking import natural_key
from store.records import Pool

NO_GROUP = "-"


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
    for topic in sorted(pooled, key=natural_key):
        of_topic = runs.of_topic(topic, scores=True)
        documents, scores = of_topic.rankings.documents, of_topic.rankings.scores
        rows, places = np.nonzero(documents != NO_DOCUMENT)
        numbers = documents[rows, places]
        by_docno = np.lexsort((rows, numbers))
        worth = np.zeros(numbers.size) if scores is None else scores[rows, places]
        sources = [
            f"{run.tag} {run.group or NO_GROUP}"
            for run in (runs.feeding[place] for place in of_topic.runs)
        ]
        for index in by_docno.tolist():
            docno = of_topic.docnos[numbers[index]]
            if docno in pooled[topic]:
                score = float(worth[index])
                yield f"{topic} {docno} {sources[rows[index]]} {places[index] + 1} {score!r}"
