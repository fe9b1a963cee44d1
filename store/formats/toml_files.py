"""TOML files: scales and keymaps."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from store.errors import Fault, FormatError
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, open_bytes


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    FormatError
        If it is none, or is nested or has numbers beyond all bounds.
    PoolerError
        If it cannot be opened.
    """
    try:
        with open_bytes(path) as file:
            read = tomllib.loads(file.read().removeprefix(BOM).decode())
    except (ValueError, RecursionError, DamagedDataError) as error:
        reason = "a nesting beyond all bounds" if isinstance(error, RecursionError) else error
        raise FormatError(path, [Fault(None, f"expected TOML, got: {reason}")]) from error
    if any(not -(1 << 63) <= number < 1 << 63 for number in _integers(read)):
        message = "expected TOML, got: an integer of more than 64 bits"
        raise FormatError(path, [Fault(None, message)])
    return read


def _integers(value: object) -> Iterator[int]:
    """Yield every integer of what was read."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _integers(one)
