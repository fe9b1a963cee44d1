"""Names of grades: the number where the key is a digit, the letter where it is a letter."""

from __future__ import annotations

import pytest

from judge_ui.session.words import grade_mark, grade_name
from store.errors import UnknownNameError
from store.records import Grade
from tests.helpers.world import make_scale, parse_scale


@pytest.mark.parametrize(
    ("grade", "mark", "name"),
    [
        (Grade(1, "relevant", "1"), "1", "1 relevant"),
        (Grade(3, "S: highly relevant", "s"), "S", "S: highly relevant"),
        (Grade(1, "relevant", "r"), "r", "r: relevant"),
        (Grade(1, "see: also", "r"), "r", "r: see: also"),
        (Grade(2, "relevant", "+"), "2", "2 relevant"),
        (Grade(1, "rel\x1b[31m", "1"), "1", "1 rel␛[31m"),
    ],
)
def test_a_grade_has_one_mark_and_one_name(grade: Grade, mark: str, name: str) -> None:
    """A letter is said once, and a label cannot steer the terminal."""
    scale = make_scale((Grade(0, "not relevant", "0"), grade))
    assert grade_mark(scale, grade.value) == mark
    assert grade_name(scale, grade.value) == name


def test_a_value_off_the_scale_has_no_name() -> None:
    """What is not declared is not named."""
    with pytest.raises(UnknownNameError, match="unknown grade `7`"):
        grade_name(parse_scale("0-2"), 7)
