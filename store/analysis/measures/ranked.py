"""Precision, recall, R-precision, interpolated; what is attainable.

Arguments mean the same everywhere:

relevant : ndarray of bool, shape (..., width)
    Which ranks hold a relevant document, from rank 1; False below the end of a list.
n_relevant : array_like of int, shape (...) or one that broadcasts to it
    R, the relevant documents of the topic, retrieved or not.
lengths : array_like of int, shape (...) or one that broadcasts to it
    Ranks filled.
cutoff : int
    Ranks that count, at least 1, which may be above the width.

Measures are float64, shape (...), in [0, 1]; NaN stands where there is no number, and each function says
where. Each costs O(size of `relevant`). A cutoff divides by itself, as in trec_eval: a list of 3 documents,
all relevant, has P@10 = 0.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.measures.average_precision import quotient
from store.errors import ArgumentError

ELEVEN_RECALLS = tuple(Fraction(tenth, 10) for tenth in range(11))
"""0, 0.1, ..., 1."""
_ROUNDED_UP = 0.9
"""trec_eval adds it to the number of documents that a recall asks for, and rounds down."""


@dataclass(frozen=True, slots=True, eq=False)
class Attainable:
    """The values a measure can take: 0, step, 2 step, ... up to highest."""

    highest: NDArray[np.float64]
    """Shape (...), in [0, 1]; NaN = undefined."""
    step: NDArray[np.float64]
    """Shape (...), above 0: what one more relevant document adds; NaN = undefined."""


def precision_at(relevant: NDArray[np.bool_], cutoff: int) -> NDArray[np.float64]:
    """Return the relevant documents among the first `cutoff` ranks, divided by `cutoff`.

    Defined everywhere: 0 for an empty list and for R = 0.

    >>> float(precision_at(np.array([True, False, True]), 10))
    0.2
    """
    return np.asarray(_found(relevant, cutoff) / cutoff)


def recall_at(relevant: NDArray[np.bool_], n_relevant: ArrayLike, cutoff: int) -> NDArray[np.float64]:
    """Return the relevant documents among the first `cutoff` ranks, divided by R; NaN where R = 0.

    >>> recall_at(np.array([[True, False, True], [False, False, False]]), [4, 0], 2).tolist()
    [0.25, nan]
    """
    return quotient(_found(relevant, cutoff), _counts(n_relevant))


def attainable_precision(n_relevant: ArrayLike, cutoff: int) -> Attainable:
    """Return the values precision at a cutoff can take: from 0 to min(1, R/N) in steps of 1/N, N the cutoff.

    >>> attainable_precision([100, 5], 10).highest.tolist()
    [1.0, 0.5]
    """
    counts = _counts(n_relevant)
    return Attainable(np.minimum(counts, cutoff) / cutoff, np.full(counts.shape, 1 / cutoff))


def attainable_recall(n_relevant: ArrayLike, cutoff: int) -> Attainable:
    """Return the values recall at a cutoff can take: from 0 to min(1, N/R) in steps of 1/R; NaN where R = 0.

    >>> attainable = attainable_recall([100, 5], 10)
    >>> attainable.highest.tolist(), attainable.step.tolist()
    ([0.1, 1.0], [0.01, 0.2])
    """
    counts = _counts(n_relevant)
    return Attainable(quotient(np.minimum(counts, cutoff), counts), quotient(np.ones_like(counts), counts))


def r_precision(relevant: NDArray[np.bool_], n_relevant: ArrayLike) -> NDArray[np.float64]:
    """Return precision, which is also recall, at rank R: trec_eval's `Rprec`; NaN where R = 0.

    Ranks that the list does not fill count as not relevant.

    >>> float(r_precision(np.array([True, False, True, True]), 3).round(4))
    0.6667
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    counts = np.broadcast_to(_counts(n_relevant), relevant.shape[:-1])
    # The columns after the largest R never count.
    relevant = relevant[..., : int(counts.max(initial=0))]
    above = np.arange(relevant.shape[-1]) < counts[..., None]
    return quotient(np.count_nonzero(relevant & above, axis=-1), counts)


def break_even(relevant: NDArray[np.bool_], n_relevant: ArrayLike, lengths: ArrayLike) -> NDArray[np.float64]:
    """Return the value at which precision and recall are equal.

    It is `r_precision`, since found/k = found/R at k = R alone, unless nothing was found. NaN where R = 0
    (``no-relevant``) or the list ends above rank R (``list-too-short``): nothing is interpolated.

    The slides' ++--+-+-; and the same list cut before its fourth rank:

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> float(break_even(relevant, 4, 8)), float(break_even(relevant[:3], 4, 3))
    (0.5, nan)
    """
    value = r_precision(relevant, n_relevant)
    return np.where(np.asarray(lengths) < _counts(n_relevant), np.nan, value)


def reciprocal_rank(relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 / rank of the first relevant document; 0 where there is none.

    One of the sources averages over all relevant documents, which is another measure.

    The slides' two questions, MRR (1/1 + 1/4) / 2 = .625:

    >>> relevant = np.array([[True, False, True, False], [False, False, False, True]])
    >>> float(reciprocal_rank(relevant).mean())
    0.625
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    if relevant.shape[-1] == 0:
        return np.zeros(relevant.shape[:-1])
    return np.where(relevant.any(axis=-1), 1 / (1 + relevant.argmax(axis=-1)), 0.0)


def success_at(relevant: NDArray[np.bool_], cutoff: int) -> NDArray[np.float64]:
    """Return 1 where a relevant document is among the first `cutoff` ranks, else 0.

    >>> success_at(np.array([[False, True], [False, False]]), 5).tolist()
    [1.0, 0.0]
    """
    return np.asarray(_found(relevant, cutoff) > 0, dtype=np.float64)


def judged_share(
    judged: NDArray[np.bool_], lengths: ArrayLike, cutoff: int | None = None
) -> NDArray[np.float64]:
    """Return the judged documents among the first `cutoff` ranks, divided by the documents there.

    Judged@k of ir_measures: the divisor is the smaller of the cutoff, which is the whole list where it is not
    given, and the length: ranks that do not exist are not unjudged. NaN for an empty list
    (``no-documents``).

    >>> float(judged_share(np.array([True, True, False]), 3, 10).round(4))
    0.6667
    """
    found = _found(judged, cutoff)
    there = _counts(lengths) if cutoff is None else np.minimum(_counts(lengths), cutoff)
    return quotient(found, there)


def unjudged_share(judged: NDArray[np.bool_], lengths: ArrayLike, cutoff: int) -> NDArray[np.float64]:
    """Return the unjudged documents among the first `cutoff` ranks, divided by `cutoff`.

    `unj_k` of trec_eval, if `judged` are grades from 0 on: ranks below the end of the list count as judged,
    so that it is 0 for an empty list, and never above ``1 - judged_share``.

    One judged, one not, and the list ends:

    >>> judged = np.array([True, False])
    >>> float(unjudged_share(judged, 2, 10)), float(1 - judged_share(judged, 2, 10))
    (0.1, 0.5)
    """
    return np.asarray((np.minimum(_counts(lengths), cutoff) - _found(judged, cutoff)) / cutoff)


def interpolated_precision(
    relevant: NDArray[np.bool_], n_relevant: ArrayLike, recall: Fraction
) -> NDArray[np.float64]:
    r"""Return the highest precision at any rank whose recall is at least `recall`, as in trec_eval.

    0 where the list never reaches `recall`; NaN where R = 0. `ArgumentError` if `recall` is outside [0, 1].
    ``Fraction("0.7")`` is seven tenths; ``Fraction(0.7)`` is a little less.

    Notes
    -----
    The recall is reached with floor(recall * R + 0.9) documents, computed in floating point, as in
    trec_eval 9 and pytrec_eval; trec_eval 10 rounds recall * R to the nearest. For tenths that is
    ceil(recall * R) but where rounding interferes: recall 0.7 of R = 3 asks for 2 documents, 2/3 of
    all. Percents are rounded down by up to a tenth of a document.

    Examples
    --------
    >>> relevant = np.array([True, False, True, False])
    >>> float(interpolated_precision(relevant, 2, Fraction("0.6")).round(4))
    0.6667
    """
    if not 0 <= recall <= 1:
        raise ArgumentError("recall", "must be between 0 and 1", str(recall))
    return np.asarray(_interpolated(relevant, n_relevant, [recall])[0])


def eleven_point(relevant: NDArray[np.bool_], n_relevant: ArrayLike) -> NDArray[np.float64]:
    r"""Average the interpolated precision over the recalls 0, 0.1, ..., 1; NaN where R = 0.

    The slides name no interpolation; this is `interpolated_precision`, the usual one, and trec_eval's
    `11pt_avg`.

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> float(eleven_point(relevant, 4).round(6))  # (6 * 1 + 2 * 3/5 + 3 * 4/7) / 11
    0.81039
    """
    points = _interpolated(relevant, n_relevant, ELEVEN_RECALLS)
    # Added in one order, so that a list has the same value alone and among others.
    return np.asarray(np.cumsum(points, axis=0)[-1] / len(points))


def precision_recall_curve(relevant: NDArray[np.bool_], n_relevant: ArrayLike) -> NDArray[np.float64]:
    """Return `interpolated_precision` at each of the recalls 0, 0.1, ..., 1, shape (11, ...).

    >>> relevant = np.array([letter == "+" for letter in "++--+-+-"])
    >>> precision_recall_curve(relevant, 4).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 0.6, 0.57, 0.57, 0.57]
    """
    return _interpolated(relevant, n_relevant, ELEVEN_RECALLS)


def _found(flags: NDArray[np.bool_], cutoff: int | None) -> NDArray[np.int64]:
    return np.asarray(np.count_nonzero(flags[..., :cutoff], axis=-1), dtype=np.int64)


def _counts(values: ArrayLike) -> NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)


def _interpolated(
    relevant: NDArray[np.bool_], n_relevant: ArrayLike, recalls: Sequence[Fraction]
) -> NDArray[np.float64]:
    """Compute the precision at each recall, shape (n_recalls, ...); NaN where R = 0."""
    relevant = np.asarray(relevant, dtype=np.bool_)
    counts = np.broadcast_to(_counts(n_relevant), relevant.shape[:-1])
    width = relevant.shape[-1]
    values = np.where(counts > 0, np.zeros((len(recalls), *counts.shape)), np.nan)
    if relevant.size == 0:
        return values
    precision = np.cumsum(relevant, axis=-1, dtype=np.int64) / np.arange(1, width + 1)
    # The highest precision from each rank on down.
    best = np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1]
    columns = np.flatnonzero(relevant) % width
    n_found = np.count_nonzero(relevant, axis=-1)
    firsts = (np.cumsum(n_found) - n_found.ravel()).reshape(n_found.shape)
    for place, recall in enumerate(recalls):
        needed = (float(recall) * counts + _ROUNDED_UP).astype(np.int64)
        is_reached = (needed <= n_found) & (counts > 0)
        from_column = np.zeros(counts.shape, dtype=np.int64)
        by_rank = is_reached & (needed > 0)
        from_column[by_rank] = columns[(firsts + needed - 1)[by_rank]]
        at = np.take_along_axis(best, from_column[..., None], axis=-1)[..., 0]
        values[place] = np.where(is_reached, at, values[place])
    return values
