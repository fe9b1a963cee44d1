"""A run among others: best, median and worst of each topic, and places by the mean.

References
----------
.. [1] B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall, 1993, section 13.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import LEVEL, RESAMPLES, topic_weights
from store.analysis.run_order import TIED_MAP


def best_median_worst(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the best, the median and the worst of scores, shape (n_runs, n_topics), as (3, n_topics).

    NaN is left out, and returned where no run has a score. The median of an even number of runs is the upper
    one of the two in the middle, so that some run has it.

    >>> best_median_worst(np.array([[0.1], [0.4], [0.3], [0.2]])).T.tolist()
    [[0.4, 0.3, 0.1]]
    """
    n_known = np.count_nonzero(~np.isnan(values), axis=0)
    last = np.maximum(n_known - 1, 0)
    which = np.stack([last, np.minimum(n_known // 2, last), np.zeros_like(last)])
    return np.take_along_axis(np.sort(values, axis=0), which, axis=0)  # NaN is sorted last


def places(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place of each run by means, shape (..., n_runs): 1 = the best; NaN without a mean.

    Runs whose means differ by rounding alone share the better place.

    >>> places(np.array([0.3, 0.5, np.nan, 0.3])).tolist()
    [2.0, 1.0, nan, 2.0]
    """
    runs = range(means.shape[-1])
    above = [np.count_nonzero(means > means[..., [run]] + TIED_MAP, axis=-1) for run in runs]
    return np.where(np.isnan(means), np.nan, 1.0 + np.stack(above, axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Means of runs and their places, 1 = the best, with the ends of an interval; shape (n_runs,).

    NaN: the run has no score; of intervals also: there is one topic. Ends are places that occurred.
    """

    mean: NDArray[np.float64]
    place: NDArray[np.float64]
    place_low: NDArray[np.float64]
    place_high: NDArray[np.float64]


def place_runs(values: NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES) -> Placed:
    """Place runs by their means over topics, and see where other topics like these would place them.

    `values`, shape (n_runs, n_topics): NaN is left out of the run's mean. 95% intervals are percentiles [1]_:
    of the topics where some run has a score, as many as there are are drawn with replacement, the same ones
    for all runs. With fewer than 20 topics they are too narrow. O(resamples * n_runs * (n_runs + n_topics)).

    The first run is better on every topic, so no draw of them puts it second:

    >>> found = place_runs(np.array([[0.5, 0.9, 0.4], [0.3, 0.2, 0.1]]), seed=1)
    >>> found.place.tolist(), found.place_low.tolist(), found.place_high.tolist()
    ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0])
    """
    values = values[:, ~np.isnan(values).all(axis=0)]
    sums, counts = np.nan_to_num(values).T, np.where(np.isnan(values), 0.0, 1.0).T
    weights = [np.ones((1, len(sums)))]
    weights += topic_weights(len(sums), resamples, seed) if len(sums) > 1 else []
    with np.errstate(invalid="ignore"):
        means = np.concatenate([(each @ sums) / (each @ counts) for each in weights])
    drawn = places(means)
    limits = np.full((2, len(values)), np.nan)
    for run, of_run in enumerate(drawn[1:].T):
        if (defined := of_run[~np.isnan(of_run)]).size:
            ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
            limits[:, run] = np.quantile(defined, ends, method="inverted_cdf")
    return Placed(means[0], drawn[0], *limits)
