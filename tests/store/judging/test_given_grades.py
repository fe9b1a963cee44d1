"""Verdicts: when they differ, how far, and how a cell of the kappa table is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError
from store.judging.disagreements import GivenGrade, basis_of, gap_of, is_disagreement, parse_cell, read_basis
from tests.helpers.world import parse_scale

given_grades = st.one_of(st.none(), st.integers(-2, 3))


@given(st.lists(given_grades, max_size=5))
def test_disagreement_is_two_verdicts_that_differ(given: list[GivenGrade]) -> None:
    """Judges disagree exactly when some two of them decided differently."""
    expected = any(one != other for one in given for other in given)
    assert is_disagreement(given) == expected


@given(st.lists(given_grades, max_size=5))
def test_gap_is_the_largest_difference_of_two_grades(given: list[GivenGrade]) -> None:
    """The gap is the largest of all differences of grades; without any there is none."""
    grades = [one for one in given if one is not None]
    differences = [abs(one - other) for one in grades for other in grades if one != other]
    assert gap_of(given) == max(differences, default=None)


@given(st.lists(given_grades, max_size=5))
def test_basis_is_read_back_in_order(given: list[GivenGrade]) -> None:
    """Whoever gave which, the same verdicts are the same text, and the text is the verdicts."""
    grades = sorted(one for one in given if one is not None)
    assert read_basis(basis_of(given)) == (*grades, *[None] * given.count(None))
    assert basis_of(given) == basis_of(given[::-1])


@pytest.mark.parametrize(
    ("text", "scale", "cell"),
    [
        ("0,2", "0-2", (0, 2)),
        ("2, 0", "0-2", (0, 2)),
        ("cant,1", "0-2", (1, None)),
        ("CAN'T,cannot", "0-2", None),
        ("S,c", "ntcir", (0, 3)),
        ("3,B", "ntcir", (1, 3)),
        ("-1,0", "-1-2", (-1, 0)),
        ("0,0", "0-2", None),
        ("0", "0-2", None),
        ("0,1,2", "0-2", None),
        ("0,3", "0-2", None),
        ("", "0-2", None),
        (",", "0-2", None),
    ],
)
def test_cell_is_two_verdicts_of_the_scale(
    text: str, scale: str, cell: tuple[GivenGrade, GivenGrade] | None
) -> None:
    """Grades and letters of the scale, in any order; anything else is refused with an example."""
    if cell is not None:
        assert parse_cell(text, parse_scale(scale)) == cell
    else:
        with pytest.raises(ArgumentError, match=r"`cell` must be two of .*cant, as in 0,2, but"):
            parse_cell(text, parse_scale(scale))
