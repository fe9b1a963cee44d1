"""Text that came from outside, made fit for a terminal.

A crawled document can hold escape sequences that set the window title, write to the clipboard or
repaint the screen, and bidirectional controls that reorder what is read. Terminal libraries pass
them through, so every text that reaches a screen or a table goes through `sanitise` first.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

_TABLE: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
_TABLE[ord("\n")] = "\n"
_TABLE[ord("\t")] = "\t"
_TABLE[ord("\r")] = None
_TABLE.update(dict.fromkeys([0x7F, *range(0x80, 0xA0)], REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, BIDI_CONTROLS), REPLACEMENT))
_TABLE.update(dict.fromkeys(map(ord, "\u2028\u2029"), "\n"))
_SUSPECT = re.compile(
    f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{BIDI_CONTROLS}\u2028\u2029\ud800-\udfff]"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sanitise(text: str) -> str:
    r"""Replace every character that could steer a terminal.

    Parameters
    ----------
    text : str
        Raw text from outside.

    Returns
    -------
    str
        C0 controls as their pictures (U+2400..), but for newline and tab, which stay, and
        carriage return, which goes; DEL, C1 controls, bidirectional controls and lone surrogates
        as U+FFFD; the Unicode line and paragraph separators as newlines.

    Examples
    --------
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

    Examples
    --------
    >>> sanitise_line("two\nlines\tand a tab")
    'two lines and a tab'
    """
    return sanitise(text).replace("\n", " ").replace("\t", " ")
