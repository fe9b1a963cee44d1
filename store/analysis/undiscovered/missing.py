"""Limits when k documents were missed, of runs and pairs.

Nothing is supposed of where the k documents are: among the unjudged ones of a run, or nowhere in
its list. For one run both limits are attained by some k documents:

========= ================================ =======================================================
r_mode    lowest                           highest
========= ================================ =======================================================
pool      none is retrieved: R AP / (R+k)  the first min(k, n) of its n unjudged ranks are relevant
own       the least of: the last j of them the most of: the first j of them relevant, for
          relevant, for j = 0..min(k, n)   j = 0..min(k, n)
========= ================================ =======================================================

since of j relevant ranks more a lower one always adds less to S (E2, E3 of
`store.analysis.undiscovered.flips`), and in mode ``own`` R grows by the j retrieved ones alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_integer
from store.analysis.measures.average_precision import (
    RMode,
    average_precision,
    check_r_mode,
    gains,
    mean_average_precision,
    precision_sum,
    quotient,
)
from store.analysis.rankings import RELEVANT, JudgedRankings
from store.analysis.undiscovered.flips import choose_flips, discovered_sums, lists_of_topic
from store.analysis.undiscovered.pairs import better_first, pair_extremes


@dataclass(frozen=True, slots=True, eq=False)
class MissingBounds:
    """Limits of every run; NaN = undefined."""

    n_missing: int
    """k: relevant documents of each topic that nobody judged."""
    r_mode: RMode
    ap_before: NDArray[np.float64]
    """Shape (n_runs, n_topics), [0, 1]; NaN where R = 0."""
    ap_low: NDArray[np.float64]
    """Shape (n_runs, n_topics): attained. Where R was 0: 0 in mode ``pool``, NaN in ``own``."""
    ap_high: NDArray[np.float64]
    """Shape (n_runs, n_topics): attained. Where R was 0: of the k documents alone in mode
    ``pool``, NaN in ``own``."""
    map_before: NDArray[np.float64]
    """Shape (n_runs,), [0, 1]: over the topics where R > 0, as the next two."""
    map_low: NDArray[np.float64]
    """Shape (n_runs,): attained, since topics do not depend on each other."""
    map_high: NDArray[np.float64]
    """Shape (n_runs,): attained."""
    n_topics_undefined: NDArray[np.int64]
    """Shape (n_runs,): topics with R = 0 before, in no MAP of the run."""
    low_columns: NDArray[np.int64]
    """Shape (n_runs, n_topics, least of k and the width): rank less 1 of the documents that give
    the lowest AP, then -1; none in mode ``pool``."""
    high_columns: NDArray[np.int64]
    """The same of the highest AP."""


def missing_bounds(rankings: JudgedRankings, n_missing: int, *, r_mode: RMode = "pool") -> MissingBounds:
    """Compute the lowest and the highest scores with k unknown relevant documents in each topic.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    n_missing : int
        k, at least 1: exactly so many relevant documents of every topic are not judged. That the
        collection has so many documents which no run retrieved is not checked.
    r_mode : {"pool", "own"}, default="pool"
        What R counts.

    Returns
    -------
    MissingBounds
        O(n_runs n_topics (width + k)); one topic in memory at a time beside the result.

    Examples
    --------
    Relevant at ranks 1 and 3 of 4, R = 2, rank 4 unjudged. One document missing: 5/3 of 3 where it
    is not retrieved, and with rank 4 (5/3 + 3/4) / 3.

    >>> from store.analysis.rankings import judged_rankings
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, False, True]))}
    >>> arrays = judged_rankings(["t"], ["a"], {("a", "t"): np.array([1, 2, 3, 4])}, grades, cutoff=10)
    >>> bounds = missing_bounds(arrays, 1)
    >>> bounds.map_low.round(4).tolist(), bounds.map_high.round(4).tolist()
    ([0.5556], [0.8056])
    """
    check_integer("n_missing", n_missing, 1)
    r_mode = check_r_mode(r_mode)
    n_runs, n_topics, width = rankings.documents.shape
    most = min(n_missing, width)
    before, low, high = (np.empty((n_runs, n_topics)) for _ in range(3))
    low_columns, high_columns = (np.full((n_runs, n_topics, most), -1, dtype=np.int64) for _ in range(2))
    for topic in range(n_topics):
        document_states, relevant, counts = lists_of_topic(rankings, topic, r_mode)
        before[:, topic] = average_precision(relevant, counts)
        sums = precision_sum(relevant)
        if most == 0:
            low[:, topic] = high[:, topic] = 0.0 if r_mode == "pool" else before[:, topic]
            continue
        first, _ = choose_flips(document_states, at="best", flips=most)
        if r_mode == "pool":
            low[:, topic] = sums / (counts + n_missing)
            high[:, topic] = (sums + _added(relevant, first)[:, -1]) / (counts + n_missing)
            high_columns[:, topic] = first
            continue
        last, _ = choose_flips(document_states, at="worst", flips=most)
        # Ascending ranks stand first; the lowest one is to come first.
        last = -np.sort(-last, axis=1)
        for columns, chosen, value, pick in (
            (first, high_columns, high, np.argmax),
            (last, low_columns, low, np.argmin),
        ):
            scores = _own_scores(relevant, columns, sums, counts)
            n_best = pick(np.where(np.isnan(scores), scores[:, :1], scores), axis=1)
            value[:, topic] = scores[np.arange(n_runs), n_best]
            kept = np.arange(most) < n_best[:, None]
            chosen[:, topic] = np.where(kept, columns, -1)
    map_before, n_defined = mean_average_precision(before)
    defined = ~np.isnan(before)
    return MissingBounds(
        n_missing=n_missing,
        r_mode=r_mode,
        ap_before=before,
        ap_low=low,
        ap_high=high,
        map_before=map_before,
        map_low=mean_average_precision(np.where(defined, low, np.nan))[0],
        map_high=mean_average_precision(np.where(defined, high, np.nan))[0],
        n_topics_undefined=n_topics - n_defined,
        low_columns=low_columns,
        high_columns=high_columns,
    )


def _added(relevant: NDArray[np.bool_], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute what the first, the first two, ... of each run's columns add to S, by E3.

    Columns, shape (n_runs, k), ascend or descend, then -1, which adds nothing.
    """
    exists = columns >= 0
    ranks = np.where(exists, columns + 1, 1)
    alone = np.where(exists, np.take_along_axis(gains(relevant), ranks - 1, axis=1), 0.0)
    reciprocal = np.where(exists, 1 / ranks, 0.0)
    # Every two add one over the lower rank: a later one, or an earlier one where ranks descend.
    if np.any(exists[:, 1:] & (columns[:, 1:] < columns[:, :-1])):
        together = np.where(exists, np.cumsum(reciprocal, axis=1) - reciprocal, 0.0)
    else:
        together = np.arange(columns.shape[1]) * reciprocal
    return np.cumsum(alone + together, axis=1)


def _own_scores(
    relevant: NDArray[np.bool_],
    columns: NDArray[np.int64],
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Compute AP of mode ``own`` with none, the first, the first two, ... of the columns relevant.

    Shape (n_runs, k + 1); NaN where R = 0 before, and where a run has fewer columns.
    """
    added = np.concatenate([np.zeros((len(sums), 1)), _added(relevant, columns)], axis=1)
    n_after = counts[:, None] + np.arange(added.shape[1])
    exists = np.concatenate([np.ones((len(sums), 1), np.bool_), columns >= 0], axis=1)
    scores = np.full(added.shape, np.nan)
    where = exists & (counts > 0)[:, None]
    return np.asarray(np.divide(sums[:, None] + added, n_after, out=scores, where=where))


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
    rankings, n_missing, r_mode
        As in `missing_bounds`.

    Returns
    -------
    MissingPairBounds
        All pairs. With k = 1 every document is tried (E2), so both limits are attained. With more,
        a limit is one run's best against the other's worst, of `missing_bounds`: attained where
        neither run retrieved what the other's limit supposes, and both suppose k documents at most.

    Notes
    -----
    O(n_topics n_runs (width + k) + n_pairs n_topics), and for k = 1 as `pair_extremes`.

    Examples
    --------
    R = 1, AP 1 and 1/2. One document missing: with rank 1 of `b`, which `a` lacks, 1/2 against 1;
    with one that neither has, 1/2 against 1/4; with rank 2 of `a`, 1 against 1/4.

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])}
    >>> grades = {"t": (np.array([1]), np.array([True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
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
        low, high = before + found.down.change, before + found.up.change
        low_attained = high_attained = np.ones(first.size, dtype=np.bool_)
    else:
        low, high = (runs.ap_low[first] - runs.ap_high[second], runs.ap_high[first] - runs.ap_low[second])
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
    relevant = rankings.states_by_rank(topic) == RELEVANT
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
    return quotient(total, count)
