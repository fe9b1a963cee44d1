"""Uniform, stratified, statAP: documents of one topic, drawn without replacement.

All take the topic's `TopicRankings`, a seed and a budget, and return a `Sample`. Every document gets a random
number, and of those that may be taken the ones with the least numbers are: so, with the same seed, a smaller
budget of a uniform sample draws some of the documents of a larger one. `ArgumentError` is raised if a budget
is too small for the topic. O(n log n) for n documents taken from all runs.

References
----------
.. [1] Yilmaz and Aslam, "Estimating average precision with incomplete and imperfect
   judgments", *CIKM* 2006, doi:10.1145/1183614.1183633.
.. [2] NIST testcoll-tools, `make-pools.pl`.
.. [3] Pavlu and Aslam, "A practical sampling strategy for efficient retrieval evaluation",
   technical report, Northeastern University, 2007; the buckets are those of Stevens,
   "Sampling without replacement with probability proportional to size", *Journal of the Royal
   Statistical Society B* 20(2), 1958.
.. [4] Li and Kanoulas, "Active sampling for large-scale information retrieval evaluation",
   *CIKM* 2017, doi:10.1145/3132847.3133015 (whose program has P_b for the last bucket, too).
.. [5] Aslam, Pavlu and Yilmaz, "A statistical method for system evaluation using incomplete
   judgments", *SIGIR* 2006, doi:10.1145/1148170.1148263.
.. [6] Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP
   and NDCG", *SIGIR* 2008, doi:10.1145/1390334.1390437.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.fixed import take_values
from pooler.strategies.kinds import Parameter, Sample, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, descending, raw_numbers, uniform_numbers
from store.errors import ArgumentError, ParameterError

_DOCUMENT_STEP = 0
"""Stream of the numbers that choose documents; the display order has the stream without a step."""


def draw_uniform(rankings: TopicRankings, *, budget: int, seed: int) -> Sample:
    """Draw documents without replacement, all with the same probability.

    The documents between the cuts of infAP [1]_, but of exactly the size asked for, where NIST's script
    tosses a coin for each document [2]_. A simple random sample: it depends on the union alone, not on ranks
    or runs. It has one stratum, 1; the inclusion probability is the number drawn over that of the union, for
    every document. Values, by best rank: `pooler.strategies.fixed.take_values`.

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b", "c"], ["d", "b"]], topic="51")
    >>> sample = draw_uniform(rankings, budget=3, seed=1)
    >>> int(sample.sampled.sum()), sample.inclusion.tolist()
    (3, [0.75, 0.75, 0.75, 0.75])
    """
    every, size = np.arange(rankings.n_documents), min(budget, rankings.n_documents)
    return _drawn(rankings, seed, [(every, size, size)], take_values(rankings))


def _drawn(
    rankings: TopicRankings,
    seed: int,
    strata: Iterable[tuple[NDArray[np.int64], int, float]],
    values: NDArray[np.float64],
) -> Sample:
    """Draw from strata: the documents of each, ascending; how many to draw; how many that is on average."""
    n_documents = rankings.n_documents
    numbers = raw_numbers(seed, rankings.topic, n_documents, step=_DOCUMENT_STEP)
    sampled = np.zeros(n_documents, np.bool_)
    numbers_of_strata = np.zeros(n_documents, np.int32)
    inclusion = np.zeros(n_documents)
    for number, (members, n_drawn, expected) in enumerate(strata, start=1):
        if members.size:
            sampled[members[np.argsort(numbers[members], kind="stable")[:n_drawn]]] = True
            numbers_of_strata[members] = number
            inclusion[members] = expected / members.size
    return Sample(sampled, numbers_of_strata, inclusion, values)


def draw_statap(rankings: TopicRankings, *, budget: int, seed: int) -> Sample:
    r"""Draw documents without replacement, the likelier the higher runs rank them.

    Documents are sorted by their `prior` and cut into buckets of as many documents as the budget.
    A bucket is drawn with replacement, as often as the budget says, with the prior of all its
    documents; then, from every bucket, as many documents as it was drawn, without replacement. Strata are
    the buckets, numbered from 1 in the order of the prior. Values are the priors, which sum to 1.

    Notes
    -----
    With budget m, bucket b has prior P_b and is drawn K_b times. A bucket of m documents is never
    drawn more often than it has documents, and its documents are included with probability
    E[K_b] / m = P_b [3]_ (and [4]_). The last bucket has s <= m documents, and could be. The draws of all
    buckets are repeated then until it is not, so the sample has exactly min(m, union) documents;
    given that, with P the prior of the last bucket and K of the binomial distribution (m, P),

    .. math::

        \pi_{last} = \frac{E[K \mid K \le s]}{s}, \qquad
        \pi_b = \frac{m - E[K \mid K \le s]}{m} \cdot \frac{P_b}{1 - P}

    are the probabilities returned, exact but for rounding. The last bucket has the least priors,
    so a repetition is needed at most every other time.

    Documents with the same prior may fall into different buckets.

    Examples
    --------
    With a budget of one, every bucket has one document, and its prior (see `prior`) is how likely
    it is:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b"], ["a", "c"]])
    >>> sample = draw_statap(rankings, budget=1, seed=1)
    >>> sample.inclusion.tolist(), sample.strata.tolist()
    ([0.625, 0.1875, 0.1875], [1, 3, 2])
    """
    values = prior(rankings)
    ordered = descending(values)
    buckets = _buckets(values[ordered], budget)
    draws = zip(_draw_buckets(buckets, seed, rankings.topic), _expected(buckets), strict=True)
    strata = (
        (np.sort(ordered[index * budget : (index + 1) * budget]), n_drawn, expected)
        for index, (n_drawn, expected) in enumerate(draws)
    )
    return _drawn(rankings, seed, strata, values)


def prior(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by how much average precision looks at them.

    Values are positive, and sum to 1 but for rounding. The weight of rank i in a ranking of depth D is [5]_

    .. math:: w(i) = \frac{1}{2D} \left(1 + \sum_{j=i}^{D} \frac{1}{j}\right)
              \approx \frac{1}{2D} \ln\frac{D}{i}

    The sum itself is taken: it is positive down to the last rank, where the logarithm, which some
    programs take, leaves a document without any chance. D is the length of the topic's longest
    ranking for all runs, so a document of a shorter run weighs what its rank weighs in any run.
    A document's weights are added over the runs and divided by the sum of all.

    Examples
    --------
    Depth 2: w(1) = (1 + 1 + 1/2) / 4 = 0.625, and w(2) = (1 + 1/2) / 4 = 0.375.

    >>> from pooler.strategies.rankings import rankings_of
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
    starts = range(0, values.size, budget)
    priors = [math.fsum(values[start : start + budget].tolist()) for start in starts]
    if len(priors) <= 1:
        return _Buckets(values.size, values.size, [1.0] * len(priors))
    return _Buckets(budget, values.size - starts[-1], priors)


def _draw_buckets(buckets: _Buckets, seed: int, topic: str) -> list[int]:
    """Return how often each bucket is drawn, the last one not above its size."""
    if len(buckets.priors) <= 1:
        return [buckets.size] * len(buckets.priors)
    ends = np.cumsum(buckets.priors)
    step = _DOCUMENT_STEP
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


PARAMETER = "strata"
_STRATUM = re.compile(r"([0-9]{1,9}):([0-9]{1,9})(?::([0-9]{0,9}(?:\.[0-9]{0,18})?))?")
_DEPTH = re.compile(r"[0-9]{1,9}")
_FORM = "must be FROM:TO:RATE, FROM:TO or DEPTH, with commas between"
_HINT = "1:10:1,11:100:0.1 = the first 10 ranks whole, and a tenth of the next 90"


@dataclass(frozen=True, slots=True)
class Stratum:
    """Documents whose best rank is in a range."""

    first: int
    """Best rank of its first documents, at least 1."""
    last: int
    """Best rank of its last documents."""
    rate: Fraction | None = None
    """Share to draw, in (0, 1]; ``None`` = what the budget leaves."""

    def __str__(self) -> str:
        return f"{self.first}:{self.last}"


def last_rank(*, strata: str) -> int:
    """Return the last rank of the strata: runs cut before it would leave documents out.

    >>> last_rank(strata="1:10:1,11:100:0.1")
    100
    """
    return max(stratum.last for stratum in parse_strata(strata))


def parse_strata(text: str) -> tuple[Stratum, ...]:
    """Read the strata of a sample, with commas between, in the order of the text.

    ``FROM:TO:RATE``, ``FROM:TO`` (the rate is what the budget leaves), or ``DEPTH``, short for ``1:DEPTH:1``.
    Ranks are from 1, rates in (0, 1] and decimal. NIST's script takes the same, one an option.
    `ArgumentError` names the first that is not of this form.

    >>> parse_strata("20,21:100:0.1,101:1000")[1]
    Stratum(first=21, last=100, rate=Fraction(1, 10))
    """
    return tuple(_parse_stratum(part.strip(), text) for part in text.split(","))


def _parse_stratum(part: str, text: str) -> Stratum:
    part = f"1:{part}:1" if _DEPTH.fullmatch(part) else part
    match = _STRATUM.fullmatch(part)
    requirement = _FORM
    if match is not None and match[3] not in ("", "."):
        first, last, rate = int(match[1]), int(match[2]), None if match[3] is None else Fraction(match[3])
        if not 1 <= first <= last:
            requirement = "must have ranks from 1, the first of a stratum not above its last"
        elif rate is not None and not 0 < rate <= 1:
            requirement = "must have rates above 0 and at most 1"
        else:
            return Stratum(first, last, rate)
    raise ParameterError(PARAMETER, f"{requirement}: stratum `{part}`", text, hint=_HINT)


def draw_stratified(rankings: TopicRankings, *, budget: int | None = None, seed: int, strata: str) -> Sample:
    """Draw from every stratum of best ranks its share ([6]_).

    A document belongs to the first stratum of the text that holds its best rank over the runs;
    strata are numbered 1, 2, ... in the order of the text, as `parse_strata` reads it. Documents in no
    stratum are not pooled, and so none below a cut of the rankings. A budget is needed when a stratum has no
    rate. The inclusion probability is the number drawn from the stratum over that of its documents. Values,
    by best rank: `pooler.strategies.fixed.take_values`.

    Notes
    -----
    Sizes, in documents of the stratum in this topic. A stratum with a rate gives rate x size,
    rounded, halves up. The strata without one share what the budget leaves: so that their
    probabilities are as equal as whole numbers allow, in proportion to size, rounded down, and
    one more to those with the largest remainders, the earlier first among equals; when more is
    left than they hold, they are drawn whole and the sample is smaller than the budget. Every
    stratum that has documents gives at least one, since what is never drawn cannot be estimated.

    NIST's script [2]_ tosses a coin for each document and stops when the budget is spent, which
    leaves the last ones without a chance; without a budget it draws strata that have no rate
    whole, where here the budget must be given.

    Examples
    --------
    Best ranks: a and d 1, b 2, c 3. The first rank whole, and one of the other two:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["d", "b"]])
    >>> sample = draw_stratified(rankings, budget=3, seed=1, strata="1,2:3")
    >>> sample.strata.tolist(), sample.inclusion.tolist()
    ([1, 2, 2, 1], [1.0, 0.5, 0.5, 1.0])
    """
    parsed = parse_strata(strata)
    best = rankings.best_ranks()
    numbers_of_strata = np.zeros(rankings.n_documents, np.int32)
    for number in range(len(parsed), 0, -1):  # the earlier stratum writes last
        stratum = parsed[number - 1]
        numbers_of_strata[(best >= stratum.first) & (best <= stratum.last)] = number
    members = [np.flatnonzero(numbers_of_strata == number + 1) for number in range(len(parsed))]
    sizes = _sample_sizes(parsed, [part.size for part in members], budget, rankings.topic)
    strata_of_sizes = ((part, size, size) for part, size in zip(members, sizes, strict=True))
    return _drawn(rankings, seed, strata_of_sizes, take_values(rankings))


def _sample_sizes(
    strata: Sequence[Stratum], sizes: Sequence[int], budget: int | None, topic: str
) -> list[int]:
    drawn = [
        0 if stratum.rate is None else max(min(size, 1), int(stratum.rate * size + Fraction(1, 2)))
        for stratum, size in zip(strata, sizes, strict=True)
    ]
    shared = [index for index, stratum in enumerate(strata) if stratum.rate is None]
    if budget is None:
        if shared:
            raise ArgumentError("budget", f"must be given: stratum {strata[shared[0]]} has no rate", None)
        return drawn
    shared = [index for index in shared if sizes[index]]
    n_fixed = sum(drawn)
    needed = n_fixed + len(shared)
    if budget < needed:
        requirement = f"must be at least {needed} for topic `{topic}`: {n_fixed} by the rates of its strata"
        if shared:
            requirement += f", and one from each of the {len(shared)} without a rate"
        raise ArgumentError("budget", requirement, budget)
    shares = _share(budget - n_fixed, [sizes[index] for index in shared])
    for index, share in zip(shared, shares, strict=True):
        drawn[index] = share
    return drawn


def _share(total: int, sizes: Sequence[int]) -> list[int]:
    """Share `total`, at least one each, out to strata in proportion to their sizes.

    >>> _share(10, [5, 20, 100]), _share(200, [5, 20, 100]), _share(3, [1, 1, 98])
    ([1, 2, 7], [5, 20, 100], [1, 1, 1])
    """
    if total >= sum(sizes):
        return list(sizes)
    shares = [0] * len(sizes)
    rest = list(range(len(sizes)))
    while short := [i for i in rest if total * sizes[i] < sum(sizes[j] for j in rest)]:
        # The least share is one; what that takes is missing to the others.
        for index in short:
            shares[index] = 1
        total -= len(short)
        rest = [index for index in rest if index not in short]
    n_documents = sum(sizes[index] for index in rest)
    remainders = {}
    for index in rest:
        shares[index], remainders[index] = divmod(total * sizes[index], n_documents)
    left = total - sum(shares[index] for index in rest)
    for index in sorted(rest, key=lambda index: -remainders[index])[:left]:
        shares[index] += 1
    return shares


SAMPLING = (
    SamplingStrategy(
        "uniform",
        "a simple random sample of the union, of exactly the budget",
        "Yilmaz and Aslam 2006",
        draw=draw_uniform,
        needs_budget=True,
    ),
    SamplingStrategy(
        "stratified",
        "ranges of best ranks, each sampled at its own rate",
        "Yilmaz, Kanoulas and Aslam 2008",
        (Parameter(PARAMETER, None, "FROM:TO:RATE,... as 1:10:1,11:100:0.1", type=str),),
        draw=draw_stratified,
        least_depth=last_rank,
    ),
    SamplingStrategy(
        "statap",
        "documents that runs rank high are more likely, but all have a chance",
        "Pavlu and Aslam 2007",
        draw=draw_statap,
        needs_budget=True,
    ),
)
"""In the order in which strategies are listed."""
