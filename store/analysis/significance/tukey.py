"""All pairs at once.

Each pair is compared with the largest difference that chance makes among all the runs, so that
one wrong rejection among all pairs is rare. Both tests here know that the topics are the same for
every run; the one-way test of the same name, which scipy has, does not, and finds far less.

References
----------
.. [1] T. Sakai, *Laboratory Experiments in Information Retrieval*, Springer, 2018, chapter 4,
   doi:10.1007/978-981-13-1199-4.
.. [2] B. Carterette, "Multiple testing in statistical analysis of systems-based information
   retrieval experiments", *ACM Transactions on Information Systems* 30(1), 4:1-4:34, 2012,
   doi:10.1145/2094072.2094076.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations as permuted
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.significance.t_tests import SAME
from store.errors import ArgumentError

_STEP = 0.125
"""Of the trapezoidal rule over the least of the values, which is smooth and falls off fast."""
_FURTHEST = 9.0
"""Standard deviations beyond which nothing is: 1e-19."""
_WIDTH_STEP, _WIDEST = 1 / 128, 20.0
"""Of the table of ranges of standard normal values; none of so many groups is wider."""
_CHUNK = 1 << 20
"""Evaluations made at once: 8 MB an array."""


def studentised_range_p(q: ArrayLike, n_groups: int, degrees_of_freedom: int) -> NDArray[np.float64]:
    r"""Compute the probability that a studentised range is at least q, right to 1e-9; NaN where q is.

    q, of any shape and at least 0, is the range of the means over the standard error of one; `n_groups`, k,
    are the means compared, at least 2, and the degrees of freedom, at least 1, those of the variance in the
    error.

    .. math::

        P(Q \ge q) = 1 - \int_0^\infty f_\nu(s) \, k \int_{-\infty}^\infty \varphi(z)
                     [\Phi(z + q s) - \Phi(z)]^{k-1} \, dz \, ds

    with f the density of :math:`\sqrt{\chi^2_\nu / \nu}` (R. E. Lund and J. R. Lund, "Probabilities and upper
    quantiles for the studentized range", *Applied Statistics* 32(2), 204-210, 1983, doi:10.2307/2347300). The
    outer integral is by Gauss-Legendre in log s, the inner by the trapezoidal rule, tabulated for a cubic
    spline. scipy's distribution of the same name integrates each q adaptively, which takes some 20 ms for
    one; here all pairs of 120 runs take 50 ms.

    Examples
    --------
    The upper 5% point of 3 groups and 10 degrees of freedom is printed 3.877 in tables:

    >>> float(studentised_range_p(3.877, 3, 10).round(4))
    0.05
    """
    from scipy.interpolate import CubicSpline
    from scipy.special import gammaln, ndtr
    from scipy.stats import chi2

    values = np.asarray(q, dtype=np.float64)
    nu = float(degrees_of_freedom)
    ends = 0.5 * np.log(np.array([chi2.ppf(1e-14, nu), chi2.isf(1e-14, nu)]) / nu)
    # Few degrees of freedom spread s over many powers of ten.
    nodes, weights = np.polynomial.legendre.leggauss(64 if nu >= 20 else 256)
    log_s = ends[0] + (nodes + 1) * (ends[1] - ends[0]) / 2
    s = np.exp(log_s)
    log_density = np.log(2) + nu / 2 * np.log(nu / 2) - gammaln(nu / 2) + nu * log_s - nu * s**2 / 2
    outer = weights * np.exp(log_density)
    outer /= outer.sum()
    z = np.arange(-_FURTHEST, _FURTHEST + _STEP, _STEP)
    below = ndtr(z)
    inner = n_groups * _STEP / np.sqrt(2 * np.pi) * np.exp(-(z**2) / 2)

    # The inner integral depends on the product of q and s alone: it is tabulated once.
    widths = np.arange(0.0, _WIDEST + _WIDTH_STEP, _WIDTH_STEP)
    between = ndtr(z + widths[:, None]) - below
    of_width = CubicSpline(widths, np.power(between, n_groups - 1) @ inner)

    defined = ~np.isnan(values)
    different, place = np.unique(values[defined], return_inverse=True)
    p = np.empty(different.shape)
    n_at_once = max(1, _CHUNK // s.size)
    for start in range(0, different.size, n_at_once):
        products = np.minimum(different[start : start + n_at_once, None] * s, _WIDEST)
        p[start : start + n_at_once] = 1 - of_width(products) @ outer
    answer = np.full(values.shape, np.nan)
    answer[defined] = np.clip(p, 0.0, 1.0)[place]
    return answer


TukeyReason = Literal["fewer-than-two-runs", "fewer-than-two-topics", "no-variation"]
"""Why there is no p: ``no-variation`` when every topic only shifts the scores of all runs alike,
so that nothing is left to measure chance by."""

PERMUTATIONS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class TukeyTest:
    """All pairs of runs, by the residual variance of runs and topics."""

    reason: TukeyReason | None
    """Why p and F are NaN; ``None`` when they are numbers."""
    p: NDArray[np.float64]
    """Shape (n_runs, n_runs), in [0, 1], symmetric; 1 on the diagonal."""
    f: float = np.nan
    """Of the two-way analysis of variance: whether the runs differ at all."""
    p_of_f: float = np.nan


def tukey_test(scores: NDArray[np.float64]) -> TukeyTest:
    r"""Compare all pairs of runs, supposing that residuals are normal with one variance.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        Every run's score in every topic; finite.

    Returns
    -------
    TukeyTest
        Reasons: ``fewer-than-two-runs``, ``fewer-than-two-topics``, ``no-variation``.

    Notes
    -----
    .. math::

        V_E = \frac{\sum_{ij} (x_{ij} - \bar x_{i\cdot} - \bar x_{\cdot j} + \bar x)^2}
                   {(m - 1)(n - 1)}, \qquad
        q = \frac{|\bar x_i - \bar x_{i'}|}{\sqrt{V_E / n}}

    for m runs and n topics, compared with the studentised range of m means and (m-1)(n-1) degrees
    of freedom [1]_. All pairs of 120 runs take some 50 ms.

    Examples
    --------
    Two runs: it is the paired t test.

    >>> test = tukey_test(np.array([[0.5, 0.3, 0.6], [0.2, 0.1, 0.1]]))
    >>> float(test.p[0, 1].round(6))  # differences .3 .2 .5: 1 - sqrt(100/114)
    0.063414
    """
    scores = _checked(scores)
    n_runs, n_topics = scores.shape
    reason, differences = _start(scores)
    undefined = np.full(differences.shape, np.nan)
    if reason is not None:
        return TukeyTest(reason, undefined)
    from scipy.special import fdtrc

    of_runs = scores.mean(axis=1, keepdims=True)
    residuals = scores - of_runs - scores.mean(axis=0, keepdims=True) + scores.mean()
    if np.max(np.abs(residuals)) <= SAME:
        return TukeyTest("no-variation", undefined)
    freedom = (n_runs - 1) * (n_topics - 1)
    variance = float(np.sum(residuals**2)) / freedom
    p = studentised_range_p(np.abs(differences) / np.sqrt(variance / n_topics), n_runs, freedom)
    np.fill_diagonal(p, 1.0)
    f = n_topics * float(np.var(of_runs, ddof=1)) / variance
    return TukeyTest(None, p, f, float(fdtrc(n_runs - 1, freedom, f)))


def randomised_tukey_test(
    scores: NDArray[np.float64], *, seed: int, permutations: int = PERMUTATIONS
) -> NDArray[np.float64]:
    r"""Compare all pairs of runs, with no assumption on how scores are distributed.

    Parameters
    ----------
    scores
        As in `tukey_test`.
    seed : int
        Not negative.
    permutations : int, default=10000
        B, at least 1.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_runs)
        p, above 0, symmetric; 1 on the diagonal. NaN with fewer than two runs or topics.

    Notes
    -----
    The scores of each topic are given to the runs at random, B times; p of a pair is the share of
    the times when the best mean is as far from the worst as the two means are from each other [2]_,
    with the scores as they are counted as one more time: so p is never 0. Where all permutations
    are at most B (topic by topic, the first one as it is, since names make no difference), each is
    looked at once, and p is exact.

    The orders are made from raw bits of PCG64 and so are the same in every version of numpy.
    O(B n_topics n_runs log n_runs): .1 s for 3 runs and some 2 s for 120, of 50 topics.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.3, 0.6, 0.4], [0.2, 0.1, 0.1, 0.3]])
    >>> float(randomised_tukey_test(scores, seed=1)[0, 1])  # 2 of the 16 orders of the two runs
    0.125
    """
    scores = _checked(scores)
    n_runs, n_topics = scores.shape
    reason, differences = _start(scores)
    if reason is not None:
        return np.full(differences.shape, np.nan)
    is_exact = math.factorial(n_runs) ** (n_topics - 1) <= permutations
    ranges = np.sort(_all_ranges(scores) if is_exact else _drawn_ranges(scores, permutations, seed))
    n_as_far = ranges.size - np.searchsorted(ranges, np.abs(differences) - SAME)
    return np.asarray((n_as_far + 1 - is_exact) / (ranges.size + 1 - is_exact))


def _drawn_ranges(scores: NDArray[np.float64], permutations: int, seed: int) -> NDArray[np.float64]:
    """Return the range of the means in permutations drawn at random."""
    n_runs, n_topics = scores.shape
    bits = np.random.PCG64(seed)
    by_topic = scores.T
    ranges = np.empty(permutations)
    n_at_once = max(1, _CHUNK // scores.size)
    for start in range(0, permutations, n_at_once):
        n_rows = min(n_at_once, permutations - start)
        keys = bits.random_raw(n_rows * scores.size).reshape(n_rows, n_topics, n_runs)
        order = np.argsort(keys, axis=2)
        means = np.take_along_axis(by_topic[None], order, axis=2).mean(axis=1)
        ranges[start : start + n_rows] = np.ptp(means, axis=1)
    return ranges


def _all_ranges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the range of the means in every permutation; the first topic stays, as names do not count."""
    n_runs, n_topics = scores.shape
    orders = np.array(list(permuted(range(n_runs))))
    sums = scores[:, 0][None, :]
    for topic in range(1, n_topics):
        sums = (sums[:, None, :] + scores[:, topic][orders]).reshape(-1, n_runs)
    return np.asarray(np.ptp(sums, axis=1) / n_topics)


def _start(scores: NDArray[np.float64]) -> tuple[TukeyReason | None, NDArray[np.float64]]:
    """Return why nothing can be tested, if so, and the differences of the means."""
    n_runs, n_topics = scores.shape
    if n_topics == 0:
        return "fewer-than-two-topics", np.full((n_runs, n_runs), np.nan)
    means = scores.mean(axis=1)
    differences = means[:, None] - means[None, :]
    if n_runs < 2:
        return "fewer-than-two-runs", differences
    return ("fewer-than-two-topics" if n_topics < 2 else None), differences


def _checked(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores as float64; raise `ArgumentError` unless two-dimensional and finite."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ArgumentError("scores", "must be runs by topics", f"shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise ArgumentError("scores", "must be finite", "NaN or infinity")
    return scores
