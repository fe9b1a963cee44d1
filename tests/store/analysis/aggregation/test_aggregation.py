"""Aggregation: every rule against slow counting, ties told apart from silence."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.aggregation import (
    AGGREGATED,
    NO_JUDGEMENT,
    TIE_RULES,
    TIED_UNRESOLVED,
    TIES,
    AggregateResult,
    TieRule,
    grade_sums,
    highest,
    leaves_tied,
    lowest,
    majority,
    mean_half_up,
    median,
)
from store.analysis.agreement.votes import NO_GRADE, grade_counts
from store.errors import ArgumentError
from store.records import Ties
from tests.cf_collection import SCALE, load_judgements
from tests.store.analysis.graded import votes_of

Counts = NDArray[np.int64]

RULES: dict[TieRule, Callable[..., AggregateResult]] = {"majority": majority, "median": median}

counts_of_documents = st.tuples(st.integers(0, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 4))
)


def places_of(row: list[int]) -> list[int]:
    """Write one document's grades out, ascending: counts 1, 0, 2 are grades 0, 2, 2."""
    return [place for place, count in enumerate(row) for _ in range(count)]


def slow_ends(rule: TieRule, places: list[int]) -> tuple[int, int]:
    """Return the lowest and the highest grade that a rule could give, by the standard library."""
    if not places:
        return NO_GRADE, NO_GRADE
    if rule == "median":
        return statistics.median_low(places), statistics.median_high(places)
    votes = Counter(places)
    tied = [place for place, count in votes.items() if count == max(votes.values())]
    return min(tied), max(tied)


@given(counts_of_documents, st.sampled_from(TIE_RULES), st.sampled_from(TIES))
def test_tie_rules_equal_slow_count(counts: Counts, rule: TieRule, ties: Ties) -> None:
    """Grade, status and both ends of the tie are those of looking at the grades one by one."""
    result = RULES[rule](counts, ties=ties)
    for index, row in enumerate(counts.tolist()):
        low, high = slow_ends(rule, places_of(row))
        status = AGGREGATED if low >= 0 else NO_JUDGEMENT
        chosen = high if ties == "high" else low
        if ties == "unresolved" and low != high:
            status, chosen = TIED_UNRESOLVED, NO_GRADE
        assert result.grades[index] == chosen
        assert result.status[index] == status
        assert (result.low[index], result.high[index]) == (low, high)
        assert leaves_tied(rule, places_of(row)) == (low != high)
    assert result.n_ties == np.count_nonzero(result.low != result.high)
    assert (result.grades.dtype, result.status.dtype) == (np.int64, np.int8)


@given(counts_of_documents, st.integers(-3, 3))
def test_mean_lowest_highest_and_sum_equal_slow_count(counts: Counts, least: int) -> None:
    """Mean (halves up, in fractions), extremes and sum are those of Python's own arithmetic."""
    values = range(least, least + counts.shape[1])
    mean = mean_half_up(counts, values)
    low, high, sums = lowest(counts), highest(counts), grade_sums(counts, values)
    for index, row in enumerate(counts.tolist()):
        grades = [least + place for place in places_of(row)]
        assert sums[index] == sum(grades)
        if not grades:
            assert mean.grades[index] == low.grades[index] == high.grades[index] == NO_GRADE
            assert mean.status[index] == low.status[index] == NO_JUDGEMENT
            continue
        exact = Fraction(sum(grades), len(grades))
        assert least + mean.grades[index] == math.floor(exact + Fraction(1, 2))
        assert mean.is_tied[index] == (exact.denominator == 2)
        assert least + mean.low[index] == math.ceil(exact - Fraction(1, 2))
        assert (least + low.grades[index], least + high.grades[index]) == (min(grades), max(grades))
    assert low.n_ties == high.n_ties == 0


@pytest.mark.parametrize(
    ("grades", "mean"), [((0, 1), 1), ((1, 2), 2), ((2, 3), 3), ((0, 0, 1), 0), ((0, 0, 0, 1), 0)]
)
def test_mean_rounds_halves_up(grades: tuple[int, ...], mean: int) -> None:
    """0.5, 1.5 and 2.5 become 1, 2 and 3; rounding to even would give 0, 2 and 2."""
    counts = np.array([np.bincount(grades, minlength=4)])
    assert mean_half_up(counts, range(4)).grades.tolist() == [mean]


@given(counts_of_documents, st.sampled_from(["low", "high"]), st.data())
def test_median_commutes_with_collapsing(counts: Counts, ties: Ties, data: st.DataObject) -> None:
    """The median of collapsed grades is the collapsed median, at every level."""
    if counts.shape[1] == 1:
        return
    level = data.draw(st.integers(1, counts.shape[1] - 1))
    collapsed = np.add.reduceat(counts, [0, level], axis=1)
    after = median(counts, ties=ties).grades
    before = median(collapsed, ties=ties).grades
    assert before.tolist() == np.where(after == NO_GRADE, NO_GRADE, after >= level).tolist()


def test_majority_two_judges_ties_decide_every_disagreement() -> None:
    """With two judges, low takes the lower grade, high the higher, unresolved neither."""
    counts = np.array([[1, 0, 0, 1], [0, 0, 2, 0], [0, 1, 0, 0]])
    for rule in RULES.values():
        assert rule(counts, ties="low").grades.tolist() == [0, 2, 1]
        assert rule(counts, ties="high").grades.tolist() == [3, 2, 1]
        result = rule(counts, ties="unresolved")
        assert result.grades.tolist() == [NO_GRADE, 2, 1]
        assert result.status.tolist() == [TIED_UNRESOLVED, AGGREGATED, AGGREGATED]


def test_majority_most_votes_need_not_be_half() -> None:
    """The grade with most votes wins, be it less than half of them or not the middle one."""
    counts = np.array([[1, 1, 2, 1], [2, 1, 1, 1]])
    for ties in TIES:
        assert majority(counts, ties=ties).grades.tolist() == [2, 0]


def test_nothing_to_aggregate_is_empty() -> None:
    """No documents give no grades; documents without votes have no judgement."""
    none = np.empty((0, 3), dtype=np.int64)
    silent = np.zeros((2, 3), dtype=np.int64)
    for result in (majority(none, ties="low"), median(none, ties="low"), lowest(none)):
        assert result.grades.tolist() == []
    for result in (majority(silent, ties="low"), median(silent, ties="high"), highest(silent)):
        assert (result.status.tolist(), result.n_ties) == ([NO_JUDGEMENT] * 2, 0)
    assert mean_half_up(silent, range(3)).status.tolist() == [NO_JUDGEMENT] * 2


def test_mean_on_a_scale_with_gaps_is_refused() -> None:
    """Where a mean may lie between two grades of the scale there is no such rule."""
    with pytest.raises(ArgumentError, match="`scale_values` must rise by 1: a mean may lie on"):
        mean_half_up(np.array([[1, 0, 1]]), (0, 2, 4))


@pytest.mark.vector("Cystic Fibrosis collection, counts of its provenance note")
def test_cf_collection_gives_known_counts() -> None:
    """4,819 CF pairs: relevant to 2,267 by two of four judges, 1,655 by three, 1,188 by all.

    Any judge gives 2 to 1,927; the sum of grades is 4 or more for 1,544.
    """
    counts = grade_counts(votes_of(load_judgements(), SCALE))
    relevant = np.add.reduceat(counts, [0, 1], axis=1)
    # Four binary votes: half of them is a tie, which goes to relevant or to not relevant.
    high, low = majority(relevant, ties="high"), majority(relevant, ties="low")
    assert np.count_nonzero(high.grades) == 2267
    assert np.count_nonzero(low.grades) == 1655
    assert high.n_ties == 2267 - 1655
    assert np.count_nonzero(highest(counts).grades >= 1) == 4819
    assert np.count_nonzero(lowest(counts).grades >= 1) == 1188
    assert np.count_nonzero(highest(counts).grades == 2) == 1927
    assert np.count_nonzero(grade_sums(counts, SCALE) >= 4) == 1544
