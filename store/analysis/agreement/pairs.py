"""How far two judges agree: every coefficient of a pair, by its name or put together.

The coefficients are those of `kappa`, `alpha` and `overlap`; `agreement.many` has those of more than two. One
pair is computed exactly, table by table; `stacked` computes one coefficient of thousands of tables at once,
for resampling and for reports on every pair of many judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.alpha import METRIC_OF, stacked_alpha, two_judge_alpha
from store.analysis.agreement.kappa import (
    Chance,
    Coefficient,
    Numbers,
    Share,
    Weights,
    chance_corrected,
    check_tables,
    stacked_chance_corrected,
)
from store.analysis.agreement.overlap import (
    MacroOverlap,
    macro_overlap,
    marginals,
    overlap,
    positive_agreement,
    raw_agreement,
    relevant_in,
    specific_agreement,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
)
from store.analysis.collapse import collapse_table
from store.errors import ArgumentError

PairName = Literal[
    "kappa",
    "linear",
    "quadratic",
    "pi",
    "s",
    "ac1",
    "ac2",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
]
PAIR_NAMES: tuple[PairName, ...] = get_args(PairName)
"""Cohen's kappa unweighted, linear and quadratic; Scott's pi; Bennett's S; AC1 and quadratic AC2;
Krippendorff's alpha."""
BINARY_NAMES: tuple[PairName, ...] = ("kappa", "pi", "s", "ac1", "alpha_nominal")
"""Those of `PAIR_NAMES` that differ on two grades; S is PABAK there."""
StackName = Literal[PairName, "raw", "positive", "overlap"]

_CHANCES: dict[str, tuple[Chance, Weights]] = {
    "kappa": ("cohen", "none"),
    "linear": ("cohen", "linear"),
    "quadratic": ("cohen", "quadratic"),
    "pi": ("scott", "none"),
    "s": ("bennett", "none"),
    "ac1": ("gwet", "none"),
    "ac2": ("gwet", "quadratic"),
}


@dataclass(frozen=True, slots=True, eq=False)
class BinaryAgreement:
    """Agreement of two judges on relevant or not, at one level."""

    level_index: int
    """Index into the scale of the least relevant grade."""
    table: NDArray[np.int64]
    """Shape (2, 2): not relevant, relevant."""
    raw: Share
    positive: Share
    overlap: Share
    coefficients: Mapping[PairName, Coefficient]
    """Of `BINARY_NAMES`."""


@dataclass(frozen=True, slots=True, eq=False)
class TableAgreement:
    """All coefficients of one table of two judges."""

    n_documents: int
    """Documents graded by both."""
    table: NDArray[np.int64]
    """Shape (n_grades, n_grades)."""
    first_marginals: NDArray[np.int64]
    """Shape (n_grades,): how often the first judge gave each grade."""
    second_marginals: NDArray[np.int64]
    raw: Share
    specific: tuple[Share, ...]
    """For each grade, how likely the other judge gives it when one does."""
    coefficients: Mapping[PairName, Coefficient]
    """Of `PAIR_NAMES`."""
    binary: tuple[BinaryAgreement, ...]
    """One a level, as they were asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement:
    """Agreement of two judges, over all documents and topic by topic."""

    overall: TableAgreement
    macro_overlaps: tuple[MacroOverlap, ...]
    """One a level: the mean of the topics' overlaps; every topic counts the same."""
    topics: tuple[TableAgreement, ...]
    """One for each table given, in their order; empty unless asked for."""


def pair_coefficient(
    name: PairName, table: NDArray[np.int64], *, values: Sequence[int] | None = None
) -> Coefficient:
    """Measure two judges by one coefficient, exactly.

    Parameters
    ----------
    name : str
        One of `PAIR_NAMES`; `ArgumentError` for another.
    table : ndarray of int64, shape (n_grades, n_grades)
        Documents counted by grade on the declared scale, first judge in rows.
    values : sequence of int, length n_grades, optional
        Grade values, ascending, for the weighted ones; by default places on the scale.

    Returns
    -------
    Coefficient
        As `cohen_kappa` and `two_judge_alpha`.

    Examples
    --------
    >>> table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    >>> [round(pair_coefficient(name, table).value, 4) for name in ("kappa", "pi", "alpha_ordinal")]
    [0.4915, 0.4872, 0.4935]
    """
    if name in METRIC_OF:
        return two_judge_alpha(table, METRIC_OF[name], values=values)
    chance, weights = _known(name)
    return chance_corrected(chance, table, weights, values=values)


def stacked(name: StackName, tables: Numbers, values: Sequence[int] | None = None) -> NDArray[np.float64]:
    """Measure a stack of pairs, topics or resamples by one coefficient.

    Parameters
    ----------
    name : str
        One of `PAIR_NAMES`, or ``raw``; ``positive`` and ``overlap`` are of tables of two grades.
        `ArgumentError` for another.
    tables : ndarray, shape (..., n_grades, n_grades)
        Counts; weighted sums of topics' tables too.
    values : sequence of int, length n_grades, optional
        As for `pair_coefficient`.

    Returns
    -------
    ndarray of float64, shape (...)
        To rounding; NaN exactly where the coefficient of one table is a reason.

    Examples
    --------
    >>> stacked("kappa", np.array([[[2, 1], [1, 2]], [[9, 0], [0, 0]]]))
    array([0.33333333,        nan])
    """
    tables = check_tables(tables)
    if name == "raw":
        return stacked_raw(tables)
    if name in ("positive", "overlap"):
        if tables.shape[-2:] != (2, 2):
            raise ArgumentError("tables", "must be 2 x 2", f"shape {tables.shape}")
        return stacked_overlap(tables) if name == "overlap" else stacked_specific(tables)[..., 1]
    if name in METRIC_OF:
        coefficients = stacked_alpha(tables + np.swapaxes(tables, -1, -2), METRIC_OF[name], values=values)
        return np.where(tables.sum(axis=(-2, -1)) < 2, np.nan, coefficients)
    chance, weights = _known(name)
    return stacked_chance_corrected(chance, tables, weights, values=values)


def pair_agreement(
    tables: NDArray[np.int64],
    levels: Sequence[int],
    *,
    values: Sequence[int] | None = None,
    by_topic: bool = False,
) -> PairAgreement:
    """Measure the agreement of two judges in every way, overall and topic by topic.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_topics, n_grades, n_grades)
        What `pair_tables` counts.
    levels : sequence of int
        Indices into the scale of least relevant grades, for the binary coefficients.
    values : sequence of int, length n_grades, optional
        As for `cohen_kappa`.
    by_topic : bool, default=False
        Whether every topic's table is measured, too.

    Returns
    -------
    PairAgreement
        Raises as `collapse_table` and `cohen_kappa` do. About a millisecond a table.
    """
    topics = [table_agreement(table, levels, values=values) for table in tables if by_topic]
    macro = [macro_overlap(relevant_in(collapse_table(tables, level))) for level in levels]
    overall = table_agreement(tables.sum(axis=0), levels, values=values)
    return PairAgreement(overall, tuple(macro), tuple(topics))


def table_agreement(
    table: NDArray[np.int64], levels: Sequence[int], *, values: Sequence[int] | None = None
) -> TableAgreement:
    """Compute all coefficients of one table, shape (n_grades, n_grades); see `pair_agreement`."""
    first_marginals, second_marginals = marginals(table)
    return TableAgreement(
        n_documents=int(table.sum()),
        table=table,
        first_marginals=first_marginals,
        second_marginals=second_marginals,
        raw=raw_agreement(table),
        specific=specific_agreement(table),
        coefficients={name: pair_coefficient(name, table, values=values) for name in PAIR_NAMES},
        binary=tuple(_binary_agreement(table, level) for level in levels),
    )


def _binary_agreement(table: NDArray[np.int64], level: int) -> BinaryAgreement:
    """Compute the coefficients of a table collapsed at a level."""
    binary = collapse_table(table, level)
    return BinaryAgreement(
        level_index=level,
        table=binary,
        raw=raw_agreement(binary),
        positive=positive_agreement(binary),
        overlap=overlap(binary),
        coefficients={name: pair_coefficient(name, binary) for name in BINARY_NAMES},
    )


def _known(name: str) -> tuple[Chance, Weights]:
    """Look up whose chance and which weights a coefficient of two judges has."""
    if name not in _CHANCES:
        raise ArgumentError("name", f"must be one of {', '.join(PAIR_NAMES)}", name)
    return _CHANCES[name]
