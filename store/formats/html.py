"""HTML as it is read: text without tags, in paragraphs, lines and cells; nothing in it acts.

What a browser would not show because of a style is shown: nothing is decided here but what is text. Scripts,
styles, templates and comments are none. An image is its `alt` text in brackets, a link its words. The tags
are read one by one, without a tree, so that no nesting is too deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Token, TokenType, tokenize

from store.text import Gap, PieceWriter, Readable

_SKIPPED = frozenset(("script", "style", "template"))
_PARAGRAPHS = """
address article aside blockquote body center details dialog dl fieldset figure footer form
h1 h2 h3 h4 h5 h6 header hr html main menu nav noscript ol p pre section table title ul
"""
_LINES = """
caption dd div dt figcaption legend li optgroup option select summary tbody textarea tfoot thead tr
"""
_APART = dict.fromkeys(_LINES.split(), Gap.LINE) | dict.fromkeys(_PARAGRAPHS.split(), Gap.PARAGRAPH)
"""What sets a tag's content apart from what stands before and after it."""
_CELLS = frozenset(("td", "th"))
_LISTS = frozenset(("menu", "ol", "ul"))
_HEADINGS = frozenset(("dt", "h1", "h2", "h3", "h4", "h5", "h6", "th", "title"))
_BOLD = frozenset(("b", "strong"))
_SIBLINGS = frozenset(("dd", "dt", "td", "th", "tr"))
"""Each ends the one before, whose end tag may be left out."""
_RULE = "- - -"
_SPACE = " \t\n\r\f"
_ODD_SPACE = re.compile(r"[\t\n\r\f][ \t\n\r\f]*| [ \t\n\r\f]+")
"""Blanks other than a single one, which stands as it is."""
_LINE_END = re.compile(r"\r\n?|\n")
_LONGEST_ALT = 200
_DEEPEST = 6
"""Levels of lists that are indented."""


def read_html(raw: str) -> Readable:
    """Read a text as HTML; linear in the text."""
    writer = _HtmlWriter(raw)
    for token, start, end in _placed(raw):
        writer.take(token, start, end)
    return writer.out.finish()


def _placed(raw: str) -> Iterator[tuple[Token, int, int]]:
    # A carriage return is a blank; a parser would make one line end of two characters.
    text = raw.replace("\r", " ")
    line, line_start = 1, 0
    for token in tokenize(text, resolve_references=False, capture_source=True):
        while line < token.line:
            line, line_start = line + 1, text.index("\n", line_start) + 1
        start = line_start + token.col
        source = token.data if token.type == TokenType.TEXT else token.source
        end = start + len(source or "")
        if not text.startswith(source or "", start) and "\x00" not in text[start:end]:
            raise ValueError(f"expected at {start}: {source!r}")
        yield token, start, end


class _HtmlWriter:
    def __init__(self, raw: str) -> None:
        self._raw = raw
        self.out = PieceWriter(raw)
        self._skipped = ""
        """The tag whose content is no text; empty = none is open."""
        self._n_pre = 0
        self._lists: list[int] = []
        """Of each open list the number of its latest item, -1 where items have none."""
        self._is_in_row = False
        """Whether a row has a cell already."""

    def take(self, token: Token, start: int, end: int) -> None:
        if token.type == TokenType.START_TAG:
            if not self._skipped:
                self._open(token, token.tag or "", start, end)
        elif token.type == TokenType.END_TAG:
            if not self._skipped:
                self._close(token.tag or "")
            elif token.tag == self._skipped:
                self._skipped = ""
        elif self._skipped:
            pass
        elif token.type == TokenType.CHARACTER_REFERENCE:
            self._reference(token.data or "", start, end)
        elif token.type == TokenType.TEXT:
            (self._lines if self._n_pre else self._prose)(start, end)

    def _open(self, token: Token, tag: str, start: int, end: int) -> None:
        out = self.out
        if tag in _SKIPPED:
            self._skipped = tag
        elif tag == "br":
            out.line()
        elif tag == "hr":
            self._block(tag)
            out.unit(_RULE, start, end)
            out.gap(Gap.PARAGRAPH)
        elif tag == "img":
            if words := " ".join((token.attr("alt") or "").split()):
                out.unit(f"[{words[:_LONGEST_ALT]}]", start, end)
        elif tag in _CELLS:
            out.gap(Gap.CELL if self._is_in_row else Gap.LINE)
            self._is_in_row = True
        else:
            self._block(tag)
            if tag == "pre":
                self._n_pre += 1
            elif tag in _LISTS:
                self._lists.append(0 if tag == "ol" else -1)
            elif tag == "li":
                out.before = self._mark()
        if tag in _SIBLINGS:
            out.strong = 0
        if tag in _BOLD or tag in _HEADINGS:
            out.strong += 1

    def _close(self, tag: str) -> None:
        if tag in _BOLD or tag in _HEADINGS:
            self.out.strong = max(self.out.strong - 1, 0)
        if tag in _CELLS:
            return
        if tag == "pre":
            self._n_pre = max(self._n_pre - 1, 0)
        elif tag in _LISTS and self._lists:
            self._lists.pop()
        self._block(tag)

    def _block(self, tag: str) -> None:
        """Begin or end what stands apart; bold that was never closed ends with it."""
        gap = _APART.get(tag)
        if gap is None:
            return
        is_inner = bool(self._lists) and tag in _LISTS
        self.out.gap(Gap.LINE if is_inner else gap)
        if gap is Gap.PARAGRAPH:
            self.out.strong = 0
        self._is_in_row = False

    def _mark(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, _DEEPEST)
        if self._lists[-1] < 0:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1]}. "

    def _reference(self, text: str, start: int, end: int) -> None:
        if self._n_pre or not text.isspace() or text == "\xa0":
            self.out.unit(text, start, end)
        else:
            self.out.gap(Gap.BLANK)

    def _prose(self, start: int, end: int) -> None:
        """Write text whose blanks are of no account."""
        out, text = self.out, self._raw[start:end]
        first, last = end - len(text.lstrip(_SPACE)), start + len(text.rstrip(_SPACE))
        if start < first:
            out.gap(Gap.BLANK)
        place = first
        for blanks in _ODD_SPACE.finditer(self._raw, first, last):
            out.literal(place, blanks.start())
            out.gap(Gap.BLANK)
            place = blanks.end()
        if place < last:
            out.literal(place, last)
            if last < end:
                out.gap(Gap.BLANK)

    def _lines(self, start: int, end: int) -> None:
        place = start
        for found in _LINE_END.finditer(self._raw, start, end):
            self.out.literal(place, found.start())
            self.out.line()
            place = found.end()
        self.out.literal(place, end)
