"""Bootstrap intervals over topics.

Documents of one topic are alike: a judge who is strict on one of them is strict on the next. An interval that
takes them as independent is far too narrow, so whole topics are resampled.

Every coefficient of agreement is a function of sums (tables, coincidences, counts), so resampling
is one matrix product: how often each topic was drawn, times what it adds to the sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.ratios import quotient

IntervalReason = Literal["no-common-docs", "one-topic", "undefined", "mostly-undefined", "no-variation"]
"""Why there is no interval:

================= ==============================================================================
no-common-docs    no topic has anything to resample
one-topic         of one topic every resample is itself
undefined         the coefficient itself has no value
mostly-undefined  it has none in more than half of the resamples
no-variation      it has the same value in all resamples: perfect agreement, or a judge who used
                  one grade only; an interval of no width would promise too much
================= ==============================================================================
"""

LEVEL = 0.95
"""Nominal coverage."""
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""Standard errors within which a normal variable is with that probability."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none."""

    low: float | None
    high: float | None
    reason: IntervalReason | None = None
    """``None`` when there is an interval."""


Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Resampled sums, shape (n_stacked, ...), to values, shape (n_stacked,); NaN = undefined."""


def ratio_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the first of two sums, shape (..., 2), by the second; NaN by 0: a mean as a statistic."""
    return quotient(sums[..., 0], sums[..., 1])


RESAMPLES = 10_000
FEW_TOPICS = 20
"""With fewer topics the interval of the topic bootstrap is too narrow, and a report says so."""

_SAME = 1e-12
"""Values no further apart are one value: rounding alone moves a coefficient by about 1e-15."""
_CHUNK_DRAWS = 1 << 19
"""Draws, or weights, made at once: 4 MB an array."""
_CHUNK_SUMS = 1 << 20
"""Resampled sums held at once: 8 MB."""


def topic_bootstrap(
    sums: NDArray[Any],
    statistic: Statistic,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    units: NDArray[np.bool_] | None = None,
) -> Interval:
    r"""Measure how much a coefficient would move with other topics.

    Parameters
    ----------
    sums : ndarray of int or float, shape (n_topics, ...)
        What each topic adds: its table, its coincidences, any finite array. A mean over topics is a statistic
        too: `ratio_of_sums`, of value and whether there is one.
    statistic : callable
        From summed arrays, shape (n_stacked, ...), to values, shape (n_stacked,), with NaN where it is
        undefined. Division by zero gives no warning within.
    seed : int
        Not negative. One seed gives the same resamples to every coefficient of as many topics, so that their
        intervals can be compared.
    resamples : int, default=10000
        At least 1.
    units : ndarray of bool, shape (n_topics,), optional
        Which topics are resampled; by default those that add anything at all. Give the topics with common
        documents to a statistic that some of them add nothing to, so that it has the resamples of the others.

    Returns
    -------
    Interval
        Percentile limits over the resamples where the statistic is defined. Reasons: ``no-common-docs`` when
        there is no unit, ``one-topic``, ``undefined``, ``mostly-undefined``, ``no-variation``.

    Notes
    -----
    As many topics as there are units are drawn with replacement, each with the same probability [1]_; the
    limits are the quantiles :math:`(1 \mp .95) / 2` of the statistic, interpolated linearly. That the
    clusters, and not what is within them, are resampled follows [2]_. With fewer than `FEW_TOPICS` units the
    interval is too narrow. The draws are made from raw bits of PCG64 and so are the same in every version of
    numpy. O(resamples * n_topics * size of one sum); 10,000 resamples of 50 tables of 4 grades take some 20
    ms.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall, 1993, section
       13.3.
    .. [2] C. Kang, B. Qaqish, J. Monaco, S. L. Sheridan and J. Cai, "Kappa statistic for clustered
       dichotomous responses from physicians and patients", *Statistics in Medicine* 32(21), 3700-3719, 2013,
       doi:10.1002/sim.5796.

    Examples
    --------
    Raw agreement of two judges, who agree on 1 of 4, 2 of 4, and 4 of 4 documents of three topics:

    >>> tables = np.array([[[1, 3], [0, 0]], [[1, 1], [1, 1]], [[2, 0], [0, 2]]])
    >>> def raw(sums):
    ...     return (sums[:, 0, 0] + sums[:, 1, 1]) / sums.sum(axis=(1, 2))
    >>> interval = topic_bootstrap(tables, raw, seed=1)
    >>> interval.low, interval.high
    (0.25, 1.0)
    """
    return topic_bootstraps(sums, {"": statistic}, seed=seed, resamples=resamples, units=units)[""]


def topic_bootstraps(
    sums: NDArray[Any],
    statistics: Mapping[str, Statistic],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    units: NDArray[np.bool_] | None = None,
) -> dict[str, Interval]:
    """Bootstrap several coefficients of the same sums over topics at once: the resampled sums are made once.

    By name, in the order of `statistics`, what `topic_bootstrap` gives for each alone.
    """
    sums = np.asarray(sums, dtype=np.float64)
    is_unit = sums.reshape(len(sums), math.prod(sums.shape[1:])).any(axis=1) if units is None else units
    n_units = int(np.count_nonzero(is_unit))
    if n_units < 2:
        none = Interval(None, None, "one-topic" if n_units else "no-common-docs")
        return dict.fromkeys(statistics, none)
    weights = topic_weights(n_units, resamples, seed)
    return _intervals(sums[is_unit], statistics, weights)


def _intervals(
    sums: NDArray[np.float64], statistics: Mapping[str, Statistic], weights: Iterator[NDArray[np.float64]]
) -> dict[str, Interval]:
    """Compute statistics of the whole and of all weighted sums, and take their quantiles."""
    shape = sums.shape[1:]
    flat = sums.reshape(len(sums), -1)
    n_at_once = max(1, _CHUNK_SUMS // max(1, flat.shape[1]))
    estimates = {
        name: _values(statistic, flat.sum(axis=0).reshape(1, *shape))[0]
        for name, statistic in statistics.items()
    }
    values: dict[str, list[NDArray[np.float64]]] = {name: [] for name in statistics}
    for chunk in weights:
        for start in range(0, len(chunk), n_at_once):
            stack = (chunk[start : start + n_at_once] @ flat).reshape(-1, *shape)
            for name, statistic in statistics.items():
                values[name].append(_values(statistic, stack))
    return {name: _percentiles(float(estimates[name]), np.concatenate(values[name])) for name in statistics}


def _values(statistic: Statistic, stack: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(stack), dtype=np.float64)


def _percentiles(estimate: float, values: NDArray[np.float64]) -> Interval:
    defined = values[np.isfinite(values)]
    if not np.isfinite(estimate):
        return Interval(None, None, "undefined")
    if 2 * defined.size < values.size:
        return Interval(None, None, "mostly-undefined")
    if float(np.ptp(defined)) <= _SAME:
        return Interval(None, None, "no-variation")
    tail = (1 - LEVEL) / 2
    return Interval(*np.quantile(defined, [tail, 1 - tail]).tolist())


def topic_weights(n_units: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each topic is drawn in each resample, in chunks of resamples.

    Chunks depend on nothing but the number of topics, so every coefficient has the same weights.
    """
    bits = np.random.PCG64(seed)
    n_at_once = max(1, _CHUNK_DRAWS // n_units)
    for start in range(0, resamples, n_at_once):
        n_rows = min(n_at_once, resamples - start)
        raw = bits.random_raw(n_rows * n_units) >> np.uint64(32)
        drawn = ((raw * np.uint64(n_units)) >> np.uint64(32)).astype(np.int64)
        drawn += np.repeat(np.arange(n_rows) * n_units, n_units)
        counts = np.bincount(drawn, minlength=n_rows * n_units)
        yield counts.reshape(n_rows, n_units).astype(np.float64)
