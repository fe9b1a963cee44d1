"""Names that Unicode calls equal and bytes do not: composed (NFC) and decomposed (NFD) forms."""

from __future__ import annotations

from collections.abc import Container, Iterable
from unicodedata import normalize

Pairs = dict[str, tuple[str, str]]
"""By composed form, two names that have it."""


def look_alikes(names: Iterable[str], known: Container[str]) -> Pairs:
    r"""Find names of which another one has the same characters, in another normal form.

    Parameters
    ----------
    names : iterable of str
        Those that are looked at.
    known : container of str
        All there are, `names` too.

    Examples
    --------
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
    """Say that there are such documents, with the first ones escaped: they look the same."""
    one, other = next(iter(found.values()))
    return (
        f"documents whose docnos differ in Unicode normal form alone (NFC, NFD): {len(found):,},"
        f" first {one!a} and {other!a}; they are counted and judged as different ones"
    )
