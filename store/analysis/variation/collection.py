r"""What varying judgements do to a whole collection: MAP, its tests, shares of the variance, orders of runs.

How likely another judging turns two runs about, and which document to judge next to settle their order:
for every pair by the normal law, from the exact moments of their difference. For those nearest to a swap
judgements are drawn besides, once for all of them, as few uncertain documents make a difference whose law
is made of steps, and skewed: there the share of the draws is the better answer, and has its standard error.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), sections 3.2, 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import NORMAL_QUANTILE
from store.analysis.ratios import quotient
from store.analysis.run_order import TIED_MAP
from store.analysis.variation.moments import (
    Empty,
    ProbableRankings,
    check_chances,
    judgement_weights,
    variation,
    variation_gradient,
)
from store.analysis.variation.simulation import SimulatedMaps, simulate_maps
from store.errors import ArgumentError

ROUNDING = 1e-14
"""A variance of a difference is 0 below this share of the two variances: rounding alone leaves
some of equal lists."""

Topic = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Probabilities, shape (n_documents,), and ranks, shape (n_runs, n_documents), of one topic."""


@dataclass(frozen=True, slots=True, eq=False)
class CollectionVariation:
    """Moments of AP over repeated judging, topic by topic; judgements of topics are independent."""

    mean: NDArray[np.float64]
    """Shape (n_runs, n_topics): :math:`\\mu_h`, the expected AP."""
    covariance: NDArray[np.float64]
    """Shape (n_topics, n_runs, n_runs): of AP; the diagonals are :math:`\\sigma_h^2`."""
    error: float
    """Greatest of the topics' error bounds; see `store.analysis.variation.moments.ScoreMoments`."""
    none_relevant: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Shape (n_topics,): P(R = 0) of every topic; empty where it was not asked for."""
    empty: Empty = "given"
    """Whether outcomes with R = 0 are left out or have an AP of 0."""

    @property
    def map_mean(self) -> NDArray[np.float64]:
        """Expected MAP, shape (n_runs,)."""
        return np.asarray(self.mean.mean(axis=1))

    def difference_variances(self) -> NDArray[np.float64]:
        """Return the variance of the difference of every two runs' sums of AP, shape (n_runs, n_runs)."""
        own = np.diagonal(self.covariance, axis1=1, axis2=2)
        by_topic = difference_variance(own[:, :, None], own[:, None, :], self.covariance)
        return np.asarray(by_topic.sum(axis=0))

    @property
    def map_covariance(self) -> NDArray[np.float64]:
        """Covariance of the runs' MAP over repeated judging, shape (n_runs, n_runs)."""
        n_topics = len(self.covariance)
        return np.asarray(self.covariance.sum(axis=0) / n_topics**2)


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Where the variance of scores, or of differences, comes from; shape (n,), NaN = undefined."""

    mean: NDArray[np.float64]
    """Expected MAP, or difference of two."""
    topic_variance: NDArray[np.float64]
    """:math:`\\sigma_\\mu^2`, of the expected scores over topics; NaN with fewer than two."""
    judging_variance: NDArray[np.float64]
    """:math:`\\sigma_d^2`, mean over topics of the variance by judging (eq. 18)."""
    n_topics: int

    @property
    def share(self) -> NDArray[np.float64]:
        """K, the share that judging has in the variance of single topics; NaN where that is 0."""
        whole = self.topic_variance + self.judging_variance
        return quotient(self.judging_variance, whole)

    @property
    def of_mean(self) -> NDArray[np.float64]:
        """:math:`V_{pm}`, variance of the mean over topics and judgings together (eq. 17)."""
        return np.asarray((self.topic_variance + self.judging_variance) / self.n_topics)

    @property
    def by_judging(self) -> NDArray[np.float64]:
        """Standard deviation of the mean when only the judgements are repeated."""
        return np.asarray(np.sqrt(self.judging_variance / self.n_topics))

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the limits of the mean in 95 of 100 judgings of the same topics.

        By the normal law: the moments are exact, the limits are not. They may lie beyond 0 and 1.
        """
        reach = NORMAL_QUANTILE * self.by_judging
        return np.asarray(self.mean - reach), np.asarray(self.mean + reach)


@dataclass(frozen=True, slots=True, eq=False)
class VariedPairs:
    """Pairs of runs; arrays of shape (n_pairs,), NaN = undefined."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    components: Components
    """Of the differences, first less second."""
    t1_removed: NDArray[np.float64]
    """t of two samples with the variance over topics alone (eq. 8); 2 L - 2 degrees of freedom."""
    t1_included: NDArray[np.float64]
    """The same with that by judging added."""
    t2_removed: NDArray[np.float64]
    """Paired t with the variance over topics alone (eq. 9); L - 1 degrees of freedom."""
    t2_included: NDArray[np.float64]

    def p_values(self) -> dict[str, NDArray[np.float64]]:
        """Return the two-sided p of every t, by its name."""
        from scipy.special import stdtr

        n_topics = self.components.n_topics
        degrees = {"t1": 2 * n_topics - 2, "t2": n_topics - 1}
        names = ("t1_removed", "t1_included", "t2_removed", "t2_included")
        return {
            name: 2 * np.asarray(stdtr(degrees[name[:2]], -np.abs(getattr(self, name)))) for name in names
        }


def collection_variation(
    topics: Sequence[Topic], *, empty: Empty = "given", progress: Callable[[int], None] | None = None
) -> CollectionVariation:
    """Compute the moments of every topic.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        At least one; see `store.analysis.variation.moments.variation`. The runs are the same in all. R counts
        all documents of a topic (pool mode).
    empty : {"given", "zero"}, default="given"
        The rule for R = 0, of `store.analysis.variation.moments`.

    Returns
    -------
    CollectionVariation
        `ArgumentError` with ``given`` where in some topic no document may be relevant. Topics times the cost
        of `variation`; O(n_topics n_runs^2) memory.

    Examples
    --------
    >>> topic = (np.array([0.5, 0.5]), np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> varied = collection_variation([topic, topic], empty="zero")
    >>> varied.map_mean.round(12).tolist(), varied.map_covariance.round(6).tolist()
    ([0.625, 0.625], [[0.085938, 0.054688], [0.054688, 0.085938]])
    """
    check_chances([p for p, _ in topics], empty)
    means, covariances, none_relevant, error = [], [], [], 0.0
    for probabilities, ranks in topics:
        one = variation(probabilities, ranks, empty=empty)
        means.append(one.mean)
        covariances.append(one.covariance)
        none_relevant.append(one.none_relevant)
        error = max(error, one.error)
        if progress is not None:
            progress(1)
    return CollectionVariation(
        np.array(means).T, np.array(covariances), error, np.array(none_relevant), empty
    )


def run_components(varied: CollectionVariation) -> Components:
    """Split the variance of every run's AP into that over topics and that by judging.

    Of shape (n_runs,). The ordinary variance of one judging's AP estimates the sum of the two (eq. 17
    of [1]_). The paper's run BKJJBIDS has .00188 of .05359 by judging (section 4.2.2): a share of 3.5%.
    """
    judging = np.diagonal(varied.covariance, axis1=1, axis2=2).mean(axis=0)
    return Components(varied.map_mean, _variances(varied.mean), np.asarray(judging), varied.mean.shape[1])


def pair_components(
    varied: CollectionVariation, pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
) -> VariedPairs:
    """Split the variance of differences, and test them with the part of judging out and in.

    Parameters
    ----------
    varied : CollectionVariation
    pairs : two ndarrays of int64, shape (n_pairs,), optional
        Rows of the first and the second run; default every two.

    Returns
    -------
    VariedPairs
        Table 6 of [1]_, its last two columns: variation removed, variation included. There judging
        alone would hardly ever turn the order about, t being large with it as without.
        O(n_pairs n_topics).
    """
    n_runs, n_topics = varied.mean.shape
    first, second = np.triu_indices(n_runs, 1) if pairs is None else pairs
    differences = varied.mean[first] - varied.mean[second]
    own = np.diagonal(varied.covariance, axis1=1, axis2=2)
    judging = difference_variance(own[:, first], own[:, second], varied.covariance[:, first, second]).mean(
        axis=0
    )
    parts = Components(differences.mean(axis=1), _variances(differences), judging, n_topics)
    runs = run_components(varied)
    apart = runs.topic_variance[first] + runs.topic_variance[second]
    apart_judged = apart + runs.judging_variance[first] + runs.judging_variance[second]
    together = parts.topic_variance + parts.judging_variance
    return VariedPairs(
        np.asarray(first, dtype=np.int64),
        np.asarray(second, dtype=np.int64),
        parts,
        *(_t(parts.mean, one, n_topics) for one in (apart, apart_judged, parts.topic_variance, together)),
    )


def difference_variance(
    first: NDArray[np.float64], second: NDArray[np.float64], covariance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the variance of a difference from two variances and their covariance, arrays of float64.

    At least 0; 0 where it is no more than rounding, as of two equal lists.

    >>> one, two = np.array([0.5]), np.array([0.25])
    >>> difference_variance(one, two, two).tolist()
    [0.25]
    >>> difference_variance(one, one, np.nextafter(one, 0)).tolist()
    [0.0]
    """
    both = np.asarray(first + second)
    found = both - 2 * covariance
    return np.where(found > ROUNDING * both, found, 0.0)


def _variances(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the variance over topics, over n - 1; NaN with fewer than two."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.nan)
    return np.asarray(scores.var(axis=1, ddof=1))


def _t(difference: NDArray[np.float64], variance: NDArray[np.float64], n_topics: int) -> NDArray[np.float64]:
    """Divide by the standard error; NaN where there is no variance."""
    error = np.sqrt(variance / n_topics)
    return np.asarray(np.divide(difference, error, out=np.full(error.shape, np.nan), where=error > 1e-12))


Flip = Literal["unjudged", "not-relevant"]
"""Which documents are found relevant: unjudged ones, or, as in [1]_, those that have no
chance of being relevant, whether somebody judged them or not."""
Gain = Literal["shared", "own"]
"""Who gains: every run that has the document, or, as in [1]_, the run alone; R is one more for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """One run's documents at rank N + 1, and the topics with them found relevant: section 4.3 of [1]_.

    Judgements vary, and besides these documents turn out to be relevant. Each such topic then has one more
    document that is surely relevant; all moments stay exact. Arrays have shape (n_topics,).
    """

    documents: NDArray[np.int64]
    """Column of the document in the topic's arrays; -1 = the run's list is shorter."""
    flipped: NDArray[np.bool_]
    """Whether it is found relevant."""
    topics: tuple[Topic, ...]
    """All topics, those with a document found as they are then."""


def discovery(
    probable: ProbableRankings, run: int, *, rank: int, flip: Flip = "unjudged", gain: Gain = "shared"
) -> Discovery:
    """Find a run's documents at one rank, and let those that `flip` names be relevant.

    Parameters
    ----------
    probable : ProbableRankings
        Rankings and probabilities, made with ``keep_rank=rank``. R counts all documents (pool mode).
    run : int
        Row of the run.
    rank : int
        N + 1, from 1.
    flip, gain
        See `Flip` and `Gain`. A document that judges gave a chance stays as it is.

    Returns
    -------
    Discovery
        Its topics go to `discovered_variation`, or to any other function of topics. O(n_runs n_documents) a
        topic.

    Examples
    --------
    Run 1 has an unjudged document at rank 3, which run 0 lacks:

    >>> from store.analysis.variation.moments import probable_rankings
    >>> lists = {("a", "t"): np.array([1]), ("b", "t"): np.array([2, 1, 3])}
    >>> chances = {"t": (np.array([1, 2]), np.array([0.5, 0.5]))}
    >>> probable = probable_rankings(["t"], ["a", "b"], lists, chances, cutoff=1000, keep_rank=3)
    >>> found = discovery(probable, 1, rank=3)
    >>> found.flipped.tolist(), found.topics[0][0].tolist()
    ([True], [0.5, 0.5, 1.0])
    """
    if flip not in ("unjudged", "not-relevant"):
        raise ArgumentError("flip", "must be unjudged or not-relevant", flip)
    if gain not in ("shared", "own"):
        raise ArgumentError("gain", "must be shared or own", gain)
    n_topics = len(probable.topics)
    documents, flipped = np.full(n_topics, -1, dtype=np.int64), np.zeros(n_topics, np.bool_)
    topics: list[Topic] = []
    for place, (p, ranks) in enumerate(probable.by_topic()):
        (there,) = np.nonzero(ranks[run] == rank)
        if there.size:
            document = documents[place] = int(there[0])
            flipped[place] = not probable.judged[place][document] if flip == "unjudged" else p[document] == 0
        if flipped[place]:
            p, ranks = p.copy(), ranks.copy()
            p[document] = 1.0
            if gain == "own":
                ranks[np.arange(len(ranks)) != run, document] = np.inf
        topics.append((p, ranks))
    return Discovery(documents, flipped, tuple(topics))


def discovered_variation(
    found: Discovery, before: CollectionVariation, *, progress: Callable[[int], None] | None = None
) -> CollectionVariation:
    """Compute the moments of every topic with the documents found.

    `before` are the moments without them, of the same topics and runs; what is not touched is taken from
    there, and so is the rule for R = 0. The cost of `variation` a topic with a document found.

    Examples
    --------
    A run with the one relevant document first, another with an unjudged document in its place; found
    relevant, it makes R = 2:

    >>> from store.analysis.variation.moments import probable_rankings
    >>> lists = {("a", "t"): np.array([1]), ("b", "t"): np.array([2, 1])}
    >>> chances = {"t": (np.array([1]), np.array([1.0]))}
    >>> probable = probable_rankings(["t"], ["a", "b"], lists, chances, cutoff=1000, keep_rank=1)
    >>> base = collection_variation(probable.by_topic())
    >>> after = discovered_variation(discovery(probable, 1, rank=1), base)
    >>> base.map_mean.round(12).tolist(), after.map_mean.round(12).tolist()
    ([1.0, 0.5], [0.5, 1.0])
    """
    mean, covariance = before.mean.copy(), before.covariance.copy()
    none_relevant = before.none_relevant.copy()
    error = before.error
    for place in np.flatnonzero(found.flipped).tolist():
        one = variation(*found.topics[place], empty=before.empty)
        mean[:, place], covariance[place] = one.mean, one.covariance
        none_relevant[place] = one.none_relevant
        error = max(error, one.error)
        if progress is not None:
            progress(1)
    return CollectionVariation(mean, covariance, error, none_relevant, before.empty)


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

    The arguments are those of `next_documents`. By the normal law; symmetric; pairs that do not vary are
    settled, as is the diagonal, and at a confidence of 1 no others.
    """
    above = order_probabilities(varied)
    is_sure = (np.maximum(above, above.T) >= confidence) & (confidence < 1)
    settled = is_sure | (varied.difference_variances() <= 1e-24)
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
        Pairs whose order has this probability, above 1/2, are settled and count no more; at 1 none is.

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
