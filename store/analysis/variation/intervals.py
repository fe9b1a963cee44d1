"""Where the MAP of every run will be in most judgings: each by the best law that can be had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import LEVEL
from store.analysis.variation.collection import CollectionVariation, Topic, run_components
from store.analysis.variation.law import RunTransform, map_interval
from store.analysis.variation.outcomes import enumerate_outcomes, halves

IntervalLaw = Literal["enumeration", "inversion", "normal"]
"""How an interval was found; see `run_intervals`."""

MOST_OF_HALF = 16
"""Random documents of half of the topics up to which all outcomes are listed: the quantiles look
them through some forty times."""
MOST_INVERTED = 5e6
"""Costs of the runs' transforms, added up, to which characteristic functions are inverted: some
five seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class RunIntervals:
    """Where MAP will be when all topics are judged again; arrays of shape (n_runs,)."""

    low: NDArray[np.float64]
    """In [0, 1]; MAP is lower with probability (1 - level) / 2 at most."""
    high: NDArray[np.float64]
    """In [0, 1]; MAP is higher with probability (1 - level) / 2 at most."""
    error: NDArray[np.float64]
    """What an end is known to, in MAP: 0 of enumeration, the resolution of inversion, and NaN = not
    known of the normal law."""
    law: IntervalLaw


def run_intervals(
    topics: Sequence[Topic],
    varied: CollectionVariation,
    level: float = LEVEL,
    *,
    progress: Callable[[int], None] | None = None,
) -> RunIntervals:
    """Compute the interval of every run, all by one law.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation`; R counts all documents (pool mode).
    varied : CollectionVariation
        The moments of these topics; their rule for R = 0 counts.
    level : float, default=0.95
        Between 0 and 1: the probability of the interval, the rest being shared by both sides.

    Returns
    -------
    RunIntervals
        A constant MAP twice, where nothing varies.

    Notes
    -----
    A quantile is the least value with a cumulative probability of so much. By all outcomes, where
    the topics fall into two halves of at most 16 documents each that are neither sure nor
    impossible; else by inversion of the characteristic function (`map_interval`), where that takes
    seconds; else by the normal law, cut off at 0 and 1, whose tails are as thin on either side,
    while those of MAP are not.

    Examples
    --------
    Two documents at ranks 1 and 2, each relevant half of the time: AP is 1, 1 or 1/2.

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[1.0, 2.0]]))]
    >>> found = run_intervals(topics, collection_variation(topics))
    >>> found.low.tolist(), found.high.tolist(), found.law
    ([0.5], [1.0], 'enumeration')
    """
    n_runs, n_topics = varied.mean.shape
    ends = np.empty((n_runs, 2))
    error = np.zeros(n_runs)
    parts = halves(topics, MOST_OF_HALF)
    law: IntervalLaw = "enumeration"
    if parts is None:
        law = "inversion" if _cost(topics, n_runs) <= MOST_INVERTED else "normal"
    if law == "normal":
        low, high = run_components(varied).interval(level)
        unknown = np.full(n_runs, np.nan)
        return RunIntervals(np.maximum(low, 0.0), np.minimum(high, 1.0), unknown, law)
    for run in range(n_runs):
        if parts is not None:
            own = [(p, ranks[[run]]) for p, ranks in topics]
            outcomes = enumerate_outcomes(own, parts, (1.0,), empty=varied.empty)
            ends[run] = [outcomes.quantile((1 + side * level) / 2) / n_topics for side in (-1, 1)]
        else:
            rows = [(p, ranks[run]) for p, ranks in topics]
            found = map_interval(rows, level, empty=varied.empty)
            ends[run] = found.low, found.high
            error[run] = found.resolution
        if progress is not None:
            progress(1)
    low, high = np.clip(ends, 0.0, 1.0).T
    return RunIntervals(low, high, error, law)


def _cost(topics: Sequence[Topic], n_runs: int) -> float:
    """Add up what a point of the transforms of all runs costs, as far as it is within bounds."""
    total = 0.0
    for p, ranks in topics:
        for run in range(n_runs):
            # Many documents cost more than the square of those that a run has, surely.
            total += max(0, int((np.isfinite(ranks[run]) & (p > 0)).sum()))
            if total > MOST_INVERTED:
                return total
    return total + sum(RunTransform(p, ranks[run]).cost for p, ranks in topics for run in range(n_runs))
