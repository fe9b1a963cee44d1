"""`pooler.strategies.depth`: depth pooling in the order of NTCIRPOOL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.depth import depth_pool, depth_priorities
from store.errors import ArgumentError
from tests.strategies import ids

runs = st.lists(st.lists(ids, max_size=8, unique=True), max_size=5)


@given(rankings=runs, depth=st.integers(1, 9))
def test_depth_pool_equals_the_definition(rankings: list[list[str]], depth: int) -> None:
    """The pool is the union of the tops; more runs come first, then smaller sums, then docnos."""
    union = {docno for ranking in rankings for docno in ranking[:depth]}
    facts = []
    for docno in union:
        ranks = [ranking.index(docno) + 1 for ranking in rankings if docno in ranking[:depth]]
        facts.append((-len(ranks), sum(ranks), docno.encode()))
    assert depth_pool(rankings, depth=depth) == [docno.decode() for _, _, docno in sorted(facts)]


@given(rankings=runs, depth=st.integers(1, 9), data=st.data())
def test_depth_pool_order_of_runs_changes_nothing(
    rankings: list[list[str]], depth: int, data: st.DataObject
) -> None:
    """The runs may come in any order."""
    shuffled = data.draw(st.permutations(rankings))
    assert depth_pool(shuffled, depth=depth) == depth_pool(rankings, depth=depth)


@given(rankings=runs, depth=st.integers(1, 9))
def test_depth_pool_grows_with_depth(rankings: list[list[str]], depth: int) -> None:
    """A deeper pool holds every document of a shallower one."""
    shallow = depth_pool(rankings, depth=depth)
    assert set(shallow) <= set(depth_pool(rankings, depth=depth + 1))


@given(rankings=runs, depth=st.integers(1, 9))
def test_depth_priorities_descend_and_count_runs(rankings: list[list[str]], depth: int) -> None:
    """Priorities never rise along the pool, and rounded up they are the numbers of runs."""
    priorities = depth_priorities(rankings, depth=depth)
    values = list(priorities.values())
    assert values == sorted(values, reverse=True)
    for docno, priority in priorities.items():
        n_runs = sum(docno in ranking[:depth] for ranking in rankings)
        assert n_runs - 1 < priority < n_runs


def test_depth_pool_worked_example() -> None:
    """Three runs by hand: counts 3, 2, 2, 1, 1 and the sums of ranks in between."""
    # b: ranks 2, 1, 3 = 3 runs. a: 1 + 2 = 3; c: 3 + 1 = 4, both 2 runs. d: 3, e: 2, 1 run each.
    rankings = [["a", "b", "c", "z"], ["b", "a", "d"], ["c", "e", "b"]]
    assert depth_pool(rankings, depth=3) == ["b", "a", "c", "e", "d"]


def test_depth_pool_no_runs_is_empty() -> None:
    """Without runs there is nothing to pool."""
    assert depth_pool([], depth=1) == []
    assert depth_pool([[], []], depth=1) == []


def test_depth_pool_depth_below_one_is_refused() -> None:
    """A depth of nothing is the caller's error."""
    with pytest.raises(ArgumentError, match="`depth` must be an integer >= 1, but got 0"):
        depth_pool([["a"]], depth=0)
