"""Histograms: how many topics, documents or pairs lie in each of several ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pooler.report.lines import draw_upright
from pooler.report.rows import NOTHING, UNDEFINED
from pooler.report.scales import Axis
from pooler.report.svg import LINE, PADDING, SIZE, Sheet, horizontal_scale
from pooler.report.text import shown, text_width
from store.errors import ArgumentError


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
