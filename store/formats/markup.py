"""Markup turned into readable text, each part with the place it came from."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

from store.text import Readable, plain

Markup = Literal["plain", "html", "markdown"]
"""How the texts of documents may be marked up."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)

MOST_CHARACTERS = {"html": 2_000_000, "markdown": 200_000}
"""By the markup that is read: longer texts are shown as they came, to be quick."""


@lru_cache(maxsize=8)
def readable(raw: str, markup: str | None = None) -> Readable:
    r"""Return the readable text of a marked-up one; ``None`` or an unknown markup = it is plain text.

    What cannot be read as marked up is shown as it came, and `Readable.note` says so.

    Examples
    --------
    >>> readable("<h1>Oaks</h1><p>Tom &amp;\n Jerry", "html").text
    'Oaks\n\nTom & Jerry'
    >>> readable("Oaks\n====\n\n* *Tom*\n", "markdown").text
    'Oaks\n\n- Tom'
    """
    most = MOST_CHARACTERS.get(markup or "")
    if most is None:
        return plain(raw)
    if len(raw) > most:
        return plain(raw, f"shown as it came: longer than {most:,} characters")
    try:
        if markup == "html":
            from store.formats.html import read_html

            return read_html(raw)
        from store.formats.markdown import read_markdown

        return read_markdown(raw)
    except Exception:  # noqa: BLE001 - whatever a parser makes of a hostile text, the judge can read it
        return plain(raw, f"shown as it came: it could not be read as {markup}")
