"""Charts of lines: curves and histograms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pooler.report.drawing import (
    LINE,
    N_SERIES,
    PADDING,
    SIZE,
    Axis,
    Scale,
    Sheet,
    horizontal_scale,
    make_scale,
    shown,
    text_width,
    tick_labels,
    wrapped_label,
)
from pooler.report.rows import NOTHING, UNDEFINED
from store.errors import ArgumentError

_MOST_MARKERS = 12
"""Markers on one line."""
FIELD = 260.0
"""Height of the field between the axes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One series."""

    label: str
    points: tuple[tuple[float, float], ...]
    """x ascends; a point that is not finite = a gap."""
    is_stepped: bool = False
    """The value stays until the next point, as that of an empirical distribution."""
    reason: str = ""
    """Why points are missing."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A chart of lines over one pair of axes."""

    title: str
    description: str
    """For those who do not see it."""
    x_axis: Axis
    y_axis: Axis
    lines: tuple[Line, ...]
    """At most six; told apart by colour, dashes and markers."""


def draw_lines(chart: Lines, *, width: float, key: str) -> str:
    """Draw lines as one `<svg>` element.

    Parameters
    ----------
    chart : Lines
        What is shown.
    width : float
        Of the drawing; 300 or more.
    key : str
        Begins the ids within: letters, digits and hyphens, of this drawing alone.

    Raises
    ------
    ArgumentError
        If there is no line, or there are more than six.

    Examples
    --------
    >>> line = Line("pool", ((1, 10), (2, 18), (3, 24)))
    >>> chart = Lines("Growth", "", Axis("depth"), Axis("documents"), (line,))
    >>> draw_lines(chart, width=400, key="f1").count("<polyline")
    1
    """
    if not 1 <= len(chart.lines) <= N_SERIES:
        raise ArgumentError("lines", f"must be 1 to {N_SERIES}", len(chart.lines))
    sheet = Sheet(width, key)
    top = sheet.legend([line.label for line in chart.lines], 0, are_lines=True)
    whole = [point for line in chart.lines for point in line.points if _is_drawn(point)]
    top, bottom, left, up = draw_upright(sheet, chart.y_axis, [y for _, y in whole], top)
    across, marks = horizontal_scale([x for x, _ in whole], chart.x_axis, left, width - SIZE)
    end = sheet.horizontal_axis(across, marks, [(top, bottom)], bottom, chart.x_axis.label)
    for series, line in enumerate(chart.lines):
        for stretch in _stretches(line):
            _draw_stretch(sheet, across, up, stretch, series, is_stepped=line.is_stepped)
    return sheet.finished(chart.title, chart.description, sheet.notes(_notes(chart), end))


def draw_upright(
    sheet: Sheet, axis: Axis, values: list[float], top: float
) -> tuple[float, float, float, Scale]:
    """Draw the label and the axis at the left of a field.

    Returns
    -------
    (float, float, float, Scale)
        Top, bottom and left end of the field, and where values stand in it.
    """
    top = sheet.lines(0, top, wrapped_label(axis.label, sheet.width, SIZE), classes="soft") + LINE
    scale, marks = make_scale(values, axis, top + FIELD, top)
    left = max(text_width(label, SIZE) for label in tick_labels(marks)) + 3 * PADDING
    sheet.vertical_axis(scale, marks, left)
    return top, top + FIELD, left, scale


def _draw_stretch(
    sheet: Sheet,
    across: Scale,
    up: Scale,
    stretch: list[tuple[float, float]],
    series: int,
    *,
    is_stepped: bool,
) -> None:
    """Draw points that follow each other without a gap."""
    places = [(across.place(x), up.place(y)) for x, y in stretch]
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


def _stretches(line: Line) -> Iterator[list[tuple[float, float]]]:
    """Yield the runs of points between gaps."""
    stretch: list[tuple[float, float]] = []
    for point in line.points:
        if _is_drawn(point):
            stretch.append(point)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _notes(chart: Lines) -> Iterator[str]:
    """Yield a remark for every line with gaps."""
    for line in chart.lines:
        missing = sum(not _is_drawn(point) for point in line.points)
        if missing or not line.points:
            label = f"{line.label}: " if line.label else ""
            yield f"{label}{missing or 'all'} missing: {line.reason or UNDEFINED}"


def _is_drawn(point: tuple[float, float]) -> bool:
    """Tell whether a point can be drawn."""
    return math.isfinite(point[0]) and math.isfinite(point[1])


@dataclass(frozen=True, slots=True)
class Bin:
    """One range."""

    low: float
    high: float
    """Above `low`."""
    value: float
    """Height; NaN = a gap."""
    text: str = ""
    """The value as it is to be read; written above the bars where all have room."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """A chart of upright bars over ranges."""

    title: str
    description: str
    """For those who do not see it."""
    x_axis: Axis
    y_axis: Axis
    bins: tuple[Bin, ...]
    reason: str = ""
    """Why values are missing."""


def draw_histogram(chart: Histogram, *, width: float, key: str) -> str:
    """Draw a histogram as one `<svg>` element.

    Parameters
    ----------
    chart : Histogram
        What is shown.
    width : float
        Of the drawing; 300 or more.
    key : str
        Begins the ids within: letters, digits and hyphens, of this drawing alone.

    Raises
    ------
    ArgumentError
        If a range ends where it begins, or before, or not at all.

    Examples
    --------
    >>> bins = (Bin(0, 10, 3, "3"), Bin(10, 20, 5, "5"))
    >>> chart = Histogram("Relevant", "", Axis("documents"), Axis("topics"), bins)
    >>> draw_histogram(chart, width=400, key="f1").count('class="bin"')
    2
    """
    for one in chart.bins:
        if not (math.isfinite(one.low) and math.isfinite(one.high) and one.low < one.high):
            raise ArgumentError("bins", "must each end above where they begin", (one.low, one.high))
    sheet = Sheet(width, key)
    values = [one.value for one in chart.bins]
    top, bottom, left, up = draw_upright(sheet, chart.y_axis, [0.0, *values], 0)
    ends = [end for one in chart.bins for end in (one.low, one.high)]
    across, marks = horizontal_scale(ends, chart.x_axis, left, width - SIZE)
    end = sheet.horizontal_axis(across, marks, [(top, bottom)], bottom, chart.x_axis.label)
    places = [(across.place(one.low), across.place(one.high)) for one in chart.bins]
    has_room = all(
        text_width(shown(one.text), SIZE) + PADDING <= right - left
        for one, (left, right) in zip(chart.bins, places, strict=True)
    )
    zero = up.place(0.0)
    for one, (left, right) in zip(chart.bins, places, strict=True):
        if not math.isfinite(one.value):
            sheet.rectangle(left, bottom - 2 * SIZE, right - left, 2 * SIZE, "gap")
            continue
        place = up.place(one.value)
        sheet.rectangle(left, min(place, zero), right - left, abs(zero - place), "bin")
        if has_room and one.text:
            sheet.text((left + right) / 2, min(place, zero) - LINE / 2, one.text, anchor="middle")
    missing = sum(not math.isfinite(value) for value in values)
    notes = [f"{missing} missing: {chart.reason or UNDEFINED}"] if missing else []
    if not chart.bins:
        notes = [NOTHING]
    return sheet.finished(chart.title, chart.description, sheet.notes(notes, end))
