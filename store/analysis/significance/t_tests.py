"""Tests of the difference of two means by Student's t, and how normal differences are.

Of scores of two runs over the same topics, or of published moments. `paired_t` is the one to use:
it takes out what makes a topic hard for both runs. `unpaired_t` is the paper's eq. 8, for comparison.

Reasons for having no number:

============= ====================================================================================
no-topics     no topic has a score in both runs
one-topic     of one topic there is no variance
no-variation  the difference is the same in every topic (`paired_t`), or each run has the same
              score in every topic (`unpaired_t`)
============= ====================================================================================

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment", 2001 (in
   Japanese), sections 3.1 and 4.2.2, figure 3.
.. [2] T. Sakai, "Statistical reform in information retrieval?", *SIGIR Forum* 48(1), 3-12, 2014,
   doi:10.1145/2641383.2641385.
.. [3] G. Piaggio et al., "Reporting of noninferiority and equivalence randomized trials: extension of the
   CONSORT 2010 statement", *JAMA* 308(24), 2594-2604, 2012, doi:10.1001/jama.2012.87802.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import LEVEL
from store.errors import ArgumentError

TestReason = Literal["no-topics", "one-topic", "no-variation"]
Requirement = Literal["better", "not-worse"]
Decision = Literal["holds", "fails", "undecided"]

SAME = 1e-12
"""Differences no further apart are one: rounding alone moves a score by up to about 1e-15."""


@dataclass(frozen=True, slots=True)
class TTest:
    """A t test of a difference of means, with its effect size and its interval."""

    reason: TestReason | None
    """Why there is no t; ``None`` when there is one."""
    n_topics: int
    degrees_of_freedom: float
    """At least 1; whole but for `welch_t`; 0 when there are fewer than two topics."""
    difference: float | None
    """Mean of the first less mean of the second; ``None`` without topics."""
    level: float
    """Nominal coverage of the interval."""
    variance: float | None = None
    """What t divides: of the differences (`paired_t`), or the sum of both runs' (`unpaired_t`).
    ``None`` with fewer than two topics."""
    low: float | None = None
    """Lower limit of the confidence interval of the difference; ``None`` with fewer than two
    topics. It is of no width where the reason is ``no-variation``."""
    high: float | None = None
    """Upper limit."""
    t: float | None = None
    """Any sign; ``None`` when it is undefined, as are `p`, `p_normal` and `effect_size` then."""
    p: float | None = None
    """Two-sided, of the t distribution."""
    p_normal: float | None = None
    """Two-sided, of the normal distribution, which promises a little too much."""
    effect_size: float | None = None
    """`difference` in standard deviations: of the differences (`paired_t`, [2]_), or of the two
    runs' scores pooled (`unpaired_t`, Cohen's d)."""


def paired_t(differences: NDArray[np.float64], *, level: float = LEVEL) -> TTest:
    r"""Test by the differences of each topic whether two runs differ.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_topics,)
        :math:`u_h`, score of the first run less score of the second; finite.
    level : float, default=0.95
        Coverage of the confidence interval.

    Returns
    -------
    TTest
        ``t`` has n_topics - 1 degrees of freedom.

    Notes
    -----
    .. math::

        t_2 = \frac{\bar\nu_A - \bar\nu_B}{\sqrt{(s_A^2 + s_B^2 - 2 Cov_{AB}) / L}}
            = \frac{\bar u}{\sqrt{s_u^2 / L}}    (Eq. 9 of [1]_)

    with variances over L - 1. Exact when the differences are normal; see `normality_picture`.

    Examples
    --------
    Differences 1, 2, 3: mean 2, variance 1, t = 2 / sqrt(1/3).

    >>> test = paired_t(np.array([1.0, 2.0, 3.0]))
    >>> round(test.t, 6), test.degrees_of_freedom, test.effect_size
    (3.464102, 2, 2.0)
    >>> paired_t(np.array([0.1, 0.1])).reason
    'no-variation'
    """
    if differences.size < 2:
        return _too_few(differences, level)
    mean = float(np.mean(differences))
    return paired_t_of_moments(mean, _variance(differences), int(differences.size), level=level)


def paired_t_of_moments(difference: float, variance: float, n_topics: int, *, level: float = LEVEL) -> TTest:
    """Compute `paired_t` from the difference of the means and the variance of the differences, as published.

    Table 6 of [1]_, model without the variation of judgement, printed 1.8503 and 0.0700:

    >>> test = paired_t_of_moments(0.32588 - 0.27973, 0.0330, 53)
    >>> round(test.t, 4), round(test.p, 4), round(test.p_normal, 4)
    (1.8495, 0.0701, 0.0644)
    """
    return _t_test(difference, variance, variance, n_topics, n_topics - 1, level)  # [1] Eq. 9


def check_requirement(require: Requirement | None, *, margin: float | None, alpha: float) -> None:
    """Raise `ArgumentError` where `decide` has no margin to decide by, or no such level."""
    if require == "not-worse" and margin is None:
        raise ArgumentError("margin", "must be given for not-worse: the loss that is too much", None)
    if require == "not-worse" and alpha >= 0.5:
        raise ArgumentError("alpha", "must be below 0.5 for not-worse, which is one-sided", alpha)


def decide(
    differences: NDArray[np.float64],
    require: Requirement = "better",
    *,
    margin: float | None = None,
    alpha: float = 0.05,
) -> tuple[Decision, TTest]:
    """Decide whether a run is better than another one, or not worse by a margin; return the t test, too.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_topics,)
        Score of the run less score of the one that it would replace, by topic; finite.
    require : {"better", "not-worse"}
        What is to hold; `check_requirement` says what it needs.
    margin : float, optional
        The loss of mean score, above 0, that is too much: ``not-worse`` needs it.
    alpha : float, default=0.05
        Level: two-sided for ``better``, one-sided and below 0.5 for ``not-worse``.

    Notes
    -----
    With (low, high) the t interval of the mean difference, ``better`` holds where low > 0 and fails where
    high <= 0; ``not-worse`` holds where low > -margin and fails where high < -margin [3]_. It covers
    1 - alpha, and 1 - 2 alpha of ``not-worse``, each end being the one-sided limit of 1 - alpha then. Fewer
    than two topics, which have no interval, decide nothing.

    Examples
    --------
    Mean .02, standard error .0108; t(3) is 2.353 for 90 % and 3.182 for 95 %: from -.0054 and from -.0144 on.

    >>> gains = np.array([0.0, 0.01, 0.02, 0.05])
    >>> [decide(gains, "not-worse", margin=margin)[0] for margin in (0.005, 0.006)]
    ['undecided', 'holds']
    >>> [decide(gains + shift)[0] for shift in (0.0, 0.015, -0.055)]
    ['undecided', 'holds', 'fails']
    """
    bound, level = (0.0, 1 - alpha) if require == "better" else (-(margin or 0.0), 1 - 2 * alpha)
    test = paired_t(np.where(np.abs(differences) <= SAME, 0.0, differences), level=level)
    if test.low is None or test.high is None:
        return "undecided", test
    if test.low > bound + SAME:
        return "holds", test
    fails = test.high <= SAME if require == "better" else test.high < bound - SAME
    return "fails" if fails else "undecided", test


def unpaired_t(first: NDArray[np.float64], second: NDArray[np.float64]) -> TTest:
    r"""Test whether two runs differ as if their topics had nothing to do with each other.

    Parameters
    ----------
    first, second : ndarray of float64, shape (n_topics,)
        Scores of the two runs in as many topics; finite.

    Returns
    -------
    TTest
        ``t`` has 2 n_topics - 2 degrees of freedom.

    Notes
    -----
    .. math:: t_1 = \frac{\bar\nu_A - \bar\nu_B}{\sqrt{s_A^2 / L + s_B^2 / L}}    (Eq. 8 of [1]_)

    Supposes normal scores with equal variances. On the same topics it finds less than `paired_t`
    wherever the runs agree on which topics are hard.

    Examples
    --------
    >>> test = unpaired_t(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    >>> round(test.t, 6), test.degrees_of_freedom  # 1 / sqrt(1/3 + 1/3)
    (1.224745, 4)
    """
    if first.size < 2:
        return _too_few(first - second, LEVEL)
    difference = float(np.mean(first) - np.mean(second))
    return unpaired_t_of_moments(difference, _variance(first), _variance(second), int(first.size))


def welch_t(first: NDArray[np.float64], second: NDArray[np.float64]) -> TTest:
    r"""Test as `unpaired_t` does, without supposing equal variances (Welch 1947).

    ``t`` is that of `unpaired_t`, as both runs have as many topics; its degrees of freedom are
    :math:`(L - 1) (s_A^2 + s_B^2)^2 / (s_A^4 + s_B^4)`, from L - 1 to 2 L - 2.

    >>> test = welch_t(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 4.0]))
    >>> round(test.degrees_of_freedom, 6)  # 2 * (1 + 4)^2 / (1 + 16)
    2.941176
    """
    plain = unpaired_t(first, second)
    if plain.variance is None or plain.difference is None or plain.t is None:
        return plain
    one, other = _variance(first), _variance(second)
    degrees = (plain.n_topics - 1) * (one + other) ** 2 / (one**2 + other**2)
    return _t_test(plain.difference, plain.variance, plain.variance / 2, plain.n_topics, degrees, LEVEL)


def unpaired_t_of_moments(
    difference: float, first_variance: float, second_variance: float, n_topics: int
) -> TTest:
    """Compute `unpaired_t` from the difference of the means and each run's variance of scores, as published.

    Table 6 of [1]_, model with the variation of judgement, printed 1.0513 and 0.2956:

    >>> variances = 0.04558 + 0.00299, 0.05171 + 0.00188
    >>> test = unpaired_t_of_moments(0.32588 - 0.27973, *variances, 53)
    >>> round(test.t, 4), round(test.p, 4)
    (1.0512, 0.2956)
    """
    variance = first_variance + second_variance
    return _t_test(difference, variance, variance / 2, n_topics, 2 * n_topics - 2, LEVEL)  # Eq. 8


def _t_test(
    difference: float, variance: float, unit: float, n_topics: int, degrees_of_freedom: float, level: float
) -> TTest:
    """Divide a difference by its standard error; `unit` is the variance of the effect size."""
    from scipy.special import stdtr, stdtrit

    error = math.sqrt(variance / n_topics)
    half = float(stdtrit(degrees_of_freedom, (1 + level) / 2)) * error
    low, high = difference - half, difference + half
    t = p = p_normal = effect_size = None
    if error > 0:
        t = difference / error
        p = min(1.0, 2 * float(stdtr(degrees_of_freedom, -abs(t))))
        p_normal = normal_p(t)
        effect_size = difference / math.sqrt(unit)
    reason: TestReason | None = None if error > 0 else "no-variation"
    found = variance, low, high, t, p, p_normal, effect_size
    return TTest(reason, n_topics, degrees_of_freedom, difference, level, *found)


def _variance(scores: NDArray[np.float64]) -> float:
    """Return the sample variance of two scores or more, 0 when they are the same."""
    return 0.0 if np.ptp(scores) <= SAME else float(np.var(scores, ddof=1))


def _too_few(differences: NDArray[np.float64], level: float) -> TTest:
    if not differences.size:
        return TTest("no-topics", 0, 0, None, level)
    return TTest("one-topic", 1, 0, float(differences[0]), level)


def normal_p(z: float) -> float:
    """Return the two-sided p of a number by the normal law, to its last digit in the tails; NaN of NaN.

    >>> normal_p(1.959963984540054), normal_p(-10.0)
    (0.05..., 1.52...e-23)
    """
    return math.erfc(abs(z) / math.sqrt(2))


Reason = Literal["fewer-than-two-topics", "no-variation"]


@dataclass(frozen=True, slots=True, eq=False)
class NormalityPicture:
    """The points of figure 3 of [1]_ and the curve beside them."""

    reason: Reason | None
    """Why there is no curve; ``None`` when there is one."""
    differences: NDArray[np.float64]
    """Shape (n_topics,), ascending: the x of each point."""
    shares: NDArray[np.float64]
    """Shape (n_topics,): n / n_topics for the n-th difference, the y of each point."""
    standardised: NDArray[np.float64]
    """Shape (n_topics,), ascending: differences less their mean, in standard deviations."""
    normal: NDArray[np.float64]
    """Shape (n_topics,): the normal distribution at each difference, in [0, 1]."""
    mean: float
    standard_deviation: float
    """Over n_topics - 1; NaN with fewer than two topics."""
    largest_distance: float
    """Between steps and curve, in [0, 1]: the statistic of Kolmogorov and Smirnov. Mean and
    variance are estimated, so their tables do not hold for it; Lilliefors' do."""

    @property
    def n_topics(self) -> int:
        """Topics in the picture."""
        return int(self.differences.size)

    def curve(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the normal curve at any differences, for drawing: in [0, 1], NaN where there is none."""
        from scipy.special import ndtr

        if self.reason is not None:
            return np.full(at.shape, np.nan)
        return np.asarray(ndtr((at - self.mean) / self.standard_deviation))


def normality_picture(differences: NDArray[np.float64]) -> NormalityPicture:
    r"""Lay the distribution of differences over topics beside the normal curve.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_topics,)
        Score of the first run less score of the second, by topic; finite.

    Returns
    -------
    NormalityPicture
        Without a curve (NaN) for the reasons ``fewer-than-two-topics`` and ``no-variation``.

    Notes
    -----
    Figure 3 of [1]_: the n-th smallest difference is drawn at height n/L, beside the normal
    distribution of the same mean and sample variance. O(n_topics log n_topics).

    Examples
    --------
    Mean 2, standard deviation 1:

    >>> picture = normality_picture(np.array([3.0, 1.0, 2.0]))
    >>> picture.shares.round(3).tolist(), picture.normal.round(3).tolist()
    ([0.333, 0.667, 1.0], [0.159, 0.5, 0.841])
    >>> round(picture.largest_distance, 3)  # 1/3 - .159, and .841 - 2/3
    0.175
    """
    values = np.sort(differences)
    n_topics = values.size
    shares = np.arange(1, n_topics + 1) / max(n_topics, 1)
    mean = float(np.mean(values)) if n_topics else np.nan
    deviation = float(np.std(values, ddof=1)) if n_topics > 1 else np.nan
    reason: Reason | None = None
    standardised = normal = np.full(values.shape, np.nan)
    distance = np.nan
    if n_topics < 2 or np.ptp(values) <= SAME:
        reason = "fewer-than-two-topics" if n_topics < 2 else "no-variation"
    else:
        from scipy.special import ndtr

        standardised = (values - mean) / deviation
        normal = np.asarray(ndtr(standardised))
        above, below = shares - normal, normal - (shares - 1 / n_topics)
        distance = float(max(above.max(), below.max()))
    return NormalityPicture(reason, values, shares, standardised, normal, mean, deviation, distance)


def shapiro_wilk(rows: NDArray[np.float64]) -> list[tuple[float | None, float | None]]:
    """Test whether numbers, finite and in any order, are of a normal law, with Shapiro and Wilk's W.

    W and p, both in (0, 1], of each row of the shape (n_rows, n); ``None`` with fewer than three numbers, or
    where all are the same. SciPy's, after Royston (1995); p is an approximation above 3 numbers.

    >>> [(w, p), of_equal] = shapiro_wilk(np.array([[-1.0, 0.0, 1.0], [0.5, 0.5, 0.5]]))
    >>> round(w, 6), round(p, 6), of_equal
    (1.0, 1.0, (None, None))
    """
    found: list[tuple[float | None, float | None]] = [(None, None)] * len(rows)
    varies = np.flatnonzero(np.ptp(rows, axis=1) > SAME) if rows.shape[1] > 2 else np.zeros(0, np.int64)
    if varies.size:
        from scipy.stats import shapiro

        w, p = shapiro(rows[varies], axis=1)
        for row, *tested in zip(varies.tolist(), w.tolist(), p.tolist(), strict=True):
            found[row] = (tested[0], tested[1])
    return found
