"""Several judges' grades of a document made one, or a probability that it is relevant.

Rules work on `counts`, ndarray of int64, shape (n_documents, n_grades): how many judges gave a document each
grade, grades ascending, as of `store.analysis.agreement.votes.grade_counts`. Rows do not influence one
another; every rule costs O(n_documents * n_grades).

A rule either gives a grade, or says why there is none. Whatever it gives, the result keeps both ends of the
tie it had to break, so that one can count what the tie rule alone decides: with two judges a document that
they grade differently is always a tie.

Dawid and Skene's model finds each judge's habits and each document's grade from one another. A judge who
always grades one step too high, or who cannot tell two grades apart, is no loss there: the model learns how
each judge grades documents of each true grade, and reads the votes by that. It needs several judges a
document to learn from; with two it is worse than the simplest rule.

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

from store.analysis.agreement.votes import NO_GRADE, Votes, grade_counts
from store.errors import ArgumentError, PoolerError
from store.records import TieRule, Ties

TIES: tuple[Ties, ...] = get_args(Ties)
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


@dataclass(frozen=True, slots=True, eq=False)
class AggregateResult:
    """One grade a document, and how it came about."""

    grades: NDArray[np.int64]
    """Shape (n_documents,): index into the scale; `NO_GRADE` where no judge graded the document (skipping it
    or finding it impossible to judge is no vote), or its votes are tied and ties are left open."""
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
        One grade, or none, a row of `counts`.

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
    chosen = high if ties == "high" else low
    if ties == "unresolved":
        chosen = np.where(low != high, NO_GRADE, low)
    return AggregateResult(chosen, low, high)


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
        In [0, 1].

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
    # A weighted sum by hand: the same bits on every machine, which a matrix product is not.
    total = np.zeros(len(counts), dtype=np.float64)
    for place, value in enumerate(values):
        total += counts[:, place] * value
    probabilities: NDArray[np.float64] = np.minimum(total / counts.sum(axis=1), 1.0)
    return probabilities


def share_probabilities(counts: NDArray[np.int64], level_index: int) -> NDArray[np.float64]:
    """Compute the share, in [0, 1], of a document's judges who find it relevant, shape (n_documents,).

    `counts` as for `value_probabilities`; `level_index` is the place of the least relevant
    grade, from 1 to ``n_grades - 1``.

    >>> share_probabilities(np.array([[0, 1, 3], [4, 0, 0]]), 2).tolist()
    [0.75, 0.0]
    """
    shares: NDArray[np.float64] = counts[:, level_index:].sum(axis=1) / counts.sum(axis=1)
    return shares


MIN_JUDGES = 3
"""Judges altogether; with fewer, the model cannot tell who is right."""
MIN_VOTES = 3
"""Votes on a document below which simpler rules often do better: a rule of thumb, from qrels of
judges drawn two and three a document; no bound that a publication proves."""

_LEAST_PROBABILITY = 1e-10
"""What a judge never did is this likely still, so that one vote never rules out a grade."""
_PLAIN_ITERATIONS = 100
"""Iterations before steps are lengthened: they settle which fixed point is approached."""
_SAME = 1e-9
"""Probabilities closer than this are equal: sums in another order differ by less."""


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkeneResult:
    """The probability of every grade of every document."""

    posterior: NDArray[np.float64]
    """Shape (n_documents, n_grades): rows sum to 1; of a fixed document, 1 at its grade."""
    low: NDArray[np.int64]
    """Shape (n_documents,): place of the most probable grade, the lowest of equally probable."""
    high: NDArray[np.int64]
    """Shape (n_documents,): the highest of them; equal to `low` where nothing is tied."""
    n_iterations: int
    converged: bool
    """False = the limit of iterations was reached first."""
    n_below_three: int
    """Documents that are not fixed, with fewer than `MIN_VOTES` votes."""


def dawid_skene(
    votes: Votes,
    *,
    fixed: NDArray[np.int64] | None = None,
    max_iterations: int = 10_000,
    tolerance: float = 1e-9,
) -> DawidSkeneResult:
    r"""Estimate true grades and judges' habits by expectation maximisation.

    Parameters
    ----------
    votes : Votes
        Grades of three judges or more; `PoolerError` if fewer have a vote.
    fixed : ndarray of int64, shape (n_documents,), optional
        Place of a grade that is known, as by adjudication, else `NO_GRADE` (-1). Known grades stay, and teach
        the model how the judges grade.
    max_iterations : int, default=10000
        At least 1; every expectation step is one.
    tolerance : float, default=1e-9
        The estimate has converged when no probability of a grade moves by more in one iteration. It moves
        slowly where judges are few: at 1e-4, 11 of the grades of 2,665 documents by 177 judges still change.

    Returns
    -------
    DawidSkeneResult
        Nothing in it depends on the order of judges or documents, but for rounding.

    Notes
    -----
    With :math:`T_{ik}` the probability that document i has grade k, it starts from the share of its judges
    who gave k (majority initialisation), and repeats (section 2 of [1]_)

    .. math::
        \pi^{(j)}_{kl} &= \sum_{i: j \to l} T_{ik} / \sum_{i \in j} T_{ik}, \qquad
        p_k = \tfrac1I \sum_i T_{ik} \\
        T_{ik} &\propto p_k \prod_{(j, l) \in i} \pi^{(j)}_{kl}

    The product is a sum of logarithms; probabilities are kept above 1e-10. After 100 iterations steps are
    lengthened by scheme S3 of [2]_, on the :math:`T_{ik}`, wherever the likelihood does not fall by it: the
    fixed points are the same. It is deterministic. O(n_votes * n_grades) an iteration in time and memory.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM
       Algorithm", *Applied Statistics* 28(1), 20-28, 1979, doi:10.2307/2346806.
    .. [2] R. Varadhan and C. Roland, "Simple and Globally Convergent Methods for Accelerating the Convergence
       of Any EM Algorithm", *Scandinavian Journal of Statistics* 35(2), 335-353, 2008,
       doi:10.1111/j.1467-9469.2007.00585.x.

    Examples
    --------
    Cleo gives 1 where Ann and Bob give 0, and 0 where they give 1. Where Bob is absent she is read as she
    grades, and not as a vote against Ann:

    >>> from store.analysis.agreement.votes import votes_from_rows
    >>> given = np.array([(0, 0, 1)] * 4 + [(1, 1, 0)] * 4 + [(0, -1, 1), (1, -1, 0)])
    >>> documents, judges = np.nonzero(given >= 0)
    >>> names = {"topics": ["1"], "judges": ["ann", "bob", "cleo"], "scale_values": (0, 1)}
    >>> places = given[documents, judges]
    >>> result = dawid_skene(votes_from_rows(documents * 0, documents, judges, places, **names))
    >>> result.low.tolist(), result.converged, result.n_below_three
    ([0, 0, 0, 0, 1, 1, 1, 1, 0, 1], True, 2)
    """
    n_judges = len(np.unique(votes.judge_codes))
    if n_judges < MIN_JUDGES:
        message = f"Dawid-Skene needs votes of at least {MIN_JUDGES} judges, and has {n_judges}"
        raise PoolerError(message, hint="majority and median take any number of judges")
    counts = grade_counts(votes)
    n_votes = counts.sum(axis=1)
    known = np.full(votes.n_documents, NO_GRADE, dtype=np.int64) if fixed is None else fixed
    is_known = known != NO_GRADE
    certain = np.eye(votes.n_grades)[:, known[is_known]]
    cells = votes.judge_codes * votes.n_grades + votes.places
    first_votes = np.searchsorted(votes.documents, np.arange(votes.n_documents))

    by_grade = counts.T / n_votes
    by_grade[:, is_known] = certain

    def step(before: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the next probabilities, and the log-likelihood of those before."""
        after, likelihood = _reading(cells, first_votes, known, *_habits(votes, cells, before))
        after[:, is_known] = certain
        return after, likelihood

    n_iterations, converged = 0, False
    path: list[NDArray[np.float64]] = []
    while n_iterations < max_iterations and not converged:
        n_iterations += 1
        before = by_grade
        by_grade, likelihood = step(before)
        converged = bool(np.abs(by_grade - before).max() <= tolerance)
        if converged or n_iterations < _PLAIN_ITERATIONS:
            continue
        path = [*path, by_grade] if path else [before, by_grade]
        if len(path) < 3 or n_iterations == max_iterations:
            continue
        longer = _lengthened(*path)
        path = []
        if longer is not None:
            n_iterations += 1
            after, longer_likelihood = step(longer)
            if longer_likelihood >= likelihood:
                by_grade = after
                converged = bool(np.abs(after - longer).max() <= tolerance)
    posterior = np.ascontiguousarray(by_grade.T)
    is_most = posterior >= posterior.max(axis=1, keepdims=True) - _SAME
    return DawidSkeneResult(
        posterior=posterior,
        low=np.argmax(is_most, axis=1),
        high=votes.n_grades - 1 - np.argmax(is_most[:, ::-1], axis=1),
        n_iterations=n_iterations,
        converged=converged,
        n_below_three=int(np.count_nonzero(~is_known & (n_votes < MIN_VOTES))),
    )


def _habits(
    votes: Votes, cells: NDArray[np.int64], posterior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of every grade and every judge's confusion matrix; the M step.

    `posterior` has grades in rows; `cells` are the judge and the grade of every vote in one number.
    """
    q, n_judges = votes.n_grades, len(votes.judges)
    given = [np.bincount(cells, of_grade[votes.documents], n_judges * q) for of_grade in posterior]
    confusion = np.stack(given).reshape(q, n_judges, q).transpose(1, 0, 2)
    confusion = np.maximum(confusion, _LEAST_PROBABILITY)
    prior = np.maximum(posterior.mean(axis=1), _LEAST_PROBABILITY)
    return prior / prior.sum(), confusion / confusion.sum(axis=2, keepdims=True)


def _reading(
    cells: NDArray[np.int64],
    first_votes: NDArray[np.int64],
    known: NDArray[np.int64],
    prior: NDArray[np.float64],
    confusion: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Return the probability of every grade (rows) of every document by its votes; the E step.

    With it the log-likelihood of the votes and of the grades that are known.
    """
    habits = np.log(confusion).transpose(1, 0, 2).reshape(len(prior), -1)
    log_likelihood = np.stack([np.add.reduceat(row[cells], first_votes) for row in habits])
    log_likelihood += np.log(prior)[:, np.newaxis]
    most = log_likelihood.max(axis=0)
    likelihood = np.exp(log_likelihood - most)
    whole = likelihood.sum(axis=0)
    of_votes = most + np.log(whole)
    is_known = known != NO_GRADE
    of_votes[is_known] = log_likelihood[known[is_known], np.flatnonzero(is_known)]
    posterior: NDArray[np.float64] = likelihood / whole
    return posterior, float(of_votes.sum())


def _lengthened(
    first: NDArray[np.float64], second: NDArray[np.float64], third: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Go on from three successive estimates by scheme S3; ``None`` = a step is long enough."""
    change = second - first
    bend = third - second - change
    size = float(np.linalg.norm(bend))
    if size == 0 or float(np.linalg.norm(change)) <= size:
        return None
    length = float(np.linalg.norm(change)) / size
    longer = np.clip(first + 2 * length * change + length**2 * bend, 0.0, None)
    return np.asarray(longer / longer.sum(axis=0))
