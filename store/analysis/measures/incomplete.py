r"""Measures for judgements that are incomplete: what was not judged is passed over, or guessed.

In qrels, -1 says that a document was pooled but not judged: such documents are `open`, and have no
grade. -2 and lower are grades, ``junk``. Functions on flags take it as the flags have it. The named
measures `bpref_of` and `inferred_ap_of` follow trec_eval and ir_measures: a grade below 0 is no
judgement, unless the level of relevance is below 0 too.

A condensed list is the ranking without its unjudged documents [3]_. Made once by `condensed`, it
can be scored by every measure: trec_eval's option -J, the ``judged_only`` of ir_measures.

References
----------
.. [1] C. Buckley and E. M. Voorhees, "Retrieval evaluation with incomplete information", *SIGIR*
   2004, 25-32, doi:10.1145/1008992.1009000.
.. [2] E. Yilmaz and J. A. Aslam, "Estimating average precision with incomplete and imperfect
   judgments", *CIKM* 2006, 102-111, doi:10.1145/1183614.1183633.
.. [3] T. Sakai, "Alternatives to bpref", *SIGIR* 2007, 71-78, doi:10.1145/1277741.1277756.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.measures.average_precision import quotient
from store.analysis.rankings import GradedRankings

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


def condensed(rankings: GradedRankings) -> GradedRankings:
    """Delete the unjudged documents from every list, so that the others move up.

    Whatever has a grade is kept, in the same order, and all of it at `judged`; a list that had none has
    length 0. R and the ideal list stay as they were. trec_eval -J deletes grades below 0 as well.

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
    lengths = np.asarray(np.count_nonzero(rankings.judged, axis=-1), dtype=np.int64)
    width = int(lengths.max(initial=0))
    judged = np.arange(width) < lengths[..., None]
    grades = np.zeros(judged.shape, dtype=np.int32)
    # Both masks are read row by row, and have as many places in a row.
    grades[judged] = rankings.grades[rankings.judged]
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
