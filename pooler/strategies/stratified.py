"""Stratified sample: deep ranks are sampled more thinly than the top."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pooler.randomness import raw_numbers
from pooler.strategies.kinds import Sample
from pooler.strategies.take import take_values
from pooler.strategies.uniform_sample import DOCUMENT_STEP, least
from pooler.topic_rankings import TopicRankings
from store.errors import ArgumentError

PARAMETER = "--param strata"
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

    Examples
    --------
    >>> last_rank(strata="1:10:1,11:100:0.1")
    100
    """
    return max(stratum.last for stratum in parse_strata(strata))


def parse_strata(text: str) -> tuple[Stratum, ...]:
    """Read the strata of a sample.

    Parameters
    ----------
    text : str
        Strata with commas between: ``FROM:TO:RATE``, ``FROM:TO`` (the rate is what the budget
        leaves), or ``DEPTH``, short for ``1:DEPTH:1``. Ranks are from 1, rates in (0, 1] and
        decimal. NIST's script takes the same, one an option.

    Returns
    -------
    tuple of Stratum
        In the order of the text, at least one.

    Raises
    ------
    ArgumentError
        Naming the first stratum that is not of this form.

    Examples
    --------
    >>> parse_strata("20,21:100:0.1,101:1000")[1]
    Stratum(first=21, last=100, rate=Fraction(1, 10))
    """
    return tuple(_parse_stratum(part.strip(), text) for part in text.split(","))


def _parse_stratum(part: str, text: str) -> Stratum:
    """Read one stratum of a text."""
    if _DEPTH.fullmatch(part):
        part = f"1:{part}:1"
    match = _STRATUM.fullmatch(part)
    where = f": stratum `{part}`"
    if match is None or match[3] in ("", "."):
        raise ArgumentError(PARAMETER, _FORM + where, text, hint=_HINT)
    first, last = int(match[1]), int(match[2])
    if not 1 <= first <= last:
        requirement = f"must have ranks from 1, the first of a stratum not above its last{where}"
        raise ArgumentError(PARAMETER, requirement, text, hint=_HINT)
    rate = None if match[3] is None else Fraction(match[3])
    if rate is not None and not 0 < rate <= 1:
        requirement = f"must have rates above 0 and at most 1{where}"
        raise ArgumentError(PARAMETER, requirement, text, hint=_HINT)
    return Stratum(first, last, rate)


def draw(rankings: TopicRankings, *, budget: int | None = None, seed: int, strata: str) -> Sample:
    """Draw from every stratum of best ranks its share, without replacement.

    A document belongs to the first stratum of the text that holds its best rank over the runs;
    strata are numbered 1, 2, ... in the order of the text. Documents in no stratum are not pooled.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, cut at the last rank of the strata or deeper: what was cut off is in none.
    budget : int, optional
        Documents to judge, at most; needed when a stratum has no rate.
    seed : int
        Not negative; every topic has a stream of its own.
    strata : str
        See `parse_strata`.

    Returns
    -------
    Sample
        With exactly the sizes below. The inclusion probability is the number drawn from the
        stratum over that of its documents. Values, by best rank:
        `pooler.strategies.take.take_values`.

    Raises
    ------
    ArgumentError
        If `strata` is not of its form, `budget` is missing, or it is too small for this topic;
        the message says what is needed.

    Notes
    -----
    Sizes, in documents of the stratum in this topic. A stratum with a rate gives rate x size,
    rounded, halves up. The strata without one share what the budget leaves: so that their
    probabilities are as equal as whole numbers allow, in proportion to size, rounded down, and
    one more to those with the largest remainders, the earlier first among equals; when more is
    left than they hold, they are drawn whole and the sample is smaller than the budget. Every
    stratum that has documents gives at least one, since what is never drawn cannot be estimated.

    NIST's script [1]_ tosses a coin for each document and stops when the budget is spent, which
    leaves the last ones without a chance; without a budget it draws strata that have no rate
    whole, where here the budget must be given. O(n log n).

    References
    ----------
    .. [1] NIST testcoll-tools, `make-pools.pl`.
    .. [2] Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP
       and NDCG", *SIGIR* 2008, doi:10.1145/1390334.1390437.

    Examples
    --------
    Best ranks: a and d 1, b 2, c 3. The first rank whole, and one of the other two:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["d", "b"]])
    >>> sample = draw(rankings, budget=3, seed=1, strata="1,2:3")
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
    numbers = raw_numbers(seed, rankings.topic, rankings.n_documents, step=DOCUMENT_STEP)
    sampled = np.zeros(rankings.n_documents, np.bool_)
    inclusion = np.zeros(rankings.n_documents)
    for part, size in zip(members, sizes, strict=True):
        if part.size:
            sampled[least(numbers, part, size)] = True
            inclusion[part] = size / part.size
    return Sample(sampled, numbers_of_strata, inclusion, take_values(rankings))


def _sample_sizes(
    strata: Sequence[Stratum], sizes: Sequence[int], budget: int | None, topic: str
) -> list[int]:
    """Say how many documents to draw from each stratum of a topic, given their sizes."""
    drawn = [
        0 if stratum.rate is None else max(min(size, 1), _half_up(stratum.rate * size))
        for stratum, size in zip(strata, sizes, strict=True)
    ]
    shared = [index for index, stratum in enumerate(strata) if stratum.rate is None]
    if budget is None:
        if shared:
            requirement = f"must be given: stratum {strata[shared[0]]} has no rate"
            raise ArgumentError("--budget", requirement, None)
        return drawn
    shared = [index for index in shared if sizes[index]]
    n_fixed = sum(drawn)
    needed = n_fixed + len(shared)
    if budget < needed:
        requirement = (
            f"must be at least {needed} for topic `{topic}`: {n_fixed} by the rates of its"
        )
        requirement += " strata"
        if shared:
            requirement += f", and one from each of the {len(shared)} without a rate"
        raise ArgumentError("--budget", requirement, budget)
    shares = _share(budget - n_fixed, [sizes[index] for index in shared])
    for index, share in zip(shared, shares, strict=True):
        drawn[index] = share
    return drawn


def _half_up(number: Fraction) -> int:
    """Round to the nearest integer, halves up."""
    return int(number + Fraction(1, 2))


def _share(total: int, sizes: Sequence[int]) -> list[int]:
    """Share `total`, at least one each, out to strata in proportion to their sizes.

    Examples
    --------
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
