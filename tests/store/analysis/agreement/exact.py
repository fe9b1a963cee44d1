"""One table of two judges by one coefficient, without rounding before the last division."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from store.analysis.agreement.kappa import (
    METRIC_OF,
    Chance,
    Coefficient,
    Metric,
    Reason,
    RelevantCounts,
    Weights,
    _costs,
    _variance,
    alpha,
    costs_of,
)
from store.analysis.agreement.tables import _CHANCES, PairName
from tests.store.analysis.graded import Table


def chance_corrected(chance: Chance, table: Table, weights: Weights = "none") -> Coefficient:
    """Measure by Cohen's kappa, with its standard error, Scott's pi, Bennett's S or Gwet's AC."""
    counts = table.astype(object)  # products of four sums overflow 64 bits
    costs = costs_of(len(counts), weights)
    n = counts.sum()
    if n == 0:
        return Coefficient(None, "no-common-docs", 0)
    cost, by_chance, out_of = _costs(chance, counts, costs)
    if n == 1 or np.diagonal(counts).max() == n:
        reason: Reason = "one-doc" if n == 1 else "single-grade"
        return Coefficient(None, reason, n)
    value = (n * by_chance - cost * out_of) / (n * by_chance)
    part, whole = _variance(counts, costs)
    error = math.sqrt(part / whole) if chance == "cohen" and part else None
    return Coefficient(value, None, n, error)


cohen_kappa = partial(chance_corrected, "cohen")
scott_pi = partial(chance_corrected, "scott")
bennett_s = partial(chance_corrected, "bennett")
gwet_ac = partial(chance_corrected, "gwet")


def two_judge_alpha(
    table: Table, metric: Metric = "ordinal", *, values: Sequence[int] | None = None
) -> Coefficient:
    """Measure by Krippendorff's alpha."""
    return alpha(table + table.T, metric, n_documents=int(table.sum()), values=values)


def pair_coefficient(name: PairName, table: Table, *, values: Sequence[int] | None = None) -> Coefficient:
    """Measure by the coefficient of a name."""
    if name in METRIC_OF:
        return two_judge_alpha(table, METRIC_OF[name], values=values)
    chance, weights = _CHANCES[name]
    return chance_corrected(chance, table, weights)


def relevant_in(tables: Table) -> RelevantCounts:
    """Count two judges' relevant documents, one entry a table of shape (2, 2)."""
    common = tables.sum(axis=(1, 2))
    return RelevantCounts(common, tables[:, 1, 1], np.asarray(common - tables[:, 0, 0]))
