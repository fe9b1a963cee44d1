"""Whether a judge's grades or times change while a topic is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import finite_vector
from store.errors import ArgumentError

QUARTERS = 4
LEAST_FOR_P = 10
"""Fewer decisions have no p value: the normal approximation would not hold."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Quartiles of some values."""

    n: int
    lower: float | None
    """First quartile; ``None`` without values, as are the others."""
    median: float | None
    upper: float | None
    """Third quartile."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Whether values rise or fall in the order in which they came."""

    n: int
    """Values compared with at least one other."""
    tau: float | None
    """In [-1, 1], above 0 = rising; ``None`` when it is undefined."""
    p: float | None
    """Two-sided; ``None`` when there is no `tau`, or too few values."""
    reason: str | None = None
    """Why `tau` or `p` is missing: ``fewer-than-two``, ``all-tied``, or ``fewer-than-10``."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Values of the four quarters of every topic, and their trend."""

    quarters: tuple[float | None, float | None, float | None, float | None]
    """Mean or median over all topics; ``None`` where no topic could be cut in four."""
    trend: Trend
    """Of the same values."""


def quartiles(values: ArrayLike) -> Spread:
    """Return median and quartiles, by definition 7 of Hyndman and Fan (1996), the default of numpy and R.

    No numbers without values; `ArgumentError` if they are not one-dimensional and finite.

    Examples
    --------
    >>> quartiles([1, 2, 3, 10])
    Spread(n=4, lower=1.75, median=2.5, upper=4.75)
    """
    array = finite_vector("values", values)
    if array.size == 0:
        return Spread(0, None, None, None)
    lower, median, upper = (float(one) for one in np.quantile(array, (0.25, 0.5, 0.75)))
    return Spread(array.size, lower, median, upper)


def quarters(groups: ArrayLike) -> NDArray[np.int8]:
    """Cut the decisions of every group (topic), in their order of time, in four parts of the same size.

    ``floor(4 i / n)`` for decision i of n, from 0; -1 in groups of fewer than four, which cannot be cut.
    Since every group is in each part alike, the parts can be compared over all groups together.

    Examples
    --------
    >>> quarters([1, 1, 1, 2, 1, 1, 1]).tolist()
    [0, 0, 1, -1, 2, 2, 3]
    """
    codes = _codes(groups)
    parts = np.full(codes.size, -1, dtype=np.int8)
    for places in _places(codes):
        if places.size >= QUARTERS:
            parts[places] = QUARTERS * np.arange(places.size) // places.size
    return parts


def drift(values: ArrayLike, groups: ArrayLike, *, summary: Literal["mean", "median"] = "mean") -> Drift:
    """Compare the quarters of every group (topic), and test for a trend inside groups.

    Parameters
    ----------
    values, groups
        As for `trend`, with its errors and cost.
    summary : {"mean", "median"}, default="mean"
        What is told of the values of a quarter.

    Returns
    -------
    Drift
        Groups of fewer than four are left out of both; with nothing else, the trend has the reason
        ``fewer-than-4``.

    Examples
    --------
    >>> found = drift([2, 2, 1, 2, 1, 0, 1, 0, 9], [1, 1, 1, 1, 1, 1, 1, 1, 5])
    >>> found.quarters, found.trend.n, round(found.trend.tau, 4)  # (2 - 19) / sqrt(28 * 21)
    ((2.0, 1.5, 0.5, 0.5), 8, -0.7011)
    """
    array, codes = _in_groups(values, groups)
    parts = quarters(codes)
    cut = parts >= 0
    if not cut.any():
        return Drift((None, None, None, None), Trend(0, None, None, f"fewer-than-{QUARTERS}"))
    summarise = np.median if summary == "median" else np.mean
    first, second, third, fourth = (float(summarise(array[parts == part])) for part in range(QUARTERS))
    return Drift((first, second, third, fourth), trend(array[cut], codes[cut]))


def trend(values: ArrayLike, groups: ArrayLike) -> Trend:
    r"""Test whether values rise or fall with time within groups.

    The seasonal Kendall test: Kendall's tau-b of order and value, with pairs compared inside one group only.
    Topics differ in how much is relevant in them, so a judge whose later topics have more shows no trend
    here; one whose later documents of the same topic get lower grades does.

    Parameters
    ----------
    values : array_like, shape (n_values,)
        Finite, in order of time.
    groups : array_like of int, shape (n_values,)
        Group (topic) of each.

    Returns
    -------
    Trend
        No ``tau`` where no group has two values (``fewer-than-two``) or no group two different ones
        (``all-tied``); no ``p`` below `LEAST_FOR_P` values (``fewer-than-10``). `ArgumentError` if the arrays
        are not one-dimensional of one length, or a value is not finite.

    Notes
    -----
    With :math:`S_g` the rising minus the falling pairs of group g, n its size and t the sizes of its ties,

    .. math::

        z = \frac{\sum_g S_g}{\sqrt{\sum_g V_g}}, \qquad
        V_g = \frac{n(n-1)(2n+5) - \sum t(t-1)(2t+5)}{18}    (Eqs. 4 and 5 of [1]_)

    and p from the normal distribution, without a correction for continuity (as ``scipy.stats.kendalltau``
    with one group). :math:`\tau = \sum S_g / \sqrt{N (N - T)}` with N the pairs inside groups and T those of
    them tied in value. O(n_values**2) time in the largest group, O(n_values) memory.

    References
    ----------
    .. [1] R. M. Hirsch, J. R. Slack and R. A. Smith, "Techniques of trend analysis for monthly water quality
       data", *Water Resources Research* 18(1), 107-121, 1982, doi:10.1029/WR018i001p00107.

    Examples
    --------
    >>> trend([0, 0, 1], [7, 7, 7])  # of the pairs 0-0, 0-1, 0-1 one is tied: tau = 2 / sqrt(3 * 2)
    Trend(n=3, tau=0.8164965809277261, p=None, reason='fewer-than-10')
    >>> trend([0, 0, 0], [7, 7, 7])
    Trend(n=3, tau=None, p=None, reason='all-tied')
    """
    array, codes = _in_groups(values, groups)
    surplus = pairs = tied = 0
    eighteen_variance = n = 0
    for places in _places(codes):
        if places.size < 2:
            continue
        one = array[places]
        n += one.size
        surplus += sum(int(np.sign(one[at + 1 :] - one[at]).sum()) for at in range(one.size - 1))
        ties = np.unique(one, return_counts=True)[1].tolist()
        pairs += one.size * (one.size - 1) // 2
        tied += sum(size * (size - 1) // 2 for size in ties)
        eighteen_variance += _eighteen_variance(one.size) - sum(map(_eighteen_variance, ties))
    if pairs == 0:
        return Trend(n, None, None, "fewer-than-two")
    if pairs == tied:
        return Trend(n, None, None, "all-tied")
    tau = min(max(surplus / math.sqrt(pairs * (pairs - tied)), -1.0), 1.0)
    if n < LEAST_FOR_P:
        return Trend(n, tau, None, f"fewer-than-{LEAST_FOR_P}")
    z = surplus / math.sqrt(eighteen_variance / 18)  # [1] Eqs. 4, 5
    return Trend(n, tau, math.erfc(abs(z) / math.sqrt(2)))


def _eighteen_variance(size: int) -> int:
    """Return 18 times the variance of S of a group without ties, or what a tie takes from it."""
    return size * (size - 1) * (2 * size + 5)


def _places(codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the places of each group, ascending."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order])) + 1
    return [places for places in np.split(order, starts) if places.size]


def _codes(groups: ArrayLike) -> NDArray[np.int64]:
    """Return groups as an array; raise `ArgumentError` when it is none of one dimension."""
    codes = np.asarray(groups, dtype=np.int64)
    if codes.ndim != 1:
        raise ArgumentError("groups", "must be one-dimensional", f"shape {codes.shape}")
    return codes


def _in_groups(values: ArrayLike, groups: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return values and groups as arrays; raise `ArgumentError` when they are not of one length."""
    array, codes = finite_vector("values", values), _codes(groups)
    if codes.shape != array.shape:
        raise ArgumentError("groups", "must be as long as `values`", codes.size)
    return array, codes
