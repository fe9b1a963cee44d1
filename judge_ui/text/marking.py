"""Mark passages of a document as evidence, a sentence or a word at a time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from judge_ui.text.folding import Span
from judge_ui.text.sentences import sentence_spans, word_spans
from store.readable import readable
from store.readable.pieces import Readable
from store.records import Passage


def merged(text: str, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Put passages in order, and make one of those that overlap; two that only touch stay two.

    Examples
    --------
    >>> merged("abcdef", [Passage(3, 1, "d"), Passage(1, 2, "bc"), Passage(0, 2, "ab")])
    (Passage(start=0, length=3, text='abc'), Passage(start=3, length=1, text='d'))
    """
    spans: list[Span] = []
    for passage in sorted(passages):
        if spans and passage.start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], passage.end))
        else:
            spans.append((passage.start, passage.end))
    return tuple(Passage(start, end - start, text[start:end]) for start, end in spans)


def seen_in_raw(text: Readable, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Turn passages of a text as it is read into those of the same as it came, fit for a terminal.

    Examples
    --------
    >>> text = readable("<b>Tom</b> &amp; Jerry", "html")
    >>> seen_in_raw(text, [Passage(4, 1, "&")])
    (Passage(start=11, length=5, text='&amp;'),)
    """
    raw = readable(text.raw)
    spans = (raw.span(*text.raw_span(one.start, one.end)) for one in passages)
    return tuple(Passage(start, end - start, raw.text[start:end]) for start, end in filter(None, spans))


def seen_in_text(text: Readable, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Turn passages of a text as it came into those of the same as it is read; what is markup alone goes.

    Examples
    --------
    >>> text = readable("<b>Tom</b> &amp; Jerry", "html")
    >>> seen_in_text(text, [Passage(0, 10, "<b>Tom</b>"), Passage(0, 3, "<b>")])
    (Passage(start=0, length=3, text='Tom'),)
    """
    raw = readable(text.raw)
    spans = filter(None, (text.span(*raw.raw_span(one.start, one.end)) for one in passages))
    # A blank stands for the tags beside it, of which a passage may have some.
    found = [(start, text.text[start:end]) for start, end in spans]
    return tuple(
        Passage(start + len(words) - len(words.lstrip()), len(words.strip()), words.strip())
        for start, words in found
        if words.strip()
    )


class Marking:
    """A selection of sentences, or of words, that moves through a document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._units = sentence_spans(text)
        self.is_of_words = False
        """Whether it moves by words."""
        self._anchor = self._cursor = 0
        self.is_extending = False

    @property
    def is_empty(self) -> bool:
        """Whether the document has nothing to mark."""
        return not self._units

    @property
    def cursor(self) -> Span:
        """The sentence or word that moves, in characters of the text."""
        return self._units[self._cursor]

    @property
    def selection(self) -> Span:
        """From the first to the last sentence or word that is selected, in characters of the text."""
        first, last = sorted((self._anchor, self._cursor))
        return self._units[first][0], self._units[last][1]

    def switch(self) -> None:
        """Move by words instead of sentences, or the other way round, from where the selection begins."""
        place = self.selection[0]
        units = sentence_spans(self._text) if self.is_of_words else word_spans(self._text)
        if units:
            self.is_of_words = not self.is_of_words
            self._units = units
            self.is_extending = False
            self.go_to(place)

    def move(self, step: int, *, extend: bool = False) -> None:
        """Go on by some sentences or words, as far as there are any."""
        self._go(self._cursor + step, extend=extend)

    def go_to(self, place: int) -> None:
        """Go to the first sentence or word that ends after a place of the text, or else to the last."""
        self._go(bisect_right(self._units, place, key=itemgetter(1)), extend=False)

    def go_into(self, start: int, end: int) -> None:
        """Go to the first that begins in a part of the text, or else as `go_to` does."""
        index = bisect_left(self._units, start, key=itemgetter(0))
        if index < len(self._units) and self._units[index][0] < end:
            self._go(index, extend=False)
        else:
            self.go_to(start)

    def drop(self) -> None:
        """Select only what moves."""
        self.is_extending = False
        self._anchor = self._cursor

    def marked(self, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        """Return passages with the selection as one more; see `merged`."""
        start, end = self.selection
        return merged(self._text, [*passages, Passage(start, end - start, self._text[start:end])])

    def unmarked(self, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        """Return passages without those that share a character with the selection."""
        start, end = self.selection
        kept = [one for one in passages if one.end <= start or one.start >= end]
        return merged(self._text, kept)

    def _go(self, index: int, *, extend: bool) -> None:
        self._cursor = max(min(index, len(self._units) - 1), 0)
        if not (extend or self.is_extending):
            self._anchor = self._cursor
