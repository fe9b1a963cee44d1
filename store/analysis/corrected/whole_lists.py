"""AP and nDCG from a sample: what is not linear in the gains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.analysis.corrected.drawn import Drawn

LEAST_EXPECTED = 0.25
"""Of the relevant documents that the predictions expect, the share that AP is divided by at least."""


def corrected_precision(
    places: NDArray[np.int32],
    predicted: NDArray[np.float64],
    relevant: NDArray[np.float64],
    sample: Drawn,
    *,
    is_cut: bool = True,
) -> NDArray[np.float64]:
    r"""Estimate average precision.

    Parameters
    ----------
    places : ndarray of int32, shape (n_runs, n_topics, width)
        In rank order, the place of a document among those of its topic; below 0 = not in it.
    predicted : ndarray of float64, shape (n_documents,)
        Prediction of each document's relevance.
    relevant : ndarray of float64, shape (n_judged,)
        People's, 0 or 1.
    sample : Drawn
    is_cut : bool, optional
        Whether to keep scores within [0, 1], and the divisor away from 0.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_topics)
        NaN where the divisor is 0.

    Notes
    -----
    With :math:`u_d = [d \in s] (y_d - x_d) / \pi_d`, :math:`z_d = x_d + u_d`, k the rank, and
    :math:`c_{de} = \pi_d \pi_e / \pi_{de}` (`Drawn.joint` within a stratum, else 1),

    .. math::

        \hat Q = \sum_d z_d / k_d + \sum_{e\,above\,d}
                 [z_d z_e + (c_{de} - 1) u_d u_e] / k_d, \quad \hat R = \sum z,
        \quad \widehat{AP} = \hat Q / \max(\hat R, \textstyle\sum x / 4)

    cut to [0, 1]. Q-hat and R-hat are unbiased for every x that does not depend on the sample. Where a topic
    is judged whole, the divisor is R and AP-hat is AP. O(n_runs width) for each stratum of a topic.

    Examples
    --------
    Four documents in rank order, relevant 1 0 1 1, the model 1 1 0 1; a and b judged: Q-hat 1/4, R-hat 1.

    >>> from store.analysis.corrected.drawn import drawn
    >>> sample = drawn(np.zeros(4, int), np.zeros(4, int), np.array([True, True, False, False]))
    >>> order, model = np.arange(4, dtype=np.int32).reshape(1, 1, 4), np.array([1.0, 1.0, 0.0, 1.0])
    >>> corrected_precision(order, model, np.array([1.0, 0.0]), sample).tolist()
    [[0.25]]
    """
    n_runs, n_topics, width = places.shape
    ranks = np.arange(1, width + 1)
    residuals = np.zeros(sample.topics.size)
    residuals[sample.judged] = (relevant - predicted[sample.judged]) / sample.inclusion
    joint = sample.joint
    ends = np.searchsorted(sample.topics, np.arange(n_topics + 1))
    n_judged = np.bincount(sample.topics[sample.judged], minlength=n_topics)
    found = np.full((n_runs, n_topics), np.nan)
    for topic in range(n_topics):
        rows = slice(ends[topic], ends[topic + 1])
        # Places below 0 pick the last two elements, which add nothing.
        u = np.append(residuals[rows], [0.0, 0.0])
        z = np.append(predicted[rows], [0.0, 0.0]) + u
        strata = np.append(sample.strata[rows], [-1, -1])
        n_expected, at = z.sum(), places[:, topic]
        of_rank = z[at]
        total = np.sum(of_rank * (1 + np.cumsum(of_rank, axis=1) - of_rank) / ranks, axis=1)
        for stratum in np.unique(strata[u != 0]).tolist():
            own = np.where(strata == stratum, u, 0.0)[at]
            pairs = np.sum(own * (np.cumsum(own, axis=1) - own) / ranks, axis=1)
            total += (joint[stratum] - 1) * pairs
        divisor = n_expected
        if is_cut and n_judged[topic] < ends[topic + 1] - ends[topic]:
            divisor = max(n_expected, LEAST_EXPECTED * predicted[rows].sum())
        if divisor:
            found[:, topic] = np.clip(total / divisor, 0, 1) if is_cut else total / divisor
    return found


def corrected_ideal(
    counts: NDArray[np.float64], gains: NDArray[np.float64], cutoff: int
) -> NDArray[np.float64]:
    """Return the discounted gain of the best list, from estimated numbers of documents, shape (n_topics,).

    Parameters
    ----------
    counts : ndarray of float64, shape (n_topics, n_levels)
        Documents of at least each level, levels ascending; any number. Below 0 they count as 0, and none is
        more than that of the level below it.
    gains : ndarray of float64, shape (n_levels,)
        What a level adds to the gain of the one below it.
    cutoff : int
        Ranks that count, at least 1.

    Notes
    -----
    Discounts log2(rank + 1), between whole numbers of documents by straight lines. It is concave in the
    counts: too high on the average where they are estimates.

    Examples
    --------
    1.5 relevant documents, 1 + 1/2 of 1 / log2(3):

    >>> corrected_ideal(np.array([[1.5]]), np.array([1.0]), 10).round(4).tolist()
    [1.3155]
    """
    kept = np.minimum.accumulate(np.maximum(counts, 0.0), axis=1)
    reached = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, cutoff + 2)))))
    return np.asarray(np.interp(kept, np.arange(cutoff + 1), reached) @ gains)


def corrected_ndcg(discounted: NDArray[np.float64], ideal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide estimated discounted gains by those of the best list, cut to [0, 1]; 0 where that has none.

    Examples
    --------
    >>> corrected_ndcg(np.array([[1.0, 3.0, 1.0]]), np.array([2.0, 2.0, 0.0])).tolist()
    [[0.5, 1.0, 0.0]]
    """
    found = np.divide(discounted, ideal, out=np.zeros(discounted.shape), where=ideal > 0)
    return np.asarray(np.clip(found, 0.0, 1.0))
