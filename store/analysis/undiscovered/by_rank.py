r"""How likely an unjudged document is relevant, by the best rank that a run gave it.

A logistic curve in the logarithm of the rank is fitted to the judged documents: the odds of
relevance fall as a power of the rank. Pools hold what runs rank high, so that the curve mostly
extends what was seen there to ranks where nothing was judged; it is a working assumption, to be
varied, and no estimate of the documents themselves.

Where no curve fits best there is a reason, never a number:

================ ================================================================================
no-docs          no judged document was retrieved
all-irrelevant   every judged document that was retrieved is surely not relevant
all-relevant     every one is surely relevant
one-rank         all of them have the same best rank
separation       a rank parts the relevant from the others: the steeper the better
not-converged    the curve is too steep for the arithmetic
================ ================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import vector
from store.errors import ArgumentError, PoolerError

Reason = Literal["no-docs", "all-irrelevant", "all-relevant", "one-rank", "separation", "not-converged"]
_MOST_STEPS = 200
_MOST_HALVINGS = 60
_TOLERANCE = 1e-12
"""Of the last change of a logit, relative to the largest or to 1."""

_SLACK = 1e-13
"""Of a likelihood that has not fallen, but for rounding; relative."""


@dataclass(frozen=True, slots=True)
class RankCurve:
    """Probability of relevance by best rank: logit p = `intercept` + `slope` ln rank."""

    intercept: float | None
    """The logit of p at rank 1; ``None`` as are the other numbers when there is a `reason`."""
    slope: float | None
    """By how much the logit changes when the rank is multiplied by e; below 0 = p falls."""
    intercept_error: float | None
    """Standard error, above 0, from the Fisher information of independent documents."""
    slope_error: float | None
    """Likewise."""
    n_documents: int
    """Judged documents that the curve is fitted to."""
    reason: Reason | None
    """Why there is no curve; ``None`` when there is one."""

    def __call__(self, ranks: ArrayLike) -> NDArray[np.float64]:
        """Look up the probabilities, in [0, 1], of best ranks, at least 1; infinite = the limit.

        `PoolerError` if there is no curve.

        >>> RankCurve(0.0, -1.0, 0.1, 0.1, 50, None)([1, 3, np.inf]).round(10).tolist()
        [0.5, 0.25, 0.0]
        """
        if self.intercept is None or self.slope is None:
            message = f"there is no curve by rank: {self.reason}"
            raise PoolerError(message)
        logs = np.log(_checked_ranks(ranks))
        # At an infinite rank a flat curve is what it is everywhere.
        change = self.slope * logs if self.slope else np.zeros_like(logs)
        return _expit(self.intercept + change)


def rank_curve(ranks: ArrayLike, probabilities: ArrayLike) -> RankCurve:
    r"""Fit the probability of relevance to the best rank of judged documents.

    Parameters
    ----------
    ranks : array_like of float, shape (n_documents,)
        Best rank of each judged document over the runs, at least 1, of any topics. Documents of
        infinite rank, which no run retrieved, are left out.
    probabilities : array_like of float, shape (n_documents,)
        That each is relevant, in [0, 1]; each document has weight 1.

    Returns
    -------
    RankCurve
        The maximum of the likelihood below, and its standard errors, or a reason.

    Notes
    -----
    .. math:: \sum_i p_i \ln \pi(r_i) + (1-p_i) \ln (1-\pi(r_i)), \quad
       \pi(r) = 1/(1 + e^{-a} r^{-b})

    is maximised by iteratively reweighted least squares, with steps halved until it rises [1]_.
    With fractional p the estimate is that of quasi-likelihood [2]_; standard errors are those of
    judgements drawn with these probabilities, and so are rather too large. A maximum exists if and
    only if some rank has relevance both above and below it, or at it both ways [3]_; that is
    decided from the data, not from the iteration. O(n log n).

    References
    ----------
    .. [1] P. McCullagh and J. A. Nelder, *Generalized Linear Models*, 2nd ed., 1989, section 4.4.
    .. [2] L. E. Papke and J. M. Wooldridge, "Econometric methods for fractional response
       variables", *Journal of Applied Econometrics* 11(6), 619-632, 1996.
    .. [3] A. Albert and J. A. Anderson, "On the existence of maximum likelihood estimates in
       logistic regression models", *Biometrika* 71(1), 1-10, 1984.

    Examples
    --------
    Of two ranks the curve meets both means, here odds 3 and 1:

    >>> curve = rank_curve([1, 1, 1, 1, 3, 3], [1, 1, 1, 0, 1, 0])
    >>> round(float(np.exp(curve.intercept)), 10), round(curve.slope, 10)
    (3.0, -1.0)
    >>> rank_curve([1, 2, 3], [1, 1, 0]).reason
    'separation'
    """
    best = _checked_ranks(ranks)
    p = vector("probabilities", probabilities)
    if p.shape != best.shape:
        requirement = "must be as many as the ranks"
        raise ArgumentError("probabilities", requirement, f"{p.size} and {best.size}")
    if not ((p >= 0) & (p <= 1)).all():
        raise ArgumentError("probabilities", "must be from 0 to 1", p.tolist())
    p, best = p[np.isfinite(best)], best[np.isfinite(best)]
    distinct, places = np.unique(best, return_inverse=True)
    counts = _sums(places, np.ones(p.size), distinct.size)
    relevant = _sums(places, p, distinct.size)
    irrelevant = _sums(places, 1 - p, distinct.size)
    reason = _why_none(distinct, relevant, irrelevant)
    if reason is not None:
        return RankCurve(None, None, None, None, p.size, reason)
    return _fit(np.log(distinct), counts, relevant, p.size)


def _why_none(
    ranks: NDArray[np.float64], relevant: NDArray[np.float64], irrelevant: NDArray[np.float64]
) -> Reason | None:
    """Say why the likelihood has no maximum, where it has none; ranks ascend, each once."""
    if not ranks.size:
        return "no-docs"
    with_relevant, with_irrelevant = ranks[relevant > 0], ranks[irrelevant > 0]
    if not with_relevant.size:
        return "all-irrelevant"
    if not with_irrelevant.size:
        return "all-relevant"
    if ranks.size == 1:
        return "one-rank"
    is_apart = with_relevant[-1] <= with_irrelevant[0] or with_irrelevant[-1] <= with_relevant[0]
    return "separation" if is_apart else None


def _fit(
    logs: NDArray[np.float64], counts: NDArray[np.float64], relevant: NDArray[np.float64], n_documents: int
) -> RankCurve:
    """Fit documents that are grouped by rank, where the likelihood has a maximum."""
    # About the mean the two coefficients are nearly independent.
    mean = float(counts @ logs / counts.sum())
    x = logs - mean
    share = float(relevant.sum() / counts.sum())
    level, slope = float(np.log(share) - np.log1p(-share)), 0.0
    reached = _likelihood(level + slope * x, counts, relevant)
    for _ in range(_MOST_STEPS):
        fitted = _expit(level + slope * x)
        weights = counts * fitted * (1 - fitted)
        information = np.array([[weights.sum(), weights @ x], [weights @ x, weights @ (x * x)]])
        left = relevant - counts * fitted
        score = np.array([left.sum(), left @ x])
        try:
            step = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            break
        logits = np.abs(level + slope * x).max()
        is_last = np.abs(step[0] + step[1] * x).max() <= _TOLERANCE * max(logits, 1.0)
        factor = 1.0
        for _ in range(_MOST_HALVINGS):
            tried = level + factor * float(step[0]), slope + factor * float(step[1])
            found = _likelihood(tried[0] + tried[1] * x, counts, relevant)
            if is_last or found >= reached - _SLACK * (1 + abs(reached)):
                break
            factor /= 2
        else:
            break
        (level, slope), reached = tried, found
        if is_last:
            return _curve(level, slope, mean, information, n_documents)
    return RankCurve(None, None, None, None, n_documents, "not-converged")


def _curve(
    level: float, slope: float, mean: float, information: NDArray[np.float64], n_documents: int
) -> RankCurve:
    """Turn coefficients about the mean of the logarithms into those of the logarithms."""
    covariance = np.linalg.inv(information)
    of_intercept = covariance[0, 0] - 2 * mean * covariance[0, 1] + mean * mean * covariance[1, 1]
    return RankCurve(
        intercept=float(level - slope * mean),
        slope=float(slope),
        intercept_error=float(np.sqrt(of_intercept)),
        slope_error=float(np.sqrt(covariance[1, 1])),
        n_documents=n_documents,
        reason=None,
    )


def _checked_ranks(ranks: ArrayLike) -> NDArray[np.float64]:
    """Return ranks as an array; raise `ArgumentError` unless all are at least 1."""
    best = vector("ranks", ranks)
    if not (best >= 1).all():
        raise ArgumentError("ranks", "must be at least 1", float(best[~(best >= 1)][0]))
    return best


def _sums(places: NDArray[np.intp], values: NDArray[np.float64], n_places: int) -> NDArray[np.float64]:
    """Return the sum of the values at each place, shape (n_places,)."""
    return np.bincount(places, weights=values, minlength=n_places).astype(np.float64)


def _likelihood(
    logits: NDArray[np.float64], counts: NDArray[np.float64], relevant: NDArray[np.float64]
) -> float:
    """Return the logarithm of the likelihood, without overflow."""
    return float((relevant * logits - counts * np.logaddexp(0, logits)).sum())


def _expit(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn logits into probabilities, without overflow."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1 / (1 + small), small / (1 + small))
