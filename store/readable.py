"""A readable text in pieces, each with the part of the raw text that it stands for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from enum import IntEnum

from store.text import sanitise

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

    def finish(self) -> Readable:
        """Return what was written."""
        return Readable(
            # Without carriage returns, sanitising keeps every character in its place.
            sanitise("".join(self._parts)),
            self.raw,
            tuple((start, end) for start, end in self._strong),
            "",
            self._starts,
            self._raw_starts,
            self._raw_ends,
        )

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


_RETURNS = re.compile("\r+")


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
    for found in _RETURNS.finditer(raw) if "\r" in raw else ():
        writer.literal(place, found.start())
        place = found.end()
    writer.literal(place, len(raw))
    made = writer.finish()
    return Readable(made.text, raw, (), note, made.starts, made.raw_starts, made.raw_ends)
