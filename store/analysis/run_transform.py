"""E[exp(z AP)] of one run on one topic whose judgements vary, for any complex z.

Imaginary z give the characteristic function, from which the law of AP follows; real z bound its
tails.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.empty_outcomes import Empty, chance_left
from store.analysis.tilted import check_lists
from store.errors import ArgumentError

_DROPPED = 1e-14
"""Probability of outcomes left out, those with far too many or too few relevant documents."""

_BLOCK = 1 << 16
"""Complex numbers worked on at once: 1 MB."""

Values = NDArray[Any]
"""Of complex128, or of float64 where all is real: three times as fast."""


class RunTransform:
    r"""The transform of one run's AP, ready to be computed at many points.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1, independently. R counts all of them
        (pool mode).
    ranks : array of float, shape (n_documents,) or (1, n_documents)
        From 1 on; infinite = not retrieved.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.

    Raises
    ------
    ArgumentError
        If a probability is none, a rank is below 1 or stands twice, shapes differ, there is more
        than one run, or no outcome is left.

    Notes
    -----
    With C the number of relevant documents retrieved, and R - C the others, independent of them:

    .. math::

        E[e^{z AP}] = P(R = 0) + \sum_{k \ge 1} \sum_c P(R - C = k - c) g_k(c)

    where :math:`g_k(c) = E[e^{z S/k}; C = c]` is built up document by document in rank order:
    :math:`g_k(c) \leftarrow (1 - p) g_k(c) + p e^{z c / (k a)} g_k(c - 1)` for a document of
    probability p at rank a. Only k and c that occur with more than a negligible probability are
    kept. That is for ``zero``; with ``given`` the first term is absent, and P(R > 0) divides.

    Examples
    --------
    A document at rank 2, relevant half of the time, and another never retrieved that is: AP is 1/4
    or 0, and E[exp(4 AP)] is (e + 1) / 2.

    >>> found = RunTransform([0.5, 1.0], [2, np.inf]).transform(np.array([4 + 0j]))
    >>> bool(abs(found[0] - (np.e + 1) / 2) < 1e-13)
    True
    """

    def __init__(
        self, probabilities: ArrayLike, ranks: ArrayLike, *, empty: Empty = "given"
    ) -> None:
        places = np.atleast_2d(np.asarray(ranks, dtype=np.float64))
        if len(places) != 1:
            raise ArgumentError("ranks", "must be of one run", places.shape)
        lists = check_lists(probabilities, places)
        lists = lists.without(lists.probabilities == 0)
        self._left = chance_left(lists.probabilities, empty)
        if not self._left:
            requirement = "must have one above 0, or `empty` be zero"
            raise ArgumentError("probabilities", requirement, lists.probabilities.tolist())
        self._empty = empty
        order = lists.order[0]
        n_retrieved = int(lists.n_retrieved[0])
        self._ranks = lists.ranks[0, order[:n_retrieved]]
        self._p = lists.probabilities[order[:n_retrieved]]
        self._unretrieved = count_law(lists.probabilities[order[n_retrieved:]])[-1]
        self._so_far = count_law(self._p)
        """Row i: the law of the number of relevant documents among the first i."""
        self._all = np.convolve(self._so_far[-1], self._unretrieved)
        low, high = _window(self._all, _DROPPED * self._left / 2)
        self.cost = n_retrieved * (high - low + 1) ** 2
        """What a point costs, in no unit."""

    def transform(self, z: Values) -> Values:
        """Compute E[exp(z AP)].

        Parameters
        ----------
        z : ndarray of complex128 or float64, shape (n_points,)
            With a real part of at most 600 either way.

        Returns
        -------
        ndarray of the same type, shape (n_points,)
            To an absolute error of 1e-14, and as much by rounding; for real z as `bound` has it.

        Notes
        -----
        O(n_documents k c) a point, k and c being the numbers of values kept.
        """
        steepest = float(np.abs(z.real).max(initial=0.0))
        # Outcomes left out are worth at most exp(|Re z|) each.
        allowed = _DROPPED * self._left * math.exp(-steepest) / 2
        first, last = _window(self._all, allowed)
        relevant = np.arange(max(first, 1), last + 1)
        first_term = self._all[0] if self._empty == "zero" else 0.0
        found = np.full(z.shape, first_term, dtype=z.dtype)
        if not relevant.size:
            return found
        windows = [_window(law, allowed / len(self._so_far)) for law in self._so_far]
        widest = max(high - low for low, high in windows) + 2
        step = max(1, _BLOCK // (widest * relevant.size))
        for start in range(0, z.size, step):
            part = z[start : start + step]
            found[start : start + step] += self._sum(part, relevant, windows)
        found /= self._left
        return found

    def bound(self, z: float) -> float:
        """Return E[exp(z AP)] for a real z, no less: with the outcomes left out at their most."""
        return float(self.transform(np.array([z]))[0]) + 2 * _DROPPED

    def _sum(
        self,
        z: Values,
        relevant: NDArray[np.int64],
        windows: list[tuple[int, int]],
    ) -> Values:
        """Add up all k >= 1; one row of ``g`` is one c, for all pairs of z and k."""
        by_pair = (z[:, None] / relevant).ravel()
        g = np.zeros((len(self._p) + 2, by_pair.size), dtype=by_pair.dtype)
        g[0] = 1
        # With c > k, S / k has no bound, and exp none; such entries meet a chance of 0 below.
        with np.errstate(over="ignore", invalid="ignore"):
            for place, (p, rank) in enumerate(zip(self._p, self._ranks, strict=True)):
                low, high = windows[place]
                gained = _powers(by_pair / rank, low + 1, high - low + 1, float(p))
                gained *= g[low : high + 1]
                g[low : high + 1] *= 1 - p
                g[low + 1 : high + 2] += gained
                # What the window of the next step leaves out must not come back later.
                g[windows[place + 1][1] + 1 : high + 2] = 0
        low, high = windows[-1]
        c = np.arange(low, high + 1)
        others = relevant - c[:, None]
        is_possible = (others >= 0) & (others < self._unretrieved.size)
        chances = np.where(is_possible, self._unretrieved[np.where(is_possible, others, 0)], 0.0)
        kept = g[low : high + 1].reshape(c.size, z.size, relevant.size)
        used = np.where(chances[:, None] > 0, kept, 0)
        total: Values = np.einsum("czk,ck->z", used, chances)
        return total


def count_law(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the law of the number of relevant documents among the first 0, 1, ... of them.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_documents,)
        From 0 to 1; judgements are independent.

    Returns
    -------
    ndarray of float64, shape (n_documents + 1, n_documents + 1)
        Row i, column c: the probability that c of the first i are relevant. O(n_documents**2).

    Examples
    --------
    >>> count_law(np.array([0.5, 0.5]))[-1].tolist()
    [0.25, 0.5, 0.25]
    """
    law = np.zeros((probabilities.size + 1, probabilities.size + 1))
    law[0, 0] = 1
    for place, p in enumerate(probabilities):
        law[place + 1] = law[place] * (1 - p)
        law[place + 1, 1:] += law[place, :-1] * p
    return law


def _window(law: NDArray[np.float64], allowed: float) -> tuple[int, int]:
    """Return the first and last value, outside of which either side has at most `allowed`."""
    below = np.cumsum(law)
    above = np.cumsum(law[::-1])
    first = int(np.searchsorted(below, allowed, side="right"))
    last = law.size - 1 - int(np.searchsorted(above, allowed, side="right"))
    return min(first, law.size - 1), max(last, 0)


def _powers(exponents: Values, first: int, n: int, factor: float) -> Values:
    """Compute ``factor * exp(c * exponents)`` for n values of c from `first` on, by doubling."""
    found = np.empty((n, exponents.size), dtype=exponents.dtype)
    found[0] = np.exp(first * exponents)
    found[0] *= factor
    step, done = np.exp(exponents), 1
    while done < n:
        more = min(done, n - done)
        np.multiply(found[:more], step, out=found[done : done + more])
        step, done = step * step, done + more
    return found
