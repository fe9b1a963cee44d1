"""`pooler.strategies.fixed`: reciprocal ranks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from store.errors import ArgumentError
from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of
from tests.vectors import fusion_ranx, fusion_trectools

RUNS = [list(run) for run in fusion_ranx.RUNS.values()]


def test_rrf_values_worked_example() -> None:
    """Three runs by hand, k = 2: thirds, quarters and fifths."""
    # a: 1/3 + 1/4 = 35/60. b: 1/4 + 1/3 + 1/5 = 47/60. c: 1/5 + 1/3 = 32/60. d: 1/4 = 15/60.
    rankings = [["a", "b", "c"], ["b", "a"], ["c", "d", "b"]]
    expected = {"a": 35 / 60, "b": 47 / 60, "c": 32 / 60, "d": 15 / 60}
    assert values_of("rrf", rankings, k=2) == pytest.approx(expected, rel=1e-15)
    assert order_of("rrf", rankings, k=2) == ["b", "a", "c", "d"]


def test_rrf_values_default_is_sixty() -> None:
    """Unless told otherwise, 60 is added to every rank."""
    # a and b have the ranks 1 and 2 in one order or the other: 1/61 + 1/62 = 123/3782 for both.
    values = values_of("rrf", [["a", "b"], ["b", "a"]])
    assert values == pytest.approx({"a": 123 / 3782, "b": 123 / 3782}, rel=1e-15)
    assert values["a"] == values["b"]


def test_rrf_values_k_drowns_ranks() -> None:
    """With a vast k only the number of runs is left; with k = 0 a first rank is worth 1."""
    rankings = [["a", "b"], ["b", "c"]]
    assert order_of("rrf", rankings, k=1e300) == ["b", "c", "a"]
    assert values_of("rrf", rankings, k=0) == {"a": 1, "b": 1.5, "c": 0.5}


@pytest.mark.parametrize("k", [-0.5, math.inf, math.nan])
def test_rrf_impossible_k_is_refused(k: float) -> None:
    """A k below 0 could divide by zero."""
    with pytest.raises(ArgumentError, match=r"`k` must be a number >= 0, but got"):
        find_strategy("rrf").complete({"k": k})


@given(rankings=drawn_rankings, k=st.integers(0, 100), depth=st.integers(1, 9))
def test_rrf_values_equal_the_definition(rankings: list[list[str]], k: int, depth: int) -> None:
    """Values are the sums of fractions."""
    expected = {
        docno: float(sum(Fraction(1, k + rank) for rank in ranks))
        for docno, ranks in ranks_of(rankings, depth=depth).items()
    }
    values = values_of("rrf", rankings, depth=depth, k=k)
    assert values == pytest.approx(expected, rel=1e-14)


@pytest.mark.vector("ranx 0.3.21; trectools 0.0.50")
def test_rrf_values_agree_with_ranx_and_trectools() -> None:
    """The three runs of the vectors get the numbers of two other programs."""
    values = values_of("rrf", RUNS, **fusion_ranx.PARAMETERS["rrf"])
    assert values == pytest.approx(fusion_ranx.VALUES["rrf"], rel=1e-14)
    assert values == pytest.approx(fusion_trectools.VALUES["rrf"], rel=1e-14)
    assert order_of("rrf", RUNS) == list(fusion_trectools.VALUES["rrf"])


@pytest.mark.vector("trectools 0.0.50")
@pytest.mark.parametrize("budget", fusion_trectools.RRF_POOLS)
def test_rrf_pool_agrees_with_trectools(budget: int) -> None:
    """The first documents are the pool that trectools makes."""
    assert set(order_of("rrf", RUNS)[:budget]) == fusion_trectools.RRF_POOLS[budget]


def test_equal_sums_of_different_ranks_tie() -> None:
    """1/63 + 1/140 = 1/84 + 1/90 = 29/1260, so ranks (3, 80) and (24, 30) tie: docno decides."""
    for early, late in (("a", "z"), ("z", "a")):
        runs = []
        for places in ({early: 3, late: 24}, {early: 80, late: 30}):
            by_rank = {rank: docno for docno, rank in places.items()}
            filler = f"f{len(runs)}-"
            runs.append([by_rank.get(rank, f"{filler}{rank}") for rank in range(1, 101)])
        order = [docno for docno in order_of("rrf", runs, k=60.0) if docno in ("a", "z")]
        assert order == ["z", "a"]
