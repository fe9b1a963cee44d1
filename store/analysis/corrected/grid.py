"""Which documents people judge: strata by weight in the rankings and by a model's grade.

A document weighs what it can add to scores, and where a model says relevant people disagree more often
than where it does not. So documents are cut into strata by both, and more is drawn where a stratum can
change scores more: Neyman's allocation [1]_ of the difference estimator (`store.analysis.corrected.linear`).

References
----------
.. [1] C. E. Sarndal, B. Swensson and J. Wretman, *Model Assisted Survey Sampling*, 1992, 3.7.3 and 6.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

SPREAD_RELEVANT = 0.25
"""Guessed variance of people's relevance, p(1 - p), where the model says relevant."""
SPREAD_NOT_RELEVANT = 0.1
"""The same where it does not."""
LEAST = 2
"""Documents drawn from every stratum, or all where it has fewer: a variance needs two."""


def weight_classes(weights: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """Cut documents into classes of about the same total weight.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_documents,)
        At least 0, finite.
    n_classes : int
        At least 1.

    Returns
    -------
    ndarray of int64, shape (n_documents,)
        From 0, the lightest documents, to `n_classes` - 1: with documents by weight ascending, equal ones as
        they stand, the whole part of `n_classes` times the share of the total weight that a document and
        those before it have. All 0 where the total is 0. O(n log n).

    Examples
    --------
    Shares 1/8, 2/8, 4/8, 8/8:

    >>> weight_classes(np.array([4.0, 1.0, 1.0, 2.0]), 4).tolist()
    [3, 0, 1, 2]
    """
    order = np.argsort(weights, kind="stable")
    reached = np.cumsum(weights[order])
    classes = np.zeros(weights.size, np.int64)
    if weights.size and reached[-1] > 0:
        classes[order] = np.minimum(n_classes * (reached / reached[-1]), n_classes - 1).astype(np.int64)
    return classes


def stratum_spreads(
    strata: NDArray[np.int64], weights: NDArray[np.float64], relevant: NDArray[np.bool_]
) -> NDArray[np.float64]:
    r"""Guess how far the documents of each stratum can move a score, shape (n_strata,).

    :math:`\sqrt{v \, \overline{a^2}}`, with a the weights of the stratum's documents and v .25 where the
    model says relevant, which it does of all of a stratum or of none, .10 where not. Strata are numbered from
    0, and none is empty.

    Examples
    --------
    >>> stratum_spreads(
    ...     np.array([0, 0, 1]), np.array([1.0, 1.0, 2.0]), np.array([False, False, True])
    ... ).tolist()
    [0.31622776601683794, 1.0]
    """
    squares = np.bincount(strata, weights**2) / np.bincount(strata)
    guessed = np.where(relevant, SPREAD_RELEVANT, SPREAD_NOT_RELEVANT)
    variance = np.zeros(squares.size)
    variance[strata] = guessed
    return np.asarray(np.sqrt(squares * variance))


def allocation(sizes: NDArray[np.int64], spreads: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    r"""Say how many documents to draw from each stratum.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n_strata,)
        Documents of the strata, at least 1.
    spreads : ndarray of float64, shape (n_strata,)
        Of one document each, above 0; see `stratum_spreads`.
    total : int
        Documents to draw; where there are fewer, all are.

    Returns
    -------
    ndarray of int64, shape (n_strata,)
        They sum to `total`. Every stratum has two, or all it holds; what is left is shared out in proportion
        to size x spread, rounded down, none more than it holds, again and again; the last few go one by one
        to the stratum with the greatest size x spread / (drawn + 1), the first of equal ones.
        `ArgumentError` if `total` is less than that.

    Examples
    --------
    Two each, then 10 - 4 = 6 by 3 : 1 (4.5 and 1.5, so 4 and 1); the last to 30 / 7 against 10 / 4:

    >>> allocation(np.array([30, 10]), np.array([1.0, 1.0]), 10).tolist()
    [7, 3]
    """
    taken = np.minimum(LEAST, sizes).astype(np.int64)
    left = min(total, int(sizes.sum())) - int(taken.sum())
    if left < 0:
        requirement = (
            f"must be >= {int(taken.sum())}: {LEAST} documents, or all there are, of {sizes.size} strata"
        )
        raise ArgumentError("total_budget", requirement, total)
    shares = sizes * spreads
    while left:
        is_open = taken < sizes
        wanted = np.floor(left * (shares / shares[is_open].sum())).astype(np.int64)
        more = np.where(is_open, np.minimum(wanted, sizes - taken), 0)
        if not more.any():
            break
        taken += more
        left -= int(more.sum())
    for _ in range(left):
        taken[np.argmax(np.where(taken < sizes, shares / (taken + 1), -1.0))] += 1
    return taken
