r"""Ratios of the confusion table; the ROC curve.

================ ============ ================
\                relevant     not relevant
================ ============ ================
retrieved        TP           FP
not retrieved    FN           TN
================ ============ ================

A false positive is an error of the first kind, a false negative one of the second. All functions
work on stacks of tables. Where the denominator is 0 there is no number (NaN).

What the sources print wrong of them is listed in `store.analysis`.

The area under the ROC curve is the probability that a relevant document scores above one that is
not, plus half the probability that the two tie [3]_. It is computed from counts of pairs, so
nothing is rounded before the one division.

References
----------
.. [1] C. J. van Rijsbergen, *Information Retrieval*, 2nd ed., Butterworths, 1979, chapter 7.
.. [2] C. D. Manning, P. Raghavan and H. Schütze, *Introduction to Information Retrieval*, Cambridge
   University Press, 2008, section 8.3.
.. [3] J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
   characteristic (ROC) curve", *Radiology* 143(1), 29-36, 1982, doi:10.1148/radiology.143.1.7063747.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.ratios import quotient


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Counts of documents, all of one shape (...); build it with `confusion` or `confusion_at`."""

    true_positive: NDArray[np.int64]
    """Retrieved and relevant."""
    false_positive: NDArray[np.int64]
    """Retrieved, not relevant."""
    false_negative: NDArray[np.int64]
    """Relevant, not retrieved."""
    true_negative: NDArray[np.int64]
    """Neither."""


def confusion(
    true_positive: ArrayLike, false_positive: ArrayLike, false_negative: ArrayLike, true_negative: ArrayLike
) -> Confusion:
    """Make tables from counts of shapes that broadcast to each other."""
    cells = (true_positive, false_positive, false_negative, true_negative)
    return Confusion(*np.broadcast_arrays(*(np.asarray(cell, dtype=np.int64) for cell in cells)))


def confusion_at(
    relevant: NDArray[np.bool_], n_relevant: ArrayLike, lengths: ArrayLike, *, n_documents: int | None = None
) -> Confusion:
    """Count the confusion table with each list as the retrieved set.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document; False below the end of a list.
    n_relevant : array_like of int, shape (...) or one that broadcasts to it
        Relevant documents of the topic, retrieved or not; at least those retrieved.
    lengths : array_like of int, shape (...) or one that broadcasts to it
        Ranks filled.
    n_documents : int, optional
        Documents of the collection, at least those retrieved or relevant. Without it TN is 0, and only
        precision, recall and what follows from the two have a meaning.

    Returns
    -------
    Confusion
        Tables of shape (...).

    Examples
    --------
    The slides' table 1.3, ++--+-+- cut at 1, 4 and 7, has accuracy 5/8, 4/8 and 5/8:

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> for cutoff in (1, 4, 7):
    ...     table = confusion_at(relevant[:cutoff], 4, cutoff, n_documents=8)
    ...     print(precision(table).round(3), recall(table), accuracy(table))
    1.0 0.25 0.625
    0.5 0.5 0.5
    0.571 1.0 0.625
    """
    found = np.count_nonzero(np.asarray(relevant, dtype=np.bool_), axis=-1)
    retrieved = np.asarray(lengths, dtype=np.int64)
    missed = np.asarray(n_relevant, dtype=np.int64) - found
    rest = 0 if n_documents is None else n_documents - retrieved - missed
    return confusion(found, retrieved - found, missed, rest)


def precision(table: Confusion) -> NDArray[np.float64]:
    """Return TP / (TP + FP), in [0, 1]: the retrieved documents that are relevant."""
    return quotient(table.true_positive, table.true_positive + table.false_positive)


def recall(table: Confusion) -> NDArray[np.float64]:
    """Return TP / (TP + FN), in [0, 1]: the relevant documents that are retrieved."""
    return quotient(table.true_positive, table.true_positive + table.false_negative)


def fallout(table: Confusion) -> NDArray[np.float64]:
    """Return FP / (FP + TN), in [0, 1]: the not relevant documents that are retrieved."""
    return quotient(table.false_positive, table.false_positive + table.true_negative)


def specificity(table: Confusion) -> NDArray[np.float64]:
    """Return TN / (TN + FP), in [0, 1]: 1 less fallout."""
    return quotient(table.true_negative, table.false_positive + table.true_negative)


def generality(table: Confusion) -> NDArray[np.float64]:
    """Return (TP + FN) / all, in [0, 1]: the documents that are relevant, retrieved or not."""
    return quotient(table.true_positive + table.false_negative, _total(table))


def accuracy(table: Confusion) -> NDArray[np.float64]:
    """Return (TP + TN) / all, in [0, 1]: the documents put on the right side (Rand index)."""
    return quotient(table.true_positive + table.true_negative, _total(table))


def f_measure(
    precision: ArrayLike, recall: ArrayLike, *, beta: float | None = None, alpha: float | None = None
) -> NDArray[np.float64]:
    r"""Combine precision and recall into their weighted harmonic mean.

    Parameters
    ----------
    precision, recall : array_like of float
        In [0, 1], of shapes that broadcast to each other; NaN = undefined.
    beta : float, optional
        Recall weighs `beta` times as much as precision; at least 0, infinity gives recall. Default
        1 when `alpha` is not given either.
    alpha : float, optional
        The weight of precision, in [0, 1], in place of `beta`.

    Returns
    -------
    ndarray of float64, shape (...)
        F in [0, 1]; 0 where one of the two is 0; NaN where one of them is.

    Notes
    -----
    .. math::

        F = \frac{1}{\alpha / P + (1 - \alpha) / R} = \frac{(1 + \beta^2) P R}{\beta^2 P + R},
        \qquad \alpha = \frac{1}{1 + \beta^2}

    The equal-weight F is at most the geometric mean of P and R, which is at most the arithmetic
    one. A beta of R/P, at which one more unit of either would gain as much, turns F into
    (P² + R²) / (P + R); it depends on P and R and is thus no fixed beta.

    Examples
    --------
    >>> f_measure([0.5, 0.5], [1.0, 0.0]).round(4).tolist()  # 2 * .5 / 1.5, and 0
    [0.6667, 0.0]
    >>> float(f_measure(0.5, 1.0, beta=2.0).round(4))  # 5 * .5 / (4 * .5 + 1)
    0.8333
    """
    weight = _alpha(beta, alpha)
    precision = np.asarray(precision, dtype=np.float64)
    recall = np.asarray(recall, dtype=np.float64)
    product = precision * recall
    result = np.where(np.isnan(product), np.nan, 0.0)
    weighted = weight * recall + (1 - weight) * precision
    return np.asarray(np.divide(product, weighted, out=result, where=product > 0))


def e_measure(
    precision: ArrayLike, recall: ArrayLike, *, beta: float | None = None, alpha: float | None = None
) -> NDArray[np.float64]:
    """Return 1 - F, in [0, 1], 0 for a perfect set; arguments as for `f_measure`.

    >>> float(e_measure(1.0, 1.0)), float(e_measure(0.5, 0.0))
    (0.0, 1.0)
    """
    return np.asarray(1 - f_measure(precision, recall, beta=beta, alpha=alpha))


def precision_plus_recall(precision: ArrayLike, recall: ArrayLike) -> NDArray[np.float64]:
    """Return S = P + R, in [0, 2]; NaN where one of them is."""
    return np.asarray(np.asarray(precision, np.float64) + np.asarray(recall, np.float64))


def borko(precision: ArrayLike, recall: ArrayLike) -> NDArray[np.float64]:
    """Return Borko's BK = P + R - 1, in [-1, 1]; NaN where one of them is."""
    return np.asarray(precision_plus_recall(precision, recall) - 1)


def fallout_from(precision: ArrayLike, recall: ArrayLike, generality: ArrayLike) -> NDArray[np.float64]:
    r"""Compute fallout from precision, recall and generality, which broadcast to each other.

    NaN where precision is 0, which says nothing of how much was retrieved, where generality is 1, and where
    one of them is NaN.

    Notes
    -----
    .. math:: \text{fallout} = \frac{R \, g (1 - P)}{P (1 - g)}    (chapter 7 of [1]_)

    Examples
    --------
    TP 2, FP 2, FN 2, TN 4: fallout is 2/6.

    >>> float(fallout_from(2 / 4, 2 / 4, 4 / 10).round(4))
    0.3333
    """
    p, r, g = (np.asarray(one, dtype=np.float64) for one in (precision, recall, generality))
    return quotient(r * g * (1 - p), p * (1 - g))


def _total(table: Confusion) -> NDArray[np.int64]:
    return np.asarray(table.true_positive + table.false_positive + table.false_negative + table.true_negative)


def _alpha(beta: float | None, alpha: float | None) -> float:
    if alpha is not None:
        return alpha
    return 0.5 if beta is None else 1 / (1 + beta * beta)


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """The points of a ROC curve from (0, 0) to (1, 1), and the area below."""

    true_positive_rate: NDArray[np.float64]
    """Shape (n_points,), ascending from 0 to 1: recall, first with nothing retrieved, then down to each
    distinct score. NaN without relevant documents."""
    false_positive_rate: NDArray[np.float64]
    """Shape (n_points,), ascending from 0 to 1: fallout. NaN when all are relevant."""
    area: float | None
    """In [0, 1]; 1/2 as by chance. ``None`` when there is no pair of a relevant and another document."""


def roc_curve(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> RocCurve:
    """Trace recall against fallout as the threshold falls.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_documents,)
        Scores of all documents, not NaN; higher is better. Only their order matters.
    relevant : ndarray of bool, shape (n_documents,)
        Which are relevant.

    Returns
    -------
    RocCurve
        Documents of equal score come in together: a tie of both kinds is a sloping line. scikit-learn's
        `roc_curve` with ``drop_intermediate=False``, and `roc_auc_score`. O(n log n).

    Examples
    --------
    The slides' ++--+-+-, 11 of the 16 pairs in the right order:

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> curve = roc_curve(np.arange(8, 0, -1.0), relevant)
    >>> curve.area, curve.true_positive_rate.tolist()
    (0.6875, [0.0, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0])
    >>> roc_curve(np.array([1.0, 1.0]), np.array([True, False])).area
    0.5
    """
    distinct, group = np.unique(-scores, return_inverse=True)
    in_group = np.bincount(group[relevant], minlength=distinct.size)
    not_in_group = np.bincount(group[~relevant], minlength=distinct.size)
    found = np.concatenate([[0], np.cumsum(in_group)])
    false = np.concatenate([[0], np.cumsum(not_in_group)])
    n_relevant, n_not = int(found[-1]), int(false[-1])
    # Twice the area in pairs: the trapezium below each segment of the curve.
    doubled = int(np.sum(not_in_group * (found[1:] + found[:-1])))
    return RocCurve(
        true_positive_rate=quotient(found, found[-1]),
        false_positive_rate=quotient(false, false[-1]),
        area=doubled / (2 * n_relevant * n_not) if n_relevant and n_not else None,
    )


def area_of_rankings(relevant: NDArray[np.bool_], lengths: ArrayLike) -> NDArray[np.float64]:
    """Compute the area under the ROC curve of the documents of each list, by their ranks alone.

    In [0, 1], shape (...): the pairs of a relevant and another retrieved document in which the relevant one
    stands first. NaN where there is no such pair (``no-pairs``). Documents that were not retrieved play no
    part; unjudged ones count as not relevant. Arguments are those of `confusion_at`.

    ir_measures calls this `Accuracy`; it gives no value without a relevant document, and fails where all are
    relevant. O(size of `relevant`).

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> float(area_of_rankings(relevant, 8))
    0.6875
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    lengths = np.broadcast_to(np.asarray(lengths, dtype=np.int64), relevant.shape[:-1])
    n_relevant = np.count_nonzero(relevant, axis=-1)
    ranks = np.arange(1, relevant.shape[-1] + 1)
    # Of the i - 1 documents above relevant rank i, those relevant too make no pair.
    rank_sum = np.sum(relevant * ranks, axis=-1, dtype=np.int64)
    wrong = rank_sum - n_relevant * (n_relevant + 1) // 2
    pairs = n_relevant * (lengths - n_relevant)
    return quotient(pairs - wrong, pairs)
