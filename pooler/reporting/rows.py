"""Charts of rows: bars, stacks, dots with intervals.

A label that is long for the room is broken, and where two lines are not enough, labels stand above
their marks. So nothing is ever cut, nor do two texts meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from pooler.reporting.drawing import (
    LINE,
    N_SERIES,
    PADDING,
    SIZE,
    Axis,
    AxisScale,
    Sheet,
    horizontal_scale,
    widest,
    wrapped_label,
)
from store.errors import ArgumentError

_LABEL_SHARE, _VALUE_SHARE = 0.38, 0.3
"""Of the width, at most."""
_LEFT_LINES = 2
"""Lines of a label at the left, at most."""
_ABOVE_SHARE = 0.56
"""Of the width, for values above their marks, at most."""
_LEAST_OF_WIDTH = 0.33
"""Of the width, for the marks; labels stand above them where they would leave less."""
_EDGE_SHARE = 0.04
"""How far right the marks begin where labels stand above them."""
_ROWS_SEEN_AT_ONCE = 25
ALL = slice(None)
UNDEFINED = "undefined"
"""Stands for the reason of a gap where none was given."""
NOTHING = "nothing to show"
"""Stands below a chart without data."""


@dataclass(frozen=True, slots=True)
class RowText:
    """What is written in one row."""

    label: str
    values: tuple[str, ...]
    """One a line."""
    reason: str
    """Why something of the row has no value; empty = all have one."""
    is_faint: bool = False
    """Written in grey."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Where one row stands: a head, a block with the marks, and the reason of a gap."""

    label: list[str]
    values: list[str]
    reason: list[str]
    top: float
    head: float
    """Height of what stands above the marks."""
    block: float
    is_faint: bool

    @property
    def middle(self) -> float:
        """Return the middle of the marks."""
        return self.top + self.head + self.block / 2

    @property
    def end(self) -> float:
        """Return where the block ends."""
        return self.top + self.head + self.block

    @property
    def bottom(self) -> float:
        """Return where the row ends."""
        return self.end + LINE * len(self.reason)


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where all rows stand, from height 0 on."""

    rows: list[PlacedRow]
    left: float
    """Where marks begin."""
    right: float
    """Where marks end."""
    labels_above: bool
    """Labels stand above their marks, not at their left."""
    values_above: bool
    """Values stand above their marks, not at their right."""

    @property
    def height(self) -> float:
        """Return the height of all rows."""
        return self.rows[-1].bottom if self.rows else 0.0

    def part(self, rows: slice) -> RowLayout:
        """Return some of the rows, from height 0 on, with room for the labels of all."""
        kept = self.rows[rows]
        start = kept[0].top if kept else 0.0
        return replace(self, rows=[replace(row, top=row.top - start) for row in kept])

    def spans(self, top: float) -> list[tuple[float, float]]:
        """Return the heights that hold marks and no text, from the top of the chart."""
        found: list[tuple[float, float]] = []
        for row in self.rows:
            start, stop = top + row.top + row.head, top + row.end
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, stop))
        return found


def lay_out(texts: Sequence[RowText], width: float, mark_height: float) -> RowLayout:
    """Find the room of every row."""
    label_room = min(widest(row.label for row in texts), _LABEL_SHARE * width)
    value_room = min(widest(text for row in texts for text in row.values), _VALUE_SHARE * width)
    left, right = label_room + 2 * PADDING, width - value_room - 3 * PADDING
    most_lines = max((len(wrapped_label(row.label, label_room, SIZE)) for row in texts), default=0)
    labels_above = most_lines > _LEFT_LINES or right - left < _LEAST_OF_WIDTH * width
    values_above = labels_above and all(len(row.values) == 1 for row in texts)
    if labels_above:
        left, label_room = _EDGE_SHARE * width, width
    if values_above:
        value_room = min(widest(text for row in texts for text in row.values), _ABOVE_SHARE * width)
        right, label_room = width - SIZE, width - value_room - 2 * PADDING
    rows, top = [], 0.0
    for row in texts:
        label = wrapped_label(row.label, label_room, SIZE)
        values = [line for text in row.values for line in wrapped_label(text, value_room, SIZE)]
        reason = wrapped_label(row.reason, width - left, SIZE) if row.reason else []
        above = (len(label) * labels_above, len(values) * values_above)
        beside = (len(label) * (not labels_above), len(values) * (not values_above))
        block = max(mark_height, LINE * max(beside)) + PADDING
        rows.append(PlacedRow(label, values, reason, top, LINE * max(above), block, row.is_faint))
        top = rows[-1].bottom
    return RowLayout(rows, left, right, labels_above, values_above)


def draw_frame(
    sheet: Sheet, layout: RowLayout, axis: Axis, values: Iterable[float], top: float
) -> tuple[AxisScale, float]:
    """Put everything on the sheet but the marks.

    Return where values stand, and where the label of the axis ends.

    Every other row has a background, and a chart of many rows its numbers above them too.
    """
    scale, marks = horizontal_scale(values, axis, layout.left, layout.right)
    for row in layout.rows[1::2]:
        sheet.rectangle(0, top + row.top, sheet.width, row.bottom - row.top, "band")
    if len(layout.rows) > _ROWS_SEEN_AT_ONCE:
        sheet.horizontal_numbers(scale, marks, top - LINE - PADDING)
    bottom = top + layout.height
    end = sheet.horizontal_axis(scale, marks, layout.spans(top), bottom, axis.label)
    for row in layout.rows:
        classes = "soft" if row.is_faint else ""
        if layout.labels_above:
            sheet.lines(0, top + row.top, row.label, classes=classes)
        else:
            start = top + row.middle - LINE * len(row.label) / 2
            sheet.lines(layout.left - 2 * PADDING, start, row.label, anchor="end", classes=classes)
        start = row.top if layout.values_above else row.middle - LINE * len(row.values) / 2
        sheet.lines(sheet.width, top + start, row.values, anchor="end", classes=classes)
        sheet.lines(layout.left, top + row.end, row.reason, classes="soft")
    if not layout.rows:
        end = sheet.notes([NOTHING], end)
    return scale, end


def head_room(n_rows: int) -> float:
    """Return the height of the numbers above a chart of that many rows."""
    return LINE + PADDING if n_rows > _ROWS_SEEN_AT_ONCE else 0.0


_THICKNESS = 11.0


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row."""

    label: str
    values: tuple[float, ...]
    """One a part; NaN = a gap."""
    texts: tuple[str, ...]
    """The values as they are to be read, one a line: one a part, or one for all."""
    reason: str = ""
    """Why a value is missing."""


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart of horizontal bars."""

    title: str
    description: str
    """For those who do not see it."""
    axis: Axis
    rows: tuple[BarRow, ...]
    parts: tuple[str, ...] = ("",)
    """Names of the values of a row; explained above the chart where there are several."""
    is_stacked: bool = False
    """The parts of a row stand end to end, and none of them is negative."""

    def ends(self) -> Iterator[float]:
        """Yield every value that the axis has to reach."""
        yield 0.0
        for row in self.rows:
            yield from (sum(row.values),) if self.is_stacked else row.values


def draw_bars(chart: Bars, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw bars of up to six parts as one `<svg>` element.

    `rows` are drawn with the axis and columns of the whole chart.

    Examples
    --------
    >>> chart = Bars("Unique", "", Axis("documents"), (BarRow("bm25 <1>", (12,), ("12",)),))
    >>> drawing = draw_bars(chart, width=400, key="f1")
    >>> "bm25 &lt;1&gt;" in drawing, drawing.count("fill-1")
    (True, 1)
    """
    _check(chart)
    sheet = Sheet(width, key)
    n_lanes = 1 if chart.is_stacked else len(chart.parts)
    texts = [
        RowText(row.label, row.texts, "" if _is_whole(row) else row.reason or UNDEFINED) for row in chart.rows
    ]
    layout = lay_out(texts, width, LINE * n_lanes).part(rows)
    top = sheet.legend(chart.parts, 0, are_lines=False) + head_room(len(layout.rows))
    scale, end = draw_frame(sheet, layout, chart.axis, chart.ends(), top)
    zero = scale.place(0.0) if scale.low <= 0 <= scale.high else scale.start
    for row, placed in zip(chart.rows[rows], layout.rows, strict=True):
        if chart.is_stacked:
            _draw_stack(sheet, scale, zero, top + placed.middle, row)
            continue
        first = top + placed.middle - LINE * (n_lanes - 1) / 2
        for series, value in enumerate(row.values):
            _draw_bar(sheet, scale, zero, first + LINE * series, value, series)
    if zero > scale.start and layout.rows:
        for start, stop in layout.spans(top):
            sheet.line(zero, start, zero, stop, "axis")
    return sheet.finished(chart.title, chart.description, end)


def _draw_bar(sheet: Sheet, scale: AxisScale, zero: float, middle: float, value: float, series: int) -> None:
    """Draw one value from zero, or the place of a missing one."""
    y = middle - _THICKNESS / 2
    if not math.isfinite(value):
        sheet.rectangle(zero, y, SIZE, _THICKNESS, "gap")
        return
    place = scale.place(value)
    sheet.bar(min(zero, place), y, abs(place - zero), _THICKNESS, series)


def _draw_stack(sheet: Sheet, scale: AxisScale, zero: float, middle: float, row: BarRow) -> None:
    """Draw the parts of a row end to end; none of them if one is missing."""
    y = middle - _THICKNESS / 2
    if not math.isfinite(sum(row.values)):
        sheet.rectangle(zero, y, SIZE, _THICKNESS, "gap")
        return
    ends = [0.0, *accumulate(row.values)]
    for series, (start, stop) in enumerate(pairwise(ends)):
        left, right = scale.place(start), scale.place(stop)
        sheet.bar(left, y, right - left, _THICKNESS, series)


def _is_whole(row: BarRow) -> bool:
    """Tell whether a row has all its values."""
    return all(map(math.isfinite, row.values))


def _check(chart: Bars) -> None:
    """Raise `ArgumentError` for a chart that cannot be drawn."""
    if not 1 <= len(chart.parts) <= N_SERIES:
        raise ArgumentError("parts", f"must be 1 to {N_SERIES}", len(chart.parts))
    for row in chart.rows:
        if len(row.values) != len(chart.parts):
            raise ArgumentError("values", f"must be {len(chart.parts)} a row", len(row.values))
        if chart.is_stacked and min(row.values) < 0:
            raise ArgumentError("values", "must not be negative where they are stacked", row.values)


_CAP = 4.0
"""Half the height of the ends of an interval."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One row."""

    label: str
    value: float
    """NaN = a gap."""
    low: float
    high: float
    """Ends of the interval; NaN = there is none."""
    text: str
    """The value, and its interval, as they are to be read."""
    reason: str = ""
    """Why the value or the interval is missing."""
    is_faint: bool = False
    """Drawn in grey, as of too little to say much."""


@dataclass(frozen=True, slots=True)
class Dots:
    """A chart of dots with intervals."""

    title: str
    description: str
    """For those who do not see it."""
    axis: Axis
    rows: tuple[Dot, ...]

    def ends(self) -> Iterator[float]:
        """Yield every value that the axis has to reach."""
        for row in self.rows:
            yield row.value
            if all(map(math.isfinite, (row.value, row.low, row.high))):
                yield from (row.low, row.high)


def draw_dots(chart: Dots, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw dots with intervals as one `<svg>` element, of any number of rows; `rows` as of `draw_bars`.

    Examples
    --------
    >>> rows = (Dot("run 1", 0.3, 0.27, 0.33, "0.300 [0.270, 0.330]"),)
    >>> drawing = draw_dots(Dots("MAP", "", Axis("MAP"), rows), width=400, key="f1")
    >>> "0.300 [0.270," in drawing
    True
    """
    sheet = Sheet(width, key)
    texts = [RowText(row.label, (row.text,), _reason(row), row.is_faint) for row in chart.rows]
    layout = lay_out(texts, width, LINE).part(rows)
    top = head_room(len(layout.rows))
    scale, end = draw_frame(sheet, layout, chart.axis, chart.ends(), top)
    for row, placed in zip(chart.rows[rows], layout.rows, strict=True):
        middle = top + placed.middle
        if not math.isfinite(row.value):
            sheet.rectangle(scale.start, middle - SIZE / 2, SIZE, SIZE, "gap")
            continue
        colour = "faint" if row.is_faint else "line-1"
        if math.isfinite(row.low) and math.isfinite(row.high):
            low, high = scale.place(row.low), scale.place(row.high)
            sheet.line(low, middle, high, middle, f"{colour} thick")
            for place in (low, high):
                sheet.line(place, middle - _CAP, place, middle + _CAP, f"{colour} thick")
        sheet.marker(scale.place(row.value), middle, 0, "faint" if row.is_faint else "")
    return sheet.finished(chart.title, chart.description, end)


def _reason(row: Dot) -> str:
    """Return why something of a row is missing; empty where nothing is."""
    if all(map(math.isfinite, (row.value, row.low, row.high))):
        return ""
    return row.reason or UNDEFINED
