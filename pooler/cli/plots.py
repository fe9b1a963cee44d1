"""A Plot in characters.

Labels may be of any script: their width is that on a screen. What fits on no line goes on in the
next. A value that does not exist has its reason in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, chain, count, pairwise, zip_longest
from math import isfinite
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, TextIO

from pooler.reporting.charts.svg import AxisScale, tick_labels, ticks
from pooler.results.table import written as written_cell
from pooler.streams import PAGE, terminal_width
from store.errors import ArgumentError
from store.text import counted, sanitise_line
from store.wrapping import broken

if TYPE_CHECKING:
    from pooler.results.table import Cell, Column, Plot

MARKERS = ascii_uppercase + ascii_lowercase
SHARED = "*"
"""Stands where several curves meet."""
_MOST_TICKS = 6
"""Numbers on an axis, besides its end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Values at 0, 1, 2, ... of one thing."""

    label: str
    values: Sequence[float]
    """Not negative; at least one."""
    marker: str = ""
    """Letter of its own; default by its place among the curves."""


def plot_lines(
    curves: Sequence[Curve],
    *,
    title: str,
    x_label: str,
    places: Sequence[float] = (),
    width: int = 80,
    height: int = 20,
) -> list[str]:
    """Draw curves of one length over one pair of axes from 0.

    Every curve has a letter of its own, explained at the foot; where curves meet stands `SHARED`. A column
    shows the values at the place nearest to it, so a curve of more places than columns loses some between.
    `places`: numbers of few places, evenly apart; default 0, 1, 2, ...

    Examples
    --------
    >>> curves = [Curve("fast", [0, 3, 4, 4]), Curve("slow", [0, 1, 2, 4])]
    >>> lines = plot_lines(curves, title="found", x_label="judged", width=40, height=3)
    >>> lines[0], lines[-1]
    ('found', 'A fast  B slow  * several')
    """
    if not 1 <= len(curves) <= len(MARKERS):
        raise ArgumentError("curves", f"must be 1 to {len(MARKERS)}", len(curves))
    last = len(curves[0].values) - 1
    top = max(1.0, max(max(curve.values) for curve in curves))
    labels = {_row(value, top, height): f"{value:,}" for value in _ticks(top)}
    labels[0] = f"{top:,.0f}"
    margin = max(map(len, labels.values()))
    n_columns = width - margin - 2
    grid = [[" "] * n_columns for _ in range(height)]
    markers = [curve.marker or marker for marker, curve in zip(MARKERS, curves, strict=False)]
    for marker, curve in zip(markers, curves, strict=True):
        for column in range(n_columns):
            row = _row(curve.values[round(column * last / (n_columns - 1))], top, height)
            grid[row][column] = marker if grid[row][column] == " " else SHARED
    lines = [title]
    lines += [f"{labels.get(row, ''):>{margin}} |{''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    lines.append(" " * (margin + 1) + "+" + "-" * n_columns)
    lines.append(" " * (margin + 2) + _scale(last, n_columns, places))
    lines.append(f"{x_label:>{width}}")
    entries = [f"{marker} {curve.label}" for marker, curve in zip(markers, curves, strict=True)]
    return lines + side_by_side(entries + [f"{SHARED} several"] * (len(curves) > 1), width)


def _row(value: float, top: float, height: int) -> int:
    """Return the line of a value, from 0 at the top."""
    return height - 1 - round(value / top * (height - 1))


def _ticks(last: float) -> list[int]:
    """Return round numbers from 0 to `last`, evenly spaced by 1, 2 or 5 times a power of ten."""
    for power in count():
        for digit in (1, 2, 5):
            step = digit * 10**power
            if last / step <= _MOST_TICKS:
                return list(range(0, int(last) + 1, step))
    return []


def _scale(last: int, n_columns: int, places: Sequence[float]) -> str:
    """Write the numbers under the axis, the last one always; those of `places` where there are any."""
    cells = [" "] * n_columns
    free_until = n_columns
    for value in sorted(range(len(places)) or {*_ticks(last), last}, reverse=True):
        number = f"{places[value]:g}" if places else f"{value:,}"
        place = round(value * (n_columns - 1) / max(last, 1))
        start = min(max(place - len(number) // 2, 0), n_columns - len(number))
        if start + len(number) <= free_until:
            cells[start : start + len(number)] = number
            free_until = start - 1
    return "".join(cells).rstrip()


LEAST_AREA = 12
"""Columns that are drawn in, at least."""
_LEAST_LABEL, _GOOD_AREA = 8, 16
_GAP, _NOTE_GAP = 2, 2


@dataclass(frozen=True, slots=True)
class Layout:
    """How the columns of a terminal are shared out."""

    label: int
    area: int
    notes: tuple[int, ...]
    """Widths of the notes that fit."""

    @property
    def left(self) -> int:
        """Columns to the left of what is drawn."""
        return self.label + _GAP

    def header(self, heading: str, headings: Sequence[str]) -> list[str]:
        """Write the headings of labels and notes; nothing if there are none."""
        return self.row(heading, [""], headings) if heading or any(headings) else []

    def row(self, label: str, areas: Sequence[str], notes: Sequence[str], *, wall: str = "") -> list[str]:
        """Write one label with what is drawn and its notes.

        What is longer goes on below, notes stand in the first line.
        """
        from rich.cells import cell_len

        beside = "".join(
            " " * (_NOTE_GAP + width - cell_len(note)) + note
            for note, width in zip(notes, self.notes, strict=False)
        )
        lines = []
        for part, area in zip_longest(broken(label, self.label), areas, fillvalue=""):
            blanks = self.label - cell_len(part)
            free = self.area - cell_len(area)
            lines.append(f"{part}{' ' * blanks}{wall:>{_GAP}}{area}{' ' * free}{beside}".rstrip())
            beside = ""
        return lines


def share_out(
    labels: Sequence[str],
    notes: Sequence[Sequence[str]],
    headings: Sequence[str],
    width: int,
    *,
    least: int = LEAST_AREA,
) -> Layout:
    """Share out the columns: labels give way to what is drawn, then the last notes are left out.

    Examples
    --------
    >>> share_out(["run", "bm25-words"], [["0.31"]], ["MAP"], 80)
    Layout(label=10, area=62, notes=(4,))
    >>> share_out(["run", "bm25-words"], [["0.31"]], ["MAP"], 24)
    Layout(label=8, area=14, notes=())
    """
    from rich.cells import cell_len

    full = max(map(cell_len, labels))
    beside = [
        max(cell_len(heading), *(cell_len(one[place]) for one in notes))
        for place, heading in enumerate(headings)
    ]
    while True:
        room = width - _GAP - sum(one + _NOTE_GAP for one in beside)
        label = min(full, max(_LEAST_LABEL, min(room - _GOOD_AREA, room // 2)))
        if room - label >= least or not beside:
            return Layout(label, max(room - label, least), tuple(beside))
        beside.pop()


def side_by_side(entries: Iterable[str], width: int) -> list[str]:
    """Put entries in lines, as many as fit; one that fits in none is folded.

    Examples
    --------
    >>> side_by_side(["# judged", ". unjudged", "! cannot be judged"], 20)
    ['# judged  . unjudged', '! cannot be judged']
    """
    from rich.cells import cell_len

    lines: list[str] = []
    for entry in entries:
        if lines and cell_len(f"{lines[-1]}  {entry}") <= width:
            lines[-1] += f"  {entry}"
        else:
            lines += broken(entry, width)
    return lines


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
class DrawnValue:
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
    """Draw a bar of parts for every label; `fills` gives every part a character of ASCII and its meaning.

    The last lines say how many units a character is, and what the fills mean. A part that is not 0 has one
    character at least, at the cost of the longest part. Notes that a narrow page has no room for are left
    out, the last first; below 40 columns a line may be wider.

    Examples
    --------
    >>> stacks = [Stack("anna", [3, 9]), Stack("ben", [1, 3])]
    >>> for line in plot_stacks(stacks, [("#", "judged"), (".", "unjudged")], title="Documents"):
    ...     print(line)
    Documents
    anna |###.........
    ben  |#...
    A character is 1 document.
    # judged  . unjudged
    """
    characters = [character for character, _ in fills]
    if len({*characters}) < len(fills) or not all(len(one) == 1 and "!" <= one <= "~" for one in characters):
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
    scale += "; every part has at least one." if per > 1 else "."
    meanings = (f"{one} {what}" for one, what in fills)
    return lines + broken(scale, width) + side_by_side(meanings, width)


def plot_bars(
    readings: Sequence[DrawnValue],
    *,
    title: str,
    heading: str = "",
    headings: Sequence[str] = (),
    fill: str = FULLER,
    reach: float = 0.0,
    width: int = PAGE,
) -> list[str]:
    """Draw a bar from 0 for every label, to the right above 0 and to the left below.

    On an axis to `reach` at least.

    A bar goes to the column nearest to its value; one that is too short for a character is the line at 0
    alone.

    Examples
    --------
    >>> readings = [DrawnValue("up", 2.0), DrawnValue("down", -1.0), DrawnValue("none", None, reason="void")]
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
    readings: Sequence[DrawnValue],
    *,
    title: str,
    value_words: str,
    interval_words: str,
    heading: str = "",
    headings: Sequence[str] = (),
    width: int = PAGE,
) -> list[str]:
    """Draw a dot for every label, on its interval.

    All stands in the column nearest to it; a dot hides the end of an interval, and one of two columns or less
    with its dot in it is the dot alone.

    Examples
    --------
    >>> readings = [DrawnValue("long", 0.5, 0.1, 0.9), DrawnValue("short", 0.7, 0.6, 0.8)]
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


def _layout(readings: Sequence[DrawnValue], heading: str, headings: Sequence[str], width: int) -> Layout:
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
        per for per in chain(small, large) if all(sum(_sizes(parts, per)) <= n_columns for parts in stacks)
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


def _axis(values: Sequence[float], layout: Layout) -> tuple[AxisScale, list[str]]:
    """Return an axis from the least value to the greatest, and its two lines: ticks and numbers."""
    low, high = _ends(values)
    last = layout.area - 1
    scale = AxisScale(low, high, 0, last)
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


def _column(scale: AxisScale, value: float) -> int:
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
    readings: Sequence[DrawnValue],
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


_POINTS_WIDTH, _POINTS_HEIGHT = 72, 17
"""Columns and lines between the axes of a picture of points and a curve."""


def plot_points(plot: Plot) -> list[str]:
    """Draw the points of one column, the stepped one, and the curve of another between two axes.

    Each of the plot's words begins with the character of a line; a point hides the curve behind it.
    """
    import numpy as np

    table, (points, curve) = plot.table, plot.parts
    places: list[Any] = table.cells(str(plot.label))
    low, high = places[0], places[-1]
    width, height = _POINTS_WIDTH, _POINTS_HEIGHT
    grid = [[" "] * width for _ in range(height)]
    point, line = (words[0] for words in plot.words)
    across = [low + (high - low) * column / (width - 1) for column in range(width)]
    for column, share in enumerate(np.interp(across, places, table.data[curve])):
        grid[_row(share, 1, height)][column] = line
    for place, share in zip(places, table.cells(points), strict=True):
        if isinstance(share, float):
            column = round((place - low) / (high - low) * (width - 1))
            grid[_row(share, 1, height)][column] = point
    labels = {_row(share, 1, height): f"{share:.1f}" for share in (0.0, 0.5, 1.0)}
    lines = [plot.axis]
    lines += [f"{labels.get(row, ''):>4} |{''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    lines.append("     +" + "-" * width)
    ends = f"{low:.4f}", f"{high:.4f}"
    lines.append(f"      {ends[0]}{ends[1]:>{width - len(ends[0])}}")
    return [*lines, "   ".join(plot.words), plot.below]


def draw_plot(plot: Plot, *, width: int) -> list[str]:
    """Draw a plot in characters."""
    table = plot.table
    if plot.stepped:  # points, and a curve
        return plot_points(plot)
    if plot.kind == "lines":
        markers = [words[0] for words in plot.words] or [""] * len(plot.parts)
        curves = [
            Curve(sanitise_line(name), table.cells(name), marker)  # type: ignore[arg-type]  # numbers
            for name, marker in zip(plot.parts, markers, strict=True)
        ]
        across = table.column(str(plot.label))
        places: Any = table.cells(across.name) if across.kind == "float" else ()
        return plot_lines(curves, title=plot.title, x_label=plot.heading(), places=places, width=width)
    table = plot.rows()
    columns = [table.column(name) for name in plot.notes]
    sign = "+" if plot.kind == "bars" and not plot.reach else ""
    labels = map(sanitise_line, plot.labels())
    rows: list[tuple[str, dict[str, Any]]] = [*zip(labels, table.to_records(), strict=True)]
    words: Any = {
        "title": plot.title,
        "heading": plot.heading(),
        "headings": tuple(column.title for column in columns),
        "width": width,
    }
    if plot.kind == "stacks":
        stacks = [
            Stack(
                label=label,
                parts=[row[name] or 0 for name in plot.parts],
                notes=[_written(row[column.name], column) for column in columns],
                group=sanitise_line(str(row[plot.group])) if plot.group else "",
            )
            for label, row in rows
        ]
        fills = [(fill[0], fill[2:]) for fill in plot.words]
        return plot_stacks(stacks, fills, unit=plot.axis.removesuffix("s") or "document", **words)
    readings = [
        DrawnValue(
            label,
            _number(row[plot.value]),
            None if plot.low is None else _number(row[plot.low]),
            None if plot.high is None else _number(row[plot.high]),
            notes=tuple(_written(row[column.name], column, sign=sign) for column in columns),
            reason=str(row.get("reason") or ""),
        )
        for label, row in rows
    ]
    if plot.kind == "bars":
        return plot_bars(readings, fill="#" if plot.reach else FULLER, reach=plot.reach, **words)
    value_words, interval_words = plot.words
    lines = plot_intervals(readings, value_words=value_words, interval_words=interval_words, **words)
    return lines + (broken(plot.below, width) if plot.below else [])


def _number(cell: Cell) -> float | None:
    """Return a cell as a number; ``None`` where it is undefined."""
    return float(cell) if isinstance(cell, int | float) else None


def _written(cell: Cell, column: Column, *, sign: str = "") -> str:
    """Write a cell as the table does; a change with its sign."""
    if column.is_chance:
        return written_cell(cell, column)
    if isinstance(cell, float):
        return f"{cell:{sign}.4f}"
    return f"{cell:,}" if isinstance(cell, int) else "-"
