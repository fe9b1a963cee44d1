"""How far two scorings put the same runs in the same order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class TauResult:
    """Kendall's tau-b of two scorings."""

    tau: float | None
    """In [-1, 1]; ``None`` when it is undefined."""
    reason: str | None = None
    """Why there is no number: ``fewer-than-two`` runs, or ``all-tied`` in one scoring."""


def kendall_tau_b(
    x: NDArray[np.float64], y: NDArray[np.float64], *, tolerance: float = 0.0
) -> TauResult:
    r"""Measure how alike two scorings order the same runs, with ties allowed for.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n_runs,)
        Scores of the same runs, finite.
    tolerance : float, default=0.0
        Scores that differ by no more than this are tied. Means over the same topics taken in
        another order differ by rounding, so compare computed means with a little above 0.

    Returns
    -------
    TauResult
        ``tau`` in [-1, 1]; ``None`` with the reason ``fewer-than-two`` or ``all-tied``.

    Raises
    ------
    ArgumentError
        If `x` and `y` are not one-dimensional of one length, or hold a value that is not finite.

    Notes
    -----
    .. math:: \tau_b = \frac{C - D}{\sqrt{(n_0 - n_x)(n_0 - n_y)}}    (section 3 of [1]_)

    with C and D the concordant and discordant of the n_0 pairs, and n_x, n_y those tied in `x` and
    in `y`. O(n_runs**2) time and memory.

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", *Biometrika* 33(3),
       239-251, 1945, doi:10.1093/biomet/33.3.239.

    Examples
    --------
    Of three pairs one is tied in `y` and two agree, 2 / sqrt(3 * 2):

    >>> kendall_tau_b(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    TauResult(tau=0.8164965809277261, reason=None)
    >>> kendall_tau_b(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    TauResult(tau=None, reason='all-tied')
    """
    order_x, order_y = _pair_orders(x, y, tolerance)
    if order_x.size == 0:
        return TauResult(None, "fewer-than-two")
    untied_x, untied_y = int(np.count_nonzero(order_x)), int(np.count_nonzero(order_y))
    if untied_x == 0 or untied_y == 0:
        return TauResult(None, "all-tied")
    surplus = int(np.sum(order_x * order_y, dtype=np.int64))
    tau = surplus / math.sqrt(untied_x * untied_y)
    return TauResult(min(max(tau, -1.0), 1.0))


def n_swapped_pairs(
    x: NDArray[np.float64], y: NDArray[np.float64], *, tolerance: float = 0.0
) -> int:
    """Count the pairs of runs that two scorings order in strictly opposite ways.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n_runs,)
        Scores of the same runs, finite.
    tolerance : float, default=0.0
        Scores that differ by no more than this are tied; see `kendall_tau_b`.

    Returns
    -------
    int
        Pairs, at most n_runs (n_runs - 1) / 2. A pair tied in either scoring is not swapped.

    Raises
    ------
    ArgumentError
        As `kendall_tau_b`.

    Notes
    -----
    O(n_runs**2) time and memory.

    Examples
    --------
    >>> n_swapped_pairs(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 2.0]))
    1
    """
    order_x, order_y = _pair_orders(x, y, tolerance)
    return int(np.count_nonzero(order_x * order_y < 0))


def _pair_orders(
    x: NDArray[np.float64], y: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the order of every pair of runs, -1, 0 or 1, in both scorings."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        requirement = "must be one-dimensional and as long as `x`"
        raise ArgumentError("y", requirement, f"shapes {x.shape} and {y.shape}")
    for name, scores in (("x", x), ("y", y)):
        if not np.isfinite(scores).all():
            raise ArgumentError(name, "must be finite", scores.tolist())
    first, second = np.triu_indices(x.size, k=1)
    orders = []
    for scores in (x, y):
        difference = scores[first] - scores[second]
        order = (difference > tolerance).astype(np.int8)
        order -= difference < -tolerance
        orders.append(order)
    return orders[0], orders[1]
