"""Charts of one row a thing: labels left, values right, marks between; as tall as it takes.

A label that is long for the room is broken, and where two lines are not enough, labels stand above
their marks. So nothing is ever cut, nor do two texts meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pooler.report.scales import Axis, Scale
from pooler.report.svg import LINE, PADDING, SIZE, Sheet, horizontal_scale
from pooler.report.text import shown, text_width, wrapped

_LABEL_SHARE, _VALUE_SHARE = 0.38, 0.3
"""Of the width, at most."""
_LEFT_LINES = 2
"""Lines of a label at the left, at most."""
_ABOVE_SHARE = 0.56
"""Of the width, for values above their marks, at most."""
_LEAST_SHARE = 0.33
"""Of the width, for the marks; labels stand above them where they would leave less."""
_EDGE_SHARE = 0.04
"""How far right the marks begin where labels stand above them."""
_ROWS_SEEN_AT_ONCE = 25
ALL = slice(None)
UNDEFINED = "undefined"
"""Stands for the reason of a gap where none was given."""
NOTHING = "nothing to show"
"""Stands below a chart without data."""


@dataclass(frozen=True, slots=True)
class RowText:
    """What is written in one row."""

    label: str
    values: tuple[str, ...]
    """One a line."""
    reason: str
    """Why something of the row has no value; empty = all have one."""
    is_faint: bool = False
    """Written in grey."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Where one row stands: a head, a block with the marks, and the reason of a gap."""

    label: list[str]
    values: list[str]
    reason: list[str]
    top: float
    head: float
    """Height of what stands above the marks."""
    block: float
    is_faint: bool

    @property
    def middle(self) -> float:
        """Return the middle of the marks."""
        return self.top + self.head + self.block / 2

    @property
    def end(self) -> float:
        """Return where the block ends."""
        return self.top + self.head + self.block

    @property
    def bottom(self) -> float:
        """Return where the row ends."""
        return self.end + LINE * len(self.reason)


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where all rows stand, from height 0 on."""

    rows: list[PlacedRow]
    left: float
    """Where marks begin."""
    right: float
    """Where marks end."""
    labels_above: bool
    """Labels stand above their marks, not at their left."""
    values_above: bool
    """Values stand above their marks, not at their right."""

    @property
    def height(self) -> float:
        """Return the height of all rows."""
        return self.rows[-1].bottom if self.rows else 0.0

    def part(self, rows: slice) -> RowLayout:
        """Return some of the rows, from height 0 on, with room for the labels of all."""
        kept = self.rows[rows]
        start = kept[0].top if kept else 0.0
        return replace(self, rows=[replace(row, top=row.top - start) for row in kept])

    def spans(self, top: float) -> list[tuple[float, float]]:
        """Return the heights that hold marks and no text, from the top of the chart."""
        found: list[tuple[float, float]] = []
        for row in self.rows:
            start, stop = top + row.top + row.head, top + row.end
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, stop))
        return found


def lay_out(texts: Sequence[RowText], width: float, mark_height: float) -> RowLayout:
    """Find the room of every row.

    Parameters
    ----------
    texts : sequence of RowText
        The rows from the top.
    width : float
        Of the drawing.
    mark_height : float
        Least height of the marks of one row.
    """
    label_room = min(_widest(row.label for row in texts), _LABEL_SHARE * width)
    value_room = min(_widest(text for row in texts for text in row.values), _VALUE_SHARE * width)
    left, right = label_room + 2 * PADDING, width - value_room - 3 * PADDING
    most_lines = max((len(wrapped(row.label, label_room, SIZE)) for row in texts), default=0)
    labels_above = most_lines > _LEFT_LINES or right - left < _LEAST_SHARE * width
    values_above = labels_above and all(len(row.values) == 1 for row in texts)
    if labels_above:
        left, label_room = _EDGE_SHARE * width, width
    if values_above:
        value_room = min(
            _widest(text for row in texts for text in row.values), _ABOVE_SHARE * width
        )
        right, label_room = width - SIZE, width - value_room - 2 * PADDING
    rows, top = [], 0.0
    for row in texts:
        label = wrapped(row.label, label_room, SIZE)
        values = [line for text in row.values for line in wrapped(text, value_room, SIZE)]
        reason = wrapped(row.reason, width - left, SIZE) if row.reason else []
        above = (len(label) * labels_above, len(values) * values_above)
        beside = (len(label) * (not labels_above), len(values) * (not values_above))
        block = max(mark_height, LINE * max(beside)) + PADDING
        rows.append(PlacedRow(label, values, reason, top, LINE * max(above), block,
                              row.is_faint))  # fmt: skip
        top = rows[-1].bottom
    return RowLayout(rows, left, right, labels_above, values_above)


def draw_frame(
    sheet: Sheet, layout: RowLayout, axis: Axis, values: Iterable[float], top: float
) -> tuple[Scale, float]:
    """Put everything on the sheet but the marks.

    Every other row has a background, and a chart of many rows its numbers above them too.

    Returns
    -------
    (Scale, float)
        Where values stand, and where the label of the axis ends.
    """
    scale, marks = horizontal_scale(values, axis, layout.left, layout.right)
    for row in layout.rows[1::2]:
        sheet.rectangle(0, top + row.top, sheet.width, row.bottom - row.top, "band")
    if len(layout.rows) > _ROWS_SEEN_AT_ONCE:
        sheet.horizontal_numbers(scale, marks, top - LINE - PADDING)
    bottom = top + layout.height
    end = sheet.horizontal_axis(scale, marks, layout.spans(top), bottom, axis.label)
    for row in layout.rows:
        classes = "soft" if row.is_faint else ""
        if layout.labels_above:
            sheet.lines(0, top + row.top, row.label, classes=classes)
        else:
            start = top + row.middle - LINE * len(row.label) / 2
            sheet.lines(layout.left - 2 * PADDING, start, row.label, anchor="end",
                        classes=classes)  # fmt: skip
        start = row.top if layout.values_above else row.middle - LINE * len(row.values) / 2
        sheet.lines(sheet.width, top + start, row.values, anchor="end", classes=classes)
        sheet.lines(layout.left, top + row.end, row.reason, classes="soft")
    if not layout.rows:
        end = sheet.notes([NOTHING], end)
    return scale, end


def head_room(n_rows: int) -> float:
    """Return the height of the numbers above a chart of that many rows."""
    return LINE + PADDING if n_rows > _ROWS_SEEN_AT_ONCE else 0.0


def _widest(texts: Iterable[str]) -> float:
    """Return the width of the widest text."""
    return max((text_width(shown(text), SIZE) for text in texts), default=0.0)
