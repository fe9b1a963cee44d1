"""Rankings with the grade of every rank, for measures that look at more than relevant or not.

`JudgedRankings` knows one level of relevance; here the grades themselves are kept, so that one
array serves every level and every gain. Unjudged and graded 0 stay apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.judged_rankings import NOT_RELEVANT, judged_rankings
from store.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class GradedRankings:
    """Runs and grades over the evaluation topics; build it with `graded_rankings`."""

    topics: tuple[str, ...]
    """The evaluation topics: those with judgements."""
    tags: tuple[str, ...]
    """The runs."""
    grades: NDArray[np.int32]
    """Shape (n_runs, n_topics, width), in rank order; 0 where `judged` is False."""
    judged: NDArray[np.bool_]
    """Shape (n_runs, n_topics, width): which ranks hold a judged document."""
    lengths: NDArray[np.int64]
    """Shape (n_runs, n_topics): ranks filled; 0 = the run has no document for the topic."""
    judged_grades: tuple[NDArray[np.int32], ...]
    """One array a topic, shape (n_judged,), descending: grades of all judged documents, retrieved
    or not."""
    cutoff: int
    """Ranks that were looked at, at least 1. The width is smaller when every run is shorter."""

    def relevant(self, level: int) -> NDArray[np.bool_]:
        """Tell which ranks hold a relevant document.

        Parameters
        ----------
        level : int
            Least grade that counts as relevant.

        Returns
        -------
        ndarray of bool, shape (n_runs, n_topics, width)
            False for unjudged documents and ranks that are not filled, whatever the level.
        """
        reached: NDArray[np.bool_] = self.grades >= level
        # Above 0 the filler grade is never reached, so that the mask would change nothing.
        return reached if level > 0 else reached & self.judged

    def n_relevant(self, level: int) -> NDArray[np.int64]:
        """Count the relevant documents of each topic, retrieved or not: R of mode ``pool``.

        Parameters
        ----------
        level : int
            Least grade that counts as relevant.

        Returns
        -------
        ndarray of int64, shape (n_topics,)
            Counts, at least 0.
        """
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

    Parameters
    ----------
    topics : sequence of str
        The evaluation topics, in the order of the result.
    tags : sequence of str
        The runs, in the order of the result.
    rankings : mapping of (tag, topic) to integer ndarray, shape (n_documents,)
        Document ids in rank order, each once, as for `judged_rankings`.
    judged : mapping of topic to (ids, grades)
        Ids of the judged documents, each once, and their grades, both ndarray of int64 of shape
        (n_judged,). Every one of `topics` has an entry, which may be empty.
    cutoff : int
        Ranks that count, at least 1; documents below are cut off.

    Returns
    -------
    GradedRankings
        Arrays of width ``min(cutoff, longest ranking)``.

    Raises
    ------
    ArgumentError
        If a grade does not fit into 32 bits, or where `judged_rankings` raises one.

    Notes
    -----
    O(m) a topic for m documents retrieved and judged, or O(m log m) where their ids are sparse.

    Examples
    --------
    Document 30 has grade 2 and 10 is unjudged; 40, of grade 1, was not retrieved:

    >>> arrays = graded_rankings(
    ...     ["t1"],
    ...     ["a"],
    ...     {("a", "t1"): np.array([30, 20, 10])},
    ...     {"t1": (np.array([20, 30, 40]), np.array([0, 2, 1]))},
    ...     cutoff=1000,
    ... )
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
        known = np.append(arrays.standing[column] >= NOT_RELEVANT, np.False_)
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
