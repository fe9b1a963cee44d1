"""Collections and files that earlier versions wrote, unpacked where a test wants them."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlmodel import SQLModel

from store.collection import Collection
from store.db.digests import write_all_digests
from store.db.engine import engine_at, writing
from tests.helpers.world import parse_scale

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def unpack(name: str, target: Path) -> Path:
    """Unpack a kept file, `written/built.db` say, to a path."""
    target.write_bytes(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))
    return target


def unpack_today(name: str, target: Path) -> Path:
    """Unpack a kept collection as one of today's schema: every column that is there still, row by row."""
    with sqlite3.connect(":memory:") as made:
        made.deserialize(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))
        # Copies that had come together: a state by a rule, and what stood on the other copy.
        made.execute("UPDATE judgement SET action = 'judge' WHERE action = 'settle'")
        made.execute("ALTER TABLE collection ADD COLUMN secret VARCHAR(64) NOT NULL DEFAULT 'kept'")
        # The seed of an order was a part of its name: `random:7`.
        for table in ("assignment", "judgement"):
            made.execute(f"ALTER TABLE {table} ADD COLUMN order_seed BIGINT")
            made.execute(
                f"UPDATE {table} SET display_order = 'random', order_seed = substr(display_order, 8)"
                " WHERE display_order LIKE 'random:%'"
            )
    scale = parse_scale("0-1")
    Collection.create(str(target), name="kept", scale=scale, program="kept").close()
    with closing(sqlite3.connect(target)) as today, today:
        for table in SQLModel.metadata.sorted_tables:
            stored = [row[1] for row in made.execute(f'PRAGMA table_info("{table.name}")')]
            if stored:  # what is new, as the qrels that every collection has, stays
                today.execute(f'DELETE FROM "{table.name}"')
            names = ", ".join(f'"{one.name}"' for one in table.columns if one.name in stored)
            if names:
                rows = made.execute(f'SELECT {names} FROM "{table.name}"').fetchall()
                marks = ", ".join("?" * (names.count(",") + 1))
                today.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', rows)
    with engine_at(target) as engine, writing(engine) as session:
        write_all_digests(session)
    return target
