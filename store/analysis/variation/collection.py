r"""What varying judgements do to a whole collection: MAP, its tests, and shares of the variance.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), sections 3.2, 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import NORMAL_QUANTILE
from store.analysis.measures.average_precision import quotient
from store.analysis.variation.lists import Empty, ProbableRankings, check_chances
from store.analysis.variation.moments import variation
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
        The rule for R = 0, of `store.analysis.variation.lists`.

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
    if not topics:
        raise ArgumentError("topics", "must be one or more", "none")
    check_chances([p for p, _ in topics], empty)
    n_runs = len(topics[0][1])
    means, covariances, none_relevant, error = [], [], [], 0.0
    for probabilities, ranks in topics:
        if len(ranks) != n_runs:
            raise ArgumentError("topics", f"must have {n_runs} runs each", len(ranks))
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

    >>> from store.analysis.variation.lists import probable_rankings
    >>> lists = {("a", "t"): np.array([1]), ("b", "t"): np.array([2, 1, 3])}
    >>> chances = {"t": (np.array([1, 2]), np.array([0.5, 0.5]))}
    >>> probable = probable_rankings(["t"], ["a", "b"], lists, chances, cutoff=1000, keep_rank=3)
    >>> found = discovery(probable, 1, rank=3)
    >>> found.flipped.tolist(), found.topics[0][0].tolist()
    ([True], [0.5, 0.5, 1.0])
    """
    if rank < 1:
        raise ArgumentError("rank", "must be at least 1", rank)
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

    >>> from store.analysis.variation.lists import probable_rankings
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
