"""Rows written to either engine: one that gets its id, or many as SQLite keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, insert
from sqlmodel import Session

from store.raw_rows import is_postgresql
from store.row_checksums import CHECKSUM, row_checksum


def insert_one(session: Session, table: Table, values: Mapping[str, Any]) -> int:
    """Insert one row and return its id."""
    made = insert(table).values(dict(values)).returning(table.c.id)
    return int(session.connection().execute(made).scalar_one())


def insert_raw(session: Session, table: Table, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows, a value a column, as `store.raw_rows.raw_rows` gives them.

    Parameters
    ----------
    session : Session
        A writing session.
    table : Table
        The table; a row id is given with the row.
    rows : iterable of sequence
        In an order in which none refers to a later one. A checksum is computed anew.
    """
    names = [column.name for column in table.columns]
    columns = ", ".join(f'"{name}"' for name in names)
    connection: Any = session.connection().connection.driver_connection
    written = _with_checksums(names, rows)
    if not is_postgresql(session):
        marks = ", ".join("?" * len(names))
        statement = f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})'
        connection.executemany(statement, written)
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone TO 'UTC'")
        with cursor.copy(f'COPY "{table.name}" ({columns}) FROM STDIN') as copy:
            for row in written:
                copy.write_row(row)


def _with_checksums(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    """Put its checksum into every row of a table that has them."""
    if CHECKSUM not in names:
        yield from rows
        return
    place = names.index(CHECKSUM)
    told = [(number, name) for number, name in enumerate(names) if name not in ("id", CHECKSUM)]
    for row in rows:
        values = list(row)
        values[place] = row_checksum((name, values[number]) for number, name in told)
        yield values
