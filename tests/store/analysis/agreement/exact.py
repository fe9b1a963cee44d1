"""One table of two judges by one coefficient, without rounding before the last division."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from store.analysis.agreement.alpha import METRIC_OF, Metric, alpha
from store.analysis.agreement.kappa import Coefficient, chance_corrected, check_table
from store.analysis.agreement.overlap import RelevantCounts
from store.analysis.agreement.pairs import _CHANCES, PairName
from tests.store.analysis.graded import Table

cohen_kappa = partial(chance_corrected, "cohen")
scott_pi = partial(chance_corrected, "scott")
bennett_s = partial(chance_corrected, "bennett")
gwet_ac = partial(chance_corrected, "gwet")


def two_judge_alpha(
    table: Table, metric: Metric = "ordinal", *, values: Sequence[int] | None = None
) -> Coefficient:
    """Measure by Krippendorff's alpha."""
    counts = check_table(table)
    return alpha(counts + counts.T, metric, n_documents=int(counts.sum()), values=values)


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
