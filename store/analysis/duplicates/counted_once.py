r"""Rankings in which near-duplicates count once: the novelty principle, or later ones taken out.

A cluster of near-duplicates is one thing to find: it has one grade, and R is the number of relevant clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.arrays import Grades, RankedDocuments
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError

Treatment = Literal["novelty", "drop"]
"""Of a later member of a cluster in a ranking: it counts 0 and keeps its rank, or it is taken out."""
ClusterGrade = Literal["max", "min"]
"""Of the grades of its judged members, the one that a cluster has."""


def counted_once(
    ranked: RankedDocuments,
    grades: Grades,
    clusters: Mapping[int, int],
    treatment: Treatment,
    *,
    grade: ClusterGrade = "max",
    cutoff: int = 1000,
) -> GradedRankings:
    r"""Put rankings beside the grades of clusters.

    Parameters
    ----------
    ranked : RankedDocuments
    grades : Grades
        By topic the ids of judged documents and their grades.
    clusters : mapping of int to int
        Id of a document to the id of one of its cluster, the same for all of it; others are alone.
    treatment : {"novelty", "drop"}
        Of every member after the first in a ranking: not relevant at its rank (the novelty principle; in [2]_
        "irrelevant"), or taken out, and ranks close up ("removed").
    grade : {"max", "min"}, default="max"
        Of a cluster, among its judged members of the topic. A cluster without one is unjudged, and a member
        that is not judged itself counts as its cluster.
    cutoff : int, default=1000
        Ranks that count, after documents were taken out.

    Returns
    -------
    GradedRankings
        Its `judged_grades` are those of clusters. Later members of judged clusters are judged 0.
        `ArgumentError` if a choice is another word, or the cutoff is below 1.

    References
    ----------
    .. [1] Y. Bernstein and J. Zobel, "Redundant documents and search effectiveness", *CIKM* 2005, 736-743,
       doi:10.1145/1099554.1099733.
    .. [2] M. Fröbe, J. P. Bittner, M. Potthast and M. Hagen, "The effect of content-equivalent
       near-duplicates on the evaluation of search engines", *ECIR* 2020, 12-19,
       doi:10.1007/978-3-030-45442-5_2.

    Examples
    --------
    Documents 1 and 2 are one content, both relevant:

    >>> ranked = RankedDocuments(("x",), {("x", "t"): np.array([1, 2, 3])}, {}, {})
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([1, 1, 1]))}
    >>> counted_once(ranked, grades, {1: 1, 2: 1}, "novelty").grades.tolist()
    [[[1, 0, 1]]]
    >>> counted_once(ranked, grades, {1: 1, 2: 1}, "drop").grades.tolist()
    [[[1, 1]]]
    """
    check_cutoff(cutoff)
    if treatment not in ("novelty", "drop"):
        raise ArgumentError("duplicates", "must be keep, novelty or drop", treatment)
    if grade not in ("max", "min"):
        raise ArgumentError("cluster_grade", "must be max or min", grade)
    tables = {topic: _of_clusters(*judged, clusters, grade) for topic, judged in grades.items()}
    cells: dict[tuple[int, int], tuple[NDArray[np.int32], NDArray[np.bool_]]] = {}
    for run, tag in enumerate(ranked.tags):
        for column, topic in enumerate(grades):
            ranking = ranked.rankings.get((tag, topic))
            if ranking is not None:
                cells[run, column] = _by_rank(ranking, tables[topic], clusters, treatment, cutoff)
    lengths = np.zeros((len(ranked.tags), len(tables)), dtype=np.int64)
    for at, (found, _) in cells.items():
        lengths[at] = found.size
    shape = (*lengths.shape, int(lengths.max(initial=0)))
    by_rank, is_judged = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.bool_)
    for at, (found, judged) in cells.items():
        by_rank[at][: found.size], is_judged[at][: found.size] = found, judged
    return GradedRankings(
        topics=tuple(tables),
        tags=tuple(ranked.tags),
        grades=by_rank,
        judged=is_judged,
        lengths=lengths,
        judged_grades=tuple(
            np.sort(np.fromiter(table.values(), np.int32, len(table)))[::-1] for table in tables.values()
        ),
        cutoff=cutoff,
    )


def _of_clusters(
    ids: NDArray[np.int64], grades: NDArray[np.int64], clusters: Mapping[int, int], grade: ClusterGrade
) -> dict[int, int]:
    """Return the grade of every judged cluster of a topic."""
    best = max if grade == "max" else min
    found: dict[int, int] = {}
    for document, value in zip(ids.tolist(), grades.tolist(), strict=True):
        cluster = clusters.get(document, document)
        found[cluster] = best(found.get(cluster, value), value)
    return found


def _by_rank(
    ranking: NDArray[np.signedinteger],
    table: Mapping[int, int],
    clusters: Mapping[int, int],
    treatment: Treatment,
    cutoff: int,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the grade of every rank, and whether it is judged."""
    named = [clusters.get(document, document) for document in ranking.tolist()]
    seen: set[int] = set()
    grades: list[int] = []
    judged: list[bool] = []
    for cluster in named:
        if len(grades) == cutoff:
            break
        is_new = cluster not in seen
        seen.add(cluster)
        if is_new or treatment == "novelty":
            grades.append(table.get(cluster, 0) if is_new else 0)
            judged.append(cluster in table)
    return np.array(grades, dtype=np.int32), np.array(judged, dtype=np.bool_)
