"""Rows as SQLite keeps them, from and to either engine: integers, floats, text, bytes and ``None``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, Table
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from store.db.columns import is_of


def raw_rows(
    session: Session, table: Table, *, where: str = "", joins: str = "", also: Sequence[Column[Any]] = ()
) -> Iterator[Sequence[Any]]:
    """Read the rows of a table, a value a column: integers, floats, text, bytes (of prose too) and ``None``.

    `where` is SQL of both engines. Rows then come in any order, else by their keys. `joins` are other tables,
    of which the columns `also` come after those of this one.
    """
    keys = ", ".join(f'"{table.name}"."{column.name}"' for column in table.primary_key)
    end = f'FROM "{table.name}" {joins} ' + (f"WHERE {where}" if where else f"ORDER BY {keys}")
    read = _read_postgresql if is_postgresql(session) else _read_sqlite
    return read(session, [*table.columns, *also], end)


def is_postgresql(session: Session) -> bool:
    """Return whether a session is on PostgreSQL; the other engine is SQLite."""
    return session.get_bind().dialect.name == "postgresql"


def _read_sqlite(session: Session, columns: Sequence[Column[Any]], end: str) -> Iterator[Sequence[Any]]:
    values = ", ".join(f'"{column.table.name}"."{column.name}"' for column in columns)
    connection: Any = session.connection().connection.driver_connection
    return iter(connection.execute(f"SELECT {values} {end}"))


def _read_postgresql(session: Session, columns: Sequence[Column[Any]], end: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table of a PostgreSQL database, as SQLite would have them."""
    values, kinds = [], []
    for column in columns:
        name = f'"{column.table.name}"."{column.name}"'
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
    if is_of(column, Boolean) or is_of(column, Integer):
        return "int8"
    if is_of(column, Float):
        return "float8"
    return "bytea" if is_of(column, LargeBinary) else "text"


def insert_new(session: Session, table: Table, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows, a value for each of `names` as `raw_rows` gives them.

    What is not named is empty, or an id that the database gives. Beside a row of SQLAlchemy it costs a tenth.
    What the driver refuses is raised as SQLAlchemy's error.
    """
    with _raised_as_of_sqlalchemy(session, f"INSERT INTO {table.name}"):
        write_raw(session, table, rows, names)


def write_raw(
    session: Session, table: Table, rows: Iterable[Sequence[Any]], names: Sequence[str] = ()
) -> None:
    """Insert rows as `insert_new` does, of `names` or all columns; the driver's errors are its own."""
    written = names or table.columns.keys()
    columns = ", ".join(f'"{name}"' for name in written)
    connection: Any = session.connection().connection.driver_connection
    if not is_postgresql(session):
        marks = ", ".join("?" * len(written))
        connection.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', rows)
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone TO 'UTC'")
        with cursor.copy(f'COPY "{table.name}" ({columns}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(row)


@contextmanager
def _raised_as_of_sqlalchemy(session: Session, statement: str) -> Iterator[None]:
    """Raise what a driver refuses as SQLAlchemy does, for callers that expect that."""
    base: Any = session.get_bind().dialect.loaded_dbapi.Error
    try:
        yield
    except base as error:
        raise DBAPIError.instance(statement, None, error, base) from error
