"""The outcomes of judging, all of them or the likeliest, and the order of runs in them.

The topics are shared out to two halves. A half of 22 documents that are neither sure nor impossible
has 4 million outcomes; of the two together, 2^44 of them, those below a number are added up by
looking every outcome of one half up in the sorted outcomes of the other.

Where few documents are relevant nearly all of the probability is in few outcomes, however many
documents may turn out either way; a normal law would miss the ties and the steps between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from store.analysis.run_order import TIED_MAP
from store.analysis.variation.collection import Topic
from store.analysis.variation.lists import Empty, chance_left, check_chances

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
        # Probabilities that add up to the level exactly do so but for rounding.
        level -= self.error
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

    def _listed(self, level: float, first: NDArray[np.int64], last: NDArray[np.int64], high: float) -> float:
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
    """Share topics out so that neither half has more than `most` documents that may turn out either way.

    Topics by their place, as evenly as can be; ``None`` = one half has to have more.

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
    """List the outcomes of both halves, `parts`: O(n 2^n) time and O(2^n) memory in the larger.

    `signs`, shape (n_runs,), are what the AP of each run is multiplied by in the value of a topic:
    by default its difference of two runs.
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
    topics: Sequence[Topic], *, parts: tuple[list[int], list[int]] | None = None, empty: Empty = "given"
) -> tuple[float, float, float, float]:
    """Add up the probabilities of all outcomes in which the first of two runs is above, below, and tied.

    `parts` are those of `halves`; default: all topics in one half, whatever that takes. MAPs closer than
    1e-12 are tied. The last number bounds what rounding does to the others, of which none is a difference, so
    that small ones have their digits.

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
    probabilities: NDArray[np.float64], ranks: NDArray[np.float64], signs: Sequence[float], empty: Empty
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
            total += sign * sums_of_precision(relevant, row)
        values[numbers] = total / np.maximum(relevant.sum(axis=1), 1)
    if empty == "given" and not (probabilities == 1).any():
        # The outcome of number 0 has no relevant document.
        values, weights = values[1:], weights[1:] / chance_left(probabilities, empty)
    return values, weights


def sums_of_precision(relevant: NDArray[np.bool_], ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of precisions of one run for every outcome, a row of `relevant`."""
    order = np.argsort(ranks)
    order = order[np.isfinite(ranks[order])]
    flags = relevant[:, order].astype(np.float64)
    return np.asarray((flags * flags.cumsum(axis=1)) @ (1 / ranks[order]))


_CELLS_OF_TOPIC = 1 << 14
_MOST_CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ListedTopic:
    """The likeliest outcomes of a topic."""

    values: NDArray[np.float64]
    """Shape (n_outcomes,): AP of the first run less that of the second."""
    weights: NDArray[np.float64]
    """Shape (n_outcomes,): their probabilities, among the outcomes that count."""

    @property
    def missed(self) -> float:
        """Probability of all other outcomes."""
        return max(0.0, 1.0 - float(self.weights.sum()))


@dataclass(frozen=True, slots=True)
class LikelyOrder:
    """The order of two runs in the likeliest outcomes of every topic: all is given one of them."""

    above: float
    """Probability that the first run has the higher MAP."""
    below: float
    """Probability that the second run has."""
    tied: float
    error: float
    """What the grid may have put on the wrong side of 0: as much as lies beside the ties."""
    missed: float
    """Probability of all other outcomes."""
    mean: float
    """Of the sum over topics of the differences of AP."""
    variance: float


def likely_order(
    topics: Sequence[Topic], most: int, most_missed: float, *, empty: Empty = "given"
) -> LikelyOrder | None:
    """Add up the probabilities of the likeliest outcomes in which either of two runs is above, or none.

    At most `most` outcomes are listed, of all topics together; ``None`` = others of a probability above
    `most_missed` would stay unlisted.

    The documents that neither run has count by their number alone. The values of a topic are rounded to cells
    of a grid of some 16,000 a topic, and the laws of the topics convolved there by FFT: of L topics a sum is
    off by L / 2 cells at most. O(most n + cells log cells) time.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run A lacks:

    >>> topic = (np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))
    >>> found = likely_order([topic], 4, 0.01, empty="zero")
    >>> [round(one, 9) for one in (found.above, found.below, found.tied)], found.missed
    ([0.25, 0.5, 0.25], 0.0)
    """
    bits = np.array([_information(*topic) for topic in topics])
    listed: list[ListedTopic] = []
    left, kept = most, 1.0
    for number, place in enumerate(np.argsort(bits, kind="stable").tolist()):
        share = left // (len(topics) - number)
        if share < 1 or bits[place] > log2(share):
            return None
        p, ranks = topics[place]
        one = list_topic(p, ranks, share, empty=empty)
        left -= one.values.size
        kept *= 1.0 - one.missed
        if 1.0 - kept > most_missed:
            return None
        listed.append(one)
    return _convolved(listed, 1.0 - kept)


def list_topic(
    probabilities: NDArray[np.float64], ranks: NDArray[np.float64], most: int, *, empty: Empty = "given"
) -> ListedTopic:
    """List the likeliest outcomes of a topic of two runs: `most`, or all where there are no more."""
    p = probabilities
    seen = np.isfinite(ranks).any(axis=0)
    random = np.flatnonzero((p > 0) & (p < 1) & seen)
    # The most uncertain first: later ones then turn the likeliest of the outcomes alone.
    turning = np.abs(np.log(p[random]) - np.log1p(-p[random]))
    random, turning = random[np.argsort(turning)], np.sort(turning)
    usual = p[random] > 0.5
    costs = np.zeros(1)
    turned = np.zeros((1, ceil(random.size / 8)), dtype=np.uint8)
    limit = np.inf
    for place, cost in enumerate(turning.tolist()):
        also = np.flatnonzero(costs + cost < limit)
        more = turned[also]
        more[:, place >> 3] |= np.uint8(1 << (place & 7))
        costs = np.concatenate([costs, costs[also] + cost])
        turned = np.concatenate([turned, more])
        if costs.size > most:
            kept = np.argpartition(costs, most - 1)[:most]
            costs, turned = costs[kept], turned[kept]
            limit = float(costs.max())
    law = law_of_number(p[~seen])
    unseen = np.flatnonzero(law)
    of_number = -np.log(law[unseen])
    least = float(of_number.min())
    together = np.add.outer(costs, of_number - least).ravel()
    kept = np.arange(together.size)
    if together.size > most:
        kept = np.argpartition(together, most - 1)[:most]
    row, column = np.divmod(kept, unseen.size)
    usually = float(np.log(np.where(usual, p[random], 1 - p[random])).sum()) - least
    weights = np.exp(usually - together[kept])
    n_relevant, values = np.empty(kept.size, dtype=np.int64), np.empty(kept.size)
    sure = (p == 1) & seen
    for start in range(0, kept.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        flipped = np.unpackbits(turned[row[part]], axis=1, bitorder="little")[:, : random.size]
        relevant = np.tile(sure, (flipped.shape[0], 1))
        relevant[:, random] = flipped.astype(np.bool_) ^ usual
        n_relevant[part] = relevant.sum(axis=1) + unseen[column[part]]
        values[part] = sums_of_precision(relevant, ranks[0]) - sums_of_precision(relevant, ranks[1])
    values /= np.maximum(n_relevant, 1)
    if empty == "given":
        some = n_relevant > 0
        values, weights = values[some], weights[some] / chance_left(p, empty)
    return ListedTopic(values, weights)


def law_of_number(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely 0, 1, 2 ... of independent documents are relevant."""
    law = np.ones(1)
    for one in probabilities[probabilities > 0].tolist():
        law = np.convolve(law, [1 - one, one])
    return law


def _information(probabilities: NDArray[np.float64], ranks: NDArray[np.float64]) -> float:
    """Return the entropy of the outcomes of a topic that its runs tell apart, in bits."""
    p = probabilities[np.isfinite(ranks).any(axis=0)]
    p = p[(p > 0) & (p < 1)]
    return float(-(p * np.log2(p) + (1 - p) * np.log1p(-p) / np.log(2)).sum())


def _convolved(listed: Sequence[ListedTopic], missed: float) -> LikelyOrder:
    """Add the topics up on a grid; see `likely_order`."""
    from scipy.fft import irfft, rfft

    means = [float(np.average(one.values, weights=one.weights)) for one in listed]
    variance = sum(
        float(np.average((one.values - mean) ** 2, weights=one.weights))
        for one, mean in zip(listed, means, strict=True)
    )
    reach = sum(float(np.abs(one.values).max(initial=0.0)) for one in listed)
    if not reach:
        return LikelyOrder(0.0, 0.0, 1.0, 0.0, missed, 0.0, 0.0)
    n_topics = len(listed)
    n_cells = min(_MOST_CELLS, 1 << ceil(log2(_CELLS_OF_TOPIC * n_topics)))
    cell = 2 * reach / (n_cells - 2 * n_topics - 2)
    transform = np.ones(n_cells // 2 + 1, dtype=np.complex128)
    for one in listed:
        places = np.rint(one.values / cell).astype(np.int64) % n_cells
        transform *= rfft(np.bincount(places, one.weights, n_cells) / one.weights.sum())
    law = np.maximum(irfft(transform, n_cells), 0.0)
    # A sum of L topics is off by L / 2 cells: ties lie that near to 0, on a smooth part that is as
    # high as what follows.
    near = ceil(n_topics / 2)
    above, below = law[1 : n_cells // 2], law[: n_cells // 2 - 1 : -1]
    doubtful = float(above[:near].sum() + below[:near].sum())
    smooth = min(doubtful, float(above[near : 2 * near].sum() + below[near : 2 * near].sum()))
    rounding = float(np.finfo(np.float64).eps * n_cells)
    return LikelyOrder(
        above=float(above[near:].sum()) + smooth / 2,
        below=float(below[near:].sum()) + smooth / 2,
        tied=float(law[0]) + doubtful - smooth,
        error=smooth + rounding,
        missed=missed,
        mean=sum(means),
        variance=variance,
    )
