r"""Differences of runs and their tests.

If document d turns relevant, the difference u of the APs of runs A and B changes by

.. math:: \Delta u = \frac{g_A - g_B - u}{R + 1}    (E2)

where g is 0 in a run that did not retrieve d; so a document that neither of them has moves it too.

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

from store.analysis.measures.average_precision import RMode, average_precision, check_r_mode, gains
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import RunPairs, compare_pairs
from store.analysis.undiscovered.flips import (
    At,
    Scenario,
    check_at,
    check_scenario,
    flip_topic,
    lists_of_topic,
    scores_of_runs,
)
from store.errors import ArgumentError

NEITHER = -1
FIRST = 0
SECOND = 1


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """The most that one document moves the difference in AP one way; shape (n_pairs, n_topics) each."""

    change: NDArray[np.float64]
    """NaN where a run has no AP before."""
    holder: NDArray[np.int8]
    """Which list the document is in at `column`: `FIRST`, `SECOND` (the other run may have it too),
    or `NEITHER`: any document that both lack."""
    column: NDArray[np.int32]
    """Its rank there less 1; -1 for `NEITHER`."""


@dataclass(frozen=True, slots=True, eq=False)
class PairExtremes:
    """Most that one document moves the difference in AP, by pair of runs and topic."""

    before: NDArray[np.float64]
    """Shape (n_pairs, n_topics): AP of the first run less AP of the second."""
    down: Extreme
    up: Extreme


def pair_extremes(
    rankings: JudgedRankings,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> PairExtremes:
    """Search every unjudged document for the one that moves the difference of two runs most.

    `first` and `second`, shape (n_pairs,), are the rows of the runs of each pair; the other arguments are
    those of `sensitivity`. In mode ``own`` a run that lacks the document keeps its AP, but for scenario
    ``own``, where its R grows all the same. With equal changes, a document of neither run comes before one of
    the first before one of the second, and the higher rank before the lower. O(n_topics n_runs (width
    n_runs)) time; memory for a table of documents by runs of one topic.

    Examples
    --------
    R = 1: `a` has the relevant document first, `b` second. Rank 1 of `b`, which `a` lacks, turned
    relevant: (1 + 0) / 2 against (1 + 1) / 2, so the difference falls from .5 to -.5.

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])}
    >>> arrays = judged_rankings(
    ...     ["t"], ["a", "b"], lists, {"t": (np.array([1]), np.array([True]))}, cutoff=10
    ... )
    >>> found = pair_extremes(arrays, np.array([0]), np.array([1]))
    >>> float(found.down.change[0, 0]), int(found.down.holder[0, 0]), int(found.down.column[0, 0])
    (-1.0, 1, 0)
    """
    r_mode, scenario = check_r_mode(r_mode), check_scenario(scenario)
    shape = (first.size, len(rankings.topics))
    before = np.empty(shape)
    down, up = (
        Extreme(np.empty(shape), np.full(shape, NEITHER, np.int8), np.full(shape, -1, np.int32))
        for _ in range(2)
    )
    for topic in range(shape[1]):
        document_states, relevant, counts = lists_of_topic(rankings, topic, r_mode)
        score = average_precision(relevant, counts)
        lacking = np.zeros(score.shape)  # change of AP in a run that lacks the document
        if r_mode == "pool" or scenario == "own":
            lacking = -np.where(counts > 0, score, np.nan) / (counts + 1)
        lacking = np.where(counts > 0, lacking, np.nan)
        having = (gains(relevant) - score[:, None]) / (counts + 1)[:, None]
        before[:, topic] = score[first] - score[second]
        down.change[:, topic] = up.change[:, topic] = lacking[first] - lacking[second]
        unjudged = document_states == UNJUDGED
        lowest, highest = _by_list(rankings.documents[:, topic], unjudged, having, lacking, scenario)
        # What moves A against B by x moves B against A by -x: of A's own list, A's side is the
        # holder's; of B's, the signs turn.
        for holder, sign, own, other, sides in (
            (FIRST, 1.0, first, second, (lowest, highest)),
            (SECOND, -1.0, second, first, (highest, lowest)),
        ):
            for extreme, (changes, places), is_better in zip(
                (down, up), sides, (np.less, np.greater), strict=True
            ):
                candidate = sign * changes[own, other]
                better = is_better(candidate, extreme.change[:, topic])
                extreme.change[better, topic] = candidate[better]
                extreme.holder[better, topic] = holder
                extreme.column[better, topic] = places[own, other][better]
        if progress is not None:
            progress(1)
    return PairExtremes(before, down, up)


OneWay = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Changes and columns, shape (n_runs, n_runs): of row against column, in a list of the row."""


def _by_list(
    documents: NDArray[np.int32],
    unjudged: NDArray[np.bool_],
    having: NDArray[np.float64],
    lacking: NDArray[np.float64],
    scenario: Scenario,
) -> tuple[OneWay, OneWay]:
    """Search the list of each run for what moves it least and most against each other run, in one topic.

    The lists are of shape (n_runs, width); `having` is the change of AP if a run has the document at a
    rank, `lacking`, shape (n_runs,), if it lacks it.
    """
    n_runs = len(documents)
    n_codes = int(documents.max(initial=-1)) + 1
    change = np.broadcast_to(lacking, (n_codes, n_runs))
    if scenario == "shared":
        change = change.copy()
        runs, columns = np.nonzero(unjudged)
        change[documents[runs, columns], runs] = having[runs, columns]
        change[:, np.isnan(lacking)] = np.nan
    shape = (n_runs, n_runs)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    low_column, high_column = (np.full(shape, -1, dtype=np.int32) for _ in range(2))
    everyone = np.arange(n_runs)
    for run in range(n_runs):
        columns = np.flatnonzero(unjudged[run])
        if columns.size == 0 or np.isnan(lacking[run]):
            continue
        moved = having[run, columns][:, None] - change[documents[run, columns]]
        for value, place, pick in ((low, low_column, np.argmin), (high, high_column, np.argmax)):
            rows = pick(moved, axis=0)
            value[run] = moved[rows, everyone]
            place[run] = columns[rows]
    return (low, low_column), (high, high_column)


SIGN_WORDS: dict[int, str | None] = {0: "kept", 1: "swapped", 2: "tied", 3: "parted", -1: None}
"""What `sign_moves` tells of a pair; ``None`` = there is no difference to look at."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSensitivity:
    """Every pair before and after; arrays of `RunPairs` have shape (n_pairs,).

    The first run of a pair is the one with the higher mean over the topics where both have an AP.
    """

    status: NDArray[np.int8]
    """Shape (n_runs, n_topics): as in `store.analysis.undiscovered.sensitivity.Sensitivity`."""
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
    """As in `Extreme`."""
    column: NDArray[np.int32]
    before: RunPairs
    after: RunPairs


def better_first(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair every two runs, the one with the higher mean over the common topics first.

    Rows of both runs, shape (n_pairs,) each, of scores of shape (n_runs, n_topics), NaN = undefined;
    where the means are tied, the lower row is first.
    """
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    is_lower = np.nansum(differences, axis=1) < -TIED_MAP * max(1, scores.shape[1])
    return np.where(is_lower, second, first), np.where(is_lower, first, second)


def sign_moves(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.int8]:
    """Tell what became of the sign of each difference, as keys of `SIGN_WORDS`, shape (n_pairs,).

    Differences of means, NaN = undefined, are 0 within `TIED_MAP` of it. The sign was kept (0 before and
    after, too), swapped, became 0 (tied), was 0 and is not (parted), or there is no difference.

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
        As in `store.analysis.undiscovered.sensitivity.sensitivity`.

    Returns
    -------
    PairSensitivity
        All pairs of two runs. Means are over the topics where both had an AP before.
        O(n_topics n_runs (width + n_runs flips)) time; O(n_pairs n_topics) memory.

    Examples
    --------
    Run A, relevant at ranks 1, 3, 6, and B at 2 and 5, R = 4; rank 7 of A is not in B. With A's
    document AP is .5476190 against .18, from .5416667 against .225:

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.arange(1, 11), ("b", "t"): np.array([101, 1, 102, 103, 109, 104])}
    >>> grades = {"t": (np.array([1, 3, 6, 109]), np.ones(4, bool))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> moved = pair_sensitivity(arrays, depth=6)
    >>> moved.before.difference.round(7).tolist(), moved.after_first.difference.round(7).tolist()
    ([0.3166667], [0.367619])
    """
    r_mode, scenario = check_r_mode(r_mode), check_scenario(scenario)
    at = check_at(at, depth, flips, rankings.cutoff)
    n_runs, n_topics = rankings.lengths.shape
    _check_runs(n_runs)
    scores = scores_of_runs(rankings, r_mode)
    first, second = better_first(scores)
    before = scores[first] - scores[second]
    after = {"first": before.copy(), "second": before.copy()}
    status = np.empty((n_runs, n_topics), dtype=np.int8)
    row_of = np.empty(n_runs, dtype=np.int64)
    for topic in range(n_topics):
        one = flip_topic(rankings, topic, at=at, depth=depth, flips=flips, scenario=scenario, r_mode=r_mode)
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
    towards : bool
        Whether the difference is to move towards 0, and past it, or away from it.
    rankings, scenario, r_mode
        As in `pair_extremes`.

    Returns
    -------
    PairDiscovery
        All pairs of two runs, the better first; the document is of either list or of neither. Of
        equal ones that of the first topic. `ArgumentError` if there are fewer than two runs.
    """
    r_mode = check_r_mode(r_mode)
    _check_runs(len(rankings.tags))
    first, second = better_first(scores_of_runs(rankings, r_mode))
    found = pair_extremes(rankings, first, second, scenario=scenario, r_mode=r_mode, progress=progress)
    # The first run is the better one: towards 0 is down.
    extreme = found.down if towards else found.up
    defined = ~np.isnan(extreme.change)
    topic = np.full(first.size, -1)
    if defined.shape[1]:
        # The lowest of what moves down, or of minus what moves up.
        moved = np.where(defined, extreme.change if towards else -extreme.change, np.inf)
        topic = np.where(defined.any(axis=1), moved.argmin(axis=1), -1)
    pairs = np.flatnonzero(topic >= 0)
    at = pairs, topic[pairs]
    after = found.before.copy()
    after[at] += extreme.change[at]
    holder, column = (np.full(first.size, -1, dtype=one.dtype) for one in (extreme.holder, extreme.column))
    holder[pairs], column[pairs] = extreme.holder[at], extreme.column[at]
    return PairDiscovery(
        first=first,
        second=second,
        topic=topic.astype(np.int64),
        holder=holder,
        column=column,
        before=_tests(found.before),
        after=_tests(after),
    )


def _check_runs(n_runs: int) -> None:
    """Raise `ArgumentError` unless there is a pair."""
    if n_runs < 2:
        raise ArgumentError("rankings", "must hold two runs to make a pair", n_runs)


def _tests(differences: NDArray[np.float64]) -> RunPairs:
    """Test differences by topic, shape (n_pairs, n_topics), each row alone, by t2."""
    n_pairs = len(differences)
    scores = np.vstack([differences, np.zeros(differences.shape[1])])
    rows = np.arange(n_pairs), np.full(n_pairs, n_pairs)
    return compare_pairs(scores, pairs=rows, tests=("t",))
