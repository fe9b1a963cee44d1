"""Text fit for a terminal, in its width and order; errors and nouns, what they say and carry."""

from __future__ import annotations

import time
import traceback
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.errors import (
    ArgumentError,
    FaultList,
    FormatError,
    PoolerError,
    StoreError,
    UnknownNameError,
    nearest,
)
from store.records import Action, Grade, JudgeKind, Qrel, QrelColumns, Scale, State
from store.text import INVISIBLE, natural_key, sanitise, sanitise_line
from store.wrapping import broken, cell_width, cut, drawn, fitting, iter_lines, pad, wrap, wrapped

WIDE = "検索評価のテスト。、「」ー"
NARROW = "ab cé-d ﾊ"
MARKS = "\u0301\u3099\u200d\ufe0f\u00ad"

texts = st.text(st.sampled_from(WIDE + NARROW + MARKS + "\n\t"), max_size=120)


def slow_width(text: str) -> int:
    """Add up the cells, by hand for every character of `texts`."""
    cells = dict.fromkeys(WIDE, 2) | dict.fromkeys(NARROW, 1) | dict.fromkeys(MARKS, 0)
    return sum((cells | {"\t": 4, "\n": 0})[character] for character in text)


@given(text=texts, width=st.integers(4, 30))
def test_every_line_fits(text: str, width: int) -> None:
    """No line is wider than the pane, and widths are those counted by hand."""
    lines = [text[start:end] for start, end in wrap(text, width)]
    assert all(slow_width(line) <= width for line in lines)
    assert [cell_width(line) for line in lines] == [slow_width(line) for line in lines]


@given(text=texts, width=st.integers(2, 30))
def test_every_character_is_on_a_line(text: str, width: int) -> None:
    """Lines follow each other; only one newline or one blank is ever between two of them."""
    lines = wrap(text, width)
    assert lines[0][0] == 0
    assert lines[-1][1] == len(text)
    between = [text[end:start] for (_, end), (start, _) in pairwise(lines)]
    assert set(between) <= {"", " ", "\n"}
    assert between.count("\n") == text.count("\n")


@given(text=st.text(max_size=200), width=st.integers(-1, 20))
def test_any_text_at_any_width_comes_to_an_end(text: str, width: int) -> None:
    """Marks without a base, widths too small, lone surrogates: there is always progress."""
    lines = wrap(text, width)
    assert all(start <= end for start, end in lines)
    assert all(start > before for (before, _), (start, _) in pairwise(lines))


def test_lines_are_broken_where_a_reader_expects_it() -> None:
    """At blanks; beside kanji, but with closing punctuation kept on its line."""
    text = "Retrieval evaluation は、検索の評価である。"
    assert [text[start:end] for start, end in wrap(text, 12)] == [
        "Retrieval",
        "evaluation",
        "は、検索の評",
        "価である。",
    ]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("検索評価。次", 8, ["検索評", "価。次"]),
        ("あ「いう」", 4, ["あ", "「い", "う」"]),
        ("。。。", 4, ["。。", "。"]),
    ],
)
def test_punctuation_is_kept_where_it_belongs(text: str, width: int, lines: list[str]) -> None:
    """No line begins with a full stop or ends with an opening bracket, unless there is no way."""
    assert [text[start:end] for start, end in wrap(text, width)] == lines


def test_marks_stay_with_their_letter() -> None:
    """A line never begins with a combining mark when there is a letter to carry it."""
    text = "か\u3099き\u3099く\u3099け\u3099"
    assert [text[start:end] for start, end in wrap(text, 4)] == [text[:4], text[4:]]


BLOCKS = {
    "Latin, Greek, Cyrillic": (0x20, 0x52F),
    "punctuation, symbols, arrows, box drawing": (0x2010, 0x25FF),
    "CJK radicals, symbols, kana, Bopomofo": (0x2E80, 0x312F),
    "enclosed and squared CJK, kanji": (0x31A0, 0x4DBF),
    "kanji": (0x4E00, 0x9FFF),
    "Hangul syllables": (0xAC00, 0xD7A3),
    "kanji, compatibility forms": (0xF900, 0xFAFF),
    "half and full width": (0xFE10, 0xFFEF),
    "rare kanji": (0x20000, 0x2FA1F),
}


@pytest.mark.parametrize("block", BLOCKS)
def test_widths_are_those_of_unicodes_own_table(block: str) -> None:
    """Wide and full-width characters take two cells, marks none, all others one.

    Ambiguous ones take one cell, as terminals have it unless they are told otherwise. The version
    of the table is Python's; what it does not know is left out.
    """
    first, last = BLOCKS[block]
    wrong = []
    for character in map(chr, range(first, last + 1)):
        category = unicodedata.category(character)
        if character in INVISIBLE or category in ("Cc", "Cf", "Cn", "Zl", "Zp"):
            continue
        is_wide = unicodedata.east_asian_width(character) in ("W", "F")
        expected = 0 if category.startswith("M") else 1 + is_wide
        if cell_width(character) != expected:
            wrong.append(f"U+{ord(character):04X}")
    assert wrong == []


@example(text="e\u0301\u3099", times=3000, width=30)
@given(text=texts, times=st.integers(1, 200), width=st.integers(2, 30))
def test_a_long_paragraph_is_broken_as_if_it_were_read_at_once(text: str, times: int, width: int) -> None:
    """A line depends on what is in it and right behind it, not on how much was measured."""
    text = text.replace("\n", " ") * times
    for start, end in iter_lines(text, width):
        # No line has more characters than eight for each of its cells.
        rest = text[start : start + 8 * width + 2]
        assert next(iter_lines(rest, width)) == (0, end - start)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x\u200dy", "xy"),
        ("葛\U000e0100", "葛"),
        ("so\u00adft", "soft"),
        ("a\tb", "a    b"),
        ("\U0001f44d\U0001f3fd!", "\U0001f44d!"),
    ],
)
def test_characters_of_uncertain_width_are_not_drawn(text: str, shown: str) -> None:
    """Joiners, variation selectors and soft hyphens are left out; a tab is four blanks."""
    assert drawn(text) == shown
    assert cell_width(text) == cell_width(shown)


@given(text=texts.map(lambda text: text.replace("\n", "")), width=st.integers(0, 30))
def test_padding_gives_the_width_exactly(text: str, width: int) -> None:
    """A padded cell is as wide as asked but where half a kanji would be needed."""
    assert cell_width(cut(text, width)) <= width
    assert cell_width(pad(text, width)) == width


def test_fitting_counts_whole_characters() -> None:
    """A kanji that fits by half does not fit."""
    assert [fitting("検索", width) for width in (1, 2, 3, 4, 9)] == [0, 1, 1, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["bridge と橋梁 " * 100_000, "\u0301" * 1_000_000, "é" * 1_000_000, " " * 1_000_000],
    ids=["mixed", "marks", "one word", "blanks"],
)
def test_a_megabyte_in_one_line_is_wrapped_in_seconds(text: str) -> None:
    """Wrapping is linear, whatever the text is made of."""
    started = time.perf_counter()
    wrap(text, 78)
    # Quadratic time would be hours; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 60


@pytest.mark.parametrize("text", ["検索「評価」の基礎。", "基礎（検索）、評価ー測定", "abc「検索」def。"])
@pytest.mark.parametrize("width", [6, 7, 8, 10])
def test_words_and_cells_break_where_texts_do(text: str, width: int) -> None:
    """No line of a caption or cell begins with closing nor ends with opening punctuation."""
    for lines in (wrapped(text, width).split("\n"), broken(text, width)):
        assert "".join(lines) == text
        for line in lines:
            assert line[0] not in "」。）、ー"
            assert line[-1] not in "「（"


@pytest.mark.parametrize("width", range(2, 14))
def test_joined_emoji_are_never_torn_apart(width: int) -> None:
    """A family of three stays on one line where six cells hold it, wherever the line must end."""
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    text = f"a{family}検索{family}b {family}"
    lines = [text[start:end] for start, end in wrap(text, width)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    if width >= 6:
        assert sum(line.count(family) for line in lines) == 3
    assert all(cell_width(line) <= width for line in lines)


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
BIDI_MARKS = "\u061c\u200e\u200f"


def steers(character: str) -> bool:
    """Tell, by the Unicode database alone, whether a character could steer a terminal."""
    return (
        (unicodedata.category(character) == "Cc" and character not in "\n\t")
        or unicodedata.category(character) in ("Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in BIDI
        or character in BIDI_MARKS
    )


def test_nothing_that_steers_survives_and_all_else_does() -> None:
    """For the first 0x3000 code points and every surrogate, one by one."""
    for code in (*range(0x3000), *range(0xD800, 0xE000)):
        character = chr(code)
        clean = sanitise(f"a{character}b")
        if steers(character):
            assert not any(map(steers, clean)), hex(code)
            assert clean.startswith("a"), hex(code)
            assert clean.endswith("b"), hex(code)
        else:
            assert clean == f"a{character}b", hex(code)


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\x07\r\n\u202e\u2028\ud800")))
def test_any_text_is_clean_and_stays_so(text: str) -> None:
    """No text passes on a control; cleaning twice changes nothing more, nor makes it longer."""
    clean = sanitise(text)
    assert not any(map(steers, clean))
    assert sanitise(clean) == clean
    assert len(clean) == len(text) - text.count("\r")
    clean.encode()


@given(st.text(st.characters() | st.sampled_from("\n\t\r\u2028\x0b\x0c\x85")))
def test_a_line_stays_one_line(text: str) -> None:
    """A title or an id breaks no table, whatever line ends it holds."""
    line = sanitise_line(text)
    assert not any(map(steers, line))
    assert len(line.splitlines()) <= 1
    assert "\n" not in line
    assert "\t" not in line


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("plain 東京　タワー é", "plain 東京　タワー é"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nbc"),
        ("\x1b[2J", "␛[2J"),
        ("\x1b]52;c;cm0=\x07", "␛]52;c;cm0=␇"),
        ("\x00\x7f\x9b31m", "␀\ufffd\ufffd31m"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("user\u202etxt.exe", "user\ufffdtxt.exe"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("😀", "😀"),
    ],
)
def test_examples(text: str, clean: str) -> None:
    """Sequences that clear the screen, write the clipboard or reorder text are shown as text."""
    assert sanitise(text) == clean


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["10", "9", "1", "100", "2"], ["1", "2", "9", "10", "100"]),
        (["T10", "T2", "T1"], ["T1", "T2", "T10"]),
        (["9", "009", "09"], ["009", "09", "9"]),
        (["a1b10", "a1b9", "a01b9"], ["a01b9", "a1b9", "a1b10"]),
        (["b", "a", "A", "1", "é", "東"], ["1", "A", "a", "b", "é", "東"]),
        (["MB10", "MB9", "10", "9"], ["9", "10", "MB9", "MB10"]),
        (["1.5", "1.10", "1"], ["1", "1.5", "1.10"]),
        (["٣", "2", "1"], ["1", "2", "٣"]),
    ],
)
def test_natural_key_orders_numbers_by_value(texts: list[str], expected: list[str]) -> None:
    """Digits compare as numbers, all else bytewise; equal values by their text."""
    assert sorted(texts, key=natural_key) == expected


@given(st.lists(st.integers(0, 10**20), unique=True))
def test_natural_key_of_whole_numbers_is_numeric_order(numbers: list[int]) -> None:
    """Topic numbers sort as numbers, beyond 64 bits too."""
    assert sorted(map(str, numbers), key=natural_key) == [str(number) for number in sorted(numbers)]


def test_natural_key_of_thousands_of_digits_is_a_key() -> None:
    """An id that readers accept can be sorted."""
    assert sorted(["9" * 5000, "1"], key=natural_key) == ["1", "9" * 5000]


def test_pooler_error_carries_its_hint_apart_from_its_message() -> None:
    """The hint is a second line, not part of the sentence."""
    error = StoreError("it is locked", hint="wait")
    assert (str(error), error.message, error.hint) == ("it is locked", "it is locked", "wait")
    assert PoolerError("x").hint is None
    assert traceback.format_exception_only(error)[-2:] == [
        "store.errors.StoreError: it is locked\n",
        "hint: wait\n",
    ]


def test_unknown_name_error_lists_what_is_known_nearest_first() -> None:
    """A typing mistake finds its name at the front; at most ten are listed."""
    error = UnknownNameError("judge", "alcie", ["bob", "alice", "carol"])
    assert str(error) == "unknown judge `alcie`; known: `alice`, `bob`, `carol`"
    assert error.known == ["alice", "bob", "carol"]
    many = UnknownNameError("topic", "x", map(str, range(12)))
    assert str(many).endswith(" and 2 more")
    assert str(many).count("`") == 2 + 2 * 10
    assert str(UnknownNameError("run", "x", [])) == "unknown run `x`; there is no run yet"


def test_known_names_that_are_not_close_are_in_natural_order() -> None:
    """Whatever order they come in, as those of a set do: numbers by value."""
    topics = {f"G{number}" for number in range(1, 13)}
    error = UnknownNameError("topic", "web", topics)
    assert error.known == [f"G{number}" for number in range(1, 13)]
    listed = "`G1`, `G2`, `G3`, `G4`, `G5`, `G6`, `G7`, `G8`, `G9`, `G10` and 2 more"
    assert str(error) == f"unknown topic `web`; known: {listed}"


@given(st.text(), st.lists(st.text(), unique=True))
def test_nearest_loses_no_name_and_puts_the_name_itself_first(name: str, known: list[str]) -> None:
    """It sorts, it does not choose; what is equal to the name is most like it."""
    ordered = nearest(name, known)
    assert sorted(ordered) == sorted(known)
    if name in known:
        assert ordered[0].lower() == name.lower()


def test_faults_of_several_checks_are_in_line_order() -> None:
    """What a later check tells of an earlier line comes first, also among more than are kept."""
    faults = FaultList("f")
    for line in range(10, 40):
        faults.add(line, "short")
    faults.add(None, "damaged")
    faults.add(12, "unknown")
    faults.add(3, "unknown")
    faults.add(3, "grade")
    faults.add(39, "grade")
    with pytest.raises(FormatError) as refused:
        faults.raise_if_any()
    kept = [(fault.line, fault.message) for fault in refused.value.faults]
    # 25 of 35: two of line 3, lines 10 to 12, the later one of line 12, lines 13 to 31.
    assert kept == [
        *[(3, "unknown"), (3, "grade"), (10, "short"), (11, "short"), (12, "short")],
        *[(12, "unknown"), *[(line, "short") for line in range(13, 32)]],
    ]
    assert refused.value.n_faults == 35
    few = FaultList("f")
    few.hint = "look again"
    few.add(None, "damaged")
    few.add(2, "short")
    with pytest.raises(FormatError) as refused:
        few.raise_if_any()
    assert str(refused.value) == "f:2: short\nf: damaged"
    assert refused.value.hint == "look again"


JUNK = Scale(
    (Grade(-2, "junk", "x"), Grade(0, "no", "0"), Grade(1, "yes", "1"), Grade(2, "very", "2")),
    relaxed=1,
    rigid=2,
)


def test_scale_values_and_labels_are_those_declared() -> None:
    """Negative grades are grades; a value off the scale is named with what is on it."""
    assert JUNK.values == (-2, 0, 1, 2)
    assert JUNK.label(-2) == "junk"
    with pytest.raises(UnknownNameError, match=r"unknown grade `-1`; known: .*`-2`"):
        JUNK.label(-1)


def test_a_level_leaves_grades_on_both_sides() -> None:
    """Another would turn every document relevant, or none; it need not be a grade itself."""
    assert [JUNK.check_level(level) for level in (-1, 0, 1, 2)] == [-1, 0, 1, 2]
    for level in (-3, -2, 3):
        with pytest.raises(ArgumentError, match=r"`level` must be above -2 and at most 2"):
            JUNK.check_level(level)


def test_columns_of_qrels_are_their_lines() -> None:
    """Four columns are as long as the lines, give these one by one, and are made of them; none is empty."""
    rows = [Qrel("1", "a", 2), Qrel("1", "b", 0, "7")]
    columns = QrelColumns(["1", "1"], ["a", "b"], [2, 0], ["0", "7"])
    assert ([*columns], len(columns), columns[1], columns[:1]) == (rows, 2, rows[1], rows[:1])
    assert [*QrelColumns.of(rows)] == rows
    assert QrelColumns.of(columns) is columns
    assert [*QrelColumns.of([])] == []


def test_stored_words_are_fixed() -> None:
    """These words stand in databases and exports: changing one would orphan them."""
    assert [*JudgeKind] == ["human", "model", "imported", "adjudicator"]
    assert [*State] == ["unjudged", "skipped", "cannot", "judged"]
    assert [*Action] == ["judge", "skip", "cannot", "note", "mark", "undo", "reopen"]
