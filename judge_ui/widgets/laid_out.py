"""Texts ready for a pane: what they say, what stands out in them, and their lines at one width.

Of markdown only the structure is used. A link is its words and its address, an image its words, HTML is text:
nothing in it acts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from functools import reduce
from itertools import pairwise
from operator import itemgetter, or_
from typing import TYPE_CHECKING

from judge_ui.session.messages import LONGEST_VALUE, remarks, text_shown
from judge_ui.text.finding import Span, term_spans
from judge_ui.text.marking import merged
from store.records import Passage, ShownDocument, Task, Topic
from store.text import sanitise, sanitise_line
from store.wrapping import LineSpan, cell_width, cut, drawn, wrap

if TYPE_CHECKING:
    from markdown_it.token import Token


class Look(Flag):
    """How a stretch of text is drawn, which may be several ways at once; never by colour alone."""

    PLAIN = 0
    STRONG = auto()
    """A heading, a key; never together with a lit word."""
    HIT = auto()
    """A word of the topic."""
    OWN = auto()
    """A word of the judge's own."""
    COMMON = auto()
    """A word of the topic that half of the documents have."""
    HERE = auto()
    """The grade that is given."""
    FOUND = auto()
    """What was looked for."""
    CURRENT = auto()
    """The hit that the judge has gone to."""
    PASSAGE = auto()
    """Marked as evidence."""
    SELECTED = auto()
    """About to be marked."""


Layer = tuple[Sequence[Span], Look]
"""Stretches of a text that look alike: ascending, not overlapping."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text and what stands out in it."""

    text: str
    strong: tuple[Span, ...] = ()
    """Ascending, not overlapping."""
    hits: tuple[Span, ...] = ()
    """Ascending, not overlapping; they may overlap `strong`."""
    is_document: bool = False
    """Whether it has the text of a document, in which passages can be marked."""
    body: int = 0
    """Where `ShownDocument.text` begins in `text`, after the heading."""
    lit: tuple[Layer, ...] = ()
    """Words of a document, and how they are drawn."""
    passages: tuple[Passage, ...] = ()
    """Ascending, not overlapping; in characters of `ShownDocument.text`."""

    def __add__(self, other: MarkedText) -> MarkedText:
        by = len(self.text)

        def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
            return tuple((start + by, end + by) for start, end in spans)

        return MarkedText(
            self.text + other.text, self.strong + moved(other.strong), self.hits + moved(other.hits)
        )

    @property
    def layers(self) -> list[Layer]:
        """The highlighted spans."""
        passages = [(one.start + self.body, one.end + self.body) for one in self.passages]
        return [(self.strong, Look.STRONG), (passages, Look.PASSAGE), (self.hits, Look.HERE), *self.lit]

    @property
    def lit_words(self) -> Sequence[Span]:
        """Every word that is lit up, the common ones left out."""
        return sorted(
            {*self.hits, *(one for spans, look in self.lit if look is not Look.COMMON for one in spans)}
        )


def strong(text: str) -> MarkedText:
    """Make a text that stands out as a whole."""
    return MarkedText(text, ((0, len(text)),) if text else ())


@dataclass(slots=True)
class LaidText:
    """A text broken into lines."""

    marked_text: MarkedText
    width: int
    """Of a line, in cells."""
    lines: list[LineSpan]
    """At least one."""

    def line_of(self, place: int) -> int:
        """Return the line that holds a place of the text, or that it ends."""
        return max(bisect_right(self.lines, place, key=itemgetter(0)) - 1, 0)

    def pieces(self, line: int, layers: Sequence[Layer] = ()) -> Iterator[tuple[str, Look]]:
        """Yield one line as it is drawn, piece by piece."""
        start, end = self.lines[line]
        drawn_so = [*self.marked_text.layers, *layers]
        # Each layer is a bit that is on between the two ends of each of its stretches.
        changes = {start: 0, end: 0}
        for bit, (spans, _) in enumerate(drawn_so):
            for first, last in _within(spans, start, end):
                changes[first] = changes.get(first, 0) ^ 1 << bit
                changes[last] = changes.get(last, 0) ^ 1 << bit
        on = 0
        edges = [place for place in sorted(changes) if changes[place] or place in (start, end)]
        for first, last in pairwise(edges):
            on ^= changes[first]
            looks = (look for bit, (_, look) in enumerate(drawn_so) if on >> bit & 1)
            look = reduce(or_, looks, Look.PLAIN)
            if Look.OWN in look:
                look &= ~(Look.HIT | Look.COMMON)
            if look & (Look.HIT | Look.OWN):
                look &= ~(Look.STRONG | Look.COMMON)
            yield drawn(self.marked_text.text[first:last]), look


def lay_out(marked_text: MarkedText, width: int) -> LaidText:
    """Break a text into lines of a width, in cells."""
    return LaidText(marked_text, width, wrap(marked_text.text, width))


def document_text(
    page: ShownDocument,
    terms: Iterable[str],
    passages: Iterable[Passage] = (),
    *,
    own: Sequence[str] = (),
    common: Sequence[str] = (),
    is_raw: bool = False,
) -> MarkedText:
    """Write a document: its title, its fields, its text, and what stands out in them.

    `terms`, the judge's `own` and the `common` ones may be folded or not; `passages` are in characters of the
    text that is shown: `ShownDocument.text`, or where it `is_raw`, as it came.
    """
    body = text_shown(page, is_raw=is_raw)
    # A text that begins with the title says it.
    is_said = " ".join(body.split("\n\n", 1)[0].split()) == " ".join((page.title or "").split())
    heading = strong(f"{page.title}\n" if page.title and not is_said else "")
    # On one line: on a small screen the text is not to be pushed out of sight.
    for place, (name, value) in enumerate(remarks(page)):
        heading += MarkedText("  " * bool(place)) + strong(f"{name}:")
        heading += MarkedText(f" {cut(value, LONGEST_VALUE)}")
    heading += MarkedText("" if not heading.text else "\n" if heading.text.endswith("\n") else "\n\n")
    if not (page.text or "").strip() and not is_raw:
        return heading + MarkedText(body)
    text, by = heading.text + body, len(heading.text)
    bold = () if page.readable is None or is_raw else page.readable.strong
    return MarkedText(
        text,
        heading.strong + tuple((start + by, end + by) for start, end in bold),
        is_document=True,
        body=by,
        lit=tuple(
            (term_spans(text, words), look)
            for words, look in ((terms, Look.HIT), (own, Look.OWN), (common, Look.COMMON))
        ),
        passages=merged(body, passages),
    )


def topic_text(topic: Topic, *, titled: bool = True) -> MarkedText:
    """Write a whole topic: title, description, narrative; the first not where it is said beside it."""
    marked_text = strong(topic.title) if topic.title else MarkedText("this topic has no title")
    marked_text = marked_text if titled else MarkedText("")
    for name, text in (("Description", topic.description), ("Narrative", topic.narrative)):
        if text.strip():
            apart = MarkedText("\n\n" if marked_text.text else "")
            marked_text += apart + strong(name) + MarkedText("\n" + text.strip("\n"))
    return marked_text


def own_remarks(task: Task | None) -> MarkedText:
    """Write the judge's own note on a document, and what is marked in it; empty = neither."""
    marked_text = MarkedText("")
    if task is not None and task.note.strip():
        marked_text += (
            MarkedText("\n\n") + strong("Your note") + MarkedText("\n" + sanitise(task.note.strip()))
        )
    if task is not None and task.passages:
        quotes = "".join(f'\n"{sanitise_line(one.text)}"' for one in task.passages)
        marked_text += MarkedText("\n\n") + strong("Your evidence") + MarkedText(quotes)
    return marked_text


def _within(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    place = bisect_left(spans, (start, start))
    if place and spans[place - 1][1] > start:
        place -= 1
    while place < len(spans) and spans[place][0] < end:
        yield max(spans[place][0], start), min(spans[place][1], end)
        place += 1


_CODE = "    "
_RULE = "- - -"
_APART = frozenset(
    f"{block}_{edge}" for block in ("bullet_list", "ordered_list", "table") for edge in ("open", "close")
)
"""Tokens at which a blank line comes, unless they are inside something."""


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
    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[MarkedText] = []
        self._indents: list[str] = []
        self._mark = ""
        """Of a list item whose first line is still to come."""
        self._is_tight = False
        """Whether what comes next follows without a blank line."""
        self._is_apart = False
        """Whether it does not, however tight a list is."""
        self._is_heading = False
        self._cells: list[MarkedText] | None = None

    def marked_text(self) -> MarkedText:
        whole = _joined(self._lines, "\n")
        return MarkedText(whole.text.rstrip("\n"), whole.strong)

    def take(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            lines = _words(token.children or [], is_heading=self._is_heading)
            if self._cells is None:
                self._block(lines)
            else:
                self._cells.append(_joined(lines, ""))
        elif kind in ("fence", "code_block"):
            code = sanitise(token.content).rstrip("\n").split("\n")
            self._block([MarkedText(_CODE + line) for line in code])
        elif kind == "hr":
            self._block([MarkedText(_RULE)])
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
        elif kind == "tr_open":
            self._cells = []
        elif kind == "tr_close":
            self._block([_joined(self._cells or [], " | ")])
            self._cells, self._is_tight = None, True
        elif kind in ("th_open", "td_open"):
            self._is_heading = kind == "th_open"

    def _block(self, lines: Iterable[MarkedText]) -> None:
        """Write lines that belong together, under the indents there are."""
        if self._lines and (self._is_apart or not self._is_tight):
            self._lines.append(MarkedText(""))
        self._is_apart = self._is_tight = False
        for line in lines:
            for start, end in wrap(line.text, self._width - len("".join(self._indents))):
                *outer, inner = self._indents or [""]
                spans = ((first - start, last - start) for first, last in _within(line.strong, start, end))
                part = MarkedText(line.text[start:end], tuple(spans))
                self._lines.append(MarkedText("".join(outer) + (self._mark or inner)) + part)
                self._mark = ""


def _joined(lines: Sequence[MarkedText], between: str) -> MarkedText:
    whole = MarkedText("")
    for place, line in enumerate(lines):
        whole += (MarkedText(between) if place else MarkedText("")) + line
    return whole


def _words(tokens: Sequence[Token], *, is_heading: bool) -> list[MarkedText]:
    lines = [MarkedText("")]
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
            text = "" if lines[-1].text.endswith(address) else f" ({address})"
        elif token.type == "softbreak":
            before = lines[-1].text[-1:]
            after = next((one.content for one in tokens[place + 1 :] if one.content), "")[:1]
            text = "" if before and after and cell_width(before) == cell_width(after) == 2 else " "
        elif token.type == "hardbreak":
            lines.append(MarkedText(""))
        if text:
            text = text.replace("\n", " ")
            lines[-1] += strong(text) if depth > 0 else MarkedText(text)
    return lines
