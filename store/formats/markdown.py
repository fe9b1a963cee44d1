"""Markdown as it is read: text without marks, in paragraphs, lines and cells; nothing in it acts.

A link is its words, an image its words in brackets; HTML in it is text. Blocks are those of CommonMark, and
tables.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any
from unicodedata import east_asian_width

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from store.text import Gap, PieceWriter, Readable

_RULE = "- - -"
_DEEPEST = 6
"""Levels of lists that are indented."""
_INNER_ENDS = {f"{inner}_close" for inner in ("list_item", "td", "th", "tr", "tbody", "thead")}
"""Ends of blocks within others, which set nothing apart."""


class _PlacedInline(StateInline):
    """Notes with every token where it begins in the text of its block."""

    def pushPending(self) -> Token:  # noqa: N802 - the parser's name
        # It ends here, but for blanks before a line end.
        begun = self.src.rfind(self.pending, 0, self.pos)
        token = super().pushPending()
        token.meta["at"] = max(begun, 0)
        return token

    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        token = super().push(ttype, tag, nesting)
        token.meta["at"] = self.pos
        return token


class _PlacedParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _PlacedInline(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


# What is disabled makes one token of several, which then has one place.
_PARSER = MarkdownIt("commonmark", {"html": False})
_PARSER.inline = _PlacedParser()
_PARSER.configure("commonmark").enable("table").disable(["text_join", "fragments_join"])
_PARSER.options["html"] = False
"""Made once: that takes as long as it takes to read a short text. It keeps nothing of what it parsed."""


def read_markdown(raw: str) -> Readable:
    """Read a text as markdown."""
    text = raw
    returns: list[int] = []
    if "\r" in raw:
        text = raw.replace("\r\n", "\n").replace("\r", "\n")
        place = -1
        while (place := raw.find("\r\n", place + 1)) >= 0:
            returns.append(place - len(returns))
    writer = _MarkdownWriter(raw, text, returns)
    for token in _PARSER.parse(text):
        writer.take(token)
    return writer.out.finish()


class _MarkdownWriter:
    def __init__(self, raw: str, text: str, returns: Sequence[int]) -> None:
        self.out = PieceWriter(raw)
        self._text = text
        self._returns = returns
        """Where line ends of `text` are two characters of the raw text."""
        self._line_starts = [0]
        for line in text.split("\n"):
            self._line_starts.append(self._line_starts[-1] + len(line) + 1)
        self._reached = 0
        """Up to where the text was written."""
        self._n_lists = 0
        self._is_in_row = False

    def take(self, token: Token) -> None:
        out, kind = self.out, token.type
        if kind == "inline":
            self._inline(token)
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind == "hr":
            out.gap(Gap.PARAGRAPH)
            self._unit(_RULE, *self._lines_of(token))
            out.gap(Gap.PARAGRAPH)
        elif kind in ("heading_open", "th_open"):
            out.strong += 1
        elif kind in ("heading_close", "th_close"):
            out.strong -= 1
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._n_lists += 1
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._n_lists -= 1
            out.gap(Gap.LINE if self._n_lists else Gap.PARAGRAPH)
        elif kind == "list_item_open":
            out.gap(Gap.LINE)
            indent = "  " * min(self._n_lists - 1, _DEEPEST)
            out.before = f"{indent}{token.info}{token.markup} " if token.info else f"{indent}- "
        if kind in ("td_open", "th_open"):
            out.gap(Gap.CELL if self._is_in_row else Gap.LINE)
            self._is_in_row = True
        elif kind == "tr_open":
            out.gap(Gap.LINE)
            self._is_in_row = False
        elif kind in ("heading_open", "blockquote_open", "table_open") or kind.endswith("_close"):
            if kind not in _INNER_ENDS:
                out.gap(Gap.LINE if token.hidden or self._n_lists else Gap.PARAGRAPH)
        elif kind == "paragraph_open" and not (token.hidden or self._n_lists):
            out.gap(Gap.PARAGRAPH)

    def _lines_of(self, token: Token) -> tuple[int, int]:
        """Return where the lines of a block begin, and end, in the text."""
        first, end = token.map or (0, 0)
        return self._line_starts[first], max(self._line_starts[end] - 1, 0)

    def _code(self, token: Token) -> None:
        start, end = self._lines_of(token)
        self.out.gap(Gap.PARAGRAPH)
        self._reached = max(self._reached, start)
        if token.type == "fence":
            self._reached = self._text.find("\n", self._reached, end) + 1 or end
        for line in token.content.rstrip("\n").split("\n"):
            place = self._text.find(line, self._reached, end) if line else -1
            if place >= 0:
                self._literal(place, place + len(line))
            elif line:
                self._unit(line, self._reached, min(self._reached + len(line), end))
            self.out.line()
            following = self._text.find("\n", self._reached, end)
            self._reached = following + 1 if following >= 0 else end
        self.out.gap(Gap.PARAGRAPH)

    def _inline(self, token: Token) -> None:
        places = self._places(token)
        if places is None:
            words = "".join(one.content for one in token.children or [])
            self._unit(words, *self._lines_of(token))
            return
        children, src, reached = token.children or [], token.content, 0
        for number, one in enumerate(children):
            at = max(int(one.meta.get("at", 0)), reached)
            if one.type == "strong_open":
                self.out.strong += 1
            elif one.type == "strong_close":
                self.out.strong -= 1
            elif one.type == "hardbreak":
                self.out.line()
            elif one.type == "softbreak":
                self.out.gap(_joint(children, number))
            elif one.content:
                content = f"[{one.content}]" if one.type == "image" else one.content
                width = len(one.markup) + len(one.content) + 4
                found = src.find(content, at, at + len(content) + width)
                if one.type == "text_special":
                    found = -1
                if found >= 0 and "\n" not in content:
                    self._literal(places(found), places(found + len(content) - 1) + 1)
                    reached = found + len(content)
                else:
                    reached = min(at + max(len(one.markup), 1), len(src))
                    self._unit(content, places(at), places(reached - 1) + 1)

    def _places(self, token: Token) -> Any:
        """Return a function from a character of a block's text to its place; ``None`` = there is none."""
        first, end = token.map or (0, 0)
        starts: list[int] = []
        offsets: list[int] = []
        offset, reached = 0, self._reached
        for number, line in enumerate(token.content.split("\n")):
            if first + number >= end:
                return None
            start, stop = self._line_starts[first + number], self._line_starts[first + number + 1] - 1
            place = self._text.find(line, max(start, reached), stop)
            if place < 0:
                return None
            starts.append(place)
            offsets.append(offset)
            offset += len(line) + 1
            reached = place + len(line)

        def place_of(at: int) -> int:
            line = max(bisect_left(offsets, at + 1) - 1, 0)
            return starts[line] + at - offsets[line]

        return place_of

    def _literal(self, start: int, end: int) -> None:
        self.out.literal(self._in_raw(start), self._in_raw(end - 1) + 1)
        self._reached = max(self._reached, end)

    def _unit(self, words: str, start: int, end: int) -> None:
        if start < end:
            self.out.unit(words.replace("\n", " "), self._in_raw(start), self._in_raw(end - 1) + 1)
            self._reached = max(self._reached, end)

    def _in_raw(self, place: int) -> int:
        return place + bisect_left(self._returns, place)


def _joint(children: Sequence[Token], number: int) -> Gap:
    """Return what stands for a line end: nothing between two wide characters."""
    before = next((one.content for one in reversed(children[:number]) if one.content), "")[-1:]
    after = next((one.content for one in children[number + 1 :] if one.content), "")[:1]
    is_wide = [east_asian_width(one) in "WF" for one in (before, after) if one]
    return Gap.NONE if is_wide == [True, True] else Gap.BLANK
