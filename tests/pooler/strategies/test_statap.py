"""`pooler.strategies.sampling`: buckets of priors, and exact inclusion probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import rankings_of, uniform_numbers
from pooler.strategies.sampling import draw_statap, prior
from tests.strategies import ids

pytestmark = pytest.mark.slow

runs = st.lists(st.lists(ids, max_size=8, unique=True), max_size=5)


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


def test_worked_example() -> None:
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


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_documents_are_drawn_as_often_as_their_probabilities_say(budget: int) -> None:
    """Over 4,000 seeds, every document stays within four standard errors of its probability."""
    table, docnos = rankings_of([["a", "b", "c", "d", "e"], ["c", "e", "f"]], topic="51")
    expected = enumerated([["a", "b", "c", "d", "e"], ["c", "e", "f"]], budget)
    n_seeds = 4000
    counts = np.zeros(len(docnos))
    for seed in range(n_seeds):
        counts += draw_statap(table, budget=budget, seed=seed).sampled
    for docno, count in zip(docnos, counts.tolist(), strict=True):
        chance = float(expected[docno])
        error = (chance * (1 - chance) / n_seeds) ** 0.5
        assert abs(count / n_seeds - chance) < 4 * error


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


@given(rankings=runs, budget=st.integers(1, 9), data=st.data())
def test_order_of_runs_changes_nothing(rankings: list[list[str]], budget: int, data: st.DataObject) -> None:
    """The runs may come in any order: same choice, same probabilities to the last bit."""
    shuffled = data.draw(st.permutations(rankings))
    first, second = (
        draw_statap(rankings_of(some)[0], budget=budget, seed=1) for some in (rankings, shuffled)
    )
    assert first.sampled.tolist() == second.sampled.tolist()
    assert first.inclusion.tolist() == second.inclusion.tolist()
    assert first.values.tolist() == second.values.tolist()


@given(rankings=runs.filter(any))
def test_prior_equals_its_definition(rankings: list[list[str]]) -> None:
    """The priors are those of a plain double loop in fractions."""
    some = [run for run in rankings if run]
    table, docnos = rankings_of(some)
    expected = exact_priors(some)
    assert prior(table) == pytest.approx([float(expected[docno]) for docno in docnos], rel=1e-13)


def test_prior_of_one_run_sums_to_one_without_normalising() -> None:
    """The weights of a ranking are a distribution, and close to the paper's logarithm."""
    depth = 1000
    table, _ = rankings_of([[f"{rank:04d}" for rank in range(depth)]])
    values = prior(table)
    tail = sum(1 / j for j in range(1, depth + 1))
    assert values[0] == pytest.approx((1 + tail) / (2 * depth), rel=1e-12)
    # ln(D / i) / 2D, and what the sum has more: (1 + 1/2i) / 2D at most, to first order.
    approximation = np.array([log(depth / rank) for rank in range(1, depth + 1)]) / (2 * depth)
    more = (values - approximation) * 2 * depth
    assert bool((more > 0.9).all())
    assert bool((more < 1.6).all())


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


def test_no_documents_are_an_empty_sample() -> None:
    """Without runs there is nothing to draw."""
    sample = draw_statap(rankings_of([])[0], budget=3, seed=1)
    arrays = (sample.sampled, sample.strata, sample.inclusion, sample.values)
    assert [array.size for array in arrays] == [0] * 4


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
