r"""How likely another judging turns two runs about, and which document to judge next to settle their order.

For every pair by the normal law, from the exact moments of their difference. For those nearest to a swap
judgements are drawn besides, once for all of them, as few uncertain documents make a difference whose law
is made of steps, and skewed: there the share of the draws is the better answer, and has its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.analysis.run_order import TIED_MAP
from store.analysis.variation.collection import CollectionVariation, Topic
from store.analysis.variation.lists import Empty
from store.analysis.variation.moments import judgement_weights, variation_gradient
from store.analysis.variation.simulation import SimulatedMaps, simulate_maps
from store.errors import ArgumentError

NEAREST = 45
"""Pairs that are simulated: all of ten runs."""


def order_probabilities(varied: CollectionVariation) -> NDArray[np.float64]:
    r"""Compute for every two runs how likely the first comes to be above, by the normal law.

    Shape (n_runs, n_runs), row above column: :math:`\Phi(z)`, z being the expected difference in MAPs over
    its standard deviation by judging. 1, 1/2 or 0 where nothing varies; 1/2 on the diagonal. O(n_runs^2).

    The moments are exact, the law is not: it has no ties and no steps, and is as thin on either side.
    """
    difference = (varied.map_mean[:, None] - varied.map_mean) * len(varied.covariance)
    variance = varied.difference_variances()
    near = TIED_MAP * len(varied.covariance)
    varies = variance > near**2
    certain = np.where(np.abs(difference) <= near, 0.0, np.copysign(np.inf, difference))
    if not varies.any():
        return (1 + np.sign(certain)) / 2
    from scipy.special import ndtr

    z = np.divide(difference, np.sqrt(variance), out=certain, where=varies)
    return np.asarray(ndtr(z), dtype=np.float64)


def expected_tau(above: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Compute the Kendall tau that the order of another judging has with this one, on average.

    `above`, shape (n_runs, n_runs), is as of `order_probabilities`, and `reference`, shape (n_runs,), are the
    scores of this judging. The mean over the pairs of P(same order) - P(reversed); pairs tied in `reference`
    count as 0. NaN with fewer than two runs.

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


@dataclass(frozen=True, slots=True, eq=False)
class Reversals:
    """Every pair of runs, the one with the higher expected MAP first; arrays of shape (n_pairs,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    reversed: NDArray[np.float64]
    """Probability that the second run comes to be above, by the normal law."""
    simulated: NDArray[np.float64]
    """Share of the judgings drawn in which it does; NaN = none were drawn for the pair."""
    repetitions: int = 0
    """Judgings drawn."""

    @property
    def error(self) -> NDArray[np.float64]:
        """Standard error of `simulated`; NaN where there is none."""
        return np.asarray(np.sqrt(self.simulated * (1 - self.simulated) / max(self.repetitions, 1)))


def reversals(varied: CollectionVariation) -> Reversals:
    """Compute how likely every pair turns about, by the normal law: O(n_runs^2).

    Of two runs with the same mean the earlier row comes first. `simulated_reversals` adds draws.
    """
    mean = varied.map_mean
    low, high = np.triu_indices(mean.size, 1)
    ahead = mean[low] >= mean[high]
    first, second = np.where(ahead, low, high), np.where(ahead, high, low)
    turned = order_probabilities(varied)[second, first]
    return Reversals(first.astype(np.int64), second.astype(np.int64), turned, np.full(turned.shape, np.nan))


def simulated_reversals(
    topics: Sequence[Topic],
    turned: Reversals,
    *,
    seed: int,
    empty: Empty = "given",
    simulated: SimulatedMaps | None = None,
    progress: Callable[[int], None] | None = None,
) -> Reversals:
    """Judge by chance for the pairs that are nearest to a swap.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation`; R counts all documents (pool mode).
    turned : Reversals
        Of these topics and the rule `empty` for R = 0; at least one pair.
    seed : int
        Of the draws.
    simulated : SimulatedMaps, optional
        Draws of all runs, where they are there already: they count for every pair. Default: those that
        `simulate_maps` makes of the runs of the `NEAREST` pairs that are most likely to turn about.

    Returns
    -------
    Reversals
        The same with the shares of the draws.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run 0 lacks: run 1 is above with the
    first relevant, run 0 with the second alone.

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))]
    >>> turned = reversals(collection_variation(topics, empty="zero"))
    >>> turned.first.tolist(), turned.second.tolist(), turned.reversed.round(4).tolist()
    ([1], [0], [0.3274])
    >>> found = simulated_reversals(topics, turned, seed=1, empty="zero")
    >>> bool(abs(found.simulated[0] - 0.25) < 4 * found.error[0])
    True
    """
    places = np.argsort(-turned.reversed, kind="stable")
    if simulated is None:
        places = places[:NEAREST]
        runs = np.unique([turned.first[places], turned.second[places]])
        simulated = simulate_maps(
            [(p, ranks[runs]) for p, ranks in topics], seed=seed, empty=empty, progress=progress
        )
    else:
        runs = np.arange(len(simulated.mean))
    rows = [np.searchsorted(runs, side[places]) for side in (turned.second, turned.first)]
    shares = turned.simulated.copy()
    shares[places] = simulated.above[rows[0], rows[1]]
    return replace(turned, simulated=shares, repetitions=simulated.repetitions)


CONFIDENCE = 0.95
"""Probability from which on the order of two runs counts as settled, unless another is given."""

_NOTHING = 1e-12
"""Share of the variance that rounding may bring about."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgementValues:
    """Documents by what their judgement would settle; arrays of shape (n,), the greatest value first.

    Documents whose judgement settles nothing are left out: sure ones, and those on which no pair depends.
    """

    topic: NDArray[np.int64]
    """Index of the topic."""
    document: NDArray[np.int64]
    """Index of the document within its topic."""
    gain: NDArray[np.float64]
    """Variance of the differences of MAP that the judgement takes away on average, added up over
    the pairs that are not settled."""
    variance: float
    """Variance of these differences by judging, added up: `gain` is a part of it."""
    unsettled: NDArray[np.bool_]
    """Shape (n_runs, n_runs), symmetric: pairs whose order is not settled."""

    @property
    def n_unsettled(self) -> int:
        """Count the pairs of runs that are not settled."""
        return int(np.count_nonzero(self.unsettled) // 2)


def settled_pairs(varied: CollectionVariation, confidence: float = CONFIDENCE) -> NDArray[np.bool_]:
    """Return which pairs of runs have an order that another judging keeps, shape (n_runs, n_runs).

    The arguments are those of `next_documents`. By the normal law; symmetric; pairs that are tied and do not
    vary are settled, as is the diagonal.
    """
    if not 0.5 < confidence < 1:
        raise ArgumentError("confidence", "must be above 0.5 and below 1", confidence)
    above = order_probabilities(varied)
    settled = (np.maximum(above, above.T) >= confidence) | (varied.difference_variances() <= 1e-24)
    return np.asarray(settled | np.eye(len(above), dtype=np.bool_))


def next_documents(
    topics: Sequence[Topic],
    varied: CollectionVariation,
    *,
    confidence: float = CONFIDENCE,
    progress: Callable[[int], None] | None = None,
) -> JudgementValues:
    r"""Rank all documents by what a certain judgement of each would settle.

    A certain judgement of document i takes :math:`w_i (g^A_i - g^B_i)^2` off the variance of the difference
    of two runs' AP, on average, g being the gradients of `variation_gradient` and w the `judgement_weights`:
    exactly the part of the variance that is due to not knowing this one document. Over topics and over pairs
    of runs these parts can be compared and added up.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation` (pool mode). A document has its gain whether it
        is unjudged, with a probability from elsewhere, or was judged by judges who differ: a second
        judgement of one is as good as a first of another with the same probability.
    varied : CollectionVariation
        The moments of these topics; the rule for R = 0 is theirs.
    confidence : float, default=0.95
        Pairs whose order has this probability, above 1/2 and below 1, are settled and count no more.

    Returns
    -------
    JudgementValues
        Ties in the order of topics and documents.

    Notes
    -----
    With the Laplacian matrix Λ of the graph of unsettled pairs, the sum over pairs of
    :math:`(g^A_i - g^B_i)^2` is :math:`g_i' Λ g_i`: O(n_runs n_documents (n_nodes + n_runs)) a
    topic.

    Examples
    --------
    Two documents at ranks 1, 2 and 3, 2 of two runs, relevant half of the time: the difference is
    5/12, 2/3 or 0, of variance .0756; the first one being known leaves .0104 on average:

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[1.0, 2.0], [3.0, 2.0]]))]
    >>> found = next_documents(topics, collection_variation(topics))
    >>> found.document.tolist(), found.gain.round(4).tolist(), round(found.variance, 4)
    ([0, 1], [0.0652, 0.0467], 0.0756)
    """
    settled = settled_pairs(varied, confidence)
    n_topics = len(topics)
    # The Laplacian: the number of unsettled pairs of each run, less the pairs themselves.
    pairs = (~settled).astype(np.float64)
    laplacian = np.diag(pairs.sum(axis=1)) - pairs
    gains = []
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=varied.empty)
        spread = np.einsum("ri,ri->i", gradient, laplacian @ gradient)
        weights = judgement_weights(p, empty=varied.empty)
        gains.append(weights * np.maximum(spread, 0.0) / n_topics**2)
        if progress is not None:
            progress(1)
    topic = np.repeat(np.arange(n_topics), [one.size for one in gains])
    document = np.concatenate([np.arange(one.size) for one in gains])
    gain = np.concatenate(gains)
    variance = max(float((laplacian * varied.map_covariance).sum()), 0.0)
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > _NOTHING * variance]
    return JudgementValues(topic[order], document[order], gain[order], variance, ~settled)
