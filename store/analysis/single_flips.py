"""Every rank of every run supposed relevant, one at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import RMode, check_r_mode
from store.analysis.discoveries import n_relevant_of
from store.analysis.judged_rankings import RELEVANT, UNJUDGED, JudgedRankings
from store.analysis.undiscovered import discovery_effect
from store.errors import ArgumentError


def single_flips(
    rankings: JudgedRankings, *, above: int = 0, r_mode: RMode = "pool"
) -> NDArray[np.float64]:
    """Compute by how much AP changes if one unjudged document turns relevant, for every one.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    above : int, default=0
        Ranks left out from the top: with the depth of the pool, all that is below it.
    r_mode : {"pool", "own"}, default="pool"
        What R counts.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_topics, max(0, width - above))
        Change of the run's own AP by eq. 19 at the ranks above + 1, above + 2, ...; NaN where the
        document is judged or the run has ended. As `discovery_effect` counts it, from an AP of 0
        where R = 0.

    Raises
    ------
    ArgumentError
        If `above` is negative or `r_mode` unknown.

    Notes
    -----
    O(size of the rankings) time. One topic at a time: beside the result, memory for the ranks of
    one topic.

    Examples
    --------
    Relevant at rank 1 of R = 1, rank 2 judged, ranks 3 and 4 unjudged: (1/1 + 2/3) / 2 - 1.

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a"],
    ...     {("a", "t"): np.array([1, 2, 3, 4])},
    ...     {"t": (np.array([1, 2]), np.array([True, False]))},
    ...     cutoff=10,
    ... )
    >>> single_flips(arrays).round(4).tolist()
    [[[nan, nan, -0.1667, -0.25]]]
    """
    r_mode = check_r_mode(r_mode)
    if above < 0:
        raise ArgumentError("above", "must be an integer >= 0", above)
    n_runs, n_topics, width = rankings.documents.shape
    result = np.empty((n_runs, n_topics, max(0, width - above)))
    for topic in range(n_topics):
        standing = rankings.standing_by_rank(topic)
        relevant = standing == RELEVANT
        counts = n_relevant_of(rankings, topic, relevant, r_mode)
        effect = discovery_effect(relevant, counts)[:, above:]
        result[:, topic] = np.where(standing[:, above:] == UNJUDGED, effect, np.nan)
    return result
