"""Charts: rows of bars, stacks or dots with intervals; lines; heat maps, whose darker cells hold more.

A label that is long for the room is broken, and where two lines are not enough, labels stand above
their marks. So nothing is ever cut, nor do two texts meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Literal

from pooler.pages.svg import (
    LINE,
    N_SERIES,
    N_SHADES,
    PADDING,
    SHRINKS,
    SIZE,
    Axis,
    AxisScale,
    Sheet,
    horizontal_scale,
    make_scale,
    tick_labels,
    widest,
    wrapped_label,
)
from store.errors import ArgumentError

_LABEL_SHARE, _VALUE_SHARE = 0.38, 0.3
"""Of the width, at most."""
_LEFT_LINES = 2
_ABOVE_SHARE = 0.56
_LEAST_OF_WIDTH = 0.33
"""Of the width, for the marks; labels stand above them where they would leave less."""
_EDGE_SHARE = 0.04
_ROWS_SEEN_AT_ONCE = 25
_THICKNESS = 11.0
_CAP = 4.0
ALL = slice(None)
UNDEFINED = "undefined"
NOTHING = "nothing to show"


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows."""

    label: str
    values: tuple[float, ...]
    """One a part; NaN = a gap."""
    texts: tuple[str, ...]
    """The values as they are to be read, one a line: one a part, or one for all."""
    reason: str = ""
    interval: tuple[float, ...] = ()
    """The two ends around a dot; NaN = there is none."""
    is_faint: bool = False
    """Drawn in grey, as of too little to say much."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return all(map(math.isfinite, (*self.values, *self.interval)))


@dataclass(frozen=True, slots=True)
class Rows:
    """A chart of horizontal bars, or of dots with intervals."""

    title: str
    description: str
    axis: Axis
    rows: tuple[Row, ...]
    kind: Literal["bars", "stacks", "dots"] = "bars"
    """The values of a row below each other, end to end (and then not negative), or one as a dot."""
    parts: tuple[str, ...] = ("",)
    """Names of the values of a row; explained above the chart where there are several."""

    def ends(self) -> Iterator[float]:
        """Yield every value that the axis has to reach."""
        if self.kind != "dots":
            yield 0.0
        for row in self.rows:
            yield from (sum(row.values),) if self.kind == "stacks" else row.values
            if row.is_whole:
                yield from row.interval


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Where one row stands: a head, from `start` to `end` a block with the marks, the reason of a gap."""

    label: list[str]
    values: list[str]
    reason: list[str]
    top: float
    start: float
    end: float
    bottom: float
    is_faint: bool

    @property
    def middle(self) -> float:
        """The middle of the marks."""
        return (self.start + self.end) / 2


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where rows stand."""

    rows: list[PlacedRow]
    left: float
    right: float
    labels_above: bool
    values_above: bool

    def spans(self) -> list[tuple[float, float]]:
        """Return the heights that hold marks and no text."""
        found: list[tuple[float, float]] = []
        for row in self.rows:
            start = row.start
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, row.end))
        return found


def draw_rows(chart: Rows, *, width: float, key: str, rows: slice) -> str:
    """Draw bars of up to six parts, or dots; some `rows` with the axis and columns of the whole chart."""
    if len(chart.parts) > N_SERIES:
        raise ArgumentError("parts", f"must be 1 to {N_SERIES}", len(chart.parts))
    sheet = Sheet(width, key)
    shown = chart.rows[rows]
    is_long = len(shown) > _ROWS_SEEN_AT_ONCE
    n_lanes = len(chart.parts) if chart.kind == "bars" else 1
    top = sheet.legend(chart.parts, are_lines=False) + (LINE + PADDING) * is_long
    layout = _lay_out(chart.rows, shown, width, LINE * n_lanes, top)
    scale = horizontal_scale(chart.ends(), chart.axis, layout.left, layout.right)
    for placed in layout.rows[1::2]:
        sheet.rectangle(0, placed.top, width, placed.bottom - placed.top, "band")
    if is_long:
        sheet.horizontal_numbers(scale, top - LINE - PADDING)
    bottom = layout.rows[-1].bottom if shown else top
    end = sheet.horizontal_axis(scale, layout.spans(), bottom, chart.axis.label)
    _write_texts(sheet, layout)
    for row, placed in zip(shown, layout.rows, strict=True):
        if chart.kind == "dots":
            _draw_dot(sheet, scale, row, placed.middle)
        else:
            _draw_bars(sheet, scale, row, placed.middle, is_stacked=chart.kind == "stacks")
    if not shown:
        end = sheet.notes([NOTHING], end)
    elif chart.kind != "dots" and (zero := scale.place(0.0)) > scale.start:
        for start, stop in layout.spans():
            sheet.line(zero, start, zero, stop, "axis")
    return sheet.finished(chart.title, chart.description, end)


def _lay_out(
    rows: Sequence[Row], shown: Sequence[Row], width: float, mark_height: float, top: float
) -> RowLayout:
    label_room = min(widest(row.label for row in rows), _LABEL_SHARE * width)
    value_room = min(widest(text for row in rows for text in row.texts), _VALUE_SHARE * width)
    left, right = label_room + 2 * PADDING, width - value_room - 3 * PADDING
    most_lines = max((len(wrapped_label(row.label, label_room)) for row in rows), default=0)
    labels_above = most_lines > _LEFT_LINES or right - left < _LEAST_OF_WIDTH * width
    values_above = labels_above and all(len(row.texts) == 1 for row in rows)
    if labels_above:
        left, label_room = _EDGE_SHARE * width, width
    if values_above:
        value_room = min(widest(text for row in rows for text in row.texts), _ABOVE_SHARE * width)
        right, label_room = width - SIZE, width - value_room - 2 * PADDING
    placed = []
    for row in shown:
        label = wrapped_label(row.label, label_room)
        values = [line for text in row.texts for line in wrapped_label(text, value_room)]
        reason = [] if row.is_whole else wrapped_label(row.reason or UNDEFINED, width - left)
        above = (len(label) * labels_above, len(values) * values_above)
        beside = (len(label) * (not labels_above), len(values) * (not values_above))
        start = top + LINE * max(above)
        end = start + max(mark_height, LINE * max(beside)) + PADDING
        bottom = end + LINE * len(reason)
        placed.append(PlacedRow(label, values, reason, top, start, end, bottom, row.is_faint))
        top = bottom
    return RowLayout(placed, left, right, labels_above, values_above)


def _write_texts(sheet: Sheet, layout: RowLayout) -> None:
    for row in layout.rows:
        classes = "soft" if row.is_faint else ""
        if layout.labels_above:
            sheet.lines(0, row.top, row.label, classes=classes)
        else:
            start = row.middle - LINE * len(row.label) / 2
            sheet.lines(layout.left - 2 * PADDING, start, row.label, anchor="end", classes=classes)
        start = row.top if layout.values_above else row.middle - LINE * len(row.values) / 2
        sheet.lines(sheet.width, start, row.values, anchor="end", classes=classes)
        sheet.lines(layout.left, row.end, row.reason, classes="soft")


def _draw_bars(sheet: Sheet, scale: AxisScale, row: Row, middle: float, *, is_stacked: bool) -> None:
    """Draw values from zero below each other, or end to end: then none of them if one is missing."""
    step = 0.0 if is_stacked else LINE
    values = (math.nan,) if is_stacked and not math.isfinite(sum(row.values)) else row.values
    starts = accumulate(values, initial=0.0) if is_stacked else [0.0] * len(values)
    for series, (start, value) in enumerate(zip(starts, values, strict=False)):
        y = middle + step * (series - (len(values) - 1) / 2) - _THICKNESS / 2
        left = scale.place(start)
        if not math.isfinite(value):
            sheet.rectangle(left, y, SIZE, _THICKNESS, "gap")
            continue
        right = scale.place(start + value)
        sheet.bar(min(left, right), y, abs(right - left), _THICKNESS, series)


def _draw_dot(sheet: Sheet, scale: AxisScale, row: Row, middle: float) -> None:
    [value] = row.values
    if not math.isfinite(value):
        sheet.rectangle(scale.start, middle - SIZE / 2, SIZE, SIZE, "gap")
        return
    if row.interval and row.is_whole:
        colour = "faint thick" if row.is_faint else "line-1 thick"
        low, high = map(scale.place, row.interval)
        sheet.line(low, middle, high, middle, colour)
        for place in (low, high):
            sheet.line(place, middle - _CAP, place, middle + _CAP, colour)
    sheet.marker(scale.place(value), middle, 0, "faint" if row.is_faint else "")


_MOST_MARKERS = 12
_FIELD = 260.0


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One series."""

    label: str
    points: tuple[tuple[float, float], ...]
    """x ascends; a point that is not finite = a gap."""
    is_stepped: bool = False
    """The value stays until the next point, as that of an empirical distribution."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """A chart of lines over one pair of axes."""

    title: str
    description: str
    x_axis: Axis
    y_axis: Axis
    lines: tuple[ChartLine, ...]
    """At most six; told apart by colour, dashes and markers."""


def draw_lines(chart: LineChart, *, width: float, key: str) -> str:
    """Draw one to six lines as one `<svg>` element."""
    sheet = Sheet(width, key)
    top = sheet.legend([line.label for line in chart.lines], are_lines=True)
    whole = [point for line in chart.lines for point in line.points if _is_drawn(point)]
    top = sheet.lines(0, top, wrapped_label(chart.y_axis.label, width), classes="soft") + LINE
    bottom = top + _FIELD
    up = make_scale([y for _, y in whole], chart.y_axis, bottom, top)
    left = widest(tick_labels(up.marks)) + 3 * PADDING
    sheet.vertical_axis(up, left)
    across = horizontal_scale([x for x, _ in whole], chart.x_axis, left, width - SIZE)
    end = sheet.horizontal_axis(across, [(top, bottom)], bottom, chart.x_axis.label)
    for series, line in enumerate(chart.lines):
        for is_drawn, stretch in groupby(line.points, _is_drawn):
            if is_drawn:
                places = [(across.place(x), up.place(y)) for x, y in stretch]
                _draw_stretch(sheet, places, series, is_stepped=line.is_stepped)
    return sheet.finished(chart.title, chart.description, sheet.notes(_notes(chart), end))


def _draw_stretch(sheet: Sheet, places: list[tuple[float, float]], series: int, *, is_stepped: bool) -> None:
    path = places[:1]
    for before, after in pairwise(places):
        path += [(after[0], before[1]), after] if is_stepped else [after]
    if len(path) > 1:
        sheet.path(path, series)
    # Those of several lines are moved against each other, so that they do not all coincide.
    every = max(1, math.ceil(len(places) / _MOST_MARKERS))
    first = series * every // N_SERIES if len(places) > _MOST_MARKERS else 0
    for x, y in places[first::every]:
        sheet.marker(x, y, series)


def _notes(chart: LineChart) -> Iterator[str]:
    for line in chart.lines:
        missing = sum(not _is_drawn(point) for point in line.points)
        if missing or not line.points:
            label = f"{line.label}: " if line.label else ""
            yield f"{label}{missing or 'all'} missing: {UNDEFINED}"


def _is_drawn(point: tuple[float, float]) -> bool:
    return all(map(math.isfinite, point))


_LEAST_CELL, _MOST_CELL = 44.0, 110.0
_MOST_WORD = 80.0
"""A word of a heading is broken where it is wider."""
_ROW_LABEL_SHARE = 0.32


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of numbers to be seen as shades; rows and columns are the same things in the same order."""

    title: str
    description: str
    row_title: str
    """What the rows are, as the grades of one judge."""
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """One tuple a row; not negative; NaN = a gap."""
    texts: tuple[tuple[str, ...], ...]
    reason: str = ""


def draw_heat_map(chart: HeatMap, *, width: float, key: str) -> str:
    """Draw a heat map as one `<svg>` element, wider than `width` where its cells need that."""
    words = max(widest(label.split()) for label in (*chart.rows, *chart.columns, ""))
    least = min(max(widest(text for row in chart.texts for text in row), words), _MOST_WORD)
    cell = max(least + 2 * PADDING, _LEAST_CELL)
    # Labels of rows give way to the cells, as far as the longest word.
    rest = width - cell * len(chart.columns) - 3 * PADDING
    label_room = min(widest(chart.rows), _ROW_LABEL_SHARE * width)
    if max(rest, least) - rest <= (SHRINKS - 1) * width:
        label_room = min(label_room, max(rest, least))
    labels = [wrapped_label(label, label_room) for label in chart.rows]
    left = label_room + 2 * PADDING
    content = max((widest(row) for row in chart.texts), default=0.0)
    share = (width - left - PADDING) / max(1, len(chart.columns))
    cell = max(cell, content + 2 * PADDING, min(share, _MOST_CELL))
    sheet = Sheet(max(width, left + cell * len(chart.columns) + PADDING), key)
    top = 0.0
    for word, name in (("Rows", chart.row_title), ("Columns", chart.column_title)):
        top = sheet.lines(0, top, wrapped_label(f"{word}: {name}", width), classes="soft")
    headings = [wrapped_label(label, cell - 2 * PADDING) for label in chart.columns]
    head = LINE * max(map(len, headings), default=0)
    for number, lines in enumerate(headings):
        start = top + PADDING + head - LINE * len(lines)
        sheet.lines(left + cell * (number + 0.5), start, lines, anchor="middle")
    top += head + 2 * PADDING
    every = [value for row in chart.values for value in row]
    largest = max(filter(math.isfinite, every), default=0)
    for row, (label, values, texts) in enumerate(zip(labels, chart.values, chart.texts, strict=True)):
        height = max(2 * LINE, LINE * len(label) + PADDING)
        middle = top + height / 2
        sheet.lines(left - 2 * PADDING, middle - LINE * len(label) / 2, label, anchor="end")
        for column, (value, text) in enumerate(zip(values, texts, strict=True)):
            x = left + cell * column
            shade = _shade(value, largest)
            sheet.rectangle(x, top, cell, height, f"shade-{shade}" if shade else "gap")
            sheet.text(x + cell / 2, middle, text, anchor="middle", classes=f"on-{shade or 1}")
            if row == column:
                sheet.rectangle(x + 4, top + 4, cell - 8, height - 8, f"same-{shade or 1}")
        top += height
    missing = len(every) - sum(map(math.isfinite, every))
    notes = [f"{missing} missing: {chart.reason or UNDEFINED}"] if missing else []
    notes.append("framed: both the same" if chart.rows and chart.columns else NOTHING)
    return sheet.finished(chart.title, chart.description, sheet.notes(notes, top + PADDING))


def _shade(value: float, largest: float) -> int:
    """Return the shade of a value: 1 for nothing, then by its logarithm; 0 = a gap.

    Judges agree on most of what is not relevant: beside that one cell, counts would be alike.
    Numbers up to 1 are shares or coefficients, and go by themselves.
    """
    if not math.isfinite(value):
        return 0
    if value <= 0:
        return 1
    share = value / largest if largest <= 1 else math.log1p(value) / math.log1p(largest)
    return min(2 + int((N_SHADES - 1) * share), N_SHADES)


Chart = Rows | HeatMap | LineChart
ROWS_OF_A_PIECE = 40


def draw(chart: Chart, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw a chart, some rows of bars and dots, as one `<svg>` element of well-formed XML."""
    match chart:
        case Rows():
            return draw_rows(chart, width=width, key=key, rows=rows)
        case LineChart():
            return draw_lines(chart, width=width, key=key)
        case HeatMap():
            return draw_heat_map(chart, width=width, key=key)


def draw_in_pieces(chart: Chart, *, width: float, key: str) -> list[str]:
    """Draw a chart of many rows as several elements, with axes and columns alike."""
    most, n_rows = ROWS_OF_A_PIECE, len(chart.rows) if isinstance(chart, Rows) else 0
    if isinstance(chart, Rows) and chart.kind == "bars":
        most = max(1, most // len(chart.parts))
    if not isinstance(chart, Rows) or n_rows <= most:
        return [draw(chart, width=width, key=key)]
    size = math.ceil(n_rows / math.ceil(n_rows / most))
    found = []
    for first in range(0, n_rows, size):
        last = min(first + size, n_rows)
        piece = replace(chart, title=f"{chart.title}, rows {first + 1} to {last} of {n_rows}")
        found.append(draw(piece, width=width, key=f"{key}-{first + 1}", rows=slice(first, last)))
    return found
