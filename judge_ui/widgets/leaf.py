"""A text ready for a pane: what it says, what stands out in it, and its lines at one width."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from judge_ui.highlight import Span, term_spans
from judge_ui.messages import EMPTY_TEXT, NO_TEXT
from judge_ui.widgets.wrapping import LineSpan, drawn, wrap
from store.records import Page, Topic


class Look(StrEnum):
    """How a stretch of text is drawn; never by colour alone."""

    PLAIN = "plain"
    STRONG = "strong"
    """Bold: a heading, a key."""
    HIT = "hit"
    """Bold and reversed: a word of the topic, the grade that is given."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text and what stands out in it."""

    text: str
    strong: tuple[Span, ...] = ()
    """Ascending, not overlapping."""
    hits: tuple[Span, ...] = ()
    """Ascending, not overlapping; they may overlap `strong`."""

    def __add__(self, other: Leaf) -> Leaf:
        """Put another text after this one."""
        by = len(self.text)

        def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
            return tuple((start + by, end + by) for start, end in spans)

        return Leaf(
            self.text + other.text,
            self.strong + moved(other.strong),
            self.hits + moved(other.hits),
        )


def strong(text: str) -> Leaf:
    """Make a text that stands out as a whole."""
    return Leaf(text, ((0, len(text)),) if text else ())


@dataclass(frozen=True, slots=True)
class LaidLeaf:
    """A leaf broken into lines."""

    leaf: Leaf
    width: int
    lines: Sequence[LineSpan]

    def pieces(self, line: int) -> Iterator[tuple[str, Look]]:
        """Give one line as it is drawn, piece by piece."""
        start, end = self.lines[line]
        looks = [
            *((span, Look.STRONG) for span in _within(self.leaf.strong, start, end)),
            *((span, Look.HIT) for span in _within(self.leaf.hits, start, end)),
        ]
        edges = sorted({start, end, *(edge for span, _ in looks for edge in span)})
        for first, last in pairwise(edges):
            look = Look.PLAIN
            for (span_start, span_end), this in looks:
                if span_start <= first and last <= span_end:
                    look = this
            yield drawn(self.leaf.text[first:last]), look


def lay_out(leaf: Leaf, width: int) -> LaidLeaf:
    """Break a leaf into lines of a width, in cells."""
    return LaidLeaf(leaf, width, wrap(leaf.text, width))


def document_leaf(page: Page, terms: Sequence[str]) -> Leaf:
    """Make the leaf of a document: its title, its text, and the topic's words in both."""
    body = NO_TEXT if page.text is None else page.text or EMPTY_TEXT
    heading = f"{page.title}\n\n" if page.title else ""
    if not page.text:
        return strong(heading) + Leaf(body)
    text = heading + body
    return Leaf(text, strong(heading).strong, tuple(term_spans(text, terms)))


def topic_leaf(topic: Topic) -> Leaf:
    """Make the leaf of a whole topic: title, description, narrative."""
    leaf = strong(topic.title) if topic.title else Leaf("this topic has no title")
    for name, text in (("Description", topic.description), ("Narrative", topic.narrative)):
        if text.strip():
            leaf += Leaf("\n\n") + strong(name) + Leaf("\n" + text.strip("\n"))
    return leaf


def _within(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """Give the parts of spans that lie between two places."""
    place = bisect_left(spans, (start, start))
    if place and spans[place - 1][1] > start:
        place -= 1
    while place < len(spans) and spans[place][0] < end:
        yield max(spans[place][0], start), min(spans[place][1], end)
        place += 1
