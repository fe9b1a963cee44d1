"""What every agreement coefficient shares: its result, its reasons, the costs of disagreeing.

An undefined coefficient is a reason, never a number:

================ ================================================================================
no-common-docs   no document was graded by two judges
one-judge        one judge graded at all
one-doc          one document only was graded by two judges, which says nothing about chance
single-grade     one and the same grade was used throughout: agreement by chance is certain
no-relevant      nobody found a relevant document, or nobody gave the grade in question
================ ================================================================================

One and the same formula serves exact and fast arithmetic: on arrays of Python integers (dtype
object) nothing is rounded before the last division; on float64 whole stacks of tables are computed
at once, and NaN stands where there is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

Reason = Literal["no-common-docs", "one-judge", "one-doc", "single-grade", "no-relevant"]
Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
Numbers = NDArray[Any]
"""Python integers (dtype object) or float64: the arithmetic is the same."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of some documents, between 0 and 1."""

    value: float | None
    reason: Reason | None
    """Why there is no value; ``None`` when there is one."""
    n_documents: int
    """Documents that it is a part of."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Agreement beyond chance: (observed - expected) / (1 - expected)."""

    value: float | None
    """At most 1, perfect agreement; 0 as by chance; below 0 less than by chance."""
    reason: Reason | None
    """Why there is no value; ``None`` when there is one."""
    n_documents: int
    """Documents graded by two judges at least."""
    observed: float | None
    """Weighted observed agreement, in [0, 1]; ``None`` without documents."""
    expected: float | None
    """Weighted agreement expected by chance, in [0, 1]; ``None`` without documents."""
    standard_error: float | None = None
    """Asymptotic, above 0, of independent documents; ``None`` when there is no value, no formula
    for this coefficient, or when the formula degenerates to 0, as for perfect agreement."""
    null_error: float | None = None
    """Standard error supposing that agreement is by chance: of the test of 0, never of an
    interval. ``None`` as `standard_error`; Cohen's kappa alone has it."""


def costs_of(
    n_grades: int, weights: Weights, values: Sequence[int] | None = None
) -> NDArray[np.object_]:
    """Tabulate what it costs to give one grade where another judge gave another.

    Parameters
    ----------
    n_grades : int
        Grades of the declared scale, used or not; at least 2.
    weights : {"none", "linear", "quadratic"}
        A disagreement costs 1, its distance, or its distance squared. The usual agreement weights
        are ``1 - cost / largest cost``.
    values : sequence of int, length n_grades, optional
        Grade values, ascending: distances are then differences of values. By default they are
        differences of places on the scale: -2 and 0 are neighbours on the scale -2, 0, 1.

    Returns
    -------
    ndarray of Python int, shape (n_grades, n_grades)
        Symmetric, 0 on the diagonal, above 0 elsewhere.

    Raises
    ------
    ArgumentError
        If `weights` is another word, or `values` are not `n_grades` ascending integers.

    Examples
    --------
    >>> costs_of(3, "quadratic").tolist()
    [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    >>> costs_of(3, "linear", [-2, 0, 1]).tolist()
    [[0, 2, 3], [2, 0, 1], [3, 1, 0]]
    """
    if weights not in WEIGHTS:
        raise ArgumentError("weights", f"must be one of {', '.join(WEIGHTS)}", weights)
    places = list(range(n_grades)) if values is None else [int(value) for value in values]
    if len(places) != n_grades or sorted(set(places)) != places:
        raise ArgumentError("values", f"must be {n_grades} grades, ascending", places)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    rows = [[abs(one - other) ** power * (one != other) for other in places] for one in places]
    return np.array(rows, dtype=object)


def check_table(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `table` when it is a square table of counts, else raise `ArgumentError`."""
    table = np.asarray(table)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
        raise ArgumentError("table", "must be square, 2 x 2 or more", f"shape {table.shape}")
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        raise ArgumentError("table", "must hold counts >= 0", table.tolist())
    return table


def check_tables(tables: Numbers) -> NDArray[np.float64]:
    """Return a stack of square tables as float64, else raise `ArgumentError`."""
    tables = np.asarray(tables, dtype=np.float64)
    if tables.ndim < 2 or tables.shape[-1] != tables.shape[-2] or tables.shape[-1] < 2:
        raise ArgumentError("tables", "must be square, 2 x 2 or more", f"shape {tables.shape}")
    return tables


def share(part: int, whole: int, n_documents: int, reason: Reason) -> Share:
    """Divide, or give the reason why one cannot."""
    return Share(part / whole if whole else None, None if whole else reason, n_documents)


def divide(part: Numbers, whole: Numbers) -> NDArray[np.float64]:
    """Divide stacks; NaN where `whole` is 0."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    quotient = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient
