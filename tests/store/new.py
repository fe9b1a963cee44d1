"""Empty collections, made once a process and copied: making the tables takes 30 ms."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from store.collection import Collection
from store.formats.scale import parse_scale


def new_collection(where: str, scale: str = "0-2") -> Collection:
    """Make an empty collection named "test" where there is none, and open it."""
    if "://" in where:
        return Collection.create(where, name="test", scale=parse_scale(scale), program="test")
    file = Path(where)
    assert not file.exists(), where
    file.write_bytes(_empty(scale))
    return Collection(where)


@cache
def _empty(scale: str) -> bytes:
    """Return the file of an empty collection."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        parsed = parse_scale(scale)
        Collection.create(str(file), name="test", scale=parsed, program="test").close()
        return file.read_bytes()
