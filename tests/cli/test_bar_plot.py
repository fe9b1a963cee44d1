"""Bars and dots in plain characters."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pooler.cli.plots import DrawnValue, Stack, plot_bars, plot_intervals, plot_stacks, plot_width
from store.errors import ArgumentError
from tests.helpers.run import Terminal

LABELS = st.text("abXY019-_漬物石グラム", min_size=1, max_size=70)
NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda one: not 0 < abs(one) < 1e-6)
WIDTHS = st.integers(40, 120)
FILLS = [("0", "not relevant"), ("1", "relevant"), (".", "unjudged")]
KANJI = "京都大学の長い名前のラン"


def test_stacks_by_hand() -> None:
    """Three documents a character: ends of parts go to the nearest, and no part is without one.

    40 columns less a label of 5, the wall's 2 and 8 of the notes are 25; 51 documents by two are
    26 characters, by three 17. The first bar's parts end at 10/3, 40/3 and 51/3: 3, 13 and 17. The
    second's end at 1/3, 1/3 and 50/3: its first part takes one of the 17 from its last.
    """
    stacks = [Stack("anna", [10, 30, 11], ["40"]), Stack("ben", [1, 0, 49], ["1"])]
    drawn = plot_stacks(stacks, FILLS, title="Standing", heading="judge", headings=["judged"], width=40)
    assert drawn == [
        "Standing",
        "judge                             judged",
        "anna  |0001111111111....              40",
        "ben   |0................               1",
        "A character is 3 documents; every part",
        "has at least one.",
        "0 not relevant  1 relevant  . unjudged",
    ]


def test_a_character_is_one_where_that_fits() -> None:
    """Small bars are not stretched, and a bar of nothing is its wall; groups have one heading."""
    stacks = [
        Stack("1", [2, 1, 1], group="anna"),
        Stack("2", [0, 0, 0], group="anna"),
        Stack("1", [0, 0, 3], group="ben"),
    ]
    assert plot_stacks(stacks, FILLS, title="t", unit="topic") == [
        "t", "anna", "1 |001.", "2 |", "ben", "1 |...", "A character is 1 topic.",
        "0 not relevant  1 relevant  . unjudged",
    ]  # fmt: skip


def test_bars_by_hand() -> None:
    """31 columns for -10 to 20: every number is in the column of its own, 0 in the eleventh."""
    readings = [
        DrawnValue("a", 20.0),
        DrawnValue("b", -10.0),
        DrawnValue("c", 0.0),
        DrawnValue("d", 7.4),
        DrawnValue("e", 7.6),
        DrawnValue("none", None, reason="no-relevant"),
    ]
    assert plot_bars(readings, title="Change", heading="run", width=37) == [
        "Change",
        "run",
        "a               |++++++++++++++++++++",
        "b     ----------|",
        "c               |",
        "d               |+++++++",
        "e               |++++++++",
        "none  undefined: no-relevant",
        "      +----+----+----+----+----+----+",
        "     -10  -5    0    5   10   15   20",
    ]


def test_intervals_by_hand() -> None:
    """31 columns for 0 to 30; a dot may be an end, lie outside, or be all there is to see."""
    readings = [
        DrawnValue("a", 15.0, 0.0, 30.0),
        DrawnValue("b", 5.0, 5.0, 9.0),
        DrawnValue("out", 20.0, 10.0, 11.0),
        DrawnValue("one", 12.0, 11.6, 12.6),
        DrawnValue("bare", 3.0),
        DrawnValue("none", None, reason="no-topics"),
    ]
    drawn = plot_intervals(readings, title="MAP", value_words="MAP", interval_words="limits", width=37)
    assert drawn == [
        "MAP",
        "a     [--------------o--------------]",
        "b          o---]",
        "out             []        o",
        "one               o",
        "bare     o",
        "none  undefined: no-topics",
        "      +----+----+----+----+----+----+",
        "      0    5   10   15   20   25   30",
        "o MAP  [---] limits",
    ]


def test_long_and_wide_labels_are_folded_by_their_width_on_a_screen() -> None:
    """A label takes up to half of the columns; a wide character takes two; what follows lines up.

    40 columns less 2 are 38: labels have at most 19, nine wide characters.
    """
    readings = [DrawnValue(KANJI, 1.0), DrawnValue("x" * 40, 2.0), DrawnValue("y", None, reason="void")]
    lines = plot_bars(readings, title="t", width=40)
    assert lines[1] == "京都大学の長い名前 " + "  |" + "+" * 9
    assert lines[2] == "のラン"
    assert lines[3].startswith("x" * 19 + "  |")
    assert (lines[4], lines[5]) == ("x" * 19, "xx")
    assert lines[6] == f"{'y':19}  undefined: void"


def test_long_plots_have_their_axis_at_both_ends() -> None:
    """Of more than twenty lines the first ones can be read without the last."""
    readings = [DrawnValue(str(number), float(number)) for number in range(21)]
    short = plot_bars(readings[:20], title="t", width=60)
    lines = plot_bars(readings, title="t", heading="run", width=60)
    assert (len(short), len(lines)) == (1 + 20 + 2, 2 + 2 + 21 + 2)
    assert lines[:2] == ["t", "run"]
    assert (lines[2], lines[3]) == (lines[-1], lines[-2])


def test_narrow_pages_leave_the_last_notes_out() -> None:
    """What is drawn keeps twelve columns, a label eight."""
    readings = [DrawnValue("bm25-words-full", 0.5, notes=["0.5000", "1,234"])]
    headings = ["change", "swapped"]
    wide = plot_bars(readings, title="t", headings=headings, width=60)
    assert wide[1].split() == headings
    assert wide[2].endswith("+  0.5000    1,234")
    narrow = plot_bars(readings, title="t", headings=headings, width=30)
    assert narrow[1].split() == ["change"]
    assert all(len(line) <= 30 for line in narrow)
    narrower = plot_bars(readings, title="t", headings=headings, width=24)
    assert all(len(line) <= 24 for line in narrower)
    assert "0.5000" not in "".join(narrower)


def test_nothing_defined_has_no_axis() -> None:
    """Without a number there is nothing to read off."""
    readings = [DrawnValue("a", None, reason="no-relevant"), DrawnValue("b", None)]
    lines = ["t", "a  undefined: no-relevant", "b  undefined"]
    assert plot_bars(readings, title="t") == lines
    words = {"value_words": "MAP", "interval_words": "limits"}
    assert plot_intervals(readings, title="t", **words) == lines


@pytest.mark.parametrize("value", [0.0, 0.25, -3.0, 1e-300, 1e300])
def test_equal_values_still_have_an_axis(value: float) -> None:
    """One number alone stands on an axis with numbers about it."""
    lines = plot_intervals(
        [DrawnValue("a", value, value, value)] * 2, title="t", value_words="x", interval_words="y"
    )
    assert lines[1] == lines[2]
    assert lines[1].count("o") == 1
    assert len(lines[4].split()) > 1
    assert all(len(line) <= 80 for line in plot_bars([DrawnValue("a", value)], title="t"))


@given(
    st.lists(
        st.lists(st.integers(0, 10**7) | st.integers(0, 99), min_size=3, max_size=3), min_size=1, max_size=6
    ),
    WIDTHS,
)
def test_any_stacks_show_every_part(rows: list[list[int]], width: int) -> None:
    """No line is too wide, parts keep their order, and one shows if and only if it is not 0."""
    drawn = plot_stacks([Stack("x", parts) for parts in rows], FILLS, title="t", width=width)
    assert all(len(line) <= width and line == line.rstrip() for line in drawn)
    bars = [line.partition("|")[2] for line in drawn[1 : 1 + len(rows)]]
    [per] = [int(line.split()[3].replace(",", "")) for line in drawn if "A character is" in line]
    for bar, parts in zip(bars, rows, strict=True):
        assert "".join(sorted(bar, key="01.".index)) == bar
        assert [one in bar for one, _ in FILLS] == [part > 0 for part in parts]
        assert abs(max(len(bar), 3) - max(sum(parts) / per, 3)) <= 0.5


@given(st.lists(st.tuples(LABELS, NUMBERS), min_size=1, max_size=6), WIDTHS)
def test_any_labels_are_whole_and_fit(rows: list[tuple[str, float]], width: int) -> None:
    """Folded or not, every character of a label is there, in order, left of what is drawn."""
    readings = [DrawnValue(label, value, value, value) for label, value in rows]
    words = {"value_words": "x", "interval_words": "y"}
    stacks = [Stack(label, [1, 2, 3]) for label, _ in rows]
    for drawn, n_last in (
        (plot_intervals(readings, title="t", **words, width=width), 3),
        (plot_stacks(stacks, FILLS, title="t", width=width), 3),
    ):
        assert all(cell_len(line) <= width and line == line.rstrip() for line in drawn)
        lines = drawn[1:]
        for label, _ in rows:
            whole = ""
            while whole != label:
                whole += lines.pop(0).split(" ")[0]
                assert label.startswith(whole)
        assert len(lines) <= n_last + 2


@given(st.lists(st.tuples(LABELS, st.none() | NUMBERS), min_size=1, max_size=12), WIDTHS)
def test_any_bars_fit_and_are_as_long_as_their_values(
    rows: list[tuple[str, float | None]], width: int
) -> None:
    """No line is too wide; longer bars are of greater values, and none is of an undefined one."""
    readings = [DrawnValue(label, value, reason="void") for label, value in rows]
    drawn = plot_bars(readings, title="t", heading="run", width=width)
    assert all(cell_len(line) <= width and line == line.rstrip() for line in drawn)
    assert sum("undefined:" in line for line in drawn) == sum(value is None for _, value in rows)
    shown = [line for line in drawn if "|" in line]
    defined = [value for _, value in rows if value is not None]
    ends = []
    for line, value in zip(shown, defined, strict=True):
        before, _, after = line.rpartition("|")
        n_below = len(before) - len(before.rstrip("-")) if value < 0 else 0
        assert after.strip("+") == "" if value >= 0 else after == ""
        ends.append(len(after) - n_below)
    for end, value in zip(ends, defined, strict=True):
        assert all(end <= other for other, more in zip(ends, defined, strict=True) if more >= value)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12), WIDTHS)
def test_any_intervals_fit_and_hold_their_places(rows: list[tuple[float, float, float]], width: int) -> None:
    """Dots and ends stand in the order of their numbers, within the width and over the axis."""
    readings = [DrawnValue("a", value, min(ends), max(ends)) for value, *ends in rows]
    drawn = plot_intervals(readings, title="t", value_words="x", interval_words="y", width=width)
    assert all(len(line) <= width for line in drawn)
    lines = [line for line in drawn[1:] if line.startswith("a  ")]
    dots = [line.index("o") for line in lines]
    for dot, line, reading in zip(dots, lines, readings, strict=True):
        assert reading.value is not None
        assert reading.low is not None
        if "[" in line and reading.low <= reading.value:
            assert line.index("[") < dot
        others = zip(dots, readings, strict=True)
        assert all(dot <= other for other, one in others if (one.value or 0) >= reading.value)


def test_plots_are_as_wide_as_the_terminal_up_to_120(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file or pipe has 80 columns, whatever COLUMNS says."""
    monkeypatch.setenv("COLUMNS", "100")
    assert plot_width(Terminal()) == 100
    assert plot_width(io.StringIO()) == 80
    monkeypatch.setenv("COLUMNS", "300")
    assert plot_width(Terminal()) == 120


def test_what_cannot_be_drawn_is_refused() -> None:
    """Fills differ, parts have one each, numbers are finite, and there is something to draw."""
    words = {"value_words": "x", "interval_words": "y"}
    for fills in ([("#", "a"), ("#", "b")], [("##", "a")], [("漬", "a")], [(" ", "a")]):
        with pytest.raises(ArgumentError, match="`fills` must be different characters of ASCII"):
            plot_stacks([Stack("a", [1] * len(fills))], fills, title="t")
    for stacks in ([], [Stack("a", [1, 2])]):
        with pytest.raises(ArgumentError, match="`stacks` must be one or more of 3 parts"):
            plot_stacks(stacks, FILLS, title="t")
    for value in (float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="`readings` must be finite, or `None`"):
            plot_bars([DrawnValue("a", value)], title="t")
        with pytest.raises(ArgumentError, match="`readings` must be finite, or `None`"):
            plot_intervals([DrawnValue("a", 1.0, 0.0, value)], title="t", **words)
    with pytest.raises(ArgumentError, match="`readings` must be one or more, but got 0"):
        plot_bars([], title="t")
