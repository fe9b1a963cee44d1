"""Text made fit for a terminal, without what cannot be seen; the natural order of ids.

A crawled document can hold escape sequences that set the window title, write to the clipboard or
repaint the screen, and bidirectional controls that reorder what is read. Terminal libraries pass
them through, so every text that reaches a screen or a table goes through `sanitise` first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable
from unicodedata import normalize

REPLACEMENT = "\ufffd"
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

_TABLE: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
_TABLE[ord("\n")] = "\n"
_TABLE[ord("\t")] = "\t"
_TABLE[ord("\r")] = None
_TABLE.update(dict.fromkeys([0x7F, *range(0x80, 0xA0)], REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, BIDI_CONTROLS), REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, "\u2028\u2029"), "\n"))
_SUSPECT = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{BIDI_CONTROLS}\u2028\u2029\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_STEERS = re.compile(f"[\x7f-\x9f\u2028\u2029{BIDI_CONTROLS}]")
"""What JSON leaves as it is and a terminal or a reader of lines obeys."""


def sanitise(text: str) -> str:
    r"""Replace every character that could steer a terminal.

    C0 controls become their pictures (U+2400..), but for newline and tab, which stay, and carriage return,
    which goes; DEL, C1 controls, bidirectional controls and lone surrogates become U+FFFD, the Unicode line
    and paragraph separators newlines.

    >>> sanitise("a\x1b]0;owned\x07b\r\n")
    'a␛]0;owned␇b\n'
    >>> sanitise("\u202eabc")
    '\ufffdabc'
    """
    if not _SUSPECT.search(text):
        return text
    return _LONE_SURROGATE.sub(REPLACEMENT, text.translate(_TABLE))


def sanitise_line(text: str) -> str:
    r"""Sanitise text that must stay on one line: a title, an id, a table cell.

    >>> sanitise_line("two\nlines\tand a tab")
    'two lines and a tab'
    """
    return sanitise(text).replace("\n", " ").replace("\t", " ")


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return a name, or the first of name-2, name-3, ... that is free.

    >>> free_name("pool", {"pool", "pool-2"}.__contains__)
    'pool-3'
    """
    name, number = wanted, 1
    while is_taken(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> counted(1, "document"), counted(1200, "judgement"), counted(2, "query", "queries")
    ('1 document', '1,200 judgements', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(part: float, whole: float) -> str:
    """Write a share in per cent; a part is never none or all.

    >>> percent(1, 3), percent(2, 2), percent(1, 9999), percent(9998, 9999)
    ('33.3 %', '100 %', 'under 0.1 %', 'over 99.9 %')
    """
    share = f"{100 * part / whole:.1f}"
    if 0 < part < whole and share in ("0.0", "100.0"):
        return "under 0.1 %" if share == "0.0" else "over 99.9 %"
    return f"{share.removesuffix('.0')} %"


def rough(value: float) -> str:
    """Write a score or a difference with two digits that count, and two decimals or more.

    More would be of no use in a conclusion: other topics would change them. Tables have all.

    >>> rough(0.43481), rough(-0.02331), rough(0.00059), rough(0.00001), rough(0)
    ('0.43', '-0.023', '0.0006', 'under 0.0001', '0')
    """
    if not value:
        return "0"
    decimals = min(4, max(2, 1 - math.floor(math.log10(abs(value)))))
    text = f"{value:.{decimals}f}"
    return text if float(text) else f"{'-' * (value < 0)}under 0.0001"


def escape_json(text: str) -> str:
    r"""Escape in JSON what it leaves as it is and could steer a terminal or split a line.

    The value stays the same, and UTF-8 has bytes for it: lone surrogates are ``\uXXXX``; a high surrogate
    with a low one behind it is the one character that they stand for in JSON.

    >>> print(escape_json('"é \u202e\ud800"'))
    "é \u202e\ud800"
    """
    if text.isascii() and "\x7f" not in text:
        return text
    text = _JSON_STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


NaturalKey = tuple[list[str | tuple[int, str]], str]

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> NaturalKey:
    """Sort key of topic ids: runs of digits by value, all else bytewise.

    >>> sorted(["10", "9", "T2", "T10", "009"], key=natural_key)
    ['009', '9', '10', 'T2', 'T10']
    """
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(text))
    # Without leading zeros the longer number is the greater one; any length will do.
    digits = [part.lstrip("0") for part in _DIGITS.findall(text)]
    parts[1::2] = [(len(part), part) for part in digits]
    return parts, text


_RANGES = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200D),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)

INVISIBLE = frozenset(chr(code) for first, last in _RANGES for code in range(first, last + 1))
"""Unicode's default-ignorable code points, and the interlinear annotation marks."""


Pairs = dict[str, tuple[str, str]]
"""By composed form, two names that have it."""


def look_alikes(names: Iterable[str], known: Container[str]) -> Pairs:
    r"""Find names that `known`, which has them all, also has in another normal form.

    >>> names = ["caf\u00e9", "tea", "cafe\u0301"]
    >>> print(ascii([*look_alikes(names, names).values()]))
    [('caf\xe9', 'cafe\u0301')]
    """
    found: Pairs = {}
    for name in names:
        if not name.isascii():
            composed, decomposed = normalize("NFC", name), normalize("NFD", name)
            for other in (composed, decomposed):
                if other != name and other in known and composed not in found:
                    found[composed] = (name, other)
    return found


def look_alike_words(found: Pairs) -> str:
    """Return the warning about such documents, with the first ones escaped: they look the same."""
    one, other = next(iter(found.values()))
    return (
        f"documents whose docnos differ only in Unicode normal form (NFC, NFD): {len(found):,},"
        f" first {one!a} and {other!a}; they are counted and judged as different ones"
    )
