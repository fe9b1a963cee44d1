"""Rows as SQLite keeps them, from either engine: moments as text in UTC, truth as 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, Table
from sqlmodel import Session

from store.raw_values import is_of


def raw_rows(session: Session, table: Table, *, where: str = "") -> Iterator[Sequence[Any]]:
    """Read the rows of a table, a value a column.

    Parameters
    ----------
    session : Session
        A session on either engine.
    table : Table
        The table.
    where : str, optional
        What a row must fulfil, in SQL of both engines. Rows then come in any order, else by their
        keys.

    Returns
    -------
    iterator of sequence
        Integers, floats, text, bytes (of prose too) and ``None``.

    """
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    end = f'FROM "{table.name}" ' + (f"WHERE {where}" if where else f"ORDER BY {keys}")
    read = _read_postgresql if is_postgresql(session) else _read_sqlite
    return read(session, table, end)


def is_postgresql(session: Session) -> bool:
    """Say which engine a session is on."""
    return session.get_bind().dialect.name == "postgresql"


def _read_sqlite(session: Session, table: Table, end: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table of a SQLite file."""
    # A column of bytes may hold text: SQLite keeps what it was given.
    values = ", ".join(
        f'CAST("{column.name}" AS BLOB)' if is_of(column, LargeBinary) else f'"{column.name}"'
        for column in table.columns
    )
    connection: Any = session.connection().connection.driver_connection
    return iter(connection.execute(f"SELECT {values} {end}"))


def _read_postgresql(session: Session, table: Table, end: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table of a PostgreSQL database, as SQLite would have them."""
    values, kinds = [], []
    for column in table.columns:
        name = f'"{column.name}"'
        if is_of(column, DateTime):
            name = f"to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        elif is_of(column, Boolean):
            name = f"{name}::int"
        values.append(name)
        kinds.append(_kind(column))
    connection: Any = session.connection().connection.driver_connection
    statement = f"COPY (SELECT {', '.join(values)} {end}) TO STDOUT"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(kinds)
        yield from copy.rows()


def _kind(column: Column[Any]) -> str:
    """Name PostgreSQL's type of a column as it is read."""
    if is_of(column, Boolean) or is_of(column, Integer):
        return "int8"
    if is_of(column, Float):
        return "float8"
    return "bytea" if is_of(column, LargeBinary) else "text"
