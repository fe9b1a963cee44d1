"""What undiscovered documents do to the difference of two runs, and to the test of it.

Documents at rank N+1 that nobody judged turn relevant, those of one run at a time, and t2 of the
difference is computed again from the judgements as they are. The paper's section 4.3 asks the like
of one pair, and otherwise: there the documents at rank 101 of the run with the lower MAP turn
relevant wherever their probability of relevance is 0, judged or not (51 of 53 topics), the other
run gets R + 1 and not the document, and mean and variance are those of its measurement-error model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import RMode, average_precision, check_r_mode
from store.analysis.discoveries import Scenario, check_scenario, flip_topic, n_relevant_of
from store.analysis.flip_choice import At, check_at
from store.analysis.judged_rankings import RELEVANT, JudgedRankings
from store.analysis.pair_extremes import PairExtremes, pair_extremes
from store.analysis.run_pairs import RunPairs, compare_pairs
from store.analysis.undiscovered import TIED_MAP
from store.errors import ArgumentError

SIGN_WORDS: dict[int, str | None] = {0: "kept", 1: "swapped", 2: "tied", 3: "parted", -1: None}
"""What `sign_moves` tells of a pair; ``None`` = there is no difference to look at."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSensitivity:
    """Every pair before and after; arrays of `RunPairs` have shape (n_pairs,).

    The first run of a pair is the one with the higher mean over the topics where both have an AP.
    """

    status: NDArray[np.int8]
    """Shape (n_runs, n_topics): as in `store.analysis.undiscovered.Sensitivity`."""
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    before: RunPairs
    after_first: RunPairs
    """After the first run's documents turned relevant."""
    after_second: RunPairs
    """After those of the second, the lower one, as in section 4.3 of the paper."""


@dataclass(frozen=True, slots=True, eq=False)
class PairDiscovery:
    """The one document of all topics that moves each pair most; shape (n_pairs,) each."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    topic: NDArray[np.int64]
    """Index of the document's topic; -1 where a pair has no topic in common."""
    holder: NDArray[np.int8]
    """As in `PairExtremes`."""
    column: NDArray[np.int32]
    before: RunPairs
    after: RunPairs


def better_first(
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair every two runs, the one with the higher mean over the common topics first.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        NaN = undefined.

    Returns
    -------
    first, second : ndarray of int64, shape (n_pairs,)
        Rows; where the means are tied, the lower row is first.
    """
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    is_lower = np.nansum(differences, axis=1) < -TIED_MAP * max(1, scores.shape[1])
    return np.where(is_lower, second, first), np.where(is_lower, first, second)


def sign_moves(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.int8]:
    """Tell what became of the sign of each difference.

    Parameters
    ----------
    before, after : ndarray of float64, shape (n_pairs,)
        Differences of means; NaN = undefined. Within `TIED_MAP` of 0 they are 0.

    Returns
    -------
    ndarray of int8, shape (n_pairs,)
        A key of `SIGN_WORDS`: the sign was kept (0 before and after too), swapped, became 0
        (tied), was 0 and is not (parted), or there is no difference.

    Examples
    --------
    >>> sign_moves(np.array([0.1, 0.1, 0.1, 0.0]), np.array([0.2, -0.1, 0.0, 0.1])).tolist()
    [0, 1, 2, 3]
    """
    undefined = np.isnan(before) | np.isnan(after)
    was, now = (np.where(np.abs(values) <= TIED_MAP, 0.0, values) for values in (before, after))
    moves = np.select([was * now < 0, (was != 0) & (now == 0), (was == 0) & (now != 0)], [1, 2, 3])
    return np.where(undefined, -1, moves).astype(np.int8)


def pair_sensitivity(
    rankings: JudgedRankings,
    *,
    depth: int | None = None,
    at: At = "next",
    flips: int = 1,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> PairSensitivity:
    """Turn the documents of either run of each pair relevant and test the difference again.

    Parameters
    ----------
    rankings, depth, at, flips, scenario, r_mode
        As in `store.analysis.undiscovered.sensitivity`.
    progress : callable, optional
        Called with the number of topics done since the last call.

    Returns
    -------
    PairSensitivity
        All pairs of two runs. Means are over the topics where both had an AP before.

    Raises
    ------
    ArgumentError
        If an argument is out of range.

    Notes
    -----
    O(n_topics n_runs (width + n_runs flips)) time; O(n_pairs n_topics) memory.

    Examples
    --------
    Run A, relevant at ranks 1, 3, 6, and B at 2 and 5, R = 4; rank 7 of A is not in B. With A's
    document AP is .5476190 against .18, from .5416667 against .225:

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {
    ...         ("a", "t"): np.arange(1, 11),
    ...         ("b", "t"): np.array([101, 1, 102, 103, 109, 104]),
    ...     },
    ...     {"t": (np.array([1, 3, 6, 109]), np.ones(4, bool))},
    ...     cutoff=10,
    ... )
    >>> moved = pair_sensitivity(arrays, depth=6)
    >>> moved.before.difference.round(7).tolist(), moved.after_first.difference.round(7).tolist()
    ([0.3166667], [0.367619])
    """
    r_mode, scenario = check_r_mode(r_mode), check_scenario(scenario)
    at = check_at(at, depth, flips, rankings.cutoff)
    n_runs, n_topics = rankings.lengths.shape
    _check_runs(n_runs)
    scores = _scores(rankings, r_mode)
    first, second = better_first(scores)
    before = scores[first] - scores[second]
    after = {"first": before.copy(), "second": before.copy()}
    status = np.empty((n_runs, n_topics), dtype=np.int8)
    row_of = np.empty(n_runs, dtype=np.int64)
    for topic in range(n_topics):
        one = flip_topic(rankings, topic, at=at, depth=depth, flips=flips,
                         scenario=scenario, r_mode=r_mode)  # fmt: skip
        status[:, topic] = one.status
        row_of[:] = -1
        row_of[one.flipped] = np.arange(one.flipped.size)
        for name, whose in (("first", first), ("second", second)):
            pairs = np.flatnonzero((row_of[whose] >= 0) & ~np.isnan(before[:, topic]))
            rows = one.after[row_of[whose[pairs]]]
            at_pair = np.arange(pairs.size)
            after[name][pairs, topic] = rows[at_pair, first[pairs]] - rows[at_pair, second[pairs]]
        if progress is not None:
            progress(1)
    return PairSensitivity(
        status=status,
        first=first,
        second=second,
        before=_tests(before),
        after_first=_tests(after["first"]),
        after_second=_tests(after["second"]),
    )


def pair_discovery(
    rankings: JudgedRankings,
    *,
    towards: bool,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> PairDiscovery:
    """Find the single document that moves the difference of each pair most.

    Parameters
    ----------
    rankings, scenario, r_mode, progress
        As in `store.analysis.pair_extremes.pair_extremes`.
    towards : bool
        Whether the difference is to move towards 0, and past it, or away from it.

    Returns
    -------
    PairDiscovery
        All pairs of two runs, the better first; the document is of either list or of neither. Of
        equal ones that of the first topic.

    Raises
    ------
    ArgumentError
        If there are fewer than two runs, or an argument is unknown.
    """
    r_mode = check_r_mode(r_mode)
    _check_runs(len(rankings.tags))
    first, second = better_first(_scores(rankings, r_mode))
    found = pair_extremes(rankings, first, second, scenario=scenario, r_mode=r_mode,
                          progress=progress)  # fmt: skip
    change, holder, column = _one_side(found, towards=towards)
    defined = ~np.isnan(change)
    worst = np.inf if towards else -np.inf
    filled = np.where(defined, change, worst)
    if filled.shape[1]:
        topic = filled.argmin(axis=1) if towards else filled.argmax(axis=1)
        topic = np.where(defined.any(axis=1), topic, -1)
    else:
        topic = np.full(first.size, -1)
    pairs = np.flatnonzero(topic >= 0)
    after = found.before.copy()
    after[pairs, topic[pairs]] += change[pairs, topic[pairs]]
    holder_of, column_of = (
        np.full(first.size, -1, dtype=array.dtype) for array in (holder, column)
    )
    holder_of[pairs] = holder[pairs, topic[pairs]]
    column_of[pairs] = column[pairs, topic[pairs]]
    return PairDiscovery(
        first=first,
        second=second,
        topic=topic.astype(np.int64),
        holder=holder_of,
        column=column_of,
        before=_tests(found.before),
        after=_tests(after),
    )


def _one_side(
    found: PairExtremes, *, towards: bool
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int32]]:
    """Return what lowers the difference most, or raises it: the first run is the better one."""
    if towards:
        return found.down, found.down_holder, found.down_column
    return found.up, found.up_holder, found.up_column


def _check_runs(n_runs: int) -> None:
    """Raise `ArgumentError` unless there is a pair."""
    if n_runs < 2:
        raise ArgumentError("rankings", "must hold two runs to make a pair", n_runs)


def _scores(rankings: JudgedRankings, r_mode: RMode) -> NDArray[np.float64]:
    """Compute AP of every run and topic before, shape (n_runs, n_topics)."""
    n_runs, n_topics = rankings.lengths.shape
    scores = np.empty((n_runs, n_topics))
    for topic in range(n_topics):
        relevant = rankings.standing_by_rank(topic) == RELEVANT
        counts = n_relevant_of(rankings, topic, relevant, r_mode)
        scores[:, topic] = average_precision(relevant, counts)
    return scores


def _tests(differences: NDArray[np.float64]) -> RunPairs:
    """Test differences by topic, shape (n_pairs, n_topics), each row alone, by t2."""
    n_pairs = len(differences)
    scores = np.vstack([differences, np.zeros(differences.shape[1])])
    rows = np.arange(n_pairs), np.full(n_pairs, n_pairs)
    return compare_pairs(scores, pairs=rows, tests=("t",))
