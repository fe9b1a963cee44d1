"""Uniform sample: every document of the union is as likely as every other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.randomness import raw_numbers
from pooler.strategies.kinds import Sample
from pooler.strategies.take import take_values
from pooler.topic_rankings import TopicRankings
from store.errors import ArgumentError

DOCUMENT_STEP = 0
"""Stream of the numbers that choose documents; the display order has the stream without a step."""


def draw(rankings: TopicRankings, *, budget: int, seed: int) -> Sample:
    """Draw documents without replacement, all with the same probability.

    The documents between the cuts of infAP [1]_, but of exactly the size asked for, where NIST's
    script tosses a coin for each document [2]_.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    budget : int
        Documents to judge, at least 1; all when there are fewer.
    seed : int
        Not negative; every topic has a stream of its own.

    Returns
    -------
    Sample
        One stratum, 1. The inclusion probability is the number drawn over that of the union, for
        every document. Values, by best rank: `pooler.strategies.take.take_values`.

    Raises
    ------
    ArgumentError
        If `budget` is below 1: a sample of nothing estimates nothing.

    Notes
    -----
    Every document gets a random number, and those with the least are taken: a simple random
    sample. It depends on the union alone, not on ranks or runs. With the same seed, a smaller
    budget draws some of the documents of a larger one. O(n log n).

    References
    ----------
    .. [1] Yilmaz and Aslam, "Estimating average precision with incomplete and imperfect
       judgments", *CIKM* 2006, doi:10.1145/1183614.1183633.
    .. [2] NIST testcoll-tools, `make-pools.pl`.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b", "c"], ["d", "b"]], topic="51")
    >>> sample = draw(rankings, budget=3, seed=1)
    >>> int(sample.sampled.sum()), sample.inclusion.tolist()
    (3, [0.75, 0.75, 0.75, 0.75])
    """
    if budget < 1:
        requirement = f"must give topic `{rankings.topic}` at least one document"
        raise ArgumentError("--budget", requirement, budget)
    n_documents = rankings.n_documents
    size = min(budget, n_documents)
    sampled = np.zeros(n_documents, np.bool_)
    numbers = raw_numbers(seed, rankings.topic, n_documents, step=DOCUMENT_STEP)
    sampled[least(numbers, np.arange(n_documents), size)] = True
    return Sample(
        sampled=sampled,
        strata=np.ones(n_documents, np.int32),
        inclusion=np.full(n_documents, size / max(n_documents, 1)),
        values=take_values(rankings),
    )


def least(
    numbers: NDArray[np.uint64], documents: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return the `size` documents with the least numbers: a simple random sample.

    Parameters
    ----------
    numbers : ndarray of uint64, shape (n_documents,)
        A random number for every document of the topic.
    documents : ndarray of int64, shape (n_members,)
        Those to choose from, ascending; of equal numbers the lower document comes first.
    size : int
        How many, at most `n_members`.

    Returns
    -------
    ndarray of int64, shape (size,)
        Documents, by their random numbers.

    Examples
    --------
    >>> least(np.array([7, 3, 9, 5], np.uint64), np.array([0, 2, 3]), 2).tolist()
    [3, 0]
    """
    return documents[np.argsort(numbers[documents], kind="stable")[:size]]
