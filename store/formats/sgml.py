"""A tolerant reader of TREC's SGML: records between tags, elements in them, text without tags.

TREC's topic and document files have no DTD anybody checks against: tags in either case, closing
tags left out, ampersands that begin no entity, HTML inside. Nothing here fails on such text.
Every function takes time in proportion to the text, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from store.errors import FaultList
from store.formats.compression import LIFTED, most_bytes

_INLINE = "a abbr b big cite code em font i kbd mark q s small span strike strong sub sup tt u"
INLINE_TAGS = frozenset(_INLINE.split())
"""Tags that stand inside a word or a sentence; every other tag separates what is around it."""

# Possessive: `[^<>]*` may not take back what the name gave up, or a long name costs its square.
_TAG = re.compile(r"<[/!?]?([A-Za-z][\w:.-]*+)[^<>]*+>")
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_LEADING_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Record:
    """What stands between a record's opening and closing tag."""

    line: int
    """Line of the opening tag, from 1."""
    text: str

    def line_at(self, offset: int) -> int:
        """Return the line number of a place in `text`."""
        return self.line + self.text.count("\n", 0, offset)


def read_records(
    lines: Iterable[tuple[int, str]], tag: str, faults: FaultList, *, must_close: bool
) -> Iterator[Record]:
    """Cut a file into records, in file order; the tag is read in either case.

    Text outside every record is added to `faults`, as is a record left open when `must_close`; else the next
    opening tag closes it. A record in which a line could not be read is left out: its fault is reported.
    """
    boundary = re.compile(rf"<(/?){re.escape(tag)}(?:\s[^<>]*)?>", re.IGNORECASE)
    opened = 0  # line of the open record's tag; 0 outside records
    n_faults = 0  # faults known when it opened; more of them = a line in it was lost
    parts: list[str] = []
    size, longest = 0, most_bytes()
    # Of the text before a record one line is reported, and none when the record may have begun on a
    # line that was lost: one that is missing here, or that `faults` knows from above the first.
    outside_told = bool(faults)
    next_number = 0
    for number, line in lines:
        outside_told = outside_told or 0 < next_number < number
        next_number = number + 1
        position = 0
        size += len(line) + 1
        for match in boundary.finditer(line) if "<" in line else ():
            before = line[position : match.start()]
            closes = match[1] == "/"
            if opened:
                parts.append(before)
                if closes or not must_close:
                    if len(faults) == n_faults:
                        yield Record(opened, "\n".join(parts))
                elif len(faults) == n_faults:
                    faults.add(
                        opened, f"expected `</{tag}>` before the next `<{tag}>` on line {number}", "markup"
                    )
            elif _is_text(before) and not outside_told:
                faults.add(number, _outside(tag, before), "markup")
            opened, n_faults, parts, size = 0 if closes else number, len(faults), [], len(line)
            outside_told = False
            position = match.end()
        rest = line[position:]
        if opened and size > longest:
            faults.add(opened, f"expected a `<{tag}>` of at most {longest:,} bytes, got more", "long")
            faults.hint = LIFTED
            return
        if opened:
            parts.append(rest)
        elif not outside_told and _is_text(rest):
            faults.add(number, _outside(tag, rest), "markup")
            outside_told = True
    if opened and len(faults) == n_faults:
        if must_close:
            faults.add(opened, f"expected `</{tag}>`, got the end of the file", "markup")
        else:
            yield Record(opened, "\n".join(parts))


def _is_text(text: str) -> bool:
    """Return whether anything but blanks and tags is in `text`."""
    return bool(_TAG.sub("", text).strip())


def _outside(tag: str, text: str) -> str:
    return f"expected `<{tag}>`, got {shortened(text.strip())}"


def shortened(text: str) -> str:
    """Quote the beginning of `text` for a message."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."


@cache
def _tags_of(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    escaped = re.escape(name)
    opening = re.compile(rf"<{escaped}(?:\s[^<>]*)?>", re.IGNORECASE)
    return opening, re.compile(rf"</{escaped}\s*>", re.IGNORECASE)


def elements(text: str, name: str, *, one_line: bool = False) -> list[tuple[int, int]]:
    """Return start and end of what is between the tags of one name, in either case; they do not nest.

    An element without closing tag ends at the end of `text`, or with `one_line` at the end of its line.
    """
    opening, closing = _tags_of(name)
    found: list[tuple[int, int]] = []
    position = 0
    may_close = True
    while match := opening.search(text, position):
        start = match.end()
        close = closing.search(text, start) if may_close else None
        if close:
            end, position = close.start(), close.end()
        else:
            may_close = False
            line_end = text.find("\n", start) if one_line else -1
            end = position = len(text) if line_end < 0 else line_end
        found.append((start, end))
    return found


def unescape(text: str) -> str:
    """Resolve ``&amp;`` ``&lt;`` ``&gt;`` ``&quot;`` ``&apos;`` and numbers; leave all else."""
    return _ENTITY.sub(_resolve, text) if "&" in text else text


def _resolve(match: re.Match[str]) -> str:
    named, decimal, hexadecimal = match.groups()
    if named:
        return _NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return match[0]
    return chr(code)


def fold(text: str) -> str:
    """Turn every run of ASCII blanks and line ends into one blank, and drop the outer ones.

    Other blanks stay: an ideographic space is a character of a Japanese text.
    """
    return _BLANKS.sub(" ", text).strip(" ")


def plain_text(text: str) -> str:
    """Strip tags and comments, resolve entities, and keep the lines.

    Tags of `INLINE_TAGS` vanish, every other tag becomes a line end; blank lines are dropped at both ends,
    and several of them inside become one.
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: "" if tag[1].lower() in INLINE_TAGS else "\n", without_comments(text))
    text = _BLANK_LINES.sub("\n\n", _LEADING_BLANK_LINES.sub("", text))
    return unescape(text.rstrip(" \t\n\r"))


def without_comments(text: str) -> str:
    """Drop ``<!-- ... -->``; a comment that does not end stays."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + 3
    kept.append(text[position:])
    return "".join(kept)
