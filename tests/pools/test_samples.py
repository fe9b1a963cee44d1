"""Pools that are random samples: by hand, every drawing enumerated, chi-squared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.kinds import Sample
from pooler.strategies.rankings import TopicRankings, rankings_of, raw_numbers, uniform_numbers
from pooler.strategies.sampling import (
    Stratum,
    draw_statap,
    draw_stratified,
    draw_uniform,
    parse_strata,
    prior,
)
from store.errors import ArgumentError
from tests.helpers.strategies import ids

runs = st.lists(st.lists(ids, max_size=8, unique=True), max_size=5)


def test_uniform_worked_example() -> None:
    """Three of five documents, each with 3/5; best ranks 1, 1, 2, 3, 2 order them."""
    # a: rank 1 in both runs, b and e: rank 2 in one, c: 3, d: 3.
    rankings, docnos = rankings_of([["a", "b", "c"], ["a", "e", "d"]], topic="51")
    sample = draw_uniform(rankings, budget=3, seed=7)
    assert docnos == ["a", "b", "c", "d", "e"]
    assert sample.sampled.sum() == 3
    assert sample.inclusion.tolist() == [0.6] * 5
    assert sample.strata.tolist() == [1] * 5
    # Minus the best rank, plus the runs that gave it over three: 2/3 for a, 1/3 for the others.
    assert sample.values == pytest.approx([-1 / 3, -5 / 3, -8 / 3, -8 / 3, -5 / 3])


def test_documents_of_the_least_numbers_are_drawn() -> None:
    """The sample is what sorting the documents by their raw random bits gives."""
    rankings, _ = rankings_of([[f"d{number:02d}" for number in range(40)]], topic="51")
    numbers = raw_numbers(3, "51", 40, step=0).tolist()
    expected = set(sorted(range(40), key=numbers.__getitem__)[:11])
    assert set(draw_uniform(rankings, budget=11, seed=3).sampled.nonzero()[0].tolist()) == expected


@given(rankings=runs, budget=st.integers(1, 30), seed=st.integers(0, 2**64))
def test_size_and_probabilities_are_exact(rankings: list[list[str]], budget: int, seed: int) -> None:
    """The size is the smaller of budget and union, and the probabilities add up to it."""
    table, docnos = rankings_of(rankings, topic="1")
    sample = draw_uniform(table, budget=budget, seed=seed)
    size = min(budget, len(docnos))
    assert sample.sampled.sum() == size
    assert sample.inclusion.tolist() == [size / len(docnos) for _ in docnos]


def ranked(n_documents: int) -> TopicRankings:
    """Rank documents by one run: best ranks are 1, 2, ..., in the order of their numbers."""
    return rankings_of([[f"d{number:04d}" for number in range(n_documents)]], topic="51")[0]


def drawn_of(rankings: TopicRankings, strata: str, budget: int | None, seed: int = 1) -> list[int]:
    """Count the documents drawn from each stratum."""
    sample = draw_stratified(rankings, budget=budget, seed=seed, strata=strata)
    counts = Counter(sample.strata[sample.sampled].tolist())
    return [counts[number] for number in range(1, len(parse_strata(strata)) + 1)]


def test_strata_worked_example() -> None:
    """Two runs by hand: the top rank whole, half of the others; ranks below 3 are not pooled."""
    # Best ranks: a 1, b 2 (run 1) and 1 (run 2), so 1; c 3; d 2; e 4.
    rankings, docnos = rankings_of([["a", "b", "c", "e"], ["b", "d"]], topic="51")
    sample = draw_stratified(rankings, seed=1, strata="1,2:3:0.5")
    assert docnos == ["a", "b", "c", "d", "e"]
    assert sample.strata.tolist() == [1, 1, 2, 2, 0]
    assert sample.inclusion.tolist() == [1.0, 1.0, 0.5, 0.5, 0.0]
    assert sample.sampled.tolist()[:2] == [True, True]
    assert sample.sampled[2] != sample.sampled[3]
    assert not sample.sampled[4]


def test_earlier_stratum_wins_where_two_overlap() -> None:
    """A later stratum gets only what the earlier ones left, and keeps its number."""
    sample = draw_stratified(ranked(12), seed=1, strata="5:8:0.5,1:10:1,9:12:0.25")
    assert sample.strata.tolist() == [2] * 4 + [1] * 4 + [2] * 2 + [3] * 2
    assert sample.inclusion.tolist() == [1.0] * 4 + [0.5] * 4 + [1.0] * 2 + [0.5] * 2


@pytest.mark.parametrize(
    ("size", "rate", "drawn"),
    [
        (10, "0.25", 3),  # 2.5
        (10, "0.24", 2),  # 2.4
        (9, "0.5", 5),  # 4.5
        (100, "0.145", 15),  # 14.5, which is below in binary
        (100, "0.285", 29),  # 28.5, the same
        (3, "0.01", 1),  # 0.03: at least one
        (7, ".999", 7),  # 6.993
        (7, "1.0", 7),
    ],
)
def test_rate_is_rounded_half_up(size: int, rate: str, drawn: int) -> None:
    """A stratum gives rate x size, rounded as on paper, and at least one document."""
    assert drawn_of(ranked(size), f"1:{size}:{rate}", None) == [drawn]


@pytest.mark.parametrize(
    ("strata", "budget", "drawn"),
    [
        ("1:10:1,11:100", 19, [10, 9]),  # 9 of 90
        ("1:10:1,11:100", 500, [10, 90]),  # more than there is
        ("1:10,11:100", 10, [1, 9]),  # 10 x 10/100, 10 x 90/100
        ("1:10,11:100", 15, [2, 13]),  # 1.5 and 13.5: equal remainders, the earlier first
        ("1:10,11:100", 14, [1, 13]),  # 1.4 and 12.6
        ("1:2,3:20,21:100", 10, [1, 2, 7]),  # 0.2, so 1; 9 x 18/98 = 1.65, 9 x 80/98 = 7.35
        ("1:1,2:2,3:100", 3, [1, 1, 1]),
        ("1:50:0.1,51:60,61:100:0.2", 14, [5, 1, 8]),
        ("101:200,1:100", 7, [0, 7]),  # an empty stratum takes no share
        ("101:200:0.5,1:100:0.02", 2, [0, 2]),
    ],
)
def test_strata_without_a_rate_share_what_is_left(strata: str, budget: int, drawn: list[int]) -> None:
    """Shares by size, largest remainders first, at least one each, over 100 documents."""
    assert drawn_of(ranked(100), strata, budget) == drawn


@given(
    rankings=runs,
    cuts=st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True).map(sorted),
    rates=st.lists(st.sampled_from(["", ":1", ":0.5", ":0.34"]), min_size=4, max_size=4),
    budget=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_sample_keeps_every_promise(
    rankings: list[list[str]], cuts: list[int], rates: list[str], budget: int, seed: int
) -> None:
    """Strata by minimum rank, exact sizes and probabilities, budget kept, shares nearly equal."""
    firsts = [1, *(cut + 1 for cut in cuts)]
    strata = ",".join(f"{a}:{b}{rate}" for a, b, rate in zip(firsts, cuts, rates, strict=False))
    table, docnos = rankings_of(rankings, topic="7")
    try:
        sample = draw_stratified(table, budget=budget, seed=seed, strata=strata)
    except ArgumentError:  # the messages have tests of their own
        return
    sizes: Counter[int] = Counter()
    for number, docno in enumerate(docnos):
        best = min(run.index(docno) + 1 for run in rankings if docno in run)
        stratum = next((at + 1 for at, cut in enumerate(cuts) if best <= cut), 0)
        assert sample.strata[number] == stratum
        sizes[stratum] += 1
    drawn = Counter(sample.strata[sample.sampled].tolist())
    assert drawn[0] == 0
    assert drawn.total() <= budget
    open_drawn, open_size = 0, 0
    for number, rate in enumerate(rates[: len(cuts)], start=1):
        inclusion = set(sample.inclusion[sample.strata == number].tolist())
        assert inclusion <= {drawn[number] / max(sizes[number], 1)}
        assert sizes[number] == 0 or drawn[number] > 0
        if rate:
            exact = Fraction(rate[1:]) * sizes[number]
            assert drawn[number] == max(int(exact + Fraction(1, 2)), min(sizes[number], 1))
        else:
            open_drawn += drawn[number]
            open_size += sizes[number]
    fixed = drawn.total() - open_drawn
    assert open_drawn == min(open_size, budget - fixed)
    for number in range(1, len(cuts) + 1):
        if not rates[number - 1] and drawn[number] > 1:
            assert drawn[number] < Fraction(open_drawn * sizes[number], open_size) + 1


def test_every_subset_of_a_stratum_is_as_likely() -> None:
    """Over 1,000 seeds, pairs (1 of 2, 1 of 3) come up as chi-squared allows."""
    n_seeds = 1000
    counts = Counter(
        tuple(draw_stratified(ranked(5), seed=seed, strata="1:2:0.5,3:5:0.3").sampled.nonzero()[0].tolist())
        for seed in range(n_seeds)
    )
    expected = n_seeds / 6
    pairs = list(product((0, 1), (2, 3, 4)))
    chi_squared = sum((counts[pair] - expected) ** 2 / expected for pair in pairs)
    assert sum(counts[pair] for pair in pairs) == n_seeds
    assert chi_squared < 20.52  # 5 degrees of freedom, probability 0.001


def test_one_stratum_of_rate_one_is_a_depth_pool() -> None:
    """`20` is short for 1:20:1, and draws all of it."""
    assert parse_strata(" 1:10:1 , 11:100") == parse_strata("1:10:1,11:100")
    assert parse_strata("20") == parse_strata("1:20:1") == (Stratum(1, 20, Fraction(1)),)
    sample = draw_stratified(ranked(30), seed=1, strata="20")
    assert np.flatnonzero(sample.sampled).tolist() == list(range(20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be FROM:TO:RATE, FROM:TO or DEPTH, with commas between: stratum ``"),
        ("1:10:0.5:2", "stratum `1:10:0.5:2`"),
        ("1:10;11:20", "must be FROM:TO:RATE"),
        ("1:10:", "stratum `1:10:`"),
        ("1:10:1e-1", "stratum `1:10:1e-1`"),
        ("-5", "stratum `-5`"),
        ("1:9999999999", "stratum `1:9999999999`"),
        ("0", "must have ranks from 1, the first of a stratum not above its last: stratum `1:0:1`"),
        ("1:10,20:11", "stratum `20:11`"),
        ("1:10:0", "must have rates above 0 and at most 1: stratum `1:10:0`"),
        ("1:10:1.01", "must have rates above 0 and at most 1"),
    ],
)
def test_text_that_is_no_strata_is_refused_naming_the_stratum(text: str, message: str) -> None:
    """One clear error names what was typed and what it should be."""
    with pytest.raises(ArgumentError) as caught:
        parse_strata(text)
    assert caught.value.name == "strata"
    assert message in caught.value.message
    assert caught.value.message.endswith(f"but got {text!r}")


@pytest.mark.parametrize(
    ("strata", "budget", "message"),
    [
        ("1:10:1,11:100", None, "must be given: stratum 11:100 has no rate"),
        ("1:10:1", 9, "must be at least 10 for topic `51`: 10 by the rates of its strata, but"),
        ("1:10:1,11:20,21:30", 11, "must be at least 12 for topic `51`: 10 by the rates of its"
         " strata, and one from each of the 2 without a rate, but got 11"),
    ],
)  # fmt: skip
def test_budget_that_is_missing_or_too_small_is_refused(
    strata: str, budget: int | None, message: str
) -> None:
    """The error says what this topic needs."""
    with pytest.raises(ArgumentError) as caught:
        draw_stratified(ranked(100), budget=budget, seed=1, strata=strata)
    assert caught.value.name == "budget"
    assert message in caught.value.message


def exact_priors(rankings: list[list[str]]) -> dict[str, Fraction]:
    """Return the priors as fractions, from the definition."""
    depth = max(map(len, rankings))
    weights: dict[str, Fraction] = {}
    for run in rankings:
        for rank, docno in enumerate(run, start=1):
            tail = sum((Fraction(1, j) for j in range(rank, depth + 1)), Fraction(0))
            weights[docno] = weights.get(docno, Fraction(0)) + (1 + tail) / (2 * depth)
    total = sum(weights.values())
    return {docno: weight / total for docno, weight in weights.items()}


def enumerated(rankings: list[list[str]], budget: int) -> dict[str, Fraction]:
    """Return the inclusion probabilities by going through every sequence of buckets."""
    priors = exact_priors(rankings)
    # Value descending, then docno descending.
    ordered = sorted(sorted(priors, reverse=True), key=lambda docno: -priors[docno])
    buckets = [ordered[start : start + budget] for start in range(0, len(ordered), budget)]
    of_bucket = [sum(priors[docno] for docno in bucket) for bucket in buckets]
    if len(ordered) <= budget:
        return dict.fromkeys(priors, Fraction(1))
    kept = Fraction(0)
    included = [Fraction(0)] * len(buckets)
    for draws in product(range(len(buckets)), repeat=budget):
        counts = [draws.count(bucket) for bucket in range(len(buckets))]
        if counts[-1] > len(buckets[-1]):
            continue
        chance = Fraction(1)
        for bucket in draws:
            chance *= of_bucket[bucket]
        kept += chance
        for bucket, count in enumerate(counts):
            included[bucket] += chance * count / len(buckets[bucket])
    return {docno: included[number] / kept for number, bucket in enumerate(buckets) for docno in bucket}


@pytest.mark.slow
def test_statap_worked_example() -> None:
    """One run of three, budget two: buckets {1, 2} and {3}, all by hand."""
    # D = 3: w = (1 + 11/6, 1 + 5/6, 1 + 1/3) / 6 = 17/36, 11/36, 8/36.
    rankings, _ = rankings_of([["a", "b", "c"]], topic="51")
    assert prior(rankings) == pytest.approx([17 / 36, 11 / 36, 8 / 36], rel=1e-15)
    sample = draw_statap(rankings, budget=2, seed=1)
    assert sample.strata.tolist() == [1, 1, 2]
    # The last bucket is drawn 0, 1 or 2 times with (28/36)^2, 2 x 28 x 8 / 36^2 and (8/36)^2;
    # given at most once: E = 448 / (784 + 448) = 4/11. The others share 2 - 4/11 = 18/11.
    assert sample.inclusion == pytest.approx([9 / 11, 9 / 11, 4 / 11], rel=1e-14)
    assert sample.sampled.sum() == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rankings", "budget"),
    [
        ([["a", "b", "c", "d", "e"]], 2),  # the last bucket has one of two
        ([["a", "b", "c", "d", "e"]], 3),  # two of three
        ([["a", "b", "c", "d", "e", "f", "g"], ["g", "a"]], 3),  # one of three, two runs
        ([["a", "b"], ["c", "d"], ["e", "a"]], 4),  # one of four, ties between documents
        ([["a", "b", "c", "d"]], 2),  # the last bucket is full
        ([["a", "b", "c"]], 1),
        ([["a", "b", "c"]], 3),
        ([["a", "b", "c"]], 9),
    ],
)
def test_inclusion_probabilities_equal_full_enumeration(rankings: list[list[str]], budget: int) -> None:
    """Every sequence of bucket draws, weighed as a fraction, gives the same probabilities."""
    table, docnos = rankings_of(rankings)
    expected = enumerated(rankings, budget)
    inclusion = draw_statap(table, budget=budget, seed=1).inclusion
    assert inclusion == pytest.approx([float(expected[docno]) for docno in docnos], rel=1e-13)


@pytest.mark.slow
@given(rankings=runs, budget=st.integers(1, 30), seed=st.integers(0, 99))
def test_size_is_exact_and_probabilities_add_up(rankings: list[list[str]], budget: int, seed: int) -> None:
    """The size is the smaller of budget and union; probabilities sum to it, and are in (0, 1]."""
    table, docnos = rankings_of(rankings, topic="1")
    sample = draw_statap(table, budget=budget, seed=seed)
    size = min(budget, len(docnos))
    assert sample.sampled.sum() == size
    assert sample.inclusion.sum() == pytest.approx(size)
    assert bool(((sample.inclusion > 0) & (sample.inclusion <= 1)).all())
    assert bool((sample.values > 0).all())
    if len(docnos) <= budget:
        assert sample.inclusion.tolist() == [1.0] * len(docnos)
    sizes = np.bincount(sample.strata, minlength=1)[1:].tolist()
    assert all(one == min(budget, len(docnos)) for one in sizes[:-1])
    assert sum(sizes) == len(docnos)


@pytest.mark.slow
@given(rankings=runs.filter(any))
def test_prior_equals_its_definition(rankings: list[list[str]]) -> None:
    """The priors are those of a plain double loop in fractions."""
    some = [run for run in rankings if run]
    table, docnos = rankings_of(some)
    expected = exact_priors(some)
    assert prior(table) == pytest.approx([float(expected[docno]) for docno in docnos], rel=1e-13)


@pytest.mark.slow
def test_inclusion_of_a_large_topic_is_that_of_exact_arithmetic() -> None:
    """With 2,500 documents and a budget of 1,000, whose weights underflow, nothing is lost."""
    n_documents, budget = 2500, 1000
    table, _ = rankings_of([[f"{rank:04d}" for rank in range(n_documents)]])
    sample = draw_statap(table, budget=budget, seed=1)
    last = Fraction(float(sample.values[2000:].sum())).limit_denominator(10**12)
    numerator, denominator = last.numerator, last.denominator
    rest = denominator - numerator
    weights = [comb(budget, hits) * numerator**hits * rest ** (budget - hits) for hits in range(501)]
    mean = Fraction(sum(hits * weight for hits, weight in enumerate(weights)), sum(weights))
    assert sample.inclusion[-1] == pytest.approx(float(mean) / 500, rel=1e-9)
    assert sample.inclusion.sum() == pytest.approx(budget, rel=1e-12)


@pytest.mark.slow
def test_buckets_are_drawn_with_the_next_numbers_until_the_last_one_fits() -> None:
    """Buckets {a, b} and {c} of one run: 28/36 of the numbers fall into the first (see above).

    The first drawing takes the numbers of step 1, and every repetition those of the step after.
    """
    rankings, _ = rankings_of([["a", "b", "c"]], topic="51")
    n_repeated = 0
    for seed in range(100):
        step, n_last = 0, 2
        while n_last == 2:
            step += 1
            n_last = int((uniform_numbers(seed, "51", 2, step=step) >= 28 / 36).sum())
        n_repeated += step > 1
        assert draw_statap(rankings, budget=2, seed=seed).sampled[2] == (n_last == 1)
    assert n_repeated > 0


@pytest.mark.parametrize("draw", [draw_uniform, partial(draw_stratified, strata="2,3:8"), draw_statap])
@given(rankings=runs, seed=st.integers(0, 99), data=st.data())
def test_order_of_runs_changes_nothing(
    draw: Callable[..., Sample], rankings: list[list[str]], seed: int, data: st.DataObject
) -> None:
    """Same choice, same values and probabilities to the last bit; of no runs there is nothing to draw."""
    shuffled = data.draw(st.permutations(rankings))
    first, second, none = (
        draw(rankings_of(some)[0], budget=30, seed=seed) for some in (rankings, shuffled, [])
    )
    for name in ("sampled", "inclusion", "values", "strata"):
        assert getattr(first, name).tolist() == getattr(second, name).tolist()
        assert getattr(none, name).size == 0
