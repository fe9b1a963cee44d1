"""Measures that add up gains: DCG, nDCG, Q, ERR, and rank-biased precision with its residual.

============ ======================== =========================================================
discount     weight of rank i
============ ======================== =========================================================
log2         1 / log2(i + 1)          trec_eval and most programs today
jarvelin     1 / max(1, log2(i))      the original [1]_, base 2: ranks 1 and 2 weigh the same
none         1                        CG, nCG of [1]_
============ ======================== =========================================================

============ ======================== =========================================================
gain         of grade g
============ ======================== =========================================================
grade        max(0, g)                [1]_, trec_eval
exponential  2^max(0, g) - 1          web search [2]_
============ ======================== =========================================================

Q blends the gain with precision [3]_, [4]_.

Rank-biased precision never divides by what is relevant in the collection, so the worst case is that every
unjudged document is of no worth, and the best that all are of the highest, the ranks below the end of a list
included: a list of n documents could have gone on. The difference is the residual [5]_; a short list has a
large one, and an empty list has 1. `bounds` has the bounds of measures of the list as it stands.

Grades of 0 and below gain nothing, as in trec_eval; nor do unjudged documents. Arguments mean the same
everywhere:

grades : ndarray of int, shape (..., width), or (..., n_topics, width) where there are `judged_grades`
    Grades in rank order; 0 for unjudged documents and below the end of a list.
judged_grades : sequence of ndarray of int, length n_topics
    Grades of all judged documents of each topic, retrieved or not, in any order.
cutoff : int, optional
    Ranks that count, at least 1; by default all. The ideal list is cut at the same rank.

Each function costs O(size of `grades`).

References
----------
.. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", *ACM Transactions on
   Information Systems* 20(4), 422-446, 2002, doi:10.1145/582415.582418.
.. [2] C. Burges et al., "Learning to rank using gradient descent", *ICML*, 89-96, 2005,
   doi:10.1145/1102351.1102363.
.. [3] T. Sakai, "On the reliability of information retrieval metrics based on graded relevance", *Information
   Processing & Management* 43(2), 531-548, 2007, doi:10.1016/j.ipm.2006.07.020.
.. [4] T. Sakai, "Alternatives to bpref", *SIGIR* 2007, 71-78, doi:10.1145/1277741.1277756.
.. [5] A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", *ACM
   Transactions on Information Systems* 27(1), 2:1-27, 2008, doi:10.1145/1416950.1416952.
.. [6] O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance",
   *CIKM* 2009, 621-630, doi:10.1145/1645953.1646033.
.. [7] T. Sakai and R. Song, "Evaluating diversified search results using per-intent graded relevance",
   *SIGIR* 2011, 1043-1052, doi:10.1145/2009916.2010055.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.ratios import quotient
from store.errors import ArgumentError

Discount = Literal["log2", "jarvelin", "none"]
Gain = Literal["grade", "exponential"]

_LARGEST_EXPONENT = 1023
"""From 2^1024 on a float64 overflows."""


def discounts(width: int, discount: Discount) -> NDArray[np.float64]:
    """Tabulate what each rank weighs, in (0, 1], shape (width,), the first rank first.

    >>> discounts(4, "log2").round(4).tolist()
    [1.0, 0.6309, 0.5, 0.4307]
    >>> discounts(4, "jarvelin").round(4).tolist()
    [1.0, 1.0, 0.6309, 0.5]
    """
    ranks = np.arange(1, width + 1, dtype=np.float64)
    if discount == "none":
        return np.ones(width)
    if discount == "log2":
        return np.asarray(1 / np.log2(ranks + 1))
    return np.asarray(1 / np.maximum(1, np.log2(ranks)))


def discounted_gain(
    grades: NDArray[np.integer[Any]],
    *,
    cutoff: int | None = None,
    gain: Gain = "grade",
    discount: Discount = "log2",
) -> NDArray[np.float64]:
    r"""Sum the discounted gains of each list: DCG, at least 0, shape (...).

    In units of the gain; 0 for an empty list. An exponential gain is refused above a grade of 1023.

    Notes
    -----
    .. math:: \mathrm{DCG} = \sum_i \mathrm{gain}(g_i) \, \mathrm{weight}(i)

    Summed from rank 1 down, so that the same gains at the same ranks give the same float whatever
    follows them. Only grades above 0 cost more than a comparison.

    Examples
    --------
    The slides' example prints DCG 8.96, with logarithms rounded to two decimals:

    >>> grades = np.array([4, 1, 4, 2, 1])
    >>> float(discounted_gain(grades, discount="jarvelin").round(6))
    8.954396
    >>> float(discounted_gain(grades).round(6))
    7.879136
    """
    grades = np.asarray(grades)[..., :cutoff]
    weights = discounts(grades.shape[-1], discount)
    positive = grades > 0
    places = np.flatnonzero(positive)
    lists, columns = np.divmod(places, max(1, grades.shape[-1]))
    worth = _worth(grades[positive], gain) * weights[columns]
    # Each bin is summed in the order of its ranks.
    total = np.bincount(lists, worth, minlength=int(np.prod(grades.shape[:-1], dtype=np.int64)))
    return np.asarray(total.reshape(grades.shape[:-1]), dtype=np.float64)  # bins of nothing are integers


def ideal_gain(
    judged_grades: Sequence[NDArray[np.integer[Any]]],
    *,
    cutoff: int | None = None,
    gain: Gain = "grade",
    discount: Discount = "log2",
) -> NDArray[np.float64]:
    """Compute the DCG of the best list there can be for each topic, shape (n_topics,).

    0 where no grade is above 0.

    The slides print 10.70; 4 + 4 + 2/log2(3) + 1/2 + 1/log2(5) is

    >>> float(ideal_gain([np.array([4, 1, 4, 2, 1])], discount="jarvelin")[0].round(6))
    10.192536
    """
    best = [np.sort(np.asarray(grades))[::-1] for grades in judged_grades]
    sums = [discounted_gain(grades, cutoff=cutoff, gain=gain, discount=discount) for grades in best]
    return np.array(sums, dtype=np.float64)


def normalised_gain(
    grades: NDArray[np.integer[Any]],
    judged_grades: Sequence[NDArray[np.integer[Any]]],
    *,
    cutoff: int | None = None,
    gain: Gain = "grade",
    discount: Discount = "log2",
) -> NDArray[np.float64]:
    """Divide the DCG of each list by the best there can be: nDCG, in [0, 1], shape (..., n_topics).

    Exactly 1 for an ideal list; NaN where no judged document of the topic has a grade above 0
    (``no-relevant``). With the defaults trec_eval's `ndcg` and `ndcg_cut`.

    The slides' list and the same reversed, printed .83 and .65 from a wrong IDCG:

    >>> grades = np.array([[[4, 1, 4, 2, 1]], [[1, 2, 4, 1, 4]], [[1, 1, 2, 4, 4]]])
    >>> normalised_gain(grades[[0, 2]], [grades[0, 0]], discount="jarvelin").round(6).tolist()
    [[0.878525], [0.685263]]
    """
    total = discounted_gain(grades, cutoff=cutoff, gain=gain, discount=discount)
    ideal = ideal_gain(judged_grades, cutoff=cutoff, gain=gain, discount=discount)
    return quotient(total, ideal)


def _worth(grades: NDArray[np.integer[Any]], gain: Gain) -> NDArray[np.float64]:
    if gain == "grade":
        return np.asarray(grades, dtype=np.float64)
    if grades.size and grades.max() > _LARGEST_EXPONENT:
        requirement = f"must be at most {_LARGEST_EXPONENT} for an exponential gain"
        raise ArgumentError("grades", requirement, int(grades.max()))
    return np.asarray(np.exp2(grades.astype(np.float64)) - 1)


def q_measure(
    grades: NDArray[np.integer[Any]],
    judged_grades: Sequence[NDArray[np.integer[Any]]],
    *,
    beta: float = 1.0,
    cutoff: int | None = None,
) -> NDArray[np.float64]:
    r"""Average the blended ratio over the relevant documents of each topic: Q, shape (..., n_topics).

    In [0, 1], 1 for an ideal list; NaN where no judged document of the topic has a grade above 0
    (``no-relevant``). Grades above 0 are relevant, and their gains, which weigh `beta`, finite and at least
    0; 0 makes it AP.

    Notes
    -----
    .. math:: Q = \frac{1}{R} \sum_{r\,relevant} \frac{C(r) + \beta\,cg(r)}{r + \beta\,cg^*(r)}

    with C the relevant documents and cg the gains down to rank r, and cg* those of the ideal list ([3]_,
    section 3.1). Of a condensed list, see `ranked.condensed`, it is the Q' of [4]_. With a cutoff k the sum
    is divided by min(R, k), as in NTCIREVAL, so that an ideal list has 1; AP@k of trec_eval divides by R.

    Examples
    --------
    Grades 0, 3, unjudged, 2, as 3 3 3 2 2 2 1 1 1 1 would be ideal: (4/8 + 7/15) / 10

    >>> ideal = np.array([3, 3, 3, 2, 2, 2, 1, 1, 1, 1])
    >>> float(q_measure(np.array([[0, 3, 0, 2]]), [ideal])[0].round(6))
    0.096667
    """
    grades = grades[..., :cutoff]
    *shape, n_topics, width = grades.shape
    n_lists = math.prod(shape) * n_topics
    ideal = np.zeros((n_topics, width))
    divisor = np.zeros(n_topics)
    for topic, judged in enumerate(judged_grades):
        best = np.sort(np.maximum(np.asarray(judged), 0))[::-1]
        ideal[topic, : best.size] = best[:width]
        divisor[topic] = np.count_nonzero(best)
    if cutoff is not None:
        divisor = np.minimum(divisor, cutoff)
    np.cumsum(ideal, axis=-1, out=ideal)
    places = np.flatnonzero(grades > 0)
    lists, columns = np.divmod(places, max(width, 1))
    # What the lists before found and gained is taken off the sums over all of them.
    starts = np.searchsorted(lists, np.arange(n_lists))[lists]
    gains = np.cumsum(np.append(0, grades.reshape(-1)[places]))
    found = np.arange(1, places.size + 1) - starts
    gained = gains[1:] - gains[starts]
    at_best = ideal[lists % max(n_topics, 1), columns]
    ratios = (found + beta * gained) / (columns + 1 + beta * at_best)
    sums = np.bincount(lists, ratios, minlength=n_lists)
    return quotient(sums.reshape((*shape, n_topics)), divisor)


def stopping_chances(grades: NDArray[np.integer[Any]], *, highest: int) -> NDArray[np.float64]:
    r"""Return how likely a document of each grade ends a search, in [0, 1), shape of `grades`.

    0 for grades of 0 and below. `highest`, at least 1, is the highest grade of the scale: none is above.

    .. math:: (2^{\max(0, g)} - 1) / 2^{highest}    ([6]_)

    >>> stopping_chances(np.array([0, 1, 4, -2]), highest=4).tolist()
    [0.0, 0.0625, 0.9375, 0.0]
    """
    powers = np.maximum(np.asarray(grades), 0).astype(np.float64) - highest
    return np.asarray(np.exp2(powers) - np.exp2(-float(highest)))


def expected_reciprocal_rank(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Average 1 / rank over where a search down each list ends: ERR, shape (...), in [0, 1].

    Parameters
    ----------
    chances : ndarray of float64, shape (..., width)
        How likely the document at each rank ends the search, once it is reached, in [0, 1]; see
        `stopping_chances`. 0 for unjudged documents and below the end of a list.

    Returns
    -------
    ndarray of float64, shape (...)
        Defined everywhere: a search that nothing ends adds 0.

    Notes
    -----
    .. math:: \mathrm{ERR} = \sum_r \frac{1}{r} \, c_r \prod_{i<r} (1 - c_i)    ([6]_)

    gdeval's, where `highest` is 4 and the list is cut. O(size of `chances`).

    Examples
    --------
    A half at ranks 1 and 3: 1/2 + 1/3 * 1/2 * 1/2

    >>> float(expected_reciprocal_rank(np.array([0.5, 0, 0.5])).round(6))
    0.583333
    """
    reached = np.ones_like(chances)
    np.cumprod(1 - chances[..., :-1], axis=-1, out=reached[..., 1:])
    return np.asarray(np.sum(chances * reached / np.arange(1, chances.shape[-1] + 1), axis=-1))


def normalised_reciprocal_rank(
    grades: NDArray[np.integer[Any]],
    judged_grades: Sequence[NDArray[np.integer[Any]]],
    *,
    highest: int,
    cutoff: int | None = None,
) -> NDArray[np.float64]:
    """Divide the ERR of each list by that of the best there can be: nERR, in [0, 1], shape (..., n_topics).

    NaN where no judged document of the topic has a grade above 0 (``no-relevant``). `highest` as in
    `stopping_chances`. NTCIREVAL's [7]_, which takes g / (highest + 1) for the chance of a gain g.

    Grade 1 of 1 at rank 2, where it could be at rank 1:

    >>> float(normalised_reciprocal_rank(np.array([[0, 1]]), [np.array([1, 0])], highest=1)[0])
    0.5
    """
    best = [np.sort(np.asarray(one))[::-1][:cutoff] for one in judged_grades]
    ideal = [expected_reciprocal_rank(stopping_chances(one, highest=highest)) for one in best]
    found = expected_reciprocal_rank(stopping_chances(grades[..., :cutoff], highest=highest))
    return quotient(found, np.array(ideal, dtype=np.float64))


def rank_biased_precision(gains: NDArray[Any], *, p: float) -> NDArray[np.float64]:
    r"""Return rank-biased precision of each list.

    Parameters
    ----------
    gains : ndarray of bool, int or float, shape (..., width)
        Worth of the document at each rank, in [0, 1]: relevant or not, or grade / highest grade; 0
        for unjudged documents and below the end of a list.
    p : float
        Persistence, at least 0 and below 1: how likely the next rank is looked at.

    Returns
    -------
    ndarray of float64, shape (...)
        RBP in [0, 1], defined everywhere: R plays no part. O(size of `gains`).

    Notes
    -----
    .. math:: \mathrm{RBP} = (1 - p) \sum_i g_i \, p^{i-1}    (section 3.1 of [5]_)

    trec_eval 10's `rbp` has p = 0.9 and the gains grade / highest grade of the topic, whatever the
    level of relevance.

    Examples
    --------
    Relevant at ranks 1 and 3: .5 + .125

    >>> float(rank_biased_precision(np.array([True, False, True]), p=0.5))
    0.625
    """
    *shape, width = gains.shape
    weights = (1 - p) * np.power(float(p), np.arange(width))
    places = np.flatnonzero(gains)
    lists, columns = np.divmod(places, max(width, 1))
    worth = gains.reshape(-1)[places] * weights[columns]
    return np.asarray(np.bincount(lists, worth, minlength=math.prod(shape)).reshape(shape))


def rbp_residual(judged: NDArray[np.bool_], lengths: ArrayLike, *, p: float) -> NDArray[np.float64]:
    r"""Return how much unjudged documents and the end of each list leave open.

    Parameters
    ----------
    judged : ndarray of bool, shape (..., width)
        Which ranks hold a judged document.
    lengths : array_like of int, shape (...) or one that broadcasts to it
        n, ranks filled.
    p : float
        As for `rank_biased_precision`.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]: RBP lies in [base, base + residual], whatever the unjudged documents are and
        whatever would follow. 1 for an empty list.

    Notes
    -----
    .. math:: (1 - p) \sum_{i \text{ unjudged}} p^{i-1} + p^n    (section 3.3 of [5]_)

    trec_eval 10's `rbp_resid` (p = 0.9), which however is 0, without the tail :math:`p^n`, where
    every document of the list is judged. Computed as 1 less the weight of the judged ranks.

    Examples
    --------
    Two ranks, the second unjudged: .25, and .25 for all below

    >>> float(rbp_residual(np.array([True, False]), 2, p=0.5))
    0.5
    """
    judged = np.asarray(judged, dtype=np.bool_)
    there = np.arange(judged.shape[-1]) < np.asarray(lengths, dtype=np.int64)[..., None]
    # The weights of all ranks sum to 1, so that what is not judged is all the rest.
    return np.asarray(np.maximum(0.0, 1 - rank_biased_precision(judged & there, p=p)))
