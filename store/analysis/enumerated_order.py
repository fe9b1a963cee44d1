"""Sums over topics in every outcome of judging: exact, for some forty-four documents.

The topics are shared out to two halves. A half of 22 documents that are neither sure nor impossible
has 4 million outcomes; of the two together, 2^44 of them, those below a number are added up by
looking every outcome of one half up in the sorted outcomes of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.collection_variation import Topic
from store.analysis.empty_outcomes import Empty, chance_left, check_chances
from store.analysis.undiscovered import TIED_MAP

MOST_OF_HALF = 22
"""Random documents of a half at most: some seconds and 300 MB."""
_AT_ONCE = 1 << 14
"""Outcomes of a topic that are looked at at once."""
_LISTED = 1 << 18
"""Sums that a quantile is sought among, once it is known to be one of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The sums over topics of a value, in two halves that are independent of each other."""

    values: NDArray[np.float64]
    """Of the first half, shape (n_first,), ascending."""
    weights: NDArray[np.float64]
    """Their probabilities."""
    others: NDArray[np.float64]
    """Of the second half, shape (n_second,), ascending."""
    up_to: NDArray[np.float64]
    """Shape (n_second + 1,): probability of the first i of the second half."""
    from_on: NDArray[np.float64]
    """Shape (n_second + 1,): probability of all but the first i."""

    @property
    def error(self) -> float:
        """Bound of the rounding error of a probability, in units of it."""
        return float(np.finfo(np.float64).eps * (self.values.size + self.others.size))

    def below(self, number: float, *, closed: bool) -> float:
        """Add up the probabilities of sums below a number, or of the number itself as well."""
        places = np.searchsorted(self.others, number - self.values, "right" if closed else "left")
        return float(self.weights @ self.up_to[places])

    def above(self, number: float) -> float:
        """Add up the probabilities of sums above a number."""
        places = np.searchsorted(self.others, number - self.values, "right")
        return float(self.weights @ self.from_on[places])

    def within(self, low: float, high: float) -> float:
        """Add up the probabilities of sums from `low` to `high`."""
        first = np.searchsorted(self.others, low - self.values, "left")
        last = np.searchsorted(self.others, high - self.values, "right")
        return float(self.weights @ (self.up_to[last] - self.up_to[first]))

    def quantile(self, level: float) -> float:
        """Return the least sum with a cumulative probability of `level` or more, to rounding."""
        low, high = self.values[0] + self.others[0], self.values[-1] + self.others[-1]
        if self.below(low, closed=True) >= level:
            return float(low)
        first = np.searchsorted(self.others, low - self.values, "right")
        last = np.full(first.shape, self.others.size)
        for _ in range(64):
            middle = (low + high) / 2
            if int((last - first).sum()) <= _LISTED or not low < middle < high:
                break
            places = np.searchsorted(self.others, middle - self.values, "right")
            if self.weights @ self.up_to[places] < level:
                low, first = middle, places
            else:
                high, last = middle, places
        return self._listed(level, first, last, float(high))

    def _listed(
        self, level: float, first: NDArray[np.int64], last: NDArray[np.int64], high: float
    ) -> float:
        """Look the sums through of which each value has those of the others from first to last."""
        numbers = np.maximum(last - first, 0)
        if not 0 < numbers.sum() <= _LISTED:
            return high
        rows = np.repeat(np.arange(numbers.size), numbers)
        places = np.arange(rows.size) - np.repeat(np.cumsum(numbers) - numbers - first, numbers)
        sums = self.values[rows] + self.others[places]
        order = np.argsort(sums)
        chances = self.weights[rows] * (self.up_to[places + 1] - self.up_to[places])
        so_far = self.weights @ self.up_to[first] + np.cumsum(chances[order])
        place = int(np.searchsorted(so_far, level))
        return float(sums[order[place]]) if place < sums.size else high


def halves(topics: Sequence[Topic], most: int = MOST_OF_HALF) -> tuple[list[int], list[int]] | None:
    """Share topics out so that neither half has many documents that may turn out either way.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        Of any number of runs.
    most : int, default=22
        Documents of a half.

    Returns
    -------
    two lists of int, or None
        Topics by their place, as evenly as can be; ``None`` = one half has to have more.

    Examples
    --------
    >>> ranks = np.array([[1.0, 2.0, 3.0]])
    >>> three, one = (np.full(3, 0.5), ranks), (np.array([0.5, 1, 0]), ranks)
    >>> halves([three, one, one]), halves([three, three], most=2)
    (([0], [1, 2]), None)
    """
    numbers = [int(((p > 0) & (p < 1)).sum()) for p, _ in topics]
    total = sum(numbers)
    if total > 2 * most:
        return None
    reached: dict[int, list[int]] = {0: []}
    for place, number in enumerate(numbers):
        for size, chosen in list(reached.items()):
            reached.setdefault(size + number, [*chosen, place])
    best = min(reached, key=lambda size: (max(size, total - size), -size))
    if max(best, total - best) > most:
        return None
    first = reached[best]
    return first, [place for place in range(len(topics)) if place not in first]


def enumerate_outcomes(
    topics: Sequence[Topic],
    parts: tuple[list[int], list[int]],
    signs: Sequence[float] = (1.0, -1.0),
    *,
    empty: Empty = "given",
) -> Outcomes:
    """List the outcomes of both halves.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.variation`.
    parts : two lists of int
        From `halves`.
    signs : sequence of float, shape (n_runs,), default=(1, -1)
        What the AP of each run is multiplied by in the value of a topic: the default is the
        difference of two runs.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0.

    Notes
    -----
    O(n 2^n) time and O(2^n) memory in the random documents of a half.
    """
    check_chances([p for p, _ in topics], empty)
    sorted_halves = []
    for part in parts:
        totals, weights = np.zeros(1), np.ones(1)
        for place in part:
            values, own = _values(*topics[place], signs, empty)
            totals = np.add.outer(totals, values).ravel()
            weights = np.multiply.outer(weights, own).ravel()
        order = np.argsort(totals)
        sorted_halves.append((totals[order], weights[order]))
    (values, weights), (others, chances) = sorted_halves
    up_to = np.concatenate([[0.0], np.cumsum(chances)])
    from_on = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])
    return Outcomes(values, weights, others, up_to, from_on)


def enumerate_order(
    topics: Sequence[Topic],
    *,
    parts: tuple[list[int], list[int]] | None = None,
    empty: Empty = "given",
) -> tuple[float, float, float, float]:
    """Add up the probabilities of all outcomes in which the first run is above, below, and tied.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        Two runs; see `store.analysis.variation.variation`.
    parts : two lists of int, optional
        From `halves`; default: all topics in one half, whatever that takes.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0.

    Returns
    -------
    above, below, tied, error : float
        Probabilities; MAPs closer than 1e-12 are tied. `error` bounds what rounding does to them.

    Notes
    -----
    As `enumerate_outcomes`. None is a difference of others, so that small ones have their digits.

    Examples
    --------
    >>> topics = [(np.array([0.75]), np.array([[1.0], [np.inf]]))]
    >>> enumerate_order(topics)[:3], enumerate_order(topics, empty="zero")[:3]
    ((1.0, 0.0, 0.0), (0.75, 0.0, 0.25))
    """
    parts = parts or ([*range(len(topics))], [])
    outcomes = enumerate_outcomes(topics, parts, empty=empty)
    near = TIED_MAP * len(topics)
    return (
        outcomes.above(near),
        outcomes.below(-near, closed=False),
        outcomes.within(-near, near),
        outcomes.error,
    )


def _values(
    probabilities: NDArray[np.float64],
    ranks: NDArray[np.float64],
    signs: Sequence[float],
    empty: Empty,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the value for every outcome of a topic, and its probability."""
    random = np.flatnonzero((probabilities > 0) & (probabilities < 1))
    n_outcomes = 1 << random.size
    values, weights = np.empty(n_outcomes), np.empty(n_outcomes)
    for first in range(0, n_outcomes, _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, n_outcomes))
        outcomes = (numbers[:, None] >> np.arange(random.size) & 1).astype(np.bool_)
        relevant = np.tile(probabilities == 1, (numbers.size, 1))
        relevant[:, random] = outcomes
        p = probabilities[random]
        weights[numbers] = np.where(outcomes, p, 1 - p).prod(axis=1)
        total = np.zeros(numbers.size)
        for row, sign in zip(ranks, signs, strict=True):
            total += sign * _sums(relevant, row)
        values[numbers] = total / np.maximum(relevant.sum(axis=1), 1)
    if empty == "given" and not (probabilities == 1).any():
        # The outcome of number 0 has no relevant document.
        values, weights = values[1:], weights[1:] / chance_left(probabilities, empty)
    return values, weights


def _sums(relevant: NDArray[np.bool_], ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of precisions of one run for every outcome."""
    order = np.argsort(ranks)
    order = order[np.isfinite(ranks[order])]
    flags = relevant[:, order].astype(np.float64)
    return np.asarray((flags * flags.cumsum(axis=1)) @ (1 / ranks[order]))
