"""Precision interpolated over recall: at one recall, and averaged over eleven.

Arguments are as in `store.analysis.ranked_measures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError


def interpolated_precision(
    relevant: NDArray[np.bool_], n_relevant: ArrayLike, recall: Fraction
) -> NDArray[np.float64]:
    r"""Return the highest precision at any rank whose recall is at least `recall`.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document.
    n_relevant : array_like of int, shape (...) or one that broadcasts to it
        R.
    recall : Fraction
        In [0, 1]. ``Fraction("0.7")`` is seven tenths; ``Fraction(0.7)`` is a little less.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]; 0 where the list never reaches `recall`; NaN where R = 0.

    Raises
    ------
    ArgumentError
        If `recall` is outside [0, 1].

    Notes
    -----
    The recall is reached with ceil(recall * R) documents, computed exactly. trec_eval computes
    floor(recall * R + 0.9) in floating point: the same for tenths but where rounding interferes, as
    for recall 0.7 and R = 3, where it asks for 2 documents, 2/3 of all, instead of 3. Percents it
    rounds down by up to a tenth of a document. O(size of `relevant`).

    Examples
    --------
    >>> relevant = np.array([True, False, True, False])
    >>> float(interpolated_precision(relevant, 2, Fraction("0.6")).round(4))
    0.6667
    """
    if not 0 <= recall <= 1:
        raise ArgumentError("recall", "must be between 0 and 1", str(recall))
    relevant = np.asarray(relevant, dtype=np.bool_)
    counts = np.broadcast_to(np.asarray(n_relevant, dtype=np.int64), relevant.shape[:-1])
    return np.where(counts > 0, _interpolated(relevant, counts, [recall])[0], np.nan)


def eleven_point(relevant: NDArray[np.bool_], n_relevant: ArrayLike) -> NDArray[np.float64]:
    r"""Average the interpolated precision over the recalls 0, 0.1, ..., 1.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document.
    n_relevant : array_like of int, shape (...) or one that broadcasts to it
        R.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]; NaN where R = 0.

    Notes
    -----
    The slides name no interpolation; this is `interpolated_precision`, the usual one, and
    trec_eval's `11pt_avg` but for its rounding of the recalls. O(size of `relevant`).

    Examples
    --------
    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> float(eleven_point(relevant, 4).round(6))  # (6 * 1 + 2 * 3/5 + 3 * 4/7) / 11
    0.81039
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    counts = np.broadcast_to(np.asarray(n_relevant, dtype=np.int64), relevant.shape[:-1])
    points = _interpolated(relevant, counts, [Fraction(tenth, 10) for tenth in range(11)])
    # Added in one order, so that a list has the same value alone and among others.
    return np.where(counts > 0, np.cumsum(points, axis=0)[-1] / len(points), np.nan)


def _interpolated(
    relevant: NDArray[np.bool_], counts: NDArray[np.int64], recalls: Sequence[Fraction]
) -> NDArray[np.float64]:
    """Compute the precision at each recall, shape (n_recalls, ...); 0 where R = 0."""
    width = relevant.shape[-1]
    values = np.zeros((len(recalls), *counts.shape))
    if relevant.size == 0:
        return values
    precision = np.cumsum(relevant, axis=-1, dtype=np.int64) / np.arange(1, width + 1)
    # The highest precision from each rank on down.
    best = np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1]
    columns = np.flatnonzero(relevant) % width
    n_found = np.count_nonzero(relevant, axis=-1)
    firsts = (np.cumsum(n_found) - n_found.ravel()).reshape(n_found.shape)
    for place, recall in enumerate(recalls):
        needed = -(-recall.numerator * counts // recall.denominator)
        is_reached = (needed <= n_found) & (counts > 0)
        from_column = np.zeros(counts.shape, dtype=np.int64)
        by_rank = is_reached & (needed > 0)
        from_column[by_rank] = columns[(firsts + needed - 1)[by_rank]]
        at = np.take_along_axis(best, from_column[..., None], axis=-1)[..., 0]
        values[place] = np.where(is_reached, at, 0.0)
    return values
