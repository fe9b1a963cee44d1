"""Text made fit for a terminal, in pieces that know their place in the raw text; the natural order of ids.

A crawled document can hold escape sequences that set the window title, write to the clipboard or
repaint the screen, and bidirectional controls that reorder what is read. Terminal libraries pass
them through, so every text that reaches a screen or a table goes through `sanitise` first.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from unicodedata import normalize

REPLACEMENT = "\ufffd"
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

_TABLE: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
_TABLE[ord("\n")] = "\n"
_TABLE[ord("\t")] = "\t"
_TABLE[ord("\r")] = None
_TABLE.update(dict.fromkeys([0x7F, *range(0x80, 0xA0)], REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, BIDI_CONTROLS), REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, "\u2028\u2029"), "\n"))
_SUSPECT = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{BIDI_CONTROLS}\u2028\u2029\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_STEERS = re.compile(f"[\x7f-\x9f\u2028\u2029{BIDI_CONTROLS}]")
"""What JSON leaves as it is and a terminal or a reader of lines obeys."""


def sanitise(text: str) -> str:
    r"""Replace every character that could steer a terminal.

    C0 controls become their pictures (U+2400..), but for newline and tab, which stay, and carriage return,
    which goes; DEL, C1 controls, bidirectional controls and lone surrogates become U+FFFD, the Unicode line
    and paragraph separators newlines.

    >>> sanitise("a\x1b]0;owned\x07b\r\n")
    'a␛]0;owned␇b\n'
    >>> sanitise("\u202eabc")
    '\ufffdabc'
    """
    if not _SUSPECT.search(text):
        return text
    return _LONE_SURROGATE.sub(REPLACEMENT, text.translate(_TABLE))


def sanitise_line(text: str) -> str:
    r"""Sanitise text that must stay on one line: a title, an id, a table cell.

    >>> sanitise_line("two\nlines\tand a tab")
    'two lines and a tab'
    """
    return sanitise(text).replace("\n", " ").replace("\t", " ")


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return a name, or the first of name-2, name-3, ... that is free.

    >>> free_name("pool", {"pool", "pool-2"}.__contains__)
    'pool-3'
    """
    name, number = wanted, 1
    while is_taken(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> counted(1, "document"), counted(1200, "judgement"), counted(2, "query", "queries")
    ('1 document', '1,200 judgements', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(part: float, whole: float) -> str:
    """Write a share in per cent; a part is never none or all.

    >>> percent(1, 3), percent(2, 2), percent(1, 9999), percent(9998, 9999)
    ('33.3 %', '100 %', 'under 0.1 %', 'over 99.9 %')
    """
    share = f"{100 * part / whole:.1f}"
    if 0 < part < whole and share in ("0.0", "100.0"):
        return "under 0.1 %" if share == "0.0" else "over 99.9 %"
    return f"{share.removesuffix('.0')} %"


def rough(value: float) -> str:
    """Write a score or a difference with two digits that count, and two decimals or more.

    More would be of no use in a conclusion: other topics would change them. Tables have all.

    >>> rough(0.43481), rough(-0.02331), rough(0.00059), rough(0.00001), rough(0)
    ('0.43', '-0.023', '0.0006', 'under 0.0001', '0')
    """
    if not value:
        return "0"
    decimals = min(4, max(2, 1 - math.floor(math.log10(abs(value)))))
    text = f"{value:.{decimals}f}"
    return text if float(text) else f"{'-' * (value < 0)}under 0.0001"


def escape_json(text: str) -> str:
    r"""Escape in JSON what it leaves as it is and could steer a terminal or split a line.

    The value stays the same, and UTF-8 has bytes for it: lone surrogates are ``\uXXXX``; a high surrogate
    with a low one behind it is the one character that they stand for in JSON.

    >>> print(escape_json('"é \u202e\ud800"'))
    "é \u202e\ud800"
    """
    if text.isascii() and "\x7f" not in text:
        return text
    text = _JSON_STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


NaturalKey = tuple[list[str | tuple[int, str]], str]

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> NaturalKey:
    """Sort key of topic ids: runs of digits by value, all else bytewise.

    >>> sorted(["10", "9", "T2", "T10", "009"], key=natural_key)
    ['009', '9', '10', 'T2', 'T10']
    """
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(text))
    # Without leading zeros the longer number is the greater one; any length will do.
    digits = [part.lstrip("0") for part in _DIGITS.findall(text)]
    parts[1::2] = [(len(part), part) for part in digits]
    return parts, text


_RANGES = (
    "AD-AD 34F-34F 115F-1160 17B4-17B5 180B-180F 200B-200D 2060-206F 3164-3164 FE00-FE0F FEFF-FEFF FFA0-FFA0"
    " FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
_BOUNDS = ([int(end, 16) for end in one.split("-")] for one in _RANGES.split())

INVISIBLE = frozenset(chr(code) for first, last in _BOUNDS for code in range(first, last + 1))
"""Unicode's default-ignorable code points, and the interlinear annotation marks."""


Pairs = dict[str, tuple[str, str]]
"""By composed form, two names that have it."""


def look_alikes(names: Iterable[str], known: Container[str]) -> Pairs:
    r"""Find names that `known`, which has them all, also has in another normal form.

    >>> names = ["caf\u00e9", "tea", "cafe\u0301"]
    >>> print(ascii([*look_alikes(names, names).values()]))
    [('caf\xe9', 'cafe\u0301')]
    """
    found: Pairs = {}
    for name in names:
        if not name.isascii():
            composed, decomposed = normalize("NFC", name), normalize("NFD", name)
            for other in (composed, decomposed):
                if other != name and other in known and composed not in found:
                    found[composed] = (name, other)
    return found


def look_alike_words(found: Pairs) -> str:
    """Return the warning about such documents, with the first ones escaped: they look the same."""
    one, other = next(iter(found.values()))
    return (
        f"documents whose docnos differ only in Unicode normal form (NFC, NFD): {len(found):,},"
        f" first {one!a} and {other!a}; they are counted and judged as different ones"
    )


Span = tuple[int, int]
"""Start and end, exclusive, in characters."""


@dataclass(frozen=True, slots=True, eq=False)
class Readable:
    """What is read of a raw text.

    A piece is either as it stands in the raw text, character by character, or stands as a whole for a part of
    it: a blank for a line end, ``&`` for ``&amp;``, a blank line for tags. Pieces are in order on both sides;
    one may stand for no part at all: what separates two others.
    """

    text: str
    """Fit for a terminal, without carriage returns."""
    raw: str
    strong: tuple[Span, ...] = ()
    """Headings and what is bold, in characters of `text`; ascending, not overlapping."""
    note: str = ""
    """Why it is not what it should be; empty = it is."""
    starts: list[int] = field(default_factory=list)
    """Of pieces, in characters of `text`, ..."""
    raw_starts: list[int] = field(default_factory=list)
    """... and of `raw`, ..."""
    raw_ends: list[int] = field(default_factory=list)
    """... where they end there, exclusive."""

    def raw_span(self, start: int, end: int) -> Span:
        """Return the part of the raw text that a part of `text`, which is not empty, stands for."""
        first, last = (bisect_right(self.starts, place) - 1 for place in (start, end - 1))
        raw_start, raw_end = self.raw_starts[first], self.raw_ends[last]
        if self._is_literal(first):
            raw_start += start - self.starts[first]
        if self._is_literal(last):
            raw_end = self.raw_starts[last] + end - self.starts[last]
        return raw_start, raw_end

    def span(self, raw_start: int, raw_end: int) -> Span | None:
        """Return the part of `text` that stands for a part of the raw text; ``None`` = nothing does."""
        first = bisect_right(self.raw_ends, raw_start)
        last = bisect_left(self.raw_starts, raw_end) - 1
        if first > last:
            return None
        start, end = self.starts[first], self._end(last)
        if self._is_literal(first):
            start += max(raw_start - self.raw_starts[first], 0)
        if self._is_literal(last):
            end = self.starts[last] + min(raw_end, self.raw_ends[last]) - self.raw_starts[last]
        return start, end

    def _end(self, piece: int) -> int:
        return self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)

    def _is_literal(self, piece: int) -> bool:
        return self._end(piece) - self.starts[piece] == self.raw_ends[piece] - self.raw_starts[piece]


class Gap(IntEnum):
    """What separates two pieces; of several that meet the greatest stands."""

    NONE = 0
    BLANK = 1
    CELL = 2
    LINE = 3
    PARAGRAPH = 4


_GAPS = ("", " ", " | ", "\n", "\n\n")


class PieceWriter:
    """Writes a readable text in the order of its raw text."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.strong = 0
        """How many marks that make bold are open."""
        self.before = ""
        """What comes before the next piece, after the gap: a list's mark."""
        self._gap = Gap.NONE
        self._parts: list[str] = []
        self._length = self._reached = 0
        self._strong: list[list[int]] = []
        self._starts: list[int] = []
        self._raw_starts: list[int] = []
        self._raw_ends: list[int] = []

    def gap(self, gap: Gap) -> None:
        """Separate what comes from what was written."""
        self._gap = max(self._gap, gap)

    def line(self) -> None:
        """Begin another line; twice makes a blank one."""
        self._gap = Gap.PARAGRAPH if self._gap >= Gap.LINE else Gap.LINE

    def literal(self, start: int, end: int) -> None:
        """Write a part of the raw text as it stands there; it has no carriage return."""
        start = max(start, self._reached)
        if start < end:
            self._lead(start)
            self._add(self.raw[start:end], start, end)

    def unit(self, text: str, start: int, end: int) -> None:
        """Write what stands as a whole for a part of the raw text."""
        start = max(start, self._reached)
        text = text.replace("\r", " ")
        if text and start < end:
            self._lead(start)
            self._add(text, start, end)

    def finish(self, note: str = "") -> Readable:
        """Return what was written."""
        # Without carriage returns, sanitising keeps every character in its place.
        text = sanitise("".join(self._parts))
        strong = tuple((start, end) for start, end in self._strong)
        return Readable(text, self.raw, strong, note, self._starts, self._raw_starts, self._raw_ends)

    def _lead(self, start: int) -> None:
        """Write the gap, and what comes before a piece; they stand for what lies in between."""
        text = (_GAPS[self._gap] if self._length else "") + self.before
        self._gap, self.before = Gap.NONE, ""
        if text:
            self._add(text, self._reached, start, is_gap=True)

    def _add(self, text: str, start: int, end: int, *, is_gap: bool = False) -> None:
        place, self._length = self._length, self._length + len(text)
        self._parts.append(text)
        self._starts.append(place)
        self._raw_starts.append(start)
        self._raw_ends.append(end)
        self._reached = end
        if not self.strong:
            return
        if self._strong and self._strong[-1][1] == place and (text == " " or not is_gap):
            self._strong[-1][1] = self._length
        elif not is_gap:
            self._strong.append([place, self._length])


def plain(raw: str, note: str = "") -> Readable:
    r"""Return a text without markup: all of it but carriage returns.

    Examples
    --------
    >>> text = plain("a\r\nb")
    >>> text.text, text.raw_span(1, 3), text.span(2, 4)
    ('a\nb', (2, 4), (1, 3))
    """
    writer = PieceWriter(raw)
    place = 0
    for found in re.finditer("\r+", raw):
        writer.literal(place, found.start())
        place = found.end()
    writer.literal(place, len(raw))
    return writer.finish(note)
