"""Terms of a topic and typed words, where they stand.

A help for the eye, not a retrieval model: it must never be slow, never read a pattern out of the
data, and never mark a character that is not there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from judge_ui.text.folding import HIRAGANA, KANJI, KATAKANA, Folding, Span, fold
from store.records import Topic

_GAP = r"(?:[^\S\n]{0,40}+\n)?+[^\S\n]{0,40}+"
"""Blanks with one line break at most; of a bounded length, so that no search is quadratic."""

_LONGEST_GAP = 81
_UNSPACED = re.compile(f"[{KANJI}{KATAKANA}{HIRAGANA}\u3001-\u303f\u30fb]")


def find_spans(text: str, wanted: str) -> list[Span]:
    r"""Find every place of what is wanted in a text: ascending, leftmost first, in characters of `text`.

    Both sides are folded, so that case, width, ligatures and invisible characters do not matter. A blank
    stands for any blanks, and for a line break with any blanks around it; beside kanji and kana a line break
    is ignored, since no blank stands for it there. Found anywhere, also inside words; nothing in `wanted` is
    a pattern. Linear in the text.

    Examples
    --------
    >>> find_spans("On Bridge\n  Street: 検索\n評価", "bridge street")
    [(3, 18)]
    >>> find_spans("On Bridge\n  Street: 検索\n評価", "検索評価")
    [(20, 25)]
    """
    pattern = literal_pattern(fold(wanted))
    if not pattern:
        return []
    folding = Folding(text)
    folded = folding.advance(len(text))
    return folding.source_spans(match.span() for match in re.finditer(pattern, folded))


def literal_pattern(folded: str) -> str:
    """Write the regular expression of a folded text; empty when there is nothing but blanks to match."""
    words = []
    for word in folded.split():
        pattern, before = "", ""
        for character in word:
            if before and (_UNSPACED.match(before) or _UNSPACED.match(character)):
                pattern += r"(?:[^\S\n]{0,40}+\n[^\S\n]{0,40}+)?+"
            pattern += re.escape(character)
            before = character
        words.append(pattern)
    return rf"(?=\s){_GAP}".join(words)


def longest_match(folded: str) -> int:
    """Return how many characters `literal_pattern` can match at most."""
    return len(folded) + _LONGEST_GAP * max(len(folded) - 1, 0)


_WORD = re.compile(f"[^\\W_{KANJI}{KATAKANA}{HIRAGANA}]+")
"""A word of a script that puts blanks between words."""
_TERM = re.compile(f"{_WORD.pattern}|[{KANJI}]+|[{KATAKANA}]+")

_SIGNED = re.compile(r"(?<![^\W_])[A-Za-z](?:\+\+|#)(?![^\W_])")
"""Names of one letter and signs."""

_PREFIX = 4
"""Least length of a term that a longer word may begin with."""

_LONGEST_ACRONYM = 8
"""Characters of an acronym, with some that show nothing."""

_PIECE = 16_384
"""Characters that are searched at a time."""

_STOP_WORDS = """
about above after all also and any are because been being between both but can could did does
doing document documents each find for from had has have how identify into its may might more most
must not only other ought our over relevant same shall should some such than that the their them
then there these they this those through under was were what when where whether which while who
whom whose why will with would you your since
文書 記事 論文 記述 適合 関連
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a topic is about."""


def query_terms(topic: Topic) -> tuple[str, ...]:
    """Pick the words of a topic's title and description that are worth marking in a document.

    Folded and in order: words of three characters or more, numbers of two digits or more, and runs of two or
    more kanji or katakana; but for a small stop list. Words of five letters or more lose a plural ``s``. Then
    names such as ``C++``, and what capitals tell from other words, unless all are capitals: acronyms of two
    characters (`CF`, `B6`) and those that would be stop words (`WHO`), as they are. The narrative also names
    what is not relevant, and is not read.

    Examples
    --------
    >>> query_terms(Topic("7", "Bridges and the ＧＰＳ", "橋の検査にドローンを使う"))
    ('bridge', 'gps', '検査', 'ドローン')
    >>> query_terms(Topic("8", "CF, TB and AI in 1998", "What does the WHO say of C++?"))
    ('1998', 'say', 'CF', 'TB', 'AI', 'c++', 'WHO')
    """
    terms: dict[str, None] = {}
    for term in _TERM.findall(fold(f"{topic.title}\n{topic.description}")):
        is_word = _WORD.match(term) is not None
        if term in _STOP or len(term) < (3 if is_word and not term.isdigit() else 2):
            continue
        plural = is_word and len(term) >= 5 and term.endswith("s")
        singular = plural and not term.endswith(("ss", "us", "is"))
        terms[term[:-1] if singular else term] = None
    for field in (topic.title, topic.description):
        plain = unicodedata.normalize("NFKC", field)
        terms |= dict.fromkeys(map(str.lower, _SIGNED.findall(plain)))
        if plain.upper() != plain:
            words = _WORD.findall(plain)
            terms |= dict.fromkeys(word for word in words if is_acronym(word))
    return tuple(terms)


def is_acronym(term: str) -> bool:
    """Return whether only its capitals distinguish a term from another word, so that they matter.

    Examples
    --------
    >>> [term for term in ("CF", "B6", "WHO", "GPS", "cf", "12") if is_acronym(term)]
    ['CF', 'B6', 'WHO']
    """
    is_of_capitals = term.isascii() and term.isalnum() and term == term.upper() != term.lower()
    return is_of_capitals and (len(term) == 2 or (len(term) == 3 and term.lower() in _STOP))


LEAST_TEXTS = 8
"""Fewer texts say nothing of which words are common."""


def common_terms(texts: Sequence[str], terms: Iterable[str]) -> tuple[str, ...]:
    """Return the terms that at least half of some texts have: they distinguish no text from another.

    Examples
    --------
    >>> common_terms(["a bridge", "bridges", "a ford"] * 4, ["bridge", "ford"])
    ('bridge',)
    """
    if len(texts) < LEAST_TEXTS:
        return ()
    folded = {term: "".join(fold(term).split()) for term in terms}
    counts = dict.fromkeys(folded, 0)
    for text in texts:
        found = {"".join(fold(text[start:end]).split()) for start, end in term_spans(text, folded)}
        for term, plain in folded.items():
            is_there = plain in found or (
                len(plain) >= _PREFIX and any(word.startswith(plain) for word in found)
            )
            counts[term] += is_there
    return tuple(term for term, count in counts.items() if 2 * count >= len(texts))


def term_spans(text: str, terms: Iterable[str]) -> list[Span]:
    """Find terms in a text: spans ascending, not overlapping, in its characters.

    Both sides are folded. A term that is one word is found at word starts: the words that are the term are
    marked whole, and so are those that begin with it when it has four characters or more (`bridge` marks
    `bridges`, `car` does not mark `cartel`). Any other term - kanji, katakana, several words - is found
    anywhere, the leftmost first and of those the longest, across line breaks as in `find_spans`; words that
    overlap it are left out. Of an acronym (`is_acronym`) the capitals matter. Linear in the text, whatever
    the terms.

    Examples
    --------
    >>> term_spans("Straßen, ｶﾞｽ and gas", ["strasse", "ガス"])
    [(0, 7), (9, 12)]
    """
    return list(TermSearch(text, terms).reach(len(text)))


class TermSearch:
    """Finds terms in a text as far as it is asked to, so that a long text can be shown at once.

    See `term_spans`.

    `spans` has what was found so far; every span that begins before `reached` is among them.
    """

    def __init__(self, text: str, terms: Iterable[str], *, piece: int = _PIECE) -> None:
        terms = list(terms)
        wanted = {" ".join(fold(term).split()) for term in terms} - {""}
        self._text = text
        # Folded, and in which capitals alone they are meant.
        self._acronyms = {term.lower(): term for term in terms if is_acronym(term)}
        for term in terms:
            if not is_acronym(term):
                self._acronyms.pop(fold(term), None)
        words = {term for term in wanted if _WORD.fullmatch(term)}
        literals = sorted(wanted - words, key=lambda term: (-len(term), term))
        self._by_head: dict[str, list[str]] = {}
        for word in words:
            self._by_head.setdefault(word[:_PREFIX], []).append(word)
        self._literals = re.compile("|".join(map(literal_pattern, literals))) if literals else None
        self._longest = max(map(longest_match, literals), default=0)
        self._piece = piece
        self._n_characters = len(text)
        self._folding = Folding(text)
        # The folded text from `_start` on, and where either search stands; `_start` is the lesser.
        self._folded = ""
        self._start = self._literal_at = self._word_at = 0
        # Found in the folded text, and not yet certain of their neighbours.
        self._literal_spans: list[Span] = []
        self._word_spans: list[Span] = []
        self._latest_literal: list[Span] = []
        self.spans: list[Span] = []
        self.reached = 0 if wanted else len(text)

    @property
    def is_complete(self) -> bool:
        """Whether the whole text has been searched."""
        return self.reached >= self._n_characters

    def reach(self, place: int) -> Sequence[Span]:
        """Find every span that begins before a place of the text, and perhaps some more."""
        while self.reached < min(place, self._n_characters):
            self.advance()
        return self.spans

    def advance(self) -> None:
        """Search the next piece of the text."""
        # A word longer than a piece is read anew each time: twice as much makes that linear.
        self._folded += self._folding.advance(max(self._piece, len(self._folded)))
        is_last = self._folding.source_length == self._n_characters
        self._find_literals(is_last=is_last)
        self._find_words(is_last=is_last)
        certain = self._certain()
        found = self._folding.source_spans(
            self._merged(certain), after=self.spans[-1][1] if self.spans else 0
        )
        self.spans += filter(self._is_meant, found) if self._acronyms else found
        self.reached = self._n_characters if is_last else self._folding.source(certain)[0]
        start = min(self._literal_at, self._word_at)
        self._folded = self._folded[start - self._start :]
        self._start = start

    def _is_meant(self, span: Span) -> bool:
        """Return whether a word is none of the acronyms, or has its capitals."""
        word = self._text[slice(*span)]
        acronym = self._acronyms.get(fold(word)) if len(word) < _LONGEST_ACRONYM else None
        return acronym is None or unicodedata.normalize("NFKC", word) == acronym

    def _find_literals(self, *, is_last: bool) -> None:
        """Find terms anywhere, the longest first; up to where one may not be all here."""
        start = self._start
        limit = self._folding.length - (0 if is_last else self._longest)
        if self._literals is not None:
            for match in self._literals.finditer(self._folded, max(self._literal_at - start, 0)):
                if match.start() + start >= limit:
                    break
                self._literal_at = match.end() + start
                self._literal_spans.append((match.start() + start, self._literal_at))
        self._literal_at = max(self._literal_at, limit)

    def _find_words(self, *, is_last: bool) -> None:
        """Find words that are a term or begin with a long enough one; the last may not be all."""
        start, end = self._start, len(self._folded)
        at = self._folding.length
        heads = self._by_head
        if heads:
            for match in _WORD.finditer(self._folded, self._word_at - start):
                word = match.group()
                if match.end() == end and not is_last:
                    at = match.start() + start
                elif word[:_PREFIX] in heads and self._is_wanted(word):
                    self._word_spans.append((match.start() + start, match.end() + start))
        self._word_at = at

    def _is_wanted(self, word: str) -> bool:
        return any(
            word == term or (len(term) >= _PREFIX and word.startswith(term))
            for term in self._by_head[word[:_PREFIX]]
        )

    def _certain(self) -> int:
        """Return the place before which every word and literal, and what overlaps it, is known."""
        certain = min(self._literal_at, self._word_at)
        for start, end in self._word_spans:
            if end > self._literal_at:
                return min(certain, start)
        return certain

    def _merged(self, certain: int) -> list[Span]:
        """Take the spans that begin before a place; of the words only what overlaps no literal."""
        literals = [span for span in self._literal_spans if span[0] < certain]
        words = [span for span in self._word_spans if span[0] < certain]
        self._literal_spans = self._literal_spans[len(literals) :]
        self._word_spans = self._word_spans[len(words) :]
        overlapping = self._latest_literal + literals
        kept = []
        at = 0
        for start, end in words:
            while at < len(overlapping) and overlapping[at][1] <= start:
                at += 1
            if at == len(overlapping) or overlapping[at][0] >= end:
                kept.append((start, end))
        self._latest_literal = (self._latest_literal + literals)[-1:]
        return sorted(literals + kept)
