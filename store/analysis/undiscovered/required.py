"""How far apart two MAPs must be.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError

ALPHA = 0.05
"""Level of significance, two-sided, unless another is asked for."""


def required_difference(
    variance: ArrayLike,
    n_topics: ArrayLike,
    *,
    variation_share: ArrayLike = 0.0,
    difference_drop: ArrayLike = 0.0,
    variance_drop: ArrayLike = 0.0,
    alpha: ArrayLike = ALPHA,
    power: ArrayLike = 0.5,
) -> NDArray[np.float64]:
    r"""Compute the difference of two MAPs that a paired t test finds significant.

    Parameters
    ----------
    variance : float or array of float
        :math:`s^2`, variance of the differences of each topic; at least 0.
    n_topics : int or array of int
        L, at least 2.
    variation_share : float or array of float, default=0
        K, share of :math:`s^2` that is there because judges vary, to be left out as an error of
        measurement; in [0, 1). See `variation.collection.Components.share`. The careful take 0.
    difference_drop : float or array of float, default=0
        Q, by what share the difference might fall were all relevant documents known; below 1.
        Negative when it would grow. See `relative_drop`.
    variance_drop : float or array of float, default=0
        H, by what share :math:`s^2` would fall; below 1.
    alpha : float or array of float, default=0.05
        Level of significance, two-sided; above 0 and below 1.
    power : float or array of float, default=0.5
        Wanted probability of a significant result if the true difference is the one returned; at
        least 0.5, below 1. With 0.5 it is the smallest difference that is significant when it is
        what was observed, the paper's.

    Returns
    -------
    ndarray of float64, the shape that all arguments broadcast to
        At least 0, in the unit of the scores. `round_up` before printing.

    Notes
    -----
    .. math:: y = \frac{1}{1 - Q} \sqrt{\frac{s^2 (1 - K)(1 - H)}{L}} \;
              (t_{1 - \alpha/2, L - 1} + t_{power, L - 1})

    Eq. 24 of [1]_, and with Q = H = 0 its eq. 23; the quantile of `power` is 0 there. The power is
    an approximation: with 30 topics or more it is within .007 of that of the noncentral t.

    Examples
    --------
    Two cells of tables 7 and 8 of [1]_, and what finds a true difference four times of five:

    >>> float(round_up(required_difference(0.03, 50)))
    0.0493
    >>> float(round_up(required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.1)))
    0.055
    >>> float(round_up(required_difference(0.03, 50, power=0.8)))
    0.0701
    """
    from scipy.special import stdtrit

    s2 = _between("variance", variance, 0.0, np.inf, closed=True)
    topics = np.asarray(n_topics)
    if not np.issubdtype(topics.dtype, np.integer) or np.any(topics < 2):
        raise ArgumentError("n_topics", "must hold integers >= 2", topics.tolist())
    k = _between("variation_share", variation_share, 0.0, 1.0, closed=True)
    q = _between("difference_drop", difference_drop, -np.inf, 1.0, closed=False)
    h = _between("variance_drop", variance_drop, -np.inf, 1.0, closed=False)
    tail = _between("alpha", alpha, 0.0, 1.0, closed=False)
    wanted = _between("power", power, 0.5, 1.0, closed=True)
    quantiles = stdtrit(topics - 1, 1 - tail / 2)
    quantiles = quantiles + np.where(wanted == 0.5, 0.0, stdtrit(topics - 1, wanted))
    error = np.sqrt(s2 * (1 - k) * (1 - h) / topics)
    return np.asarray(error * quantiles / (1 - q), dtype=np.float64)  # [1] Eq. 24


def round_up(values: ArrayLike, digits: int = 4) -> NDArray[np.float64]:
    """Round what is at least 0 upwards, as what is needed has to be.

    Tables 7 and 8 of [1]_ are printed so, with 4 digits: to the nearest, 61 of their 120 cells would be
    smaller. A value that has so many digits but for a floating-point error stays what it is.

    >>> round_up([0.03734061, 0.1 + 0.2], 4).tolist()
    [0.0374, 0.3]
    """
    scale = 10.0**digits
    scaled = np.asarray(values, dtype=np.float64) * scale
    # A value that is whole but for its last bits must not go one up.
    return np.asarray(np.ceil(scaled - 1e-9 * np.maximum(1.0, scaled)) / scale) + 0.0


def relative_drop(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """Compute by what share a value, finite, falls: Q of a difference in MAPs, H of its variance.

    At most 1 as long as the sign stays; above 1 where it changes, below 0 where the value grows. NaN where
    `before` is 0: there is nothing to fall.

    Section 4.3 of [1]_: the difference of two MAPs falls by 17.3%, its variance by 10.9%.

    >>> relative_drop([0.04615, 0.0330], [0.03816, 0.0294]).round(3).tolist()
    [0.173, 0.109]
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    drop = np.full(np.broadcast_shapes(first.shape, second.shape), np.nan)
    return np.asarray(np.divide(first - second, first, out=drop, where=first != 0))


def _between(name: str, argument: ArrayLike, low: float, high: float, *, closed: bool) -> NDArray[np.float64]:
    """Return numbers of an interval, its lower end belonging to it if `closed`."""
    values = np.asarray(argument, dtype=np.float64)
    above = values >= low if closed else values > low
    if not np.all(above & (values < high)):
        least = "" if low == -np.inf else f"{'at least' if closed else 'above'} {low:g}"
        most = "finite" if high == np.inf else f"below {high:g}"
        requirement = f"must be {' and '.join(part for part in (least, most) if part)}"
        raise ArgumentError(name, requirement, values.tolist())
    return values
