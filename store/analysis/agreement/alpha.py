r"""Krippendorff's alpha: any number of judges, any cells missing, on an ordered scale.

Every document that two judges graded adds its pairs of votes to the coincidences, divided by its
number of votes less one, so that each vote counts once:

.. math:: o_{ck} = \textstyle\sum_u n_{uc} (n_{uk} - [c = k]) / (m_u - 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.kappa import Coefficient, Numbers, Reason, check_tables, costs_of, divide
from store.errors import ArgumentError

Metric = Literal["nominal", "ordinal", "interval"]
METRICS: tuple[Metric, ...] = get_args(Metric)
METRIC_OF: dict[str, Metric] = {f"alpha_{metric}": metric for metric in METRICS}
"""The metric of a coefficient by its name, such as ``alpha_ordinal``."""


def alpha(
    coincidences: Numbers,
    metric: Metric = "ordinal",
    *,
    n_documents: int,
    values: Sequence[int] | None = None,
) -> Coefficient:
    r"""Measure the agreement of any number of judges by Krippendorff's alpha.

    Parameters
    ----------
    coincidences : ndarray, shape (n_grades, n_grades)
        Summed over topics; symmetric. Of two judges, the table plus its transpose. Integers give an exact
        result, float64 one to rounding.
    metric : {"nominal", "ordinal", "interval"}, default="ordinal"
        What a disagreement costs: 1; the squared number of votes between the two grades; the squared distance
        of the grades.
    n_documents : int
        Documents that two judges graded at least.
    values : sequence of int, length n_grades, optional
        Grade values, ascending, for ``interval``; by default places on the scale.

    Returns
    -------
    Coefficient
        Alpha, or ``no-common-docs``, ``one-doc``, ``single-grade``. It has no standard error. `ArgumentError`
        if `metric` is another word or `values` are not ascending grades of the scale.

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
    >>> round(alpha(table + table.T, "nominal", n_documents=10).value, 6)
    0.095238
    """
    if np.issubdtype(coincidences.dtype, np.integer):
        coincidences = coincidences.astype(object)  # products of sums overflow 64 bits
    distances = _distances(coincidences, metric, values)
    if n_documents == 0:
        return Coefficient(None, "no-common-docs", 0)
    given = coincidences.sum(axis=1)
    if n_documents == 1 or np.count_nonzero(given) == 1:
        reason: Reason = "one-doc" if n_documents == 1 else "single-grade"
        return Coefficient(None, reason, n_documents)
    seen = (coincidences * distances).sum()
    by_chance = ((given @ distances) * given).sum()
    return Coefficient(float((by_chance - (given.sum() - 1) * seen) / by_chance), None, n_documents)


def stacked_alpha(
    coincidences: Numbers, metric: Metric = "ordinal", *, values: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """Give `alpha` of a stack of coincidences, shape (..., n_grades, n_grades), in floats, to rounding.

    NaN without coincidences and where one grade alone was given; one document cannot be told from several
    here.
    """
    coincidences = check_tables(coincidences)
    distances = _distances(coincidences, metric, values)
    given = coincidences.sum(axis=-1)
    seen = (coincidences * distances).sum(axis=(-2, -1))
    by_chance = (given[..., :, np.newaxis] * distances * given[..., np.newaxis, :]).sum(axis=(-2, -1))
    return 1 - divide((given.sum(axis=-1) - 1) * seen, by_chance)


def _distances(coincidences: Numbers, metric: Metric, values: Sequence[int] | None) -> Numbers:
    """Tabulate what disagreements cost, four times as much for the ordinal metric."""
    if metric not in METRICS:
        raise ArgumentError("metric", f"must be one of {', '.join(METRICS)}", metric)
    costs = costs_of(coincidences.shape[-1], "none" if metric == "nominal" else "quadratic", values)
    if metric != "ordinal":
        return costs.astype(coincidences.dtype)
    # The votes from c to k less half of those at both ends are a difference of mid-ranks.
    given = coincidences.sum(axis=-1)
    middles = 2 * given.cumsum(axis=-1) - given
    steps = middles[..., :, np.newaxis] - middles[..., np.newaxis, :]
    return np.asarray(steps * steps)
