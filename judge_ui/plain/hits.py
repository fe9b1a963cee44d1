"""Words found in a document, as lines to read: the sentence they are in, each in brackets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from judge_ui.folding import Span

_START = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Hit:
    """One or more hits that stand in the same sentence, ready to be printed."""

    line: int
    """Of the text, from 1."""
    sentence: int
    """From 1; 0 = before the first."""
    text: str
    """The sentence with its hits in double brackets; with the next ones if a hit reaches there."""


def marked_text(text: str, spans: Sequence[Span], start: int = 0, end: int | None = None) -> str:
    """Write a part of a text with its hits in double brackets.

    Parameters
    ----------
    text : str
        A document.
    spans : sequence of Span
        Ascending and not overlapping; those outside the part are left out.
    start, end : int, optional
        The part; default all of it.

    Examples
    --------
    >>> marked_text("the bridge of Dee", [(4, 10), (14, 17)])
    'the [[bridge]] of [[Dee]]'
    """
    end = len(text) if end is None else end
    pieces: list[str] = []
    done = start
    for first, last in spans:
        if start <= first and last <= end:
            pieces += text[done:first], "[[", text[first:last], "]]"
            done = last
    pieces.append(text[done:end])
    return "".join(pieces)


def hits(text: str, sentences: Sequence[Span], spans: Sequence[Span]) -> list[Hit]:
    r"""Gather hits, each with the sentence it begins in.

    Parameters
    ----------
    text : str
        A document.
    sentences : sequence of Span
        Its sentences, ascending and not overlapping.
    spans : sequence of Span
        The hits, ascending and not overlapping.

    Returns
    -------
    list of Hit
        In order; every hit is in one of them.

    Examples
    --------
    >>> text = "A bridge. None.\nBridge!"
    >>> [
    ...     (hit.line, hit.sentence, hit.text)
    ...     for hit in hits(text, [(0, 9), (10, 15), (16, 23)], [(2, 8), (16, 22)])
    ... ]
    [(1, 1, 'A [[bridge]].'), (2, 3, '[[Bridge]]!')]
    """
    line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    found: list[Hit] = []
    group: list[Span] = []
    number, part = 0, (0, 0)

    def finish() -> None:
        """Write the hits that were gathered."""
        if group:
            shown = marked_text(text, group, *part).replace("\n", " ").replace("\t", " ")
            found.append(Hit(bisect_right(line_starts, group[0][0]), number, shown))

    for start, end in spans:
        if group and end <= part[1]:
            group.append((start, end))
            continue
        finish()
        number = bisect_right(sentences, start, key=_START)
        last = bisect_right(sentences, end - 1, key=_START)
        # A hit outside every sentence is still a hit.
        begins = [start, *(sentence[0] for sentence in sentences[max(number - 1, 0) : number])]
        ends = [end, *(sentence[1] for sentence in sentences[max(last - 1, 0) : last])]
        group, part = [(start, end)], (min(begins), max(ends))
    finish()
    return found
