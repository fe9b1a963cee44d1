r"""Whether runs are told apart by their topics: generalizability of runs x topics, crossed.

A score is a mean, plus what its run adds, plus what its topic adds, plus a residual; each is a draw from a
population, of runs, of topics, of both. How much of a mean score's variance is the runs' own says how far
the order of the runs, or their scores, would be the same with other topics.

Reasons for having no number: ``fewer-than-three-runs``, ``fewer-than-three-topics``, and ``no-residual``
where every topic only shifts the scores of all runs alike, so that nothing is left to measure chance by.

References
----------
.. [1] R. L. Brennan, *Generalizability Theory*, Springer, 2001, doi:10.1007/978-1-4757-3456-0.
.. [2] J. Urbano, M. Marrero and D. Martín, "On the measurement of test collection reliability", *SIGIR* 2013,
   393-402, doi:10.1145/2484028.2484038.
.. [3] C. Arteaga, S. Jeyaratnam and G. A. Franklin, "Confidence intervals for proportions of total variance
   in the two-way cross component of variance model", *Communications in Statistics - Theory and Methods*
   11(15), 1643-1658, 1982.
.. [4] L. S. Feldt, "The approximate sampling distribution of Kuder-Richardson reliability coefficient
   twenty", *Psychometrika* 30, 357-370, 1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.significance.t_tests import SAME

GeneralizabilityReason = Literal["fewer-than-three-runs", "fewer-than-three-topics", "no-residual"]
LEAST = 3
"""Runs and topics below which components are not estimated."""


class Limited(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


_NO_NUMBER = Limited(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Dependable:
    """A coefficient of reliability, for any number of topics: what that of one topic is."""

    one: Limited
    """With one topic, in [0, 1]."""

    def at(self, n_topics: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the coefficient of so many topics, and its limits, each in [0, 1] and of the same shape.

        >>> [round(float(one), 4) for one in Dependable(Limited(0.5, 0.2, 0.8)).at(4)]
        [0.8, 0.5, 0.9412]
        """
        n = np.asarray(n_topics, dtype=np.float64)
        value, low, high = (np.asarray(n * one / (1 + (n - 1) * one)) for one in self.one)
        return value, low, high

    def needed(self, target: float) -> tuple[int | None, int | None, int | None]:
        """Return how many topics reach a coefficient, and the limits of that number.

        `target`: above 0 and below 1. ``None`` = no number of topics does.

        >>> Dependable(Limited(0.5, 0.0, 0.8)).needed(0.9)
        (9, 3, None)
        """
        value, most, least = (_topics(one, target) for one in self.one)
        return value, least, most


def _topics(one: float, target: float) -> int | None:
    if one <= 0:
        return None
    needed = target * (1 - one) / (one * (1 - target))
    return max(1, math.ceil(needed - 1e-9 * max(1.0, needed)))


@dataclass(frozen=True, slots=True)
class ScoreComponents:
    """Where the variance of scores comes from."""

    n_runs: int
    n_topics: int
    mean_squares: tuple[float, float, float]
    """Of runs, of topics, of the residual; at least 0."""
    reason: GeneralizabilityReason | None
    """Why there are no estimates, so that every number below is NaN; ``None`` = there are."""

    @property
    def freedom(self) -> tuple[int, int, int]:
        """Degrees of freedom of runs, topics and residual."""
        runs, topics = self.n_runs - 1, self.n_topics - 1
        return runs, topics, runs * topics

    @property
    def variances(self) -> tuple[float, float, float]:
        """Of runs, of topics, of the residual, at least 0: see `score_components`."""
        if self.reason is not None:
            return math.nan, math.nan, math.nan
        runs, topics, residual = self.mean_squares
        return max(0.0, runs - residual) / self.n_topics, max(0.0, topics - residual) / self.n_runs, residual

    def order(self, alpha: float = 0.05) -> Dependable:
        r"""Return :math:`E\rho^2`, the reliability of the order of the runs.

        It is :math:`v_s / (v_s + v_e / n)` with n topics; the interval, which covers 1 - alpha, is Feldt's
        [4]_: with :math:`F_x` the quantile of F, :math:`r = (MS_s / (MS_e F_x) - 1) / n_q` and
        :math:`n r / (1 + n r)`.
        """
        tails = _tails(alpha)
        if self.reason is not None:
            return Dependable(_NO_NUMBER)
        from scipy.special import fdtri

        runs, _, left = self.mean_squares
        ratios = [(runs / (left * fdtri(self.freedom[0], self.freedom[2], 1 - one)) - 1) for one in tails]
        low, high = (max(0.0, ratio) / (self.n_topics + max(0.0, ratio)) for ratio in ratios)
        of_runs, _, residual = self.variances
        return Dependable(Limited(of_runs / (of_runs + residual), low, high))

    def level(self, alpha: float = 0.05) -> Dependable:
        r"""Return :math:`\Phi`, the reliability of the scores themselves.

        It is :math:`v_s / (v_s + (v_q + v_e) / n)` with n topics; the interval, which covers 1 - alpha, is
        that of Arteaga, Jeyaratnam and Franklin [3]_, as in [2]_.
        """
        tails = _tails(alpha)
        if self.reason is not None:
            return Dependable(_NO_NUMBER)
        from scipy.special import chdtri, fdtri

        runs, topics, left = self.mean_squares
        first, second, rest = self.freedom
        limits = []
        for tail in tails:
            many = chdtri(first, tail) / first  # F with infinitely many degrees of freedom below
            of_rest, of_topics = fdtri(first, rest, 1 - tail), fdtri(first, second, 1 - tail)
            above = runs**2 - many * runs * left + (many - of_rest) * of_rest * left**2
            y = above / (first * many * runs * left + of_topics * runs * topics)
            limits.append(min(1.0, max(0.0, self.n_runs * y / (self.n_runs * y + self.n_topics))))
        of_runs, of_topics, residual = self.variances
        return Dependable(Limited(of_runs / (of_runs + of_topics + residual), *limits))


def score_components(scores: NDArray[np.float64]) -> ScoreComponents:
    r"""Estimate what runs, topics and their residual add to the variance of scores.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        Every run's score in every topic; finite.

    Returns
    -------
    ScoreComponents
        With a reason instead of numbers where there are fewer than three runs or topics, or no residual.

    Notes
    -----
    From the mean squares of the two-way table without replication, :math:`v_s = (MS_s - MS_e)/n_q,\
    v_q = (MS_q - MS_e)/n_s,\ v_e = MS_e` (section 3.4 of [1]_); an estimate below 0 is 0. Runs of one
    collection are no random sample of systems: the weak assumption. O(n_runs n_topics).

    Examples
    --------
    Means of runs and of topics are .2 .4 .4; the squares of the nine residuals add up to .04.

    >>> found = score_components(np.array([[0.1, 0.3, 0.2], [0.2, 0.4, 0.6], [0.3, 0.5, 0.4]]))
    >>> [round(one, 6) for one in found.mean_squares]
    [0.04, 0.04, 0.01]
    """
    values = np.asarray(scores, dtype=np.float64)
    n_runs, n_topics = values.shape
    if n_runs < LEAST or n_topics < LEAST:
        why: GeneralizabilityReason = "fewer-than-three-runs" if n_runs < LEAST else "fewer-than-three-topics"
        return ScoreComponents(n_runs, n_topics, (math.nan, math.nan, math.nan), why)
    of_runs, of_topics = values.mean(axis=1), values.mean(axis=0)
    residuals = values - of_runs[:, None] - of_topics + values.mean()
    squares = (
        n_topics * float(of_runs.var(ddof=1)),
        n_runs * float(of_topics.var(ddof=1)),
        float((residuals**2).sum()) / ((n_runs - 1) * (n_topics - 1)),
    )
    is_flat = bool(np.abs(residuals).max() <= SAME)
    return ScoreComponents(n_runs, n_topics, squares, "no-residual" if is_flat else None)


def order_on_new_topics(
    scores: NDArray[np.float64], n_topics: ArrayLike, components: ScoreComponents
) -> NDArray[np.float64]:
    r"""Compute for every two runs how likely the first is above with a new set of topics.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        As in `score_components`.
    n_topics : int or array of int, shape (...)
        How many new ones; infinity = the true order.
    components : ScoreComponents
        Of these scores.

    Returns
    -------
    ndarray of float64, shape (..., n_runs, n_runs)
        The row above the column, in [0, 1]; 1/2 on the diagonal. NaN where the components have a reason.

    Notes
    -----
    The runs are taken as a sample of systems whose true means vary by :math:`v_s`, so that the difference d
    seen over L topics is on average too large. With :math:`s^2` the variance of the differences of the two
    runs by topic and :math:`w = 2 v_s / (2 v_s + s^2 / L)`, the difference over n new topics has the mean w d
    and the variance :math:`w s^2 / L + s^2 / n`; its law is taken as Student's with L - 1 degrees of freedom.
    O(n_runs^2 n_topics). No source has it: simulation says how good it is.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.3, 0.2], [0.2, 0.4, 0.6], [0.3, 0.5, 0.4]])
    >>> above = order_on_new_topics(scores, 3, score_components(scores))
    >>> bool(above[1, 0] > 0.5), float(above[0, 0]), bool(np.isclose(above[0, 1] + above[1, 0], 1))
    (True, 0.5, True)
    """
    values = np.asarray(scores, dtype=np.float64)
    new = np.asarray(n_topics, dtype=np.float64)[..., None, None]
    n_runs, n_seen = values.shape
    if components.reason is not None:
        return np.full((*new.shape[:-2], n_runs, n_runs), math.nan)
    from scipy.special import stdtr

    mean = values.mean(axis=1)
    covariance = np.cov(values)
    own = covariance.diagonal()
    spread = np.maximum(own[:, None] + own - 2 * covariance, 0.0)
    spread[spread <= SAME**2] = 0.0
    true = 2 * components.variances[0]
    if true == 0:
        return np.full((*new.shape[:-2], n_runs, n_runs), 0.5)
    shrunk = true / (true + spread / n_seen)
    difference = shrunk * (mean[:, None] - mean)
    deviation = np.sqrt(shrunk * spread / n_seen + spread / new)
    certain = np.where(np.abs(difference) <= SAME, 0.0, np.copysign(np.inf, difference))
    t = np.divide(
        difference, deviation, out=np.broadcast_to(certain, deviation.shape).copy(), where=deviation > 0
    )
    return np.asarray(stdtr(n_seen - 1, t))


def _tails(alpha: float) -> tuple[float, float]:
    """Return the upper tails of the quantiles for the lower and the upper limit."""
    return alpha / 2, 1 - alpha / 2
