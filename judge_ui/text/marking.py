"""Passages of a document marked as evidence, a sentence or a word at a time, English or Japanese."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter

from judge_ui.text.finding import HIRAGANA, KANJI, KATAKANA, Span
from store.formats.markup import readable
from store.records import Passage
from store.text import INVISIBLE, Readable

LONGEST = 400
"""Most characters of one unit; a longer sentence is cut."""

_SHORTEST_CUT = LONGEST // 4
"""Fewest characters of a unit that ends at a clause mark."""

_MOST_MARKS = 30
"""Combining characters that a cut is moved back over."""

_CLOSERS = re.escape("\"'”’」』）〕】》〉］｝)]}")
_END = re.compile(f"(?P<marks>[.!?…‥。｡．！？]+)(?P<closers>[{_CLOSERS}]*)")
_BLANKS = re.compile(r"[^\S\n]*")
_WIDE = re.compile(f"[{KANJI}{KATAKANA}{HIRAGANA}\u3001-\u303f\uff01-\uff60]")
_LATIN = re.compile("[0-9A-Za-z\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_GOES_ON = re.compile("って|など|なんて|[とがはをにものでへやだ]")
"""What follows a quotation inside a sentence."""
_NUMBER = re.compile(r"\s*[(（]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})")
_LAST_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|\.)*$")
_CLAUSE = re.compile(r"[、，；：—–]|[,;:](?=\s)")

_NAMES = """
mr mrs ms dr prof st rev gen col lt sgt capt hon gov sen rep pres messrs mme mlle
vs cf al approx ca viz resp incl esp
"""
_BEFORE_NAME = frozenset(_NAMES.split())
"""Abbreviations that end no sentence."""

_NUMBERED = """
no nos fig figs eq eqs vol vols p pp ch sec sect art para tab app ref refs
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_BEFORE_NUMBER = frozenset(_NUMBERED.split())
"""Abbreviations that end no sentence when a number follows."""


def sentence_spans(text: str) -> list[Span]:
    """Divide a text into sentences of one to 400 characters, ascending; every character that shows is in one.

    A sentence ends at a line break; at ``。！？`` and their like, unless the text goes on after a closing
    bracket (``「行く。」と``); and at ``.!?`` before a blank, unless a small letter follows or the point
    belongs to an initial, an abbreviation or the number of a heading. One of more than 400 characters is cut
    at the last clause mark within these, else at a blank, else there. Linear in the text.

    Examples
    --------
    >>> text = "Dr. Ono spoke. 「はい。」と答えた。次へ"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Ono spoke.', '「はい。」と答えた。', '次へ']
    """
    spans = []
    for start, end in _sentences(text):
        for first, last in _cut(text, start, end):
            span = _shown(text, first, last)
            if span is not None:
                spans.append(span)
    return spans


_WORD = re.compile(
    rf"(?:(?![{KANJI}{KATAKANA}{HIRAGANA}])[^\W_])(?:(?![{KANJI}{KATAKANA}{HIRAGANA}])[\w'\u2019+#.-])*"
    rf"|[{KANJI}]+|[{KATAKANA}]+|[{HIRAGANA}]+"
)


def word_spans(text: str) -> list[Span]:
    """Divide a text into words, ascending; what stands between words is in none. Linear in the text.

    Kanji, katakana and hiragana that follow each other are one word each.

    Examples
    --------
    >>> text = "C++ isn't 3.5 km. 評価を行う"
    >>> [text[start:end] for start, end in word_spans(text)]
    ['C++', "isn't", '3.5', 'km', '評価', 'を', '行', 'う']
    """
    spans = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        while text[end - 1] in ".-'\u2019":
            end -= 1
        spans.append((start, end))
    return spans


def _sentences(text: str) -> Iterator[Span]:
    for line in re.finditer("[^\n]+", text):
        start, stop = line.span()
        for match in _END.finditer(text, start, stop):
            if match.end() < stop and _is_end(text, start, match):
                yield start, match.end()
                start = match.end()
        yield start, stop


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    marks, closers = match["marks"], match["closers"]
    after = text[match.end()]
    if after in "、，,":
        return False
    is_after_number = match.start() - start <= 6 and _NUMBER.fullmatch(text, start, match.start())
    if is_after_number and marks in (".", "．"):
        return False
    if not set(marks).isdisjoint("。｡！？"):
        if closers:
            return _GOES_ON.match(text, match.end()) is None
        return marks[-1] not in "！？" or not text.startswith(("と", "って"), match.end())
    before = text[max(match.start() - 1, start) : match.start()]
    blanks = _BLANKS.match(text, match.end())
    at = blanks.end() if blanks is not None else match.end()
    following = text[at : at + 1]
    if at == match.end():
        # Without a blank only between wide characters: "3.5", "Yahoo!" and "３．１４" go on.
        is_wide = _WIDE.match(before) or marks[-1] == "．"
        is_name = _LATIN.match(before) and _LATIN.match(following)
        is_pause = set(marks) <= set("…‥")
        return bool(is_wide and _WIDE.match(following)) and not is_name and not is_pause
    if following.islower():
        return False
    return marks != "." or bool(closers) or not _is_abbreviation(text, start, match, following)


def _is_abbreviation(text: str, start: int, match: re.Match[str], following: str) -> bool:
    last = _LAST_WORD.search(text[max(match.start() - 12, start) : match.start()])
    if last is None:
        return False
    word = last.group()
    if len(word) == 1 or "." in word:
        return word not in ("I", "a")
    word = word.casefold()
    return word in _BEFORE_NAME or (word in _BEFORE_NUMBER and following.isdigit())


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > LONGEST:
        limit = start + LONGEST
        place = 0
        for match in _CLAUSE.finditer(text, start + _SHORTEST_CUT, limit):
            place = match.end()
        if not place:
            place = max(text.rfind(" ", start + _SHORTEST_CUT, limit) + 1, 0)
        if not place:
            place = limit
            while place > limit - _MOST_MARKS and unicodedata.combining(text[place]):
                place -= 1
        yield start, place
        start = place
    yield start, end


def _shown(text: str, start: int, end: int) -> Span | None:
    """Return a span without blanks and invisible characters at its ends; ``None`` = nothing is left."""
    while start < end and (text[start].isspace() or text[start] in INVISIBLE):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in INVISIBLE):
        end -= 1
    return (start, end) if start < end else None


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
        """Move by some sentences or words, as far as there are any."""
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
        """Shrink the selection to the sentence or word that moves."""
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
