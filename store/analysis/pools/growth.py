"""What each depth brought, and what lies deeper.

A document enters the depth-k pool at its best rank in any run. Where the relevant documents that each further
depth brings fall off slowly, the pool missed many; a power law fitted to them gives a number [1]_.

References
----------
.. [1] J. Zobel, "How reliable are the results of large-scale information retrieval experiments?", *SIGIR*
   1998, 307-314, doi:10.1145/290941.291014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.pools.contributions import best_ranks
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, JudgedRankings

Reason = Literal["fewer-than-three-depths", "no-relevant", "not-falling", "pool-unjudged"]
"""Why there is no number: too few depths to tell a line from chance, nothing relevant at any, or new relevant
documents that do not grow fewer with depth, so that a sum to any depth says nothing. Of a whole diagnosis
also: too much of the pool is unjudged, or it is not all of the first documents of its runs."""

N_DRAWS = 2000
"""Draws of the parametric bootstrap."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstRetrievals:
    """Documents by the best rank that any run gives them; axis 1 is the depth less 1."""

    topics: tuple[str, ...]
    documents: NDArray[np.int64]
    """Shape (n_topics, width): documents that enter the pool at each depth."""
    judged: NDArray[np.int64]
    """Shape (n_topics, width): of them, the judged ones."""
    relevant: NDArray[np.int64]
    """Shape (n_topics, width): of them, the relevant ones."""


def first_retrievals(rankings: JudgedRankings) -> FirstRetrievals:
    """Count documents by the depth at which the first run retrieves them.

    For every depth up to the width of the rankings, whose runs should all have fed the pool; O(their size).

    Documents 1 and 2 stand first; 3 is second in run `b`; 4, which no run returned, is relevant:

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2, 3]), ("b", "t"): np.array([2, 3])}
    >>> grades = {"t": (np.array([2, 3, 4]), np.array([False, True, True]))}
    >>> first = first_retrievals(judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10))
    >>> first.documents.tolist(), first.judged.tolist(), first.relevant.tolist()
    ([[2, 1, 0]], [[1, 1, 0]], [[0, 1, 0]])
    """
    n_topics, width = rankings.documents.shape[1:]
    counts = np.zeros((3, n_topics, width), dtype=np.int64)
    for topic, states in enumerate(rankings.states):
        depths = best_ranks(rankings.documents[:, topic], states.size)
        kinds = (np.True_, states >= NOT_RELEVANT, states == RELEVANT)
        for row, of_kind in enumerate(kinds):
            entering = depths[(depths > 0) & of_kind]
            counts[row, topic] = np.bincount(entering, minlength=width + 1)[1:]
    return FirstRetrievals(rankings.topics, *counts)


@dataclass(frozen=True, slots=True)
class GrowthFit:
    """A power law of new relevant documents by depth, fitted on logarithms."""

    log_scale: float
    """ln C."""
    exponent: float
    """s; negative where new relevant documents grow fewer."""
    log_scale_error: float
    """Standard error of ln C, at least 0."""
    exponent_error: float
    """Standard error of s, at least 0."""
    covariance: float
    """Of the two."""
    residual: float
    """Standard deviation of ln(n_i + 1) about the line, with n_depths - 2 degrees of freedom; at least 0."""
    n_depths: int
    """k: depths fitted, from 1."""

    def expected(self, first: int, last: int) -> float:
        """Return the new relevant documents from one depth, at least 1, to another; both count.

        The sum of ``max(0, C i**s - 1)``; 0 where `last` is below `first`.
        """
        depths = np.arange(first, last + 1, dtype=np.float64)
        curve = np.exp(self.log_scale + self.exponent * np.log(depths)) - 1
        return float(np.sum(np.maximum(0.0, curve)))


class Growth(NamedTuple):
    """A fit, or why there is none."""

    fit: GrowthFit | None
    reason: Reason | None = None
    """``fewer-than-three-depths`` or ``no-relevant``; ``None`` with a fit."""


def fit_growth(new_relevant: ArrayLike) -> Growth:
    r"""Fit a power law to the relevant documents that each depth of a pool brings.

    `new_relevant`, shape (n_depths,), are n_1, n_2, ..., n_k, at least 0, as a rule summed over the topics.
    Every depth must have been judged whole: one that was not looks like one that brings little. On the curve
    n_i = C i^s - 1 a depth without a new document can lie, too.

    .. math:: \ln(n_i + 1) = \ln C + s \ln i    (after [1]_)

    is fitted by least squares, with the usual standard errors of its two coefficients. They take the
    logarithms to be spread about the line independently and equally widely. Counts are not: small ones spread
    more, so with few documents a depth the errors are a rough guide. O(n_depths).

    A power law without chance is found again:

    >>> growth = fit_growth([60 * i**-0.5 - 1 for i in range(1, 101)])
    >>> round(math.exp(growth.fit.log_scale), 9), round(growth.fit.exponent, 9)
    (60.0, -0.5)
    >>> fit_growth([3, 1])
    Growth(fit=None, reason='fewer-than-three-depths')
    """
    counts = np.asarray(new_relevant, dtype=np.float64)
    if counts.size < 3:
        return Growth(None, "fewer-than-three-depths")
    if not counts.any():
        return Growth(None, "no-relevant")
    x = np.log(np.arange(1, counts.size + 1))
    y = np.log(counts + 1)
    shifted = x - x.mean()
    spread = float(shifted @ shifted)
    exponent = float(shifted @ y) / spread
    log_scale = float(y.mean() - exponent * x.mean())
    rest = y - log_scale - exponent * x
    variance = float(rest @ rest) / (counts.size - 2)
    of_exponent = variance / spread
    fit = GrowthFit(
        log_scale=log_scale,
        exponent=exponent,
        log_scale_error=math.sqrt(variance / counts.size + of_exponent * float(x.mean()) ** 2),
        exponent_error=math.sqrt(of_exponent),
        covariance=-of_exponent * float(x.mean()),
        residual=math.sqrt(variance),
        n_depths=counts.size,
    )
    return Growth(fit)


@dataclass(frozen=True, slots=True)
class MissedRelevant:
    """Relevant documents supposed below the depth of a pool."""

    depth: int
    """k: depth of the pool, judged whole."""
    to_depth: int
    """K: depth that is extrapolated to."""
    expected: float | None
    """Relevant documents that the curve has at the depths k+1..K; ``None`` = see `reason`."""
    low: float | None
    """Lower end of the prediction interval of what these depths hold."""
    high: float | None
    """Its upper end; infinite where so few depths were fitted that draws overflow."""
    n_known: int
    """Relevant documents at these depths that were judged all the same."""
    n_unjudged: int
    """Unjudged documents that the rankings have at these depths, as far as they reach: where they
    reach to K, no more can be missed."""
    reason: Reason | None = None
    """Why there is no number; ``None`` when there is one."""


def missed_relevant(
    first: FirstRetrievals,
    *,
    depth: int,
    to_depth: int,
    coverage: float = 0.95,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> MissedRelevant:
    """Extrapolate how many relevant documents lie below a pool, by Zobel's power law.

    **A wide caution.** This is a guess about unseen documents. It takes the law that held down
    to the pool's depth to hold below it; the relevant documents of single topics run out, and then it does
    not. It knows of no end: it may promise more documents than there are unjudged ones. It speaks of these
    runs only: what none of them retrieves to depth K is not in it. Judges who grow stricter, or tired,
    towards the end of a pool look like a falling curve. The interval allows for the chance about the curve
    and in its two coefficients, and for none of this. So it says whether a pool is likely to have missed tens
    or thousands of relevant documents, and must never stand in the place of R.

    Parameters
    ----------
    first : FirstRetrievals
        Of the runs that fed the pool. Counts are added up over the topics.
    depth : int
        k, to which every document of these runs was judged; from 1 to the width.
    to_depth : int
        K, above `depth`; runs are taken to go so deep.
    coverage : float, default=0.95
        Of the prediction interval, in (0, 1).
    n_draws : int, default=2000
        Draws of the bootstrap, at least 100.
    seed : int, default=0

    Returns
    -------
    MissedRelevant
        Estimate and interval; ``None`` with the reason where nothing could be fitted, and with
        ``not-falling`` where the exponent is 0 or above.

    Notes
    -----
    The interval is a parametric bootstrap of the regression: in each draw the residual variance comes from
    its scaled chi-square distribution, the two coefficients from their joint normal distribution with this
    variance, and every depth gets an error of its own; the ends are quantiles of the sums. The sum is one of
    exponentials, cut off at 0: skewed and never negative, which the delta method, symmetric about the
    estimate, would not show. The estimate is the curve itself, as published; since errors are on logarithms,
    the mean of the draws lies above it. O(n_draws (to_depth - depth)) time, and memory for a part of it.

    Examples
    --------
    >>> relevant = np.array([[30, 14, 11, 7, 6, 5, 4, 4, 3, 4]])
    >>> first = FirstRetrievals(("t",), relevant, relevant, relevant)
    >>> missed = missed_relevant(first, depth=10, to_depth=100)
    >>> missed.expected == fit_growth(relevant[0]).fit.expected(11, 100)
    True
    >>> missed.low < missed.expected < missed.high
    True
    """
    counts = first.relevant.sum(axis=0)
    below = slice(depth, to_depth)
    n_known = int(counts[below].sum())
    n_unjudged = int((first.documents - first.judged)[:, below].sum())
    growth = fit_growth(counts[:depth])
    reason = growth.reason
    if growth.fit is not None and growth.fit.exponent >= 0:
        reason = "not-falling"
    if growth.fit is None or reason is not None:
        return MissedRelevant(depth, to_depth, None, None, None, n_known, n_unjudged, reason)
    sums = _drawn_sums(growth.fit, to_depth, n_draws, seed)
    ends = [(1 - coverage) / 2, (1 + coverage) / 2]
    low, high = np.quantile(sums, ends, method="inverted_cdf").tolist()
    expected = growth.fit.expected(depth + 1, to_depth)
    return MissedRelevant(depth, to_depth, expected, low, high, n_known, n_unjudged)


def _drawn_sums(fit: GrowthFit, to_depth: int, n_draws: int, seed: int) -> NDArray[np.float64]:
    """Draw the relevant documents below the depths fitted, shape (n_draws,)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    freedom = fit.n_depths - 2
    widen = np.sqrt(freedom / rng.chisquare(freedom, n_draws))
    covariance = [[fit.log_scale_error**2, fit.covariance], [fit.covariance, fit.exponent_error**2]]
    shifts = rng.multivariate_normal([0.0, 0.0], covariance, n_draws, method="eigh")
    log_scale = fit.log_scale + widen * shifts[:, 0]
    exponent = fit.exponent + widen * shifts[:, 1]
    logs = np.log(np.arange(fit.n_depths + 1, to_depth + 1))
    sums = np.empty(n_draws)
    for start in range(0, n_draws, 100):
        part = slice(start, start + 100)
        line = log_scale[part, None] + exponent[part, None] * logs
        line += fit.residual * widen[part, None] * rng.standard_normal(line.shape)
        with np.errstate(over="ignore"):
            sums[part] = np.sum(np.maximum(0.0, np.exp(line) - 1), axis=1)
    return sums
