"""Probabilities of relevance from several judges: the paper's table, and plain means."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.aggregation import share_probabilities, value_probabilities
from store.errors import ArgumentError

counts_of_documents = arrays(
    np.int64, st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(0, 5)
).map(lambda counts: counts[counts.any(axis=1)])


@pytest.mark.vector("Kishida 2001, table 4")
def test_two_judges_of_three_grades() -> None:
    """Relevant 1, partially .8, not 0: the six patterns of two judges are 1 .9 .5 .8 .4 0."""
    patterns = list(combinations_with_replacement((2, 1, 0), 2))
    counts = np.array([np.bincount(pattern, minlength=3) for pattern in patterns])
    found = dict(zip(patterns, value_probabilities(counts, (0, 0.8, 1)).tolist(), strict=True))
    assert found == pytest.approx(
        {(2, 2): 1.0, (2, 1): 0.9, (2, 0): 0.5, (1, 1): 0.8, (1, 0): 0.4, (0, 0): 0.0}
    )


@given(counts_of_documents, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_values_equal_the_mean_over_judges(counts: NDArray[np.int64], values: list[float]) -> None:
    """The probability is the plain mean of what each judge's grade is worth, within 0 and 1."""
    found = value_probabilities(counts, values)
    for row, p in zip(counts.tolist(), found.tolist(), strict=True):
        worth = [values[place] for place, count in enumerate(row) for _ in range(count)]
        assert p == pytest.approx(sum(worth) / len(worth))
        assert 0 <= p <= 1


@given(counts_of_documents, st.integers(1, 3))
def test_share_is_values_of_0_and_1(counts: NDArray[np.int64], level: int) -> None:
    """The share of judges at a level is the mean of 1 at or above it and 0 below."""
    values = [float(place >= level) for place in range(4)]
    assert share_probabilities(counts, level) == pytest.approx(value_probabilities(counts, values))


def test_ideal_of_many_judges_is_their_share() -> None:
    """Of ten judges three find it relevant: .3, whatever their grades above the level are."""
    assert share_probabilities(np.array([[7, 2, 1]]), 1).tolist() == [0.3]
    assert share_probabilities(np.empty((0, 3), dtype=np.int64), 1).tolist() == []


@pytest.mark.parametrize(
    ("counts", "message"),
    [([[1, 0], [0, 0]], "must have a vote in every row: an ungraded document .* got 'none in row")],
)
def test_what_is_no_counts_is_refused(counts: list[list[float]], message: str) -> None:
    """A document without a vote has no probability, and what is no count has none either."""
    for refuse in (
        lambda: value_probabilities(np.array(counts), (0, 1)),
        lambda: share_probabilities(np.array(counts), 1),
    ):
        with pytest.raises(ArgumentError, match=message):
            refuse()


@pytest.mark.parametrize("values", [(0.0,), (0.0, 1.1), (-0.1, 1.0), (0.0, float("nan"))])
def test_values_that_are_no_probabilities_are_refused(values: tuple[float, ...]) -> None:
    """Every grade has one value from 0 to 1."""
    with pytest.raises(ArgumentError, match="`values` must be 2 probabilities from 0 to 1"):
        value_probabilities(np.array([[1, 1]]), values)
