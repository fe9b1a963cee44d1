"""Rows as SQLite keeps them: the same from both engines, and of every value of Python."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import select
from sqlmodel import SQLModel

from store.db.columns import raw_form, raw_rows
from store.db.engine import reading
from store.db.tables import JUDGEMENT
from tests.helpers.world import carry, engine_of
from tests.store.full_collection import fill


def test_rows_are_what_sqlite_has(tmp_path: Path, postgres_url: str) -> None:
    """Both engines give what SQLite says the file has, in the order of the keys."""
    name = str(tmp_path / "full.db")
    fill(name)
    carry(name, postgres_url)
    with (
        engine_of(name) as here,
        engine_of(postgres_url) as there,
        reading(here) as file,
        reading(there) as server,
        closing(sqlite3.connect(name)) as connection,
    ):
        for table in SQLModel.metadata.sorted_tables:
            keys = ", ".join(column.name for column in table.primary_key)
            stored = connection.execute(f'SELECT * FROM "{table.name}" ORDER BY {keys}').fetchall()
            assert [tuple(row) for row in raw_rows(file, table)] == stored, table.name
            assert [tuple(row) for row in raw_rows(server, table)] == stored, table.name
        chosen = list(raw_rows(server, JUDGEMENT, where="revision = 1"))
        assert {row[4] for row in chosen} == {1}


def test_values_become_what_is_stored(tmp_path: Path) -> None:
    """What the program reads as objects is turned into what the file has, column by column."""
    name = str(tmp_path / "full.db")
    fill(name)
    with engine_of(name) as engine, reading(engine) as session:
        for table in SQLModel.metadata.sorted_tables:
            keys = list(table.primary_key)
            objects = session.execute(select(table).order_by(*keys)).all()
            raw = [
                tuple(
                    None if value is None else raw_form(column)(value)
                    for column, value in zip(table.columns, row, strict=True)
                )
                for row in objects
            ]
            assert raw == [tuple(row) for row in raw_rows(session, table)], table.name
