r"""How many topics a test or an interval needs, and what so many topics can show.

Two designs: the paired t test of two runs, and the one-way analysis of variance of `n_runs` runs, which takes
their scores as independent and so asks for more topics than a test of the same topics would. Differences are
in standard deviations: of the differences of two runs by topic, or, with `n_runs`, of the scores of one run.

References
----------
.. [1] T. Sakai, "Topic set size design", *Information Retrieval Journal* 19(3), 256-283, 2016,
   doi:10.1007/s10791-015-9273-z.
.. [2] Y. Nagata, *How to Design the Sample Size* (in Japanese), Asakura Shoten, 2003.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from store.analysis.significance.t_tests import SAME
from store.errors import ArgumentError

POWER = 0.8
"""Probability of a significant result, unless another is asked for."""
MOST_TOPICS = 1_000_000
"""A design that needs more has no number."""
_REACH = 12.0
"""Standard deviations of a Poisson variable beyond which nothing is."""


def power_of(n_topics: int, effect: float, *, n_runs: int | None = None, alpha: float = 0.05) -> float:
    r"""Compute how likely a true difference is found significant.

    Parameters
    ----------
    n_topics : int
        n, at least 2.
    effect : float
        The true difference in standard deviations, at least 0: of two runs, or with `n_runs` of the best and
        the worst run, all others halfway between, which is the least favourable case.
    n_runs : int, optional
        m, from 2: an analysis of variance; default the paired t test.
    alpha : float, default=0.05
        Level of significance, two-sided; between 0 and 1.

    Returns
    -------
    float
        In [alpha, 1].

    Notes
    -----
    .. math:: P\{F' > F_{1-\alpha;\,\phi_1,\phi_2}\},\qquad
              F' = \sum_j \mathrm{Poisson}(j; \lambda/2)\,\text{-mixture of}\ F

    with the noncentral F of :math:`\phi_1 = 1,\ \phi_2 = n - 1,\ \lambda = n\,effect^2` for t squared, and
    :math:`\phi_1 = m - 1,\ \phi_2 = m (n - 1),\ \lambda = n\,effect^2 / 2` for the analysis of variance
    (sections 3.1 and 3.2 of [1]_). The mixture is added up term by term, right to some 1e-13.

    Examples
    --------
    >>> round(power_of(34, 0.5), 4), round(power_of(64, 0.5, n_runs=2), 4)
    (0.8078, 0.8015)
    """
    from scipy.special import betainc, betaincinv, gammaln, xlogy

    first, second, shift = 1.0, n_topics - 1.0, n_topics * effect**2
    if n_runs is not None:
        first, second, shift = n_runs - 1.0, n_runs * (n_topics - 1.0), shift / 2
    # The upper tail of F is a lower tail of the beta distribution, so that nothing cancels.
    limit = betaincinv(second / 2, first / 2, alpha)
    mean = shift / 2
    reach = _REACH * math.sqrt(mean) + 60
    j = np.arange(max(0, math.floor(mean - reach)), math.ceil(mean + reach) + 1)
    weights = np.exp(xlogy(j, mean) - mean - gammaln(j + 1))
    return min(1.0, float(weights @ betainc(second / 2, first / 2 + j, limit)))


def topics_for_power(
    effect: float, *, n_runs: int | None = None, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Compute the least number of topics that finds a difference.

    Parameters
    ----------
    effect, n_runs, alpha
        As in `power_of`.
    power : float, default=0.8
        Wanted probability of a significant result, above `alpha` and below 1.

    Returns
    -------
    int or None
        At least 2; ``None`` = more than `MOST_TOPICS`, as for an effect of 0.

    Examples
    --------
    >>> [topics_for_power(effect) for effect in (0.1, 0.2, 0.5, 1.0)]
    [787, 199, 34, 10]
    >>> topics_for_power(0.5, n_runs=10)
    127
    """
    _check_power(power, alpha)
    return least_topics(lambda n: power_of(n, effect, n_runs=n_runs, alpha=alpha) >= power)


def detectable_effect(
    n_topics: int, *, n_runs: int | None = None, alpha: float = 0.05, power: float = POWER
) -> float:
    """Compute the least difference that so many topics find, with the arguments of `topics_for_power`.

    Above 0, in standard deviations as `effect` of `power_of`; right to 12 digits.

    >>> [round(detectable_effect(n), 4) for n in (8, 30, 50)]
    [1.156, 0.5292, 0.4042]
    """
    _check_power(power, alpha)
    low, high = 0.0, 1.0
    while power_of(n_topics, high, n_runs=n_runs, alpha=alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        is_enough = power_of(n_topics, middle, n_runs=n_runs, alpha=alpha) >= power
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def expected_width(n_topics: int, *, alpha: float = 0.05) -> float:
    r"""Compute how wide the t interval of a mean difference is on average.

    Parameters
    ----------
    n_topics : int
        n, at least 2.
    alpha : float, default=0.05
        The interval covers 1 - alpha; between 0 and 1.

    Returns
    -------
    float
        Both sides together, in standard deviations of the differences by topic.

    Notes
    -----
    .. math:: 2\, t_{1-\alpha/2,\,n-1}\, \frac{1}{\sqrt n} \sqrt{\frac{2}{n-1}}\,
              \frac{\Gamma(n/2)}{\Gamma((n-1)/2)}

    The last two factors are what a sample standard deviation is on average (section 3.3 of [1]_).

    Examples
    --------
    A variance of .05, 78 and 79 topics: the second is below .1.

    >>> [round(0.05**0.5 * expected_width(n), 6) for n in (78, 79)]
    [0.100504, 0.09985]
    """
    from scipy.special import stdtrit

    bias = math.exp(math.lgamma(n_topics / 2) - math.lgamma((n_topics - 1) / 2)) * math.sqrt(
        2 / (n_topics - 1)
    )
    return float(2 * stdtrit(n_topics - 1, 1 - alpha / 2) * bias / math.sqrt(n_topics))


def topics_for_width(width: float, *, alpha: float = 0.05) -> int | None:
    """Compute the least number of topics whose interval is expected to be no wider.

    `width`, above 0 and finite, is in standard deviations of the differences by topic; `alpha` as in
    `expected_width`. At least 2; ``None`` = more than `MOST_TOPICS`.

    >>> [topics_for_width(0.1 / variance**0.5) for variance in (0.05, 0.0211, 0.1)]
    [79, 35, 156]
    """
    return least_topics(lambda n: expected_width(n, alpha=alpha) <= width)


def score_variance(scores: NDArray[np.float64]) -> float:
    r"""Compute the variance of scores within runs, as designs take it from a pilot.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        Finite; at least one run and two topics.

    Returns
    -------
    float
        :math:`V_{E1} = \sum_{rh} (x_{rh} - \bar x_r)^2 / (m (n - 1))`, the mean over runs of the variance
        over topics (section 3.4 of [1]_). Twice as much is what the difference of two runs would have were
        their scores independent, which is too much for runs that find the same topics hard.

    Examples
    --------
    >>> round(score_variance(np.array([[0.1, 0.3], [0.2, 0.2]])), 6)  # .02 and 0
    0.01
    """
    varies = np.ptp(scores, axis=1) > SAME
    return float(np.where(varies, scores.var(axis=1, ddof=1), 0.0).mean())


def least_topics(is_enough: Callable[[int], bool]) -> int | None:
    """Return the least number of topics, from 2, that is enough, as all above it are.

    ``None`` = more than `MOST_TOPICS` are needed.

    >>> least_topics(lambda n: n >= 30), least_topics(lambda n: False)
    (30, None)
    """
    low, high = 1, 2
    while not is_enough(high):
        if high == MOST_TOPICS:
            return None
        low, high = high, min(2 * high, MOST_TOPICS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise ArgumentError("power", f"must be above alpha, {alpha:g}, and below 1", power)
