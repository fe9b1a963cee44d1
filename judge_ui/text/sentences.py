"""Sentences of a document, English or Japanese: the unit in which evidence is marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from judge_ui.text.folding import HIRAGANA, KANJI, KATAKANA, Span
from store.text import INVISIBLE

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
    """Return what shows of a stretch of text, without what is before it and after it."""
    while start < end and (text[start].isspace() or text[start] in INVISIBLE):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in INVISIBLE):
        end -= 1
    return (start, end) if start < end else None
