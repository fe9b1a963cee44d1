"""Tables fitted to the width of a terminal.

First headings of several words are folded, then texts at blanks. Then the gap between columns shrinks,
columns that may be left out are left out, and names are broken, at their joints and at last anywhere.
Numbers never are. A row is wider than the terminal only if all this was not enough.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len

from pooler.messages import PAGE, terminal_width
from pooler.tables import map_cells
from store.text import sanitise, sanitise_line
from store.wrapping import broken, least_width, wrapped

if TYPE_CHECKING:
    from pooler.tables import Column, RenderedView

LEAST_TEXT_WIDTH = 10
"""Text is not folded to fewer columns of the terminal than this."""
_GAPS = (2, 1)
"""Blanks between columns: where there is room, and where there is none."""
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    heading: str
    cells: list[str]
    is_numeric: bool
    most: int
    """With the heading on one line."""
    body: int
    """With the heading on several lines."""
    leasts: tuple[int, int, int]
    """Broken at blanks; at joints of names; anywhere."""
    can_go: int
    """Order of leaving; 0 = stays."""


def draw(rendered: RenderedView, stream: TextIO, *, folds: bool = True) -> None:
    """Draw a table on a stream; numbers to the right, undefined as a dash.

    A stream that is not a terminal has no width to fit: nothing is cut, and only cells longer than
    `Column.most` are folded. Notes are wrapped for a page all the same, unless `folds` is false.
    """
    is_terminal = stream.isatty()
    screen = terminal_width(stream) if is_terminal else sys.maxsize
    is_plain = not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    bold = "{}\n" if is_plain else "\x1b[1m{}\x1b[0m\n"
    columns = [
        _measured(column, cells, has_width=is_terminal)
        for column, cells in zip(rendered.columns, rendered.cells, strict=True)
    ]
    left_out: list[_Measured] = []
    widths, gap, keeps_names = fitted(columns, screen)
    while not keeps_names and (can_go := sorted({column.can_go for column in columns} - {0})):
        gone = [column for column in columns if column.can_go == can_go[0]][-1]
        columns.remove(gone)
        left_out.append(gone)
        widths, gap, keeps_names = fitted(columns, screen)
    total = _total(widths, gap)
    page = min(screen, max(PAGE, total))
    if rendered.title:
        title = sanitise_line(rendered.title)
        stream.write(bold.format(wrapped(title, page) if is_terminal else title))
    if columns and columns[0].cells:
        # Two headings that look the same differ in a blank at the end.
        headings = [broken(one.heading.rstrip(), width) for one, width in zip(columns, widths, strict=True)]
        height = max(map(len, headings))
        headings = [[""] * (height - len(heading)) + heading for heading in headings]
        heads = [replace(column, cells=lines) for column, lines in zip(columns, headings, strict=True)]
        stream.write(bold.format("".join(_lines(heads, widths, " " * gap)).removesuffix("\n")))
        line = "─" if (stream.encoding or "utf").lower().startswith("utf") else "-"
        stream.write(line * total + "\n")
        stream.writelines(_lines(columns, widths, " " * gap))
    order = [column.title for column in rendered.columns]
    names = sorted((column.heading for column in left_out), key=order.index)
    words = [f"columns left out because the terminal is too narrow: {', '.join(names)}"] if names else []
    if caption := sanitise("\n".join([*words, *rendered.caption])):
        width = page if is_terminal else PAGE
        stream.write((wrapped(caption, width) if is_terminal or folds else caption) + "\n")


def _lines(columns: Sequence[_Measured], widths: Sequence[int], gap: str) -> Iterator[str]:
    """Lay out rows, which have several lines where a cell has; yield many at a time."""
    laid = [map_cells(_laid, one.cells, one, width) for one, width in zip(columns, widths, strict=True)]
    rows = zip(*laid, strict=True)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        text = "\n".join(map(gap.join, some))
        if text.count("\n") == len(some) - 1:
            yield text + "\n"
            continue
        for row in some:
            for cells in zip_longest(*(cell.split("\n") for cell in row)):
                # A cell with fewer lines than its row is filled up with blanks.
                yield (
                    gap.join(
                        " " * width if cell is None else cell
                        for cell, width in zip(cells, widths, strict=True)
                    )
                    + "\n"
                )


def _laid(cell: str, column: _Measured, width: int) -> str:
    blanks = ((line, " " * (width - cell_len(line))) for line in broken(cell, width))
    return "\n".join(blank + line if column.is_numeric else line + blank for line, blank in blanks)


def _measured(column: Column, cells: list[str], *, has_width: bool) -> _Measured:
    texts = set(cells)
    heading = column.title
    word = least_width(heading)
    body = max(map(cell_len, texts), default=0)
    if column.is_number:
        body = max(body, word)
        return _Measured(heading, cells, True, max(body, cell_len(heading)), body, (body,) * 3, column.can_go)
    if column.most is not None and not has_width:
        body = min(body, max(column.most, cell_len(heading)))
    body = max(body, word)
    floor = max(word, min(body, LEAST_TEXT_WIDTH))
    at_blanks, at_joints = (
        max(floor, min(body, max((least_width(cell, joints=joints) for cell in texts), default=0)))
        for joints in (False, True)
    )
    most = max(body, cell_len(heading))
    leasts = (at_blanks, at_joints, floor)
    return _Measured(heading, cells, False, most, body, leasts, column.can_go)


def fitted(columns: Sequence[_Measured], room: int) -> tuple[list[int], int, bool]:
    """Return widths of columns and a gap that fit, or nearly do; and whether names stay whole."""
    most, body = [one.most for one in columns], [one.body for one in columns]
    at_blanks, at_joints, anywhere = ([one.leasts[step] for one in columns] for step in range(3))
    wide, narrow = _GAPS
    for gap, widths, leasts, keeps_names in (
        (wide, most, body, True),
        (wide, body, at_blanks, True),
        (narrow, body, at_blanks, True),
        (narrow, body, at_joints, False),
        (narrow, body, anywhere, False),
    ):
        found = _shrunk(widths, leasts, _total(widths, gap) - room)
        if _total(found, gap) <= room:
            return found, gap, keeps_names
    return found, gap, False


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _shrunk(widths: Sequence[int], leasts: Sequence[int], spare: int) -> list[int]:
    found = [*widths]
    while spare > 0 and found != [*leasts]:
        room = [width if width > least else 0 for width, least in zip(found, leasts, strict=True)]
        found[room.index(max(room))] -= 1
        spare -= 1
    return found
