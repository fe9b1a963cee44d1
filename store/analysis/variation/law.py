"""The law of one run's MAP: quantiles, intervals.

Imaginary z give the characteristic function, from which the law of AP follows; real z bound its
tails.

Mean and variance leave open how likely a far value is. The characteristic function of AP has a
closed recurrence, that of MAP is a product over topics, and the law follows by Fourier inversion,
with a bound of its error. Of the difference of two runs no such form is known: it has all outcomes, or the
normal law.

MAP takes finitely many values, so that its distribution function is made of steps, and steps have
no convergent Fourier integral. What is inverted is the law of MAP + h Z instead, Z standard normal
and h a small part of the standard deviation: F(x) = E[Phi((x - MAP) / h)], which tends to
P(MAP < x) + P(MAP = x) / 2 (the mid-distribution function) as h tends to 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.agreement.intervals import LEVEL
from store.analysis.variation.collection import CollectionVariation, Topic, pair_components, run_components
from store.analysis.variation.lists import Empty, chance_left, check_lists
from store.analysis.variation.moments import third_moment
from store.analysis.variation.outcomes import enumerate_outcomes, halves, law_of_number
from store.errors import ArgumentError

_DROPPED = 1e-14
"""Probability of outcomes left out, those with far too many or too few relevant documents."""

_BLOCK = 1 << 16
"""Complex numbers worked on at once: 1 MB."""

Values = NDArray[Any]
"""Of complex128, or of float64 where all is real: three times as fast."""


class RunTransform:
    r"""The transform of one run's AP, ready to be computed at many points.

    The arguments are those of `store.analysis.variation.moments.variation`, of one run; its ranks may be of
    shape (n_documents,).

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

    def __init__(self, probabilities: ArrayLike, ranks: ArrayLike, *, empty: Empty = "given") -> None:
        places = np.atleast_2d(np.asarray(ranks, dtype=np.float64))
        if len(places) != 1:
            raise ArgumentError("ranks", "must be of one run", places.shape)
        lists = check_lists(probabilities, places)
        lists = lists.without(lists.probabilities == 0)
        self._left = chance_left(lists.probabilities, empty)
        self._empty = empty
        order = lists.order[0]
        n_retrieved = int(lists.n_retrieved[0])
        self._ranks = lists.ranks[0, order[:n_retrieved]]
        self._p = lists.probabilities[order[:n_retrieved]]
        self._unretrieved = law_of_number(lists.probabilities[order[n_retrieved:]])
        self._so_far = count_law(self._p)
        """Row i: the law of the number of relevant documents among the first i."""
        self._all = np.convolve(self._so_far[-1], self._unretrieved)
        low, high = _likely_values(self._all, _DROPPED * self._left / 2)
        self.cost = n_retrieved * (high - low + 1) ** 2
        """What a point costs, in no unit."""

    def transform(self, z: Values) -> Values:
        """Compute E[exp(z AP)], of the type and the shape (n_points,) of z, complex128 or float64.

        The real part of z is at most 600 either way. To an absolute error of 1e-14, and as much by rounding;
        for real z as `bound` has it. O(n_documents k c) a point, k and c being the numbers of values kept.
        `ArgumentError` if no outcome is left: `cost` is known all the same.
        """
        if not self._left:
            requirement = "must have one above 0, or `empty` be zero"
            raise ArgumentError("probabilities", requirement, self._p.tolist())
        steepest = float(np.abs(z.real).max(initial=0.0))
        # Outcomes left out are worth at most exp(|Re z|) each.
        allowed = _DROPPED * self._left * math.exp(-steepest) / 2
        first, last = _likely_values(self._all, allowed)
        relevant = np.arange(max(first, 1), last + 1)
        first_term = self._all[0] if self._empty == "zero" else 0.0
        found = np.full(z.shape, first_term, dtype=z.dtype)
        if not relevant.size:
            return found
        windows = [_likely_values(law, allowed / len(self._so_far)) for law in self._so_far]
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

    def _sum(self, z: Values, relevant: NDArray[np.int64], windows: list[tuple[int, int]]) -> Values:
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

    Shape (n_documents + 1, n_documents + 1): row i, column c is the probability that c of the first
    i are relevant, judgements being independent. O(n_documents**2).

    >>> count_law(np.array([0.5, 0.5]))[-1].tolist()
    [0.25, 0.5, 0.25]
    """
    law = np.zeros((probabilities.size + 1, probabilities.size + 1))
    law[0, 0] = 1
    for place, p in enumerate(probabilities):
        law[place + 1] = law[place] * (1 - p)
        law[place + 1, 1:] += law[place, :-1] * p
    return law


def _likely_values(law: NDArray[np.float64], allowed: float) -> tuple[int, int]:
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


RESOLUTION = 0.05
"""h, in standard deviations of MAP: it moves the ends of an interval by some 0.3% of one."""

MOST_NODES = 1 << 14
"""Values of theta at most; where more were needed, h is larger than asked for."""

_OUTSIDE = 1e-11
"""Bound of the probability of MAP + h Z beyond either end of the window."""
_STEEPNESS = math.sqrt(-2 * math.log(_OUTSIDE))
_LAST = 7.0
"""h theta at the last node: exp(-24.5) is left there of any characteristic function."""
_SMALL = 1e-13
"""A term of the sum below this is left out; its bound goes into the error."""

Topics = Sequence[tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True, slots=True, eq=False)
class MapLaw:
    """The law of MAP + h Z."""

    low: float
    """MAP + h Z is below with a probability of at most 1e-11."""
    high: float
    """MAP + h Z is above with a probability of at most 1e-11; equals `low` if MAP is constant."""
    resolution: float
    """h, in MAP; 0 = MAP is constant, or its standard deviation below 1e-11."""
    error: float
    """Bound of the error of `below`, rounding apart."""
    theta: NDArray[np.float64]
    """Shape (n_nodes,): (m + 1/2) 2 pi / (high - low), without those of negligible terms."""
    terms: NDArray[np.complex128]
    """Shape (n_nodes,): characteristic function of MAP + h Z by pi (m + 1/2)."""

    def below(self, x: ArrayLike) -> NDArray[np.float64]:
        r"""Return F(x) = E[Phi((x - MAP) / h)] of scores of any shape, in [0, 1], by Davies' sum.

        True probabilities are between its values nearby:
        P(MAP <= x - 6h) - 1e-9 < F(x) < P(MAP < x + 6h) + 1e-9.

        :math:`F(x) = 1/2 - \sum_m Im(\phi(\theta_m) e^{-i \theta_m x}) / (\pi (m + 1/2))` (Davies
        1973), whose error is at most the probability of being a whole window away from x.
        O(n_nodes) a score.
        """
        scores = np.asarray(x, dtype=np.float64)
        if not self.theta.size:
            return (np.sign(scores - self.low) + 1) / 2
        flat = scores.ravel()
        found = np.empty(flat.shape)
        step = max(1, (1 << 20) // self.theta.size)
        for start in range(0, flat.size, step):
            part = flat[start : start + step, None]
            found[start : start + step] = 0.5 - (np.exp(-1j * part * self.theta) @ self.terms).imag
        found[flat <= self.low] = 0.0
        found[flat >= self.high] = 1.0
        return np.clip(found, 0.0, 1.0).reshape(scores.shape)

    def quantile(self, level: float) -> float:
        """Return the x with F(x) = level, between 0 and 1; of a constant MAP that constant.

        A level nearer than 1e-9 to 0 or 1 has a rough answer.
        """
        if not 0 < level < 1:
            raise ArgumentError("level", "must be between 0 and 1", level)
        low, high = self.low, self.high
        # Halved until the next number: 60 times is enough for any window within [-1, 2].
        for _ in range(60):
            middle = (low + high) / 2
            if float(self.below(middle)) < level:
                low = middle
            else:
                high = middle
        return (low + high) / 2


def map_law(topics: Topics, *, empty: Empty = "given", resolution: float = RESOLUTION) -> MapLaw:
    """Compute the law of one run's MAP, and what its error is at most, about 1e-10.

    `topics`, at least one, are as for `RunTransform`. `resolution` is h, in standard deviations of MAP
    (estimated to some per cent), above 0; smaller tells single values apart, at a cost of 1 / h.

    The characteristic function is the product over L topics of AP's at theta / L; see `RunTransform`.

    The window is Chernoff's, from E[exp(s MAP)] at some real s. Some 2 / h values of theta are needed, but
    with many topics |phi| is negligible at most of them after a few topics, and the rest is not computed.
    Fifty topics of 30 uncertain documents take half a second, of 100 four seconds, of 200 some fifteen; the
    cost grows with the square of the documents, and with few topics more values of theta count.
    `store.analysis.variation.moments` gives a normal law at once. The sum that makes probabilities of it is
    that of R. B. Davies, "Numerical inversion of a characteristic function", *Biometrika* 60(2), 415-417,
    1973.

    >>> law = map_law([([0.5, 0.5], [1, 2])], resolution=0.01)
    >>> law.below([0.25, 0.5, 0.75]).round(6).tolist()
    [0.0, 0.166667, 0.333333]
    """
    if not resolution > 0 or not math.isfinite(resolution):
        raise ArgumentError("resolution", "must be a number above 0", resolution)
    if not len(topics):
        raise ArgumentError("topics", "must be at least one", None)
    prepared = [RunTransform(p, ranks, empty=empty) for p, ranks in topics]
    scale = _scale(prepared)
    if not scale:
        # MAP, at most 1, is the phase at theta = 1.
        constant = float(np.angle(_transform(prepared, np.array([1j])))[0])
        nothing = np.empty(0)
        return MapLaw(constant, constant, 0.0, 0.0, nothing, nothing.astype(np.complex128))
    h = resolution * scale
    low, high = _window(prepared, scale, h)
    while _LAST * (high - low) > 2 * math.pi * h * MOST_NODES:
        h *= 2
        low, high = _window(prepared, scale, h)
    step = 2 * math.pi / (high - low)
    places = np.arange(math.ceil(_LAST / (h * step))) + 0.5
    theta = np.asarray(places * step, dtype=np.float64)
    starts = np.exp(-((h * theta) ** 2) / 2) / (math.pi * places)
    terms = starts.astype(np.complex128)
    left_out = 0.0
    kept = np.arange(theta.size)
    for topic in sorted(prepared, key=lambda one: one.cost):
        terms[kept] *= topic.transform(1j * theta[kept] / len(prepared))
        is_small = np.abs(terms[kept]) < _SMALL
        left_out += float(np.abs(terms[kept[is_small]]).sum())
        kept = kept[~is_small]
    beyond = math.exp(-(_LAST**2) / 2) / (math.pi * places[-1] * -math.expm1(-_LAST * h * step))
    error = 2 * _OUTSIDE + left_out + beyond + len(prepared) * 1e-13 * float(starts.sum())
    return MapLaw(low, high, h, error, theta[kept], terms[kept])


def _transform(topics: list[RunTransform], z: Values) -> NDArray[np.complex128]:
    """Compute E[exp(z MAP)]."""
    product = np.ones(z.shape, dtype=np.complex128)
    for topic in topics:
        product *= topic.transform(z / len(topics))
    return product


def _scale(topics: list[RunTransform]) -> float:
    """Estimate the standard deviation of MAP from how |phi| begins to fall; 0 = constant."""
    for theta in (1.0, 1e2, 1e4, 1e6, 1e8):
        lost = -math.log(abs(complex(_transform(topics, np.array([1j * theta]))[0])))
        if lost > 1e-6:
            return math.sqrt(2 * lost) / theta
    return 0.0


def _window(topics: list[RunTransform], scale: float, h: float) -> tuple[float, float]:
    """Find a window that MAP + h Z leaves with a probability of at most `_OUTSIDE` a side."""
    ends = [-8 * h, 1 + 8 * h]
    # The best s of a normal law; beyond 600 a topic, exp would overflow.
    s = min(_STEEPNESS / math.hypot(scale, h), 600.0 * len(topics))
    for side, sign in enumerate((-1, 1)):
        logarithm = sum(math.log(topic.bound(sign * s / len(topics))) for topic in topics)
        # P(Y >= x) <= E[exp(s Y)] exp(-s x) for each s > 0.
        end = (logarithm + (s * h) ** 2 / 2 - math.log(_OUTSIDE)) / s
        ends[side] = min(ends[side], end) if sign > 0 else max(ends[side], -end)
    return ends[0], ends[1]


IntervalLaw = Literal["enumeration", "inversion", "normal"]
"""How an interval was found; see `run_intervals`."""

MOST_OF_HALF = 16
"""Random documents of half of the topics up to which all outcomes are listed: the quantiles look
them through some forty times."""
MOST_INVERTED = 5e6
"""Costs of the runs' transforms, added up, to which characteristic functions are inverted: some
five seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class RunIntervals:
    """Where MAP will be when all topics are judged again; arrays of shape (n_runs,)."""

    low: NDArray[np.float64]
    """In [0, 1]; MAP is lower with probability .025 at most."""
    high: NDArray[np.float64]
    """In [0, 1]; MAP is higher with probability .025 at most."""
    error: NDArray[np.float64]
    """What an end is known to, in MAP: 0 of enumeration, the resolution of inversion, and NaN = not
    known of the normal law."""
    law: IntervalLaw


def run_intervals(
    topics: Sequence[Topic], varied: CollectionVariation, *, progress: Callable[[int], None] | None = None
) -> RunIntervals:
    """Compute the interval of every run, all by one law.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation`; R counts all documents (pool mode).
    varied : CollectionVariation
        The moments of these topics; their rule for R = 0 counts.

    Returns
    -------
    RunIntervals
        Of probability .95, the rest being shared by both sides. A constant MAP twice, where nothing varies.

    Notes
    -----
    A quantile is the least value with a cumulative probability of so much. By all outcomes, where
    the topics fall into two halves of at most 16 documents each that are neither sure nor
    impossible; else by inversion of the characteristic function (`map_law`), where that takes
    seconds; else by the normal law, cut off at 0 and 1, whose tails are as thin on either side,
    while those of MAP are not.

    Examples
    --------
    Two documents at ranks 1 and 2, each relevant half of the time: AP is 1, 1 or 1/2.

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[1.0, 2.0]]))]
    >>> found = run_intervals(topics, collection_variation(topics))
    >>> found.low.tolist(), found.high.tolist(), found.law
    ([0.5], [1.0], 'enumeration')
    """
    n_runs = len(varied.mean)
    ends = np.empty((n_runs, 2))
    error = np.zeros(n_runs)
    parts = halves(topics, MOST_OF_HALF)
    law: IntervalLaw = "enumeration"
    if parts is None:
        law = "inversion" if _cost(topics, n_runs) <= MOST_INVERTED else "normal"
    if law == "normal":
        low, high = run_components(varied).interval()
        unknown = np.full(n_runs, np.nan)
        return RunIntervals(np.maximum(low, 0.0), np.minimum(high, 1.0), unknown, law)
    for run in range(n_runs):
        if parts is not None:
            ends[run] = _enumerated([(p, ranks[[run]]) for p, ranks in topics], parts, (1.0,), varied.empty)
        else:
            rows = [(p, ranks[run]) for p, ranks in topics]
            own_law = map_law(rows, empty=varied.empty)
            ends[run] = [own_law.quantile((1 + side * LEVEL) / 2) for side in (-1, 1)]
            error[run] = own_law.resolution
        if progress is not None:
            progress(1)
    low, high = np.clip(ends, 0.0, 1.0).T
    return RunIntervals(low, high, error, law)


def difference_interval(
    topics: Sequence[Topic], varied: CollectionVariation, first: int = 0, second: int = 1
) -> tuple[float, float, IntervalLaw]:
    """Compute the interval of the difference of the MAPs of two rows when all topics are judged again.

    In [-1, 1], of probability .95, the rest being shared by both sides: by all outcomes, with as many
    documents as `run_intervals` enumerates; else by the normal law.

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[1.0, 2.0], [2.0, np.inf]]))]
    >>> difference_interval(topics, collection_variation(topics))
    (0.5, 0.75, 'enumeration')
    """
    parts = halves(topics, MOST_OF_HALF)
    if parts is None:
        low, high = pair_components(varied, (np.array([first]), np.array([second]))).components.interval()
        return float(low[0]), float(high[0]), "normal"
    two = [(p, ranks[[first, second]]) for p, ranks in topics]
    return *_enumerated(two, parts, (1.0, -1.0), varied.empty), "enumeration"


def map_skewness(
    topics: Sequence[Topic], varied: CollectionVariation, first: int, second: int | None = None
) -> float:
    """Compute the skewness of a MAP, or of its difference from another, when all topics are judged again.

    NaN where nothing varies. The time grows with the square of the documents of a topic that are neither sure
    nor impossible (`third_moment`).

    Examples
    --------
    A document at rank 1 that is relevant with a probability p of .75: (1 - 2 p) / sqrt(p (1 - p)).

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.75]), np.array([[1.0]]))]
    >>> round(map_skewness(topics, collection_variation(topics, empty="zero"), 0), 6)
    -1.154701
    """
    third, variance = 0.0, 0.0
    for (p, ranks), covariance in zip(topics, varied.covariance, strict=True):
        other = np.full(p.size, np.inf) if second is None else ranks[second]
        third += third_moment(p, np.stack([ranks[first], other]), empty=varied.empty)
        variance += covariance[first, first]
        if second is not None:
            variance += covariance[second, second] - 2 * covariance[first, second]
    return float(third / variance**1.5) if variance > 0 else math.nan


def _enumerated(
    topics: Sequence[Topic], parts: tuple[list[int], list[int]], signs: Sequence[float], empty: Empty
) -> tuple[float, float]:
    """Return the ends of the interval of a mean over topics by all outcomes."""
    outcomes = enumerate_outcomes(topics, parts, signs, empty=empty)
    low, high = (outcomes.quantile((1 + side * LEVEL) / 2) / len(topics) for side in (-1, 1))
    return low, high


def _cost(topics: Sequence[Topic], n_runs: int) -> float:
    """Add up what a point of the transforms of all runs costs, as far as it is within bounds."""
    total = 0.0
    for p, ranks in topics:
        for run in range(n_runs):
            # Many documents cost more than the square of those that a run has, surely.
            total += max(0, int((np.isfinite(ranks[run]) & (p > 0)).sum()))
            if total > MOST_INVERTED:
                return total
    for cost in (RunTransform(p, ranks[run]).cost for p, ranks in topics for run in range(n_runs)):
        total += cost
        if total > MOST_INVERTED:
            break
    return total
