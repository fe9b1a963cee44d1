"""Verdicts: when they differ, and how far."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from store.judging.disagreements import GivenGrade, basis_of, gap_of, is_disagreement, read_basis

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
