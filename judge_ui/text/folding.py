"""Text without differences of case, width and ligature, and the way back to the source."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable

from store.text import INVISIBLE

Span = tuple[int, int]
"""Start and end of a stretch of text, in characters; the end is exclusive."""

KANJI = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
HIRAGANA = "\u3041-\u309f"
"""Scripts without blanks between words, each as the inside of a regular expression's class."""

_JOINED = 30
"""Most combining characters folded as one; normalising a longer run takes quadratic time."""

_Edit = tuple[int, int, int]
"""End in the folded text, start and end in the source, of characters folded as one."""


def fold(text: str) -> str:
    r"""Remove differences of case, width and ligature, and what shows nothing: NFKC with full case folding.

    Linear in the text: of more than 30 combining characters in a row, 30 are normalised at a time.

    Examples
    --------
    >>> fold("Ｇｒｏßﾊﾟ"), fold("so\u00adft")
    ('grossパ', 'soft')
    """
    return Folding(text).advance(len(text))


class Folding:
    """Folds a text from its start, piece by piece, and keeps track of where characters went.

    `source_length` characters of the source are folded, and `length` came out.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.source_length = 0
        self.length = 0
        self._edits: list[_Edit] = []
        self._edit_starts: list[int] = []
        self._known: set[str] = set()
        self._joining: set[str] = set()
        self._odd: set[str] = set()
        self._special: re.Pattern[str] | None = None

    def advance(self, n: int) -> str:
        """Fold the next `n` characters, and up to 30 that melt into them; empty at the end of the text."""
        start = self.source_length
        end = min(start + n, len(self._text))
        furthest = min(end + _JOINED, len(self._text))
        while end < furthest and _joins(self._text[end]):
            end += 1
        self.source_length = end
        piece = self._text[start:end]
        if piece.isascii():
            folded = piece.lower()
        else:
            self._learn(set(piece))
            folded = self._replaced(piece, start)
        self.length += len(folded)
        return folded

    def source(self, place: int) -> Span:
        """Return the source characters that a folded character came from."""
        at = bisect_right(self._edit_starts, place) - 1
        if at < 0:
            return place, place + 1
        folded_end, start, end = self._edits[at]
        if place < folded_end:
            return start, end
        return place - folded_end + end, place - folded_end + end + 1

    def source_spans(self, spans: Iterable[Span], after: int = 0) -> list[Span]:
        """Turn spans of the folded text, ascending, into spans of the source that begin at `after` or later.

        Of several spans that came out of one source character, such as U+337F that is four kanji, the first
        has it.
        """
        found = []
        for first, last in spans:
            if self._edits:
                first, last = self.source(first)[0], self.source(last - 1)[1]
            start = max(first, after)
            if start < last:
                found.append((start, last))
                after = last
        return found

    def _learn(self, characters: set[str]) -> None:
        """Find out which characters do not fold to one character by themselves."""
        new = characters - self._known
        self._known |= new
        joining = {character for character in new if _joins(character)}
        odd = {character for character in new - joining if len(_folded(character)) != 1}
        if not joining and not odd:
            return
        self._joining |= joining
        self._odd |= odd
        pattern = []
        if self._joining:
            marks = _character_class(self._joining)
            pattern.append(f"[^{marks}]?[{marks}]{{1,{_JOINED}}}")
        if self._odd:
            pattern.append(f"[{_character_class(self._odd)}]")
        self._special = re.compile("|".join(pattern), re.DOTALL)

    def _replaced(self, piece: str, start: int) -> str:
        """Fold a piece that may hold characters that do not fold to one by themselves."""
        if self._special is None:
            return _normal(piece)
        pieces: list[str] = []
        length, done = self.length, 0
        for match in self._special.finditer(piece):
            first, last = match.span()
            plain, folded = _normal(piece[done:first]), _folded(match.group())
            pieces += plain, folded
            length += len(plain) + len(folded)
            self._edits.append((length, start + first, start + last))
            self._edit_starts.append(length - len(folded))
            done = last
        pieces.append(_normal(piece[done:]))
        return "".join(pieces)


def _folded(text: str) -> str:
    """Fold a character, or a run that melts into one."""
    if not INVISIBLE.isdisjoint(text):
        text = "".join(character for character in text if character not in INVISIBLE)
    return _normal(text)


def _normal(text: str) -> str:
    """Fold text without invisible characters; quadratic in marks that follow each other."""
    compatible = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", compatible.casefold())


def _joins(character: str) -> bool:
    if character in INVISIBLE:
        return True
    first = unicodedata.normalize("NFKD", character)[0]
    is_mark = unicodedata.category(first).startswith("M")
    return is_mark or "\u1161" <= first <= "\u1175" or "\u11a8" <= first <= "\u11c2"


def _character_class(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))
