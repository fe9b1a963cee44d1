"""Text laid out in terminal cells: lines that fit, Japanese included, and nothing lost.

`wrap` gives places in a text that is read on a screen; `wrapped` breaks words about data, in which a path
stays whole; `broken` breaks cells of a table. Every width is the sum of its characters' widths. Characters
that show nothing - joiners, variation selectors, soft hyphens - and skin tones are left out of what is
drawn: terminals do not agree on their width, and a line that comes out wider than it was counted spills
into its neighbours.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from rich.cells import cell_len, chop_cells, get_character_cell_size

from store.text import INVISIBLE

TAB = "    "
"""What a tab is drawn as."""

_DRAWN: dict[int, str] = {ord(character): "" for character in INVISIBLE}
_DRAWN[ord("\t")] = TAB
# Skin tones colour the emoji before them, or take two cells more.
_DRAWN |= dict.fromkeys(range(0x1F3FB, 0x1F400), "")

_NOT_AT_START = frozenset(
    "、。，．：；？！」』）】〕〉》］｝,.:;?!)]}’”・ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
)
_NOT_AT_END = frozenset("「『（【〔〈《［｛([{‘“")

_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_START, _END = (re.escape("".join(sorted(one))) for one in (_NOT_AT_START, _NOT_AT_END))
_BLANKS = rf"(?<=[{_WIDE}])(?<![{_END}])(?![{_START}\s])|(?<=\S)(?<![{_END}])(?=[{_WIDE}])(?![{_START}])|\s+"
_JOINTS = r"(?<=[^\W_])[-_./:=,@+]+(?=[^\W_])"

_JOINER = "\u200d"
"""Makes one emoji of several, as of a family: no line ends within it."""

_MOST_PER_CELL = 8
"""Characters of one line for each cell of its width, so that a line of combining marks ends."""

_MEASURED = 4096
"""Least number of characters that are measured at a time."""

LineSpan = tuple[int, int]
"""Start and end of one line in the text; the blank or newline that ended it is in neither."""


def drawn(text: str) -> str:
    r"""Return a text as it is drawn: tabs widened, invisible characters left out.

    >>> drawn("a\tb\u00ad\u200dc")
    'a    bc'
    """
    return text.translate(_DRAWN)


def cell_width(text: str) -> int:
    """Return the width of a text as it is drawn, in cells."""
    return len(text) if _is_plain(text) else sum(map(_character_width, text))


def cut(text: str, width: int) -> str:
    """Shorten one line of text to a width in cells, with three dots for what is missing.

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
    r"""Break a text into lines of a width in cells, in linear time.

    A width less than 2 counts as 2, that of a kanji. A newline ends a paragraph. Lines are broken at a
    blank, or beside a wide character but not before closing nor after opening punctuation; a longer word
    is broken where the line ends. Never before a combining mark nor within joined emoji, unless there are
    only those. There is at least one line, and every character is in one, but for newlines and the blank at
    which a line was broken.

    >>> text = "to be or not\n情報検索。"
    >>> [text[start:end] for start, end in wrap(text, 8)]
    ['to be or', 'not', '情報検', '索。']
    """
    return list(iter_lines(text, width))


def iter_lines(text: str, width: int) -> Iterator[LineSpan]:
    """Break a text into lines as `wrap` does, one after the other.

    The cost of the next line does not depend on how much of the text is left, but for a newline looked for.
    """
    width = max(width, 2)
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end == start:
            yield start, end
        elif _is_plain(text[start:end]):
            yield from _break_plain(text, start, end, width)
        else:
            yield from _break_any(text, start, end, width)
        start = end + 1


def _is_plain(text: str) -> bool:
    return text.isascii() and "\t" not in text


def _break_plain(text: str, start: int, end: int, width: int) -> Iterator[LineSpan]:
    while end - start > width:
        blank = text.rfind(" ", start, start + width + 1)
        if blank > start:
            yield start, blank
            start = blank + 1
        else:
            yield start, start + width
            start += width
    yield start, end


def _break_any(text: str, start: int, end: int, width: int) -> Iterator[LineSpan]:
    most = _MOST_PER_CELL * width
    measured = max(_MEASURED, 2 * most)
    # `reached[n]` is the width of the text from `base` to `base + n`.
    base, reached = start, [0]
    while True:
        if base + len(reached) <= min(start + most, end):
            base = start
            window = text[base : min(base + measured, end)]
            reached = list(accumulate(map(_character_width, window), initial=0))
        at = start - base
        fits = bisect_right(reached, reached[at] + width, lo=at) - 1 + base
        last = min(max(fits, start + 1), start + most)
        if last >= end:
            yield start, end
            return
        if text[last] == " ":
            yield start, last
            start = last + 1
            continue
        place = _last_break(text, start, last)
        blank = text[place - 1] == " " and place - 1 > start
        yield start, place - 1 if blank else place
        start = place


def _last_break(text: str, start: int, end: int) -> int:
    """Return the last place after `start`, up to `end`, where a line may be broken."""
    for place in range(end, start, -1):
        before, here = text[place - 1], text[place]
        if before == " " and place > start + 1:
            return place
        if here in _NOT_AT_START or before in _NOT_AT_END or _character_width(here) == 0:
            continue
        if before != _JOINER and (_character_width(before) == 2 or _character_width(here) == 2):
            return place
    place = end
    while place > start + 1 and (_character_width(text[place]) == 0 or text[place - 1] == _JOINER):
        place -= 1
    return place if place > start + 1 else end


def least_width(text: str, *, joints: bool = False) -> int:
    """Return the columns that a text needs when it is broken at blanks, or at joints of names too.

    A number, a date and a time are one word, and so are a date and its time if joints are kept.

    >>> least_width("two words"), least_width("rm3-words-title"), least_width("2026-03-01 09:30")
    (5, 15, 16)
    >>> least_width("rm3-words-title", joints=True), least_width("漬物 石")
    (6, 2)
    """
    return max((cell_len(piece.rstrip()) for piece in _pieces(text, joints=joints)), default=0)


def broken(text: str, width: int) -> list[str]:
    """Break a sanitised line into lines of a width, 2 columns or more; only a wider word is broken.

    >>> broken("of the late-tfidf-bigrams run", 12)
    ['of the', 'late-tfidf-', 'bigrams run']
    >>> broken("0123456789abcdef", 10)
    ['0123456789', 'abcdef']
    """
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in _pieces(text):
        parts = [word]
        if cell_len(word.rstrip()) > width:
            parts = [
                part
                for piece in _pieces(word, joints=True)
                for part in ([piece] if cell_len(piece.rstrip()) <= width else chop_cells(piece, width))
            ]
        for number, part in enumerate(parts):
            starts = number == 0 and len(parts) > 1
            if lines and not starts and cell_len(lines[-1] + part.rstrip()) <= width:
                lines[-1] += part
            else:
                lines.append(part)
    return [line.rstrip() for line in lines]


def wrapped(text: str, width: int) -> str:
    r"""Break lines of words at blanks; words that are wider stay whole, for they may be paths.

    Lines go on under the first word of theirs.

    >>> print(wrapped("one line\n  another line, that is too long for this", 20))
    one line
      another line, that
      is too long for
      this
    """
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        lines.append(indent)
        for word in _pieces(words):
            is_first = lines[-1] == indent
            if not is_first and cell_len(lines[-1] + word.rstrip()) > width:
                lines.append(indent)
            lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def _pieces(text: str, *, joints: bool = False) -> Iterator[str]:
    """Yield the parts between which a text may be broken, each with the blanks after it."""
    ends = {
        found.end()
        for pattern in ((_BLANKS, _JOINTS) if joints else (_BLANKS,))
        for found in re.finditer(pattern, text)
        if not _is_between_digits(text, found.start(), found.end()) or (joints and pattern is _BLANKS)
    }
    start = 0
    for end in sorted({*ends, len(text)} - {0}):
        yield text[start:end]
        start = end


def _is_between_digits(text: str, start: int, end: int) -> bool:
    return 0 < start < end < len(text) and text[start - 1].isdigit() and text[end].isdigit()


@cache
def _character_width(character: str) -> int:
    shown = _DRAWN.get(ord(character))
    return get_character_cell_size(character) if shown is None else len(shown)
