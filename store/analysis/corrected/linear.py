r"""P, RBP, DCG: the difference estimator and its variance.

A score that is linear in gains, :math:`\sum_d w_d y_d`, is estimated from a prediction x of every gain and
people's gains y of the sample s, in which document d is with probability :math:`\pi_d` [1]_:

.. math:: \hat\theta = \sum_U w_d x_d + \sum_s w_d (y_d - x_d) / \pi_d

It is unbiased for every x that does not depend on the sample. x = 0 is Horvitz and Thompson's estimator, from
people alone; x = m, the model's gain, is prediction-powered inference [2]_. Here the judged documents belong
to the population, so the first sum is exact.

References
----------
.. [1] C. E. Sarndal, B. Swensson and J. Wretman, *Model Assisted Survey Sampling*, 1992, 6.3.
.. [2] A. N. Angelopoulos et al., "Prediction-powered inference", *Science* 382, 2023,
   doi:10.1126/science.adi6000.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.analysis.corrected.drawn import Drawn
from store.analysis.measures.average_precision import mean_average_precision, quotient

NORMAL = 1.96
"""Standard errors to each side of an interval of 95 %."""


def difference_scores(
    expected: NDArray[np.float64], weights: NDArray[np.float64], residuals: NDArray[np.float64], sample: Drawn
) -> NDArray[np.float64]:
    """Estimate scores by topic.

    Parameters
    ----------
    expected : ndarray of float64, shape (n_runs, n_topics)
        Scores with the predictions as gains.
    weights : ndarray of float64, shape (n_runs, n_judged)
        Of the judged documents in each run; 0 where it does not have them.
    residuals : ndarray of float64, shape (n_judged,)
        People's gains less the predictions.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_runs, n_topics)
        May be outside the range of the measure. O(n_runs n_judged).

    Examples
    --------
    Eight documents; people 1 0 1 0 1 0 0 0, the model 1 1 1 1 0 0 0 0; P@5 of the run d1 d5 d2 d6 d3. Of two
    strata d1, d2 and d5, d7 are judged; expected 3/5, residuals 0, -1, 1, 0, each for two documents:

    >>> from store.analysis.corrected.drawn import drawn
    >>> judged = np.isin(np.arange(1, 9), [1, 2, 5, 7])
    >>> sample = drawn(np.zeros(8, int), np.repeat([0, 1], 4), judged)
    >>> weights, residuals = np.array([[0.2, 0.2, 0.2, 0.0]]), np.array([0.0, -1.0, 1.0, 0.0])
    >>> difference_scores(np.array([[0.6]]), weights, residuals, sample).round(12).tolist()
    [[0.6]]
    """
    scores = np.array(expected, dtype=np.float64)
    if sample.judged.size:
        of_judged = sample.topics[sample.judged]
        starts = np.flatnonzero(np.diff(of_judged, prepend=-1))
        changes = np.add.reduceat(weights * (residuals / sample.inclusion), starts, axis=1)
        scores[:, of_judged[starts]] += changes
    return scores


def covariances(values: NDArray[np.float64], sample: Drawn) -> NDArray[np.float64]:
    r"""Estimate the covariances of sums over a population, from stratified simple random samples.

    Parameters
    ----------
    values : ndarray of float64, shape (n_sums, n_judged)
        What each judged document adds; for `difference_scores` weights x residuals.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_sums, n_sums)
        :math:`\sum_c N_c^2 (1 - n_c/N_c) / n_c` times the covariance within stratum c, with divisor
        :math:`n_c - 1`. Strata that are judged whole add nothing. All NaN where a stratum of several
        documents has fewer than two judged. O(n_sums^2 n_judged).

    Examples
    --------
    As above, 4^2 (1 - 2/4) / 2 = 4 a stratum; of 0, -.2 and of .2, 0 the variance is .02:

    >>> from store.analysis.corrected.drawn import drawn
    >>> judged = np.isin(np.arange(1, 9), [1, 2, 5, 7])
    >>> sample = drawn(np.zeros(8, int), np.repeat([0, 1], 4), judged)
    >>> covariances(np.array([[0.0, -0.2, 0.2, 0.0]]), sample).round(12).tolist()
    [[0.16]]
    """
    found = np.zeros((len(values), len(values)))
    for rows, factor in _parts(sample):
        if rows.size < 2:
            return np.full(found.shape, np.nan)
        part = values[:, rows] - values[:, rows].mean(axis=1, keepdims=True)
        found += factor / (rows.size - 1) * (part @ part.T)
    return found


def _parts(sample: Drawn) -> list[tuple[NDArray[np.int64], float]]:
    """Return columns of the judged documents of every stratum not judged whole, and its factor k."""
    of_judged = sample.strata[sample.judged]
    order = np.argsort(of_judged, kind="stable")
    ends = np.cumsum(sample.counts)
    parts = []
    for stratum in np.flatnonzero(sample.counts < sample.sizes).tolist():
        n, size = int(sample.counts[stratum]), int(sample.sizes[stratum])
        factor = size * (size - n) / n if n else np.inf
        parts.append((order[ends[stratum] - n : ends[stratum]], factor))
    return parts


def topic_interval(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the t interval of 95 % of means over topics: of these and other topics like them.

    Parameters
    ----------
    scores : ndarray of float64, shape (..., n_topics)
        By topic; NaN = undefined, and left out.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        NaN with fewer than two topics.

    Examples
    --------
    Mean 2, standard error 1 / sqrt(3), t of 2 degrees of freedom 4.302653:

    >>> [limit.round(4).tolist() for limit in topic_interval(np.array([[1.0, 2.0, 3.0]]))]
    [[-0.4841], [4.4841]]
    """
    from scipy.special import stdtrit

    mean, n = mean_average_precision(scores)
    variance = quotient(np.nansum((scores - mean[..., None]) ** 2, axis=-1), n * (n - 1.0))
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * np.sqrt(variance)
    return mean - half, mean + half
