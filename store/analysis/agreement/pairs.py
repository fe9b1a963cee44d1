"""Every coefficient of two judges by its name, of a stack of tables: of pairs, topics or resamples.

The coefficients are those of `kappa`, `alpha` and `overlap`; `agreement.many` has those of more judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.alpha import METRIC_OF, stacked_alpha
from store.analysis.agreement.kappa import Chance, Numbers, Weights, check_tables, stacked_chance_corrected
from store.analysis.agreement.overlap import stacked_overlap, stacked_raw, stacked_specific
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
        Grade values, ascending, for ``alpha_interval``; by default places on the scale.

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
    if name not in _CHANCES:
        raise ArgumentError("name", f"must be one of {', '.join(PAIR_NAMES)}", name)
    chance, weights = _CHANCES[name]
    return stacked_chance_corrected(chance, tables, weights)
