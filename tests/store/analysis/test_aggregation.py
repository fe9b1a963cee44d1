"""Aggregation: the majority rule against slow counting, ties told apart from silence."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.aggregation import (
    AGGREGATED,
    NO_JUDGEMENT,
    TIED_UNRESOLVED,
    TIES,
    Ties,
    majority,
)
from store.analysis.grade_matrix import NO_GRADE, grade_matrix
from store.errors import ArgumentError
from store.records import Judgement, State
from tests.cf_collection import SCALE, load_judgements

Votes = NDArray[np.int64]

votes_of_judges = st.tuples(st.integers(0, 12), st.integers(0, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(NO_GRADE, 4))
)


def slow_majority(row: list[int], ties: Ties) -> tuple[int, int]:
    """Count one document's votes; return the grade and the status."""
    votes = Counter(grade for grade in row if grade != NO_GRADE)
    if not votes:
        return NO_GRADE, NO_JUDGEMENT
    tied = sorted(grade for grade, count in votes.items() if count == max(votes.values()))
    if len(tied) > 1 and ties == "unresolved":
        return NO_GRADE, TIED_UNRESOLVED
    return (tied[-1] if ties == "high" else tied[0]), AGGREGATED


@given(votes_of_judges, st.sampled_from(TIES))
def test_majority_random_votes_equal_slow_count(votes: Votes, ties: Ties) -> None:
    """Grade and status of every document are those of counting its votes one by one."""
    result = majority(votes, ties=ties)
    expected = [slow_majority(row, ties) for row in votes.tolist()]
    assert list(zip(result.grades.tolist(), result.status.tolist(), strict=True)) == expected
    assert result.n_aggregated + result.n_unresolved + result.n_no_judgement == len(votes)
    assert result.grades.dtype == np.int64
    assert result.status.dtype == np.int8


@given(votes_of_judges, st.sampled_from(TIES), st.integers(1, 4))
def test_majority_ties_are_what_low_and_high_decide_differently(
    votes: Votes, ties: Ties, level_index: int
) -> None:
    """Ties are the documents that the other tie rule would grade differently, at any level."""
    low, high = (majority(votes, ties=end).grades for end in ("low", "high"))
    result = majority(votes, ties=ties)
    assert result.n_ties == np.count_nonzero(low != high)
    assert result.n_decided_by_tie_rule(level_index) == np.count_nonzero(
        (low >= level_index) != (high >= level_index)
    )
    assert np.array_equal(result.low, low)
    assert np.array_equal(result.high, high)


@given(votes_of_judges, st.sampled_from(TIES), st.data())
def test_majority_order_of_judges_and_rows_changes_nothing(
    votes: Votes, ties: Ties, data: st.DataObject
) -> None:
    """Exchanging judges changes no grade; exchanging documents exchanges their grades only."""
    rows = data.draw(st.permutations(range(votes.shape[0])))
    judges = data.draw(st.permutations(range(votes.shape[1])))
    mixed = votes[rows][:, judges].reshape(votes.shape)
    result, other = majority(votes, ties=ties), majority(mixed, ties=ties)
    assert np.array_equal(other.grades, result.grades[rows])
    assert np.array_equal(other.status, result.status[rows])


def test_majority_two_judges_ties_decide_every_disagreement() -> None:
    """With two judges, low takes the lower grade, high the higher, unresolved neither."""
    votes = np.array([[0, 3], [3, 0], [2, 2], [1, NO_GRADE]])
    assert majority(votes, ties="low").grades.tolist() == [0, 0, 2, 1]
    assert majority(votes, ties="high").grades.tolist() == [3, 3, 2, 1]
    result = majority(votes, ties="unresolved")
    assert result.grades.tolist() == [NO_GRADE, NO_GRADE, 2, 1]
    assert result.status.tolist() == [TIED_UNRESOLVED, TIED_UNRESOLVED, AGGREGATED, AGGREGATED]
    assert (result.n_ties, result.n_unresolved, result.n_aggregated) == (2, 2, 2)


def test_majority_most_votes_need_not_be_half() -> None:
    """The grade with most votes wins, be it less than half of them or not the middle one."""
    votes = np.array([[0, 1, 2, 2, 3], [0, 0, 3, 2, 1]])
    for ties in TIES:
        assert majority(votes, ties=ties).grades.tolist() == [2, 0]


def test_majority_tie_of_relevant_grades_decides_no_relevance() -> None:
    """A tie between grades 1 and 2 matters at level 2, and not at level 1 or 3."""
    result = majority(np.array([[1, 2]]), ties="low")
    assert [result.n_decided_by_tie_rule(level) for level in (1, 2, 3)] == [0, 1, 0]
    with pytest.raises(ArgumentError, match="`level_index` must be an integer >= 1, but got 0"):
        result.n_decided_by_tie_rule(0)


def test_majority_skipped_and_impossible_documents_are_no_votes() -> None:
    """Two skips do not outvote one grade, and no grade at all is no judgement."""
    states = {
        "a": [(State.JUDGED, 2), (State.SKIPPED, None), (State.SKIPPED, None)],
        "b": [(State.CANNOT, None), (State.SKIPPED, None), (State.UNJUDGED, None)],
    }
    rows = [
        Judgement("1", docno, f"judge{number}", state, grade)
        for docno, given_states in states.items()
        for number, (state, grade) in enumerate(given_states)
    ]
    result = majority(grade_matrix(rows, (0, 1, 2)), ties="low")
    assert result.grades.tolist() == [2, NO_GRADE]
    assert result.status.tolist() == [AGGREGATED, NO_JUDGEMENT]
    assert (result.n_no_judgement, result.n_ties) == (1, 0)


def test_majority_nothing_to_aggregate_is_empty() -> None:
    """No documents give no grades; documents without judges have no judgement."""
    assert majority(np.empty((0, 3), dtype=np.int64), ties="low").grades.tolist() == []
    assert majority(np.empty((2, 0), dtype=np.int64), ties="low").n_no_judgement == 2


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        (np.array([0, 1]), r"`grades` must be integers of shape \(n_pairs, n_judges\)"),
        (np.array([[0.5]]), r"`grades` must be integers of shape"),
        (np.array([[0, -2]]), r"`grades` must be indices into the scale, or -1"),
    ],
)
def test_majority_no_grades_array_is_refused(votes: Votes, message: str) -> None:
    """What is no array of places on the scale is refused, with what it must be."""
    with pytest.raises(ArgumentError, match=message):
        majority(votes, ties="low")


def test_majority_unknown_tie_rule_is_refused() -> None:
    """An unknown tie rule is an error that lists the known ones."""
    with pytest.raises(ArgumentError, match="`ties` must be one of low, high, unresolved"):
        majority(np.array([[0]]), ties="first")  # type: ignore[arg-type]


@pytest.mark.vector("Cystic Fibrosis collection, counts of its provenance note")
def test_majority_cf_collection_gives_known_counts() -> None:
    """Of 4,819 CF pairs at least 2 of 4 judges find 2,267 relevant, and at least 3 find 1,655."""
    matrix = grade_matrix(load_judgements(), SCALE)
    relevant = (matrix.grades >= 1).astype(np.int64)
    # Four binary votes: half of them is a tie, which goes to relevant or to not relevant.
    high, low = majority(relevant, ties="high"), majority(relevant, ties="low")
    assert np.count_nonzero(high.grades) == 2267
    assert np.count_nonzero(low.grades) == 1655
    assert high.n_ties == high.n_decided_by_tie_rule(1) == 2267 - 1655
