"""TOML files: scales and keymaps."""

from __future__ import annotations

import tomllib
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
            return tomllib.loads(file.read().removeprefix(BOM).decode())
    except (ValueError, RecursionError, DamagedDataError) as error:
        reason = "a nesting beyond all bounds" if isinstance(error, RecursionError) else error
        raise FormatError(path, [Fault(None, f"expected TOML, got: {reason}")]) from error
