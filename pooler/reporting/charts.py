"""Every kind of chart by one name: drawn at any width, and cut into pieces that fit a page."""

from __future__ import annotations

import math
from dataclasses import replace

from pooler.reporting.grid import HeatMap, draw_heat_map
from pooler.reporting.lines import Lines, draw_lines
from pooler.reporting.rows import ALL, Bars, Dots, draw_bars, draw_dots

Chart = Bars | Dots | HeatMap | Lines
ROWS_OF_A_PIECE = 40
"""As many rows of one bar or dot as fit a printed page, where labels do not take two lines."""


def draw(chart: Chart, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw any chart as one `<svg>` element; of bars and dots, some rows.

    Well-formed XML, every text escaped, colours and fonts from the page.

    `width`: 300 or more. `key` begins the ids within: letters, digits and hyphens, of this drawing alone.

    Examples
    --------
    >>> from pooler.reporting.drawing import Axis
    >>> from pooler.reporting.rows import BarRow
    >>> chart = Bars("Unique", "", Axis("documents"), (BarRow("bm25", (12,), ("12",)),))
    >>> draw(chart, width=400, key="f1")[:4]
    '<svg'
    """
    match chart:
        case Bars():
            return draw_bars(chart, width=width, key=key, rows=rows)
        case Dots():
            return draw_dots(chart, width=width, key=key, rows=rows)
        case Lines():
            return draw_lines(chart, width=width, key=key)
        case HeatMap():
            return draw_heat_map(chart, width=width, key=key)


def draw_in_pieces(chart: Chart, *, width: float, key: str, most: int = ROWS_OF_A_PIECE) -> list[str]:
    """Draw a chart of many rows as several elements of at most `most` rows, with axes and columns alike.

    A drawing that is higher than a sheet of paper would be cut through a line of text. The pieces share the
    rows evenly, and have fewer where a row has several bars below each other.

    Examples
    --------
    >>> from pooler.reporting.drawing import Axis
    >>> from pooler.reporting.rows import BarRow
    >>> rows = tuple(BarRow(f"run {n}", (n,), (str(n),)) for n in range(100))
    >>> chart = Bars("Unique", "", Axis("documents"), rows)
    >>> len(draw_in_pieces(chart, width=400, key="f1"))
    3
    """
    if isinstance(chart, Bars) and not chart.is_stacked:
        most = max(1, most // len(chart.parts))
    if not isinstance(chart, Bars | Dots) or len(chart.rows) <= most:
        return [draw(chart, width=width, key=key)]
    n_rows = len(chart.rows)
    size = math.ceil(n_rows / math.ceil(n_rows / most))
    found = []
    for first in range(0, n_rows, size):
        last = min(first + size, n_rows)
        title = f"{chart.title}, rows {first + 1} to {last} of {n_rows}"
        piece = replace(chart, title=title)
        found.append(draw(piece, width=width, key=f"{key}-{first + 1}", rows=slice(first, last)))
    return found
