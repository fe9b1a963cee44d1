"""Every kind of chart by one name: drawn at any width, and cut into pieces that fit a page."""

from __future__ import annotations

import math
from dataclasses import replace

from pooler.pages.charts.grid import HeatMap, draw_heat_map
from pooler.pages.charts.lines import LineChart, draw_lines
from pooler.pages.charts.rows import ALL, Rows, draw_rows

Chart = Rows | HeatMap | LineChart
ROWS_OF_A_PIECE = 40
"""As many rows of one bar or dot as fit a printed page, where labels do not take two lines."""


def draw(chart: Chart, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw a chart, some rows of bars and dots, as one `<svg>` element of well-formed XML.

    `width`: 300 or more. `key` begins the ids within: letters, digits and hyphens, of this drawing alone.
    """
    match chart:
        case Rows():
            return draw_rows(chart, width=width, key=key, rows=rows)
        case LineChart():
            return draw_lines(chart, width=width, key=key)
        case HeatMap():
            return draw_heat_map(chart, width=width, key=key)


def draw_in_pieces(chart: Chart, *, width: float, key: str) -> list[str]:
    """Draw a chart of many rows as several elements, with axes and columns alike.

    A drawing that is higher than a sheet of paper would be cut through a line of text. The pieces share the
    rows evenly, and have fewer where a row has several bars below each other.
    """
    if not isinstance(chart, Rows):
        return [draw(chart, width=width, key=key)]
    most = max(1, ROWS_OF_A_PIECE // len(chart.parts)) if chart.kind == "bars" else ROWS_OF_A_PIECE
    n_rows = len(chart.rows)
    if n_rows <= most:
        return [draw(chart, width=width, key=key)]
    size = math.ceil(n_rows / math.ceil(n_rows / most))
    found = []
    for first in range(0, n_rows, size):
        last = min(first + size, n_rows)
        piece = replace(chart, title=f"{chart.title}, rows {first + 1} to {last} of {n_rows}")
        found.append(draw(piece, width=width, key=f"{key}-{first + 1}", rows=slice(first, last)))
    return found
