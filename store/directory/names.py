"""File names made of names from outside, and paths from outside that stay in their folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that are devices on Windows, whatever comes behind a dot."""
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_MOST_PARTS = 2


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """Turn names into stems of file names that any file system can hold side by side.

    Parameters
    ----------
    names : iterable of str
        Each once; any text.

    Returns
    -------
    dict of str to str
        By name, in the order given. ASCII letters, digits, and ``._-``; never empty, no leading
        dot, no name of a device, at most some 100 characters, and distinct where case does not
        count: what would be there already has ``-2`` and so on at its end.

    Examples
    --------
    >>> file_stems(["bm25", "BM25", "../etc", "文書", "nul"])
    {'bm25': 'bm25', 'BM25': 'BM25-2', '../etc': '_._etc', '文書': '__', 'nul': '_nul'}
    """
    taken: set[str] = set()
    stems: dict[str, str] = {}
    for name in names:
        stem = wanted = _safe(name)
        number = 1
        while stem.lower() in taken:
            number += 1
            stem = f"{wanted}-{number}"
        taken.add(stem.lower())
        stems[name] = stem
    return stems


def _safe(name: str) -> str:
    """Replace what a file name should not have."""
    stem = _UNSAFE.sub("_", name)[:_LONGEST]
    if not stem or stem[0] in ".-":
        stem = f"_{stem[1:]}"
    if stem.endswith("."):
        stem = f"{stem[:-1]}_"
    return f"_{stem}" if _RESERVED.fullmatch(stem) else stem


def path_fault(path: str) -> str | None:
    """Say why a path cannot be one of an exported directory; ``None`` when it can.

    Examples
    --------
    >>> path_fault("runs/bm25.run") is None
    True
    >>> path_fault("../../etc/passwd")
    "expected a file in the directory, got '../../etc/passwd'"
    """
    parts = path.split("/")
    if len(parts) > _MOST_PARTS or not all(map(_PART.fullmatch, parts)) or path.endswith("."):
        shown = path if len(path) <= 200 else f"{path[:200]}…"
        return f"expected a file in the directory, got {shown!r}"
    return None
