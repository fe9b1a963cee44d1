"""`pooler.strategies.sampling`: simple random samples of the union."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import rankings_of, raw_numbers
from pooler.strategies.sampling import draw_uniform
from tests.strategies import ids

runs = st.lists(st.lists(ids, max_size=8, unique=True), max_size=5)


def test_worked_example() -> None:
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


@given(rankings=runs, budget=st.integers(1, 30), data=st.data())
def test_order_of_runs_and_ranks_changes_no_choice(
    rankings: list[list[str]], budget: int, data: st.DataObject
) -> None:
    """The choice depends on the union alone; the values, on ranks, not on the order of runs."""
    first = draw_uniform(rankings_of(rankings)[0], budget=budget, seed=1)
    shuffled = data.draw(st.permutations(rankings))
    second = draw_uniform(rankings_of(shuffled)[0], budget=budget, seed=1)
    third = draw_uniform(rankings_of([run[::-1] for run in rankings])[0], budget=budget, seed=1)
    assert first.sampled.tolist() == second.sampled.tolist() == third.sampled.tolist()
    assert first.values.tolist() == second.values.tolist()


def test_smaller_budget_draws_part_of_the_larger_sample() -> None:
    """With one seed, samples of growing size contain one another."""
    rankings, _ = rankings_of([[f"d{number}" for number in range(20)]])
    samples = [draw_uniform(rankings, budget=budget, seed=5).sampled for budget in range(1, 21)]
    for smaller, larger in pairwise(samples):
        assert bool((smaller <= larger).all())


def test_every_subset_is_as_likely_as_every_other() -> None:
    """Over 6,000 seeds, the 10 samples of 2 out of 5 come up as chi-squared allows."""
    rankings, _ = rankings_of([list("abcde")], topic="51")
    n_seeds = 6000
    counts = Counter(
        tuple(draw_uniform(rankings, budget=2, seed=seed).sampled.nonzero()[0].tolist())
        for seed in range(n_seeds)
    )
    expected = n_seeds / comb(5, 2)
    chi_squared = sum((counts[pair] - expected) ** 2 / expected for pair in combinations(range(5), 2))
    assert chi_squared < 27.88  # 9 degrees of freedom, probability 0.001


def test_topics_and_seeds_have_streams_of_their_own() -> None:
    """The same documents of another topic, or with another seed, are drawn otherwise."""
    docnos = [f"d{number:02d}" for number in range(64)]
    drawn = {
        draw_uniform(rankings_of([docnos], topic=topic)[0], budget=32, seed=seed).sampled.tobytes()
        for topic in ("1", "2")
        for seed in (1, 2)
    }
    assert len(drawn) == 4


def test_no_documents_are_an_empty_sample() -> None:
    """Without runs there is nothing to draw."""
    sample = draw_uniform(rankings_of([])[0], budget=3, seed=1)
    arrays = (sample.sampled, sample.strata, sample.inclusion, sample.values)
    assert [array.size for array in arrays] == [0] * 4
