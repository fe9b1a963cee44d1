"""`pooler.strategies.fixed`: by best rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of


def test_take_values_worked_example() -> None:
    """Three runs by hand: best rank first, then how many runs gave it, then docno descending."""
    # Best ranks: a 1 (two runs), b 1 (one run), c 2 (two runs), d 3, e 3.
    # One of three runs adds 1/4, two add 2/4.
    rankings = [["a", "c", "d"], ["b", "c", "e"], ["a", "b"]]
    expected = {"a": -0.5, "b": -0.75, "c": -1.5, "d": -2.75, "e": -2.75}
    assert values_of("take", rankings) == expected
    assert order_of("take", rankings) == ["a", "b", "c", "e", "d"]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_take_order_equals_the_definition(rankings: list[list[str]], depth: int) -> None:
    """Documents stand by best rank, then runs at that rank, then docno descending."""
    facts = []
    for docno, ranks in ranks_of(rankings, depth=depth).items():
        facts.append((-ranks[0], ranks.count(ranks[0]), docno.encode()))
    expected = [docno.decode() for _, _, docno in sorted(facts, reverse=True)]
    assert order_of("take", rankings, depth=depth) == expected


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_take_begins_with_every_depth_pool(rankings: list[list[str]], depth: int) -> None:
    """The documents of a depth pool come before all others."""
    pool = {docno for ranking in rankings for docno in ranking[:depth]}
    assert set(order_of("take", rankings)[: len(pool)]) == pool
