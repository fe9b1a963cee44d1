"""Several judges' grades of a document made one.

A rule either gives a grade, or says why there is none. Whatever it gives, the result keeps both
ends of the tie it had to break, so that one can count what the tie rule alone decides: with two
judges a document that they grade differently is always a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.grade_matrix import NO_GRADE, GradeMatrix
from store.errors import ArgumentError

AGGREGATED = 0
"""The document has a grade."""
TIED_UNRESOLVED = 1
"""The votes are tied, and ties are left open."""
NO_JUDGEMENT = 2
"""No judge graded the document; skipping it or finding it impossible to judge is no vote."""

Ties = Literal["low", "high", "unresolved"]
TIES: tuple[Ties, ...] = get_args(Ties)


@dataclass(frozen=True, slots=True, eq=False)
class AggregateResult:
    """One grade a document, and how it came about."""

    grades: NDArray[np.int64]
    """Shape (n_pairs,): index into the scale where `status` is `AGGREGATED`, else `NO_GRADE`."""
    status: NDArray[np.int8]
    """Shape (n_pairs,): `AGGREGATED`, `TIED_UNRESOLVED` or `NO_JUDGEMENT`."""
    low: NDArray[np.int64]
    """Shape (n_pairs,): the grade if ties go to the lowest of the tied grades; `NO_GRADE` where
    there is no judgement."""
    high: NDArray[np.int64]
    """Shape (n_pairs,): the same, if ties go to the highest; equal to `low` where nothing is
    tied."""

    @property
    def n_aggregated(self) -> int:
        """Documents with a grade."""
        return int(np.count_nonzero(self.status == AGGREGATED))

    @property
    def n_unresolved(self) -> int:
        """Documents without a grade because of a tie."""
        return int(np.count_nonzero(self.status == TIED_UNRESOLVED))

    @property
    def n_no_judgement(self) -> int:
        """Documents that no judge graded."""
        return int(np.count_nonzero(self.status == NO_JUDGEMENT))

    @property
    def n_ties(self) -> int:
        """Documents with tied votes, resolved or not: their grade is the tie rule's doing."""
        return int(np.count_nonzero(self.low != self.high))

    def n_decided_by_tie_rule(self, level_index: int) -> int:
        """Count the documents that the tie rule alone makes relevant or not.

        Parameters
        ----------
        level_index : int
            Index into the scale of the least relevant grade, at least 1.

        Returns
        -------
        int
            Tied documents that are relevant if ties go high, and not relevant if they go low; a
            tie between two relevant grades is not among them.

        Raises
        ------
        ArgumentError
            If `level_index` is below 1.
        """
        if level_index < 1:
            raise ArgumentError("level_index", "must be an integer >= 1", level_index)
        return int(np.count_nonzero((self.low < level_index) & (self.high >= level_index)))


def majority(grades: GradeMatrix | NDArray[np.int64], *, ties: Ties) -> AggregateResult:
    """Give every document the grade that most of its judges gave it.

    Most is the largest number of votes (plurality), not more than half of them: 0, 1, 2, 2 gives
    2. Every judge who graded the document has one vote, and there are no other votes: a skipped
    document, one that cannot be judged and one not judged yet are no votes for grade 0. One vote
    alone decides. When several grades share the largest number of votes they are tied, and `ties`
    decides:

    ``low``
        The lowest of the tied grades (TripJudge's rule).
    ``high``
        The highest of the tied grades (FiRA's rule).
    ``unresolved``
        No grade; the document waits for an adjudicator.

    The votes are counted on the graded scale. Collapsing first and voting then is another rule
    and can give another answer: 0, 1, 2, 0 is 0 here, but a tie of relevant and not relevant at
    level 1.

    Parameters
    ----------
    grades : GradeMatrix or ndarray of int64, shape (n_pairs, n_judges)
        Judgements; as an array, indices into the scale from 0, with `NO_GRADE` (-1) where a judge
        gave none.
    ties : {"low", "high", "unresolved"}
        What to do with tied votes. There is no default: published collections disagree, and with
        two judges it decides every document they do not agree on.

    Returns
    -------
    AggregateResult
        One grade or status a row of `grades`.

    Raises
    ------
    ArgumentError
        If `ties` is unknown, or the array is not two-dimensional, not of integers, or holds a
        number below -1.

    Notes
    -----
    The order of judges changes nothing, and rows do not influence one another.
    O(n_pairs * (n_judges + n_grades)).

    References
    ----------
    .. [1] S. Althammer et al., "TripJudge: A Relevance Judgement Test Collection for TripClick
       Health Retrieval", *CIKM*, 2022, arXiv:2208.06936.
    .. [2] S. Hofstätter et al., "Fine-Grained Relevance Annotations for Multi-Task Document
       Ranking and Question Answering", *CIKM*, 2020, arXiv:2008.05363 (FiRA).

    Examples
    --------
    >>> votes = np.array([[0, 2, 2], [0, 1, -1], [-1, -1, -1]])
    >>> majority(votes, ties="low").grades.tolist()
    [2, 0, -1]
    >>> result = majority(votes, ties="unresolved")
    >>> result.grades.tolist(), result.n_ties, result.n_unresolved, result.n_no_judgement
    ([2, -1, -1], 1, 1, 1)
    """
    if ties not in TIES:
        raise ArgumentError("ties", f"must be one of {', '.join(TIES)}", ties)
    votes = _count_votes(grades)
    most = votes.max(axis=1, initial=0)
    at_top = votes == most[:, np.newaxis]
    low = np.argmax(at_top, axis=1).astype(np.int64)
    high = votes.shape[1] - 1 - np.argmax(at_top[:, ::-1], axis=1).astype(np.int64)
    unvoted = most == 0
    low[unvoted] = NO_GRADE
    high[unvoted] = NO_GRADE

    status = np.full(most.shape, AGGREGATED, dtype=np.int8)
    status[unvoted] = NO_JUDGEMENT
    chosen = (high if ties == "high" else low).copy()
    if ties == "unresolved":
        tied = low != high
        status[tied] = TIED_UNRESOLVED
        chosen[tied] = NO_GRADE
    return AggregateResult(chosen, status, low, high)


def _count_votes(grades: GradeMatrix | NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the votes for every grade, shape (n_pairs, n_grades)."""
    if isinstance(grades, GradeMatrix):
        places, n_grades = grades.grades, len(grades.scale_values)
    else:
        places = np.asarray(grades)
        if places.ndim != 2 or not np.issubdtype(places.dtype, np.integer):
            requirement = "must be integers of shape (n_pairs, n_judges)"
            raise ArgumentError("grades", requirement, f"{places.dtype} of shape {places.shape}")
        if places.size and places.min() < NO_GRADE:
            requirement = f"must be indices into the scale, or {NO_GRADE} for no judgement"
            raise ArgumentError("grades", requirement, int(places.min()))
        n_grades = 1 + max(0, int(places.max(initial=0)))
    n_pairs = places.shape[0]
    pair, judge = np.nonzero(places != NO_GRADE)
    counted = np.bincount(pair * n_grades + places[pair, judge], minlength=n_pairs * n_grades)
    return counted.reshape(n_pairs, n_grades).astype(np.int64)
