"""The sampling of statAP: documents that runs rank high are likely, and all have a chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.randomness import raw_numbers, uniform_numbers
from pooler.strategies.kinds import Sample
from pooler.strategies.uniform_sample import DOCUMENT_STEP, least
from pooler.topic_rankings import TopicRankings, descending
from store.errors import ArgumentError


def draw(rankings: TopicRankings, *, budget: int, seed: int) -> Sample:
    r"""Draw documents without replacement, the likelier the higher runs rank them.

    Documents are sorted by their `prior` and cut into buckets of as many documents as the budget.
    A bucket is drawn with replacement, as often as the budget says, with the prior of all its
    documents; then, from every bucket, as many documents as it was drawn, without replacement.

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
        Strata are the buckets, numbered from 1 in the order of the prior. Values are the priors,
        which sum to 1.

    Raises
    ------
    ArgumentError
        If `budget` is below 1: a sample of nothing estimates nothing.

    Notes
    -----
    With budget m, bucket b has prior P_b and is drawn K_b times. A bucket of m documents is never
    drawn more often than it has documents, and its documents are included with probability
    E[K_b] / m = P_b [1]_. The last bucket has s <= m documents, and could be. The draws of all
    buckets are repeated then until it is not, so the sample has exactly min(m, union) documents;
    given that, with P the prior of the last bucket and K of the binomial distribution (m, P),

    .. math::

        \pi_{last} = \frac{E[K \mid K \le s]}{s}, \qquad
        \pi_b = \frac{m - E[K \mid K \le s]}{m} \cdot \frac{P_b}{1 - P}

    are the probabilities returned, exact but for rounding. The last bucket has the least priors,
    so a repetition is needed at most every other time.

    Documents with the same prior may fall into different buckets: ties go by docno descending.
    O(n log n).

    References
    ----------
    .. [1] Pavlu and Aslam, "A practical sampling strategy for efficient retrieval evaluation",
       technical report, Northeastern University, 2007; the buckets are those of Stevens,
       "Sampling without replacement with probability proportional to size", *Journal of the Royal
       Statistical Society B* 20(2), 1958.
    .. [2] Li and Kanoulas, "Active sampling for large-scale information retrieval evaluation",
       *CIKM* 2017, doi:10.1145/3132847.3133015 (whose program has P_b for the last bucket, too).

    Examples
    --------
    With a budget of one, every bucket has one document, and its prior (see `prior`) is how likely
    it is:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b"], ["a", "c"]])
    >>> sample = draw(rankings, budget=1, seed=1)
    >>> sample.inclusion.tolist(), sample.strata.tolist()
    ([0.625, 0.1875, 0.1875], [1, 3, 2])
    """
    if budget < 1:
        requirement = f"must give topic `{rankings.topic}` at least one document"
        raise ArgumentError("--budget", requirement, budget)
    n_documents = rankings.n_documents
    values = prior(rankings)
    ordered = descending(values)
    buckets = _buckets(values[ordered], budget)
    numbers = raw_numbers(seed, rankings.topic, n_documents, step=DOCUMENT_STEP)
    sampled = np.zeros(n_documents, np.bool_)
    strata = np.zeros(n_documents, np.int32)
    inclusion = np.zeros(n_documents)
    draws = _draw_buckets(buckets, seed, rankings.topic)
    for index, (n_drawn, expected) in enumerate(zip(draws, _expected(buckets), strict=True)):
        members = np.sort(ordered[index * budget : (index + 1) * budget])
        sampled[least(numbers, members, n_drawn)] = True
        strata[members] = index + 1
        inclusion[members] = expected / members.size
    return Sample(sampled, strata, inclusion, values)


def prior(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by how much average precision looks at them.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive; they sum to 1 but for rounding.

    Notes
    -----
    The weight of rank i in a ranking of depth D is [1]_

    .. math:: w(i) = \frac{1}{2D} \left(1 + \sum_{j=i}^{D} \frac{1}{j}\right)
              \approx \frac{1}{2D} \ln\frac{D}{i}

    The sum itself is taken: it is positive down to the last rank, where the logarithm, which some
    programs take, leaves a document without any chance. D is the length of the topic's longest
    ranking for all runs, so a document of a shorter run weighs what its rank weighs in any run.
    A document's weights are added over the runs and divided by the sum of all.

    References
    ----------
    .. [1] Aslam, Pavlu and Yilmaz, "A statistical method for system evaluation using incomplete
       judgments", *SIGIR* 2006, doi:10.1145/1148170.1148263.

    Examples
    --------
    Depth 2: w(1) = (1 + 1 + 1/2) / 4 = 0.625, and w(2) = (1 + 1/2) / 4 = 0.375.

    >>> from pooler.topic_rankings import rankings_of
    >>> prior(rankings_of([["a", "b"], ["a", "c"]])[0]).tolist()
    [0.625, 0.1875, 0.1875]
    """
    depth = rankings.depth
    if not depth:
        return np.zeros(rankings.n_documents)
    harmonic = np.cumsum(1.0 / np.arange(depth, 0, -1))[::-1]
    weights = rankings.sum_by_rank((1.0 + harmonic) / (2 * depth))
    values: NDArray[np.float64] = weights / math.fsum(weights.tolist())
    return values


@dataclass(frozen=True, slots=True)
class _Buckets:
    """Buckets by prior, the highest first: all of `size` documents but the last."""

    size: int
    """How many draws there are, too."""
    size_of_last: int
    priors: list[float]
    """They sum to 1 but for rounding."""


def _buckets(values: NDArray[np.float64], budget: int) -> _Buckets:
    """Cut priors in descending order into buckets."""
    starts = range(0, values.size, budget)
    priors = [math.fsum(values[start : start + budget].tolist()) for start in starts]
    if len(priors) <= 1:
        return _Buckets(values.size, values.size, [1.0] * len(priors))
    return _Buckets(budget, values.size - starts[-1], priors)


def _draw_buckets(buckets: _Buckets, seed: int, topic: str) -> list[int]:
    """Say how often each bucket is drawn, the last one not above its size."""
    if len(buckets.priors) <= 1:
        return [buckets.size] * len(buckets.priors)
    ends = np.cumsum(buckets.priors)
    step = DOCUMENT_STEP
    while True:
        step += 1
        numbers = uniform_numbers(seed, topic, buckets.size, step=step)
        chosen = np.searchsorted(ends, numbers * ends[-1], side="right")
        draws: list[int] = np.bincount(chosen, minlength=len(ends)).tolist()
        if draws[-1] <= buckets.size_of_last:
            return draws


def _expected(buckets: _Buckets) -> list[float]:
    """Return how often each bucket is drawn on average, given that the last one fits."""
    if len(buckets.priors) <= 1:
        return [float(buckets.size)] * len(buckets.priors)
    if buckets.size_of_last == buckets.size:
        return [buckets.size * one for one in buckets.priors]
    of_last = _truncated_mean(buckets.size, buckets.priors[-1], buckets.size_of_last)
    others = math.fsum(buckets.priors[:-1])
    share = (buckets.size - of_last) / others
    return [share * one for one in buckets.priors[:-1]] + [of_last]


def _truncated_mean(n_draws: int, probability: float, most: int) -> float:
    """Return the mean of a binomial variable, given that it is at most `most`.

    Examples
    --------
    Two fair draws have 0, 1, 2 hits with 1/4, 2/4, 1/4; given at most 1, the mean is 2/3:

    >>> round(_truncated_mean(2, 0.5, 1), 12)
    0.666666666667
    """
    odds = probability / (1 - probability)
    # Weights relative to the likeliest count, so that none overflows; what underflows is nothing.
    likeliest = min(int((n_draws + 1) * probability), most)
    weights = {likeliest: 1.0}
    for hits in range(likeliest, most):
        weights[hits + 1] = weights[hits] * odds * (n_draws - hits) / (hits + 1)
    for hits in range(likeliest, 0, -1):
        weights[hits - 1] = weights[hits] * hits / ((n_draws - hits + 1) * odds)
    total = math.fsum(weights.values())
    return math.fsum(hits * weight for hits, weight in weights.items()) / total
