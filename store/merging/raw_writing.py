"""Rows written to either engine: one that gets its id, or many as SQLite keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any
from zlib import crc32

from sqlalchemy import Float, LargeBinary, Table, insert
from sqlmodel import Session

from store.raw_rows import is_postgresql
from store.raw_values import is_of
from store.row_checksums import CHECKSUM


def insert_one(session: Session, table: Table, values: Mapping[str, Any]) -> int:
    """Insert one row and return its id.

    A checksum that comes with its values stays: a row that was damaged on a copy is told here, too.
    """
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
    written = with_checksums(table, rows)
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


def with_checksums(table: Table, rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    """Yield rows, each with its checksum where the table has them.

    `store.row_checksums.row_checksum` a row at a time is most of what a merge takes; so the text it
    hashes is laid out once for all rows that are empty in the same columns.
    """
    names = [column.name for column in table.columns]
    if CHECKSUM not in names:
        yield from rows
        return
    place = names.index(CHECKSUM)
    told = [number for number, name in enumerate(names) if name not in ("id", CHECKSUM)]
    read = itemgetter(*told)
    kept = [column for column in table.columns if column.name not in ("id", CHECKSUM)]
    prose = [number for number, column in enumerate(kept) if is_of(column, LargeBinary)]
    floats = [number for number, column in enumerate(kept) if is_of(column, Float)]
    layouts: dict[tuple[bool, ...], str] = {}
    for row in rows:
        told_now = [*read(row)]
        for number in prose:
            if told_now[number] is not None:
                told_now[number] = len(told_now[number]), crc32(told_now[number])
        for number in floats:
            if told_now[number] is not None:
                told_now[number] += 0.0  # an engine may lose the sign of a zero
        is_empty = (*[one is None for one in told_now],)
        layout = layouts.get(is_empty)
        if layout is None:
            parts = zip(kept, is_empty, strict=True)
            layout = "".join(f"{column.name}=%a;" for column, empty in parts if not empty)
            layouts[is_empty] = layout
        text = layout % (*[one for one in told_now if one is not None],)
        checksum = crc32(text.encode("ascii"))
        values = list(row)
        values[place] = checksum - ((checksum >> 31) << 32)
        yield values
