"""All pairs at once: each by its own tests, Holm, Tukey.

By Tukey's tests each pair is compared with the largest difference that chance makes among all the runs, so
that one wrong rejection among all pairs is rare. Both tests here know that the topics are the same for every
run; the one-way test of the same name, which scipy has, does not, and finds far less.

References
----------
.. [1] T. Sakai, *Laboratory Experiments in Information Retrieval*, Springer, 2018, chapter 4,
   doi:10.1007/978-981-13-1199-4.
.. [2] B. Carterette, "Multiple testing in statistical analysis of systems-based information retrieval
   experiments", *ACM Transactions on Information Systems* 30(1), 4:1-4:34, 2012, doi:10.1145/2094072.2094076.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations as permuted
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.agreement.intervals import LEVEL
from store.analysis.ratios import quotient
from store.analysis.significance.randomisation import (
    RESOLUTION,
    doubled_signed_ranks,
    rounded_differences,
    sign_flip_p,
    signed_rank_p,
)
from store.analysis.significance.t_tests import SAME, TestReason
from store.errors import PoolerError

PairTest = Literal["t", "randomisation", "wilcoxon"]
PAIR_TESTS: tuple[PairTest, ...] = get_args(PairTest)

_PAIRS_AT_ONCE = 256
"""Pairs between two reports of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class RunPairs:
    """Two-sided tests of pairs of runs. Every array has shape (n_pairs,); NaN = undefined.

    Nothing is adjusted for the number of pairs: give one column of p-values to `holm`.
    """

    first: NDArray[np.int64]
    """Row of the first run in the scores."""
    second: NDArray[np.int64]
    """Row of the second run."""
    n_topics: NDArray[np.int64]
    """Topics where both have a score."""
    difference: NDArray[np.float64]
    """Mean of the first less mean of the second over these topics; NaN without one."""
    variance: NDArray[np.float64]
    """Of the differences, over n_topics - 1; NaN with fewer than two topics."""
    low: NDArray[np.float64]
    """Lower limit of the t interval of `difference`; NaN with fewer than two topics."""
    high: NDArray[np.float64]
    """Upper limit."""
    t: NDArray[np.float64]
    """As `paired_t`."""
    t_reasons: tuple[TestReason | None, ...]
    """Why `t`, `p_t` and `effect_size` are NaN; ``None`` where they are numbers."""
    effect_size: NDArray[np.float64]
    """`difference` in standard deviations of the differences."""
    p_t: NDArray[np.float64]
    p_randomisation: NDArray[np.float64]
    """As `randomisation_test`; NaN without topics, or where it was not asked for."""
    p_wilcoxon: NDArray[np.float64]
    """The p of `wilcoxon_test`; NaN without a difference that does not round to 0, or where
    it was not asked for."""


def compare_pairs(
    scores: NDArray[np.float64],
    *,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    tests: Iterable[PairTest] = PAIR_TESTS,
    resolution: float = RESOLUTION,
    level: float = LEVEL,
    progress: Callable[[int], None] | None = None,
) -> RunPairs:
    """Test many pairs of runs, each as if it were the only one.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        Every run's score in every topic; NaN = undefined, infinite none.
    pairs : two ndarrays of int64, shape (n_pairs,), optional
        Rows of the first runs and of the second. By default all pairs, the first before the
        second: ``np.triu_indices(n_runs, 1)``.
    tests : iterable of {"t", "randomisation", "wilcoxon"}, optional
        By default all. The t test is always done: it costs nothing.
    resolution : float, default=1e-4
        Differences are rounded to multiples of it for randomisation and Wilcoxon.
    level : float, default=0.95
        Coverage of the intervals.

    Returns
    -------
    RunPairs
        Each pair has what `paired_t`, `randomisation_test` and `wilcoxon_test` give for it alone.

    Notes
    -----
    The exact tests take O(n_topics * W / 4) a pair, see `randomisation_test`: all 7,140 pairs of
    120 runs over 50 topics take some seconds.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.3, 0.6, 0.4], [0.2, 0.1, 0.1, np.nan], [0.5, 0.1, 0.7, 0.2]])
    >>> compared = compare_pairs(scores)
    >>> compared.first.tolist(), compared.second.tolist(), compared.n_topics.tolist()
    ([0, 0, 1], [1, 2, 2], [3, 4, 3])
    >>> compared.difference.round(3).tolist(), compared.p_randomisation.tolist()
    ([0.333, 0.075, -0.3], [0.25, 0.5, 0.5])
    """
    wanted = set(tests)
    first, second = np.triu_indices(len(scores), 1) if pairs is None else pairs
    n_pairs = first.size
    p_randomisation, p_wilcoxon = np.full(n_pairs, np.nan), np.full(n_pairs, np.nan)
    n_topics = np.zeros(n_pairs, dtype=np.int64)
    difference, variance = np.full(n_pairs, np.nan), np.full(n_pairs, np.nan)
    for start in range(0, n_pairs, _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        differences = scores[first[part]] - scores[second[part]]
        n_topics[part], difference[part], variance[part] = _moments(differences)
        for place, row in enumerate(differences, start=start):
            if wanted <= {"t"} or n_topics[place] == 0:
                continue
            whole = rounded_differences(row[~np.isnan(row)], resolution)
            if "randomisation" in wanted:
                p_randomisation[place] = sign_flip_p(whole)
            if "wilcoxon" in wanted and np.any(whole):
                p_wilcoxon[place] = signed_rank_p(doubled_signed_ranks(whole))
        if progress is not None:
            progress(len(differences))
    t, p_t, effect_size, half = _student(n_topics, difference, variance, level)
    return RunPairs(
        first=first,
        second=second,
        n_topics=n_topics,
        difference=difference,
        variance=variance,
        low=difference - half,
        high=difference + half,
        t=t,
        t_reasons=tuple(map(_t_reason, n_topics.tolist(), variance.tolist())),
        effect_size=effect_size,
        p_t=p_t,
        p_randomisation=p_randomisation,
        p_wilcoxon=p_wilcoxon,
    )


def _moments(
    differences: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return count, mean and variance of each row's numbers; 0 for a variance within `SAME`."""
    defined = ~np.isnan(differences)
    count = np.count_nonzero(defined, axis=1)
    mean = quotient(np.sum(differences, axis=1, where=defined), count)
    squares = np.sum((differences - mean[:, None]) ** 2, axis=1, where=defined)
    variance = quotient(squares, count - 1)
    highest = np.max(differences, axis=1, where=defined, initial=-np.inf)
    lowest = np.min(differences, axis=1, where=defined, initial=np.inf)
    variance[(count > 1) & (highest - lowest <= SAME)] = 0.0
    return count.astype(np.int64), mean, variance


def _student(
    n_topics: NDArray[np.int64], difference: NDArray[np.float64], variance: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return t, its p, the effect size and half the width of the interval."""
    from scipy.special import stdtr, stdtrit

    undefined = np.full(difference.shape, np.nan)
    freedom = np.maximum(n_topics - 1, 1)
    deviation = np.sqrt(variance)
    varies = variance > 0
    effect_size = np.divide(difference, deviation, out=undefined, where=varies)
    t = effect_size * np.sqrt(n_topics)  # [1] Eq. 9 of `significance`
    half = stdtrit(freedom, (1 + level) / 2) * deviation / np.sqrt(np.maximum(n_topics, 1))
    return t, np.minimum(1.0, 2 * stdtr(freedom, -np.abs(t))), effect_size, half


def neighbours(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the pairs of runs that stand next to each other, from the first two runs to the last two.

    `first` and `second`, shape (n_pairs,), are the rows of every two runs, the one ahead first; returned are
    places of pairs, shape (n_runs - 1,). A run's place is how many are ahead of it; of several with as many,
    which only ties within a tolerance bring about, the lower row is first. O(n_pairs).

    Run 2 is ahead of run 0, and both are ahead of run 1:

    >>> neighbours(np.array([0, 2, 2]), np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    n_ahead = np.bincount(second, minlength=1 + int(np.max(first, initial=0)))
    order = np.argsort(n_ahead, kind="stable")
    place = np.empty((n_ahead.size, n_ahead.size), dtype=np.int64)
    place[first, second] = place[second, first] = np.arange(first.size)
    return place[order[:-1], order[1:]]


def _t_reason(n_topics: int, variance: float) -> TestReason | None:
    if n_topics < 2:
        return "one-topic" if n_topics else "no-topics"
    return None if variance > 0 else "no-variation"


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

    Notes
    -----
    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{1, (m - j + 1) \, p_{(j)}\}

    for m tests, p-values ascending. It needs no assumption on how the tests depend on each other.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", *Scandinavian Journal of
       Statistics* 6(2), 65-70, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()  # 3 * .01; 2 * .03; no less than that
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    flat = values.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    ascending = tested[np.argsort(flat[tested], kind="stable")]
    multiplied = flat[ascending] * np.arange(ascending.size, 0, -1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(multiplied))
    return adjusted.reshape(values.shape)


def check_pair(tags: Sequence[str]) -> None:
    """Raise `PoolerError` when there is one run only."""
    if len(tags) < 2:
        raise PoolerError(f"there is one run, `{tags[0]}`: a pair needs two", hint="name another run")


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
    The scores of each topic are given to the runs at random, B times; p of a pair is the share of the times
    when the best mean is as far from the worst as the two means are from each other [2]_, with the scores as
    they are counted as one more time: so p is never 0. Where all permutations are at most B (topic by topic,
    the first one as it is, since names make no difference), each is looked at once, and p is exact.

    The orders are made from raw bits of PCG64 and so are the same in every version of numpy.
    O(B n_topics n_runs log n_runs): .1 s for 3 runs and some 2 s for 120, of 50 topics.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.3, 0.6, 0.4], [0.2, 0.1, 0.1, 0.3]])
    >>> float(randomised_tukey_test(scores, seed=1)[0, 1])  # 2 of the 16 orders of the two runs
    0.125
    """
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
