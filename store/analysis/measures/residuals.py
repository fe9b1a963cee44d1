r"""Rank-biased precision, and how far unjudged documents and what would follow can move it.

RBP is a sum over ranks that never divides by what is relevant in the collection, so the worst case is that
every unjudged document is of no worth, and the best that all are of the highest, the ranks below the
end of a list included: a list of n documents could have gone on. The difference is the residual [1]_; a
short list has a large one, and an empty list has 1.

`store.analysis.measures.bounds` has the bounds of measures of the list as it stands.

References
----------
.. [1] A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
   *ACM Transactions on Information Systems* 27(1), 2:1-27, 2008, doi:10.1145/1416950.1416952.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError


def rank_biased_precision(gains: NDArray[Any], *, p: float) -> NDArray[np.float64]:
    r"""Return rank-biased precision of each list.

    Parameters
    ----------
    gains : ndarray of bool, int or float, shape (..., width)
        Worth of the document at each rank, in [0, 1]: relevant or not, or grade / highest grade; 0
        for unjudged documents and below the end of a list. `ArgumentError` for another number.
    p : float
        Persistence, at least 0 and below 1, else `ArgumentError`: how likely the next rank is looked at.

    Returns
    -------
    ndarray of float64, shape (...)
        RBP in [0, 1], defined everywhere: R plays no part. O(size of `gains`).

    Notes
    -----
    .. math:: \mathrm{RBP} = (1 - p) \sum_i g_i \, p^{i-1}    (section 3.1 of [1]_)

    trec_eval 10's `rbp` has p = 0.9 and the gains grade / highest grade of the topic, whatever the
    level of relevance.

    Examples
    --------
    Relevant at ranks 1 and 3: .5 + .125

    >>> float(rank_biased_precision(np.array([True, False, True]), p=0.5))
    0.625
    """
    if not 0 <= p < 1:
        raise ArgumentError("p", "must be at least 0 and below 1", p)
    gains = np.asarray(gains)
    if gains.dtype != np.bool_ and gains.size and not (gains.min() >= 0 and gains.max() <= 1):
        raise ArgumentError("gains", "must be between 0 and 1", [gains.min(), gains.max()])
    *shape, width = gains.shape
    weights = (1 - p) * np.power(float(p), np.arange(width))
    places = np.flatnonzero(gains)
    lists, columns = np.divmod(places, max(width, 1))
    worth = gains.reshape(-1)[places] * weights[columns]
    return np.asarray(np.bincount(lists, worth, minlength=math.prod(shape)).reshape(shape))


def rbp_residual(judged: NDArray[np.bool_], lengths: ArrayLike, *, p: float) -> NDArray[np.float64]:
    r"""Return how much unjudged documents and the end of each list leave open.

    Parameters
    ----------
    judged : ndarray of bool, shape (..., width)
        Which ranks hold a judged document.
    lengths : array_like of int, shape (...) or one that broadcasts to it
        n, ranks filled.
    p : float
        As for `rank_biased_precision`.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]: RBP lies in [base, base + residual], whatever the unjudged documents are and
        whatever would follow. 1 for an empty list.

    Notes
    -----
    .. math:: (1 - p) \sum_{i \text{ unjudged}} p^{i-1} + p^n    (section 3.3 of [1]_)

    trec_eval 10's `rbp_resid` (p = 0.9), which however is 0, without the tail :math:`p^n`, where
    every document of the list is judged. Computed as 1 less the weight of the judged ranks.

    Examples
    --------
    Two ranks, the second unjudged: .25, and .25 for all below

    >>> float(rbp_residual(np.array([True, False]), 2, p=0.5))
    0.5
    """
    judged = np.asarray(judged, dtype=np.bool_)
    there = np.arange(judged.shape[-1]) < np.asarray(lengths, dtype=np.int64)[..., None]
    # The weights of all ranks sum to 1, so that what is not judged is all the rest.
    return np.asarray(np.maximum(0.0, 1 - rank_biased_precision(judged & there, p=p)))
