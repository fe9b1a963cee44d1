"""Collections and files that earlier versions wrote, unpacked where a test wants them."""

from __future__ import annotations

import gzip
from pathlib import Path

from store.db.engine import collection_url
from store.keeping.upgrade import upgrade

GOLDEN = Path(__file__).resolve().parent


def unpack(name: str, target: Path) -> Path:
    """Unpack a kept file, `written/built.db` say, to a path."""
    target.write_bytes(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))
    return target


def unpack_upgraded(name: str, target: Path) -> Path:
    """Unpack a kept collection, and bring it to the schema of today."""
    unpack(name, target)
    upgrade(collection_url(str(target)), backs_up=False)
    return target
