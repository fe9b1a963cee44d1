r"""Precision, recall, R-precision, interpolated; what is attainable; bpref and infAP; condensed lists.

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

For judgements that are incomplete there are measures that pass over what was not judged, or guess it. In
qrels, -1 says that a document was pooled but not judged: such documents are `open`, and have no grade. -2 and
lower are grades, ``junk``. Functions on flags take it as the flags have it. The named measures `bpref_of` and
`inferred_ap_of` follow trec_eval and ir_measures: a grade below 0 is no judgement, unless the level of
relevance is below 0 too.

A condensed list is the ranking without its unjudged documents [3]_. Made once by `condensed`, it
can be scored by every measure: trec_eval's option -J, the ``judged_only`` of ir_measures, and in names
``AP(condensed)``.

References
----------
.. [1] C. Buckley and E. M. Voorhees, "Retrieval evaluation with incomplete information", *SIGIR* 2004, 25-32,
   doi:10.1145/1008992.1009000.
.. [2] E. Yilmaz and J. A. Aslam, "Estimating average precision with incomplete and imperfect judgments",
   *CIKM* 2006, 102-111, doi:10.1145/1183614.1183633.
.. [3] T. Sakai, "Alternatives to bpref", *SIGIR* 2007, 71-78, doi:10.1145/1277741.1277756.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.rankings import GradedRankings
from store.analysis.ratios import quotient
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
    given, and the length: ranks that do not exist are not unjudged. NaN for an empty list (``no-documents``).

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


_EPSILON = 0.00001
"""INFAP_EPSILON of trec_eval: a little of both kinds above, so that 0 of 0 is one half."""


def bpref(
    relevant: NDArray[np.bool_], judged: NDArray[np.bool_], n_relevant: ArrayLike, n_not_relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Return the share of preferences for relevant documents that each list keeps.

    Parameters
    ----------
    relevant, judged : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document, and a judged one; every relevant one is.
    n_relevant, n_not_relevant : array_like of int, shape (...) or one that broadcasts to it
        R, and N, the documents judged not relevant, retrieved or not.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]; NaN where R = 0 (``no-relevant``).

    Notes
    -----
    .. math:: \frac{1}{R} \sum_r \Bigl(1 - \frac{\min(n_r, R)}{\min(N, R)}\Bigr)

    over the relevant documents of the list, with n_r the documents judged not relevant above one;
    each counts 1 where n_r is 0. This is trec_eval's since version 8; [1]_ divides by R. Unjudged
    documents change nothing. O(size of `judged`).

    Examples
    --------
    Relevant, unjudged, not relevant, relevant; R = 2, N = 3: (1 + 1/2) / 2

    >>> relevant = np.array([True, False, False, True])
    >>> float(bpref(relevant, np.array([True, False, True, True]), 2, 3))
    0.75
    """
    relevant, judged = np.asarray(relevant, np.bool_), np.asarray(judged, np.bool_)
    shape: tuple[int, ...] = relevant.shape[:-1]
    found, lists, _, above = _found_with_above(relevant, judged)
    n_relevant = np.broadcast_to(np.asarray(n_relevant, dtype=np.int64), shape)
    n_not_relevant = np.broadcast_to(np.asarray(n_not_relevant, dtype=np.int64), shape)
    most = np.minimum(n_relevant, n_not_relevant).reshape(-1)[lists]
    wrong = np.minimum(above - found, n_relevant.reshape(-1)[lists])
    kept = 1 - np.divide(wrong, most, out=np.zeros(wrong.shape), where=wrong > 0)
    return _mean_over_relevant(lists, kept, shape, n_relevant)


def inferred_average_precision(
    relevant: NDArray[np.bool_], judged: NDArray[np.bool_], pooled: NDArray[np.bool_], n_relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Estimate AP from a random sample of the pool: infAP.

    Parameters
    ----------
    relevant, judged, n_relevant
        As in `bpref`.
    pooled : ndarray of bool, shape (..., width)
        Which ranks hold a document of the pool; every judged one is. A document outside the pool
        is taken to be not relevant, one inside as likely relevant as the judged ones above it.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]; NaN where R = 0 (``no-relevant``). AP itself, but for the epsilon, when
        everything pooled is judged.

    Notes
    -----
    .. math::

        \frac{1}{R} \sum_k \Bigl[\frac{1}{k} + \frac{k-1}{k} \cdot \frac{d_k}{k-1} \cdot
        \frac{r_k + \varepsilon}{r_k + n_k + 2\varepsilon}\Bigr]    (section 3 of [2]_)

    over the ranks k of relevant documents, with r and n the documents judged relevant and not
    relevant above, d those pooled, and epsilon 0.00001 as in trec_eval. O(size of `pooled`).

    Examples
    --------
    Pooled but not judged, not relevant, not pooled, relevant: 1/4 + 2/4 * 1e-5 / 1.00002

    >>> relevant = np.array([False, False, False, True])
    >>> judged = np.array([False, True, False, True])
    >>> pooled = np.array([True, True, False, True])
    >>> float(inferred_average_precision(relevant, judged, pooled, 1).round(6))
    0.250005
    """
    relevant, judged, pooled = (np.asarray(x, np.bool_) for x in (relevant, judged, pooled))
    shape = relevant.shape[:-1]
    found, lists, columns, above = _found_with_above(relevant, judged)
    in_pool = _found_with_above(relevant, pooled)[3]
    precision = (found + _EPSILON) / (above + 2 * _EPSILON)
    terms = (1 + in_pool * precision) / (columns + 1)
    return _mean_over_relevant(lists, terms, shape, n_relevant)


def bpref_of(rankings: GradedRankings, level: int) -> NDArray[np.float64]:
    """Return `bpref` as trec_eval counts, shape (n_runs, n_topics): a grade below 0 is no judgement.

    Where `level`, the least relevant grade, is below 0, grades from it on are judgements.
    """
    least = min(0, level)
    n_judged = [np.count_nonzero(grades >= least) for grades in rankings.judged_grades]
    n_relevant = rankings.n_relevant(level)
    n_not_relevant = np.array(n_judged, dtype=np.int64) - n_relevant
    judged = rankings.relevant(least)
    return bpref(rankings.relevant(level), judged, n_relevant, n_not_relevant)


def inferred_ap_of(rankings: GradedRankings, level: int) -> NDArray[np.float64]:
    """Return `inferred_average_precision` as trec_eval counts, shape (n_runs, n_topics).

    A document that is `open` or has a negative grade is pooled but not judged, another one without a grade
    not pooled; `level` as in `bpref_of`.
    """
    judged = rankings.relevant(min(0, level))
    relevant, n_relevant = rankings.relevant(level), rankings.n_relevant(level)
    pooled = rankings.judged if rankings.open is None else rankings.judged | rankings.open
    return inferred_average_precision(relevant, judged, pooled, n_relevant)


def condensed(rankings: GradedRankings, least: int = 0) -> GradedRankings:
    """Delete the unjudged documents from every list, so that the others move up.

    What has a grade of at least `least` is kept, in the same order; as in trec_eval -J, a grade below 0 is no
    judgement. A list that had none has length 0. R and the ideal list stay as they were.

    `cutoff` stays, and counts ranks before the deletion, like -M of trec_eval beside -J: a measure
    at k that shall find k judged documents needs rankings that were looked at deeper than k.
    Scores of condensed lists favour runs that did not feed the pool. O(size of `grades`).

    Document 1 is unjudged; AP rises from 1/2 to 1:

    >>> from store.analysis.measures.average_precision import average_precision
    >>> from store.analysis.rankings import graded_rankings
    >>> rankings = graded_rankings(
    ...     ["t"], ["a"], {("a", "t"): np.array([1, 2])}, {"t": (np.array([2]), np.array([1]))}, cutoff=9
    ... )
    >>> for one in (rankings, condensed(rankings)):
    ...     print(one.grades.tolist(), average_precision(one.relevant(1), np.array([1])).tolist())
    [[[0, 1]]] [[0.5]]
    [[[1]]] [[1.0]]
    """
    kept = rankings.relevant(least)
    lengths = np.asarray(np.count_nonzero(kept, axis=-1), dtype=np.int64)
    width = int(lengths.max(initial=0))
    judged = np.arange(width) < lengths[..., None]
    grades = np.zeros(judged.shape, dtype=np.int32)
    # Both masks are read row by row, and have as many places in a row.
    grades[judged] = rankings.grades[kept]
    return replace(rankings, grades=grades, judged=judged, lengths=lengths, open=None)


def _found_with_above(
    relevant: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return of each relevant place: relevant ones above, list, column, and flagged ones above."""
    *shape, width = relevant.shape
    places = np.flatnonzero(flagged)
    hits = np.flatnonzero(relevant.reshape(-1)[places])
    lists, columns = np.divmod(places[hits], max(width, 1))
    starts = np.arange(math.prod(shape)) * width
    above = hits - np.searchsorted(places, starts)[lists]
    found = np.arange(hits.size) - np.searchsorted(places[hits], starts)[lists]
    return found, lists, columns, above


def _mean_over_relevant(
    lists: NDArray[np.int64], terms: NDArray[np.float64], shape: tuple[int, ...], n_relevant: ArrayLike
) -> NDArray[np.float64]:
    """Sum the terms of each list and divide by R, with NaN where it is 0."""
    sums = np.bincount(lists, terms, minlength=math.prod(shape)).reshape(shape)
    return quotient(sums, np.asarray(n_relevant, dtype=np.int64))
