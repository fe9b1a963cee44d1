r"""Studentised bootstrap of the difference of two runs over the same topics.

References
----------
.. [1] T. Sakai, "Evaluating evaluation metrics based on the bootstrap", *SIGIR* 2006, 525-532,
   doi:10.1145/1148170.1148261.
.. [2] B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall, 1993,
   section 16.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

RESAMPLES = 10_000

SAME = 1e-12
"""Differences no further apart are one: rounding alone moves a score by up to about 1e-15."""
_CHUNK = 1 << 20
"""Resampled values held at once: 8 MB an array."""


class StudentisedBootstrap(NamedTuple):
    """How often a resampled t is as large as the one seen."""

    p: NDArray[np.float64]
    """Shape (...), two-sided, at least 1 / (resamples + 1). NaN = undefined: fewer than two topics,
    or the same difference in all of them (``no-variation``)."""
    n_topics: int
    resamples: int
    seed: int


def studentised_bootstrap(
    differences: NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES
) -> StudentisedBootstrap:
    r"""Test whether runs differ, taking the law of t from the differences themselves.

    Parameters
    ----------
    differences : ndarray of float64, shape (..., n_topics)
        Score of the first run less score of the second, by topic; finite. All pairs of runs can be
        given at once: each has the p-value that it has alone.
    seed : int
        Not negative; stored with the result.
    resamples : int, default=10000
        B, at least 1.

    Returns
    -------
    StudentisedBootstrap
        ``p`` has the leading shape of `differences`.

    Raises
    ------
    ArgumentError
        If `differences` has no axis or is not finite, or another argument is outside its range.

    Notes
    -----
    With :math:`t(u) = \bar u / \sqrt{s_u^2 / L}`, B resamples :math:`u^*` of L topics are drawn
    with replacement from the differences shifted to mean 0, and p is the share with
    :math:`|t(u^*)| \ge |t(u)|` (section 3 of [1]_, which follows [2]_), the differences as they
    are counted as one more resample: so p is never 0. A resample without variation has infinite t,
    or, with mean 0, t = 0.

    The draws are made from raw bits of PCG64 and so are the same in every version of numpy.
    O(B n_pairs n_topics): 20 ms for a pair of 50 topics, some seconds for 7,140 pairs.

    Examples
    --------
    >>> test = studentised_bootstrap(np.array([0.1, 0.2, 0.15, 0.3, 0.05, 0.1]), seed=1)
    >>> bool(test.p < 0.05)
    True
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim < 1 or not np.isfinite(values).all():
        raise ArgumentError("differences", "must be finite, with an axis of topics", values.shape)
    if seed < 0:
        raise ArgumentError("seed", "must be an integer >= 0", seed)
    if resamples < 1:
        raise ArgumentError("resamples", "must be an integer >= 1", resamples)
    n_topics = values.shape[-1]
    p = np.full(values.shape[:-1], np.nan)
    varies = np.ptp(values, axis=-1) > SAME if n_topics > 1 else np.zeros(p.shape, dtype=np.bool_)
    rows = values[varies]
    if rows.size:
        p[varies] = (_n_as_large(rows, seed, resamples) + 1) / (resamples + 1)
    return StudentisedBootstrap(p, n_topics, resamples, seed)


def _n_as_large(rows: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.int64]:
    """Count the resamples of each row of differences whose t is at least that of the row."""
    n_rows, n_topics = rows.shape
    means = rows.mean(axis=1, keepdims=True)
    # In units of the standard deviation, so that one threshold says what no variation is.
    shifted = (rows - means) / rows.std(axis=1, ddof=1, keepdims=True)
    bound = (means / rows.std(axis=1, ddof=1, keepdims=True))[:, 0] ** 2
    columns, squares = shifted.T, (shifted**2).T
    count = np.zeros(n_rows, dtype=np.int64)
    bits = np.random.PCG64(seed)
    n_drawn = max(1, min(resamples, _CHUNK // n_topics))
    for start in range(0, resamples, n_drawn):
        n_now = min(n_drawn, resamples - start)
        weights = _weights(bits, n_now, n_topics)
        n_at_once = max(1, _CHUNK // n_now)
        for first in range(0, n_rows, n_at_once):
            part = slice(first, first + n_at_once)
            mean = weights @ columns[:, part] / n_topics
            variance = (weights @ squares[:, part] / n_topics - mean**2) * n_topics
            variance /= n_topics - 1
            # Squared: |mean| / s >= bound, also where s is 0; t = 0 where both are.
            mean_square = mean**2
            near = 1e-12
            as_large = mean_square + near * bound[part] >= bound[part] * np.maximum(variance, 0.0)
            as_large &= (mean_square > near) | (bound[part] <= near)
            count[part] += np.count_nonzero(as_large, axis=0)
    return count


def _weights(bits: np.random.PCG64, n_rows: int, n_topics: int) -> NDArray[np.float64]:
    """Draw how often each topic is in each resample."""
    raw = bits.random_raw(n_rows * n_topics) >> np.uint64(32)
    drawn = ((raw * np.uint64(n_topics)) >> np.uint64(32)).astype(np.int64)
    drawn += np.repeat(np.arange(n_rows) * n_topics, n_topics)
    counts = np.bincount(drawn, minlength=n_rows * n_topics)
    return counts.reshape(n_rows, n_topics).astype(np.float64)
