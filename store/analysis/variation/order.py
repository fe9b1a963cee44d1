"""How likely another judging turns two runs about.

The topics stay, the judgements vary. Five ways, from exact for some forty documents
to a normal law for thousands; `order_probability` takes the one that the numbers allow, and names
it and its error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import erfc, exp, pi, prod, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.run_order import TIED_MAP
from store.analysis.variation.collection import (
    CollectionVariation,
    Topic,
    collection_variation,
    difference_variance,
)
from store.analysis.variation.lists import Empty, chance_left, chance_of_any, check_chances
from store.analysis.variation.moments import judgement_weights, third_moment, variation, variation_gradient
from store.analysis.variation.outcomes import MOST_OF_HALF, LikelyOrder, enumerate_order, halves, likely_order
from store.errors import ArgumentError

Method = Literal["enumeration", "likely", "skewness", "mixture", "normal"]
"""How a probability was found; see `order_probability`."""

MOST_SKEWED = 0.3
"""Skewness up to which the correction of the normal law is an improvement."""
MOST_Z = 2.0
"""Expected difference over its standard deviation below which the correction is used: far out in
the tail it is larger than what it corrects, and may turn a probability negative."""
MOST_MOVED = 0.0665
"""By how much a skewness of 1 moves the normal law at most: the density at 0 over 6."""
MOST_OF_SQUARE = 0.0321
"""By how much the square of a skewness of 1 does, in the next term of Edgeworth's series: the most
of (z^5 - 10 z^3 + 15 z) times the density, over 72."""
MOST_CORRECTED = 400_000
"""Squares of the topics' numbers of random documents, added up, to which the skewness is computed:
some seconds. Ten topics of 200 documents have as many."""
MOST_MISSED = 0.1
"""Probability up to which outcomes may stay unlisted, where the likely ones are."""
LEAST_MISSED = 1e-6
"""Probability of outcomes below which their moments are lost in rounding."""
MOST_LISTED = 1 << 19
"""Likely outcomes of a pair, all topics together: some seconds."""
LEAST_ATOM = 1e-4
"""Probability of no relevant document among those ranked differently, below which it is left in."""
STEPS = 0.02
"""What the steps of a law are told to put a smooth one off by, over the root of the number of
topics and as much again for each 1 of skewness. Measured: of some 200 random collections of 1 to 40
topics two were further from simulation than the law's own estimate and this, by .012 at most."""
MIXED = 10
"""Documents whose outcomes the mixture takes one by one."""
LESS_MIXED = 5
"""Documents of the mixture that errors are estimated by."""


@dataclass(frozen=True, slots=True)
class OrderProbability:
    """What becomes of the order of two runs when the topics are judged anew."""

    above: float
    """Probability that the first run has the higher MAP."""
    below: float
    """Probability that the second run has the higher MAP."""
    tied: float | None
    """Probability that both have the same; ``None`` = the method cannot tell it from 0. By a
    mixture or a corrected law only the ties by documents that both rank alike are in it."""
    method: Method
    skewness: float | None
    """Of the difference in MAPs; ``None`` = not looked at, or nothing varies."""
    error: float | None
    """Of `above` and `below`: a bound where outcomes were enumerated, of rounding, or where likely
    ones were, of what is missed; else an estimate by another law. ``None`` = not looked at."""


def order_probabilities(varied: CollectionVariation) -> NDArray[np.float64]:
    r"""Compute for every two runs how likely the first comes to be above, by the normal law.

    Shape (n_runs, n_runs), row above column: :math:`\Phi(z)`, z being the expected difference in MAPs over
    its standard deviation by judging. 1, 1/2 or 0 where nothing varies; 1/2 on the diagonal. O(n_runs^2).
    `order_probability` is better for one pair.
    """
    mean, covariance = varied.map_mean, varied.map_covariance
    own = np.diagonal(covariance)
    variance = difference_variance(own[:, None], own, covariance)
    difference = mean[:, None] - mean
    varies = variance > TIED_MAP**2
    certain = np.where(np.abs(difference) <= TIED_MAP, 0.0, np.copysign(np.inf, difference))
    if not varies.any():
        return (1 + np.sign(certain)) / 2
    from scipy.special import ndtr

    z = np.divide(difference, np.sqrt(variance), out=certain, where=varies)
    return np.asarray(ndtr(z), dtype=np.float64)


def expected_tau(above: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Compute the Kendall tau that the order of another judging has with this one, on average.

    `above`, shape (n_runs, n_runs), is of `order_probabilities`, and `reference`, shape (n_runs,), are the
    scores of this judging. The mean over the pairs of ``2 P - 1``, P being the probability that the pair
    stays as it is; pairs tied in `reference` count as 0. NaN with fewer than two runs.

    Examples
    --------
    One pair that swaps one time of four:

    >>> expected_tau(np.array([[0.5, 0.75], [0.25, 0.5]]), np.array([0.4, 0.3]))
    0.5
    """
    first, second = np.triu_indices(len(reference), 1)
    if not first.size:
        return float("nan")
    difference = reference[first] - reference[second]
    sign = np.where(np.abs(difference) <= TIED_MAP, 0.0, np.sign(difference))
    return float((sign * (above[first, second] - above[second, first])).mean())


def expected_tau_ap(above: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Compute the tau_AP of this order that another one finds, on average; see `run_order.tau_ap`.

    The arguments are those of `expected_tau`; the first places are those of `reference`, and the other order
    is the truth. Runs tied in `reference` stand in the order of their rows, and count as half right. NaN with
    fewer than two runs.

    Examples
    --------
    Of three runs the first two may swap, or the last two, each one time of four:

    >>> above = np.array([[0.5, 0.75, 1.0], [0.25, 0.5, 1.0], [0.0, 0.0, 0.5]])
    >>> expected_tau_ap(above, np.array([0.9, 0.8, 0.1]))  # 2/2 (.75/1 + 2/2) - 1
    0.75
    >>> above = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 0.75], [0.0, 0.25, 0.5]])
    >>> expected_tau_ap(above, np.array([0.9, 0.8, 0.1]))  # 2/2 (1/1 + 1.75/2) - 1
    0.875
    """
    n_runs = len(reference)
    if n_runs < 2:
        return float("nan")
    rows = np.argsort(-reference, kind="stable")
    stays = np.where(np.abs(reference[:, None] - reference) <= TIED_MAP, 0.5, above)[np.ix_(rows, rows)]
    shares = np.triu(stays, 1).sum(axis=0)[1:] / np.arange(1, n_runs)
    return float(2 * shares.mean() - 1)


def order_probability(
    topics: Sequence[Topic],
    first: int = 0,
    second: int = 1,
    *,
    method: Method | None = None,
    varied: CollectionVariation | None = None,
    most_of_half: int = MOST_OF_HALF,
    most_listed: int = MOST_LISTED,
    by_document: float | None = None,
    empty: Empty = "given",
) -> OrderProbability:
    r"""Compute how likely one run has the higher MAP when the same topics are judged anew.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation`; R counts all documents (pool mode).
    first, second : int, default=0, 1
        Rows of the two runs.
    method : {"enumeration", "skewness", "mixture", "normal"}, optional
        Default: every outcome, where the topics fall into two halves of at most 22 documents each
        that are neither sure nor impossible; else the likely outcomes of every topic, where half a
        million of them hold 90% of the probability, and the normal law for the others; else, the
        ties apart, the normal distribution corrected for skewness where that is below .3 and \|z\| below 2;
        else the mixture. Where the documents are so many that the skewness would take long (squares
        of the numbers by topic above 400,000 in all), its part by single documents is looked at in
        its place, and where that is below .3 the law is the normal one.
    varied : CollectionVariation, optional
        The moments of these topics, where they are there already; their rule for R = 0 counts.
    most_of_half : int, default=22
        Documents of a half of the topics up to which outcomes are enumerated; less is quicker.
    most_listed : int, default=2**19
        Likely outcomes to list at most; less is quicker, and 0 is none.
    by_document : float, optional
        The part of the third moment by single documents, where it is there already.
    empty : {"given", "zero"}, default="given"
        The rule for R = 0, of `store.analysis.variation.lists`.

    Returns
    -------
    OrderProbability
        `tied` is a number where outcomes were listed, and 1 or 0 where nothing varies. `ArgumentError` for
        "enumeration" of too many documents, and "skewness" where z is too far from 0.

    Notes
    -----
    With D, V and :math:`k_3` the sums over topics of mean, variance and third central moment of the
    difference, :math:`z = D / \sqrt V` and :math:`\gamma = k_3 / V^{3/2}`, the corrected law is
    :math:`\Phi(z) + \gamma (z^2 - 1) \phi(z) / 6`. Where a tie by no relevant document among those
    that the runs rank differently has a probability above .0001, it is exact and taken apart, and
    the law is of the difference given none. The mixture takes the ten documents on which the
    difference depends most one by one, as relevant and as not, and a normal law for the rest; its
    error is estimated by what the last five of them changed, and that of the corrected law by its
    distance from the mixture of five, or by the next term that has the skewness in it, if that is
    more; to both is added what the steps may be that a smooth law has not. A `method` that is asked
    for is the plain one. Where the normal law is taken for many documents, the error is what a
    correction would add at most.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run A lacks:

    >>> topic = (np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))
    >>> found = order_probability([topic], empty="zero")
    >>> found.above, found.below, found.tied, found.method
    (0.25, 0.5, 0.25, 'enumeration')
    """
    if not topics:
        raise ArgumentError("topics", "must be one or more", "none")
    rule = empty if varied is None else varied.empty
    check_chances([p for p, _ in topics], rule)
    two = [(np.asarray(p), np.asarray(ranks)[[first, second]]) for p, ranks in topics]
    parts = halves(two, most_of_half) if method in (None, "enumeration") else None
    if method == "enumeration" and parts is None:
        n_random = sum(int(((p > 0) & (p < 1)).sum()) for p, _ in two)
        requirement = f"must not be enumeration with more than {most_of_half} documents of a half"
        raise ArgumentError("method", requirement, n_random)
    if parts is not None:
        above, below, tied, error = enumerate_order(two, parts=parts, empty=rule)
        return OrderProbability(above, below, tied, "enumeration", None, error)
    if varied is None:
        varied, pair = collection_variation(two, empty=rule), [0, 1]
    else:
        pair = [first, second]
    differences = varied.mean[pair[0]] - varied.mean[pair[1]]
    variances = np.array([_of_difference(one[np.ix_(pair, pair)]) for one in varied.covariance])
    total, spread = float(differences.sum()), float(variances.sum())
    if spread <= TIED_MAP**2:
        return _certain(total)
    z = total / sqrt(spread)
    if method == "normal":
        return _normal(z, None)
    if method is None and most_listed:
        likely = likely_order(two, most_listed, MOST_MISSED, empty=rule)
        if likely is not None:
            return _with_rest(likely, total, spread)
    mixture = _Mixture(two, differences, variances, rule, apart=method is None)
    if method is None and _squares(two) > MOST_CORRECTED:
        third = _third_moment(two, rule)[0, 1] if by_document is None else by_document
        skewness = third / spread**1.5
        if abs(skewness) < MOST_SKEWED:
            atom = prod(_chance_of_none(*one, rule) for one in two)
            moved = abs(skewness) * MOST_MOVED + atom / 2
            return OrderProbability(_phi(z), _phi(-z), None, "normal", None, moved)
        return mixture.order(None)
    third = sum(third_moment(p, ranks, empty=rule) for p, ranks in two)
    skewness = third / spread**1.5
    corrects = abs(z) < MOST_Z
    if method == "skewness" and not corrects:
        requirement = f"must not be skewness with |z| of {MOST_Z:g} or more"
        raise ArgumentError("method", requirement, z)
    if method == "skewness":
        above = _corrected(z, skewness)
        return OrderProbability(above, 1 - above, None, "skewness", skewness, None)
    if method == "mixture":
        return mixture.order(skewness)
    atom = prod(_chance_of_none(*one, rule) for one in two)
    rest = _Rest.of(atom, total, spread, third)
    corrects = rest is not None and abs(rest.z) < MOST_Z and abs(rest.skewness) < MOST_SKEWED
    if rest is None or not corrects:
        return mixture.order(skewness)
    above = rest.share * _corrected(rest.z, rest.skewness)
    error = max(abs(above - mixture.of(LESS_MIXED)[0]), MOST_OF_SQUARE * rest.skewness**2)
    return OrderProbability(
        above,
        rest.share - above,
        (1 - rest.share) or None,
        "skewness",
        skewness,
        error + _of_steps(len(two), skewness),
    )


def _with_rest(likely: LikelyOrder, mean: float, variance: float) -> OrderProbability:
    """Add to likely outcomes what the moments of all say of the others, by the normal law."""
    kept, missed = 1 - likely.missed, likely.missed
    up = 0.5
    if missed > LEAST_MISSED:
        rest = (mean - kept * likely.mean) / missed
        square = (variance + mean**2 - kept * (likely.variance + likely.mean**2)) / missed
        spread = square - rest**2
        up = _phi(rest / sqrt(spread)) if spread > TIED_MAP else float(rest > 0)
    return OrderProbability(
        kept * likely.above + missed * up,
        kept * likely.below + missed * (1 - up),
        kept * likely.tied,
        "likely",
        None,
        kept * likely.error + missed * max(up, 1 - up),
    )


def _of_steps(n_topics: int, skewness: float | None) -> float:
    """Return what a smooth law may be off by for its lack of steps."""
    return STEPS * (1 + abs(skewness or 0.0)) / sqrt(n_topics)


def _corrected(z: float, skewness: float) -> float:
    """Return the normal distribution corrected for skewness."""
    density = exp(-z * z / 2) / sqrt(2 * pi)
    return _phi(z) + skewness / 6 * (z * z - 1) * density


def _chance_of_none(p: NDArray[np.float64], ranks: NDArray[np.float64], empty: Empty) -> float:
    """Return how likely no document that the two runs rank differently is relevant in a topic."""
    some = chance_of_any(p[ranks[0] != ranks[1]])
    return max(0.0, 1 - some / chance_left(p, empty))


@dataclass(frozen=True, slots=True)
class _Rest:
    """The difference of two runs, given that it is not 0 for want of a relevant document."""

    share: float
    """Probability that it is not."""
    z: float
    skewness: float

    @classmethod
    def of(cls, atom: float, mean: float, variance: float, third: float) -> _Rest | None:
        """Take the outcomes at 0 out of the moments; ``None`` = nothing varies in the rest."""
        share = 1.0 if atom < LEAST_ATOM else 1 - atom
        if share <= LEAST_ATOM:
            return None
        own = mean / share
        square = (variance + mean**2) / share
        cube = (third + 3 * mean * variance + mean**3) / share
        spread = square - own**2
        if spread <= TIED_MAP**2:
            return None
        skewness = (cube - 3 * own * square + 2 * own**3) / spread**1.5
        return cls(share, own / sqrt(spread), skewness)


def _squares(topics: Sequence[Topic]) -> int:
    """Add up the squares of the numbers of random documents that either run has."""
    numbers = (np.count_nonzero((p > 0) & (p < 1) & np.isfinite(ranks).any(axis=0)) for p, ranks in topics)
    return sum(int(one) ** 2 for one in numbers)


class _Mixture:
    """Outcomes of few documents one by one, and a normal law of what they leave open."""

    def __init__(
        self,
        topics: Sequence[Topic],
        expected: NDArray[np.float64],
        spread: NDArray[np.float64],
        empty: Empty,
        *,
        apart: bool,
    ) -> None:
        self._topics = topics
        self._expected = expected
        """Mean of the difference by topic."""
        self._spread = spread
        """Its variance by topic."""
        self._empty: Empty = empty
        self._apart = apart
        """Whether ties for want of a relevant document are taken apart."""

    def order(self, skewness: float | None) -> OrderProbability:
        """Return the order by ten documents; the error is what the last five of them changed."""
        above, below, tied = self.of(MIXED)
        fewer, less, _ = self.of(LESS_MIXED)
        error = max(abs(above - fewer), abs(below - less))
        error += _of_steps(len(self._topics), skewness) if self._apart else 0.0
        return OrderProbability(above, below, tied or None, "mixture", skewness, error)

    def of(self, most: int) -> tuple[float, float, float]:
        """Return how likely the first run is above, below and tied, by so many documents."""
        chosen = _most_telling(self._topics, most, self._empty)
        weights = np.ones(1)
        means, variances, atoms = np.zeros(1), np.zeros(1), np.ones(1)
        for topic, documents in enumerate(chosen):
            if not documents.size:
                means, variances = means + self._expected[topic], variances + self._spread[topic]
                atoms = atoms * _chance_of_none(*self._topics[topic], self._empty)
                continue
            weight_of, mean_of, variance_of, atom_of = self._by_outcome(topic, documents)
            atoms = np.multiply.outer(atoms, atom_of).ravel()
            weights = np.multiply.outer(weights, weight_of).ravel()
            means = np.add.outer(means, mean_of).ravel()
            variances = np.add.outer(variances, variance_of).ravel()
        atoms = atoms if self._apart else np.zeros(atoms.shape)
        parts = [
            self._part(*part) for part in zip(means.tolist(), variances.tolist(), atoms.tolist(), strict=True)
        ]
        return (
            float(weights @ [one.above for one in parts]),
            float(weights @ [one.below for one in parts]),
            float(weights @ [one.tied or 0.0 for one in parts]),
        )

    @staticmethod
    def _part(mean: float, variance: float, atom: float) -> OrderProbability:
        """Return the order by the normal law, but for the atom at 0."""
        if variance <= TIED_MAP**2:
            return _certain(mean)
        rest = _Rest.of(atom, mean, variance, 0.0)
        if rest is not None:
            above, below = rest.share * _phi(rest.z), rest.share * _phi(-rest.z)
            return OrderProbability(above, below, 1 - rest.share, "normal", None, None)
        if atom < LEAST_ATOM:
            return _normal(mean / sqrt(variance), 0.0)
        above, below = ((1 - atom) * float(side * mean > 0) for side in (1, -1))
        return OrderProbability(above, below, atom, "normal", None, None)

    def _by_outcome(self, topic: int, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return probability, mean, variance and atom at 0 for every outcome of some documents."""
        p, ranks = self._topics[topic]
        found = []
        for outcome in product((0.0, 1.0), repeat=documents.size):
            settled = p.copy()
            settled[documents] = outcome
            left = chance_left(settled, self._empty) / chance_left(p, self._empty)
            if not left:
                continue
            weight = left * float(np.where(outcome, p[documents], 1 - p[documents]).prod())
            one = variation(settled, ranks, empty=self._empty)
            found.append(
                (
                    weight,
                    one.mean[0] - one.mean[1],
                    _of_difference(one.covariance),
                    _chance_of_none(settled, ranks, self._empty),
                )
            )
        return np.array(found).T


def _most_telling(topics: Sequence[Topic], most: int, empty: Empty) -> list[NDArray[np.int64]]:
    """Choose the documents whose judgement tells most of the difference, by topic."""
    gains = []
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=empty)
        gains.append(judgement_weights(p, empty=empty) * (gradient[0] - gradient[1]) ** 2)
    topic_of = np.repeat(np.arange(len(gains)), [one.size for one in gains])
    place_of = np.concatenate([np.arange(one.size) for one in gains])
    everything = np.concatenate(gains)
    best = np.argsort(-everything, kind="stable")[:most]
    best = best[everything[best] > 0]
    return [place_of[best[topic_of[best] == topic]] for topic in range(len(gains))]


def _of_difference(covariance: NDArray[np.float64]) -> float:
    """Return the variance of the difference of two runs, at least 0."""
    own = covariance.diagonal()
    return float(difference_variance(own[0], own[1], covariance[0, 1]))


def _certain(difference: float) -> OrderProbability:
    """Return the order where nothing varies."""
    tied = abs(difference) <= TIED_MAP
    above, below = (float(side * difference > 0 and not tied) for side in (1, -1))
    return OrderProbability(above, below, float(tied), "enumeration", None, 0.0)


def _normal(z: float, tied: float | None) -> OrderProbability:
    """Return the order by the normal law."""
    return OrderProbability(_phi(z), _phi(-z), tied, "normal", None, None)


def _phi(z: float) -> float:
    """Return the normal law at z."""
    return 0.5 * erfc(-z / sqrt(2))


MOST_BY_ONE = 45
"""Pairs that get the best law, those nearest to a swap; the others get the normal one."""
MOST_OUTCOMES = 1 << 25
"""Outcomes of halves of the topics that are enumerated for all pairs together, some twenty seconds:
the pairs nearest to a swap get them, and the others of `MOST_BY_ONE` another law."""
MOST_LISTED_OF_MANY = 1 << 17
"""Likely outcomes of a pair that are listed at most: less than a second."""
QUICKER = 5
"""By how many powers of two fewer outcomes are listed where it has to be quick."""
FAR_APART = 1e-4
"""Probability to swap below which the normal law will do, where there is little skewness."""
MOST_QUICK = 2000
"""Pairs that get the best law where all outcomes are few."""


@dataclass(frozen=True, slots=True, eq=False)
class Reversals:
    """Every pair of runs, the one with the higher expected MAP first; shape (n_pairs,) each."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    reversed: NDArray[np.float64]
    """Probability that the second run comes to be above."""
    error: NDArray[np.float64]
    """What `reversed` may be off by: a bound or an estimate, see `OrderProbability.error`; by the
    normal law what a correction for skewness would add. NaN = not known."""
    single: Mapping[tuple[int, int], OrderProbability]
    """What is known besides of the pairs that may swap."""

    def tau(self, reference: NDArray[np.float64]) -> float:
        """Compute `expected_tau` with the scores of this judging; NaN with fewer than two runs."""
        above = np.full((reference.size, reference.size), 0.5)
        above[self.first, self.second] = 1 - self.reversed
        above[self.second, self.first] = self.reversed
        for pair, one in self.single.items():
            above[pair] = one.above
        return expected_tau(above, reference)


def reversals(
    topics: Sequence[Topic],
    varied: CollectionVariation,
    *,
    quick: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Reversals:
    """Compute how likely every pair turns about; one by one where it well may.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation`; R counts all documents (pool mode).
    varied : CollectionVariation
        The moments of these topics; their rule for R = 0 counts.
    quick : bool, default=False
        List 32 times fewer outcomes: all together take about a second.

    Returns
    -------
    Reversals
        Of two runs with the same mean the earlier row comes first.

    Notes
    -----
    `order_probabilities` for all, and `order_probability` for those that may well swap or whose
    difference is skewed: at most `MOST_BY_ONE` pairs, or `MOST_QUICK` where outcomes are few. Where
    all outcomes of all pairs can be enumerated they are, of pairs far apart, too.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run 0 lacks:

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))]
    >>> found = reversals(topics, collection_variation(topics, empty="zero"))
    >>> found.first.tolist(), found.second.tolist(), found.reversed.tolist()
    ([1], [0], [0.25])
    """
    above = order_probabilities(varied)
    mean = varied.map_mean
    low, high = np.triu_indices(mean.size, 1)
    ahead = mean[low] >= mean[high]
    first, second = np.where(ahead, low, high), np.where(ahead, high, low)
    turned = above[second, first]
    spread = varied.difference_variances()
    varies = spread > TIED_MAP**2
    third = _third_moment(topics, varied.empty)
    skewness = np.divide(np.abs(third), spread**1.5, out=np.zeros(spread.shape), where=varies)[first, second]
    moved = np.minimum(skewness * MOST_MOVED, 0.5)
    fewer = QUICKER if quick else 0
    n_exact = _exact_pairs(topics, MOST_OUTCOMES >> fewer)
    may_turn = (turned >= FAR_APART) | (skewness >= MOST_SKEWED)
    if turned.size <= min(n_exact, MOST_QUICK):
        may_turn[:] = True
    deviation = np.where(varies, spread, np.inf)[first, second] ** 0.5
    z = (mean[first] - mean[second]) * len(topics) / deviation
    # Far out a correction falls with the density; the law may be off by as much as it says.
    corrected = skewness / 6 * (z**2 + 1) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) + turned
    error = np.where(may_turn, moved, np.minimum(moved, corrected))
    nearest = np.argsort(-np.where(may_turn, turned + moved, -1.0), kind="stable")
    nearest = nearest[: int(may_turn.sum())]
    single = {}
    nearest = nearest[: max(MOST_BY_ONE, min(n_exact, MOST_QUICK))]
    for number, place in enumerate(nearest.tolist()):
        pair = int(first[place]), int(second[place])
        most = MOST_OF_HALF if number < n_exact else 0
        single[pair] = order_probability(
            topics,
            *pair,
            varied=varied,
            most_of_half=most,
            most_listed=MOST_LISTED_OF_MANY >> fewer,
            by_document=float(third[pair]),
        )
        turned[place] = single[pair].below
        told = single[pair].error
        error[place] = np.nan if told is None else told
        if progress is not None:
            progress(1)
    if progress is not None:
        progress(first.size - nearest.size)
    return Reversals(first.astype(np.int64), second.astype(np.int64), turned, error, single)


def _third_moment(topics: Sequence[Topic], empty: Empty) -> NDArray[np.float64]:
    """Compute the third moment of what each document by itself adds to every difference of runs.

    That is ``p (1 - p) (1 - 2 p) g^3`` a document, g being the difference of the runs' gradients:
    antisymmetric in the runs.
    """
    n_runs = topics[0][1].shape[0]
    third = np.zeros((n_runs, n_runs))
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=empty)
        weights = p * (1 - p) * (1 - 2 * p)
        squares = weights * gradient**2
        cubes = (squares * gradient).sum(axis=1)
        mixed = squares @ gradient.T
        third += cubes[:, None] - 3 * mixed + 3 * mixed.T - cubes
    return third


def _exact_pairs(topics: Sequence[Topic], most: int) -> int:
    """Return of how many pairs all outcomes may be enumerated."""
    parts = halves(topics)
    if parts is None:
        return 0
    numbers = [int(((p > 0) & (p < 1)).sum()) for p, _ in topics]
    return most >> max(sum(numbers[place] for place in part) for part in parts)
