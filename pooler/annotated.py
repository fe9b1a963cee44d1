"""The annotated pool: which run put a document into it, at which rank, with which score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pooler.top_ranking import RunTop
from store.ranking import natural_key
from store.records import Pool

NO_GROUP = "-"


def annotated_lines(runs: Sequence[RunTop], pool: Pool) -> Iterator[str]:
    """Yield one line for each document of a pool and each run that put it there.

    Parameters
    ----------
    runs : sequence of RunTop
        The runs the pool was built from; those that do not contribute are passed over.
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
    >>> import numpy as np
    >>> from pooler.plan import build_pool
    >>> from pooler.top_ranking import TopRanking
    >>> top = TopRanking(["d2", "d1"], np.array([0.5, 0.1]), 2)
    >>> run = RunTop("x", "x.run", "", 2, "trec", {"51": top}, 2, group="acme")
    >>> list(annotated_lines([run], build_pool([run], depth=2, version="1").pool))
    ['51 d1 x acme 2 0.1', '51 d2 x acme 1 0.5']
    """
    pooled: dict[str, list[str]] = {}
    for entry in pool.entries:
        pooled.setdefault(entry.topic, []).append(entry.docno)
    feeding = sorted((run for run in runs if run.contributes), key=lambda run: run.tag)
    for topic in sorted(pooled, key=natural_key):
        lines: dict[str, list[str]] = {docno: [] for docno in sorted(pooled[topic])}
        for run in feeding:
            top = run.topics.get(topic)
            if top is None:
                continue
            source = f"{run.tag} {run.group or NO_GROUP}"
            ranked = zip(top.docnos, top.scores.tolist(), strict=True)
            for rank, (docno, score) in enumerate(ranked, start=1):
                if docno in lines:
                    lines[docno].append(f"{topic} {docno} {source} {rank} {score!r}")
        for of_docno in lines.values():
            yield from of_docno
