"""How far two judges agree: coefficients of the tables that `pair_tables` counts.

A table holds the documents that both judges graded: first judge in rows, second in columns,
grades of the declared scale in ascending order, used or not. The tables of topics add up to the
table of all documents. An undefined coefficient is a reason, never a number:

================ ================================================================================
no-common-docs   the judges share no document
one-doc          they share one document only, which says nothing about chance
single-grade     both used one and the same grade only: agreement by chance is certain
no-relevant      neither found a relevant document
================ ================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.collapse import collapse_table as collapse_table
from store.analysis.grade_matrix import pair_tables as pair_tables
from store.errors import ArgumentError

Reason = Literal["no-common-docs", "one-doc", "single-grade", "no-relevant"]
Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of some documents, between 0 and 1."""

    value: float | None
    reason: Reason | None
    """Why there is no value; ``None`` when there is one."""
    n_documents: int
    """Documents that it is a part of."""


@dataclass(frozen=True, slots=True)
class KappaResult:
    """Cohen's kappa of one table."""

    kappa: float | None
    """In [-1, 1]: 1 perfect agreement, 0 as by chance."""
    reason: Reason | None
    """Why there is no kappa; ``None`` when there is one."""
    n_documents: int
    """Documents judged by both."""
    observed: float | None
    """Weighted observed agreement, in [0, 1]; ``None`` without documents."""
    expected: float | None
    """Weighted agreement expected by chance, in [0, 1]; ``None`` without documents."""
    standard_error: float | None
    """Asymptotic, above 0; ``None`` when there is no kappa or the formula degenerates to 0, as it
    does for perfect agreement and for a judge who used one grade only."""


@dataclass(frozen=True, slots=True, eq=False)
class BinaryAgreement:
    """Agreement on relevant or not, at one level."""

    table: NDArray[np.int64]
    """Shape (2, 2): not relevant, relevant."""
    kappa: KappaResult
    raw: Share
    positive: Share
    overlap: Share


@dataclass(frozen=True, slots=True, eq=False)
class TableAgreement:
    """All coefficients of one table."""

    n_documents: int
    """Documents judged by both."""
    table: NDArray[np.int64]
    """Shape (n_grades, n_grades)."""
    first_marginals: NDArray[np.int64]
    """Shape (n_grades,): how often the first judge gave each grade."""
    second_marginals: NDArray[np.int64]
    raw: Share
    kappa: KappaResult
    """Unweighted."""
    linear: KappaResult
    quadratic: KappaResult
    binary: BinaryAgreement


@dataclass(frozen=True, slots=True)
class MacroOverlap:
    """The mean of topics' overlaps."""

    value: float | None
    """In [0, 1]; ``None`` when no topic has an overlap."""
    reason: Reason | None
    n_topics: int
    """Topics in the mean."""
    n_no_relevant: int
    """Topics left out because neither judge found a relevant document."""
    n_no_common_docs: int
    """Topics left out because no document was judged by both."""


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement:
    """Agreement of two judges, over all documents and topic by topic."""

    overall: TableAgreement
    topics: tuple[TableAgreement, ...]
    """One for each table given, in their order."""
    macro_overlap: MacroOverlap
    """Mean of the topics' overlaps: every topic counts the same."""

    @property
    def micro_overlap(self) -> Share:
        """Overlap of all topics' documents thrown together: topics with many count more."""
        return self.overall.binary.overlap


def cohen_kappa(
    table: NDArray[np.int64], weights: Weights = "none", *, values: Sequence[int] | None = None
) -> KappaResult:
    r"""Measure the agreement of two judges beyond chance.

    Unweighted kappa takes all disagreements as equal; the weighted ones are for graded judgements,
    where 0 against 3 is worse than 2 against 3. On two grades all three are the same. Kappa depends
    on how often each grade is given: read it beside the marginals and the raw agreement.

    Parameters
    ----------
    table : ndarray of int64, shape (n_grades, n_grades)
        Documents counted by grade on the *declared* scale, first judge in rows.
    weights : {"none", "linear", "quadratic"}, default="none"
        Cost of a disagreement: 1, its distance, or its distance squared.
    values : sequence of int, length n_grades, optional
        Grade values, ascending; distances are then differences of values. By default they are
        differences of places on the scale, as in scikit-learn with ``labels=``: -2 and 0 are
        neighbours on the scale -2, 0, 1.

    Returns
    -------
    KappaResult
        Kappa or a reason: ``no-common-docs``, ``one-doc``, ``single-grade``. When one judge alone
        used a single grade, kappa is 0.

    Raises
    ------
    ArgumentError
        If `table` is not square, has fewer than two grades or holds a negative count; if `weights`
        or `values` cannot be used.

    Notes
    -----
    With counts :math:`n_{ij}` of N documents, marginals :math:`r_i, c_j` and costs :math:`d_{ij}`,

    .. math:: \kappa = 1 - N C / E, \quad C = \sum d_{ij} n_{ij}, \quad E = \sum d_{ij} r_i c_j

    which is :math:`(P_o - P_e) / (1 - P_e)` with agreement weights :math:`1 - d_{ij} / \max d` [2]_
    and, where every disagreement costs 1, that of [1]_. The standard error is the one of [3]_ that
    does not suppose that there is no agreement; with the same costs it is

    .. math:: y_{ij} = C (\textstyle\sum_k d_{ik} c_k + \sum_k d_{kj} r_k) - E d_{ij}
    .. math:: SE^2 = N (N \textstyle\sum n_{ij} y_{ij}^2 - (\sum n_{ij} y_{ij})^2) / E^4

    It supposes independent documents; those of one topic are not, so intervals made from it are
    too narrow. All is counted in integers up to the last division, so that undefined cases are
    decided exactly and exchanging the judges changes no digit. O(n_grades ** 2).

    References
    ----------
    .. [1] J. Cohen, "A Coefficient of Agreement for Nominal Scales", *Educational and Psychological
       Measurement* 20(1), 37-46, 1960, doi:10.1177/001316446002000104.
    .. [2] J. Cohen, "Weighted Kappa", *Psychological Bulletin* 70(4), 213-220, 1968,
       doi:10.1037/h0026256.
    .. [3] J. L. Fleiss, J. Cohen and B. S. Everitt, "Large Sample Standard Errors of Kappa and
       Weighted Kappa", *Psychological Bulletin* 72(5), 323-327, 1969, doi:10.1037/h0028106.

    Examples
    --------
    A table of the SAS manual:

    >>> result = cohen_kappa(np.array([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), "linear")
    >>> round(result.kappa, 4), round(result.standard_error, 4)
    (0.4701, 0.1457)
    >>> cohen_kappa(np.array([[10, 0], [0, 0]])).reason
    'single-grade'
    """
    # Python integers: products of four sums of counts overflow 64 bits.
    counts = _check_table(table).tolist()
    costs = _costs(len(counts), weights, values)
    largest = max(map(max, costs))
    rows = [sum(row) for row in counts]
    columns = [sum(column) for column in zip(*counts, strict=True)]
    n = sum(rows)
    if n == 0:
        return KappaResult(None, "no-common-docs", 0, None, None, None)
    cells = [(i, j) for i in range(len(counts)) for j in range(len(counts))]
    cost = sum(costs[i][j] * counts[i][j] for i, j in cells)
    by_chance = sum(costs[i][j] * rows[i] * columns[j] for i, j in cells)
    observed = (n * largest - cost) / (n * largest)
    expected = (n * n * largest - by_chance) / (n * n * largest)
    if n == 1 or by_chance == 0:
        reason: Reason = "one-doc" if n == 1 else "single-grade"
        return KappaResult(None, reason, n, observed, expected, None)
    kappa = (by_chance - n * cost) / by_chance  # [2]

    of_row = [sum(d * c for d, c in zip(line, columns, strict=True)) for line in costs]
    of_column = [sum(d * r for d, r in zip(line, rows, strict=True)) for line in costs]
    total = squares = 0
    for i, j in cells:
        influence = cost * (of_row[i] + of_column[j]) - by_chance * costs[i][j]
        total += counts[i][j] * influence
        squares += counts[i][j] * influence**2
    spread = n * squares - total**2
    error = math.sqrt(n * spread / by_chance**4) if spread else None  # [3]
    return KappaResult(kappa, None, n, observed, expected, error)


def marginals(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often the first and the second judge gave each grade, shapes (n_grades,)."""
    table = _check_table(table)
    return table.sum(axis=1), table.sum(axis=0)


def raw_agreement(table: NDArray[np.int64]) -> Share:
    """Return the share of documents with the same grade; reason ``no-common-docs``.

    Examples
    --------
    >>> raw_agreement(np.array([[20, 5], [10, 15]])).value
    0.7
    """
    table = _check_table(table)
    n_documents = int(table.sum())
    return _share(int(np.trace(table)), n_documents, n_documents, "no-common-docs")


def overlap(table: NDArray[np.int64]) -> Share:
    """Return the Jaccard coefficient of the two judges' sets of relevant documents.

    Parameters
    ----------
    table : ndarray of int64, shape (2, 2)
        Documents judged by both: not relevant, relevant. `ArgumentError` for another shape.

    Returns
    -------
    Share
        Documents relevant to both over those relevant to at least one (``n_documents``). Reasons:
        ``no-common-docs``, else ``no-relevant`` when neither judge found any.

    Examples
    --------
    >>> overlap(np.array([[70, 10], [20, 300]])).value == 300 / 330
    True
    """
    both, either, reason = _relevant(table)
    return _share(both, either, either, reason)


def positive_agreement(table: NDArray[np.int64]) -> Share:
    """Return the Dice coefficient of the two judges' sets of relevant documents.

    Twice the documents relevant to both, over the sizes of both sets added up; all else as in
    `overlap`.

    Examples
    --------
    >>> positive_agreement(np.array([[70, 10], [20, 300]])).value == 600 / 630
    True
    """
    both, either, reason = _relevant(table)
    return _share(2 * both, both + either, either, reason)


def macro_overlap(tables: NDArray[np.int64]) -> MacroOverlap:
    """Average the overlap over topics, as Voorhees does.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_topics, 2, 2)
        One table a topic.

    Returns
    -------
    MacroOverlap
        The mean over the topics that have an overlap, and how many have none. When none has one:
        ``no-relevant``, or ``no-common-docs`` when no topic has a common document.

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval
       Effectiveness", *Information Processing & Management* 36(5), 697-716, 2000,
       doi:10.1016/S0306-4573(00)00010-8.

    Examples
    --------
    >>> macro_overlap(np.array([[[5, 0], [1, 1]], [[0, 0], [0, 3]], [[4, 0], [0, 0]]]))
    MacroOverlap(value=0.75, reason=None, n_topics=2, n_no_relevant=1, n_no_common_docs=0)
    """
    overlaps = [overlap(table) for table in tables]
    values = [share.value for share in overlaps if share.value is not None]
    no_relevant = sum(share.reason == "no-relevant" for share in overlaps)
    no_common = len(overlaps) - len(values) - no_relevant
    if not values:
        reason: Reason = "no-relevant" if no_relevant else "no-common-docs"
        return MacroOverlap(None, reason, 0, no_relevant, no_common)
    mean = math.fsum(values) / len(values)
    return MacroOverlap(mean, None, len(values), no_relevant, no_common)


def pair_agreement(
    tables: NDArray[np.int64], level_index: int, *, values: Sequence[int] | None = None
) -> PairAgreement:
    """Measure the agreement of two judges in every way, overall and topic by topic.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_topics, n_grades, n_grades)
        What `pair_tables` counts.
    level_index : int
        Index into the scale of the least relevant grade, for the binary coefficients.
    values : sequence of int, length n_grades, optional
        As for `cohen_kappa`.

    Returns
    -------
    PairAgreement
        The coefficients of the summed table and of every topic's. Raises as `collapse_table` and
        `cohen_kappa` do.
    """
    binary = collapse_table(tables, level_index)
    overall = _table_agreement(tables.sum(axis=0), binary.sum(axis=0), values)
    topics = tuple(_table_agreement(*both, values) for both in zip(tables, binary, strict=True))
    return PairAgreement(overall, topics, macro_overlap(binary))


def _table_agreement(
    table: NDArray[np.int64], binary: NDArray[np.int64], values: Sequence[int] | None
) -> TableAgreement:
    """Compute all coefficients of one table and its collapsed form."""
    kappa, raw = cohen_kappa(binary), raw_agreement(binary)
    positive, overlapping = positive_agreement(binary), overlap(binary)
    first_marginals, second_marginals = marginals(table)
    return TableAgreement(
        n_documents=int(table.sum()),
        table=table,
        first_marginals=first_marginals,
        second_marginals=second_marginals,
        raw=raw_agreement(table),
        kappa=cohen_kappa(table),
        linear=cohen_kappa(table, "linear", values=values),
        quadratic=cohen_kappa(table, "quadratic", values=values),
        binary=BinaryAgreement(binary, kappa, raw, positive, overlapping),
    )


def _costs(n_grades: int, weights: Weights, values: Sequence[int] | None) -> list[list[int]]:
    """Tabulate what it costs to give one grade where the other judge gave another, in integers."""
    if weights not in WEIGHTS:
        raise ArgumentError("weights", f"must be one of {', '.join(WEIGHTS)}", weights)
    places = list(range(n_grades)) if values is None else [int(value) for value in values]
    if len(places) != n_grades or sorted(set(places)) != places:
        raise ArgumentError("values", f"must be {n_grades} grades, ascending", places)
    if weights == "none":
        return [[int(one != other) for other in places] for one in places]
    power = 1 if weights == "linear" else 2
    return [[abs(one - other) ** power for other in places] for one in places]


def _check_table(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `table` when it is a square table of counts, else raise `ArgumentError`."""
    table = np.asarray(table)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
        raise ArgumentError("table", "must be square, 2 x 2 or more", f"shape {table.shape}")
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        raise ArgumentError("table", "must hold counts >= 0", table.tolist())
    return table


def _relevant(table: NDArray[np.int64]) -> tuple[int, int, Reason]:
    """Count documents relevant to both and to either, and word why there may be none."""
    table = _check_table(table)
    if table.shape != (2, 2):
        raise ArgumentError("table", "must be 2 x 2", f"shape {table.shape}")
    n_documents, both = int(table.sum()), int(table[1, 1])
    return both, n_documents - int(table[0, 0]), "no-relevant" if n_documents else "no-common-docs"


def _share(part: int, whole: int, n_documents: int, reason: Reason) -> Share:
    """Divide, or give the reason why one cannot."""
    return Share(part / whole if whole else None, None if whole else reason, n_documents)
