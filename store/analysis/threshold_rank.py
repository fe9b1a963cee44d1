"""Below which rank the discovery of a relevant document lowers AP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import (
    RMode,
    average_precision,
    check_r_mode,
    gains,
    own_n_relevant,
)
from store.analysis.discoveries import n_relevant_of
from store.analysis.judged_rankings import RELEVANT, JudgedRankings

SAME_GAIN = 1e-12
"""A gain no further from AP than this leaves AP as it is."""


def threshold_ranks(
    relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]
) -> NDArray[np.int64]:
    r"""Find the first rank at which a document that turns relevant lowers AP.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document.
    n_relevant : ndarray of int64, shape (...) or one that broadcasts to it
        R before the discovery, at least the number of relevant ranks.

    Returns
    -------
    ndarray of int64, shape (...)
        A rank that is not relevant: a discovery there or anywhere below lowers AP, one anywhere
        above does not. It may be below the last rank: the list is taken to go on without relevant
        documents. 0 = none, since AP is 0 or undefined and can only rise.

    Raises
    ------
    ArgumentError
        If `n_relevant` is below the number of relevant ranks somewhere.

    Notes
    -----
    AP changes by :math:`(g_r - \nu) / (R + 1)` (eq. 19 of the paper that
    `store.analysis.undiscovered` names), so it falls exactly where :math:`g_r < \nu` (E2). Over
    the ranks that are not relevant :math:`g_r` falls strictly, to :math:`(1 + c) / r` below the
    last of c relevant documents. O(size of `relevant`).

    Examples
    --------
    Relevant at ranks 1, 3 and 6 with R = 4, AP 13/24 = .542: a gain of 4/7 at rank 7, of 4/8 at 8.

    >>> relevant = np.isin(np.arange(1, 11), [1, 3, 6])
    >>> int(threshold_ranks(relevant, np.array(4)))
    8
    >>> int(threshold_ranks(np.array([False, True]), np.array(1)))  # AP 1/2: 2/4 at 4, 2/5 at 5
    5
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    before = average_precision(relevant, n_relevant)
    before = np.where(np.isnan(before), 0.0, before)
    width = relevant.shape[-1]
    lowers = ~relevant & (gains(relevant) < before[..., None] - SAME_GAIN)  # E2
    inside = np.argmax(lowers, axis=-1) + 1 if width else np.zeros(before.shape, dtype=np.int64)
    # Below the list a gain is (1 + c) / r.
    turn = np.zeros(before.shape)
    np.divide(1 + own_n_relevant(relevant), before, out=turn, where=before > 0)
    below = np.maximum(np.floor(turn * (1 + SAME_GAIN)).astype(np.int64) + 1, width + 1)
    found = np.where(lowers.any(axis=-1), inside, below)
    return np.asarray(np.where(before > 0, found, 0), dtype=np.int64)


def run_thresholds(rankings: JudgedRankings, *, r_mode: RMode = "pool") -> NDArray[np.int64]:
    """Find the threshold rank of every run and topic.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant.
    r_mode : {"pool", "own"}, default="pool"
        What R counts.

    Returns
    -------
    ndarray of int64, shape (n_runs, n_topics)
        As `threshold_ranks`; 0 = a discovery by the run can only raise its AP, or there is none.

    Raises
    ------
    ArgumentError
        If `r_mode` is unknown.

    Notes
    -----
    O(size of the rankings); one topic in memory at a time.
    """
    r_mode = check_r_mode(r_mode)
    n_runs, n_topics = rankings.lengths.shape
    result = np.empty((n_runs, n_topics), dtype=np.int64)
    for topic in range(n_topics):
        relevant = rankings.standing_by_rank(topic) == RELEVANT
        counts = n_relevant_of(rankings, topic, relevant, r_mode)
        result[:, topic] = threshold_ranks(relevant, counts)
    return result
