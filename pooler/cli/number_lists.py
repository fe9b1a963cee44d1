"""Numbers given to one option, separated by commas."""

from __future__ import annotations

import re

from store.errors import ArgumentError

_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:[0-9]{1,9}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})", re.ASCII)


def whole_numbers(name: str, text: str, *, least: int) -> list[int]:
    """Read whole numbers, each once, in the order given.

    Parameters
    ----------
    name : str
        The option, for the error.
    text : str
        As in ``10,20,50``.
    least : int
        The smallest that may be given.

    Raises
    ------
    ArgumentError
        If a part is no such number.

    Examples
    --------
    >>> whole_numbers("--topics", "50, 30,50", least=1)
    [50, 30]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_WHOLE.fullmatch(part) and int(part) >= least for part in parts):
        requirement = f"must be integers >= {least}, separated by commas"
        raise ArgumentError(name, requirement, text)
    return list(dict.fromkeys(map(int, parts)))


def decimals(name: str, text: str) -> list[float]:
    """Read numbers, each once, in the order given; their range is left to who uses them.

    Raises
    ------
    ArgumentError
        If a part is no decimal number.

    Examples
    --------
    >>> decimals("--variance", ".01,.03")
    [0.01, 0.03]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_DECIMAL.fullmatch(part) for part in parts):
        raise ArgumentError(name, "must be numbers, separated by commas", text)
    return list(dict.fromkeys(map(float, parts)))
