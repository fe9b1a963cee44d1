r"""xinfAP, infNDCG and precision estimated from a stratified sample of a pool, as NIST does.

The pool of a topic is cut into strata, and a part of each is judged. What the sampled documents of
a stratum say stands for all of it: with :math:`N_c` documents pooled in stratum c, :math:`S_c` of
them graded and :math:`R_c` relevant, the topic has an estimated

.. math:: \hat R = \sum_c R_c N_c / S_c

relevant documents, which is unbiased for simple random samples of fixed size. The scores are those
of `sample_eval.pl` [1]_, [2]_, its small constants and its caps included.

References
----------
.. [1] E. Yilmaz, E. Kanoulas and J. A. Aslam, "A simple and efficient sampling method for
   estimating AP and NDCG", *SIGIR* 2008, 603-610, doi:10.1145/1390334.1390437.
.. [2] `sample_eval.pl`, the scorer of TREC and TRECVID, with NIST's changes of 2010 and 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.sampled_pool import SampledPool, SampledRankings
from store.errors import ArgumentError

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""Ranks at which precision is estimated."""
MAX_RETRIEVED = 1000
"""Documents that a run may return for a topic; TRECVID has used 2000 as well."""
EPSILON = 1e-5
"""Added to the relevant documents above a rank, and three times to the sampled ones: a stratum of
which nothing above is sampled counts as one third relevant."""


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedScores:
    """Scores of runs from stratified samples.

    Axes are in the order of the tags and topics of the `SampledRankings`.
    """

    inf_ap: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN where no sampled document is
    relevant, the program has 0 there; 0 for a run with no document, whose topic the program leaves
    out."""
    inf_ndcg: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN where no sampled document has a
    grade above 0, the program has 0 there; otherwise as `inf_ap`."""
    precision: NDArray[np.float64]
    """Shape (n_cutoffs, n_runs, n_topics): relevant documents estimated down to each cutoff,
    divided by the cutoff; defined everywhere."""
    n_relevant_retrieved: NDArray[np.float64]
    """Shape (n_runs, n_topics): estimated relevant documents in the whole list (inum_rel_ret)."""
    n_relevant: NDArray[np.float64]
    """Shape (n_topics,): estimated relevant documents (inum_rel)."""
    n_uncovered: NDArray[np.int64]
    """Shape (n_topics,): pooled documents of strata of which none has a grade. They count as not
    relevant in `n_relevant`, silently in the program."""
    cutoffs: tuple[int, ...]
    max_retrieved: int
    level: int


def stratified_scores(
    rankings: SampledRankings,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    max_retrieved: int = MAX_RETRIEVED,
    level: int = 1,
) -> StratifiedScores:
    r"""Score runs from stratified samples of their pools.

    Parameters
    ----------
    rankings : SampledRankings
        Rankings, and pools with strata.
    cutoffs : sequence of int, optional
        Ranks at which precision is estimated, each at least 1.
    max_retrieved : int, default=1000
        Ranks that count, and the cap in the notes; at least 1.
    level : int, default=1
        Least grade that counts as relevant. infNDCG takes grades above 0 as gains, whatever the
        level.

    Returns
    -------
    StratifiedScores
        All of them, topic by topic.

    Raises
    ------
    ArgumentError
        If a pool has no strata, or an argument is below 1.

    Notes
    -----
    At a relevant document of rank k, with :math:`N_c^{<k}` pooled, :math:`s_c^{<k}` graded and
    :math:`r_c^{<k}` relevant documents of stratum c above it,

    .. math::

        P_k = \frac1k + \frac1k \sum_c N_c^{<k}
              \frac{r_c^{<k} + \varepsilon}{s_c^{<k} + 3 \varepsilon}, \qquad
        \mathrm{xinfAP} = \frac{1}{\hat R} \sum_c \frac{N_c}{S_c} \sum_{k \in c} P_k

    so that documents outside the pool count as not relevant. Where :math:`\hat R` exceeds
    `max_retrieved`, the score is multiplied by their quotient, since no run can return so many.
    Precision at K is that sum over :math:`N_c^{\le K}`, divided by K. infNDCG is
    :math:`\sum_c N_c^{ret} g_c / s_c^{ret}` divided by an ideal gain, with :math:`g_c` the
    discounted gains, grade / log2(k + 1), of the graded documents retrieved; see `ideal_gain`.

    With every pooled document graded, xinfAP is AP but for the constants: a stratum with m > 0
    documents above moves P_k by :math:`\varepsilon |m - 3r| / (m + 3\varepsilon) / k`, which is at
    most :math:`2 \varepsilon / k`, so that

    .. math:: |\mathrm{xinfAP} - \mathrm{AP}| \le \frac{2 \varepsilon C}{R} \sum_{k\,relevant} 1/k

    with C strata. With one stratum it is trec_eval's infAP except that this has
    :math:`s + 2 \varepsilon` below the line: equal to about 1e-5 where a graded document stands
    above, and otherwise the pooled ones above count as half relevant there, as one third here.

    Sampled documents without a grade count as not sampled. Two differences to the program: strata
    are added up in the order of their numbers, not of their digits, and so are the grades of the
    ideal list, where the program puts grade 10 below 2.

    O(n_runs n_topics width n_strata); one topic in memory at a time.

    Examples
    --------
    Three of five pooled documents are graded; `d` is not pooled:

    >>> from store.analysis.sampled_pool import GRADED, NOT_SAMPLED, sampled_pool, sampled_rankings
    >>> a, b, c, d, e, f = range(6)
    >>> pool = sampled_pool(
    ...     [a, b, c, e, f],
    ...     [GRADED, NOT_SAMPLED, GRADED, GRADED, NOT_SAMPLED],
    ...     [1, 0, 1, 0, 0],
    ...     strata=[1, 2, 2, 2, 2],
    ... )
    >>> arrays = sampled_rankings(["x"], {("x", "t"): np.array([a, d, c])}, {"t": pool}, cutoff=9)
    >>> scores = stratified_scores(arrays, cutoffs=[2])
    >>> scores.n_relevant.tolist()  # 1 * 1/1 + 1 * 4/2
    [3.0]
    >>> scores.inf_ap.round(4).tolist()  # (1/1 * 1 + 4/2 * (1 + 1) / 3) / 3
    [[0.7778]]
    >>> scores.precision.round(4).tolist()
    [[[0.5]]]
    """
    check_cutoff(max_retrieved)
    for cutoff in cutoffs:
        check_cutoff(cutoff)
    n_runs, n_topics = rankings.lengths.shape
    inf_ap = np.empty((n_runs, n_topics))
    inf_ndcg = np.empty((n_runs, n_topics))
    precision = np.empty((len(cutoffs), n_runs, n_topics))
    retrieved = np.empty((n_runs, n_topics))
    estimated = np.empty(n_topics)
    n_uncovered = np.empty(n_topics, dtype=np.int64)
    for topic, pool in enumerate(rankings.pools):
        strata = _strata(pool, level)
        places = rankings.places[:, topic, :max_retrieved]
        total = _expected(strata.n_relevant, strata)
        estimated[topic] = total
        n_uncovered[topic] = strata.n_pooled[strata.n_graded == 0].sum()
        found = _found(strata, places)
        inf_ap[:, topic] = _xinf_ap(strata, places, found, total, max_retrieved)
        gained = _gained(strata, pool, places)
        best = ideal_gain(pool, max_retrieved=max_retrieved)
        inf_ndcg[:, topic] = gained / best if best > 0 else np.nan
        retrieved[:, topic] = found[:, -1]
        for row, cutoff in enumerate(cutoffs):
            precision[row, :, topic] = found[:, min(cutoff, found.shape[1] - 1)] / cutoff
    return StratifiedScores(
        inf_ap=inf_ap,
        inf_ndcg=inf_ndcg,
        precision=precision,
        n_relevant_retrieved=retrieved,
        n_relevant=estimated,
        n_uncovered=n_uncovered,
        cutoffs=tuple(cutoffs),
        max_retrieved=max_retrieved,
        level=level,
    )


def estimated_relevant(pool: SampledPool, *, level: int = 1) -> float:
    r"""Estimate how many documents of a stratified pool are relevant.

    Parameters
    ----------
    pool : SampledPool
        With strata.
    level : int, default=1
        Least grade that counts as relevant.

    Returns
    -------
    float
        :math:`\hat R = \sum_c R_c N_c / S_c`, at least 0. Strata without a graded document are
        passed over.

    Raises
    ------
    ArgumentError
        If the pool has no strata.

    Notes
    -----
    Unbiased when each stratum is a simple random sample of at least one document and all of them
    are graded. O(n) for n pooled documents.

    Examples
    --------
    Stratum 1 is judged whole; of stratum 2 one of two graded documents stands for five:

    >>> from store.analysis.sampled_pool import sampled_pool
    >>> pool = sampled_pool(
    ...     range(7), [1, 1, 1, 1, -1, -1, -1], [1, 0, 2, 0, 0, 0, 0], strata=[1, 1, 2, 2, 2, 2, 2]
    ... )
    >>> estimated_relevant(pool)  # 1 * 2/2 + 1 * 5/2
    3.5
    """
    strata = _strata(pool, level)
    return _expected(strata.n_relevant, strata)


def ideal_gain(pool: SampledPool, *, max_retrieved: int = MAX_RETRIEVED) -> float:
    r"""Compute the discounted gain of the best list, for estimated numbers of each grade.

    Parameters
    ----------
    pool : SampledPool
        With strata.
    max_retrieved : int, default=1000
        Ranks that count, at least 1.

    Returns
    -------
    float
        At least 0; 0 where no graded document has a grade above 0.

    Raises
    ------
    ArgumentError
        If the pool has no strata, or `max_retrieved` is below 1.

    Notes
    -----
    The estimated number of documents of a grade is not rounded: with n of grade g expected after b
    of higher grades, g stands at the ranks b + 1, b + 2, ..., as many as are at most b + n. So a
    fraction of a document earns nothing, and the ranks after it are no integers. The list of a
    grade ends with its first rank from `max_retrieved` on, which counts; even a grade that begins
    below that has one document. All of this is what the program does.

    Examples
    --------
    1.5 documents of grade 2 and 1.5 of grade 1 stand at ranks 1 and 2.5:

    >>> from store.analysis.sampled_pool import sampled_pool
    >>> pool = sampled_pool(range(3), [1, 1, -1], [2, 1, 0], strata=[1, 1, 1])
    >>> round(ideal_gain(pool), 6)  # 2 / log2(2) + 1 / log2(3.5)
    2.553295
    """
    check_cutoff(max_retrieved)
    strata = _strata(pool, 1)
    positive = pool.graded & (pool.grades > 0)
    total = start = 0.0
    for grade in np.unique(pool.grades[positive])[::-1].tolist():
        of_grade = strata.codes[positive & (pool.grades == grade)]
        counts = np.bincount(of_grade, minlength=strata.n_pooled.size)
        expected = _expected(counts, strata)
        # Counted up by ones, as the program does: the last rank may hang on a rounding.
        steps = np.ones(int(expected) + 2)
        steps[0] = start + 1
        ranks = np.cumsum(steps)
        ranks = ranks[ranks <= start + expected]
        n_counting = np.count_nonzero(ranks < max_retrieved) + 1
        total += float(np.sum(grade / np.log2(ranks[:n_counting] + 1)))
        start += expected
    return total


@dataclass(frozen=True, slots=True, eq=False)
class _Strata:
    """A pool by stratum."""

    codes: NDArray[np.int64]
    """Shape (n_documents,): stratum of each document, from 0."""
    graded: NDArray[np.bool_]
    relevant: NDArray[np.bool_]
    n_pooled: NDArray[np.int64]
    """Shape (n_strata,), as the two that follow."""
    n_graded: NDArray[np.int64]
    n_relevant: NDArray[np.int64]


def _strata(pool: SampledPool, level: int) -> _Strata:
    """Count the documents of every stratum."""
    if pool.strata is None:
        raise ArgumentError("pools", "must have strata", None)
    numbers, codes = np.unique(pool.strata, return_inverse=True)
    graded, relevant = pool.graded, pool.relevant(level)
    counts = [np.bincount(codes[kept], minlength=numbers.size)
              for kept in (slice(None), graded, relevant)]  # fmt: skip
    return _Strata(codes, graded, relevant, counts[0], counts[1], counts[2])


def _expected(counts: NDArray[np.int64], strata: _Strata) -> float:
    """Return how many documents those counted in the sample of each stratum stand for."""
    total = 0.0
    for stratum in np.flatnonzero(counts):
        total += float(counts[stratum] * strata.n_pooled[stratum] / strata.n_graded[stratum])
    return total


def _found(strata: _Strata, places: NDArray[np.int32]) -> NDArray[np.float64]:
    """Estimate the relevant documents among the first 0, 1, ... ranks; (n_runs, width + 1)."""
    n_runs, width = places.shape
    found = np.zeros((n_runs, width + 1))
    for stratum in range(strata.n_pooled.size):
        # The codes -1 and -2 of ranks without a pooled document pick the last two elements.
        inside = np.append(strata.codes == stratum, [False, False])
        is_pooled = inside[places]
        is_graded = np.append(strata.graded, [False, False])[places] & is_pooled
        is_relevant = np.append(strata.relevant, [False, False])[places] & is_pooled
        share = np.cumsum(is_relevant, axis=1) + EPSILON
        share /= np.cumsum(is_graded, axis=1) + 3 * EPSILON
        found[:, 1:] += np.cumsum(is_pooled, axis=1) * share
    return found


def _xinf_ap(
    strata: _Strata,
    places: NDArray[np.int32],
    found: NDArray[np.float64],
    total: float,
    max_retrieved: int,
) -> NDArray[np.float64]:
    """Return xinfAP of one topic, shape (n_runs,)."""
    if total == 0:
        return np.full(places.shape[0], np.nan)
    relevant = np.append(strata.relevant, [False, False])
    runs, columns = np.nonzero(relevant[places])
    stratum = strata.codes[places[runs, columns]]
    precision = (1 + found[runs, columns]) / (columns + 1)
    worth = precision * strata.n_pooled[stratum] / strata.n_graded[stratum]
    sums = np.bincount(runs, worth, minlength=places.shape[0])
    return np.asarray(sums / min(total, max_retrieved))


def _gained(strata: _Strata, pool: SampledPool, places: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the estimated discounted gain of one topic, shape (n_runs,)."""
    n_runs, n_strata = places.shape[0], strata.n_pooled.size
    runs, columns = np.nonzero(places >= 0)
    of_rank = places[runs, columns]
    cells = runs * n_strata + strata.codes[of_rank]
    gains = np.maximum(pool.grades[of_rank], 0) / np.log2(columns + 2)
    sums = [np.bincount(cells, weights, minlength=n_runs * n_strata)
            for weights in (None, strata.graded[of_rank], gains)]  # fmt: skip
    n_pooled, n_graded, gained = (one.reshape(n_runs, n_strata) for one in sums)
    means = np.divide(gained, n_graded, out=np.zeros(gained.shape), where=n_graded > 0)
    return np.asarray(np.sum(n_pooled * means, axis=1))
