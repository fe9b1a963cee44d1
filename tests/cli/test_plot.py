"""Curves in plain characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.cli.plots import MARKERS, Curve, plot_lines
from store.errors import ArgumentError


def test_plot_by_hand() -> None:
    """Two curves over 0 to 36, one a column: every character is where a pencil would put it.

    Five lines stand for 9, 6.75, 4.5, 2.25 and 0; a value goes to the nearest. So the fast curve,
    1 a place, takes two places a line, and the slow one, 1/4 a place, nine: 5 to 13, 14 to 22, 23
    to 31. Round numbers 0, 2, 4, 6, 8 go up the side; 8 falls on the line of the end, 9.
    To the right the second digit of a number stands on its place.
    """
    fast = [min(place, 9) for place in range(37)]
    slow = [place / 4 for place in range(37)]
    drawn = plot_lines(
        [Curve("fast", fast), Curve("slow", slow)],
        title="found", x_label="judged", width=40, height=5,
    )  # fmt: skip
    assert drawn == [
        "found",
        "9 |        AAAAAAAAAAAAAAAAAAAAAAAA*****",
        "6 |      AA               BBBBBBBBB",
        "4 |    AA        BBBBBBBBB",
        "2 |  AA BBBBBBBBB",
        "0 |**BBB",
        "  +" + "-" * 37,
        "   0        10        20        30    36",
        "                                  judged",
        "A fast  B slow  * several",
    ]


def test_one_curve_needs_no_mark_for_several() -> None:
    """A single curve is explained alone; of nothing but zeros, it lies on the axis."""
    drawn = plot_lines([Curve("take", [0, 0, 0])], title="t", x_label="x", width=40, height=2)
    assert drawn == [
        "t",
        "1 |",
        "0 |" + "A" * 37,
        "  +" + "-" * 37,
        "   0                 1                 2",
        " " * 39 + "x",
        "A take",
    ]


def test_places_have_their_own_numbers_and_curves_their_own_letters() -> None:
    """Three places over 21 columns: 0 at the first, 0.5 around the eleventh, 1 at the last."""
    drawn = plot_lines(
        [Curve("b", [1, 1, 1], "B")], title="t", x_label="recall", places=[0.0, 0.5, 1.0], width=24, height=2
    )
    assert drawn == [
        "t",
        "1 |" + "B" * 21,
        "0 |",
        "  +" + "-" * 21,
        "   0        0.5        1",
        "                  recall",
        "B b",
    ]


def test_long_legend_is_folded() -> None:
    """Entries that do not fit go to the next line whole."""
    curves = [Curve(f"strategy-{number}", [0, number]) for number in range(4)]
    drawn = plot_lines(curves, title="t", x_label="x", width=40, height=3)
    assert drawn[-3:] == [
        " " * 39 + "x",
        "A strategy-0  B strategy-1  C strategy-2",
        "D strategy-3  * several",
    ]


def test_large_numbers_have_separators_and_do_not_touch() -> None:
    """Thousands are set apart; a number too near the last one is left out."""
    drawn = plot_lines([Curve("a", [0.0] * 12_000 + [2_318.0])], title="t", x_label="x", width=60, height=20)
    assert drawn[1].startswith("2,318 |")
    assert drawn[-3].split() == ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]
    near = plot_lines([Curve("a", list(range(358)))], title="t", x_label="x")
    assert near[-3].split() == ["0", "100", "200", "300", "357"]
    nearer = plot_lines([Curve("a", list(range(304)))], title="t", x_label="x")
    assert nearer[-3].split() == ["0", "100", "200", "303"]


@given(
    st.integers(1, 60).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 10**6), min_size=size, max_size=size), min_size=1, max_size=12
        )
    ),
    st.integers(40, 100),
    st.integers(2, 30),
)
def test_any_curves_fit_the_width_and_show_their_letter_or_meet(
    values: list[list[int]], width: int, height: int
) -> None:
    """No line is longer than the width, all are plain, and a curve shows in every column."""
    curves = [Curve("x", one) for one in values]
    drawn = plot_lines(curves, title="t", x_label="x", width=width, height=height)
    assert max(map(len, drawn)) <= width
    assert all(line.isascii() and line == line.rstrip() for line in drawn)
    body = [line.partition("|")[2] for line in drawn[1 : height + 1]]
    margin = drawn[height + 1].index("+") + 1
    assert all(
        any(len(line) > column and line[column] != " " for line in body) for column in range(width - margin)
    )
    if len(curves) == 1:
        assert sum(len(line.replace(" ", "")) for line in body) == width - margin


def test_more_curves_than_letters_are_refused() -> None:
    """Two curves never share a letter."""
    curves = [Curve(str(number), [0.0, 1.0]) for number in range(len(MARKERS) + 1)]
    assert len(plot_lines(curves[:-1], title="t", x_label="x")) > 20
    with pytest.raises(ArgumentError, match="`curves` must be 1 to 52, but got 53"):
        plot_lines(curves, title="t", x_label="x")
    with pytest.raises(ArgumentError, match="`curves` must be 1 to 52, but got 0"):
        plot_lines([], title="t", x_label="x")
