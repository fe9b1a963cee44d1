"""Find typed words in a document: plain text, whatever its case and width, and across lines."""

from __future__ import annotations

import re

from judge_ui.folding import HIRAGANA, KANJI, KATAKANA, Folding, Span, fold

_GAP = r"(?:[^\S\n]{0,40}+\n)?+[^\S\n]{0,40}+"
"""Blanks with one line break at most; of a bounded length, so that no search is quadratic."""

_LONGEST_GAP = 81
_UNSPACED = re.compile(f"[{KANJI}{KATAKANA}{HIRAGANA}\u3001-\u303f\u30fb]")


def find_spans(text: str, wanted: str) -> list[Span]:
    r"""Find every place where a text says what is wanted.

    Parameters
    ----------
    text : str
        A document, of any characters.
    wanted : str
        What to find; blanks around it are ignored, and nothing in it is a pattern.

    Returns
    -------
    list of Span
        Ascending, not empty and not overlapping, in characters of `text`; the leftmost first.
        Empty when there is nothing but blanks in `wanted`.

    Notes
    -----
    Both sides are folded, so that case, width, ligatures and invisible characters do not matter. A
    blank stands for any blanks, and for a line break with any blanks around it; beside kanji and
    kana a line break is ignored, since no blank stands for it there. Found anywhere, also inside
    words. Linear in the text.

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
    """Write the regular expression of a folded text, which is not one itself.

    Parameters
    ----------
    folded : str
        What is to be matched.

    Returns
    -------
    str
        The pattern; empty when there is nothing but blanks to match.
    """
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
