"""Several judges' grades of a document made one, or a probability that it is relevant.

Rules work on `counts`, ndarray of int64, shape (n_documents, n_grades): how many judges gave a document each
grade, grades ascending, as of `store.analysis.agreement.votes.grade_counts`. Rows do not influence one
another; every rule costs O(n_documents * n_grades).

A rule either gives a grade, or says why there is none. Whatever it gives, the result keeps both ends of the
tie it had to break, so that one can count what the tie rule alone decides: with two judges a document that
they grade differently is always a tie.

A probability keeps that judges differ: evidence that a document is neither surely relevant nor surely not,
which any rule that makes one grade of many throws away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import NO_GRADE
from store.errors import ArgumentError
from store.records import TieRule, Ties

AGGREGATED = 0
"""The document has a grade."""
TIED_UNRESOLVED = 1
"""The votes are tied, and ties are left open."""
NO_JUDGEMENT = 2
"""No judge graded the document; skipping it or finding it impossible to judge is no vote."""

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


@dataclass(frozen=True, slots=True, eq=False)
class AggregateResult:
    """One grade a document, and how it came about."""

    grades: NDArray[np.int64]
    """Shape (n_documents,): index into the scale where `status` is `AGGREGATED`, else `NO_GRADE`."""
    status: NDArray[np.int8]
    """Shape (n_documents,): `AGGREGATED`, `TIED_UNRESOLVED` or `NO_JUDGEMENT`."""
    low: NDArray[np.int64]
    """Shape (n_documents,): the grade if ties go to the lowest of the tied grades; `NO_GRADE`
    where there is no judgement."""
    high: NDArray[np.int64]
    """Shape (n_documents,): the same, if ties go to the highest; equal to `low` where nothing is tied."""

    @property
    def is_tied(self) -> NDArray[np.bool_]:
        """Shape (n_documents,): whether the votes are tied, resolved or not."""
        tied: NDArray[np.bool_] = self.low != self.high
        return tied

    @property
    def n_ties(self) -> int:
        """Documents with tied votes, resolved or not: their grade is the tie rule's doing."""
        return int(np.count_nonzero(self.is_tied))


def majority(counts: NDArray[np.int64], *, ties: Ties) -> AggregateResult:
    """Give every document the grade that most of its judges gave it.

    Most is the largest number of votes (plurality), not more than half of them: 0, 1, 2, 2 gives 2. One vote
    alone decides. Votes are counted on the graded scale; collapsing first and voting then is another rule and
    can give another answer: 0, 1, 2, 0 is 0 on the graded scale, but a tie of relevant and not relevant at
    level 1.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_grades)
        See the module.
    ties : {"low", "high", "unresolved"}
        What several grades with the largest number of votes give: the lowest of them (TripJudge's rule [1]_),
        the highest (FiRA's [2]_), or none, and the document waits for an adjudicator. There is no default:
        published collections disagree, and with two judges it decides every document they do not agree on.

    Returns
    -------
    AggregateResult
        One grade or status a row of `counts`.

    References
    ----------
    .. [1] S. Althammer et al., "TripJudge: A Relevance Judgement Test Collection for TripClick Health
       Retrieval", *CIKM*, 2022, arXiv:2208.06936.
    .. [2] S. Hofstätter et al., "Fine-Grained Relevance Annotations for Multi-Task Document Ranking and
       Question Answering", *CIKM*, 2020, arXiv:2008.05363 (FiRA).

    Examples
    --------
    Grades 0, 2, 2; grades 0, 1; no grade:

    >>> counts = np.array([[1, 0, 2], [1, 1, 0], [0, 0, 0]])
    >>> majority(counts, ties="low").grades.tolist()
    [2, 0, -1]
    >>> result = majority(counts, ties="unresolved")
    >>> result.grades.tolist(), result.n_ties
    ([2, -1, -1], 1)
    """
    at_top = counts == counts.max(axis=1, keepdims=True)
    return _result(counts, _first(at_top), _last(at_top), ties=ties)


def median(counts: NDArray[np.int64], *, ties: Ties) -> AggregateResult:
    """Give every document the middle one of its grades; arguments as for `majority`.

    An odd number of grades has one middle, and is never tied. An even number has two, and where they differ
    `ties` decides: the lower one, the higher one, or none (unresolved). There is no grade in between. Of 0,
    1, 3, 3 the lower is 1, the higher 3. Collapsing before or after it is the same for low and high, as it
    depends on the order of grades alone.

    >>> counts = np.array([[1, 0, 2], [1, 1, 0], [1, 1, 2]])
    >>> median(counts, ties="low").grades.tolist(), median(counts, ties="high").grades.tolist()
    ([2, 0, 1], [2, 1, 2])
    """
    up_to = counts.cumsum(axis=1)
    n_votes = up_to[:, -1:]
    # Of n grades in order, from 1, the middle ones are number (n + 1) // 2 and n // 2 + 1.
    low, high = _first(up_to >= (n_votes + 1) // 2), _first(up_to >= n_votes // 2 + 1)
    return _result(counts, low, high, ties=ties)


def mean_half_up(counts: NDArray[np.int64], scale_values: Sequence[int]) -> AggregateResult:
    """Give every document the mean of its grade values, rounded to the nearest, halves up.

    Of n grades with sum s it is ``floor((2 s + n) / (2 n))`` in integers: 0.5 gives 1, 1.5 gives 2, -0.5
    gives 0. (The rounding of floats in most programs takes halves to the even number.)

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_grades)
        See the module.
    scale_values : sequence of int, length n_grades
        The grades, each one more than the last, else `ArgumentError`: where there is a gap, a mean may lie on
        it.

    Returns
    -------
    AggregateResult
        Means half-way between two grades count as tied; their grade is the higher.

    Examples
    --------
    Grades 0, 1; grades 0, 0, 1; grades 0, 2:

    >>> result = mean_half_up(np.array([[1, 1, 0], [2, 1, 0], [1, 0, 1]]), (0, 1, 2))
    >>> result.grades.tolist(), result.n_ties
    ([1, 0, 1], 1)
    """
    values = np.array(scale_values, dtype=np.int64)
    if any(high - low != 1 for low, high in pairwise(values.tolist())):
        requirement = "must rise by 1: a mean may lie on a gap, and would be no grade"
        raise ArgumentError("scale_values", requirement, values.tolist())
    sums, n_votes = counts @ values, np.maximum(counts.sum(axis=1), 1)
    high = (2 * sums + n_votes) // (2 * n_votes) - values[0]
    is_half = (2 * sums + n_votes) % (2 * n_votes) == 0
    return _result(counts, high - is_half, high, ties="high")


def lowest(counts: NDArray[np.int64]) -> AggregateResult:
    """Give every document the lowest of its grades; never tied.

    >>> lowest(np.array([[0, 1, 2], [0, 0, 0]])).grades.tolist()
    [1, -1]
    """
    place = _first(counts > 0)
    return _result(counts, place, place, ties="low")


def highest(counts: NDArray[np.int64]) -> AggregateResult:
    """Give every document the highest of its grades; never tied.

    >>> highest(np.array([[2, 1, 0], [0, 0, 0]])).grades.tolist()
    [1, -1]
    """
    place = _last(counts > 0)
    return _result(counts, place, place, ties="low")


def agreed(counts: NDArray[np.int64]) -> AggregateResult:
    """Give every document the grade that all its judges gave; where they differ it stays unresolved.

    >>> agreed(np.array([[0, 2], [1, 1], [0, 0]])).grades.tolist()
    [1, -1, -1]
    """
    return _result(counts, _first(counts > 0), _last(counts > 0), ties="unresolved")


def grade_sums(counts: NDArray[np.int64], scale_values: Sequence[int]) -> NDArray[np.int64]:
    """Add the grade values of every document, as the NTCIR WWW tasks do, shape (n_documents,).

    Sums are no grades of the scale, and comparable only between documents with equally many judges; 0 without
    a grade.

    >>> grade_sums(np.array([[1, 1, 1], [0, 0, 2]]), (0, 1, 2)).tolist()
    [3, 4]
    """
    return counts @ np.array(scale_values, dtype=np.int64)


def leaves_tied(rule: TieRule, grades: Sequence[int]) -> bool:
    """Return whether a rule leaves the votes on one document tied; no votes are no tie.

    >>> leaves_tied("majority", [0, 1, 2]), leaves_tied("median", [0, 1, 2])
    (True, False)
    >>> leaves_tied("majority", [0, 0, 1, 2]), leaves_tied("median", [0, 0, 1, 2])
    (False, True)
    """
    if not grades:
        return False
    counts = np.unique(np.array(grades), return_counts=True)[1][np.newaxis]
    result = majority(counts, ties="low") if rule == "majority" else median(counts, ties="low")
    return result.n_ties == 1


def _first(is_so: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the first column of every row where it is so; 0 where it is nowhere."""
    places: NDArray[np.int64] = np.argmax(is_so, axis=1).astype(np.int64)
    return places


def _last(is_so: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the last column of every row where it is so."""
    places: NDArray[np.int64] = is_so.shape[1] - 1 - _first(is_so[:, ::-1])
    return places


def _result(
    counts: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], *, ties: Ties
) -> AggregateResult:
    """Choose between the two ends of every tie; a row without votes has no grade."""
    unvoted = ~counts.any(axis=1)
    low, high = (np.where(unvoted, NO_GRADE, places) for places in (low, high))
    status = np.where(unvoted, NO_JUDGEMENT, AGGREGATED).astype(np.int8)
    chosen = (high if ties == "high" else low).copy()
    if ties == "unresolved":
        status[low != high] = TIED_UNRESOLVED
        chosen[low != high] = NO_GRADE
    return AggregateResult(chosen, status, low, high)


def value_probabilities(counts: NDArray[np.int64], values: Sequence[float]) -> NDArray[np.float64]:
    """Compute the mean over a document's judges of what each judge's grade is worth.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_grades)
        Judges by the grade they gave, grades ascending; as of `store.analysis.agreement.votes.grade_counts`.
        Every document has a vote: without one it has no probability.
    values : sequence of float, length n_grades
        Probability, in [0, 1], that a document is relevant when one judge gives it the grade.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]. `ArgumentError` if `counts` have a row without votes, or `values` are not one probability a
        grade.

    References
    ----------
    .. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment", 2001
       (in Japanese), table 4: values 1 (relevant), 0.8 (partially relevant) and 0 (not relevant) of two
       judges.

    Examples
    --------
    The six patterns of two judges in table 4 of [1]_, from both relevant to neither:

    >>> counts = np.array([[0, 0, 2], [0, 1, 1], [1, 0, 1], [0, 2, 0], [1, 1, 0], [2, 0, 0]])
    >>> value_probabilities(counts, (0.0, 0.8, 1.0)).round(10).tolist()
    [1.0, 0.9, 0.5, 0.8, 0.4, 0.0]
    """
    _check_votes(counts)
    worth = np.array(values, dtype=np.float64)
    if worth.shape != (counts.shape[1],) or not ((worth >= 0) & (worth <= 1)).all():
        requirement = f"must be {counts.shape[1]} probabilities from 0 to 1, one a grade"
        raise ArgumentError("values", requirement, list(values))
    # A weighted sum by hand: the same bits on every machine, which a matrix product is not.
    total = np.zeros(len(counts), dtype=np.float64)
    for place, value in enumerate(worth.tolist()):
        total += counts[:, place] * value
    probabilities: NDArray[np.float64] = np.minimum(total / counts.sum(axis=1), 1.0)
    return probabilities


def share_probabilities(counts: NDArray[np.int64], level_index: int) -> NDArray[np.float64]:
    """Compute the share, in [0, 1], of a document's judges who find it relevant, shape (n_documents,).

    `counts` as for `value_probabilities`, with its errors; `level_index` is the place of the least relevant
    grade, from 1 to ``n_grades - 1``.

    >>> share_probabilities(np.array([[0, 1, 3], [4, 0, 0]]), 2).tolist()
    [0.75, 0.0]
    """
    _check_votes(counts)
    shares: NDArray[np.float64] = counts[:, level_index:].sum(axis=1) / counts.sum(axis=1)
    return shares


def _check_votes(counts: NDArray[np.int64]) -> None:
    if not counts.any(axis=1).all():
        row = int(np.argmin(counts.any(axis=1)))
        requirement = "must have a vote in every row: an ungraded document has no probability"
        raise ArgumentError("counts", requirement, f"none in row {row}")
