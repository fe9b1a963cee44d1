"""Collapse: graded to binary at a level, however it is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.agreement.votes import collapse_table, level_index
from store.errors import ArgumentError
from store.records import Grade
from tests.helpers.world import make_scale, parse_scale

GAPS = make_scale(
    tuple(Grade(value, f"grade {value}", key) for value, key in ((-2, "j"), (0, "0"), (3, "3")))
)


@given(arrays(np.int64, (3, 2, 4, 4), elements=st.integers(0, 9)), st.integers(1, 3))
def test_collapse_table_equals_collapsing_the_grades(tables: NDArray[np.int64], level: int) -> None:
    """A collapsed table counts the collapsed grades of the same documents."""
    collapsed = collapse_table(tables, level)
    assert collapsed.shape == (3, 2, 2, 2)
    for stack in np.ndindex(3, 2):
        expected = np.zeros((2, 2), dtype=np.int64)
        for (row, column), count in np.ndenumerate(tables[stack]):
            expected[int(row >= level), int(column >= level)] += count
        assert collapsed[stack].tolist() == expected.tolist()


@pytest.mark.parametrize("level", [0, 4, -1])
def test_level_that_cuts_nothing_off_is_refused(level: int) -> None:
    """A level that makes everything or nothing relevant is an error."""
    scale = parse_scale("0-3")
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 3"):
        level_index(scale, level)


def test_level_index_is_the_least_relevant_place() -> None:
    """The place is that of the least grade at or above the level, on scales with gaps too."""
    assert [level_index(parse_scale("0-3"), level) for level in (1, 2, 3)] == [1, 2, 3]
    assert [level_index(GAPS, level) for level in (-1, 0, 1, 2, 3)] == [1, 1, 2, 2, 2]
