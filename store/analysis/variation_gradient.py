r"""What each document's relevance means for the expected average precision of every run.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 3.2 for the model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.quadrature import TOLERANCE, rule_for, window
from store.analysis.tilted import check_lists, run_sums, tilt


def variation_gradient(
    probabilities: ArrayLike, ranks: ArrayLike, *, tolerance: float = TOLERANCE
) -> NDArray[np.float64]:
    r"""Compute how much higher the expected AP is with a document relevant than without.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1. Here those of probability 0 matter:
        unjudged documents that nobody expects anything of. R counts all of them (pool mode).
    ranks : array of float, shape (n_runs, n_documents)
        Rank of each document in each run; infinite = not retrieved.
    tolerance : float, default=1e-12
        Wanted bound of the error, relative to each of the two means.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_documents)
        :math:`\partial E[AP] / \partial p_i = E[AP | x_i = 1] - E[AP | x_i = 0]`, in [-1, 1];
        negative where the run has not retrieved the document, or too low.

    Raises
    ------
    ArgumentError
        If a probability is none, a rank is below 1 or stands twice in a run, or shapes differ.

    Notes
    -----
    .. math::

        \frac{\partial E[AP]}{\partial p_i} = \int_0^1 \frac{G(t)}{t D_i} \left[ h_i \frac{t}{D_i}
            - (1 - t) E_t S \right] dt, \quad D_i = 1 - p_i (1 - t)

    all documents at once: O(n_runs n_documents n_nodes). With two runs' gradients :math:`g^A` and
    :math:`g^B`, :math:`p_i (1 - p_i) (g^A_i - g^B_i)^2` is the variance of the difference of their
    AP that a certain judgement of document i takes away on average.

    Examples
    --------
    Of two documents at ranks 1 and 2, each relevant half of the time, the first is worth more: with
    it AP is 1, without it 1/4 on average.

    >>> variation_gradient([0.5, 0.5], [[1, 2]]).round(12).tolist()
    [[0.75, 0.25]]
    """
    lists = check_lists(probabilities, ranks)
    p = lists.probabilities
    gradient = np.zeros(lists.ranks.shape)
    if not p.size:
        return gradient
    # One document more, or less, than what is expected.
    least, most = window(p[p > 0]) if p.any() else (1, 1)
    rule = rule_for(max(1, least - 1), most + 1, tolerance=tolerance)
    tilted = tilt(p, rule)
    weights = (rule.weights[0] * tilted.density)[:, None] / tilted.d
    for run in range(lists.ranks.shape[0]):
        sums, h = run_sums(tilted.q, lists, run)
        h *= rule.t[:, None] / tilted.d
        h -= (rule.u * sums)[:, None]
        gradient[run] = np.einsum("mi,mi->i", weights, h)
    return gradient
