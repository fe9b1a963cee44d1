"""Kendall's tau-b, tau_AP, swapped pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TIED_MAP = 1e-12
"""MAPs, or other mean scores, no further apart are tied: rounding alone moves a mean by up to about 1e-15."""


@dataclass(frozen=True, slots=True)
class TauResult:
    """A rank correlation of two scorings."""

    tau: float | None
    """In [-1, 1]; ``None`` when it is undefined."""
    reason: str | None = None
    """Why there is no number: ``fewer-than-two`` runs, or ``all-tied`` in one scoring."""


def kendall_tau_b(x: NDArray[np.float64], y: NDArray[np.float64], *, tolerance: float = 0.0) -> TauResult:
    r"""Measure how alike two scorings order the same runs, with ties allowed for.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n_runs,)
        Scores of the same runs, finite.
    tolerance : float, default=0.0
        Scores that differ by no more than this are tied. Means over the same topics taken in another order
        differ by rounding, so compare computed means with a little above 0.

    Returns
    -------
    TauResult
        ``tau`` in [-1, 1]; ``None`` with the reason ``fewer-than-two`` or ``all-tied``.

    Notes
    -----
    .. math:: \tau_b = \frac{C - D}{\sqrt{(n_0 - n_x)(n_0 - n_y)}}    (section 3 of [1]_)

    with C and D the concordant and discordant of the n_0 pairs, and n_x, n_y those tied in `x` and in `y`.
    O(n_runs**2) time and memory.

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", *Biometrika* 33(3), 239-251, 1945,
       doi:10.1093/biomet/33.3.239.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> kendall_tau_b(x, np.array([1.0, 2.0, 2.0]))  # of three pairs one is tied: 2 / sqrt(3 * 2)
    TauResult(tau=0.8164965809277261, reason=None)
    >>> kendall_tau_b(x, np.array([1.0, 1.0, 1.0]))
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


def tau_ap(estimate: NDArray[np.float64], truth: NDArray[np.float64], *, tolerance: float = 0.0) -> TauResult:
    r"""Measure how well an estimated scoring orders runs, with most weight on the first places.

    Parameters
    ----------
    estimate, truth : ndarray of float64, shape (n_runs,)
        Scores of the same runs, finite; higher is better. The two are not interchangeable: the first places
        are those of `estimate`.
    tolerance : float, default=0.0
        Scores that differ by no more than this are tied, and so are those that a chain of such steps joins;
        see `kendall_tau_b`.

    Returns
    -------
    TauResult
        ``tau`` in [-1, 1]: 1 for the same order, ties and all, and for nothing else. Without ties, 0 is what
        a random order has on average, and -1 the reverse. ``None`` with the reason ``fewer-than-two``, or
        ``all-tied`` when one of the scorings orders nothing.

    Notes
    -----
    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C(i)}{i - 1} - 1

    of [1]_, with C(i) the runs above place i of the estimate that `truth`, too, has above the run at place i.
    With ties, a pair of runs tied in one scoring alone counts in C(i) as half right, and one tied in both as
    right, as in the :math:`\tau_x` of [3]_; runs tied in the estimate stand at their places in every order,
    and the mean over these orders is taken. So a tie made and a tie broken at the same places cost the same,
    half of what the swap of the two runs does, and the value is below 0 only where pairs are swapped.

    Where `truth` has no ties this is :math:`\tau_{AP,a}` of [2]_. :math:`\tau_{AP,b}` of [2]_, for two judges
    of which neither is right, is the mean of both directions, and so differs from [1]_ without ties, too.
    Each direction leaves out the pairs tied in the order it goes down, and takes those tied in the other for
    swapped: down the later order, a tie that was made costs nothing. O(n_runs**2) time and memory.

    References
    ----------
    .. [1] E. Yilmaz, J. A. Aslam and S. Robertson, "A new rank correlation coefficient for information
       retrieval", *SIGIR* 2008, 587-594, doi:10.1145/1390334.1390435.
    .. [2] J. Urbano and M. Marrero, "The treatment of ties in AP correlation", *ICTIR* 2017, 321-324,
       doi:10.1145/3121050.3121106.
    .. [3] E. J. Emond and D. W. Mason, "A new rank correlation coefficient with application to the consensus
       ranking problem", *Journal of Multi-Criteria Decision Analysis* 11(1), 17-28, 2002,
       doi:10.1002/mcda.313.

    Examples
    --------
    Swapping the first two of four runs costs more than swapping the last two. Of the places 2, 3, 4 the
    shares of right runs above are 0/1, 2/2, 3/3, and 1/1, 2/2, 2/3:

    >>> truth = np.array([4.0, 3.0, 2.0, 1.0])
    >>> round(tau_ap(np.array([3.0, 4.0, 2.0, 1.0]), truth).tau, 6)  # 2/3 * 2 - 1
    0.333333
    >>> round(tau_ap(np.array([4.0, 3.0, 1.0, 2.0]), truth).tau, 6)  # 2/3 * 8/3 - 1
    0.777778

    An order that did not change has 1, two of its runs tied or not. Of the last two of three runs, the one at
    place 3 has 1 1/2 right runs of 2 above when they become tied, or no longer are:

    >>> tied, untied = np.array([2.0, 1.0, 1.0]), np.array([2.0, 1.0, 0.0])
    >>> tau_ap(tied, 0.4 * tied)
    TauResult(tau=1.0, reason=None)
    >>> tau_ap(tied, untied), tau_ap(untied, tied)  # 2/2 * (1/1 + 1.5/2) - 1
    (TauResult(tau=0.75, reason=None), TauResult(tau=0.75, reason=None))
    """
    n_runs = estimate.size
    if n_runs < 2:
        return TauResult(None, "fewer-than-two")
    estimated, true = _levels(estimate, tolerance), _levels(truth, tolerance)
    if estimated.max() == 0 or true.max() == 0:
        return TauResult(None, "all-tied")
    order_e, order_t = (
        np.sign(levels[:, np.newaxis] - levels[np.newaxis, :]) for levels in (estimated, true)
    )
    # [3] 0 = right, 1 = tied, 2 = swapped.
    wrong = 1 - order_e * order_t
    wrong[(order_e == 0) & (order_t == 0)] = 0
    np.fill_diagonal(wrong, 0)
    sizes = np.bincount(estimated)
    above = np.sum(wrong * (order_e > 0), axis=1, dtype=np.int64)
    beside = np.sum(wrong * (order_e == 0), axis=1, dtype=np.int64)
    # In the mean over the orders of a tie group, every run of it is as often at each of its places,
    # and each two of it are as often the one there and one above.
    above_mean = np.bincount(estimated, weights=above) / sizes
    beside_mean = np.bincount(estimated, weights=beside) / (sizes * np.maximum(sizes - 1, 1))
    group = np.sort(estimated)[1:]
    n_above = np.arange(1, n_runs)
    n_beside_above = n_above - (np.cumsum(sizes) - sizes)[group]
    # [1] 2 C(i) - (i - 1) over i - 1: the right less the wrong.
    shares = (n_above - above_mean[group] - n_beside_above * beside_mean[group]) / n_above
    tau = float(shares.sum()) / (n_runs - 1)
    return TauResult(min(max(tau, -1.0), 1.0))


def n_swapped_pairs(x: NDArray[np.float64], y: NDArray[np.float64], *, tolerance: float = 0.0) -> int:
    """Count the pairs of runs that two scorings order in strictly opposite ways.

    The arguments are those of `kendall_tau_b`. A pair tied in either scoring is not swapped.

    >>> n_swapped_pairs(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 2.0]))
    1
    """
    order_x, order_y = _pair_orders(x, y, tolerance)
    return int(np.count_nonzero(order_x * order_y < 0))


def _pair_orders(
    x: NDArray[np.float64], y: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the order of every pair of runs, -1, 0 or 1, in both scorings."""
    first, second = np.triu_indices(x.size, k=1)
    orders = []
    for scores in (x, y):
        difference = scores[first] - scores[second]
        order = (difference > tolerance).astype(np.int8)
        order -= difference < -tolerance
        orders.append(order)
    return orders[0], orders[1]


def _levels(scores: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """Give every run the number of its tie group, from 0, the best first; shape (n_runs,)."""
    order = np.argsort(-scores, kind="stable")
    steps = scores[order[:-1]] - scores[order[1:]] > tolerance
    levels = np.empty(scores.size, np.int64)
    levels[order] = np.concatenate(([0], np.cumsum(steps)))
    return levels


def tau_values(taus: Iterable[TauResult]) -> NDArray[np.float64]:
    """Return correlations as an array, NaN = undefined."""
    return np.array([np.nan if one.tau is None else one.tau for one in taus], dtype=np.float64)
