"""Bars, and dots with intervals, in plain characters: a line a label, for terminals and pipes.

Labels may be of any script: their width is that on a screen. What fits on no line goes on in the
next. A value that does not exist has its reason in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, chain, count, pairwise
from math import isfinite
from typing import TextIO

from pooler.cli.console import Format, counted
from pooler.cli.line_breaks import PAGE, broken, terminal_width
from pooler.cli.plot_rows import LEAST_AREA, Layout, share_out, side_by_side
from pooler.report.scales import Scale, tick_labels, ticks
from store.errors import ArgumentError

FULLER, SMALLER = "+", "-"
"""What bars above and below 0 are filled with."""
_WALL = "|"
"""Where bars begin."""
_DOT, _LOW, _LINE, _HIGH = "o", "[", "-", "]"
_TICK = "+"
_MOST_WIDE = 120
"""Columns of a plot on a terminal that has more."""
_LONG = 20
"""Readings above which an axis stands at both ends."""
_NUMBER_GAP = 2
"""Blanks between numbers along an axis, at least."""
_LEAST_SHARE = Decimal("1e-9")
"""An axis is not shorter than this share of its numbers: they could not be told apart."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A bar of several parts."""

    label: str
    parts: Sequence[int]
    """A count for every fill, 0 or more."""
    notes: Sequence[str] = ()
    """Beside the bar, to the right: one for every heading."""
    group: str = ""
    """Stands once above the bars that follow one another in it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A number, and an interval if it has one."""

    label: str
    value: float | None
    """Finite; ``None`` = undefined."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval; the value may lie outside. ``None`` = there is none."""
    notes: Sequence[str] = ()
    """Beside it, to the right: one for every heading."""
    reason: str = ""
    """Why there is no value."""


def check_plot(fmt: Format) -> None:
    """Raise `ArgumentError` when `--plot` was given and the result is for programs."""
    if fmt is not Format.TABLE:
        raise ArgumentError("--plot", "is for people: it needs --format table", fmt.value)


def plot_width(stream: TextIO) -> int:
    """Return how wide a plot may be: as the terminal, 120 at most; `PAGE` in files and pipes."""
    return min(terminal_width(stream), _MOST_WIDE) if stream.isatty() else PAGE


def plot_stacks(
    stacks: Sequence[Stack],
    fills: Sequence[tuple[str, str]],
    *,
    title: str,
    heading: str = "",
    headings: Sequence[str] = (),
    unit: str = "document",
    width: int = PAGE,
) -> list[str]:
    """Draw a bar of parts for every label.

    Parameters
    ----------
    stacks : sequence of Stack
        At least one.
    fills : sequence of (str, str)
        For every part one character of ASCII, different from the others, and what it stands for.
    title : str
        Says what is counted.
    heading : str, optional
        Of the labels.
    headings : sequence of str
        Of the notes; those that a narrow page has no room for are left out, the last first.
    unit : str, default="document"
        What is counted, in the singular.
    width : int, default=PAGE
        Columns of a terminal, 40 or more; with less, a line may be wider.

    Returns
    -------
    list of str
        Lines without blanks at their ends; the last ones say how many units a character is, and
        what the fills mean. A part that is not 0 has one character at least, at
        the cost of the longest part.

    Raises
    ------
    ArgumentError
        If there is no stack, a stack has not a part for every fill, or fills are not different
        single characters.

    Examples
    --------
    >>> stacks = [Stack("anna", [3, 9]), Stack("ben", [1, 3])]
    >>> for line in plot_stacks(stacks, [("#", "judged"), (".", "unjudged")], title="Standing"):
    ...     print(line)
    Standing
    anna |###.........
    ben  |#...
    A character is 1 document.
    # judged  . unjudged
    """
    characters = [character for character, _ in fills]
    if len({*characters}) < len(fills) or not all(
        len(one) == 1 and "!" <= one <= "~" for one in characters
    ):
        raise ArgumentError("fills", "must be different characters of ASCII", characters)
    if not stacks or {len(stack.parts) for stack in stacks} != {len(fills)}:
        raise ArgumentError("stacks", f"must be one or more of {len(fills)} parts", len(stacks))
    labels = [heading, *(stack.label for stack in stacks)]
    notes = [stack.notes for stack in stacks]
    layout = share_out(labels, notes, headings, width, least=max(LEAST_AREA, len(fills)))
    per = _per_character([stack.parts for stack in stacks], layout.area)
    lines = [*broken(title, width), *layout.header(heading, headings)]
    group = ""
    for stack in stacks:
        if stack.group != group:
            group = stack.group
            lines += broken(group, width)
        sizes = _sizes(stack.parts, per)
        bar = "".join(one * size for one, size in zip(characters, sizes, strict=True))
        lines += layout.row(stack.label, [bar], stack.notes, wall=_WALL)
    scale = f"A character is {counted(per, unit)}"
    scale += "; every part has one at least." if per > 1 else "."
    meanings = (f"{one} {what}" for one, what in fills)
    return lines + broken(scale, width) + side_by_side(meanings, width)


def plot_bars(
    readings: Sequence[Reading],
    *,
    title: str,
    heading: str = "",
    headings: Sequence[str] = (),
    fill: str = FULLER,
    reach: float = 0.0,
    width: int = PAGE,
) -> list[str]:
    """Draw a bar from 0 for every label, to the right above 0 and to the left below.

    Parameters
    ----------
    readings : sequence of Reading
        At least one; intervals are not drawn.
    title : str
        Says what is measured.
    heading : str, optional
        Of the labels.
    headings : sequence of str
        Of the notes; those that a narrow page has no room for are left out, the last first.
    fill : str, default=FULLER
        Of bars above 0; those below have `SMALLER`.
    reach : float, default=0
        The axis goes at least so far, from 0.
    width : int, default=PAGE
        Columns of a terminal, 40 or more; with less, a line may be wider.

    Returns
    -------
    list of str
        Lines without blanks at their ends. A bar goes to the column nearest to its value; one
        that is too short for a character is the line at 0 alone.

    Raises
    ------
    ArgumentError
        If there is no reading, or a value is not finite.

    Examples
    --------
    >>> readings = [Reading("up", 2.0), Reading("down", -1.0), Reading("none", None, reason="void")]
    >>> for line in plot_bars(readings, title="Change", width=28):
    ...     print(line)
    Change
    up           |++++++++++++++
    down  -------|
    none  undefined: void
          +------+------+------+
         -1      0      1      2
    """
    values = _finite([reading.value for reading in readings])
    layout = _layout(readings, heading, headings, width)
    scale, axis = _axis([0.0, reach, *values], layout)
    zero = _column(scale, 0.0)
    drawn = []
    for reading in readings:
        area = [" "] * layout.area
        area[zero] = _WALL
        if reading.value is not None:
            end = _column(scale, reading.value)
            area[zero + 1 : end + 1] = fill * (end - zero)
            area[min(end, zero) : zero] = SMALLER * (zero - end)
        drawn.append("".join(area))
    header = [*broken(title, width), *layout.header(heading, headings)]
    return _framed(readings, drawn, axis if values else [], layout, header)


def plot_intervals(
    readings: Sequence[Reading],
    *,
    title: str,
    value_words: str,
    interval_words: str,
    heading: str = "",
    headings: Sequence[str] = (),
    width: int = PAGE,
) -> list[str]:
    """Draw a dot for every label, on its interval.

    Parameters
    ----------
    readings : sequence of Reading
        At least one.
    title : str
        Says what is measured.
    value_words, interval_words : str
        What dots and intervals are, for the foot.
    heading : str, optional
        Of the labels.
    headings : sequence of str
        Of the notes; those that a narrow page has no room for are left out, the last first.
    width : int, default=PAGE
        Columns of a terminal, 40 or more; with less, a line may be wider.

    Returns
    -------
    list of str
        Lines without blanks at their ends. All stands in the column nearest to it; a dot hides
        the end of an interval, and one of two columns or less with its dot in it is the dot alone.

    Raises
    ------
    ArgumentError
        If there is no reading, or a number is not finite.

    Examples
    --------
    >>> readings = [Reading("long", 0.5, 0.1, 0.9), Reading("short", 0.7, 0.6, 0.8)]
    >>> words = {"value_words": "MAP", "interval_words": "its limits"}
    >>> for line in plot_intervals(readings, title="MAP", **words, width=28):
    ...     print(line)
    MAP
    long   [---------o---------]
    short               [-o--]
           ---+----+----+----+--
             0.2  0.4  0.6  0.8
    o MAP  [---] its limits
    """
    ends = [end for one in readings for end in (one.value, one.low, one.high)]
    values = _finite(ends)
    layout = _layout(readings, heading, headings, width)
    scale, axis = _axis(values or [0.0], layout)
    drawn = []
    for reading in readings:
        area = [" "] * layout.area
        dot = None if reading.value is None else _column(scale, reading.value)
        if reading.low is not None and reading.high is not None:
            low, high = _column(scale, reading.low), _column(scale, reading.high)
            if high - low > 1 or dot is None or not low <= dot <= high:
                area[low : high + 1] = _LINE * (high + 1 - low)
                area[high], area[low] = _HIGH, _LOW
        if dot is not None:
            area[dot] = _DOT
        drawn.append("".join(area))
    header = [*broken(title, width), *layout.header(heading, headings)]
    entries = f"{_DOT} {value_words}", f"{_LOW}{_LINE * 3}{_HIGH} {interval_words}"
    legend = side_by_side(entries, width) if values else []
    return _framed(readings, drawn, axis if values else [], layout, header) + legend


def _finite(values: Iterable[float | None]) -> list[float]:
    """Return the numbers among values; raise `ArgumentError` if one is not finite."""
    found = [value for value in values if value is not None]
    if not all(map(isfinite, found)):
        raise ArgumentError("readings", "must be finite, or `None`", found)
    return found


def _layout(
    readings: Sequence[Reading], heading: str, headings: Sequence[str], width: int
) -> Layout:
    """Share out the columns; raise `ArgumentError` where there is nothing to draw."""
    if not readings:
        raise ArgumentError("readings", "must be one or more", 0)
    labels = [heading, *(one.label for one in readings)]
    return share_out(labels, [one.notes for one in readings], headings, width)


def _per_character(stacks: Sequence[Sequence[int]], n_columns: int) -> int:
    """Return the least number of units a character, of two digits and zeros, so that bars fit."""
    small = range(1, 100)
    large = (int(number * 10**power) for power in count(1) for number in range(10, 100))
    return next(
        per
        for per in chain(small, large)
        if all(sum(_sizes(parts, per)) <= n_columns for parts in stacks)
    )


def _sizes(parts: Sequence[int], per: int) -> list[int]:
    """Return the characters of every part: the whole to the nearest, and no part without any."""
    ends = [(2 * end + per) // (2 * per) for end in accumulate(parts)]
    sizes = [end - start for start, end in pairwise([0, *ends])]
    for place, part in enumerate(parts):
        if part and not sizes[place]:
            longest = sizes.index(max(sizes))
            sizes[longest] -= sizes[longest] > 1
            sizes[place] = 1
    return sizes


def _axis(values: Sequence[float], layout: Layout) -> tuple[Scale, list[str]]:
    """Return an axis from the least value to the greatest, and its two lines: ticks and numbers."""
    low, high = _ends(values)
    last = layout.area - 1
    scale = Scale(low, high, 0, last)
    best, axis = (False, False, 0), [""]
    for most in range(8, 2, -1):
        marks = ticks(low, high, most=most)
        columns = [_column(scale, float(mark)) for mark in marks]
        numbers, written = _numbers(columns, tick_labels(marks), layout)
        rank = len(written) > 1, len(written) == len(marks), len(written)
        if rank >= best:
            line = "".join(_TICK if column in written else _LINE for column in range(last + 1))
            best, axis = rank, [" " * layout.left + line, numbers]
    return scale, axis


def _column(scale: Scale, value: float) -> int:
    """Return the column nearest to a value; of two the right one."""
    return int(scale.place(value) + 0.5)


def _ends(values: Sequence[float]) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest value, apart even where they are the same."""
    low, high = Decimal(min(values)), Decimal(max(values))
    largest = max(abs(low), abs(high))
    if high - low > largest * _LEAST_SHARE:
        return low, high
    return (low, Decimal(1)) if not largest else (low - largest / 10, high + largest / 10)


def _numbers(columns: Sequence[int], texts: Sequence[str], layout: Layout) -> tuple[str, list[int]]:
    """Write numbers below their columns but those that touch another; return the columns, too."""
    line, written = "", []
    for column, text in zip(columns, texts, strict=True):
        end = layout.left + min(column - len(text) // 2 + len(text), layout.area)
        if end - len(text) >= (len(line) + _NUMBER_GAP if line else 0):
            line = f"{line}{text:>{end - len(line)}}"
            written.append(column)
    return line, written


def _framed(
    readings: Sequence[Reading],
    drawn: Sequence[str],
    axis: Sequence[str],
    layout: Layout,
    header: Sequence[str],
) -> list[str]:
    """Put labels, notes and the axis around what is drawn; the axis at both ends if it is long."""
    lines = [*header, *(reversed(axis) if len(readings) > _LONG else ())]
    for reading, area in zip(readings, drawn, strict=True):
        areas = [area]
        if reading.value is None:
            words = f"undefined: {reading.reason}" if reading.reason else "undefined"
            areas = broken(words, layout.area)
        lines += layout.row(reading.label, areas, reading.notes)
    return [*lines, *axis]
