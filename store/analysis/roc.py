r"""The ROC curve of a scoring, and the area under it.

The area is the probability that a relevant document scores above one that is not, plus half the
probability that the two tie [1]_. It is computed from counts of pairs, so nothing is rounded before
the one division.

References
----------
.. [1] J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
   characteristic (ROC) curve", *Radiology* 143(1), 29-36, 1982,
   doi:10.1148/radiology.143.1.7063747.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError

RocReason = Literal["no-relevant", "no-not-relevant"]
"""Why there is no area: there is no pair of a relevant and a not relevant document."""


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """The points of a ROC curve from (0, 0) to (1, 1), and the area below."""

    thresholds: NDArray[np.float64]
    """Shape (n_points,), descending: a document is retrieved when its score is at least this.
    The first is infinity, which retrieves nothing; then each distinct score."""
    true_positive_rate: NDArray[np.float64]
    """Shape (n_points,), ascending from 0 to 1: recall. NaN without relevant documents."""
    false_positive_rate: NDArray[np.float64]
    """Shape (n_points,), ascending from 0 to 1: fallout. NaN when all are relevant."""
    area: float | None
    """In [0, 1]; 1/2 as by chance. ``None`` when it is undefined."""
    reason: RocReason | None
    """Why there is no area; ``None`` when there is one."""
    n_relevant: int
    n_not_relevant: int


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
        Documents of equal score come in together: a tie of both kinds is a sloping line.

    Raises
    ------
    ArgumentError
        If the two are not one-dimensional of one length, or a score is NaN.

    Notes
    -----
    scikit-learn's `roc_curve` with ``drop_intermediate=False``, and `roc_auc_score`.
    O(n log n).

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
    scores = np.asarray(scores, dtype=np.float64)
    relevant = np.asarray(relevant, dtype=np.bool_)
    if scores.ndim != 1 or scores.shape != relevant.shape:
        requirement = f"must be a list of {relevant.size} numbers, one a document"
        raise ArgumentError("scores", requirement, f"shape {scores.shape}")
    if np.isnan(scores).any():
        raise ArgumentError("scores", "must be numbers", "nan")
    distinct, group = np.unique(-scores, return_inverse=True)
    in_group = np.bincount(group[relevant], minlength=distinct.size)
    not_in_group = np.bincount(group[~relevant], minlength=distinct.size)
    found = np.concatenate([[0], np.cumsum(in_group)])
    false = np.concatenate([[0], np.cumsum(not_in_group)])
    n_relevant, n_not = int(found[-1]), int(false[-1])
    reason: RocReason | None = None
    if not n_relevant or not n_not:
        reason = "no-not-relevant" if n_relevant else "no-relevant"
    # Twice the area in pairs: the trapezium below each segment of the curve.
    doubled = int(np.sum(not_in_group * (found[1:] + found[:-1])))
    return RocCurve(
        # Adding 0 turns the -0 of a negated 0 back.
        thresholds=np.concatenate([[np.inf], -distinct + 0.0]),
        true_positive_rate=_rates(found),
        false_positive_rate=_rates(false),
        area=None if reason else doubled / (2 * n_relevant * n_not),
        reason=reason,
        n_relevant=n_relevant,
        n_not_relevant=n_not,
    )


def area_of_rankings(relevant: NDArray[np.bool_], lengths: ArrayLike) -> NDArray[np.float64]:
    """Compute the area under the ROC curve of the documents of each list, by their ranks alone.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document; False below the end of a list.
    lengths : array_like of int, shape (...) or one that broadcasts to it
        Ranks filled.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]: the pairs of a relevant and another retrieved document in which the relevant one
        stands first. NaN where there is no such pair (``no-pairs``). Documents that were not
        retrieved play no part; unjudged ones count as not relevant.

    Raises
    ------
    ArgumentError
        If a list has a relevant document below its end.

    Notes
    -----
    ir_measures calls this `Accuracy`; it gives no value without a relevant document, and fails
    where all are relevant. O(size of `relevant`).

    Examples
    --------
    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> float(area_of_rankings(relevant, 8))
    0.6875
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    lengths = np.broadcast_to(np.asarray(lengths, dtype=np.int64), relevant.shape[:-1])
    if np.any(relevant & (np.arange(relevant.shape[-1]) >= lengths[..., None])):
        raise ArgumentError("lengths", "must reach the last relevant document", None)
    n_relevant = np.count_nonzero(relevant, axis=-1)
    ranks = np.arange(1, relevant.shape[-1] + 1)
    # Of the i - 1 documents above relevant rank i, those relevant too make no pair.
    rank_sum = np.sum(relevant * ranks, axis=-1, dtype=np.int64)
    wrong = rank_sum - n_relevant * (n_relevant + 1) // 2
    pairs = n_relevant * (lengths - n_relevant)
    undefined = np.full(pairs.shape, np.nan)
    return np.asarray(np.divide(pairs - wrong, pairs, out=undefined, where=pairs > 0))


def _rates(cumulated: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide by the last; NaN throughout when that is 0."""
    undefined = np.full(cumulated.shape, np.nan)
    return np.asarray(
        np.divide(cumulated, cumulated[-1], out=undefined, where=bool(cumulated[-1] > 0))
    )
