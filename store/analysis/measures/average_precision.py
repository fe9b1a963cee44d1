r"""Average precision, on arrays of relevant ranks.

Throughout, ``relevant``, ndarray of bool, shape (..., width), says of rank r in ``relevant[..., r - 1]``
whether it holds a relevant document, and R, the denominator, is an argument: the documents judged relevant
for the topic, retrieved or not (mode ``pool``, trec_eval's), or those in the run's own list (mode ``own``,
eq. 1 of the paper). Functions cost O(size of `relevant`).

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 2. Eq. 1 is printed there with the prefactor 1/N; its own worked
   example uses 1/R.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

RMode = Literal["pool", "own"]
"""What R counts: relevant documents of the topic, or those in the run's own list."""
R_MODES: tuple[RMode, ...] = get_args(RMode)


def check_r_mode(r_mode: str) -> RMode:
    """Return `r_mode` when it is one of `R_MODES`, else raise `ArgumentError`."""
    for known in R_MODES:
        if r_mode == known:
            return known
    raise ArgumentError("r_mode", f"must be one of {', '.join(R_MODES)}", r_mode)


def precision_sum(relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    r"""Sum the precision at every relevant rank, shape (...): S, 0 where there is none.

    Notes
    -----
    .. math:: S = \sum_i \frac{x_i}{i} \Bigl(1 + \sum_{k<i} x_k\Bigr)

    The sum of eq. 1 of [1]_ without its prefactor.

    Examples
    --------
    >>> float(precision_sum(np.array([True, False, True, False])))  # 1/1 + 2/3
    1.6666666666666665
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    *shape, width = relevant.shape
    # Few ranks hold a relevant document: only those are looked at.
    places = np.flatnonzero(relevant)
    lists, ranks = np.divmod(places, max(width, 1))
    firsts = np.searchsorted(places, np.arange(math.prod(shape)) * width)
    found = np.arange(1, places.size + 1) - firsts[lists]
    sums = np.bincount(lists, weights=found / (ranks + 1), minlength=firsts.size)
    return np.asarray(sums.reshape(shape))


def own_n_relevant(relevant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the relevant documents of each list, shape (...): R of mode ``own``."""
    return np.asarray(np.count_nonzero(relevant, axis=-1), dtype=np.int64)


def average_precision(relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Average the precision over the relevant documents.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        See the module.
    n_relevant : ndarray of int64, shape (...) or one that broadcasts to it
        R, at least the number of relevant ranks, else `ArgumentError`. Use `own_n_relevant` for mode ``own``.

    Returns
    -------
    ndarray of float64, shape (...)
        AP in [0, 1]. NaN where R = 0: there is no answer, and a front end shows no number with
        the reason ``no-relevant``. An empty list with R > 0 has AP 0.

    Notes
    -----
    .. math:: \nu = \frac{1}{R} \sum_i \frac{x_i}{i} \Bigl(1 + \sum_{k<i} x_k\Bigr)

    Eq. 1 of [1]_ (mode ``own``) and its variant with R defined outside (mode ``pool``), which
    trec_eval computes as `map`; it needs no limit such as R <= N.

    Examples
    --------
    The paper's strings 1010 and 0011, which give 5/6 and 5/12:

    >>> relevant = np.array([[True, False, True, False], [False, False, True, True]])
    >>> average_precision(relevant, own_n_relevant(relevant)).round(6).tolist()
    [0.833333, 0.416667]
    """
    counts = np.broadcast_to(np.asarray(n_relevant, dtype=np.int64), np.shape(relevant)[:-1])
    if np.any(counts < own_n_relevant(relevant)):
        requirement = "must be at least the number of relevant documents in the list"
        raise ArgumentError("n_relevant", requirement, np.asarray(n_relevant).tolist())
    return quotient(precision_sum(relevant), counts)


def gains(relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    r"""Compute what one more relevant document would add to S, at every rank, shape (..., width).

    Above 0. It does not depend on whether rank r itself is relevant, so it is also what S loses when a
    relevant document at rank r turns not relevant. Over the ranks that are not relevant it falls strictly
    with r.

    Notes
    -----
    .. math:: g_r = \frac{1}{r} \Bigl(1 + \sum_{k<r} x_k\Bigr) + \sum_{t>r} \frac{x_t}{t}

    Eq. 6 of [1]_. For one change only: two changes interact.

    Examples
    --------
    >>> gains(np.array([False, True])).tolist()  # 1/1 + 1/2, and 1/2
    [1.5, 0.5]
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    ranks = np.arange(1, relevant.shape[-1] + 1, dtype=np.float64)
    above = np.cumsum(relevant, axis=-1, dtype=np.int64) - relevant
    reciprocal = relevant / ranks
    # Summed from the bottom, the part below the last relevant rank is exactly 0.
    from_here_down = np.cumsum(reciprocal[..., ::-1], axis=-1)[..., ::-1]
    below = np.zeros_like(reciprocal)
    below[..., :-1] = from_here_down[..., 1:]
    gain: NDArray[np.float64] = (1 + above) / ranks + below  # [1] Eq. 6
    return gain


def mean_average_precision(
    average_precisions: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Average AP, or any measure, over the topics of the last axis where it is defined; MAP, eq. 7 of [1]_.

    Beside the mean, NaN when no topic is defined, the number of topics that it is over.

    Examples
    --------
    >>> mean, n_defined = mean_average_precision(np.array([0.5, np.nan, 0.25]))
    >>> float(mean), int(n_defined)
    (0.375, 2)
    """
    defined = ~np.isnan(average_precisions)
    n_defined = np.asarray(np.count_nonzero(defined, axis=-1), dtype=np.int64)
    total = np.asarray(np.sum(np.where(defined, average_precisions, 0.0), axis=-1))
    return quotient(total, n_defined), n_defined


def quotient(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide arrays of shapes that go together, with NaN where `whole` is not above 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
