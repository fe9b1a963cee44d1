r"""The one unjudged document that would move the difference of two runs most, either way.

If document d turns relevant, the difference u of the APs of runs A and B changes by

.. math:: \Delta u = \frac{g_A - g_B - u}{R + 1}    (E2)

where g is 0 in a run that did not retrieve d; so a document that neither of them has moves it too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import RMode, average_precision, check_r_mode, gains
from store.analysis.discoveries import Scenario, check_scenario, n_relevant_of
from store.analysis.judged_rankings import RELEVANT, UNJUDGED, JudgedRankings

NEITHER = -1
FIRST = 0
SECOND = 1


@dataclass(frozen=True, slots=True, eq=False)
class PairExtremes:
    """Most that one document moves the difference of AP, by pair of runs and topic.

    Every array has shape (n_pairs, n_topics). A change is NaN where a run has no AP before.
    """

    before: NDArray[np.float64]
    """AP of the first run less AP of the second."""
    down: NDArray[np.float64]
    """Lowest change of the difference."""
    down_holder: NDArray[np.int8]
    """Which list the document of `down` is in at `down_column`: `FIRST`, `SECOND` (the other run
    may have it too), or `NEITHER`: any document that both lack."""
    down_column: NDArray[np.int32]
    """Its rank there less 1; -1 for `NEITHER`."""
    up: NDArray[np.float64]
    """Highest change."""
    up_holder: NDArray[np.int8]
    up_column: NDArray[np.int32]


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

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    first, second : ndarray of int64, shape (n_pairs,)
        Rows of the runs of each pair.
    scenario : {"shared", "own"}, default="shared"
        Whether a run that retrieved the document gains together with the other, or one alone.
    r_mode : {"pool", "own"}, default="pool"
        What R counts; in mode ``own`` a run that lacks the document keeps its AP, but for scenario
        ``own``, where its R grows all the same.
    progress : callable, optional
        Called with the number of topics done since the last call.

    Returns
    -------
    PairExtremes
        With equal changes, a document of neither before one of the first run before one of the
        second, and the higher rank before the lower.

    Raises
    ------
    ArgumentError
        If `scenario` or `r_mode` is unknown.

    Notes
    -----
    O(n_topics n_runs (width n_runs)) time; memory for a table of documents by runs of one topic.

    Examples
    --------
    R = 1: `a` has the relevant document first, `b` second. Rank 1 of `b`, which `a` lacks, turned
    relevant: (1 + 0) / 2 against (1 + 1) / 2, so the difference falls from .5 to -.5.

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])},
    ...     {"t": (np.array([1]), np.array([True]))},
    ...     cutoff=10,
    ... )
    >>> found = pair_extremes(arrays, np.array([0]), np.array([1]))
    >>> float(found.down[0, 0]), int(found.down_holder[0, 0]), int(found.down_column[0, 0])
    (-1.0, 1, 0)
    """
    r_mode, scenario = check_r_mode(r_mode), check_scenario(scenario)
    shape = (first.size, len(rankings.topics))
    before, down, up = (np.empty(shape) for _ in range(3))
    down_holder, up_holder = (np.full(shape, NEITHER, dtype=np.int8) for _ in range(2))
    down_column, up_column = (np.full(shape, -1, dtype=np.int32) for _ in range(2))
    for topic in range(shape[1]):
        standing = rankings.standing_by_rank(topic)
        relevant = standing == RELEVANT
        counts = n_relevant_of(rankings, topic, relevant, r_mode)
        score = average_precision(relevant, counts)
        lacking = np.zeros(score.shape)  # change of AP in a run that lacks the document
        if r_mode == "pool" or scenario == "own":
            lacking = -np.where(counts > 0, score, np.nan) / (counts + 1)
        lacking = np.where(counts > 0, lacking, np.nan)
        having = (gains(relevant) - score[:, None]) / (counts + 1)[:, None]
        lists = _Lists(rankings.documents[:, topic], standing == UNJUDGED, having, lacking)
        before[:, topic] = score[first] - score[second]
        down[:, topic] = up[:, topic] = lacking[first] - lacking[second]
        one_way = _by_list(lists, scenario)
        # What moves A against B by x moves B against A by -x: of A's own list, A's side is the
        # holder's; of B's, the signs turn.
        for holder, own, other, lowest, highest in (
            (FIRST, first, second, one_way.lowest, one_way.highest),
            (SECOND, second, first, one_way.highest, one_way.lowest),
        ):
            sign = 1.0 if holder == FIRST else -1.0
            for value, holders, columns, found, is_better in (
                (down, down_holder, down_column, lowest, np.less),
                (up, up_holder, up_column, highest, np.greater),
            ):
                changes, places = found
                candidate = sign * changes[own, other]
                better = is_better(candidate, value[:, topic])
                value[better, topic] = candidate[better]
                holders[better, topic] = holder
                columns[better, topic] = places[own, other][better]
        if progress is not None:
            progress(1)
    return PairExtremes(before, down, down_holder, down_column, up, up_holder, up_column)


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """One topic's rankings, and what a discovery does to the AP of each run."""

    documents: NDArray[np.int32]
    """Shape (n_runs, width), as are the next two."""
    unjudged: NDArray[np.bool_]
    having: NDArray[np.float64]
    """Change of AP if the run has the document at this rank."""
    lacking: NDArray[np.float64]
    """Shape (n_runs,): change of AP if it lacks the document."""


Extreme = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Changes and columns, shape (n_runs, n_runs): of row against column, in a list of the row."""


@dataclass(frozen=True, slots=True, eq=False)
class _OneWay:
    """The extremes over the documents of one run's list, against every other run."""

    lowest: Extreme
    highest: Extreme


def _by_list(lists: _Lists, scenario: Scenario) -> _OneWay:
    """Search the list of each run for what moves it most against each other run."""
    n_runs = len(lists.documents)
    n_codes = int(lists.documents.max(initial=-1)) + 1
    change = np.broadcast_to(lists.lacking, (n_codes, n_runs))
    if scenario == "shared":
        change = change.copy()
        runs, columns = np.nonzero(lists.unjudged)
        codes = lists.documents[runs, columns]
        change[codes, runs] = lists.having[runs, columns]
        change[:, np.isnan(lists.lacking)] = np.nan
    shape = (n_runs, n_runs)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    low_column, high_column = (np.full(shape, -1, dtype=np.int32) for _ in range(2))
    everyone = np.arange(n_runs)
    for run in range(n_runs):
        columns = np.flatnonzero(lists.unjudged[run])
        if columns.size == 0 or np.isnan(lists.lacking[run]):
            continue
        own = lists.having[run, columns]
        moved = own[:, None] - change[lists.documents[run, columns]]
        for value, place, pick in ((low, low_column, np.argmin), (high, high_column, np.argmax)):
            rows = pick(moved, axis=0)
            value[run] = moved[rows, everyone]
            place[run] = columns[rows]
    return _OneWay((low, low_column), (high, high_column))
