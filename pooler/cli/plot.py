"""Curves drawn in plain characters, for terminals and pipes alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from string import ascii_lowercase, ascii_uppercase

from store.errors import ArgumentError

MARKERS = ascii_uppercase + ascii_lowercase
SHARED = "*"
"""Stands where several curves meet."""
_MOST_TICKS = 6
"""Numbers on an axis, besides its end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Values at 0, 1, 2, ... of one thing."""

    label: str
    values: Sequence[float]
    """Not negative; at least one."""


def plot_lines(
    curves: Sequence[Curve], *, title: str, x_label: str, width: int = 80, height: int = 20
) -> list[str]:
    """Draw curves over one pair of axes from 0.

    Parameters
    ----------
    curves : sequence of Curve
        At least one, all of one length.
    title : str
        Says what is counted upwards.
    x_label : str
        Says what is counted to the right.
    width, height : int
        Characters of a line, and lines above the axis; at least 40 and 2.

    Returns
    -------
    list of str
        Lines without blanks at their ends. Every curve has a letter of its own, explained at the
        foot; where curves meet stands `SHARED`. A column shows the values at the place nearest to
        it, so a curve of more places than columns loses some between.

    Raises
    ------
    ArgumentError
        If there are more curves than `MARKERS`.

    Examples
    --------
    >>> curves = [Curve("fast", [0, 3, 4, 4]), Curve("slow", [0, 1, 2, 4])]
    >>> lines = plot_lines(curves, title="found", x_label="judged", width=40, height=3)
    >>> lines[0], lines[-1]
    ('found', 'A fast  B slow  * several')
    """
    if not 1 <= len(curves) <= len(MARKERS):
        raise ArgumentError("curves", f"must be 1 to {len(MARKERS)}", len(curves))
    last = len(curves[0].values) - 1
    top = max(1.0, max(max(curve.values) for curve in curves))
    labels = {_row(value, top, height): f"{value:,}" for value in _ticks(top)}
    labels[0] = f"{top:,.0f}"
    margin = max(map(len, labels.values()))
    n_columns = width - margin - 2
    grid = [[" "] * n_columns for _ in range(height)]
    for marker, curve in zip(MARKERS, curves, strict=False):
        for column in range(n_columns):
            row = _row(curve.values[round(column * last / (n_columns - 1))], top, height)
            grid[row][column] = marker if grid[row][column] == " " else SHARED
    lines = [title]
    lines += [
        f"{labels.get(row, ''):>{margin}} |{''.join(cells)}".rstrip()
        for row, cells in enumerate(grid)
    ]
    lines.append(" " * (margin + 1) + "+" + "-" * n_columns)
    lines.append(" " * (margin + 2) + _scale(last, n_columns))
    lines.append(f"{x_label:>{width}}")
    return lines + _legend([curve.label for curve in curves], width)


def _row(value: float, top: float, height: int) -> int:
    """Return the line of a value, from 0 at the top."""
    return height - 1 - round(value / top * (height - 1))


def _ticks(last: float) -> list[int]:
    """Return round numbers from 0 to `last`, evenly spaced by 1, 2 or 5 times a power of ten."""
    for power in count():
        for digit in (1, 2, 5):
            step = digit * 10**power
            if last / step <= _MOST_TICKS:
                return list(range(0, int(last) + 1, step))
    return []


def _scale(last: int, n_columns: int) -> str:
    """Write the numbers under the axis, the last one always."""
    cells = [" "] * n_columns
    free_until = n_columns
    for value in sorted({*_ticks(last), last}, reverse=True):
        number = f"{value:,}"
        place = round(value * (n_columns - 1) / max(last, 1))
        start = min(max(place - len(number) // 2, 0), n_columns - len(number))
        if start + len(number) <= free_until:
            cells[start : start + len(number)] = number
            free_until = start - 1
    return "".join(cells).rstrip()


def _legend(labels: Sequence[str], width: int) -> list[str]:
    """Explain the letters, as many a line as fit."""
    entries = [f"{marker} {label}" for marker, label in zip(MARKERS, labels, strict=False)]
    if len(labels) > 1:
        entries.append(f"{SHARED} several")
    lines = [entries[0]]
    for entry in entries[1:]:
        longer = f"{lines[-1]}  {entry}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(entry)
    return lines
