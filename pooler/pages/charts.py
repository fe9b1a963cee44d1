"""Charts as SVG: rows of bars, stacks or dots with intervals; lines.

A label that is long for the room is broken, and where two lines are not enough, labels stand above
their marks. So nothing is ever cut, nor do two texts meet. A page does not know which font it will be
read in, so widths are at least those of a wide one (DejaVu Sans). All is done in decimals, so that a tick
is the very number that its label says, at 1e-9 as well as at 1e300. Text has a contrast of 4.5 or more
with what is behind it, a mark 3 or more with the page (WCAG 2.2).
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, groupby, pairwise
from typing import Literal

from store.errors import ArgumentError
from store.text import sanitise_line

_NARROW = frozenset(" !'(),-./:;I[\\]`fijlrt|")
_BROAD = frozenset("%@MWmw&+<=>~^#")
_VERY_BROAD = frozenset("‰‱ǄǅǱǲ")
_CODE = re.compile(r"(?<![^\s(])`([^`]+)`(?![^\s.,;:)])")
_NOT_XML = re.compile("[\ufffe\uffff]")
_JOINT = re.compile(r"(?<=[-_/=@+\s])(?<!\s[-+])(?<!^[-+])|(?<=[.:,])(?=\D)")
_EM_NARROW, _EM_USUAL, _EM_CAPITAL, _EM_BROAD = 0.5, 0.66, 0.8, 1.03
_EM_OTHER, _EM_PICTURE = 1.2, 1.8


def escaped(text: str) -> str:
    """Make any text fit to stand in an element or an attribute, of HTML and XML alike."""
    return html.escape(shown(text))


def marked(text: str) -> str:
    """Make a sentence fit as `escaped` does, its words in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escaped(text))


def shown(text: str) -> str:
    """Return a text as it is shown: on one line, without characters that steer or are no XML."""
    return _NOT_XML.sub("\ufffd", sanitise_line(text))


def text_width(text: str) -> float:
    """Return the room that a text needs in the size of labels; never too little."""
    return SIZE * sum(map(_em, text))


def widest(texts: Iterable[str]) -> float:
    """Return the width of the widest text; 0 for none."""
    return max((text_width(shown(text)) for text in texts), default=0.0)


def wrapped_label(text: str, room: float) -> list[str]:
    """Break a text into lines that fit a room: at blanks and joints, else anywhere."""
    lines, line = [], ""
    for word in _JOINT.split(shown(text).strip()):
        if text_width((line + word).rstrip()) <= room:
            line += word
            continue
        if line:
            lines.append(line)
        line = ""
        for character in word:
            if line and text_width(line + character) > room:
                lines.append(line)
                line = ""
            line += character
    lines.append(line)
    return [one.strip() for one in lines if one.strip()] or [""]


def _em(character: str) -> float:
    """Return the width of one character in units of the font size."""
    if character < "\x7f":
        if character in _NARROW:
            return _EM_NARROW
        if character in _BROAD:
            return _EM_BROAD
        return _EM_CAPITAL if character.isupper() else _EM_USUAL
    if character in _VERY_BROAD or unicodedata.category(character) in {"So", "Cn", "Co"}:
        return _EM_PICTURE
    return _EM_OTHER


_STEPS = (1, 2, 5)
_LEAST_SHARE = Decimal("1e-9")
"""A range is not less than this of the numbers in it: their labels could not be told apart."""


DRAWN = "svg .title{font-weight:bold}"
"""What every file of a drawing holds, by which it is known again."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What is measured along one side of a chart, and from where to where."""

    label: str
    """The quantity, with its unit in brackets where it has one."""
    low: float | None = None
    """End of the axis, unless data lie beyond it; ``None`` = from the data alone."""
    high: float | None = None
    with_zero: bool = True
    """Whether 0 is on an axis whose ends are not given. It always is where bars begin there."""


@dataclass(frozen=True, slots=True)
class AxisScale:
    """From values to places."""

    low: Decimal
    high: Decimal
    start: float
    stop: float
    marks: list[Decimal]
    """Its ticks."""

    @property
    def places(self) -> list[float]:
        """Where they stand."""
        return [self.place(float(mark)) for mark in self.marks]

    def place(self, value: float) -> float:
        """Return where a finite value stands, which lies between the ends."""
        share = (Decimal(value) - self.low) / (self.high - self.low)
        return self.start + float(share) * (self.stop - self.start)


def make_scale(values: Iterable[float], axis: Axis, start: float, stop: float, *, most: int = 6) -> AxisScale:
    """Choose the ends of an axis from `start` to `stop`, and its ticks, `most` of them at most."""
    found = [Decimal(value) for value in values if math.isfinite(value)]
    low, high = (None if end is None else Decimal(repr(float(end))) for end in (axis.low, axis.high))
    if not found:
        found = [end for end in (low, high) if end is not None] or [Decimal(0)]
    if axis.with_zero and low is None and high is None:
        found.append(Decimal(0))
    lowest, highest = min(found), max(found)
    low = None if low is not None and lowest < low else low
    high = None if high is not None and highest > high else high
    lowest = lowest if low is None else low
    highest = highest if high is None else high
    lowest, highest = _apart(lowest, highest, low_moves=low is None, high_moves=high is None)
    marks = ticks(lowest, highest, most=most)
    step = marks[1] - marks[0] if len(marks) > 1 else highest - lowest
    if low is None:
        lowest = (lowest / step).to_integral_value("ROUND_FLOOR") * step
    if high is None:
        highest = (highest / step).to_integral_value("ROUND_CEILING") * step
    return AxisScale(lowest, highest, start, stop, _multiples(lowest, highest, step))


def ticks(low: Decimal, high: Decimal, *, most: int) -> list[Decimal]:
    """Return the multiples of 1, 2 or 5 times a power of ten that lie in a range, its ends included."""
    exponent = ((high - low) / most).adjusted() - 1
    while True:
        for digit in _STEPS:
            marks = _multiples(low, high, Decimal(digit).scaleb(exponent))
            if len(marks) <= most:
                return marks
        exponent += 1


def tick_labels(marks: list[Decimal]) -> list[str]:
    """Write ticks alike: all with the same decimals, or all with the same power of ten."""
    largest = max((abs(mark) for mark in marks), default=Decimal(0))
    steps = [after - before for before, after in pairwise(marks)]
    finest = min((step.normalize() for step in steps), default=largest.normalize())
    decimals = max(0, -int(finest.as_tuple().exponent))
    if largest < Decimal("1e7") and decimals <= 6:
        # Minus 0 is written as 0.
        return [f"{mark or Decimal(0):,.{decimals}f}" for mark in marks]
    powers = [mark.adjusted() for mark in marks]
    return [
        f"{mark.scaleb(-power).normalize():f}e{power}" if mark else "0"
        for mark, power in zip(marks, powers, strict=True)
    ]


def _multiples(low: Decimal, high: Decimal, step: Decimal) -> list[Decimal]:
    first = int((low / step).to_integral_value("ROUND_CEILING"))
    last = int((high / step).to_integral_value("ROUND_FLOOR"))
    # Adding 0 writes 2E+1 as 20.
    return [step * number + 0 for number in range(first, last + 1)]


def _apart(
    lowest: Decimal, highest: Decimal, *, low_moves: bool, high_moves: bool
) -> tuple[Decimal, Decimal]:
    largest = max(abs(lowest), abs(highest))
    least = largest * _LEAST_SHARE if largest else Decimal(1)
    if highest - lowest >= least:
        return lowest, highest
    room = largest / 10 if largest else Decimal(1)
    if low_moves and (largest or not high_moves):
        lowest = min(lowest, highest) - room
    if high_moves or not low_moves:
        highest = max(lowest, highest) + room
    return lowest, highest


SIZE = 13.0
"""Font size of labels and values, in the unit of the drawing."""
LINE = 17.0
PADDING = 4.0
_RISE = 0.36
"""From the middle of a line of text down to its base, in font sizes."""
_SWATCH = 22.0
# One of each for every series: `N_SERIES`.
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "14 4", "5 2 1 2")
_FONT = "Helvetica, Arial, Noto Sans CJK JP, sans-serif"
_HATCH = 8.0
_MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.6L4.4 3.6H-4.4z",
    "M0 -5L5 0L0 5L-5 0z",
    "M-4.4 -3.6H4.4L0 4.6z",
    "M-4 -1.4H-1.4V-4H1.4V-1.4H4V1.4H1.4V4H-1.4V1.4H-4z",
)


def number(value: float) -> str:
    """Write a coordinate."""
    return f"{value:.1f}".removesuffix(".0").replace("-0", "0", 1 if -0.05 < value < 0 else 0)


class Sheet:
    """A drawing of some width in pixels, and of the height that what is put on it needs."""

    def __init__(self, width: float, key: str) -> None:
        self.width = width
        self.key = key
        self._parts: list[str] = []

    def text(self, x: float, y: float, content: str, *, anchor: str = "start", classes: str = "") -> None:
        """Write one line, its middle at height `y`."""
        attributes = f' class="{classes}"' if classes else ""
        attributes += f' text-anchor="{anchor}"' if anchor != "start" else ""
        base = y + _RISE * SIZE
        self._parts.append(f'<text x="{number(x)}" y="{number(base)}"{attributes}>{escaped(content)}</text>')

    def lines(
        self, x: float, top: float, lines: Sequence[str], *, anchor: str = "start", classes: str = ""
    ) -> float:
        """Write lines below each other; return where they end."""
        for row, line in enumerate(lines):
            self.text(x, top + LINE * (row + 0.5), line, anchor=anchor, classes=classes)
        return top + LINE * len(lines)

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
        """Draw a straight line."""
        ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        self._parts.append(f'<line {ends} class="{classes}"/>')

    def _grid(self, lines: Iterable[tuple[float, float, float, float]]) -> None:
        """Draw straight lines, upright or level, as one element: there are many of them."""
        moves = "".join(
            f"M{number(x1)} {number(y1)}" + (f"V{number(y2)}" if x1 == x2 else f"H{number(x2)}")
            for x1, y1, x2, y2 in lines
        )
        if moves:
            self._parts.append(f'<path d="{moves}" class="grid"/>')

    def rectangle(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        """Draw a rectangle filled by a class."""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        self._parts.append(f'<rect {place} class="{classes}"/>')

    def bar(self, x: float, y: float, width: float, height: float, series: int) -> None:
        """Draw a rectangle in the colour and the hatching of a series, counted from 0."""
        self.rectangle(x, y, width, height, f"paper line-{series + 1}" if series else "fill-1")
        if series and (hatching := _hatching(series, x, y, width, height)):
            self._parts.append(f'<path d="{hatching}" class="hatch line-{series + 1}"/>')

    def path(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw a line through points in the colour and the dashes of a series."""
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{_DASHES[series]}"' if _DASHES[series] else ""
        look = f'fill="none" stroke-width="2"{dashes} class="line-{series + 1}"'
        self._parts.append(f'<polyline points="{places}" {look}/>')

    def marker(self, x: float, y: float, series: int, classes: str = "") -> None:
        """Draw the shape of a series, in its colour or as the classes say."""
        place = f'transform="translate({number(x)} {number(y)})"'
        self._parts.append(
            f'<path d="{_MARKERS[series]}" {place} class="{classes or f"fill-{series + 1}"}"/>'
        )

    def legend(self, names: Sequence[str], *, are_lines: bool) -> float:
        """Explain the series at the top, if there are several; return where that ends."""
        if len(names) < 2:
            return 0.0
        x = y = 0.0
        for series, name in enumerate(names):
            room = self.width - _SWATCH - PADDING
            lines = wrapped_label(name, room)
            wide = widest(lines) + _SWATCH + PADDING
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
        self, scale: AxisScale, spans: Iterable[tuple[float, float]], bottom: float, label: str
    ) -> float:
        """Draw an axis below a field, with lines through its spans; return where its label ends."""
        self._grid((place, top, place, end) for top, end in spans for place in scale.places)
        self.line(scale.start, bottom, scale.stop, bottom, "axis")
        self.horizontal_numbers(scale, bottom + PADDING)
        lines = wrapped_label(label, self.width)
        half = widest(lines) / 2
        middle = max(half, min((scale.start + scale.stop) / 2, self.width - half))
        return self.lines(middle, bottom + PADDING + LINE, lines, anchor="middle", classes="soft")

    def horizontal_numbers(self, scale: AxisScale, top: float) -> None:
        """Write the numbers of an axis."""
        taken = 0.0
        for place, label in zip(scale.places, tick_labels(scale.marks), strict=True):
            half = text_width(label) / 2
            middle = min(max(place, half), self.width - half)
            if middle - half < taken:
                continue
            self.text(middle, top + LINE / 2, label, anchor="middle")
            taken = middle + half + PADDING

    def vertical_axis(self, scale: AxisScale, left: float) -> None:
        """Draw an axis at the left of a field, with lines through it to the right end."""
        self._grid((left, place, self.width, place) for place in scale.places)
        for place, label in zip(scale.places, tick_labels(scale.marks), strict=True):
            self.text(left - 2 * PADDING, place, label, anchor="end")
        self.line(left, scale.start, left, scale.stop, "axis")

    def notes(self, notes: Iterable[str], top: float) -> float:
        """Write remarks below a chart; return where they end."""
        for note in notes:
            top = self.lines(0, top + PADDING, wrapped_label(note, self.width), classes="soft")
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

    def drawing(self, x: float, y: float, drawing: str) -> float:
        """Put a finished drawing on this one; return where it ends."""
        [height] = re.findall(r'^<svg [^>]* height="([\d.]+)"', drawing)
        self._parts.append(f'<svg x="{number(x)}" y="{number(y)}" overflow="visible"{drawing[4:]}')
        return y + float(height)

    def as_file(self, height: float) -> str:
        """Return the drawing as a file, on white, with its colours written out: not only browsers show it."""
        style = re.sub(r"var\(--([\w-]+)\)", lambda found: COLOURS[found[1]][0], _rules())
        size = f'width="{number(self.width)}" height="{number(height)}"'
        font = f'font-size="{number(SIZE)}" font-family="{_FONT}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>\n'
            f'<style>\n{style}{DRAWN}\n</style>\n<rect {size} class="paper"/>\n'
            f"{''.join(self._parts)}</svg>\n"
        )


def horizontal_scale(values: Iterable[float], axis: Axis, start: float, stop: float) -> AxisScale:
    """Choose the ends and the ticks of a horizontal axis, as many as have room for their numbers."""
    found = list(values)
    for most in (8, 6, 5, 4, 3):
        scale = make_scale(found, axis, start, stop, most=most)
        room = min((after - before for before, after in pairwise(scale.places)), default=stop - start)
        if widest(tick_labels(scale.marks)) + 2 * PADDING <= room:
            break
    return scale


def _hatching(series: int, x: float, y: float, width: float, height: float) -> str:
    """Return the lines within a rectangle that mark a series, from 1 on, without its colour."""
    if width <= 0 or height <= 0:
        return ""
    across = [x + _HATCH * step for step in range(int(width / _HATCH) + 1)]
    if series == 2:
        stretches = [
            (left + shift, y + height * share, 3.0, 0.0)
            for left in across
            for shift, share in ((0.0, 0.3), (4.0, 0.7))
        ]
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


N_SERIES = 6
"""Series that one chart can tell apart, with and without colour."""

COLOURS: Mapping[str, tuple[str, str]] = {
    "page": ("#ffffff", "#14171b"),
    "panel": ("#f5f6f8", "#1c2026"),
    "text": ("#1b1f24", "#e8eaed"),
    "soft": ("#565d66", "#a9b1bb"),
    "link": ("#0a5ba8", "#7cbcff"),
    "rule": ("#d5d9df", "#363c45"),
    "axis": ("#6d757f", "#88919c"),
    "band": ("#f1f3f6", "#1d2127"),
    "series-1": ("#0a5ba8", "#6cb4ff"),
    "series-2": ("#b04a00", "#ff9f55"),
    "series-3": ("#00755a", "#4fd1a5"),
    "series-4": ("#8038a8", "#cf9bf0"),
    "series-5": ("#b0153f", "#ff8aa5"),
    "series-6": ("#6a5600", "#dcc25a"),
}

_CHARTS = """\
svg text{fill:var(--text);font-family:inherit}
svg .soft{fill:var(--soft)}
svg .axis{stroke:var(--axis);fill:none}
svg .grid{stroke:var(--rule);fill:none}
svg .band{fill:var(--band)}
svg .gap{fill:none;stroke:var(--axis);stroke-dasharray:2 2}
svg .thick{stroke-width:2}
svg .faint{fill:var(--axis);stroke:var(--axis)}
svg .paper{fill:var(--page)}
svg .hatch{fill:none;stroke-width:2}
"""


def _rules() -> str:
    series = "".join(
        f"svg .fill-{number}{{fill:var(--series-{number});stroke:var(--series-{number})}}\n"
        f"svg .line-{number}{{stroke:var(--series-{number})}}\n"
        for number in range(1, N_SERIES + 1)
    )
    return f"{_CHARTS}{series}"


def stylesheet() -> str:
    """Return the colours as custom properties, and the classes that drawings use."""
    light, dark = (
        "".join(f"--{name}:{colours[scheme]};" for name, colours in COLOURS.items()) for scheme in (0, 1)
    )
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{_rules()}"
    )


_LABEL_SHARE, _VALUE_SHARE = 0.38, 0.3
"""Of the width, at most."""
_LEFT_LINES = 2
_ABOVE_SHARE = 0.56
_LEAST_OF_WIDTH = 0.33
"""Of the width, for the marks; labels stand above them where they would leave less."""
_EDGE_SHARE = 0.04
_ROWS_SEEN_AT_ONCE = 25
_THICKNESS = 11.0
_CAP = 4.0
ALL = slice(None)
UNDEFINED = "undefined"
NOTHING = "nothing to show"


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows."""

    label: str
    values: tuple[float, ...]
    """One a part; NaN = a gap."""
    texts: tuple[str, ...]
    """The values as they are to be read, one a line: one a part, or one for all."""
    reason: str = ""
    interval: tuple[float, ...] = ()
    """The two ends around a dot; NaN = there is none."""
    is_faint: bool = False
    """Drawn in grey, as of too little to say much."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return all(map(math.isfinite, (*self.values, *self.interval)))


@dataclass(frozen=True, slots=True)
class Rows:
    """A chart of horizontal bars, or of dots with intervals."""

    title: str
    description: str
    axis: Axis
    rows: tuple[Row, ...]
    kind: Literal["bars", "stacks", "dots"] = "bars"
    """The values of a row below each other, end to end (and then not negative), or one as a dot."""
    parts: tuple[str, ...] = ("",)
    """Names of the values of a row; explained above the chart where there are several."""

    def ends(self) -> Iterator[float]:
        """Yield every value that the axis has to reach."""
        if self.kind != "dots":
            yield 0.0
        for row in self.rows:
            yield from (sum(row.values),) if self.kind == "stacks" else row.values
            if row.is_whole:
                yield from row.interval


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Where one row stands: a head, from `start` to `end` a block with the marks, the reason of a gap."""

    label: list[str]
    values: list[str]
    reason: list[str]
    top: float
    start: float
    end: float
    bottom: float
    is_faint: bool

    @property
    def middle(self) -> float:
        """The middle of the marks."""
        return (self.start + self.end) / 2


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where rows stand."""

    rows: list[PlacedRow]
    left: float
    right: float
    labels_above: bool
    values_above: bool

    def spans(self) -> list[tuple[float, float]]:
        """Return the heights that hold marks and no text."""
        found: list[tuple[float, float]] = []
        for row in self.rows:
            start = row.start
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, row.end))
        return found


def draw_rows(chart: Rows, *, width: float, key: str, rows: slice) -> str:
    """Draw bars of up to six parts, or dots; some `rows` with the axis and columns of the whole chart."""
    if len(chart.parts) > N_SERIES:
        raise ArgumentError("parts", f"must be 1 to {N_SERIES}", len(chart.parts))
    sheet = Sheet(width, key)
    shown = chart.rows[rows]
    is_long = len(shown) > _ROWS_SEEN_AT_ONCE
    n_lanes = len(chart.parts) if chart.kind == "bars" else 1
    top = sheet.legend(chart.parts, are_lines=False) + (LINE + PADDING) * is_long
    layout = _lay_out(chart.rows, shown, width, LINE * n_lanes, top)
    scale = horizontal_scale(chart.ends(), chart.axis, layout.left, layout.right)
    for placed in layout.rows[1::2]:
        sheet.rectangle(0, placed.top, width, placed.bottom - placed.top, "band")
    if is_long:
        sheet.horizontal_numbers(scale, top - LINE - PADDING)
    bottom = layout.rows[-1].bottom if shown else top
    end = sheet.horizontal_axis(scale, layout.spans(), bottom, chart.axis.label)
    _write_texts(sheet, layout)
    for row, placed in zip(shown, layout.rows, strict=True):
        if chart.kind == "dots":
            _draw_dot(sheet, scale, row, placed.middle)
        else:
            _draw_bars(sheet, scale, row, placed.middle, is_stacked=chart.kind == "stacks")
    if not shown:
        end = sheet.notes([NOTHING], end)
    elif chart.kind != "dots" and (zero := scale.place(0.0)) > scale.start:
        for start, stop in layout.spans():
            sheet.line(zero, start, zero, stop, "axis")
    return sheet.finished(chart.title, chart.description, end)


def _lay_out(
    rows: Sequence[Row], shown: Sequence[Row], width: float, mark_height: float, top: float
) -> RowLayout:
    label_room = min(widest(row.label for row in rows), _LABEL_SHARE * width)
    value_room = min(widest(text for row in rows for text in row.texts), _VALUE_SHARE * width)
    left, right = label_room + 2 * PADDING, width - value_room - 3 * PADDING
    most_lines = max((len(wrapped_label(row.label, label_room)) for row in rows), default=0)
    labels_above = most_lines > _LEFT_LINES or right - left < _LEAST_OF_WIDTH * width
    values_above = labels_above and all(len(row.texts) == 1 for row in rows)
    if labels_above:
        left, label_room = _EDGE_SHARE * width, width
    if values_above:
        value_room = min(widest(text for row in rows for text in row.texts), _ABOVE_SHARE * width)
        right, label_room = width - SIZE, width - value_room - 2 * PADDING
    placed = []
    for row in shown:
        label = wrapped_label(row.label, label_room)
        values = [line for text in row.texts for line in wrapped_label(text, value_room)]
        reason = [] if row.is_whole else wrapped_label(row.reason or UNDEFINED, width - left)
        above = (len(label) * labels_above, len(values) * values_above)
        beside = (len(label) * (not labels_above), len(values) * (not values_above))
        start = top + LINE * max(above)
        end = start + max(mark_height, LINE * max(beside)) + PADDING
        bottom = end + LINE * len(reason)
        placed.append(PlacedRow(label, values, reason, top, start, end, bottom, row.is_faint))
        top = bottom
    return RowLayout(placed, left, right, labels_above, values_above)


def _write_texts(sheet: Sheet, layout: RowLayout) -> None:
    for row in layout.rows:
        classes = "soft" if row.is_faint else ""
        if layout.labels_above:
            sheet.lines(0, row.top, row.label, classes=classes)
        else:
            start = row.middle - LINE * len(row.label) / 2
            sheet.lines(layout.left - 2 * PADDING, start, row.label, anchor="end", classes=classes)
        start = row.top if layout.values_above else row.middle - LINE * len(row.values) / 2
        sheet.lines(sheet.width, start, row.values, anchor="end", classes=classes)
        sheet.lines(layout.left, row.end, row.reason, classes="soft")


def _draw_bars(sheet: Sheet, scale: AxisScale, row: Row, middle: float, *, is_stacked: bool) -> None:
    """Draw values from zero below each other, or end to end: then none of them if one is missing."""
    step = 0.0 if is_stacked else LINE
    values = (math.nan,) if is_stacked and not math.isfinite(sum(row.values)) else row.values
    starts = accumulate(values, initial=0.0) if is_stacked else [0.0] * len(values)
    for series, (start, value) in enumerate(zip(starts, values, strict=False)):
        y = middle + step * (series - (len(values) - 1) / 2) - _THICKNESS / 2
        left = scale.place(start)
        if not math.isfinite(value):
            sheet.rectangle(left, y, SIZE, _THICKNESS, "gap")
            continue
        right = scale.place(start + value)
        sheet.bar(min(left, right), y, abs(right - left), _THICKNESS, series)


def _draw_dot(sheet: Sheet, scale: AxisScale, row: Row, middle: float) -> None:
    [value] = row.values
    if not math.isfinite(value):
        sheet.rectangle(scale.start, middle - SIZE / 2, SIZE, SIZE, "gap")
        return
    if row.interval and row.is_whole:
        colour = "faint thick" if row.is_faint else "line-1 thick"
        low, high = map(scale.place, row.interval)
        sheet.line(low, middle, high, middle, colour)
        for place in (low, high):
            sheet.line(place, middle - _CAP, place, middle + _CAP, colour)
    sheet.marker(scale.place(value), middle, 0, "faint" if row.is_faint else "")


_MOST_MARKERS = 12
_FIELD = 260.0


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
    x_axis: Axis
    y_axis: Axis
    lines: tuple[ChartLine, ...]
    """At most six; told apart by colour, dashes and markers."""


def draw_lines(chart: LineChart, *, width: float, key: str) -> str:
    """Draw one to six lines as one `<svg>` element."""
    sheet = Sheet(width, key)
    top = sheet.legend([line.label for line in chart.lines], are_lines=True)
    whole = [point for line in chart.lines for point in line.points if _is_drawn(point)]
    top = sheet.lines(0, top, wrapped_label(chart.y_axis.label, width), classes="soft") + LINE
    bottom = top + _FIELD
    up = make_scale([y for _, y in whole], chart.y_axis, bottom, top)
    left = widest(tick_labels(up.marks)) + 3 * PADDING
    sheet.vertical_axis(up, left)
    across = horizontal_scale([x for x, _ in whole], chart.x_axis, left, width - SIZE)
    end = sheet.horizontal_axis(across, [(top, bottom)], bottom, chart.x_axis.label)
    for series, line in enumerate(chart.lines):
        for is_drawn, stretch in groupby(line.points, _is_drawn):
            if is_drawn:
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


def _notes(chart: LineChart) -> Iterator[str]:
    for line in chart.lines:
        missing = sum(not _is_drawn(point) for point in line.points)
        if missing or not line.points:
            label = f"{line.label}: " if line.label else ""
            yield f"{label}{missing or 'all'} missing: {UNDEFINED}"


def _is_drawn(point: tuple[float, float]) -> bool:
    return all(map(math.isfinite, point))


Chart = Rows | LineChart
ROWS_OF_A_PIECE = 40


def draw(chart: Chart, *, width: float, key: str, rows: slice = ALL) -> str:
    """Draw a chart, some rows of bars and dots, as one `<svg>` element of well-formed XML."""
    match chart:
        case Rows():
            return draw_rows(chart, width=width, key=key, rows=rows)
        case LineChart():
            return draw_lines(chart, width=width, key=key)


def draw_in_pieces(chart: Chart, *, width: float, key: str) -> list[str]:
    """Draw a chart of many rows as several elements, with axes and columns alike."""
    most, n_rows = ROWS_OF_A_PIECE, len(chart.rows) if isinstance(chart, Rows) else 0
    if isinstance(chart, Rows) and chart.kind == "bars":
        most = max(1, most // len(chart.parts))
    if not isinstance(chart, Rows) or n_rows <= most:
        return [draw(chart, width=width, key=key)]
    size = math.ceil(n_rows / math.ceil(n_rows / most))
    found = []
    for first in range(0, n_rows, size):
        last = min(first + size, n_rows)
        piece = replace(chart, title=f"{chart.title}, rows {first + 1} to {last} of {n_rows}")
        found.append(draw(piece, width=width, key=f"{key}-{first + 1}", rows=slice(first, last)))
    return found
