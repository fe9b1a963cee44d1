"""Words as Markdown: tables, code, links to sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_CODE = re.compile(r"(`[^`]*`)")
_OPTION = re.compile(r"(?<![\w`/-])(--[a-z][a-z-]*)")


def plain(text: str) -> str:
    r"""Return a sentence that Markdown leaves as it is; options and what stands in backticks are code.

    >>> plain("RR(rel=2)*; with --aggregate, use `a*b`")
    'RR(rel=2)\\*; with <code><span>--aggregate</span></code>, use `a*b`'
    """
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if place % 2 else _escaped(part) for place, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = re.sub(r"([\\*_\[\]#|])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")
    return _OPTION.sub(r"<code><span>\1</span></code>", text)


def code(text: str) -> str:
    """Return code whose lines break at blanks, or where a long word has a sign, and never within an option.

    >>> code("--ties <low|high>")
    '<code><span>--ties</span> <span>&lt;low&#124;</span><wbr><span>high&gt;</span></code>'
    >>> code("pooler")
    '<code><span>pooler</span></code>'
    """
    words = [
        "<wbr>".join(f"<span>{_entities(part)}</span>" for part in _PARTS.findall(word))
        for word in text.split(" ")
    ]
    return f"<code>{' '.join(words)}</code>"


_PARTS = re.compile(r".{1,12}?[|/_.](?=.)|.+?\||.+")
"""Parts of a word after which a line may break."""


def _entities(text: str) -> str:
    """Return text as HTML that Markdown leaves as it is."""
    text = escape(text, quote=False)
    return re.sub(r"[|\\*_\[\]`]", lambda found: f"&#{ord(found[0])};", text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, with an empty one after it."""
    lines = [headings, ["---"] * len(headings), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def anchor(words: str) -> str:
    """Return the place of a section within its page, as headings are given one here."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def heading(level: int, title: str, words: str) -> list[str]:
    """Return a heading whose place is that of `words`, and an empty line."""
    return [f"{'#' * level} {title} {{ #{anchor(words)} }}", ""]
