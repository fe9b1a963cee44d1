"""Which key does what on every scale."""

from __future__ import annotations

import pytest

from judge_ui.session.keys import FIXED, Command, key_table
from store.errors import ArgumentError
from store.records import Grade, Scale
from tests.helpers.world import make_scale, parse_scale

MANUAL = """
u undo, s skip, c can't, e note, n next, p previous, t topic, ? help, q quit, j line down, k line up,
b page up, g top, G bottom, l list, h guidelines, f1 guidelines, / find, ] next hit, [ previous hit, w terms,
v mark, y history, ctrl+r redo, ctrl+p palette, escape topics, backspace undo, pagedown page down
"""


def test_digits_grade_and_letters_command() -> None:
    """On a scale of digits every command has the key of the manual."""
    table = key_table(parse_scale("0-3"))
    assert [table.meaning(key) for key in "01234 "] == [0, 1, 2, 3, None, Command.PAGE_DOWN]
    expected = dict(one.split(" ", 1) for one in MANUAL.strip().replace("\n", " ").split(", "))
    assert {key: str(table.meaning(key)) for key in expected} == expected


@pytest.mark.parametrize("typed", ["²", "①", "٢", "Ⅱ", "S"])
def test_no_other_look_alike_is_a_key(typed: str) -> None:
    """The `²` key of a French keyboard, other digits and capitals do nothing."""
    assert key_table(parse_scale("0-3")).meaning(typed, typed) is None


def test_grade_letters_push_commands_to_other_letters() -> None:
    """NTCIR's c, b, a, s are grades in either case; can't, skip and page up move, and say so."""
    table = key_table(parse_scale("ntcir"))
    assert [table.meaning(key) for key in "cbasCBASｃＳ"] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 3]
    assert [table.name(command) for command in (Command.CANNOT, Command.SKIP)] == ["i", "x"]
    assert table.meaning("i") is Command.CANNOT
    assert table.names(Command.PAGE_UP) == ["PgUp"]


@pytest.mark.parametrize("key", "abcdefghijklmnopqrstuvwxyzGé")
def test_no_command_differs_from_a_grade_by_case_alone(key: str) -> None:
    """Whatever letter a scale takes, Caps Lock is no danger and no two commands share a key."""
    table = key_table(make_scale((Grade(0, "no", key), Grade(1, "yes", "1"))))
    assert table.meaning(key.upper()) == table.meaning(key.lower()) == 0
    assert key.lower() not in {name.lower() for name in table.commands}
    assert len(set(table.best.values())) == len(Command)


def test_a_scale_that_takes_both_letters_pushes_a_command_to_a_function_key() -> None:
    """There is always a key left, since a grade key is one character."""
    scale = make_scale(
        (Grade(0, "no", "s"), Grade(1, "yes", "S"), Grade(2, "very", "?"), Grade(3, "most", "x"))
    )
    table = key_table(scale)
    assert (table.meaning("s"), table.meaning("S")) == (0, 1)
    assert table.name(Command.SKIP) == "F5"
    assert table.meaning("f5") is Command.SKIP
    assert table.name(Command.HELP) == "F3"


def test_a_grade_without_a_key_has_the_first_free_letter() -> None:
    """No digit names grade 10; a letter that the scale declares is no other grade's."""
    table = key_table(parse_scale("0-11"))
    assert [table.meaning(key) for key in ("0", "9", "a", "A", "b")] == [0, 9, 10, 10, 11]
    assert len(set(table.best.values())) == len(Command)
    table = key_table(make_scale((Grade(0, "no", "A"), Grade(50, "yes", ""), Grade(99, "very", ""))))
    assert [table.meaning(key) for key in "abc"] == [0, 50, 99]
    with pytest.raises(ArgumentError, match="must declare a key for each grade"):
        key_table(make_scale(tuple(Grade(value, "x", "") for value in range(27))))


@pytest.mark.parametrize("scale", ["binary", "ntcir", "0-11"])
def test_the_ways_out_stay_on_any_scale(scale: str) -> None:
    """Escape goes back, ctrl+q quits and ctrl+p opens the palette."""
    table = key_table(parse_scale(scale))
    assert {key: table.meaning(key) for key in FIXED} == FIXED


@pytest.mark.parametrize("key", ["alt+u", "alt+2", "alt+[", "alt+shift+g"])
def test_a_key_with_alt_means_nothing(key: str) -> None:
    """A torn escape sequence arrives as Alt and a character, and must not act."""
    assert key_table(parse_scale("0-3")).meaning(key, key[-1]) is None


def test_a_full_width_grade_key_is_taken_at_its_word() -> None:
    """A scale may declare a full-width key; it then means that grade."""
    scale = Scale((Grade(0, "no", "0"), Grade(1, "yes", "２")), 1, None)
    assert key_table(scale).meaning("２", "２") == 1
