"""`store.grades.policy`: which choices go together, and what a manifest says of them."""

from __future__ import annotations

from typing import Any

import pytest

from store.errors import ArgumentError
from store.grades.policy import RULES, Policy
from store.records import Grade
from tests.helpers.world import make_scale, parse_scale

EVEN = make_scale(tuple(Grade(value, str(value), str(value)) for value in (0, 2, 4)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"judge": "me", "rule": "min"}, "`judge` and --aggregate exclude each other"),
        ({"judge": "me", "of": ("you",)}, "`of` and --judge exclude each other, but got 'you'"),
        ({"rule": "mode"}, "`aggregate` must be one of majority, median, mean, min, max, sum, d"),
        ({"rule": "majority"}, "`ties` must be low, high or unresolved with --aggregate maj"),
        ({"rule": "median"}, "`ties` must be low, high or unresolved with --aggregate median"),
        ({"rule": "median", "ties": "first"}, "`ties` must be one of low, high, unresolved"),
        ({"rule": "mean", "ties": "low"}, "`ties` needs --aggregate majority or median, not mean"),
        ({"ties": "low"}, "`ties` needs --aggregate majority or median"),
        ({"judge": "me", "ties": "low"}, "`ties` needs --aggregate"),
        ({"rule": "min", "collapse": "first"}, "`collapse` must be one of before, after"),
        ({"collapse": "before"}, "`collapse` needs --aggregate"),
        ({"rule": "max", "collapse": "before"}, "`collapse` must come with a level"),
        ({"rule": "sum", "collapse": "before", "level": 1}, "`collapse` must be after with"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(options: dict[str, Any], said: str) -> None:
    """A choice that would be ignored, or cannot be used, is told by the name of its option."""
    with pytest.raises(ArgumentError, match=said):
        Policy(**options).check()


def test_every_rule_can_be_chosen() -> None:
    """Each rule goes with what it needs, at a level and in either order where that has a sense."""
    for rule in RULES:
        ties = "low" if rule in ("majority", "median") else None
        for collapse in ("after",) if rule == "sum" else ("before", "after"):
            Policy(rule=rule, ties=ties, collapse=collapse, level=1).check()  # type: ignore[arg-type]


def test_mean_needs_a_scale_without_gaps() -> None:
    """On grades 0, 2, 4 a mean may be 1, which is no grade; of binary votes it never is."""
    with pytest.raises(ArgumentError, match="must be another rule on a scale with gaps") as caught:
        Policy(rule="mean").check_scale(EVEN)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("a mean may be 1, which is no grade")
    Policy(rule="mean", collapse="before", level=2).check_scale(EVEN)
    Policy(rule="mean").check_scale(parse_scale("-2-2"))
    Policy(rule="median", ties="low").check_scale(EVEN)


def test_level_must_cut_the_scale_unless_it_is_of_sums() -> None:
    """A level off the scale is refused; a sum of grades has levels of its own."""
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 2"):
        Policy(rule="max", level=3).check_scale(parse_scale("0-2"))
    Policy(rule="sum", level=3).check_scale(parse_scale("0-2"))


def test_manifest_has_the_choices_that_count() -> None:
    """An order of collapsing is named where a rule and a level make it matter."""
    graded = Policy(rule="majority", ties="low")
    assert graded.to_json() == {
        "rule": "majority", "ties": "low", "collapse": None, "level": None, "rulings": True,
    }  # fmt: skip
    binary = Policy(rule="max", level=2, rulings=False)
    assert (binary.to_json()["collapse"], binary.to_json()["rulings"]) == ("after", False)
    one = Policy(judge="me", level=1).to_json()
    assert (one["rule"], one["collapse"], one["rulings"]) == ("single judge", None, False)
