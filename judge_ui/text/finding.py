"""Where the terms of a topic, and words that were typed, stand in a text.

An aid for the eye, not a retrieval model: it must never be slow, never take data for a pattern, and
never mark a character that is not there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from store.records import Topic
from store.text import INVISIBLE

Span = tuple[int, int]
"""Start and end of a stretch of text, in characters; the end is exclusive."""

KANJI = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
HIRAGANA = "\u3041-\u309f"
"""Scripts without blanks between words, each as the inside of a regular expression's class."""

_JOINED = 30
"""Most combining characters folded as one; normalising a longer run takes quadratic time."""


def fold(text: str) -> str:
    r"""Remove differences of case, width and ligature, and invisible characters: NFKC with full case folding.

    Linear in the text: of more than 30 combining characters in a row, 30 are normalised at a time.

    Examples
    --------
    >>> fold("Ｇｒｏßﾊﾟ"), fold("so\u00adft")
    ('grossパ', 'soft')
    """
    return Folding(text).text


class Folding:
    """A text folded, and the way back to its source."""

    def __init__(self, text: str) -> None:
        self._ends: list[tuple[int, int, int]] = []
        """End in the folded text, start and end in the source, of characters folded as one."""
        self._starts: list[int] = []
        pieces: list[str] = []
        length = done = 0
        special = None if text.isascii() else _not_one_to_one(set(text))
        for match in () if special is None else special.finditer(text):
            first, last = match.span()
            plain, folded = _normal(text[done:first]), _folded(match.group())
            pieces += plain, folded
            length += len(plain) + len(folded)
            self._ends.append((length, first, last))
            self._starts.append(length - len(folded))
            done = last
        self.text = "".join([*pieces, _normal(text[done:])])

    def source(self, place: int) -> Span:
        """Return the source characters that a folded character came from."""
        at = bisect_right(self._starts, place) - 1
        if at < 0:
            return place, place + 1
        folded_end, start, end = self._ends[at]
        if place < folded_end:
            return start, end
        return place - folded_end + end, place - folded_end + end + 1

    def source_spans(self, spans: Iterable[Span]) -> list[Span]:
        """Turn spans of the folded text, ascending, into spans of the source.

        Of several spans that came out of one source character, such as U+337F that is four kanji, the first
        has it.
        """
        found = []
        after = 0
        for first, last in spans:
            start, end = max(self.source(first)[0], after), self.source(last - 1)[1]
            if start < end:
                found.append((start, end))
                after = end
        return found


def _not_one_to_one(characters: set[str]) -> re.Pattern[str] | None:
    """Match the characters that do not fold to one by themselves; ``None`` = all do."""
    marks = {character for character in characters if _joins(character)}
    odd = {character for character in characters - marks if len(_folded(character)) != 1}
    joined = [f"[^{_class_of(marks)}]?[{_class_of(marks)}]{{1,{_JOINED}}}"] if marks else []
    patterns = joined + ([f"[{_class_of(odd)}]"] if odd else [])
    return re.compile("|".join(patterns), re.DOTALL) if patterns else None


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


def _class_of(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


_GAP = r"(?:[^\S\n]{0,40}+\n)?+[^\S\n]{0,40}+"
"""Blanks with one line break at most; of a bounded length, so that no search is quadratic."""

_UNSPACED = re.compile(f"[{KANJI}{KATAKANA}{HIRAGANA}\u3001-\u303f\u30fb]")


def find_spans(text: str, wanted: str) -> list[Span]:
    r"""Find every occurrence of `wanted` in a text; spans ascend, in characters of `text`.

    Both sides are folded, so that case, width, ligatures and invisible characters do not matter. A blank
    stands for any blanks, and for a line break with any blanks around it; beside kanji and kana a line break
    is ignored, since words are not separated by blanks there. Occurrences inside words count, too; nothing in
    `wanted` is a pattern. Linear in the text.

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
    return folding.source_spans(match.span() for match in re.finditer(pattern, folding.text))


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


_WORD = re.compile(f"[^\\W_{KANJI}{KATAKANA}{HIRAGANA}]+")
"""A word of a script that puts blanks between words."""
_TERM = re.compile(f"{_WORD.pattern}|[{KANJI}]+|[{KATAKANA}]+")

_SIGNED = re.compile(r"(?<![^\W_])[A-Za-z](?:\+\+|#)(?![^\W_])")
"""Names of a letter and signs, such as C++ and C#."""

_PREFIX = 4
"""Least length of a term that a longer word may begin with."""

_LONGEST_ACRONYM = 8
"""A word of so many characters, invisible ones counted, is no acronym."""

_STOP_WORDS = """
about above across after against all along already also although always among and another any
anybody anyone anything are around away back because become becomes been before behind being below
beside besides between beyond both but came can cannot come comes could despite did document
documents does doing done down during each either else enough even ever every everyone everything
except few find for from further gave get gets getting give given gives giving goes going gone got
had has have having her here hers herself him himself his how however identify inside instead into
its itself just keep keeping keeps kept least less let lets like made make makes making many may
might more most much must myself near neither never next nobody none nor not nothing now nowhere off
often once one ones only onto other ought our ours ourselves out outside over own per perhaps put
puts quite rather really relevant same seem seems several shall she should since some somebody
someone something sometimes somewhat somewhere soon still such take taken takes taking than that the
their theirs them themselves then there these they thing things this those though through throughout
thus till together too took toward towards under unless until upon use used uses using usually very
via want wants was went were what whatever when whenever where whereas wherever whether which
whichever while who whoever whom whose why will with within without would yet you your yours
yourself
文書 記事 論文 記述 適合 関連
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Function words, and others that do not say what a topic is about."""


def query_terms(topic: Topic) -> tuple[str, ...]:
    """Pick the words of a topic's title and description that are worth marking in a document.

    Folded and in order: words of three characters or more, numbers of two digits or more, and runs of two or
    more kanji or katakana, except for a small list of stop words. Words of five letters or more lose a plural
    ``s``. Then names such as ``C++``, and acronyms that only their capitals distinguish from other words, not
    folded: those of two characters (`CF`, `B6`) and those that would be stop words (`WHO`). A field that is
    all capitals has no acronyms. The narrative is not read, since it also names what is not relevant.

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
    """Return whether only its capitals distinguish a term from another word, so that they matter."""
    is_of_capitals = term.isascii() and term.isalnum() and term == term.upper() != term.lower()
    return is_of_capitals and (len(term) == 2 or (len(term) == 3 and term.lower() in _STOP))


LEAST_TEXTS = 8
"""With fewer texts no word counts as common."""


def common_terms(texts: Sequence[str], terms: Iterable[str]) -> tuple[str, ...]:
    """Return the terms that at least half of some texts have: they distinguish no text from another."""
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
    overlap it are left out. The capitals of an acronym (`is_acronym`) matter. Linear in the text, whatever
    the terms.

    Examples
    --------
    >>> term_spans("Straßen, ｶﾞｽ and gas", ["strasse", "ガス"])
    [(0, 7), (9, 12)]
    """
    terms = list(terms)
    wanted = {" ".join(fold(term).split()) for term in terms} - {""}
    words: dict[str, list[str]] = {}
    for word in filter(_WORD.fullmatch, wanted):
        words.setdefault(word[:_PREFIX], []).append(word)
    others = sorted((one for one in wanted if not _WORD.fullmatch(one)), key=lambda one: (-len(one), one))
    folding = Folding(text)
    pattern = "|".join(map(literal_pattern, others))
    found = [match.span() for match in re.finditer(pattern, folding.text)] if others else []
    ends = [end for _, end in found]
    for match in _WORD.finditer(folding.text) if words else ():
        word = match.group()
        near = words.get(word[:_PREFIX], ())
        if any(word == term or (len(term) >= _PREFIX and word.startswith(term)) for term in near):
            start, end = match.span()
            at = bisect_right(ends, start)
            if at == len(ends) or found[at][0] >= end:
                found.append((start, end))
    spans = folding.source_spans(sorted(found))
    # Acronyms by their folded form: only words with the same capitals are marked.
    acronyms = {term.lower(): term for term in terms if is_acronym(term)}
    for term in terms:
        if not is_acronym(term):
            acronyms.pop(fold(term), None)
    return [span for span in spans if _has_its_capitals(text[slice(*span)], acronyms)] if acronyms else spans


def _has_its_capitals(word: str, acronyms: Mapping[str, str]) -> bool:
    """Return whether a word is not one of the acronyms, or has the capitals of the acronym."""
    acronym = acronyms.get(fold(word)) if len(word) < _LONGEST_ACRONYM else None
    return acronym is None or unicodedata.normalize("NFKC", word) == acronym
