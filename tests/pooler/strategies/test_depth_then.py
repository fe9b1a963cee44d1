"""`pooler.strategies.adaptive`: a shallow depth pool, then an adaptive strategy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import ADAPTIVE, find_strategy
from pooler.strategies.adaptive import depth_pool_size
from pooler.strategies.kinds import AdaptiveStrategy
from pooler.strategies.rankings import rankings_of
from store.errors import ArgumentError, UnknownNameError
from tests.pooler.strategies.adaptive import drawn_outcomes, drawn_rankings, play, start
from tests.pooler.strategies.fixed import order_of

RANKINGS = [["a", "b", "c", "d"], ["e", "b", "f"], ["a", "g", "h"]]


def test_depth_then_worked_example() -> None:
    """Three runs by hand: a and e first, then Move-To-Front with what it has learned."""
    # Best rank 1: a, in two runs, then e. Move-To-Front sees a as the first run's, relevant, so
    # that run stays the current one; e is the second run's, not relevant, which falls to -1.
    # b of the first: not relevant, -1. The third is highest with 0: g, not relevant, -1. The
    # first is the first of -1: c, then second: f, third: h, first: d.
    assert play("depth-then", RANKINGS, {"a": True}, first=1) == "a e b g c f h d"


def test_depth_then_pool_deeper_than_the_runs_is_all() -> None:
    """By default ten ranks come first: of short runs, everything by best rank."""
    assert play("depth-then", RANKINGS, {"a": True}).split() == order_of("take", RANKINGS)


@given(
    runs=drawn_rankings,
    outcomes=st.dictionaries(st.sampled_from("abcdefghij"), drawn_outcomes),
    first=st.integers(1, 9),
    then=st.sampled_from([strategy.name for strategy in ADAPTIVE]),
)
def test_depth_then_equals_the_definition(
    runs: list[list[str]], outcomes: dict[str, bool | None], first: int, then: str
) -> None:
    """The depth pool in the order of take, then what the other strategy says having seen it."""
    rankings, docnos = rankings_of(runs, topic="51")
    pool = {docno for run in runs for docno in run[:first]}
    expected = [docno for docno in order_of("take", runs) if docno in pool]
    assert depth_pool_size(rankings, first=first) == len(expected)
    inner = start(then, rankings)
    for docno in expected:
        inner.observe(docnos.index(docno), outcomes.get(docno, False))
    while (chosen := inner.choose()) is not None:
        expected.append(docnos[chosen])
        inner.observe(chosen, outcomes.get(docnos[chosen], False))
    assert play("depth-then", runs, outcomes, then=then, first=first).split() == expected


def test_depth_then_document_out_of_turn_is_not_chosen_again() -> None:
    """A document observed early, of the depth pool or not, is left out later."""
    rankings, docnos = rankings_of(RANKINGS)
    state = start("depth-then", rankings, first=1)
    for docno in "b", "a":
        state.observe(docnos.index(docno), True)
    assert docnos[state.choose()] == "e"


def test_depth_then_needs_a_seed_as_the_other_strategy_does() -> None:
    """Whether choices are random depends on what follows."""
    strategy = find_strategy("depth-then")
    assert isinstance(strategy, AdaptiveStrategy)
    for inner in ADAPTIVE:
        assert strategy.needs_seed_for(strategy.complete({"then": inner.name})) == inner.needs_seed
    assert not strategy.needs_seed_for(strategy.complete({}))


def test_depth_then_unknown_strategy_is_told() -> None:
    """A name that is no adaptive strategy is told with those there are, nearest first."""
    strategy = find_strategy("depth-then")
    assert isinstance(strategy, AdaptiveStrategy)
    match = r"unknown adaptive strategy `mft`; known: `mtf`, .*`thompson`"
    with pytest.raises(UnknownNameError, match=match):
        strategy.needs_seed_for(strategy.complete({"then": "mft"}))
    with pytest.raises(UnknownNameError, match="unknown adaptive strategy `depth-then`; known: "):
        start("depth-then", rankings_of(RANKINGS)[0], then="depth-then")
    with pytest.raises(ArgumentError, match="`first` must be an integer >= 1, but got 0"):
        strategy.complete({"first": 0})


@given(runs=drawn_rankings, first=st.integers(1, 9))
def test_depth_pool_size_counts_the_union(runs: list[list[str]], first: int) -> None:
    """The size is that of the union of the first documents."""
    rankings, _ = rankings_of(runs)
    assert depth_pool_size(rankings, first=first) == len({d for run in runs for d in run[:first]})
