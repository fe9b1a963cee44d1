"""Heat maps: a table whose darker cells hold more, as the grades of two judges."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pooler.pages.charts.rows import NOTHING, UNDEFINED
from pooler.pages.charts.svg import LINE, N_SHADES, PADDING, SHRINKS, Sheet, widest, wrapped_label
from store.errors import ArgumentError

_LEAST_CELL, _MOST_CELL = 44.0, 110.0
_MOST_WORD = 80.0
"""A word of a heading is broken where it is wider."""
_LABEL_SHARE = 0.32


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of numbers to be seen as shades; rows and columns are the same things in the same order."""

    title: str
    description: str
    """For those who do not see it."""
    row_title: str
    """What the rows are, as the grades of one judge."""
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """One tuple a row; not negative; NaN = a gap."""
    texts: tuple[tuple[str, ...], ...]
    """The values as they are to be read."""
    reason: str = ""
    """Why values are missing."""


def draw_heat_map(chart: HeatMap, *, width: float, key: str) -> str:
    """Draw a heat map as one `<svg>` element, wider than `width` where its cells need that.

    Every cell has its text, so the shade alone carries nothing. `ArgumentError`: not one value and text
    for every row and column, or a negative value.
    """
    _check(chart)
    words = max(widest(label.split()) for label in (*chart.rows, *chart.columns, ""))
    least = min(max(widest(text for row in chart.texts for text in row), words), _MOST_WORD)
    cell = max(least + 2 * PADDING, _LEAST_CELL)
    # Labels of rows give way to the cells, as far as the longest word.
    rest = width - cell * len(chart.columns) - 3 * PADDING
    label_room = min(widest(chart.rows), _LABEL_SHARE * width)
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
    largest = max((value for row in chart.values for value in row if math.isfinite(value)), default=0)
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
    missing = sum(not math.isfinite(value) for row in chart.values for value in row)
    notes = [f"{missing} missing: {chart.reason or UNDEFINED}"] if missing else []
    if not chart.rows or not chart.columns:
        notes.append(NOTHING)
    else:
        notes.append("framed: both the same")
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


def _check(chart: HeatMap) -> None:
    shape = (len(chart.rows), len(chart.columns))
    for name, table in (("values", chart.values), ("texts", chart.texts)):
        if len(table) != shape[0] or any(len(row) != shape[1] for row in table):
            raise ArgumentError(name, f"must be of {shape[0]} rows and {shape[1]} columns", None)
    for row in chart.values:
        if any(value < 0 for value in row):
            raise ArgumentError("values", "must not be negative", min(row))
