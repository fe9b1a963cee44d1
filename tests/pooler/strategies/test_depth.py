"""`pooler.strategies.fixed`: depth pooling in the order of NTCIRPOOL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of
from tests.vectors import fusion_ranx, fusion_trectools


def test_depth_values_worked_example() -> None:
    """Three runs by hand: counts 3, 2, 2, 1, 1 and the sums of ranks in between."""
    # b: ranks 2, 1, 3 = 3 runs. a: 1 + 2 = 3; c: 3 + 1 = 4, both 2 runs. d: 3, e: 2, 1 run each.
    rankings = [["a", "b", "c", "z"], ["b", "a", "d"], ["c", "e", "b"]]
    assert order_of("depth", rankings, depth=3) == ["b", "a", "c", "e", "d"]
    # At depth 3, n runs have a sum of ranks of at most 3 n.
    expected = {"a": 2 - 3 / 7, "b": 3 - 6 / 10, "c": 2 - 4 / 7, "d": 1 - 3 / 4, "e": 1 - 2 / 4}
    assert values_of("depth", rankings, depth=3) == pytest.approx(expected, rel=1e-15)


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_depth_order_equals_the_definition(rankings: list[list[str]], depth: int) -> None:
    """The union of the tops; more runs come first, then smaller sums, then docno descending."""
    facts = []
    for docno, ranks in ranks_of(rankings, depth=depth).items():
        facts.append((len(ranks), -sum(ranks), docno.encode()))
    expected = [docno.decode() for _, _, docno in sorted(facts, reverse=True)]
    assert order_of("depth", rankings, depth=depth) == expected


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_depth_values_rounded_up_count_runs(rankings: list[list[str]], depth: int) -> None:
    """With n runs the value is above n - 1 and below n."""
    n_runs = {docno: len(ranks) for docno, ranks in ranks_of(rankings, depth=depth).items()}
    for docno, value in values_of("depth", rankings, depth=depth).items():
        assert n_runs[docno] - 1 < value < n_runs[docno]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_depth_pool_grows_with_depth(rankings: list[list[str]], depth: int) -> None:
    """A deeper pool holds every document of a shallower one."""
    shallow = order_of("depth", rankings, depth=depth)
    assert set(shallow) <= set(order_of("depth", rankings, depth=depth + 1))


@pytest.mark.vector("trectools 0.0.50")
@pytest.mark.parametrize("depth", fusion_trectools.DEPTH_POOLS)
def test_depth_pool_agrees_with_trectools(depth: int) -> None:
    """The three runs of the vector give the pools of trectools."""
    rankings = [list(run) for run in fusion_ranx.RUNS.values()]
    pool = order_of("depth", rankings, depth=depth)
    assert set(pool) == fusion_trectools.DEPTH_POOLS[depth]
