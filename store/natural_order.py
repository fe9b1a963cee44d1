"""The order of topic ids: T2 before T10."""

from __future__ import annotations

import re

NaturalKey = tuple[list[str | tuple[int, str]], str]

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> NaturalKey:
    """Sort key of topic ids: runs of digits by value, all else bytewise.

    Examples
    --------
    >>> sorted(["10", "9", "T2", "T10", "009"], key=natural_key)
    ['009', '9', '10', 'T2', 'T10']
    """
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(text))
    # Without leading zeros the longer number is the greater one; any length will do.
    digits = [part.lstrip("0") for part in _DIGITS.findall(text)]
    parts[1::2] = [(len(part), part) for part in digits]
    return parts, text
