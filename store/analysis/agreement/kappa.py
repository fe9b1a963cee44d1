r"""Coefficients of agreement: beyond chance, of two or of many; without chance; costs, reasons, bands.

An undefined coefficient is a reason, never a number:

================ ================================================================================
no-common-docs   no document was graded by two judges
one-judge        one judge graded at all
one-doc          one document only was graded by two judges, which says nothing about chance
single-grade     one and the same grade was used throughout: agreement by chance is certain
no-relevant      no judge found a relevant document, or gave the grade in question
================ ================================================================================

One and the same formula serves exact and fast arithmetic: on arrays of Python integers (dtype
object) nothing is rounded before the last division; on float64 whole stacks of tables are computed
at once, and NaN stands where there is no number.

A table holds the documents that both judges graded: first judge in rows, second in columns,
grades of the declared scale in ascending order, used or not. With counts :math:`n_{ij}` of N
documents and costs :math:`d_{ij}` all four are

.. math:: 1 - (C / N) / D_e, \qquad C = \textstyle\sum d_{ij} n_{ij}

and differ in the cost :math:`D_e` that they expect by chance. With agreement weights
:math:`w_{ij} = 1 - d_{ij} / \max d` that is :math:`(P_o - P_e) / (1 - P_e)`.

Krippendorff's alpha is of any number of judges, any cells missing, on an ordered scale. Every document that
two judges graded adds its pairs of votes to the coincidences, divided by its number of votes less one, so
that each vote counts once:

.. math:: o_{ck} = \textstyle\sum_u n_{uc} (n_{uk} - [c = k]) / (m_u - 1)

Overlap is the share of documents relevant to all among those relevant to anybody, over the documents that
every judge graded; its mean over topics is Voorhees' measure of disagreement.

No list of bands follows from theory: a word says what its author would call the number, and two authors call
the same number differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import Votes, collapse_votes, grade_counts
from store.analysis.ratios import quotient

Reason = Literal["no-common-docs", "one-judge", "one-doc", "single-grade", "no-relevant"]
Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
Numbers = NDArray[Any]
"""Python integers (dtype object) or float64: the arithmetic is the same."""


def costs_of(n_grades: int, weights: Weights, values: Sequence[int] | None = None) -> NDArray[np.object_]:
    """Tabulate what it costs to give one grade where another judge gave another.

    Parameters
    ----------
    n_grades : int
        Grades of the declared scale, used or not; at least 2.
    weights : {"none", "linear", "quadratic"}
        A disagreement costs 1, its distance, or its distance squared. The usual agreement weights are
        ``1 - cost / largest cost``.
    values : sequence of int, length n_grades, optional
        Grade values, ascending: distances are then differences of values. By default they are differences of
        places on the scale: -2 and 0 are neighbours on the scale -2, 0, 1.

    Returns
    -------
    ndarray of Python int, shape (n_grades, n_grades)
        Symmetric, 0 on the diagonal, above 0 elsewhere.

    Examples
    --------
    >>> costs_of(3, "quadratic").tolist(), costs_of(3, "linear", [-2, 0, 1]).tolist()
    ([[0, 1, 4], [1, 0, 1], [4, 1, 0]], [[0, 2, 3], [2, 0, 1], [3, 1, 0]])
    """
    places = list(range(n_grades)) if values is None else [int(value) for value in values]
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    rows = [[abs(one - other) ** power * (one != other) for other in places] for one in places]
    return np.array(rows, dtype=object)


Chance = Literal["cohen", "scott", "bennett", "gwet"]


def stacked_chance_corrected(
    chance: Chance, tables: Numbers, weights: Weights = "none"
) -> NDArray[np.float64]:
    r"""Measure the agreement of two judges beyond chance, of a stack of tables.

    All depend on how often each grade is given: read them beside the marginals and the raw agreement. On two
    grades the three weights are the same.

    Parameters
    ----------
    chance : {"cohen", "scott", "bennett", "gwet"}
        Whose idea of chance: Cohen's kappa, each judge having habits of their own; Scott's pi, the two habits
        taken together, which is Fleiss' kappa of two judges; Bennett's S, grades drawn at random, which is
        Brennan and Prediger's and Randolph's kappa, and on two grades PABAK, ``2 * observed - 1``; Gwet's
        AC1, weighted AC2, which stays high where one grade holds most documents and the kappas fall.
    tables : array_like, shape (..., n_grades, n_grades)
        Documents counted by grade on the *declared* scale, first judge in rows; or weighted sums of topics'
        tables.
    weights : {"none", "linear", "quadratic"}, default="none"
        As for `costs_of`, of places on the scale; linear and quadratic are for graded judgements, where 0
        against 3 is worse than 2 against 3.

    Returns
    -------
    ndarray of float64, shape (...)
        At most 1; NaN where a table holds fewer than two documents, or one grade that both judges used
        throughout. When one judge alone used a single grade, kappa is 0.

    Notes
    -----
    With marginals :math:`r_i, c_j`, their sums :math:`s_k = r_k + c_k`, q grades and the costs above,

    .. math:: D_e = \sum d_{ij} r_i c_j / N^2, \quad \sum d_{ij} s_i s_j / (2N)^2, \quad \sum d_{ij} / q^2

    of Cohen [1]_ [2]_, Scott [3]_ and Bennett [4]_; of Gwet [5]_, with :math:`m_k = s_k / 2N`, chance
    agreement is :math:`P_e = \sum w_{ij} / (q (q - 1)) \cdot \sum m_k (1 - m_k)`.

    References
    ----------
    .. [1] J. Cohen, "A Coefficient of Agreement for Nominal Scales", *Educational and Psychological
       Measurement* 20(1), 37-46, 1960, doi:10.1177/001316446002000104.
    .. [2] J. Cohen, "Weighted Kappa", *Psychological Bulletin* 70(4), 213-220, 1968, doi:10.1037/h0026256.
    .. [3] W. A. Scott, "Reliability of Content Analysis: The Case of Nominal Scale Coding", *Public Opinion
       Quarterly* 19(3), 321-325, 1955, doi:10.1086/266577.
    .. [4] E. M. Bennett, R. Alpert and A. C. Goldstein, "Communications Through Limited-Response
       Questioning", *Public Opinion Quarterly* 18(3), 303-308, 1954, doi:10.1086/266520.
    .. [5] K. L. Gwet, "Computing Inter-Rater Reliability and Its Variance in the Presence of High Agreement",
       *British Journal of Mathematical and Statistical Psychology* 61(1), 29-48, 2008,
       doi:10.1348/000711006X126600.

    Examples
    --------
    A table that the IR book (Manning, Raghavan and Schütze 2008, table 8.2) has, printed as .776; and one of
    a single grade:

    >>> stacked_chance_corrected("scott", [[[300, 20], [10, 70]], [[10, 0], [0, 0]]])
    array([0.77591036,        nan])
    """
    tables = np.asarray(tables, dtype=np.float64)
    costs = costs_of(tables.shape[-1], weights).astype(np.float64)
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    n, cost = rows.sum(axis=-1), (tables * costs).sum(axis=(-2, -1))
    if chance == "cohen":
        by_chance, out_of = ((rows @ costs) * columns).sum(axis=-1), n * n
    else:
        by_chance, out_of = chance_cost(chance, rows + columns, costs)
    ratio = quotient(cost * out_of, n * by_chance)
    return np.where(_says_nothing(tables, n), np.nan, 1 - ratio)


def chance_cost(chance: Chance, given: Numbers, costs: Numbers) -> tuple[Numbers, Numbers]:
    """Return the cost expected by chance of two judges who share one habit, as numerator and denominator.

    `given` says how often each grade was given by all judges, shape (..., n_grades); only the proportions
    count. `costs` are as `costs_of` makes them. Integers for integers.
    """
    q, total = len(costs), given.sum(axis=-1)
    squared = total * total
    if chance == "scott":
        return ((given @ costs) * given).sum(axis=-1), squared
    if chance == "bennett":
        return squared * costs.sum(), squared * (q * q)
    largest = costs.max()
    weight = q * q * largest - costs.sum()
    out_of = squared * (q * (q - 1))
    return largest * out_of - weight * (squared - (given * given).sum(axis=-1)), out_of


def influences(tables: Numbers, costs: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    r"""Return, for Cohen's kappa, C and E, the costs seen and expected, and the y of every cell.

    With :math:`E = \sum d_{ij} r_i c_j`, :math:`a_i = \sum_k d_{ik} c_k` and :math:`b_j = \sum_k d_{kj} r_k`
    it is :math:`y_{ij} = C (a_i + b_j) - E d_{ij}` [1]_.

    References
    ----------
    .. [1] J. L. Fleiss, J. Cohen and B. S. Everitt, "Large Sample Standard Errors of Kappa and Weighted
       Kappa", *Psychological Bulletin* 72(5), 323-327, 1969, doi:10.1037/h0028106.
    """
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    of_rows, of_columns = columns @ costs, rows @ costs
    cost, by_chance = (tables * costs).sum(axis=(-2, -1)), (of_columns * columns).sum(axis=-1)
    both = of_rows[..., :, np.newaxis] + of_columns[..., np.newaxis, :]
    return cost, by_chance, _inner(cost) * both - _inner(by_chance) * costs


def _inner(numbers: Numbers) -> Numbers:
    """Return numbers, one a table, with the two axes of a table added."""
    return np.asarray(numbers)[..., np.newaxis, np.newaxis]


def _says_nothing(tables: Numbers, n: Numbers) -> NDArray[np.bool_]:
    """Return which tables hold too few documents, or one and the same grade of both judges."""
    largest = np.diagonal(tables, axis1=-2, axis2=-1).max(axis=-1)
    return np.asarray((n < 2) | (largest == n))


Metric = Literal["nominal", "ordinal", "interval"]
METRICS: tuple[Metric, ...] = get_args(Metric)
METRIC_OF: dict[str, Metric] = {f"alpha_{metric}": metric for metric in METRICS}
"""The metric of a coefficient by its name, such as ``alpha_ordinal``."""


def stacked_alpha(
    coincidences: Numbers, metric: Metric = "ordinal", *, values: Sequence[int] | None = None
) -> NDArray[np.float64]:
    r"""Measure the agreement of any number of judges by Krippendorff's alpha, of a stack of coincidences.

    Parameters
    ----------
    coincidences : ndarray, shape (..., n_grades, n_grades)
        Summed over topics; symmetric. Of two judges, the table plus its transpose.
    metric : {"nominal", "ordinal", "interval"}, default="ordinal"
        What a disagreement costs: 1; the squared number of votes between the two grades; the squared distance
        of the grades.
    values : sequence of int, length n_grades, optional
        Grade values, ascending, for ``interval``; by default places on the scale.

    Returns
    -------
    ndarray of float64, shape (...)
        To rounding. NaN without coincidences and where one grade alone was given; one document cannot be told
        from several here.

    Notes
    -----
    With :math:`n_c = \sum_k o_{ck}` and :math:`n = \sum n_c`,

    .. math:: \alpha = 1 - (n - 1) \sum o_{ck} d_{ck} / \sum n_c n_k d_{ck}

    where :math:`d_{ck}` is :math:`[c \ne k]`, :math:`(v_c - v_k)^2`, or, ordinal, :math:`(\sum_{g=c}^k n_g -
    (n_c + n_k) / 2)^2` [1]_. Unused grades change none of the three. Nominal alpha of two judges is
    ``1 - (1 - pi) (1 - 1 / 2N)``, pi being Scott's.

    References
    ----------
    .. [1] K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", University of Pennsylvania, 2011,
       https://repository.upenn.edu/asc_papers/43.

    Examples
    --------
    Krippendorff's ten units of two coders, printed as .095:

    >>> table = np.array([[5, 3], [1, 1]])
    >>> round(float(stacked_alpha(table + table.T, "nominal")), 6)
    0.095238
    """
    coincidences = np.asarray(coincidences, dtype=np.float64)
    distances = _distances(coincidences, metric, values)
    given = coincidences.sum(axis=-1)
    seen = (coincidences * distances).sum(axis=(-2, -1))
    by_chance = (given[..., :, np.newaxis] * distances * given[..., np.newaxis, :]).sum(axis=(-2, -1))
    return 1 - quotient((given.sum(axis=-1) - 1) * seen, by_chance)


def _distances(coincidences: Numbers, metric: Metric, values: Sequence[int] | None) -> Numbers:
    """Tabulate what disagreements cost, four times as much for the ordinal metric."""
    costs = costs_of(coincidences.shape[-1], "none" if metric == "nominal" else "quadratic", values)
    if metric != "ordinal":
        return costs.astype(coincidences.dtype)
    # The votes from c to k less half of those at both ends are a difference of mid-ranks.
    given = coincidences.sum(axis=-1)
    middles = 2 * given.cumsum(axis=-1) - given
    steps = middles[..., :, np.newaxis] - middles[..., np.newaxis, :]
    return np.asarray(steps * steps)


@dataclass(frozen=True, slots=True)
class MacroOverlap:
    """The mean of topics' overlaps."""

    value: float | None
    """In [0, 1]; ``None`` when no topic has an overlap."""
    reason: Reason | None
    n_topics: int
    """Topics that have one; left out are those without a common, or without a relevant document."""


class RelevantCounts(NamedTuple):
    """Documents that all judges graded, topic by topic; each of shape (n_topics,) and int64."""

    common: NDArray[np.int64]
    """Graded by every judge."""
    both: NDArray[np.int64]
    """Of these, relevant to every judge."""
    either: NDArray[np.int64]
    """Of these, relevant to at least one."""


def relevant_to_all(votes: Votes, level_index: int) -> RelevantCounts:
    """Count, topic by topic, the documents that all of ``votes.judges`` graded, and found relevant.

    `level_index` is the place of the least relevant grade, as for `collapse_votes`.
    """
    counts = grade_counts(collapse_votes(votes, level_index))
    of_all = counts.sum(axis=1) == len(votes.judges)
    relevant = counts[of_all, 1]
    topics = votes.topic_codes[of_all]
    n_topics = len(votes.topics)
    return RelevantCounts(
        np.bincount(topics, minlength=n_topics),
        np.bincount(topics[relevant == len(votes.judges)], minlength=n_topics),
        np.bincount(topics[relevant > 0], minlength=n_topics),
    )


def macro_overlap(counts: RelevantCounts) -> MacroOverlap:
    """Average the overlap over the topics that have one, as Voorhees does [1]_; of two judges or of many.

    Counts of two judges come from their tables, of any number from `relevant_to_all`. When no topic has an
    overlap: ``no-relevant``, or ``no-common-docs`` when no topic has a common document.

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness",
       *Information Processing & Management* 36(5), 697-716, 2000, doi:10.1016/S0306-4573(00)00010-8.

    Examples
    --------
    >>> macro_overlap(RelevantCounts(*np.array([[7, 3, 4], [1, 3, 0], [2, 3, 0]])))
    MacroOverlap(value=0.75, reason=None, n_topics=2)
    """
    defined = counts.either > 0
    n_topics = int(defined.sum())
    if not n_topics:
        return MacroOverlap(None, "no-relevant" if counts.common.any() else "no-common-docs", 0)
    mean = math.fsum(counts.both[defined] / counts.either[defined]) / n_topics
    return MacroOverlap(mean, None, n_topics)


def macro_sums(counts: RelevantCounts) -> NDArray[np.float64]:
    """Turn counts into sums for resampling topics: overlap, or 0, and whether there is one; (n_topics, 2).

    The ratio of the sums over topics is the macro overlap.
    """
    defined = counts.either > 0
    overlaps = np.where(defined, counts.both / np.maximum(counts.either, 1), 0.0)
    return np.stack([overlaps, defined.astype(np.float64)], axis=-1)


def stacked_raw(tables: Numbers) -> NDArray[np.float64]:
    """Return the share of documents with the same grade, of tables (..., n_grades, n_grades).

    NaN without documents.

    >>> float(stacked_raw(np.array([[20, 5], [10, 15]])))
    0.7
    """
    return quotient(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def stacked_specific(tables: Numbers) -> NDArray[np.float64]:
    """Return, for each grade, how likely the other judge gives it when one does, shape (..., n_grades).

    Twice the documents to which both gave it, over how often either judge gave it; NaN for a grade that
    no judge gave. Of the grade "relevant" it is positive agreement, the Dice coefficient of the two judges'
    sets of relevant documents.

    >>> stacked_specific(np.array([[70, 10], [20, 300]])).tolist()
    [0.8235294117647058, 0.9523809523809523]
    """
    same = np.diagonal(tables, axis1=-2, axis2=-1)
    return quotient(2 * same, tables.sum(axis=-1) + tables.sum(axis=-2))


def stacked_overlap(tables: Numbers) -> NDArray[np.float64]:
    """Return the Jaccard coefficient of two judges' sets of relevant documents, of tables (..., 2, 2).

    Documents relevant to both over those relevant to at least one; NaN without relevant documents.

    >>> float(stacked_overlap(np.array([[70, 10], [20, 300]]))) == 300 / 330
    True
    """
    return quotient(tables[..., 1, 1], tables.sum(axis=(-2, -1)) - tables[..., 0, 0])
