"""Charts of lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pooler.pages.charts.rows import UNDEFINED
from pooler.pages.charts.svg import (
    LINE,
    N_SERIES,
    PADDING,
    SIZE,
    Axis,
    Sheet,
    horizontal_scale,
    make_scale,
    tick_labels,
    widest,
    wrapped_label,
)
from store.errors import ArgumentError

_MOST_MARKERS = 12
"""Markers on one line."""
_FIELD = 260.0
"""Height of the field between the axes."""


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
    """For those who do not see it."""
    x_axis: Axis
    y_axis: Axis
    lines: tuple[ChartLine, ...]
    """At most six; told apart by colour, dashes and markers."""


def draw_lines(chart: LineChart, *, width: float, key: str) -> str:
    """Draw one to six lines as one `<svg>` element."""
    if not 1 <= len(chart.lines) <= N_SERIES:
        raise ArgumentError("lines", f"must be 1 to {N_SERIES}", len(chart.lines))
    sheet = Sheet(width, key)
    top = sheet.legend([line.label for line in chart.lines], are_lines=True)
    whole = [point for line in chart.lines for point in line.points if _is_drawn(point)]
    top = sheet.lines(0, top, wrapped_label(chart.y_axis.label, width), classes="soft") + LINE
    bottom = top + _FIELD
    up, marks = make_scale([y for _, y in whole], chart.y_axis, bottom, top)
    left = widest(tick_labels(marks)) + 3 * PADDING
    sheet.vertical_axis(up, marks, left)
    across, marks = horizontal_scale([x for x, _ in whole], chart.x_axis, left, width - SIZE)
    end = sheet.horizontal_axis(across, marks, [(top, bottom)], bottom, chart.x_axis.label)
    for series, line in enumerate(chart.lines):
        for stretch in _stretches(line):
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


def _stretches(line: ChartLine) -> Iterator[list[tuple[float, float]]]:
    stretch: list[tuple[float, float]] = []
    for point in line.points:
        if _is_drawn(point):
            stretch.append(point)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _notes(chart: LineChart) -> Iterator[str]:
    for line in chart.lines:
        missing = sum(not _is_drawn(point) for point in line.points)
        if missing or not line.points:
            label = f"{line.label}: " if line.label else ""
            yield f"{label}{missing or 'all'} missing: {UNDEFINED}"


def _is_drawn(point: tuple[float, float]) -> bool:
    return math.isfinite(point[0]) and math.isfinite(point[1])
