"""Declaring scales: words, ranges and TOML files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FormatError
from store.formats.scale import make_scale, parse_scale, scale_from_json, scale_to_json
from store.records import Grade


@pytest.mark.parametrize(
    ("text", "values", "relaxed", "rigid"),
    [
        ("binary", (0, 1), 1, None),
        ("0-1", (0, 1), 1, None),
        ("0-2", (0, 1, 2), 1, 2),
        ("0-3", (0, 1, 2, 3), 1, 2),
        ("ntcir", (0, 1, 2, 3), 1, 2),
        ("-2-2", (-2, -1, 0, 1, 2), 1, 2),
        ("0-20", tuple(range(21)), 1, 2),
    ],
)
def test_words_and_ranges_are_scales(
    text: str, values: tuple[int, ...], relaxed: int, rigid: int | None
) -> None:
    """Relaxed is the least positive grade, rigid the next, each up to 9 with a key of its own."""
    scale = parse_scale(text)
    assert (scale.values, scale.relaxed, scale.rigid) == (values, relaxed, rigid)
    keys = [grade.key for grade in scale.grades if grade.value <= 9]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {1}


def test_digit_keys_are_the_grades_themselves() -> None:
    """A judge presses 2 to give a 2."""
    assert [grade.key for grade in parse_scale("0-3").grades] == ["0", "1", "2", "3"]


@pytest.mark.vector("NTCIR-3 CLIR: S highly relevant, A relevant, B partially, C not; rigid S, A")
def test_ntcir_letters_keep_their_meaning() -> None:
    """Rigid counts S and A, relaxed B too."""
    scale = parse_scale("ntcir")
    letters = {grade.label[0]: grade.value for grade in scale.grades}
    assert [grade.key for grade in scale.grades] == ["c", "b", "a", "s"]
    assert scale.rigid is not None
    assert {letter for letter, value in letters.items() if value >= scale.rigid} == {"S", "A"}
    assert {letter for letter, value in letters.items() if value >= scale.relaxed} == {"S", "A", "B"}


@pytest.mark.parametrize("text", ["0", "2-2", "3-1", "0-21", "0 - 3", "", "no-such-file.toml", "a-b"])
def test_what_is_no_scale_is_told_with_what_is(text: str) -> None:
    """The message names the option, the hint every way to say it."""
    with pytest.raises(ArgumentError, match="`scale` must") as caught:
        parse_scale(text)
    assert "--scale 0-2" in str(caught.value.hint)


@pytest.mark.parametrize("text", ["1-2", "1-5"])
def test_range_from_one_is_a_scale(text: str) -> None:
    """Likert's 1 to 5 is LOW-HIGH like any other."""
    low, high = map(int, text.split("-"))
    assert parse_scale(text).values == tuple(range(low, high + 1))


@pytest.mark.parametrize(
    ("text", "keys"), [("8-11", ["8", "9", "", ""]), ("-6-1", ["", "", "z", "y", "x", "-", "0", "1"])]
)
def test_a_grade_that_no_digit_names_has_no_key(text: str, keys: list[str]) -> None:
    """A key that nobody declared would be guessed wrong; the digits are never another grade's."""
    assert [grade.key for grade in parse_scale(text).grades] == keys


def test_toml_file_declares_keys_above_nine_or_leaves_them_out(tmp_path: Path) -> None:
    """A grade without a key is a grade all the same: of imported judgements, say."""
    grades = ((0, ""), (10, 'key = "a"'), (20, ""), (-1, ""))
    text = "".join(f'[[grade]]\nvalue = {value}\nlabel = "x"\n{key}\n' for value, key in grades)
    scale = parse_scale(toml(tmp_path, text))
    assert {grade.value: grade.key for grade in scale.grades} == {-1: "-", 0: "0", 10: "a", 20: ""}


@pytest.mark.parametrize("text", ["0-" + "9" * 5000, "x" * 5000], ids=["digits", "name"])
def test_text_of_any_length_is_told_in_one_line(text: str) -> None:
    """Nothing a user types is a traceback."""
    with pytest.raises(ArgumentError):
        parse_scale(text)


def toml(tmp_path: Path, text: str) -> str:
    """Write a scale file and return its path."""
    file = tmp_path / "scale.toml"
    file.write_text(text, "utf-8")
    return str(file)


def test_toml_file_is_a_scale_in_any_order(tmp_path: Path) -> None:
    """Values, labels, keys and both readings are those of the file."""
    path = toml(
        tmp_path,
        'relaxed = 2\nrigid = 3\n[[grade]]\nvalue = 3\nlabel = "適合"\nkey = "s"\n'
        '[[grade]]\nvalue = -2\nlabel = "junk"\nkey = "x"\n[[grade]]\nvalue = 2\nlabel = "so"\n',
    )
    scale = parse_scale(path)
    expected = (Grade(-2, "junk", "x"), Grade(2, "so", "2"), Grade(3, "適合", "s"))
    assert (scale.grades, scale.relaxed, scale.rigid) == (expected, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grade", "expected TOML, got: "),
        ("", "expected \\[\\[grade\\]\\] tables"),
        ("[grade]\nvalue = 1\n", "expected \\[\\[grade\\]\\] tables"),
        ("[[grade]]\nvalue = 1\n", "grade 1: expected text for `label`"),
        ('[[grade]]\nvalue = "high"\nlabel = "x"\n', "grade 1: expected an integer `value`"),
    ],
)
def test_toml_file_that_is_no_scale_is_told_with_its_path(tmp_path: Path, text: str, message: str) -> None:
    """The file is named, and what a scale file holds."""
    with pytest.raises(FormatError, match=f"scale.toml: .*{message}"):
        parse_scale(toml(tmp_path, text))


GRADES = '[[grade]]\nvalue = 0\nlabel = "n"\nkey = "n"\n[[grade]]\nvalue = {}\nlabel = "y"\nkey = "y"\n'


@pytest.mark.parametrize("value", ["1.7", "true"])
def test_toml_value_that_is_no_integer_is_a_fault(tmp_path: Path, value: str) -> None:
    """A grade of 1.7 is not a grade of 1."""
    with pytest.raises(FormatError):
        parse_scale(toml(tmp_path, GRADES.format(value)))


@pytest.mark.parametrize("levels", ["relaxed = 2\nrigid = 1", "relaxed = true"])
def test_toml_levels_that_contradict_each_other_are_a_fault(tmp_path: Path, levels: str) -> None:
    """Rigid is never below relaxed, and both are numbers."""
    grades = GRADES.format(1) + '[[grade]]\nvalue = 2\nlabel = "z"\nkey = "z"\n'
    with pytest.raises((FormatError, ArgumentError)):
        parse_scale(toml(tmp_path, f"{levels}\n{grades}"))


@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ((Grade(1, "y", "y"),), "must have at least two grades, each once"),
        ((Grade(1, "y", "y"), Grade(1, "n", "n")), "must have at least two grades, each once"),
        ((Grade(1, "y", "y"), Grade(0, "n", "y")), "must have a different one-character key"),
        ((Grade(1, "y", "yes"), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(1, "y", "\x1b"), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(1, "y", " "), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(-1, "y", "y"), Grade(-2, "n", "n")), "must have a positive grade, or name `relaxed`"),
    ],
)
def test_grades_that_make_no_scale_are_refused(grades: tuple[Grade, ...], message: str) -> None:
    """Two grades need two values and two keys, and one of them must be able to be relevant."""
    with pytest.raises(ArgumentError, match=message):
        make_scale(grades)


@pytest.mark.parametrize("level", [0, 3, -1])
def test_levels_must_cut_the_scale(level: int) -> None:
    """A level at the lowest grade or off the scale makes all or nothing relevant."""
    grades = (Grade(0, "n", "n"), Grade(1, "y", "y"), Grade(2, "z", "z"))
    with pytest.raises(ArgumentError, match=r"`relaxed` must be one of \[1, 2\]"):
        make_scale(grades, relaxed=level)
    with pytest.raises(ArgumentError, match=r"`rigid` must be one of \[1, 2\]"):
        make_scale(grades, rigid=level)


def test_rigid_follows_a_relaxed_level_that_is_given() -> None:
    """Rigid is the next grade above relaxed, or there is none."""
    grades = (Grade(-2, "a", "a"), Grade(-1, "b", "b"), Grade(0, "c", "c"))
    assert make_scale(grades, relaxed=-1).rigid == 0
    assert make_scale(grades, relaxed=0).rigid is None


@given(st.sets(st.integers(-50, 50), min_size=2, max_size=10), st.text("東é\"'\\", max_size=3))
def test_json_gives_the_same_scale_back(values: set[int], label: str) -> None:
    """What the collection stores is the scale that was declared."""
    grades = tuple(Grade(value, label, "abcdefghij"[at]) for at, value in enumerate(values))
    scale = make_scale(grades, relaxed=sorted(values)[1])
    assert scale_from_json(json.loads(json.dumps(scale_to_json(scale)))) == scale


def test_no_grade_has_the_digit_of_another_as_its_key() -> None:
    """On a scale with junk the key 1 is grade 1; negative grades have keys of their own."""
    keys = {grade.value: grade.key for grade in parse_scale("-2-3").grades}
    assert keys == {-2: "x", -1: "-", 0: "0", 1: "1", 2: "2", 3: "3"}


@pytest.mark.parametrize("value", [1_000_000, -1_000_000, 10**22])
def test_a_grade_that_no_engine_holds_is_refused(value: int) -> None:
    """A collection would be made, and fail at its first question."""
    with pytest.raises(ArgumentError, match="grades from -999,999 to 999,999"):
        make_scale((Grade(0, "a", "0"), Grade(1, "b", "1"), Grade(value, "c", "")))


def test_the_largest_grades_that_engines_hold_are_taken() -> None:
    """Six digits, as the refusal says."""
    scale = make_scale((Grade(-999_999, "a", ""), Grade(0, "b", "0"), Grade(999_999, "c", "")))
    assert scale.values == (-999_999, 0, 999_999)
