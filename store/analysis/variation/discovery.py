r"""What if a run's documents just below the pool were relevant, inside the model of varying judgements.

The paper's own experiment: judgements vary, and besides the document at rank N + 1 of one run turns
out to be relevant, in every topic where the model gives it no chance. Each topic then has one more
document that is surely relevant; all moments stay exact.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.variation.collection import CollectionVariation, Topic
from store.analysis.variation.lists import ProbableRankings
from store.analysis.variation.moments import variation
from store.errors import ArgumentError

Flip = Literal["unjudged", "not-relevant"]
"""Which documents are found relevant: unjudged ones, or, as in [1]_, those that have no
chance of being relevant, whether somebody judged them or not."""
Gain = Literal["shared", "own"]
"""Who gains: every run that has the document, or, as in [1]_, the run alone; R is one more for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """One run's documents at rank N + 1, and the topics with them found relevant.

    Arrays have one element a topic, shape (n_topics,), unless said otherwise.
    """

    run: int
    """Row of the run whose documents are found."""
    documents: NDArray[np.int64]
    """Column of the document in the topic's arrays; -1 = the run's list is shorter."""
    flipped: NDArray[np.bool_]
    """Whether it is found relevant."""
    unjudged: NDArray[np.bool_]
    """Whether it is unjudged; False where there is none."""
    probabilities: NDArray[np.float64]
    """How likely it is relevant before; NaN where there is none."""
    retrieved: NDArray[np.bool_]
    """Shape (n_runs, n_topics): which runs have the document."""
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
    documents = np.full(n_topics, -1, dtype=np.int64)
    flipped, unjudged = np.zeros(n_topics, np.bool_), np.zeros(n_topics, np.bool_)
    before = np.full(n_topics, np.nan)
    retrieved = np.zeros((len(probable.tags), n_topics), np.bool_)
    topics: list[Topic] = []
    for place, (p, ranks) in enumerate(zip(probable.probabilities, probable.ranks, strict=True)):
        (there,) = np.nonzero(ranks[run] == rank)
        if there.size:
            document = int(there[0])
            documents[place], before[place] = document, p[document]
            unjudged[place] = not probable.judged[place][document]
            flipped[place] = unjudged[place] if flip == "unjudged" else p[document] == 0
            retrieved[:, place] = np.isfinite(ranks[:, document])
        if flipped[place]:
            p, ranks = p.copy(), ranks.copy()
            p[document] = 1.0
            if gain == "own":
                ranks[np.arange(len(ranks)) != run, document] = np.inf
        topics.append((p, ranks))
    return Discovery(run, documents, flipped, unjudged, before, retrieved, tuple(topics))


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

    >>> from store.analysis.variation.collection import collection_variation
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
    none_relevant, error = before.none_relevant.copy(), before.error
    for place in np.flatnonzero(found.flipped).tolist():
        one = variation(*found.topics[place], empty=before.empty)
        mean[:, place], covariance[place] = one.mean, one.covariance
        if none_relevant.size:
            none_relevant[place] = one.none_relevant
        error = max(error, one.error)
        if progress is not None:
            progress(1)
    return CollectionVariation(mean, covariance, error, none_relevant, before.empty)
