"""Text in a drawing: escaped, and how wide it can be in any font of the page.

A page does not know which font it will be read in, so widths are at least those of a wide one
(DejaVu Sans); a text that fits by them fits.
"""

from __future__ import annotations

import html
import re
import unicodedata

from store.sanitise import sanitise_line

_NARROW = frozenset(" !'(),-./:;I[\\]`fijlrt|")
_BROAD = frozenset("%@MWmw&+<=>~^#")
_VERY_BROAD = frozenset("‰‱ǄǅǱǲ")
_CODE = re.compile(r"(?<![^\s(])`([^`]+)`(?![^\s.,;:)])")
_NOT_XML = re.compile("[\ufffe\uffff]")
_JOINT = re.compile(r"(?<=[-_/=@+\s])(?<!\s[-+])(?<!^[-+])|(?<=[.:,])(?=\D)")
_EM_NARROW, _EM_USUAL, _EM_CAPITAL, _EM_BROAD = 0.5, 0.66, 0.8, 1.03
_EM_OTHER, _EM_PICTURE = 1.2, 1.8


def escaped(text: str) -> str:
    r"""Make any text fit to stand in an element or an attribute, of HTML and XML alike.

    Examples
    --------
    >>> escaped("<b>\x1b & 'c'")
    '&lt;b&gt;␛ &amp; &#x27;c&#x27;'
    """
    return html.escape(shown(text))


def marked(text: str) -> str:
    r"""Make a sentence fit as `escaped` does, its words in backticks as code.

    Examples
    --------
    >>> marked("`pooler diff` & <b>"), marked("one`s`name")
    ('<code>pooler diff</code> &amp; &lt;b&gt;', 'one`s`name')
    """
    return _CODE.sub(r"<code>\1</code>", escaped(text))


def shown(text: str) -> str:
    r"""Return a text as it is shown: on one line, without characters that steer or are no XML.

    Examples
    --------
    >>> shown("one\ntwo\uffff")
    'one two\ufffd'
    """
    return _NOT_XML.sub("\ufffd", sanitise_line(text))


def text_width(text: str, size: float) -> float:
    """Return the room that a text needs, in the unit of the font size; never too little.

    Examples
    --------
    >>> round(text_width("ill", 10), 1), round(text_width("漬物", 10), 1)
    (15.0, 24.0)
    """
    return size * sum(map(_em, text))


def wrapped(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines that fit a room: at blanks and joints, else anywhere.

    Nothing is lost but blanks at the ends of lines. A line holds at least one character, however
    little room there is.

    Parameters
    ----------
    text : str
        Any text; it is made fit to be shown, but not escaped.
    room : float
        Width of a line.
    size : float
        Font size, in the same unit.

    Returns
    -------
    list of str
        At least one line.

    Examples
    --------
    >>> wrapped("bm25-of-the-title", 70, 10)
    ['bm25-of-', 'the-title']
    >>> wrapped("漬物の歴史", 25, 10)
    ['漬物', 'の歴', '史']
    """
    lines, line = [], ""
    for word in _JOINT.split(shown(text).strip()):
        if text_width((line + word).rstrip(), size) <= room:
            line += word
            continue
        if line:
            lines.append(line)
        line = ""
        for character in word:
            if line and text_width(line + character, size) > room:
                lines.append(line)
                line = ""
            line += character
    lines.append(line)
    return [one.strip() for one in lines if one.strip()] or [""]


def _em(character: str) -> float:
    """Return the width of one character in units of the font size."""
    if character < "\x7f":
        if character in _NARROW:
            return _EM_NARROW
        if character in _BROAD:
            return _EM_BROAD
        return _EM_CAPITAL if character.isupper() else _EM_USUAL
    if character in _VERY_BROAD or unicodedata.category(character) in {"So", "Cn", "Co"}:
        return _EM_PICTURE
    return _EM_OTHER
