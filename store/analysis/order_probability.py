r"""How likely another judging puts one run above another.

The topics stay, the judgements vary. Four ways, from exact for some forty documents
to a normal law for thousands; `order_probability` takes the one that the numbers allow, and names
it and its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import erfc, exp, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.collection_variation import (
    CollectionVariation,
    Topic,
    collection_variation,
    difference_variance,
)
from store.analysis.empty_outcomes import Empty, chance_left, check_chances
from store.analysis.enumerated_order import MOST_OF_HALF, enumerate_order, halves
from store.analysis.quadrature import TOLERANCE
from store.analysis.undiscovered import TIED_MAP
from store.analysis.variation import variation
from store.analysis.variation_gradient import judgement_weights, variation_gradient
from store.analysis.variation_skewness import third_moment
from store.errors import ArgumentError

Method = Literal["enumeration", "skewness", "mixture", "normal"]
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
    """Probability that both have the same; ``None`` = the method cannot tell it from 0."""
    method: Method
    skewness: float | None
    """Of the difference of MAPs; ``None`` = not looked at, or nothing varies."""
    error: float | None
    """Of `above` and `below`: a bound, of rounding, where outcomes were enumerated; else an
    estimate by another law. ``None`` = not looked at."""


def order_probabilities(varied: CollectionVariation) -> NDArray[np.float64]:
    r"""Compute for every two runs how likely the first comes to be above, by the normal law.

    Parameters
    ----------
    varied : CollectionVariation
        The moments of all topics.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_runs)
        Row above column: :math:`\Phi(z)`, z being the expected difference of MAPs over its standard
        deviation by judging. 1, 1/2 or 0 where nothing varies; 1/2 on the diagonal.

    Notes
    -----
    O(n_runs^2). `order_probability` is better for one pair.
    """
    from scipy.special import ndtr

    mean, covariance = varied.map_mean, varied.map_covariance
    own = np.diagonal(covariance)
    variance = difference_variance(own[:, None], own, covariance)
    difference = mean[:, None] - mean
    varies = variance > TIED_MAP**2
    certain = np.where(np.abs(difference) <= TIED_MAP, 0.0, np.copysign(np.inf, difference))
    z = np.divide(difference, np.sqrt(variance), out=certain, where=varies)
    return np.asarray(ndtr(z), dtype=np.float64)


def expected_tau(above: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Compute the Kendall tau that the order of another judging has with this one, on average.

    Parameters
    ----------
    above : ndarray of float64, shape (n_runs, n_runs)
        From `order_probabilities`.
    reference : ndarray of float64, shape (n_runs,)
        The scores of this judging.

    Returns
    -------
    float
        Mean over the pairs of ``2 P - 1``, P being the probability that the pair stays as it is;
        pairs tied in `reference` count as 0. NaN with fewer than two runs.

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


def order_probability(
    topics: Sequence[Topic],
    first: int = 0,
    second: int = 1,
    *,
    method: Method | None = None,
    varied: CollectionVariation | None = None,
    most_of_half: int = MOST_OF_HALF,
    empty: Empty = "given",
    tolerance: float = TOLERANCE,
) -> OrderProbability:
    r"""Compute how likely one run has the higher MAP when the same topics are judged anew.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.variation`; R counts all documents (pool mode).
    first, second : int, default=0, 1
        Rows of the two runs.
    method : {"enumeration", "skewness", "mixture", "normal"}, optional
        Default: every outcome, where the topics fall into two halves of at most 22 documents each
        that are neither sure nor impossible; else the normal law corrected for skewness where that
        is below .3 and \|z\| below 2; else the mixture. Where the documents are so many that the
        skewness would take long (squares of the numbers by topic above 400,000 in all), its part by
        single documents is looked at in its place, and where that is below .3 the law is the normal
        one.
    varied : CollectionVariation, optional
        The moments of these topics, where they are there already; their rule for R = 0 counts.
    most_of_half : int, default=22
        Documents of a half of the topics up to which outcomes are enumerated; less is quicker.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.
    tolerance : float, default=1e-12
        Wanted bound of the error of the moments.

    Returns
    -------
    OrderProbability
        `tied` is a number where outcomes were enumerated, and 1 or 0 where nothing varies.

    Raises
    ------
    ArgumentError
        If there is no topic, or `method` is "enumeration" and there are too many documents, or
        "skewness" and z is too far from 0.

    Notes
    -----
    With D, V and :math:`k_3` the sums over topics of mean, variance and third central moment of the
    difference, :math:`z = D / \sqrt V` and :math:`\gamma = k_3 / V^{3/2}`, the corrected law is
    :math:`\Phi(z) + \gamma (z^2 - 1) \phi(z) / 6`. The mixture takes the ten documents on which the
    difference depends most one by one, as relevant and as not, and a normal law for the rest; its
    error is estimated by what the last five of them changed, and that of the corrected law by its
    distance from the mixture of five, or by the next term that has the skewness in it, if that is
    more. Where the normal law is taken for many documents, the error is what a correction would add
    at most.

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
        varied, pair = collection_variation(two, empty=rule, tolerance=tolerance), [0, 1]
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
    mixture = _Mixture(two, differences, variances, rule, tolerance)
    if method is None and _squares(two) > MOST_CORRECTED:
        skewness = _first_skewness(two, rule, tolerance) / spread**1.5
        if abs(skewness) < MOST_SKEWED:
            moved = abs(skewness) * MOST_MOVED
            return OrderProbability(_phi(z), _phi(-z), None, "normal", None, moved)
        return mixture.order(None)
    third = sum(third_moment(p, ranks, empty=rule, tolerance=tolerance) for p, ranks in two)
    skewness = third / spread**1.5
    corrects = abs(z) < MOST_Z
    if method == "skewness" and not corrects:
        requirement = f"must not be skewness with |z| of {MOST_Z:g} or more"
        raise ArgumentError("method", requirement, z)
    if method == "mixture" or (method is None and not (corrects and abs(skewness) < MOST_SKEWED)):
        return mixture.order(skewness)
    density = exp(-z * z / 2) / sqrt(2 * pi)
    above = _phi(z) + skewness / 6 * (z * z - 1) * density
    error = max(abs(above - mixture.of(LESS_MIXED)[0]), MOST_OF_SQUARE * skewness**2)
    return OrderProbability(above, 1 - above, None, "skewness", skewness, error)


def _squares(topics: Sequence[Topic]) -> int:
    """Add up the squares of the numbers of random documents that either run has."""
    numbers = (
        np.count_nonzero((p > 0) & (p < 1) & np.isfinite(ranks).any(axis=0)) for p, ranks in topics
    )
    return sum(int(one) ** 2 for one in numbers)


def _first_skewness(topics: Sequence[Topic], empty: Empty, tolerance: float) -> float:
    """Compute the third moment of the sum of what each document by itself adds to the difference.

    That is ``p (1 - p) (1 - 2 p) g^3`` a document, g being the difference of the gradients.
    """
    total = 0.0
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=empty, tolerance=tolerance)
        total += float((p * (1 - p) * (1 - 2 * p)) @ (gradient[0] - gradient[1]) ** 3)
    return total


class _Mixture:
    """Outcomes of few documents one by one, and a normal law of what they leave open."""

    def __init__(
        self,
        topics: Sequence[Topic],
        expected: NDArray[np.float64],
        spread: NDArray[np.float64],
        empty: Empty,
        tolerance: float,
    ) -> None:
        self._topics = topics
        self._expected = expected
        """Mean of the difference by topic."""
        self._spread = spread
        """Its variance by topic."""
        self._empty: Empty = empty
        self._tolerance = tolerance

    def order(self, skewness: float | None) -> OrderProbability:
        """Return the order by ten documents; the error is what the last five of them changed."""
        above, below, tied = self.of(MIXED)
        fewer, less, _ = self.of(LESS_MIXED)
        error = max(abs(above - fewer), abs(below - less))
        return OrderProbability(above, below, tied or None, "mixture", skewness, error)

    def of(self, most: int) -> tuple[float, float, float]:
        """Return how likely the first run is above, below and tied, by so many documents."""
        chosen = _most_telling(self._topics, most, self._empty, self._tolerance)
        weights = np.ones(1)
        means, variances = np.zeros(1), np.zeros(1)
        for topic, documents in enumerate(chosen):
            if not documents.size:
                means, variances = means + self._expected[topic], variances + self._spread[topic]
                continue
            weight_of, mean_of, variance_of = self._by_outcome(topic, documents)
            weights = np.multiply.outer(weights, weight_of).ravel()
            means = np.add.outer(means, mean_of).ravel()
            variances = np.add.outer(variances, variance_of).ravel()
        parts = [
            _certain(mean) if variance <= TIED_MAP**2
            else _normal(mean / sqrt(variance), 0.0)
            for mean, variance in zip(means.tolist(), variances.tolist(), strict=True)
        ]  # fmt: skip
        return (
            float(weights @ [one.above for one in parts]),
            float(weights @ [one.below for one in parts]),
            float(weights @ [one.tied or 0.0 for one in parts]),
        )

    def _by_outcome(self, topic: int, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return probability, mean and variance for every outcome of some documents of a topic."""
        p, ranks = self._topics[topic]
        found = []
        for outcome in product((0.0, 1.0), repeat=documents.size):
            settled = p.copy()
            settled[documents] = outcome
            left = chance_left(settled, self._empty) / chance_left(p, self._empty)
            if not left:
                continue
            weight = left * float(np.where(outcome, p[documents], 1 - p[documents]).prod())
            one = variation(settled, ranks, empty=self._empty, tolerance=self._tolerance)
            found.append((weight, one.mean[0] - one.mean[1], _of_difference(one.covariance)))
        return np.array(found).T


def _most_telling(
    topics: Sequence[Topic], most: int, empty: Empty, tolerance: float
) -> list[NDArray[np.int64]]:
    """Choose the documents whose judgement tells most of the difference, by topic."""
    gains = []
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=empty, tolerance=tolerance)
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
