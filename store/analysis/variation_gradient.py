r"""What each document's relevance means for the expected average precision of every run.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 3.2 for the model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.empty_outcomes import Empty, chance_left, chance_of_any
from store.analysis.quadrature import TOLERANCE, rule_for, window
from store.analysis.tilted import check_lists, run_sums, tilt


def variation_gradient(
    probabilities: ArrayLike,
    ranks: ArrayLike,
    *,
    empty: Empty = "given",
    tolerance: float = TOLERANCE,
) -> NDArray[np.float64]:
    r"""Compute how fast the expected AP grows with each document's probability of relevance.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1. Here those of probability 0 matter:
        unjudged documents that nobody expects anything of. R counts all of them (pool mode).
    ranks : array of float, shape (n_runs, n_documents)
        Rank of each document in each run; infinite = not retrieved.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.
    tolerance : float, default=1e-12
        Wanted bound of the error, relative to each of the two means.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_documents)
        :math:`\partial E[AP] / \partial p_i`, negative where the run has not retrieved the
        document, or too low. With ``zero`` it is :math:`E[AP | x_i = 1] - E[AP | x_i = 0]`, in
        [-1, 1]. With ``given``, NaN where every probability is 0.

    Raises
    ------
    ArgumentError
        If a probability is none, a rank is below 1 or stands twice in a run, or shapes differ.

    Notes
    -----
    .. math::

        \frac{\partial E[AP]}{\partial p_i} = \int_0^1 \frac{G(t)}{t D_i} \left[ h_i \frac{t}{D_i}
            - (1 - t) E_t S \right] dt, \quad D_i = 1 - p_i (1 - t)

    all documents at once: O(n_runs n_documents n_nodes). With ``given``, E[AP | R > 0] =
    E[AP; R > 0] / P(R > 0) has the slope :math:`(\partial E[AP; R > 0] / \partial p_i -
    E[AP | R > 0] \prod_{j \ne i} (1 - p_j)) / P(R > 0)`. See `judgement_weights` for what the
    gradients of two runs say of their difference.

    Examples
    --------
    Of two documents at ranks 1 and 2, each relevant half of the time, the first is worth more: with
    it AP is 1, without it 1/4 on average, an AP of 0 being counted.

    >>> variation_gradient([0.5, 0.5], [[1, 2]], empty="zero").round(12).tolist()
    [[0.75, 0.25]]
    """
    lists = check_lists(probabilities, ranks)
    p = lists.probabilities
    gradient = np.zeros(lists.ranks.shape)
    left = chance_left(p, empty)
    if not left:
        return np.full(gradient.shape, np.nan)
    if not p.size:
        return gradient
    # One document more, or less, than what is expected.
    least, most = window(p[p > 0]) if p.any() else (1, 1)
    rule = rule_for(max(1, least - 1), most + 1, tolerance=tolerance)
    tilted = tilt(p, rule)
    of_mean = rule.weights[0] * tilted.density
    weights = of_mean[:, None] / tilted.d
    others = _none_of_others(p) if empty == "given" else np.zeros(p.size)
    for run in range(lists.ranks.shape[0]):
        sums, h = run_sums(tilted.q, lists, run)
        h *= rule.t[:, None] / tilted.d
        h -= (rule.u * sums)[:, None]
        gradient[run] = np.einsum("mi,mi->i", weights, h)
        gradient[run] -= float(sums @ of_mean) / left * others
    return gradient / left


def judgement_weights(
    probabilities: NDArray[np.float64], *, empty: Empty = "given"
) -> NDArray[np.float64]:
    r"""Compute by what squared gradients are multiplied to be variances that judgements take away.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_documents,)
        Of each document of a topic.
    empty : {"given", "zero"}, default="given"
        As of the gradients.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        0 of documents that are sure, impossible, or the only ones that may be relevant. With two
        runs' gradients :math:`g^A` and :math:`g^B`, the weight times :math:`(g^A_i - g^B_i)^2` is
        the variance of the difference of their AP that a certain judgement of document i takes
        away on average.

    Notes
    -----
    With ``zero``, :math:`p_i (1 - p_i)`: judgements are independent, and the gradient is the
    difference of two conditional means. Given R > 0 they are not; with :math:`P_0 = P(R = 0)` and
    :math:`P_i` the probability that no other document is relevant, the variance of the conditional
    means is :math:`p_i (1 - p_i) (1 - P_0)^2 / (1 - P_i)` times the squared gradient.

    Examples
    --------
    >>> (
    ...     judgement_weights(np.array([0.5, 0.5])).tolist(),
    ...     judgement_weights(np.array([0.5])).tolist(),
    ... )
    ([0.28125, 0.28125], [0.0])
    """
    p = probabilities
    weights = p * (1 - p)
    if empty == "zero" or not weights.any():
        return np.asarray(weights)
    if (p == 1).any():
        return np.asarray(weights)
    logarithms = np.log1p(-p)
    # No rounding may be left where there is no other document.
    others = np.where(logarithms < 0, logarithms.sum() - logarithms, 0.0)
    some_other = -np.expm1(others) if np.count_nonzero(p) > 1 else np.zeros(p.size)
    scaled = weights * chance_of_any(p) ** 2
    return np.divide(scaled, some_other, out=np.zeros(p.size), where=some_other > 0)


def _none_of_others(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that no document but this one is relevant, shape (n_documents,)."""
    before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
    after = np.concatenate([np.cumprod((1 - p)[::-1])[::-1][1:], [1.0]])
    return np.asarray(before * after)
