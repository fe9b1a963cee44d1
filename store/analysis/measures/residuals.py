r"""How far unjudged documents can move measures that decay with the rank: RBP and ERR.

Both are sums over ranks that never divide by what is relevant in the collection, so the worst case
is that every document nobody judged is of no worth, and the best that all are of the highest, the
ranks below the end of a list included: a list of n documents could have gone on. The difference is
the residual of Moffat and Zobel [1]_; a short list has a large one, and an empty list has 1.

`store.analysis.measures.bounds` has the bounds of measures of the list as it stands.

References
----------
.. [1] A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
   *ACM Transactions on Information Systems* 27(1), 2:1-27, 2008, doi:10.1145/1416950.1416952.
.. [2] O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded
   relevance", *CIKM* 2009, 621-630, doi:10.1145/1645953.1646033.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import check_cutoff
from store.errors import ArgumentError

_NEGLIGIBLE = 1e-17
"""What is left out of the sum of a tail."""
_LEAST_HIGHEST = 0.001
"""The sum has 39 / q terms."""


@dataclass(frozen=True, slots=True, eq=False)
class Residual:
    """A score with nothing for unjudged documents, and what they could add."""

    base: NDArray[np.float64]
    """Shape (...), in [0, 1]: the score if no unjudged document is of any worth."""
    residual: NDArray[np.float64]
    """Shape (...), in [0, 1]: what is added if all are of the highest, below the end of the list too."""

    @property
    def upper(self) -> NDArray[np.float64]:
        """Shape (...), in [0, 1]: the highest score there can be."""
        return np.minimum(self.base + self.residual, 1.0)


def rank_biased_precision(gains: NDArray[Any], *, p: float, cutoff: int | None = None) -> NDArray[np.float64]:
    r"""Return rank-biased precision of each list.

    Parameters
    ----------
    gains : ndarray of bool, int or float, shape (..., width)
        Worth of the document at each rank, in [0, 1]: relevant or not, or grade / highest grade; 0
        for unjudged documents and below the end of a list.
    p : float
        Persistence, at least 0 and below 1: how likely the next rank is looked at.
    cutoff : int, optional
        Ranks that count, at least 1; by default all.

    Returns
    -------
    ndarray of float64, shape (...)
        RBP in [0, 1], defined everywhere: R plays no part.

    Raises
    ------
    ArgumentError
        If `p` or `cutoff` is outside its range, or a gain is.

    Notes
    -----
    .. math:: \mathrm{RBP} = (1 - p) \sum_i g_i \, p^{i-1}    (section 3.1 of [1]_)

    trec_eval 10's `rbp` has p = 0.9 and the gains grade / highest grade of the topic, whatever the
    level of relevance. O(size of `gains`).

    Examples
    --------
    Relevant at ranks 1 and 3: .5 + .125

    >>> float(rank_biased_precision(np.array([True, False, True]), p=0.5))
    0.625
    """
    check_cutoff(cutoff)
    gains = _share("gains", gains)[..., :cutoff]
    weights = _weights(p, gains.shape[-1])
    places = np.flatnonzero(gains)
    lists, columns = np.divmod(places, max(gains.shape[-1], 1))
    worth = gains.reshape(-1)[places] * weights[columns]
    shape = gains.shape[:-1]
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
        Persistence, at least 0 and below 1.

    Returns
    -------
    ndarray of float64, shape (...)
        In [0, 1]: RBP lies in [base, base + residual], whatever the unjudged documents are and
        whatever would follow. 1 for an empty list.

    Raises
    ------
    ArgumentError
        If `p` is outside its range.

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


def rbp_with_residual(
    gains: NDArray[Any], judged: NDArray[np.bool_], lengths: ArrayLike, *, p: float
) -> Residual:
    """Return RBP of each list with its residual.

    Arguments are those of `rank_biased_precision` and `rbp_residual`.

    Examples
    --------
    >>> gains, judged = np.array([True, False, False]), np.array([True, False, True])
    >>> result = rbp_with_residual(gains, judged, 3, p=0.5)
    >>> float(result.base), float(result.residual), float(result.upper)
    (0.5, 0.375, 0.875)
    """
    return Residual(rank_biased_precision(gains, p=p), rbp_residual(judged, lengths, p=p))


def expected_reciprocal_rank(
    stops: NDArray[np.floating[Any]], *, cutoff: int | None = None
) -> NDArray[np.float64]:
    r"""Return the expected reciprocal rank at which a reader of each list stops.

    Parameters
    ----------
    stops : ndarray of float, shape (..., width)
        How likely each document satisfies, in [0, 1]; `stop_probabilities` of grades. 0 for
        unjudged documents and below the end of a list.
    cutoff : int, optional
        Ranks that count, at least 1; by default all.

    Returns
    -------
    ndarray of float64, shape (...)
        ERR in [0, 1], defined everywhere.

    Raises
    ------
    ArgumentError
        If `cutoff` is below 1, or a probability is outside [0, 1].

    Notes
    -----
    .. math:: \mathrm{ERR} = \sum_r \frac{1}{r} R_r \prod_{i<r} (1 - R_i)    (Eq. 6 of [2]_)

    O(size of `stops`).

    Examples
    --------
    Grades 3, 0, 2 of at most 4: 7/16 + 1/3 * 9/16 * 3/16

    >>> float(expected_reciprocal_rank(stop_probabilities(np.array([3, 0, 2]), 4)))
    0.47265625
    """
    check_cutoff(cutoff)
    stops = _share("stops", stops)[..., :cutoff]
    reached = _reached(stops)[..., :-1]
    return np.asarray((stops * reached / np.arange(1, stops.shape[-1] + 1)).sum(axis=-1))


def err_with_residual(
    stops: NDArray[np.floating[Any]], judged: NDArray[np.bool_], lengths: ArrayLike, *, highest: float
) -> Residual:
    r"""Return ERR of each list with what unjudged documents and the end of the list leave open.

    Parameters
    ----------
    stops, judged, lengths
        As for `expected_reciprocal_rank` and `rbp_residual`.
    highest : float
        How likely a document of the highest grade satisfies, in [0.001, 1].

    Returns
    -------
    Residual
        Arrays of shape (...). The upper bound is that of a list whose unjudged documents, and all
        that follow its end, have the highest grade.

    Raises
    ------
    ArgumentError
        If a probability is outside its range.

    Notes
    -----
    A filling is the better the more satisfying each document: raising :math:`R_r` by itself
    changes ERR by the chance to get to r times 1/r less what ERR from r + 1 on is given that one
    gets there, which is at most 1/(r + 1). The tail is
    :math:`\prod_{i \le n}(1 - R_i) \sum_j q (1 - q)^{j-1} / (n + j)` with q = `highest`.

    Examples
    --------
    An empty list with q = 1 might begin with a document that always satisfies:

    >>> nothing = np.zeros(0)
    >>> float(err_with_residual(nothing, nothing > 0, 0, highest=1.0).residual)
    1.0
    """
    stops, judged = _share("stops", stops), np.asarray(judged, dtype=np.bool_)
    if not _LEAST_HIGHEST <= highest <= 1:
        raise ArgumentError("highest", f"must be from {_LEAST_HIGHEST} to 1", highest)
    counts = np.broadcast_to(np.asarray(lengths, dtype=np.int64), stops.shape[:-1])
    there = np.arange(stops.shape[-1]) < counts[..., None]
    filled = np.where(there, np.where(judged, stops, highest), 0.0)
    base = expected_reciprocal_rank(np.where(judged & there, stops, 0.0))
    # Below the end nothing satisfies: the last column is the chance to get past the list.
    tail = _reached(filled)[..., -1] * _tail(counts, highest)
    return Residual(base, expected_reciprocal_rank(filled) + tail - base)


def stop_probabilities(grades: NDArray[np.integer[Any]], highest: int) -> NDArray[np.float64]:
    r"""Return how likely a document of each grade satisfies a reader.

    Parameters
    ----------
    grades : ndarray of int, shape (...)
        At most `highest`; grades below 0 count as 0.
    highest : int
        The highest grade of the scale, at least 1; 4 in gdeval.

    Returns
    -------
    ndarray of float64, shape (...)
        :math:`(2^g - 1) / 2^{\max}`, in [0, 1) (Eq. 5 of [2]_).

    Raises
    ------
    ArgumentError
        If a grade is above `highest`, or that is below 1.

    Examples
    --------
    >>> stop_probabilities(np.array([-2, 0, 1, 4]), 4).tolist()
    [0.0, 0.0, 0.0625, 0.9375]
    """
    if highest < 1:
        raise ArgumentError("highest", "must be an integer >= 1", highest)
    grades = np.asarray(grades)
    if grades.size and grades.max() > highest:
        raise ArgumentError("grades", f"must be at most {highest}", int(grades.max()))
    positive = np.maximum(grades, 0).astype(np.float64)
    return np.asarray(np.exp2(positive - highest) - np.exp2(-float(highest)))


def _weights(p: float, width: int) -> NDArray[np.float64]:
    """Return (1 - p) p^(i - 1) of the ranks 1..width."""
    if not 0 <= p < 1:
        raise ArgumentError("p", "must be at least 0 and below 1", p)
    return np.asarray((1 - p) * np.power(float(p), np.arange(width)))


def _share(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return values that lie in [0, 1]."""
    values = np.asarray(values)
    if values.dtype != np.bool_ and values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ArgumentError(name, "must be between 0 and 1", [values.min(), values.max()])
    return values


def _reached(stops: NDArray[Any]) -> NDArray[np.float64]:
    """Return the chance to get to each rank and past the last; shape (..., width + 1)."""
    first = np.ones((*stops.shape[:-1], 1))
    return np.concatenate([first, np.cumprod(1 - stops.astype(np.float64), axis=-1)], axis=-1)


def _tail(lengths: NDArray[np.int64], q: float) -> NDArray[np.float64]:
    """Sum q (1 - q)^(j - 1) / (n + j) over j = 1, 2, ... for each length n."""
    known, places = np.unique(lengths, return_inverse=True)
    n_terms = 1 if q == 1 else 1 + math.ceil(math.log(_NEGLIGIBLE) / math.log1p(-q))
    chances = q * np.power(1 - q, np.arange(n_terms))
    steps = np.arange(1, n_terms + 1)
    sums = np.array([float(np.sum(chances / (n + steps))) for n in known.tolist()])
    return np.asarray(sums[places].reshape(lengths.shape))
