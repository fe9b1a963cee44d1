"""Words of a topic, and where they stand in a document: what the judge's screen marks.

A help for the eye, not a retrieval model: it must never be slow, never read a pattern out of the
data, and never mark a character that is not there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from store.records import Topic

Span = tuple[int, int]
"""Start and end of a stretch of text, in characters; the end is exclusive."""

_KANJI = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u309f"
_WORD = re.compile(f"[^\\W_{_KANJI}{_KATAKANA}{_HIRAGANA}]+")
"""A word of a script that puts blanks between words."""
_TERM = re.compile(f"{_WORD.pattern}|[{_KANJI}]+|[{_KATAKANA}]+")

_PREFIX = 4
"""Least length of a term that a longer word may begin with."""

_JOINED = 30
"""Most combining characters folded as one; normalising a longer run takes quadratic time."""

_STOP_WORDS = """
about above after all also and any are because been being between both but can could did does
doing document documents each find for from had has have how identify into its may might more most
must not only other ought our over relevant same shall should some such than that the their them
then there these they this those through under was were what when where whether which while who
whom whose why will with would you your
文書 記事 論文 記述 適合 関連
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a topic is about."""


def query_terms(topic: Topic) -> tuple[str, ...]:
    """Pick the words of a topic that are worth marking in a document.

    Parameters
    ----------
    topic : Topic
        Title and description are read, the narrative is not: it also names what is not relevant.

    Returns
    -------
    tuple of str
        Folded (`fold`), each once, in order: words of three characters or more with a letter
        among them, and runs of two or more kanji or katakana; but for a small stop list. Words of
        five letters or more lose a plural ``s``.

    Examples
    --------
    >>> query_terms(Topic("7", "Bridges and the ＧＰＳ", "橋の検査にドローンを使う"))
    ('bridge', 'gps', '検査', 'ドローン')
    """
    terms: dict[str, None] = {}
    for term in _TERM.findall(fold(f"{topic.title}\n{topic.description}")):
        is_word = _WORD.match(term) is not None
        if term in _STOP or len(term) < (3 if is_word else 2) or term.isdigit():
            continue
        plural = is_word and len(term) >= 5 and term.endswith("s")
        singular = plural and not term.endswith(("ss", "us", "is"))
        terms[term[:-1] if singular else term] = None
    return tuple(terms)


def term_spans(text: str, terms: Iterable[str]) -> list[Span]:
    """Find terms in a text.

    Parameters
    ----------
    text : str
        A document, of any characters.
    terms : iterable of str
        What to look for, folded or not; empty ones are ignored.

    Returns
    -------
    list of Span
        Ascending, not empty and not overlapping, in characters of `text`.

    Notes
    -----
    Both sides are folded, so that case, width and ligatures do not matter. A term that is one word
    is found at word starts: the words that are the term are marked whole, and so are those that
    begin with it when it has four characters or more (`bridge` marks `bridges`, `car` does not
    mark `cartel`). Any other term - kanji, katakana, several words - is found anywhere, the
    leftmost first and of those the longest; words that overlap it are left out. Linear in the
    text, whatever the terms.

    Examples
    --------
    >>> term_spans("Straßen, ｶﾞｽ and gas", ["strasse", "ガス"])
    [(0, 7), (9, 12)]
    """
    wanted = {folded for term in terms if (folded := fold(term))}
    words = {term for term in wanted if _WORD.fullmatch(term)}
    folded, edits = _fold_with_edits(text)
    spans = _literal_spans(folded, wanted - words)
    if words:
        spans = _without_overlap(spans, _word_spans(folded, words))
    return _source_spans(spans, edits) if edits else spans


def fold(text: str) -> str:
    """Remove differences of case, width and ligature: NFKC, full case folding, NFKC.

    Examples
    --------
    >>> fold("Ｇｒｏßﾊﾟ")
    'grossパ'
    """
    compatible = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", compatible.casefold())


def _literal_spans(folded: str, literals: set[str]) -> list[Span]:
    """Find terms anywhere, the longest first."""
    if not literals:
        return []
    longest_first = sorted(literals, key=lambda term: (-len(term), term))
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return [match.span() for match in pattern.finditer(folded)]


def _word_spans(folded: str, words: set[str]) -> list[Span]:
    """Find words that are a term or begin with a long enough one."""
    by_head: dict[str, list[str]] = {}
    for word in words:
        by_head.setdefault(word[:_PREFIX], []).append(word)
    spans = []
    for match in _WORD.finditer(folded):
        word = match.group()
        if terms := by_head.get(word[:_PREFIX]):
            for term in terms:
                if word == term or (len(term) >= _PREFIX and word.startswith(term)):
                    spans.append(match.span())
                    break
    return spans


def _without_overlap(first: list[Span], second: list[Span]) -> list[Span]:
    """Merge two ascending lists of spans; of `second` only what overlaps nothing of `first`."""
    if not first:
        return second
    starts = [start for start, _ in first]
    kept = []
    for start, end in second:
        place = bisect_right(starts, start)
        before = place > 0 and first[place - 1][1] > start
        after = place < len(first) and first[place][0] < end
        if not before and not after:
            kept.append((start, end))
    return sorted(first + kept)


_Edit = tuple[int, int, int, int]
"""Start and end in the folded text, start and end in the source, where lengths differ."""


def _fold_with_edits(text: str) -> tuple[str, list[_Edit]]:
    """Fold a text and keep track of where characters went."""
    if text.isascii():
        return text.lower(), []
    single = {character: fold(character) for character in set(text)}
    joining = {character for character in single if _joins(character)}
    odd = {character for character, folded in single.items() if len(folded) != 1} - joining
    table = {ord(character): folded for character, folded in single.items() if folded != character}
    if not joining and not odd:
        return text.translate(table), []
    pattern = []
    if joining:
        marks = _character_class(joining)
        pattern.append(f"[^{marks}]?[{marks}]{{1,{_JOINED}}}")
    if odd:
        pattern.append(f"[{_character_class(odd)}]")
    pieces: list[str] = []
    edits: list[_Edit] = []
    length = done = 0
    for match in re.finditer("|".join(pattern), text, re.DOTALL):
        start, end = match.span()
        plain, folded = text[done:start].translate(table), fold(match.group())
        pieces += plain, folded
        length += len(plain) + len(folded)
        edits.append((length - len(folded), length, start, end))
        done = end
    pieces.append(text[done:].translate(table))
    return "".join(pieces), edits


def _joins(character: str) -> bool:
    """Say whether a character can melt into the one before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    is_mark = unicodedata.category(first).startswith("M")
    return is_mark or "\u1161" <= first <= "\u1175" or "\u11a8" <= first <= "\u11c2"


def _character_class(characters: Iterable[str]) -> str:
    """Write characters as the inside of a regular expression's class."""
    return "".join(map(re.escape, sorted(characters)))


def _source_spans(spans: Sequence[Span], edits: Sequence[_Edit]) -> list[Span]:
    """Turn spans of the folded text into spans of the source."""
    starts = [edit[0] for edit in edits]

    def whole(place: int) -> Span:
        """Return the source characters that a folded character came from."""
        edit = bisect_right(starts, place) - 1
        if edit < 0:
            return place, place + 1
        _, folded_end, start, end = edits[edit]
        if place < folded_end:
            return start, end
        return place - folded_end + end, place - folded_end + end + 1

    found: list[Span] = []
    for folded_start, folded_end in spans:
        start, end = whole(folded_start)[0], whole(folded_end - 1)[1]
        # Two terms can come out of one source character: U+337F is four kanji.
        start = max(start, found[-1][1]) if found else start
        if start < end:
            found.append((start, end))
    return found
