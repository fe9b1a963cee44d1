r"""statAP and its kin: scores from documents sampled with known, unequal probabilities.

A sampled document that had the probability :math:`\pi` of being chosen stands for
:math:`1/\pi` documents (Horvitz and Thompson). So the topic has an estimated

.. math:: \hat R = \sum_{d\,relevant} 1/\pi_d

relevant documents, without bias whatever the design of the sample. The scores are those of NIST's
`statAP_MQ_eval` [2]_.

References
----------
.. [1] V. Pavlu and J. A. Aslam, "A practical sampling strategy for efficient retrieval evaluation",
   technical report, Northeastern University, 2007.
.. [2] `statAP_MQ_eval_v3.pl` and `_v4.pl`, the scorers of the Million Query and Web tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.sampled_pool import SampledPool, SampledRankings
from store.errors import ArgumentError

CUTOFFS = (10, 20, 50, 100)
"""Ranks at which precision is estimated."""


@dataclass(frozen=True, slots=True, eq=False)
class StatapScores:
    """Scores of runs from samples with known probabilities.

    Axes are in the order of the tags and topics of the `SampledRankings`. NaN = undefined: no
    sampled document of the topic is relevant (``no-relevant``).
    """

    stat_ap: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN: see the class; 0 for a run with
    no document, whose topic the program leaves out."""
    variance: NDArray[np.float64]
    """Shape (n_runs, n_topics): of `stat_ap`, at most 1, see the notes of `statap_scores`. It may
    be negative. NaN also where one document only has a grade."""
    r_precision: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0: precision at R-hat, rounded; NaN: see the class."""
    precision: NDArray[np.float64]
    """Shape (n_cutoffs, n_runs, n_topics), at least 0; defined everywhere."""
    n_relevant_retrieved: NDArray[np.float64]
    """Shape (n_runs, n_topics): estimated relevant documents in the whole list."""
    n_relevant: NDArray[np.float64]
    """Shape (n_topics,): R-hat, not rounded."""
    cutoffs: tuple[int, ...]
    level: int


def statap_scores(
    rankings: SampledRankings, *, cutoffs: Sequence[int] = CUTOFFS, level: int = 1
) -> StatapScores:
    r"""Score runs from documents sampled with known probabilities.

    Parameters
    ----------
    rankings : SampledRankings
        Rankings, and pools with inclusion probabilities.
    cutoffs : sequence of int, optional
        Ranks at which precision is estimated, each at least 1.
    level : int, default=1
        Least grade that counts as relevant.

    Returns
    -------
    StatapScores
        All of them, topic by topic.

    Raises
    ------
    ArgumentError
        If a pool has no inclusion probabilities, or a cutoff is below 1.

    Notes
    -----
    With w = 1/:math:`\pi` the documents that a sampled relevant one stands for,

    .. math::

        p_d = \frac{1}{k_d} \Bigl(1 + \sum_{e\,above\,d} w_e\Bigr), \qquad
        \mathrm{statAP} = \frac{1}{\hat R} \sum_d w_d \, p_d

    over the sampled relevant documents, with :math:`k_d` the rank of d. Where every document of
    the pool is certain to be sampled, this is AP, unjudged documents taken as not relevant.
    :math:`\hat R` is not rounded here; a port to Java rounds it, and cuts the sum above a document
    to an integer besides, so its scores differ. Precision at K is the sum of w down to rank K,
    divided by K; for R-precision, K is :math:`\hat R` rounded half up, or :math:`\hat R` itself
    where the list is shorter.

    The variance is that of version 4 of the program. With :math:`y_d = w_d (p_d - \mathrm{statAP})`
    over all sampled relevant documents, :math:`p_d = 0` for those not retrieved, n graded documents
    and m of them retrieved,

    .. math::

        \frac{n}{(m + 0.1) \hat R^2} \Bigl[ \sum_d (1 - \pi_d) y_d^2
        - \frac{\sum_{d \ne e} y_d y_e}{n - 1}
        + \sum_d (1 - \pi_d) w_d^2 \Bigl(\sum_{e\,below\,d} w_e / k_e \Bigr)^2 \Bigr]

    but 1 where this is more. It takes the sample to be the only source of chance and its joint
    probabilities to be nearly products; it does not become 0 for a pool that is judged whole.

    Documents without a grade are passed over, so those that wait for a judge bias the estimates
    downwards. The program orders tied documents at random; here they stand as in `rankings`. Its
    nDCG takes no account of the sampling, and is left out.

    O(n_runs n_topics width); one topic in memory at a time.

    Examples
    --------
    The second relevant document stands for two, and one at rank 2 is not sampled:

    >>> from store.analysis.sampled_pool import GRADED, sampled_pool, sampled_rankings
    >>> pool = sampled_pool([1, 3], [GRADED, GRADED], [1, 2], inclusion=[1, 0.5])
    >>> arrays = sampled_rankings(["x"], {("x", "t"): np.array([1, 2, 3])}, {"t": pool}, cutoff=9)
    >>> scores = statap_scores(arrays, cutoffs=[10])
    >>> scores.n_relevant.tolist(), scores.precision.tolist()
    ([3.0], [[[0.3]]])
    >>> scores.stat_ap.round(4).tolist()  # (1 * 1/1 + 2 * (1 + 1)/3) / 3
    [[0.7778]]
    """
    for cutoff in cutoffs:
        check_cutoff(cutoff)
    n_runs, n_topics = rankings.lengths.shape
    scores = StatapScores(
        stat_ap=np.full((n_runs, n_topics), np.nan),
        variance=np.full((n_runs, n_topics), np.nan),
        r_precision=np.full((n_runs, n_topics), np.nan),
        precision=np.empty((len(cutoffs), n_runs, n_topics)),
        n_relevant_retrieved=np.empty((n_runs, n_topics)),
        n_relevant=np.empty(n_topics),
        cutoffs=tuple(cutoffs),
        level=level,
    )
    for topic, pool in enumerate(rankings.pools):
        weights = _weights(pool, level)
        places = rankings.places[:, topic]
        # The codes -1 and -2 of ranks without a pooled document pick the last two elements.
        by_rank = np.append(weights, [0.0, 0.0])[places]
        found = np.zeros((n_runs, by_rank.shape[1] + 1))
        np.cumsum(by_rank, axis=1, out=found[:, 1:])
        total = estimated_relevant(pool, level=level)
        scores.n_relevant[topic] = total
        scores.n_relevant_retrieved[:, topic] = found[:, -1]
        for row, cutoff in enumerate(cutoffs):
            at = found[:, min(cutoff, found.shape[1] - 1)]
            scores.precision[row, :, topic] = at / cutoff
        if total == 0:
            continue
        ranks = np.arange(1, found.shape[1])
        precision = (1 + found[:, :-1]) / ranks
        scores.stat_ap[:, topic] = np.sum(by_rank * precision, axis=1) / total
        rank = int(total + 0.5)
        is_long = rankings.lengths[:, topic] >= rank
        at = found[:, min(rank, found.shape[1] - 1)]
        scores.r_precision[:, topic] = at / np.where(is_long, rank, total)
        n_graded = int(np.count_nonzero(pool.graded))
        if n_graded > 1:
            n_retrieved = np.count_nonzero(np.append(pool.graded, [False, False])[places], axis=1)
            spread = _spread(weights, by_rank, precision, scores.stat_ap[:, topic], n_graded)
            variance = spread * n_graded / ((n_retrieved + 0.1) * total**2)
            scores.variance[:, topic] = np.minimum(variance, 1.0)
    return scores


def estimated_relevant(pool: SampledPool, *, level: int = 1) -> float:
    r"""Estimate how many documents are relevant, from a sample with known probabilities.

    Parameters
    ----------
    pool : SampledPool
        With inclusion probabilities.
    level : int, default=1
        Least grade that counts as relevant.

    Returns
    -------
    float
        :math:`\hat R = \sum 1/\pi` over the sampled relevant documents, at least 0.

    Raises
    ------
    ArgumentError
        If the pool has no inclusion probabilities.

    Notes
    -----
    Unbiased whenever the probabilities are right and every sampled document is graded. Relevant
    documents that could not be sampled are not in it. O(n) for n documents.

    Examples
    --------
    >>> from store.analysis.sampled_pool import sampled_pool
    >>> pool = sampled_pool([1, 2, 3], [1, 1, 1], [1, 2, 0], inclusion=[1, 0.25, 0.5])
    >>> estimated_relevant(pool), estimated_relevant(pool, level=2)
    (5.0, 4.0)
    """
    return float(np.sum(_weights(pool, level)))


def _weights(pool: SampledPool, level: int) -> NDArray[np.float64]:
    """Return for how many relevant documents each stands; 0 for all but relevant ones."""
    if pool.inclusion is None:
        raise ArgumentError("pools", "must have inclusion probabilities", None)
    relevant = pool.relevant(level)
    weights = np.zeros(pool.documents.size)
    weights[relevant] = 1 / pool.inclusion[relevant]
    return weights


def _spread(
    weights: NDArray[np.float64],
    by_rank: NDArray[np.float64],
    precision: NDArray[np.float64],
    stat_ap: NDArray[np.float64],
    n_graded: int,
) -> NDArray[np.float64]:
    """Return the bracket of the variance of one topic, shape (n_runs,)."""
    # Per document w (p - statAP), with p = 0 for those that are not retrieved. (1 - pi) w^2 is
    # w (w - 1).
    all_of_them = np.sum(weights)
    squares = np.sum(weights**2)
    shifted = precision - stat_ap[:, None]
    missed = all_of_them - np.sum(by_rank, axis=1)
    missed_squares = squares - np.sum(by_rank**2, axis=1)
    total = np.sum(by_rank * shifted, axis=1) - missed * stat_ap
    own = np.sum((by_rank * shifted) ** 2, axis=1) + missed_squares * stat_ap**2
    chosen = by_rank * (by_rank - (by_rank > 0))
    missed_chosen = missed_squares - missed
    first = np.sum(chosen * shifted**2, axis=1) + missed_chosen * stat_ap**2
    per_rank = by_rank / np.arange(1, by_rank.shape[1] + 1)
    below = np.cumsum(per_rank[:, ::-1], axis=1)[:, ::-1] - per_rank
    third = np.sum(chosen * below**2, axis=1)
    return np.asarray(first - (total**2 - own) / (n_graded - 1) + third)
