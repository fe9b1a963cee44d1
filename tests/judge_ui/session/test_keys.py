"""Which key does what, for ordinary scales and for those that claim command keys."""

from __future__ import annotations

import pytest

from judge_ui.session.keys import FIXED, Command, Keymap, key_name, key_table
from store.errors import ArgumentError
from store.records import Grade, Scale
from tests.helpers.world import make_scale, parse_scale


def test_digits_grade_and_letters_command() -> None:
    """On a scale of digits every command has the key of the manual."""
    table = key_table(parse_scale("0-3"))
    assert [table.meaning(key) for key in "0123"] == [0, 1, 2, 3]
    expected = {
        "u": Command.UNDO,
        "s": Command.SKIP,
        "c": Command.CANNOT,
        "e": Command.NOTE,
        "n": Command.NEXT,
        "p": Command.PREVIOUS,
        "t": Command.TOPIC,
        "?": Command.HELP,
        "q": Command.QUIT,
        "j": Command.LINE_DOWN,
        "k": Command.LINE_UP,
        " ": Command.PAGE_DOWN,
        "b": Command.PAGE_UP,
        "g": Command.TOP,
        "G": Command.BOTTOM,
        "l": Command.LIST,
        "h": Command.GUIDELINES,
        "f1": Command.GUIDELINES,
        "/": Command.FIND,
        "]": Command.NEXT_HIT,
        "[": Command.PREVIOUS_HIT,
        "w": Command.TERMS,
        "v": Command.MARK,
        "ctrl+r": Command.REDO,
        "y": Command.HISTORY,
        "ctrl+p": Command.PALETTE,
        "escape": Command.INBOX,
    }
    assert {key: table.meaning(key) for key in expected} == expected
    assert table.meaning("backspace") is Command.UNDO
    assert table.meaning("pagedown") is Command.PAGE_DOWN
    assert table.meaning("4") is None


@pytest.mark.parametrize(("typed", "meant"), [("２", 2), ("ｕ", Command.UNDO), ("　", " ")])
def test_full_width_characters_mean_the_ascii_ones(typed: str, meant: int | Command | str) -> None:
    """What a Japanese input method sends works like the plain key."""
    table = key_table(parse_scale("0-3"))
    expected = table.meaning(meant) if meant == " " else meant
    assert table.meaning(typed, typed) == expected
    assert expected is not None


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


def test_a_long_scale_has_its_digits_and_needs_keys_for_the_rest() -> None:
    """A grade that no digit names is not given a letter nobody chose: the refusal names each."""
    with pytest.raises(ArgumentError, match=r"needs a key .*; grades 10, 11 have none") as caught:
        key_table(parse_scale("0-11"))
    assert "--keymap" in str(caught.value.hint)
    table = key_table(parse_scale("0-11"), Keymap({10: ("a",), 11: ("f9",)}))
    assert [table.meaning(key) for key in ("0", "9", "a", "A", "f9")] == [0, 9, 10, 10, 11]


def test_a_scale_of_many_letters_keeps_every_command_reachable() -> None:
    """Twenty-one grades on 0-9 and a-k; no command is lost and none is doubled."""
    keys = "0123456789abcdefghijk"
    table = key_table(make_scale(tuple(Grade(n - 10, "x", key) for n, key in enumerate(keys))))
    assert set(table.grades) == set("0123456789abcdefghijkABCDEFGHIJK")
    assert set(table.best) == set(Command)
    assert not set(table.best.values()) & set(table.grades)
    assert len(set(table.best.values())) == len(Command)


def test_every_command_is_explained() -> None:
    """The help page leaves no key out."""
    assert all(command.explanation for command in Command)


def test_the_ways_out_stay_on_any_scale() -> None:
    """Escape goes back, ctrl+q quits and ctrl+p opens the palette, whatever a keymap says."""
    keymap = Keymap(
        {0: ("a", "f10")}, {Command.INBOX: ("i",), Command.QUIT: ("x",), Command.PALETTE: ("f3",)}
    )
    table = key_table(parse_scale("binary"), keymap)
    assert {key: table.meaning(key) for key in FIXED} == FIXED
    greedy = key_table(parse_scale("binary"), Keymap({}, {Command.UNDO: ("z", *FIXED)}))
    assert {key: greedy.meaning(key) for key in FIXED} == FIXED
    assert [table.name(c) for c in (Command.INBOX, Command.QUIT, Command.PALETTE)] == ["i", "x", "F3"]


@pytest.mark.parametrize("key", ["alt+u", "alt+2", "alt+[", "alt+shift+g"])
def test_a_key_with_alt_means_nothing(key: str) -> None:
    """A torn escape sequence arrives as Alt and a character, and must not act."""
    assert key_table(parse_scale("0-3")).meaning(key, key[-1]) is None


def test_a_keymap_is_followed_by_keys_and_names() -> None:
    """What is remapped has its keys and no others; what it pushed aside moves and says so."""
    keymap = Keymap({2: ("d", "f9"), 0: ("n",)}, {Command.UNDO: ("z", "backspace")})
    table = key_table(parse_scale("0-2"), keymap)
    keys = ("d", "D", "f9", "ｄ", "n", "N", "1", "2", "0", "u", "z", "backspace", "f")
    undo = Command.UNDO
    assert [table.meaning(key) for key in keys] == [
        *(2, 2, 2, 2, 0, 0, 1, None, None),
        *(None, undo, undo, Command.NEXT),
    ]
    assert table.grade_name(2) == "d"
    assert (table.name(undo), table.names(undo)) == ("z", ["z", "Backspace"])
    assert table.name(Command.NEXT) == "f"


def test_a_full_width_grade_key_is_taken_at_its_word() -> None:
    """A scale may declare a full-width key; it then means that grade."""
    scale = Scale((Grade(0, "no", "0"), Grade(1, "yes", "２")), 1, None)
    assert key_table(scale).meaning("２", "２") == 1


@pytest.mark.parametrize(
    ("key", "name"), [(" ", "space"), ("ctrl+q", "ctrl+q"), ("backspace", "Backspace"), ("?", "?")]
)
def test_keys_have_names_for_people(key: str, name: str) -> None:
    """No key is shown as a blank."""
    assert key_name(key) == name
