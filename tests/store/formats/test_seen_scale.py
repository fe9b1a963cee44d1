"""The scale of files that declare none."""

from __future__ import annotations

import pytest

from store.errors import ArgumentError
from store.formats.scale import parse_scale, scale_of_grades


@pytest.mark.parametrize(
    ("grades", "scale"),
    [({0, 1}, "0-1"), ({3, 0}, "0-3"), ({1, 5, 2}, "1-5"), ({1}, "0-1"), ({4}, "0-4"),
     ({0}, "0-1"), (set(), "0-1"), ({0, 20}, "0-20")],
)  # fmt: skip
def test_scale_reaches_over_the_grades(grades: set[int], scale: str) -> None:
    """It is the one that `init --scale LOW-HIGH` would declare; one grade is not enough for it."""
    assert scale_of_grades(grades) == parse_scale(scale)


def test_grades_too_far_apart_are_no_scale() -> None:
    """Who has marks up to 100 is asked to declare which there are."""
    with pytest.raises(ArgumentError, match="the grades go from 0 to 100") as caught:
        scale_of_grades({0, 50, 100})
    assert caught.value.hint is not None
    assert "--map 100=N" in caught.value.hint
