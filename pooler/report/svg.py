"""A drawing in the making: shapes and text put on a sheet, which becomes one `<svg>` element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

from pooler.report.scales import Axis, Scale, make_scale, tick_labels
from pooler.report.text import escaped, text_width, wrapped

SIZE = 13.0
"""Font size of labels and values, in the unit of the drawing."""
LINE = 17.0
"""From one line of text to the next."""
PADDING = 4.0
SHRINKS = 1.2
"""A drawing that is wider than asked by no more than this is made smaller; else it scrolls."""
_RISE = 0.36
"""From the middle of a line of text down to its base, in font sizes."""
_SWATCH = 22.0
# One of each for every series: `pooler.report.palette.N_SERIES`.
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "14 4", "5 2 1 2")
_HATCH = 8.0
"""From one line of a hatched bar to the next."""
_MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.6L4.4 3.6H-4.4z",
    "M0 -5L5 0L0 5L-5 0z",
    "M-4.4 -3.6H4.4L0 4.6z",
    "M-4 -1.4H-1.4V-4H1.4V-1.4H4V1.4H1.4V4H-1.4V1.4H-4z",
)


def number(value: float) -> str:
    """Write a coordinate.

    Examples
    --------
    >>> number(3.0), number(0.26), number(-0.01)
    ('3', '0.3', '0')
    """
    return f"{value:.1f}".removesuffix(".0").replace("-0", "0", 1 if -0.05 < value < 0 else 0)


class Sheet:
    """A drawing of some width, and of the height that what is put on it needs.

    Parameters
    ----------
    width : float
        In pixels of a page that is not scaled.
    key : str
        Begins the ids within the drawing: letters, digits and hyphens, of this drawing alone.
    """

    def __init__(self, width: float, key: str) -> None:
        self.width = width
        self.key = key
        self._parts: list[str] = []

    def text(
        self, x: float, y: float, content: str, *, anchor: str = "start", classes: str = ""
    ) -> None:
        """Write one line, its middle at height `y`."""
        attributes = f' class="{classes}"' if classes else ""
        attributes += f' text-anchor="{anchor}"' if anchor != "start" else ""
        base = y + _RISE * SIZE
        self._parts.append(
            f'<text x="{number(x)}" y="{number(base)}"{attributes}>{escaped(content)}</text>'
        )

    def lines(
        self,
        x: float,
        top: float,
        lines: Sequence[str],
        *,
        anchor: str = "start",
        classes: str = "",
    ) -> float:
        """Write lines below each other; return where they end."""
        for row, line in enumerate(lines):
            self.text(x, top + LINE * (row + 0.5), line, anchor=anchor, classes=classes)
        return top + LINE * len(lines)

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
        """Draw a straight line."""
        ends = "".join(
            f' {name}="{number(value)}"'
            for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))
        )
        self._parts.append(f'<line{ends} class="{classes}"/>')

    def rectangle(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        """Draw a rectangle filled by a class."""
        self._parts.append(f'<rect{_box(x, y, width, height)} class="{classes}"/>')

    def bar(self, x: float, y: float, width: float, height: float, series: int) -> None:
        """Draw a rectangle in the colour and the hatching of a series, counted from 0.

        The lines are drawn one by one: printed, a pattern becomes a picture for every bar.
        """
        if series == 0:
            return self.rectangle(x, y, width, height, "fill-1")
        box = f'<rect{_box(x, y, width, height)} class="paper line-{series + 1}"/>'
        self._parts.append(box)
        if hatching := _hatching(series, x, y, width, height):
            self._parts.append(f'<path d="{hatching}" class="hatch line-{series + 1}"/>')
        return None

    def path(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw a line through points in the colour and the dashes of a series."""
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{_DASHES[series]}"' if _DASHES[series] else ""
        self._parts.append(
            f'<polyline points="{places}" fill="none" stroke-width="2"{dashes}'
            f' class="line-{series + 1}"/>'
        )

    def marker(self, x: float, y: float, series: int, classes: str = "") -> None:
        """Draw the shape of a series, in its colour or as the classes say."""
        self._parts.append(
            f'<path d="{_MARKERS[series]}" transform="translate({number(x)} {number(y)})"'
            f' class="{classes or f"fill-{series + 1}"}"/>'
        )

    def legend(self, names: Sequence[str], top: float, *, are_lines: bool) -> float:
        """Explain the series, if there are several; return where that ends."""
        if len(names) < 2:
            return top
        x, y = 0.0, top
        for series, name in enumerate(names):
            room = self.width - _SWATCH - PADDING
            lines = wrapped(name, room, SIZE)
            wide = max(text_width(line, SIZE) for line in lines) + _SWATCH + PADDING
            if x and x + wide > self.width:
                x, y = 0.0, y + LINE
            if are_lines:
                self.path([(x + 1, y + LINE / 2), (x + _SWATCH - 1, y + LINE / 2)], series)
                self.marker(x + _SWATCH / 2, y + LINE / 2, series)
            else:
                self.bar(x + 1, y + 3, _SWATCH - 4, LINE - 6, series)
            self.lines(x + _SWATCH + PADDING, y, lines)
            if len(lines) > 1:
                x, y = 0.0, y + LINE * len(lines)
            else:
                x += wide + 4 * PADDING
        return (y + LINE if x else y) + PADDING

    def horizontal_axis(
        self,
        scale: Scale,
        marks: Sequence[Decimal],
        spans: Iterable[tuple[float, float]],
        bottom: float,
        label: str,
    ) -> float:
        """Draw an axis below a field, with lines through its spans; return where its label ends.

        Numbers that would meet the one before them are left out, and their lines stay.
        """
        places = [scale.place(float(mark)) for mark in marks]
        for top, end in spans:
            for place in places:
                self.line(place, top, place, end, "grid")
        self.line(scale.start, bottom, scale.stop, bottom, "axis")
        self.horizontal_numbers(scale, marks, bottom + PADDING)
        lines = wrapped(label, self.width, SIZE)
        middle = (scale.start + scale.stop) / 2
        half = max(text_width(line, SIZE) for line in lines) / 2
        middle = max(half, min(middle, self.width - half))
        return self.lines(middle, bottom + PADDING + LINE, lines, anchor="middle", classes="soft")

    def horizontal_numbers(self, scale: Scale, marks: Sequence[Decimal], top: float) -> None:
        """Write the numbers of an axis."""
        taken = 0.0
        for mark, label in zip(marks, tick_labels(list(marks)), strict=True):
            half = text_width(label, SIZE) / 2
            middle = min(max(scale.place(float(mark)), half), self.width - half)
            if middle - half < taken:
                continue
            self.text(middle, top + LINE / 2, label, anchor="middle")
            taken = middle + half + PADDING

    def vertical_axis(self, scale: Scale, marks: Sequence[Decimal], left: float) -> None:
        """Draw an axis at the left of a field, with lines through it to the right end."""
        for mark, label in zip(marks, tick_labels(list(marks)), strict=True):
            place = scale.place(float(mark))
            self.line(left, place, self.width, place, "grid")
            self.text(left - 2 * PADDING, place, label, anchor="end")
        self.line(left, scale.start, left, scale.stop, "axis")

    def notes(self, notes: Iterable[str], top: float) -> float:
        """Write remarks below a chart; return where they end."""
        for note in notes:
            top = self.lines(0, top + PADDING, wrapped(note, self.width, SIZE), classes="soft")
        return top

    def finished(self, title: str, description: str, height: float) -> str:
        """Return the element, with its name and its description for those who do not see it."""
        width, tall = number(self.width), number(height + PADDING)
        named = f"{self.key}-t {self.key}-d"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{named}"'
            f' width="{width}" height="{tall}" viewBox="0 0 {width} {tall}"'
            f' font-size="{number(SIZE)}">'
            f'<title id="{self.key}-t">{escaped(title)}</title>'
            f'<desc id="{self.key}-d">{escaped(description)}</desc>'
            f"{''.join(self._parts)}</svg>\n"
        )


def horizontal_scale(
    values: Iterable[float], axis: Axis, start: float, stop: float
) -> tuple[Scale, list[Decimal]]:
    """Choose the ends and the ticks of a horizontal axis, as many as have room for their numbers.

    Parameters
    ----------
    values, axis, start, stop
        As for `pooler.report.scales.make_scale`.
    """
    found = list(values)
    for most in (8, 6, 5, 4, 3):
        scale, marks = make_scale(found, axis, start, stop, most=most)
        places = [scale.place(float(mark)) for mark in marks]
        room = min((after - before for before, after in pairwise(places)), default=stop - start)
        if max(text_width(label, SIZE) for label in tick_labels(marks)) + 2 * PADDING <= room:
            break
    return scale, marks


def _hatching(series: int, x: float, y: float, width: float, height: float) -> str:
    """Return the lines within a rectangle that tell a series, from 1 on, without its colour.

    Rising; short and level in two rows; crossed; level; upright.
    """
    if width <= 0 or height <= 0:
        return ""
    across = [x + _HATCH * step for step in range(int(width / _HATCH) + 1)]
    if series == 2:
        stretches = [(left + shift, y + height * share, 3.0, 0.0) for left in across
                     for shift, share in ((0.0, 0.3), (4.0, 0.7))]  # fmt: skip
    elif series == 4:
        stretches = [(x, y + height * share, width, 0.0) for share in (0.3, 0.7)]
    elif series == 5:
        stretches = [(left + 4, y, 0.0, height) for left in across]
    else:
        stretches = []
        starts = [x - height + _HATCH * step for step in range(int((width + height) / _HATCH) + 1)]
        for left in starts:
            cut = max(0.0, x - left)
            long = min(height, x + width - left) - cut
            stretches.append((left + cut, y + height - cut, long, -long))
            if series == 3:
                stretches.append((left + cut, y + cut, long, long))
    return "".join(
        f"M{number(left)} {number(top)}l{number(min(right, x + width - left))} {number(down)}"
        for left, top, right, down in stretches
        if left < x + width and (right > 0 or down > 0)
    )


def _box(x: float, y: float, width: float, height: float) -> str:
    """Write the attributes of a rectangle."""
    return f' x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
