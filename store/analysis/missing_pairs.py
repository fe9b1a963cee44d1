"""Between which limits the difference of two runs lies when k relevant documents were missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import RMode
from store.analysis.discoveries import discovered_sums
from store.analysis.judged_rankings import RELEVANT, JudgedRankings
from store.analysis.missing_documents import MissingBounds, missing_bounds
from store.analysis.pair_extremes import pair_extremes
from store.analysis.pair_sensitivity import better_first


@dataclass(frozen=True, slots=True, eq=False)
class MissingPairBounds:
    """Limits of every pair of runs, shape (n_pairs,); NaN = no topic where both have an AP.

    The first run of a pair is the one with the higher mean over the topics where both had an AP
    before, which are also those of the limits.
    """

    n_missing: int
    r_mode: RMode
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    n_topics: NDArray[np.int64]
    before: NDArray[np.float64]
    """Mean difference, in [-1, 1]."""
    low: NDArray[np.float64]
    """It cannot become lower."""
    low_attained: NDArray[np.bool_]
    """Some k documents a topic are known to give `low`; else it is a bound that may not be
    reached, because they would be in the list of the other run too."""
    high: NDArray[np.float64]
    """It cannot become higher."""
    high_attained: NDArray[np.bool_]


def missing_pair_bounds(
    rankings: JudgedRankings,
    n_missing: int,
    *,
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> MissingPairBounds:
    """Bound the difference of every two runs with k unknown relevant documents in each topic.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    n_missing : int
        k, at least 1.
    r_mode : {"pool", "own"}, default="pool"
        What R counts.
    progress : callable, optional
        Called with the number of topics done since the last call.

    Returns
    -------
    MissingPairBounds
        All pairs. With k = 1 every document is tried (E2), so both limits are attained. With more,
        a limit is one run's best against the other's worst, of `missing_bounds`: attained where
        neither run retrieved what the other's limit supposes, and both suppose k documents at most.

    Raises
    ------
    ArgumentError
        If `n_missing` or `r_mode` is out of range.

    Notes
    -----
    O(n_topics n_runs (width + k) + n_pairs n_topics), and for k = 1 as `pair_extremes`.

    Examples
    --------
    R = 1, AP 1 and 1/2. One document missing: with rank 1 of `b`, which `a` lacks, 1/2 against 1;
    with one that neither has, 1/2 against 1/4; with rank 2 of `a`, 1 against 1/4.

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])},
    ...     {"t": (np.array([1]), np.array([True]))},
    ...     cutoff=10,
    ... )
    >>> bounds = missing_pair_bounds(arrays, 1)
    >>> bounds.before.tolist(), bounds.low.tolist(), bounds.high.tolist()
    ([0.5], [-0.5], [0.75])
    """
    runs = missing_bounds(rankings, n_missing, r_mode=r_mode)
    first, second = better_first(runs.ap_before)
    before = runs.ap_before[first] - runs.ap_before[second]
    defined = ~np.isnan(before)
    if n_missing == 1:
        found = pair_extremes(rankings, first, second, r_mode=runs.r_mode, progress=progress)
        low, high = before + found.down, before + found.up
        low_attained, high_attained = (np.asarray([True] * first.size) for _ in range(2))
    else:
        low, high = (
            runs.ap_low[first] - runs.ap_high[second],
            runs.ap_high[first] - runs.ap_low[second],
        )
        low_apart, high_apart = (np.ones(defined.shape, dtype=np.bool_) for _ in range(2))
        for topic in range(defined.shape[1]):
            apart = _apart(rankings, runs, topic)
            low_apart[:, topic] = apart[second, first]
            high_apart[:, topic] = apart[first, second]
            if progress is not None:
                progress(1)
        low_attained = np.asarray((low_apart | ~defined).all(axis=1))
        high_attained = np.asarray((high_apart | ~defined).all(axis=1))
    return MissingPairBounds(
        n_missing=n_missing,
        r_mode=runs.r_mode,
        first=first,
        second=second,
        n_topics=np.count_nonzero(defined, axis=1).astype(np.int64),
        before=_mean(before, defined),
        low=_mean(low, defined),
        low_attained=low_attained,
        high=_mean(high, defined),
        high_attained=high_attained,
    )


def _apart(rankings: JudgedRankings, runs: MissingBounds, topic: int) -> NDArray[np.bool_]:
    """Tell whether one run's highest and another's lowest AP can come true together in a topic.

    Shape (n_runs, n_runs): the row's highest, the column's lowest.
    """
    documents = rankings.documents[:, topic]
    relevant = rankings.standing_by_rank(topic) == RELEVANT
    shared, sizes = [], []
    for columns in (runs.high_columns[:, topic], runs.low_columns[:, topic]):
        codes = np.take_along_axis(documents, np.maximum(columns, 0), axis=1)
        sets = np.where(columns >= 0, codes, -1).astype(np.int64)
        shared.append(discovered_sums(documents, relevant, sets)[1] > 0)
        sizes.append(np.count_nonzero(columns >= 0, axis=1))
    fits = sizes[0][:, None] + sizes[1][None, :] <= runs.n_missing
    return np.asarray(~shared[0] & ~shared[1].T & fits)


def _mean(values: NDArray[np.float64], defined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Average each row over the topics that count; NaN without one."""
    count = np.count_nonzero(defined, axis=1)
    total = np.sum(values, axis=1, where=defined)
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))
