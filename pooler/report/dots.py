"""Dots with intervals, one row a run: a forest plot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pooler.report.rows import ALL, UNDEFINED, RowText, draw_frame, head_room, lay_out
from pooler.report.scales import Axis
from pooler.report.svg import LINE, SIZE, Sheet
from pooler.report.text import wrapped

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
    reference: float | None = None
    """Where a dashed line crosses all rows, as at no effect."""
    reference_label: str = ""

    def ends(self) -> Iterator[float]:
        """Yield every value that the axis has to reach."""
        if self.reference is not None:
            yield self.reference
        for row in self.rows:
            yield row.value
            if all(map(math.isfinite, (row.value, row.low, row.high))):
                yield from (row.low, row.high)


def draw_dots(chart: Dots, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw dots with intervals as one `<svg>` element.

    Parameters
    ----------
    chart : Dots
        What is shown. Any number of rows: each has its height, and the drawing grows.
    width : float
        Of the drawing; 300 or more.
    key : str
        Begins the ids within: letters, digits and hyphens, of this drawing alone.
    rows : slice
        Those that are drawn, with the axis and the columns of the whole chart.

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
    top = 0.0
    if chart.reference is not None and chart.reference_label:
        lines = wrapped(chart.reference_label, width - 2 * SIZE, SIZE)
        sheet.line(0, LINE / 2, 2 * SIZE - 6, LINE / 2, "reference")
        top = sheet.lines(2 * SIZE, 0, lines)
    top += head_room(len(layout.rows))
    scale, end = draw_frame(sheet, layout, chart.axis, chart.ends(), top)
    if chart.reference is not None and math.isfinite(chart.reference):
        place = scale.place(chart.reference)
        for start, stop in layout.spans(top):
            sheet.line(place, start, place, stop, "reference")
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
