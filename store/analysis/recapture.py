r"""How many relevant documents there are, from what two groups of runs found of them: [1]_.

Animals are caught, marked and let go; how many of a second catch are marked says how many there
are. Here two groups of runs catch relevant documents.

References
----------
.. [1] P. Kantor, M. Kim, U. Ibraev and K. Atasoy, "Estimating the number of relevant documents in
   enormous collections", *ASIS Annual Meeting* 1999.
.. [2] D. G. Chapman, "Some properties of the hypergeometric distribution with applications to
   zoological sample censuses", 1951; the variance is Seber's, 1970.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.judged_rankings import RELEVANT, JudgedRankings
from store.analysis.provenance import n_contributing
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class Catches:
    """Relevant documents that two groups of runs found; arrays of shape (n_topics,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    both: NDArray[np.int64]
    """Those that count in `first` and in `second`."""


def catches(rankings: JudgedRankings, is_first: NDArray[np.bool_], *, depth: int) -> Catches:
    """Count the relevant documents that two groups of runs found.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements.
    is_first : ndarray of bool, shape (n_runs,)
        Which runs are the first group; the others are the second.
    depth : int
        Ranks that count, at least 1. Both groups must have been judged so far, or what one found
        alone is missed.

    Raises
    ------
    ArgumentError
        If `is_first` has another length, or `depth` is below 1.

    Notes
    -----
    O(size of the rankings).

    Examples
    --------
    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([2, 3])},
    ...     {"t": (np.array([1, 2, 3]), np.array([True, True, False]))},
    ...     cutoff=10,
    ... )
    >>> found = catches(arrays, np.array([True, False]), depth=10)
    >>> found.first.tolist(), found.second.tolist(), found.both.tolist()
    ([2], [1], [1])
    """
    check_cutoff(depth)
    n_runs, n_topics, _ = rankings.documents.shape
    is_first = np.asarray(is_first, dtype=np.bool_)
    if is_first.shape != (n_runs,):
        raise ArgumentError(
            "is_first", f"must be one flag for each of {n_runs} runs", is_first.shape
        )
    counts = np.zeros((3, n_topics), dtype=np.int64)
    for topic, standing in enumerate(rankings.standing):
        documents = rankings.documents[:, topic, :depth]
        one, other = (
            (n_contributing(documents[group], standing.size) > 0) & (standing == RELEVANT)
            for group in (is_first, ~is_first)
        )
        counts[:, topic] = [np.count_nonzero(found) for found in (one, other, one & other)]
    return Catches(counts[0], counts[1], counts[2])


@dataclass(frozen=True, slots=True, eq=False)
class Recapture:
    """Relevant documents supposed to exist, from two groups of runs; arrays of shape (...)."""

    lincoln_petersen: NDArray[np.float64]
    """n_1 n_2 / m; NaN where the groups have no document in common."""
    chapman: NDArray[np.float64]
    """(n_1 + 1)(n_2 + 1) / (m + 1) - 1, defined everywhere; less biased."""
    chapman_error: NDArray[np.float64]
    """Its estimated standard error, at least 0."""


def recapture(n_first: ArrayLike, n_second: ArrayLike, n_both: ArrayLike) -> Recapture:
    r"""Estimate how many relevant documents there are from what two groups of runs found.

    Parameters
    ----------
    n_first, n_second : array_like of int, shape (...)
        n_1 and n_2: relevant documents that each group found.
    n_both : array_like of int, shape (...)
        m: those that both found; at most the lesser of the two.

    Raises
    ------
    ArgumentError
        If a count is negative or `n_both` is above one of the others.

    Notes
    -----
    Right if the groups find documents independently and each is as easy to find as the next. Runs
    agree on easy documents, so the truth is as a rule above the estimate, and may be far above. The
    standard error is the root of

    .. math:: \frac{(n_1+1)(n_2+1)(n_1-m)(n_2-m)}{(m+1)^2 (m+2)}    ([2]_)

    Examples
    --------
    >>> found = recapture(20, 30, 15)
    >>> float(found.lincoln_petersen), float(found.chapman)  # 600 / 15, 21 * 31 / 16 - 1
    (40.0, 39.6875)
    """
    first, second, both = np.broadcast_arrays(
        *(np.asarray(counts, dtype=np.float64) for counts in (n_first, n_second, n_both))
    )
    if both.size and (both.min() < 0 or (both > np.minimum(first, second)).any()):
        requirement = "must be at least 0 and at most what each group found"
        raise ArgumentError("n_both", requirement, both.tolist())
    undefined = np.full(both.shape, np.nan)
    variance = (first + 1) * (second + 1) * (first - both) * (second - both)
    return Recapture(
        lincoln_petersen=np.asarray(np.divide(first * second, both, out=undefined, where=both > 0)),
        chapman=np.asarray((first + 1) * (second + 1) / (both + 1) - 1),
        chapman_error=np.asarray(np.sqrt(variance / ((both + 1) ** 2 * (both + 2)))),
    )
