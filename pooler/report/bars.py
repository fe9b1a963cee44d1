"""Horizontal bars: one row a run, a judge or a topic; single, side by side or end to end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from pooler.report.palette import N_SERIES
from pooler.report.rows import ALL, UNDEFINED, RowText, draw_frame, head_room, lay_out
from pooler.report.scales import Axis, Scale
from pooler.report.svg import LINE, SIZE, Sheet
from store.errors import ArgumentError

_THICKNESS = 11.0


@dataclass(frozen=True, slots=True)
class Bar:
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
    rows: tuple[Bar, ...]
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
    """Draw bars as one `<svg>` element.

    Parameters
    ----------
    chart : Bars
        What is shown.
    width : float
        Of the drawing; 300 or more.
    key : str
        Begins the ids within: letters, digits and hyphens, of this drawing alone.
    rows : slice
        Those that are drawn, with the axis and the columns of the whole chart.

    Raises
    ------
    ArgumentError
        If there are more than six parts, a row has not one value a part, or what is stacked is
        negative.

    Examples
    --------
    >>> chart = Bars("Unique", "", Axis("documents"), (Bar("bm25 <1>", (12,), ("12",)),))
    >>> drawing = draw_bars(chart, width=400, key="f1")
    >>> "bm25 &lt;1&gt;" in drawing, drawing.count("fill-1")
    (True, 1)
    """
    _check(chart)
    sheet = Sheet(width, key)
    n_lanes = 1 if chart.is_stacked else len(chart.parts)
    texts = [
        RowText(row.label, row.texts, "" if _is_whole(row) else row.reason or UNDEFINED)
        for row in chart.rows
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


def _draw_bar(
    sheet: Sheet, scale: Scale, zero: float, middle: float, value: float, series: int
) -> None:
    """Draw one value from zero, or the place of a missing one."""
    y = middle - _THICKNESS / 2
    if not math.isfinite(value):
        sheet.rectangle(zero, y, SIZE, _THICKNESS, "gap")
        return
    place = scale.place(value)
    sheet.bar(min(zero, place), y, abs(place - zero), _THICKNESS, series)


def _draw_stack(sheet: Sheet, scale: Scale, zero: float, middle: float, row: Bar) -> None:
    """Draw the parts of a row end to end; none of them if one is missing."""
    y = middle - _THICKNESS / 2
    if not math.isfinite(sum(row.values)):
        sheet.rectangle(zero, y, SIZE, _THICKNESS, "gap")
        return
    ends = [0.0, *accumulate(row.values)]
    for series, (start, stop) in enumerate(pairwise(ends)):
        left, right = scale.place(start), scale.place(stop)
        sheet.bar(left, y, right - left, _THICKNESS, series)


def _is_whole(row: Bar) -> bool:
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
