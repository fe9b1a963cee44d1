"""Text laid out in terminal cells: lines that fit, Japanese included, and nothing lost.

Every width is the sum of its characters' widths. Characters that show nothing - joiners, variation
selectors, soft hyphens - are left out of what is drawn: terminals do not agree on their width, and
a line that comes out wider than it was counted spills into its neighbours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from rich.cells import get_character_cell_size

TAB = "    "
"""What a tab is drawn as."""

_INVISIBLE_RANGES = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200D),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""Unicode's default-ignorable code points, and the interlinear annotation marks."""

_DRAWN: dict[int, str] = {
    code: "" for first, last in _INVISIBLE_RANGES for code in range(first, last + 1)
}
_DRAWN[ord("\t")] = TAB

_NOT_AT_START = frozenset(
    "、。，．：；？！」』）】〕〉》］｝,.:;?!)]}’”・ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
)
_NOT_AT_END = frozenset("「『（【〔〈《［｛([{‘“")

_MOST_PER_CELL = 8
"""Characters of one line for each cell of its width, so that a line of combining marks ends."""

LineSpan = tuple[int, int]
"""Start and end of one line in the text; the blank or newline that ended it is in neither."""


def drawn(text: str) -> str:
    r"""Return a text as it is drawn: tabs widened, invisible characters left out.

    Examples
    --------
    >>> drawn("a\tb\u00ad\u200dc")
    'a    bc'
    """
    return text.translate(_DRAWN)


def cell_width(text: str) -> int:
    """Return the width of a text as it is drawn, in cells."""
    return len(text) if _is_plain(text) else sum(map(_character_width, text))


def cut(text: str, width: int) -> str:
    """Shorten one line of text to a width, with three dots for what is missing.

    Parameters
    ----------
    text : str
        One line.
    width : int
        In cells.

    Examples
    --------
    >>> cut("検索評価の基礎", 9), cut("abc", 3), cut("abcdef", 2)
    ('検索評...', 'abc', '..')
    """
    text = drawn(text)
    if cell_width(text) <= width:
        return text
    dots = "..."[: max(width, 0)]
    return text[: fitting(text, width - len(dots))] + dots


def fitting(text: str, width: int) -> int:
    """Return how many leading characters of a text fit into a width, in cells."""
    total = 0
    for place, character in enumerate(text):
        total += _character_width(character)
        if total > width:
            return place
    return len(text)


def pad(text: str, width: int) -> str:
    """Bring one line of text to a width exactly: `cut`, or blanks after it."""
    short = cut(text, width)
    return short + " " * (width - cell_width(short))


def wrap(text: str, width: int) -> list[LineSpan]:
    r"""Break a text into lines.

    Parameters
    ----------
    text : str
        Any text; a newline ends a paragraph.
    width : int
        Of the lines, in cells; less than 2 counts as 2, the width of a kanji.

    Returns
    -------
    list of LineSpan
        At least one line; every character of the text is in one, but for newlines and the blank
        at which a line was broken.

    Notes
    -----
    Broken at a blank, or beside a wide character but not before closing nor after opening
    punctuation; a longer word is broken where the line ends. Never before a combining mark,
    unless there are only those. Linear.

    Examples
    --------
    >>> text = "to be or not\n情報検索。"
    >>> [text[start:end] for start, end in wrap(text, 8)]
    ['to be or', 'not', '情報検', '索。']
    """
    width = max(width, 2)
    lines: list[LineSpan] = []
    start = 0
    for paragraph in text.split("\n"):
        breaks = _break_plain if _is_plain(paragraph) else _break_any
        lines += [(start + first, start + last) for first, last in breaks(paragraph, width)]
        start += len(paragraph) + 1
    return lines


def _is_plain(text: str) -> bool:
    """Say whether every character is one cell wide for certain."""
    return text.isascii() and "\t" not in text


def _break_plain(text: str, width: int) -> list[LineSpan]:
    """Break a paragraph of ASCII."""
    lines = []
    start = 0
    while len(text) - start > width:
        blank = text.rfind(" ", start, start + width + 1)
        if blank > start:
            lines.append((start, blank))
            start = blank + 1
        else:
            lines.append((start, start + width))
            start += width
    lines.append((start, len(text)))
    return lines


def _break_any(text: str, width: int) -> list[LineSpan]:
    """Break a paragraph of any characters."""
    widths = {character: _character_width(character) for character in set(text)}
    reached = list(accumulate(map(widths.__getitem__, text), initial=0))
    lines = []
    start = 0
    while True:
        fits = bisect_right(reached, reached[start] + width, lo=start) - 1
        end = min(max(fits, start + 1), start + _MOST_PER_CELL * width)
        if end >= len(text):
            lines.append((start, len(text)))
            return lines
        if text[end] == " ":
            lines.append((start, end))
            start = end + 1
            continue
        place = _last_break(text, start, end, widths.__getitem__)
        blank = text[place - 1] == " " and place - 1 > start
        lines.append((start, place - 1 if blank else place))
        start = place


def _last_break(text: str, start: int, end: int, width_of: Callable[[str], int]) -> int:
    """Return the last place after `start`, up to `end`, where a line may be broken."""
    for place in range(end, start, -1):
        before, here = text[place - 1], text[place]
        if before == " " and place > start + 1:
            return place
        if here in _NOT_AT_START or before in _NOT_AT_END or width_of(here) == 0:
            continue
        if width_of(before) == 2 or width_of(here) == 2:
            return place
    place = end
    while place > start + 1 and width_of(text[place]) == 0:
        place -= 1
    return place if place > start + 1 else end


def _character_width(character: str) -> int:
    """Return the width of a character as it is drawn, in cells."""
    shown = _DRAWN.get(ord(character))
    return get_character_cell_size(character) if shown is None else len(shown)
