"""A long text, a page at a time, for those whom all of it at once would flood."""

from __future__ import annotations

import unicodedata

_LEAST_FILL = 0.5
"""A long line is cut at a blank or a full stop, if there is one in the last part of its page."""

_ENDS = frozenset(" \t。．！？.!?、，,")
"""Characters after which a long line may be cut."""


class Pages:
    r"""Gives out a text from its start, page by page; nothing is changed and nothing lost.

    Parameters
    ----------
    text : str
        Of any characters; its newlines stay where they are.
    n_lines : int
        Terminal lines on a page; 0 = all the text is one page.
    width : int, default=80
        Cells on a terminal line, at least 1. The terminal wraps what is longer.

    Notes
    -----
    A page ends at the end of a line of the text where it can. A line that fills a whole page by
    itself is cut, after a blank or a full stop if there is one in its second half, and never
    before a character that joins the one in front of it; but a page has at most four characters
    for each of its cells, so that a line of combining marks ends.

    Examples
    --------
    >>> pages = Pages("one\ntwo\nthree", 2)
    >>> pages.next(), pages.percent, pages.next(), pages.is_done
    ('one\ntwo\n', 61, 'three', True)
    """

    def __init__(self, text: str, n_lines: int, width: int = 80) -> None:
        self._text = text
        self._n_lines = n_lines
        self._width = width
        self._at = 0

    @property
    def is_done(self) -> bool:
        """Whether everything has been given out."""
        return self._at >= len(self._text)

    @property
    def percent(self) -> int:
        """Share of the text that has been given out, rounded down; 100 for an empty one."""
        return 100 * self._at // len(self._text) if self._text else 100

    def next(self) -> str:
        """Return the next page; empty when everything has been given out."""
        start, self._at = self._at, self._end()
        return self._text[start : self._at]

    def _end(self) -> int:
        """Find the end of the page that begins here."""
        text, place = self._text, self._at
        if self._n_lines <= 0:
            return len(text)
        lines = 0
        while place < len(text):
            most = (self._n_lines - lines) * self._width * 4
            newline = text.find("\n", place, place + most)
            end = newline + 1 if newline >= 0 else min(place + most, len(text))
            needed = -(-max(_cells(text[place:end]), 1) // self._width)
            if end - place == most and newline < 0 and end < len(text):
                needed = self._n_lines + 1
            if lines + needed > self._n_lines:
                return place if lines else self._cut(place, end)
            place, lines = end, lines + needed
            if lines == self._n_lines:
                break
        return place

    def _cut(self, start: int, end: int) -> int:
        """Find where to cut a line that is longer than a page."""
        text, room, place = self._text, self._n_lines * self._width, start
        while place < end and room >= (cells := _cells(text[place])):
            room -= cells
            place += 1
        least = start + max(int((place - start) * _LEAST_FILL), 1)
        good = next((at for at in range(place, least, -1) if text[at - 1] in _ENDS), place)
        # A character wider than the terminal still has to go out.
        return max(good, start + 1)


def _cells(text: str) -> int:
    """Count the terminal cells that a text takes, about."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks
