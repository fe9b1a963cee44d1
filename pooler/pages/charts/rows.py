"""Charts of rows: bars, stacks, dots with intervals.

A label that is long for the room is broken, and where two lines are not enough, labels stand above
their marks. So nothing is ever cut, nor do two texts meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from pooler.pages.charts.svg import (
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
_THICKNESS = 11.0
"""Of a bar."""
_CAP = 4.0
"""Half the height of the ends of an interval."""
ALL = slice(None)
UNDEFINED = "undefined"
"""Stands for the reason of a gap where none was given."""
NOTHING = "nothing to show"
"""Stands below a chart without data."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows."""

    label: str
    values: tuple[float, ...]
    """One a part; NaN = a gap."""
    texts: tuple[str, ...]
    """The values as they are to be read, one a line: one a part, or one for all."""
    reason: str = ""
    """Why something is missing."""
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
    """For those who do not see it."""
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
    """Where rows stand."""

    rows: list[PlacedRow]
    left: float
    """Where marks begin."""
    right: float
    """Where marks end."""
    labels_above: bool
    """Labels stand above their marks, not at their left."""
    values_above: bool
    """Values stand above their marks, not at their right."""

    def spans(self) -> list[tuple[float, float]]:
        """Return the heights that hold marks and no text."""
        found: list[tuple[float, float]] = []
        for row in self.rows:
            start = row.top + row.head
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, row.end))
        return found


def draw_rows(chart: Rows, *, width: float, key: str, rows: slice) -> str:
    """Draw bars of up to six parts, or dots; some `rows` with the axis and columns of the whole chart."""
    _check(chart)
    sheet = Sheet(width, key)
    shown = chart.rows[rows]
    is_long = len(shown) > _ROWS_SEEN_AT_ONCE
    n_lanes = len(chart.parts) if chart.kind == "bars" else 1
    top = sheet.legend(chart.parts, are_lines=False) + (LINE + PADDING) * is_long
    layout = _lay_out(chart.rows, shown, width, LINE * n_lanes, top)
    scale, marks = horizontal_scale(chart.ends(), chart.axis, layout.left, layout.right)
    for placed in layout.rows[1::2]:
        sheet.rectangle(0, placed.top, width, placed.bottom - placed.top, "band")
    if is_long:
        sheet.horizontal_numbers(scale, marks, top - LINE - PADDING)
    bottom = layout.rows[-1].bottom if shown else top
    end = sheet.horizontal_axis(scale, marks, layout.spans(), bottom, chart.axis.label)
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
        block = max(mark_height, LINE * max(beside)) + PADDING
        placed.append(PlacedRow(label, values, reason, top, LINE * max(above), block, row.is_faint))
        top = placed[-1].bottom
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


def _check(chart: Rows) -> None:
    if not 1 <= len(chart.parts) <= N_SERIES:
        raise ArgumentError("parts", f"must be 1 to {N_SERIES}", len(chart.parts))
    for row in chart.rows:
        if len(row.values) != len(chart.parts):
            raise ArgumentError("values", f"must be {len(chart.parts)} a row", len(row.values))
        if chart.kind == "stacks" and min(row.values) < 0:
            raise ArgumentError("values", "must not be negative where they are stacked", row.values)
