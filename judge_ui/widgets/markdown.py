"""Guidelines as they are read: markdown turned into plain text with bold headings.

Only the structure is used. A link is its words and its address, an image its words, HTML is text:
nothing in it acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from judge_ui.text.folding import Span
from judge_ui.widgets.laid_out import MarkedText
from store.text import sanitise
from store.wrapping import cell_width, wrap

if TYPE_CHECKING:
    from markdown_it.token import Token

_CODE = "    "
_RULE = "- - -"
_APART = frozenset(
    f"{block}_{edge}" for block in ("bullet_list", "ordered_list", "table") for edge in ("open", "close")
)
"""Tokens at which a blank line comes, unless they are inside something."""

Piece = tuple[str, bool]
"""A stretch of text without newlines, and whether it is bold."""


def markdown_text(text: str, width: int = 80) -> MarkedText:
    r"""Write a markdown text for a pane.

    Headings and strong words bold; a blank line between paragraphs; items with their marks, indented and, as
    quotations, broken for `width` cells; code and tables line by line. Two wide characters at a line break of
    the source are joined without a blank. Character references such as ``&#27;`` are decoded and sanitised
    here.

    Examples
    --------
    >>> marked_text = markdown_text("# Grades\n\n- **2** if\n  *any* part\n- 0 else\n")
    >>> print(marked_text.text)
    Grades
    <BLANKLINE>
    - 2 if *any* part
    - 0 else
    >>> [marked_text.text[start:end] for start, end in marked_text.strong]
    ['Grades', '2']
    """
    from markdown_it import MarkdownIt  # the first screen does without

    writer = _Writer(width)
    for token in MarkdownIt("commonmark", {"html": False}).enable("table").parse(text):
        writer.take(token)
    return writer.marked_text()


class _Writer:
    """Writes tokens, block by block."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[list[Piece]] = []
        self._indents: list[str] = []
        self._mark = ""
        """Of a list item whose first line is still to come."""
        self._is_tight = False
        """Whether what comes next follows without a blank line."""
        self._is_apart = False
        """Whether it does not, however tight a list is."""
        self._is_heading = False
        self._cells: list[list[Piece]] | None = None

    def marked_text(self) -> MarkedText:
        texts: list[str] = []
        spans: list[Span] = []
        place = 0
        for line in self._lines:
            for text, is_strong in line:
                if is_strong and text:
                    spans.append((place, place + len(text)))
                texts.append(text)
                place += len(text)
            texts.append("\n")
            place += 1
        return MarkedText("".join(texts).rstrip("\n"), tuple(spans))

    def take(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._inline(token)
        elif kind in ("fence", "code_block"):
            lines = sanitise(token.content).rstrip("\n").split("\n")
            self._block([[(_CODE + line, False)] for line in lines])
        elif kind == "hr":
            self._block([[(_RULE, False)]])
        elif kind == "list_item_open":
            self._mark = f"{token.info}{token.markup} " if token.info else "- "
            self._indents.append(" " * len(self._mark))
        elif kind == "blockquote_open":
            self._indents.append("> ")
        elif kind in ("list_item_close", "blockquote_close"):
            self._indents.pop()
            self._mark = ""
        elif kind in ("heading_open", "paragraph_open"):
            self._is_tight = token.hidden
            self._is_heading = kind == "heading_open"
        elif kind in _APART and not self._indents:
            self._is_apart = True
        else:
            self._table(kind)

    def _table(self, kind: str) -> None:
        if kind == "tr_open":
            self._cells = []
        elif kind == "tr_close" and self._cells is not None:
            line: list[Piece] = []
            for cell in self._cells:
                line += [*([(" | ", False)] if line else []), *cell]
            self._block([line])
            self._cells, self._is_tight = None, True
        elif kind == "th_open":
            self._is_heading = True
        elif kind == "td_open":
            self._is_heading = False

    def _inline(self, token: Token) -> None:
        lines = _words(token.children or [], self._is_heading)
        if self._cells is not None:
            self._cells.append([piece for line in lines for piece in line])
        else:
            self._block(lines)

    def _block(self, lines: Iterable[list[Piece]]) -> None:
        """Write lines that belong together, under the indents there are."""
        if self._lines and (self._is_apart or not self._is_tight):
            self._lines.append([])
        self._is_apart = self._is_tight = False
        for line in lines:
            for part in _broken(line, self._width - len("".join(self._indents))):
                *outer, inner = self._indents or [""]
                self._lines.append([("".join(outer) + (self._mark or inner), False), *part])
                self._mark = ""


def _broken(line: list[Piece], width: int) -> Iterator[list[Piece]]:
    text = "".join(piece for piece, _ in line)
    for start, end in wrap(text, width):
        part: list[Piece] = []
        place = 0
        for piece, is_strong in line:
            part.append((piece[max(start - place, 0) : max(end - place, 0)], is_strong))
            place += len(piece)
        yield part


def _words(tokens: Sequence[Token], is_heading: bool) -> list[list[Piece]]:  # noqa: FBT001 - private
    """Write inline tokens, one list a line."""
    lines: list[list[Piece]] = [[]]
    depth = int(is_heading)
    address = ""
    for place, token in enumerate(tokens):
        text = sanitise(token.content)
        if token.type == "strong_open":
            depth += 1
        elif token.type == "strong_close":
            depth -= 1
        elif token.type in ("em_open", "em_close"):
            text = token.markup
        elif token.type == "link_open":
            address = sanitise(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            words = "".join(piece for piece, _ in lines[-1])
            text = "" if words.endswith(address) else f" ({address})"
        elif token.type == "softbreak":
            text = _joint(lines[-1], tokens[place + 1 :])
        elif token.type == "hardbreak":
            lines.append([])
        if text:
            lines[-1].append((text.replace("\n", " "), depth > 0))
    return lines


def _joint(line: Sequence[Piece], following: Sequence[Token]) -> str:
    before = "".join(text for text, _ in line)[-1:]
    after = next((token.content for token in following if token.content), "")[:1]
    return "" if before and after and cell_width(before) == cell_width(after) == 2 else " "
