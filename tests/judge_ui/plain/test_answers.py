"""Answers of the line mode: keys, words, what follows them, and what means nothing."""

from __future__ import annotations

import pytest

from judge_ui.plain import RETRY, USES, Act, Answers
from judge_ui.session.keys import Command, Keymap, key_table
from store.records import Grade, Scale
from tests.helpers.world import parse_scale


def answers(scale: str = "0-3") -> Answers:
    """Make the answers of a scale."""
    parsed = parse_scale(scale)
    return Answers(key_table(parsed), parsed)


@pytest.mark.parametrize(
    ("text", "meaning", "rest"),
    [
        ("2", 2, ""),
        ("２", 2, ""),
        ("s", Command.SKIP, ""),
        ("ｓ", Command.SKIP, ""),
        ("ＳＫＩＰ", Command.SKIP, ""),
        ("can't", Command.CANNOT, ""),
        ("can\u2019t", Command.CANNOT, ""),
        ("Cannot 2", Command.CANNOT, "2"),
        ("c torn page", Command.CANNOT, "torn page"),
        ("note Ask  Ann", Command.NOTE, "Ask  Ann"),
        ("ｃ　２", Command.CANNOT, "２"),
        ("/", Command.FIND, ""),
        ("/bridge", Command.FIND, "bridge"),
        ("/ Iron Bridge", Command.FIND, "Iron Bridge"),
        ("／橋", Command.FIND, "橋"),
        ("RETRY", RETRY, ""),
        ("", None, ""),
    ],
)
def test_what_answers_mean(text: str, meaning: int | Act | None, rest: str) -> None:
    """Keys and words of any width and case; what follows a command stays as it was typed."""
    answer = answers().read(text)
    assert (answer.meaning, answer.rest) == (meaning, rest)


@pytest.mark.parametrize(
    "text",
    [
        "22",
        "2 2",
        "2.",
        "2\t1",
        "s 2",
        "skip it",
        "next 3",
        "²",
        "4",
        "-1",
        "undo 2",
        "yes",
        "redo",
        "topics",
    ],
)
def test_what_means_nothing(text: str) -> None:
    """A held key, a pasted row, or a word too many never grades and never decides."""
    assert answers().read(text).meaning is None


def test_a_value_of_several_characters_is_typed_as_it_is() -> None:
    """Grades above 9 and below 0 can be given by their value beside their key."""
    grades = (Grade(-2, "junk", "j"), Grade(0, "no", "0"), Grade(10, "yes", "a"))
    scale = Scale(grades, relaxed=10, rigid=10)
    found = Answers(key_table(scale), scale)
    assert [found.read(text).meaning for text in ("-2", "j", "10", "１０", "a")] == [*(-2, -2), *(10, 10, 10)]
    assert found.grades == [("j", "-2 junk"), ("0", "no"), ("a", "10 yes")]
    assert found.grade_keys == "grade j/0/a"


def test_keys_of_a_keymap_are_the_ones_that_are_named() -> None:
    """A judge who has chosen other keys reads them in the question."""
    scale = parse_scale("0-2")
    keymap = Keymap({0: ("a",), 1: ("f9", "z")}, {Command.SKIP: ("k",)})
    found = Answers(key_table(scale, keymap), scale)
    assert found.grade_keys == "grade a/z/2"
    assert found.grades[:2] == [("a", "0 not relevant"), ("z", "1 partially relevant")]
    assert (found.read("a").meaning, found.read("k").meaning) == (0, Command.SKIP)
    assert found.name(Command.SKIP) == "k"


def test_a_grade_key_is_no_command() -> None:
    """With grades c, b, a, s the letter s grades, and the commands are words or other letters."""
    found = answers("ntcir")
    assert (found.read("s").meaning, found.read("c 2").meaning) == (3, None)
    assert found.read("cannot 2").rest == "2"
    assert found.name(Command.CANNOT) == "i"


@pytest.mark.parametrize("scale", ["0-3", "ntcir"])
def test_the_help_names_everything_and_what_it_names_works(scale: str) -> None:
    """Every key, word and example of the help means the command it stands beside."""
    found = answers(scale)
    lines = found.help_lines()
    for act, use in USES.items():
        line = next(line for line in lines if line.startswith(f"  {found.names(act)}: "))
        assert found.read(use.word).meaning == act
        assert found.read(found.name(act)).meaning == act
        if "as in `" in line:
            assert found.read(line.split("`")[1]).meaning is act
