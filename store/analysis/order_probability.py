r"""How likely another judging puts one run above another.

The topics stay, the judgements vary. Three ways, from exact for few documents to a normal law with
a correction for many; `order_probability` takes the one that the numbers allow and names it.
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
from store.analysis.quadrature import TOLERANCE
from store.analysis.undiscovered import TIED_MAP
from store.analysis.variation import variation
from store.analysis.variation_gradient import judgement_weights, variation_gradient
from store.analysis.variation_skewness import third_moment
from store.errors import ArgumentError

Method = Literal["enumeration", "skewness", "mixture", "normal"]
"""How a probability was found; see `order_probability`."""

MOST_ENUMERATED = 18
"""Random documents of all topics up to which every outcome is looked at."""
MOST_SKEWED = 0.3
"""Skewness up to which the correction of the normal law is an improvement."""
MOST_CORRECTED = 400_000
"""Squares of the topics' numbers of random documents, added up, to which the skewness is computed:
some seconds. Ten topics of 200 documents have as many."""
MIXED = 10
"""Documents whose outcomes the mixture takes one by one."""


@dataclass(frozen=True, slots=True)
class OrderProbability:
    """What becomes of the order of two runs when the topics are judged anew."""

    above: float
    """Probability that the first run has the higher MAP."""
    tied: float | None
    """Probability that both have the same; ``None`` = the method cannot tell it from 0."""
    method: Method
    skewness: float | None
    """Of the difference of MAPs; ``None`` = not looked at, or nothing varies."""

    @property
    def below(self) -> float:
        """Probability that the second run has the higher MAP."""
        return 1 - self.above - (self.tied or 0.0)


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
        Default: every outcome, where all topics together have at most 18 documents that are
        neither sure nor impossible; else the normal law corrected for skewness where that is below
        .3; else the mixture. Where the documents are so many that the skewness would take long
        (squares of the numbers by topic above 400,000 in all), its part by single documents is
        looked at in its place, and where that is below .3 the law is the normal one.
    varied : CollectionVariation, optional
        The moments of these topics, where they are there already; their rule for R = 0 counts.
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
        If there is no topic, or `method` is "enumeration" and there are too many documents.

    Notes
    -----
    With D, V and :math:`k_3` the sums over topics of mean, variance and third central moment of the
    difference, :math:`z = D / \sqrt V` and :math:`\gamma = k_3 / V^{3/2}`, the corrected law is
    :math:`\Phi(z) + \gamma (z^2 - 1) \phi(z) / 6`. The mixture takes the ten documents on which the
    difference depends most one by one, as relevant and as not, and a normal law for the rest.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run A lacks:

    >>> topic = (np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))
    >>> order_probability([topic], empty="zero")
    OrderProbability(above=0.25, tied=0.25, method='enumeration', skewness=None)
    """
    if not topics:
        raise ArgumentError("topics", "must be one or more", "none")
    rule = empty if varied is None else varied.empty
    check_chances([p for p, _ in topics], rule)
    two = [(np.asarray(p), np.asarray(ranks)[[first, second]]) for p, ranks in topics]
    n_random = sum(int(((p > 0) & (p < 1)).sum()) for p, _ in two)
    if method == "enumeration" and n_random > MOST_ENUMERATED:
        requirement = f"must not be enumeration with more than {MOST_ENUMERATED} documents"
        raise ArgumentError("method", requirement, n_random)
    if method == "enumeration" or (method is None and n_random <= MOST_ENUMERATED):
        from store.analysis.enumerated_order import enumerate_order

        above, tied = enumerate_order(two, empty=rule)
        return OrderProbability(above, tied, "enumeration", None)
    if varied is None:
        varied, pair = collection_variation(two, empty=rule, tolerance=tolerance), [0, 1]
    else:
        pair = [first, second]
    differences = varied.mean[pair[0]] - varied.mean[pair[1]]
    variances = [_of_difference(one[np.ix_(pair, pair)]) for one in varied.covariance]
    total, spread = float(differences.sum()), float(sum(variances))
    if spread <= TIED_MAP**2:
        return _certain(total)
    if method == "normal":
        return OrderProbability(_phi(total / sqrt(spread)), None, "normal", None)
    if method is None and _squares(two) > MOST_CORRECTED:
        if abs(_first_skewness(two, rule, tolerance)) / spread**1.5 < MOST_SKEWED:
            return OrderProbability(_phi(total / sqrt(spread)), None, "normal", None)
        above, ties = _mixture(two, differences, np.array(variances), rule, tolerance)
        return OrderProbability(above, ties, "mixture", None)
    third = sum(third_moment(p, ranks, empty=rule, tolerance=tolerance) for p, ranks in two)
    skewness = third / spread**1.5
    if method == "mixture" or (method is None and abs(skewness) >= MOST_SKEWED):
        above, ties = _mixture(two, differences, np.array(variances), rule, tolerance)
        return OrderProbability(above, ties, "mixture", skewness)
    z = total / sqrt(spread)
    density = exp(-z * z / 2) / sqrt(2 * pi)
    corrected = _phi(z) + skewness / 6 * (z * z - 1) * density
    return OrderProbability(min(max(corrected, 0.0), 1.0), None, "skewness", skewness)


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


def _mixture(
    topics: Sequence[Topic],
    expected: NDArray[np.float64],
    spread: NDArray[np.float64],
    empty: Empty,
    tolerance: float,
) -> tuple[float, float | None]:
    """Take the outcomes of few documents one by one, and a normal law of what they leave open.

    `expected` and `spread` are mean and variance of the difference, by topic.
    """
    chosen = _most_telling(topics, empty, tolerance)
    weights = np.ones(1)
    means, variances = np.zeros(1), np.zeros(1)
    for topic, documents in enumerate(chosen):
        if not documents.size:
            means, variances = means + expected[topic], variances + spread[topic]
            continue
        p, ranks = topics[topic]
        parts = []
        for outcome in product((0.0, 1.0), repeat=documents.size):
            settled = p.copy()
            settled[documents] = outcome
            left = chance_left(settled, empty) / chance_left(p, empty)
            if not left:
                continue
            weight = left * float(np.where(outcome, p[documents], 1 - p[documents]).prod())
            one = variation(settled, ranks, empty=empty, tolerance=tolerance)
            parts.append((weight, one.mean[0] - one.mean[1], _of_difference(one.covariance)))
        weight_of, mean_of, variance_of = np.array(parts).T
        weights = np.multiply.outer(weights, weight_of).ravel()
        means = np.add.outer(means, mean_of).ravel()
        variances = np.add.outer(variances, variance_of).ravel()
    parts_above = [
        _certain(mean) if variance <= TIED_MAP**2
        else OrderProbability(_phi(mean / sqrt(variance)), 0.0, "normal", None)
        for mean, variance in zip(means.tolist(), variances.tolist(), strict=True)
    ]  # fmt: skip
    above = float(weights @ [one.above for one in parts_above])
    return above, float(weights @ [one.tied or 0.0 for one in parts_above]) or None


def _most_telling(
    topics: Sequence[Topic], empty: Empty, tolerance: float
) -> list[NDArray[np.int64]]:
    """Choose the documents whose judgement tells most of the difference, by topic."""
    gains = []
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=empty, tolerance=tolerance)
        gains.append(judgement_weights(p, empty=empty) * (gradient[0] - gradient[1]) ** 2)
    topic_of = np.repeat(np.arange(len(gains)), [one.size for one in gains])
    place_of = np.concatenate([np.arange(one.size) for one in gains])
    everything = np.concatenate(gains)
    best = np.argsort(-everything, kind="stable")[:MIXED]
    best = best[everything[best] > 0]
    return [place_of[best[topic_of[best] == topic]] for topic in range(len(gains))]


def _of_difference(covariance: NDArray[np.float64]) -> float:
    """Return the variance of the difference of two runs, at least 0."""
    own = covariance.diagonal()
    return float(difference_variance(own[0], own[1], covariance[0, 1]))


def _certain(difference: float) -> OrderProbability:
    """Return the order where nothing varies."""
    tied = abs(difference) <= TIED_MAP
    return OrderProbability(float(difference > 0 and not tied), float(tied), "enumeration", None)


def _phi(z: float) -> float:
    """Return the normal law at z."""
    return 0.5 * erfc(-z / sqrt(2))
