"""Tables with words in them, folded to the width of a page wherever they go.

`pooler.cli.console` folds cells to fit a terminal, and leaves them whole in files and pipes. Here a
row whose words are too long goes on in the next line, under its own column, in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pooler.cli.console import Cell, Column
from pooler.cli.line_breaks import PAGE, broken
from store.sanitise import sanitise_line

_GAP = 2
"""Blanks between columns."""
_LEAST = 8
"""Columns that may be folded are not made narrower."""
_LEAST_LAST = 16
"""Nor is the last, which has sentences."""


def folded(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Cell]],
    *,
    whole: Sequence[str] = (),
) -> list[Mapping[str, Cell]]:
    """Return rows that fit a page: what does not fit goes on in rows of their own below.

    Parameters
    ----------
    columns : sequence of Column
        The last has sentences, and gives way first.
    rows : sequence of mapping of str to Cell
        Text, integers, or ``None``, a dash.
    whole : sequence of str
        Names of columns that are never folded.

    Notes
    -----
    Numbers are not folded. With so many columns that the narrowest they may be is more than a page,
    the table is wider.

    Examples
    --------
    >>> rows = [{"n": 7, "note": "the wine is red, from a place nobody knows, " * 2}]
    >>> for row in folded([Column("n"), Column("note")], rows):
    ...     print(row)
    {'n': '7', 'note': 'the wine is red, from a place nobody knows, the wine is red, from a place'}
    {'n': '', 'note': 'nobody knows,'}
    """
    from rich.cells import cell_len

    widths, leasts = [], []
    for column in columns:
        cells = [row.get(column.name) for row in rows]
        full = max((cell_len(_text(cell)) for cell in cells), default=0)
        heading = cell_len(column.heading or column.name.replace("_", " "))
        is_number = all(isinstance(cell, int | None) for cell in cells)
        least = _LEAST_LAST if column is columns[-1] else _LEAST
        can_fold = not is_number and column.name not in whole
        widths.append(max(full, heading))
        leasts.append(max(heading, min(full, least)) if can_fold else widths[-1])
    spare = sum(widths) + _GAP * (len(widths) - 1) - PAGE
    given = min(max(spare, 0), widths[-1] - leasts[-1])
    widths[-1] -= given
    spare -= given
    while spare > 0 and widths != leasts:
        room = [width if width > least else 0 for width, least in zip(widths, leasts, strict=True)]
        widths[room.index(max(room))] -= 1
        spare -= 1
    names = [column.name for column in columns]
    found: list[Mapping[str, Cell]] = []
    for row in rows:
        parts = []
        for column, width in zip(columns, widths, strict=True):
            cell = row.get(column.name)
            text = _text(cell)
            parts.append([f"{text:>{width}}"] if _is_number(cell) else broken(text, width))
        for number in range(max(map(len, parts))):
            line = (part[number] if number < len(part) else "" for part in parts)
            found.append(dict(zip(names, line, strict=True)))
    return found


def short_times(moments: Sequence[datetime]) -> tuple[str, list[str]]:
    """Write moments of UTC to the second; return a heading with what they have in common, and them.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC)
    >>> short_times([first])
    ('when, 2026 UTC', ['03-01 09:30:05'])
    >>> short_times([first, first.replace(year=2027)])
    ('when (UTC)', ['2026-03-01 09:30:05', '2027-03-01 09:30:05'])
    """
    years = {moment.year for moment in moments}
    if len(years) == 1:
        return f"when, {moments[0].year} UTC", [f"{moment:%m-%d %H:%M:%S}" for moment in moments]
    return "when (UTC)", [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in moments]


def _is_number(cell: Cell) -> bool:
    """Say whether a cell is a number."""
    return isinstance(cell, int) and not isinstance(cell, bool)


def _text(cell: Cell) -> str:
    """Write a cell, as it will be shown."""
    if cell is None:
        return "-"
    return f"{cell:,}" if _is_number(cell) else sanitise_line(str(cell))
