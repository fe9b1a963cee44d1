"""Collapse: graded to binary at a level, however it is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.collapse import collapse, collapse_table, level_index, level_of, levels_of
from store.errors import ArgumentError
from store.records import Grade
from tests.helpers.world import make_scale, parse_scale

GAPS = make_scale(
    tuple(Grade(value, f"grade {value}", key) for value, key in ((-2, "j"), (0, "0"), (3, "3")))
)


def test_collapse_cuts_at_the_level() -> None:
    """A grade is relevant when it is at least the level, negative grades included."""
    grades = np.array([[-2, 0, 1], [2, 3, 1]], dtype=np.int64)
    assert collapse(grades, 1).tolist() == [[0, 0, 1], [1, 1, 1]]
    assert collapse(grades, 2).tolist() == [[0, 0, 0], [1, 1, 0]]
    assert collapse(grades, -1).tolist() == [[0, 1, 1], [1, 1, 1]]
    assert collapse(grades, 1).dtype == np.int8
    assert collapse(np.array([], dtype=np.int64), 1).tolist() == []


def test_collapse_fractional_grades_are_refused() -> None:
    """Grades are integers; 1.7 is none."""
    with pytest.raises(ArgumentError, match="`grades` must be integers"):
        collapse(np.array([1.7]), 1)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("level", [0, 3, -1])
def test_collapse_table_level_off_the_scale_is_refused(level: int) -> None:
    """A level must leave grades on both sides."""
    with pytest.raises(ArgumentError, match="`level_index` must be an integer from 1 to 2"):
        collapse_table(np.zeros((3, 3), dtype=np.int64), level)


def test_collapse_table_not_square_is_refused() -> None:
    """A table has as many columns as rows."""
    with pytest.raises(ArgumentError, match="`tables` must be square"):
        collapse_table(np.zeros((2, 3), dtype=np.int64), 1)


def test_level_of_each_way_names_a_grade() -> None:
    """NTCIR reads S, A, B, C as 3 to 0: rigid is S and A, relaxed S, A and B."""
    ntcir = parse_scale("ntcir")
    assert level_of(ntcir) is None
    assert level_of(ntcir, rigid=True) == 2
    assert level_of(ntcir, relaxed=True) == 1
    assert level_of(ntcir, level=3) == 3
    assert level_of(GAPS, level=-1) == -1


def test_level_of_two_ways_at_once_is_refused() -> None:
    """Only one of the three may name the level, and the message repeats what was given."""
    scale = parse_scale("0-3")
    with pytest.raises(ArgumentError) as caught:
        level_of(scale, level=0, relaxed=True)
    assert str(caught.value) == (
        "`level` must be the only one of --level, --rigid and --relaxed, but got '--level 0 --relaxed'"
    )
    with pytest.raises(ArgumentError, match="got '--rigid --relaxed'"):
        level_of(scale, rigid=True, relaxed=True)


def test_level_of_rigid_without_two_relevant_grades_is_refused() -> None:
    """A scale with one relevant grade has no rigid reading; the hint says what there is."""
    with pytest.raises(ArgumentError, match="`rigid` must be asked of a scale") as caught:
        level_of(parse_scale("binary"), rigid=True)
    assert caught.value.hint == "`--relaxed` is grade 1, the only relevant one"


@pytest.mark.parametrize("level", [0, 4, -1])
def test_level_that_cuts_nothing_off_is_refused(level: int) -> None:
    """A level that makes everything or nothing relevant is an error."""
    scale = parse_scale("0-3")
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 3"):
        level_of(scale, level=level)
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 3"):
        level_index(scale, level)


def test_level_index_is_the_least_relevant_place() -> None:
    """The place is that of the least grade at or above the level, on scales with gaps too."""
    assert [level_index(parse_scale("0-3"), level) for level in (1, 2, 3)] == [1, 2, 3]
    assert [level_index(GAPS, level) for level in (-1, 0, 1, 2, 3)] == [1, 1, 2, 2, 2]


def test_levels_of_several_ways_are_each_level_once() -> None:
    """Levels by value and by reading come ascending, the grades before them where asked for."""
    ntcir = parse_scale("ntcir")
    assert levels_of(ntcir) == [None]
    assert levels_of(ntcir, graded=True) == [None]
    assert levels_of(ntcir, levels=[3, 1, 3]) == [1, 3]
    assert levels_of(ntcir, rigid=True, relaxed=True, levels=[2]) == [1, 2]
    assert levels_of(ntcir, rigid=True, graded=True) == [None, 2]


def test_levels_of_sums_are_not_the_scales() -> None:
    """A level of sums may be above every grade, and has no rigid or relaxed reading."""
    scale = parse_scale("0-2")
    assert levels_of(scale, levels=[4], sums=True) == [4]
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 2"):
        levels_of(scale, levels=[1, 4])
    for name in ("rigid", "relaxed"):
        with pytest.raises(ArgumentError, match=f"`{name}` must be asked of grades; sums"):
            levels_of(scale, sums=True, **{name: True})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="`rigid` must be asked of a scale"):
        levels_of(parse_scale("binary"), rigid=True)
