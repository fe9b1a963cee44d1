"""Collections and files that earlier versions wrote, unpacked where a test wants them."""

from __future__ import annotations

import gzip
import sqlite3
import tarfile
from contextlib import closing
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
    with closing(sqlite3.connect(target)) as connection, connection:
        if ("follows",) in connection.execute("SELECT name FROM pragma_table_info('judgement')"):
            connection.executescript("""
                UPDATE judgement SET checksum = NULL WHERE follows IS NOT NULL OR settled IS NOT NULL;
                UPDATE judgement SET action = 'judge' WHERE action = 'settle';
                ALTER TABLE judgement DROP COLUMN follows;
                ALTER TABLE judgement DROP COLUMN settled;
            """)
    upgrade(collection_url(str(target)), backs_up=False)
    return target


def unpack_directory(folder: Path) -> Path:
    """Unpack the kept export of a whole collection into a folder; return its directory."""
    with tarfile.open(GOLDEN / "written" / "published.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "published"
