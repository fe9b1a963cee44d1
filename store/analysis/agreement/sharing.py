"""How many documents two judges must share for an interval of kappa of a wanted width.

The variance of kappa has a part between topics, which more documents of the same topics do not
make smaller, and a part within topics, which they do. Both are estimated from what the judges have
shared so far. So the answer may be that no number of documents will do, and how many topics would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import NORMAL_QUANTILE
from store.analysis.agreement.kappa import Weights, costs_of, influences

LEAST_WIDTH = 0.001

PlanReason = Literal[
    "no-common-docs",
    "one-doc",
    "single-grade",
    "no-variation",
    "one-topic",
    "one-doc-a-topic",
    "too-few-topics",
]
"""Why there is no number of documents:

=============== ================================================================================
no-common-docs  the judges share no document yet
one-doc         they share one document only
single-grade    both used one and the same grade only: kappa has no value
no-variation    every document weighs the same: perfect agreement, or a judge who used one grade
one-topic       of one topic nothing is known about the variance between topics
one-doc-a-topic no topic has two documents, so the two parts cannot be told apart
too-few-topics  topics alone vary so much that no number of documents gives the width
=============== ================================================================================
"""


@dataclass(frozen=True, slots=True)
class OverlapPlan:
    """What an interval of the wanted width needs, judged by what the judges have shared so far."""

    width: float
    """The wanted distance of the limits."""
    reason: PlanReason | None
    """Why there is no `documents_per_topic`; ``None`` when there is."""
    n_topics: int
    """Topics with common documents."""
    n_documents: int
    """Common documents so far."""
    kappa: float | None
    """So far; ``None`` when it is undefined."""
    between: float | None = None
    """Variance of topics' mean influence on kappa, at least 0; ``None`` = not estimated."""
    within: float | None = None
    """Variance of documents' influence within topics, at least 0; ``None`` = not estimated."""
    present_width: float | None = None
    """Width expected of the documents so far; ``None`` without estimates."""
    documents_per_topic: int | None = None
    """Documents each topic needs, at least 1."""
    documents: int | None = None
    topics: int | None = None
    """Topics that would give the width with `n_documents` / `n_topics` documents each, at least 2;
    ``None`` without estimates."""


def plan_overlap(tables: NDArray[np.int64], width: float, *, weights: Weights = "none") -> OverlapPlan:
    r"""Plan the documents two judges must share, from those they share already.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_topics, n_grades, n_grades)
        Documents of each topic counted by grade on the declared scale, first judge in rows. Topics without
        documents are no topics here.
    width : float
        Wanted distance of the limits, from `LEAST_WIDTH` to 2.
    weights : {"none", "linear", "quadratic"}, default="none"
        Of kappa.

    Returns
    -------
    OverlapPlan
        Documents for each of the present topics, or a reason; and how many topics would do with as many
        documents each as now. Topics are supposed to be of one size, as many as now.

    Notes
    -----
    Kappa is linearised: a document in cell (i, j) moves it by 1/N of its influence

    .. math:: y_{ij} = \frac{D_o (u_i + v_j) - D_e d_{ij} - D_o D_e}{D_e^2}, \quad
              u_i = \sum_k d_{ik} c_k, \quad v_j = \sum_k d_{kj} r_k

    with costs d, shares r and c of rows and columns, and observed and expected cost :math:`D_o, D_e`. Its
    mean is 0, and its variance over N is the squared asymptotic error of [1]_. The analysis of variance of
    topics of unequal sizes [2]_ splits it into :math:`\sigma_b^2` between and :math:`\sigma_w^2` within
    topics, and T topics of m documents give

    .. math:: w / 2 = z \sqrt{\sigma_b^2 / T + \sigma_w^2 / (T m)}

    so that :math:`m = \sigma_w^2 / (T (w / 2z)^2 - \sigma_b^2)`, and no m where that is not above 0.
    Influences are computed in integers, so undefined cases are decided exactly. With few topics
    :math:`\sigma_b^2` is itself uncertain: with 10, easily by half. O(n_topics * n_grades**2).

    References
    ----------
    .. [1] J. L. Fleiss, J. Cohen and B. S. Everitt, "Large Sample Standard Errors of Kappa and Weighted
       Kappa", *Psychological Bulletin* 72(5), 323-327, 1969, doi:10.1037/h0028106.
    .. [2] S. R. Searle, G. Casella and C. E. McCulloch, *Variance Components*, Wiley, 1992, section 3.6.

    Examples
    --------
    >>> tables = np.array([[[14, 2], [3, 6]], [[9, 6], [1, 9]], [[18, 1], [2, 4]], [[8, 3], [5, 9]]])
    >>> plan = plan_overlap(tables, 0.3)
    >>> round(plan.present_width, 2), plan.documents_per_topic, plan.documents
    (0.35, 34, 136)
    >>> plan_overlap(np.zeros((3, 2, 2), np.int64), 0.2).reason
    'no-common-docs'
    """
    tables = tables[tables.any(axis=(1, 2))]
    n_topics, n_documents = len(tables), int(tables.sum())
    kappa, of_cells = _influences(tables.sum(axis=0), weights)
    if of_cells is None:
        reason: PlanReason = "no-common-docs" if n_documents == 0 else "single-grade"
        if n_documents == 1:
            reason = "one-doc"
    elif not np.any(of_cells[tables.any(axis=0)]):
        reason = "no-variation"
    elif n_topics == 1:
        reason = "one-topic"
    elif n_documents == n_topics:
        reason = "one-doc-a-topic"
    else:
        between, within = _variance_parts(tables, of_cells)
        return _plan(tables, width, kappa, between, within)
    return OverlapPlan(width, reason, n_topics, n_documents, kappa)


def _influences(
    table: NDArray[np.int64], weights: Weights
) -> tuple[float | None, NDArray[np.float64] | None]:
    """Compute kappa and the influence of every cell; ``None`` where kappa is undefined."""
    counts = table.astype(object)  # products of four sums overflow 64 bits
    n = counts.sum()
    cost, by_chance, y = influences(counts, costs_of(len(counts), weights))
    if n < 2 or by_chance == 0:
        return None, None
    of_cells = n * (n * y - cost * by_chance) / by_chance**2
    return (by_chance - n * cost) / by_chance, of_cells.astype(np.float64)


def _variance_parts(tables: NDArray[np.int64], of_cells: NDArray[np.float64]) -> tuple[float, float]:
    """Estimate the variance of influences between topics, unclamped, and within topics."""
    sizes = tables.sum(axis=(1, 2)).astype(np.float64)
    n_topics, n = sizes.size, sizes.sum()
    means = np.einsum("tij,ij->t", tables, of_cells) / sizes
    deviations = of_cells - means[:, np.newaxis, np.newaxis]
    within = float(np.sum(tables * deviations**2)) / (n - n_topics)
    grand = float(sizes @ means) / n
    between_square = float(sizes @ (means - grand) ** 2) / (n_topics - 1)
    typical_size = (n - float(sizes @ sizes) / n) / (n_topics - 1)
    return (between_square - within) / typical_size, within  # [2] of `plan_overlap`


def _plan(
    tables: NDArray[np.int64], width: float, kappa: float | None, between: float, within: float
) -> OverlapPlan:
    """Turn the two variances into numbers of documents and topics."""
    sizes = tables.sum(axis=(1, 2)).astype(np.float64)
    n_topics, n_documents = sizes.size, int(sizes.sum())
    # Below 0 the topics vary no more than documents would by themselves: the plan may be too hopeful.
    between = max(between, 0.0)
    present = between * float(sizes @ sizes) / n_documents**2 + within / n_documents
    wanted = (width / (2 * NORMAL_QUANTILE)) ** 2
    left_for_documents = wanted * n_topics - between
    per_topic = None
    if left_for_documents > 0:
        per_topic = max(1, _least_integer(within / left_for_documents))
    topics = max(2, _least_integer((between + within * n_topics / n_documents) / wanted))
    return OverlapPlan(
        width=width,
        reason=None if per_topic is not None else "too-few-topics",
        n_topics=n_topics,
        n_documents=n_documents,
        kappa=kappa,
        between=between,
        within=within,
        present_width=2 * NORMAL_QUANTILE * math.sqrt(present),
        documents_per_topic=per_topic,
        documents=None if per_topic is None else per_topic * n_topics,
        topics=topics,
    )


def _least_integer(value: float) -> int:
    """Return the least integer not below a value, but for rounding."""
    return math.ceil(value * (1 - 1e-12))
