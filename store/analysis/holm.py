"""Holm's correction for many tests at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    r"""Adjust p-values for their number, so that one wrong rejection among all is rare.

    Parameters
    ----------
    p_values : array of float, shape (...)
        One family of tests, each in [0, 1]; NaN = undefined.

    Returns
    -------
    ndarray of float64, shape (...)
        Each in [0, 1] and at least the p-value it adjusts: compare it with the level itself. NaN
        where there was none; such tests do not count.

    Raises
    ------
    ArgumentError
        If a p-value is outside [0, 1].

    Notes
    -----
    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{1, (m - j + 1) \, p_{(j)}\}

    for m tests, p-values ascending. It needs no assumption on how the tests depend on each other.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", *Scandinavian
       Journal of Statistics* 6(2), 65-70, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()  # 3 * .01; 2 * .03; no less than that
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    flat = values.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    if np.any((flat[tested] < 0) | (flat[tested] > 1)):
        raise ArgumentError("p_values", "must be in [0, 1]", values.tolist())
    ascending = tested[np.argsort(flat[tested], kind="stable")]
    multiplied = flat[ascending] * np.arange(ascending.size, 0, -1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(multiplied))
    return adjusted.reshape(values.shape)
