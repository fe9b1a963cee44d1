"""Limits of AP and of differences with k documents missing, against trying every completion."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.undiscovered.missing import missing_bounds, missing_pair_bounds
from store.errors import ArgumentError
from tests.store.analysis.drawn_collections import Drawn, as_float, drawn_collections, plain_mean
from tests.store.analysis.plain_lists import arrays_of
from tests.strategies import examples

OUTSIDE = range(100, 103)
"""Documents that no run retrieved."""


def completions(case: Drawn, topic: str, k: int) -> list[tuple[int, ...]]:
    """Return every choice of k relevant documents among those nobody judged."""
    lists = [case.listed(tag, topic) for tag in case.tags]
    unjudged = {one for listed in lists for one in listed} - set(case.grades[topic])
    return list(combinations([*sorted(unjudged), *OUTSIDE[:k]], k))


def test_run_a_by_hand() -> None:
    """Run A with 2 missing: 13/6 of 6 at the least; with ranks 2 and 7, unjudged, .7301587."""
    grades = {"t": dict.fromkeys([1, 3, 6, 99], True) | dict.fromkeys([4, 5, 8, 9, 10], False)}
    bounds = missing_bounds(arrays_of({("a", "t"): list(range(1, 11))}, grades, 10), 2)
    assert float(bounds.map_before[0]) == pytest.approx(13 / 24)
    assert float(bounds.map_low[0]) == pytest.approx(13 / 36)
    assert float(bounds.map_high[0]) == pytest.approx(0.7301587, abs=5e-8)


def test_own_r_by_hand() -> None:
    """Mode own, relevant at rank 1, unjudged at 2 and 10, 2 missing: lowest with rank 10 alone.

    (1 + 2/10)/2 = .6, against 1 with none and (1 + 1 + 3/10)/3 with both; highest 1, with rank 2.
    """
    grades = {"t": {1: True} | dict.fromkeys(range(3, 10), False)}
    arrays = arrays_of({("a", "t"): list(range(1, 11))}, grades, 10)
    bounds = missing_bounds(arrays, 2, r_mode="own")
    assert bounds.map_low.tolist() == [0.6]
    assert bounds.map_high.tolist() == [1.0]
    assert bounds.low_columns.tolist() == [[[9, -1]]]


def check_bounds(case: Drawn, k: int, r_mode: RMode) -> None:
    """Compare the limits of every run and pair with the extremes of all completions."""
    arrays = case.arrays()
    bounds = missing_bounds(arrays, k, r_mode=r_mode)
    topics = list(arrays.topics)
    before = {(tag, topic): case.ap(tag, topic, r_mode) for tag in case.tags for topic in topics}
    after: dict[tuple[str, str], list[Fraction]] = {}
    for column, topic in enumerate(topics):
        chosen = completions(case, topic, k)
        for row, tag in enumerate(case.tags):
            if r_mode == "own" and before[tag, topic] is None:
                assert math.isnan(bounds.ap_low[row, column])
                assert math.isnan(bounds.ap_high[row, column])
                continue
            values = [case.ap(tag, topic, r_mode, found) for found in chosen]
            after[tag, topic] = [value for value in values if value is not None]
            assert len(after[tag, topic]) == len(chosen)
            low, high = (float(pick(after[tag, topic])) for pick in (min, max))
            assert bounds.ap_low[row, column] == pytest.approx(low, abs=1e-14)
            assert bounds.ap_high[row, column] == pytest.approx(high, abs=1e-14)
    for row, tag in enumerate(case.tags):
        defined = [topic for topic in topics if before[tag, topic] is not None]
        for got, pick in ((bounds.map_low, min), (bounds.map_high, max)):
            mean = plain_mean(pick(after[tag, topic]) for topic in defined)
            assert got[row] == pytest.approx(as_float(mean), abs=1e-14, nan_ok=True)
        assert bounds.n_topics_undefined[row] == len(topics) - len(defined)
    pairs = missing_pair_bounds(arrays, k, r_mode=r_mode)
    assert len(pairs.first) == len(case.tags) * (len(case.tags) - 1) // 2
    for place, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        a, b = case.tags[first], case.tags[second]
        defined = [one for one in topics if None not in (before[a, one], before[b, one])]
        assert pairs.n_topics[place] == len(defined)
        if not defined:
            assert np.isnan([pairs.before[place], pairs.low[place], pairs.high[place]]).all()
            continue
        old = plain_mean((before[a, one] or 0) - (before[b, one] or 0) for one in defined)
        assert old is not None
        assert old >= 0
        assert pairs.before[place] == pytest.approx(float(old), abs=1e-14)
        moved = {one: [x - y for x, y in zip(after[a, one], after[b, one], strict=True)] for one in defined}
        low, high = (float(plain_mean(map(pick, moved.values())) or 0) for pick in (min, max))
        assert pairs.low[place] <= low + 1e-14
        assert pairs.high[place] >= high - 1e-14
        for got, attained, exact in (
            (pairs.low[place], pairs.low_attained[place], low),
            (pairs.high[place], pairs.high_attained[place], high),
        ):
            assert attained or k > 1
            if attained or r_mode == "pool":
                # In mode `pool` a limit that is not called attained is not: it is strict.
                assert attained == (got == pytest.approx(exact, abs=1e-13))


@given(drawn_collections(3, 2), st.integers(1, 3), st.sampled_from(R_MODES))
def test_limits_are_the_extremes_of_all_completions(case: Drawn, k: int, r_mode: RMode) -> None:
    """Of a run they are attained; of a pair they hold, and are attained where it says so."""
    check_bounds(case, k, r_mode)


def test_limit_that_one_document_would_have_to_give_twice() -> None:
    """Mode own: the document that lowers B most stands in A too, so A - B does not get so high.

    Both have AP 1, of rank 1; document 5 is unjudged at rank 5 of A and rank 9 of B. A at most 1,
    B at least (1 + 2/9)/2: but with document 5 A has (1 + 2/5)/2.
    """
    grades = {"t": {1: True} | dict.fromkeys([2, 3, 4, 6, 7, 8, 9], False)}
    lists = {("a", "t"): [1, 2, 3, 4, 5], ("b", "t"): [1, 2, 3, 4, 6, 7, 8, 9, 5]}
    bounds = missing_pair_bounds(arrays_of(lists, grades, 10), 2, r_mode="own")
    assert float(bounds.high[0]) == pytest.approx(1 - 11 / 18)
    assert not bounds.high_attained[0]
    # Where A lacks it, both come true.
    lists["a", "t"] = [1, 2, 3, 4]
    bounds = missing_pair_bounds(arrays_of(lists, grades, 10), 2, r_mode="own")
    assert float(bounds.high[0]) == pytest.approx(1 - 11 / 18)
    assert bounds.high_attained[0]


def test_limit_that_the_first_document_of_a_list_would_have_to_give_alone() -> None:
    """A's best takes its unjudged rank 1, which lifts B too where B retrieved the same document.

    Two missing, so R = 3: A, relevant at rank 3, has at most (1 + 2/3)/3 = 5/9; B, relevant at
    rank 1, has at least 1/3.
    """
    grades = {"t": {1: True, 11: False}}
    for also_in_b in (True, False):
        lists = {("a", "t"): [10, 11, 1], ("b", "t"): [1, 10 if also_in_b else 20]}
        bounds = missing_pair_bounds(arrays_of(lists, grades, 10), 2)
        # B is ahead as judged, so this is the low end of B - A.
        assert (bounds.first.tolist(), bounds.second.tolist()) == ([1], [0])
        assert float(bounds.low[0]) == pytest.approx(1 / 3 - 5 / 9)
        assert bool(bounds.low_attained[0]) != also_in_b


def test_limit_that_would_take_more_documents_than_are_missing() -> None:
    """Mode own: A's best takes two documents and B's worst a third, so k = 2 is too few.

    A has document 1 at rank 3 below two unjudged ones, at most AP 1; B has it at rank 1 and one
    unjudged at rank 9, at least (1 + 2/9)/2.
    """
    grades = {"t": {1: True} | dict.fromkeys(range(2, 9), False)}
    lists = {("a", "t"): [10, 11, 1], ("b", "t"): [*range(1, 9), 20]}
    for k in (2, 3):
        bounds = missing_pair_bounds(arrays_of(lists, grades, 10), k, r_mode="own")
        # B is ahead as judged, so this is the low end of B - A.
        assert (bounds.first.tolist(), bounds.second.tolist()) == ([1], [0])
        assert float(bounds.low[0]) == pytest.approx(11 / 18 - 1)
        assert bool(bounds.low_attained[0]) == (k == 3)


@pytest.mark.slow
@settings(max_examples=examples(1000))
@given(drawn_collections(3, 2), st.integers(1, 3), st.sampled_from(R_MODES))
def test_limits_of_many_collections(case: Drawn, k: int, r_mode: RMode) -> None:
    """The same over a thousand collections."""
    check_bounds(case, k, r_mode)


def test_more_missing_than_ranks() -> None:
    """With more documents missing than the run has ranks, the rest are not retrieved."""
    arrays = arrays_of({("a", "t"): [1, 2]}, {"t": {1: True}}, 5)
    bounds = missing_bounds(arrays, 7)
    assert bounds.map_low.tolist() == [1 / 8]
    assert bounds.map_high.tolist() == [2 / 8]
    nothing = missing_bounds(arrays_of({}, {"t": {1: True}}, 5, ["a", "b"]), 2)
    assert nothing.map_low.tolist() == nothing.map_high.tolist() == [0.0, 0.0]


def test_nothing_missing_is_no_question() -> None:
    """At least one document is missing."""
    arrays = arrays_of({("a", "t"): [1]}, {"t": {1: True}}, 5)
    with pytest.raises(ArgumentError, match="`n_missing` must be an integer >= 1, but got 0"):
        missing_bounds(arrays, 0)
