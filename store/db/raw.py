"""Rows as SQLite keeps them, from and to either engine; the one checksum of a row.

SQLite keeps no checksum of its pages: a bit that flips on the disk may turn a grade into another one of the
scale, and no rule is broken. So the rows of most tables carry a CRC-32 of their values but for the row id,
which `pooler verify` compares. A column default computes it; what an UPDATE changes is marked, and computed
anew before the commit. A document has the hash of its text instead; sittings and places at documents change
with every judgement, and say nothing of it that the event does not say, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast
from zlib import crc32

from sqlalchemy import Boolean, Column, Connection, DateTime, Float, Integer, LargeBinary, Table, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, SQLModel

from store.db.columns import is_of, raw_form


def raw_rows(session: Session, table: Table, *, where: str = "") -> Iterator[Sequence[Any]]:
    """Read the rows of a table, a value a column: integers, floats, text, bytes (of prose too) and ``None``.

    `where` is SQL of both engines. Rows then come in any order, else by their keys.
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


CHECKSUM = "checksum"
"""The column; empty where a row was made before there was one."""

_LEFT_OUT = {"id", CHECKSUM}
_CHANGED = "pooler_changed_tables"
_BATCH = 1000


@cache
def checksum_of(table: Table, names: tuple[str, ...] = ()) -> Callable[[Sequence[Any]], int]:
    """Return what computes the checksum of a row of a table: a CRC-32 as a signed 32-bit integer.

    Of the text ``name=value;`` a column, where a value as SQLite keeps it (`store.db.columns`) is written as
    Python writes it in ASCII, of bytes their number and CRC-32. The row id and empty values do not count, so
    that a column that is added later changes no checksum. One change in a billion of several bits is missed,
    none of one. A row has a value a column of `names`, the others being empty; without, of all.

    The function is made of the columns, so that a row costs one formatted text and no look at its types.

    ``python -c 'import zlib; print(zlib.crc32(b"length=2;scores=(3, 891568578);") - 2**32)'``
    (891568578 is the CRC-32 of "abc"):

    >>> from sqlalchemy import MetaData
    >>> kinds = {"length": Integer, "scores": LargeBinary, "ranks": LargeBinary}
    >>> checksum = checksum_of(Table("t", MetaData(), *(Column(name, kinds[name]) for name in kinds)))
    >>> checksum((2, b"abc", None))
    -1551677804
    """
    values = {name: f"v{place}" for place, name in enumerate(names or table.columns.keys())}
    text = "".join(
        _written(column, values[column.name])
        for column in table.columns
        if column.name in values and column.name not in _LEFT_OUT
    )
    source = f"""def checksum(row):
    {", ".join(values.values())}, = row
    whole = crc32(f'{text}'.encode("ascii"))
    return whole - ((whole >> 31) << 32)"""
    made: dict[str, Any] = {"crc32": crc32}
    exec(source, made)
    return cast("Callable[[Sequence[Any]], int]", made["checksum"])


def _written(column: Column[Any], value: str) -> str:
    """Return the source of what a column adds to the text that a checksum is of, within an f-string.

    In a damaged file any column may hold anything.
    """
    told = value
    if is_of(column, LargeBinary):
        told = f"((len({value}), crc32({value})) if type({value}) is bytes else {value})"
    elif is_of(column, Float):
        # An engine may lose the sign of a zero.
        told = f"({value} + 0.0 if type({value}) is float else {value})"
    part = f"{column.name}={{{told}!a}};"
    return f'{{"" if {value} is None else f"{part}"}}' if column.nullable else part


def guarded_tables() -> list[Table]:
    """Return the tables whose rows have a checksum; none refers to a later one."""
    return [table for table in SQLModel.metadata.sorted_tables if CHECKSUM in table.columns]


def wrong_rows(session: Session, table: Table) -> Iterator[tuple[Sequence[Any], bool]]:
    """Yield each row that has a checksum, and whether that is another than its values give."""
    place = table.columns.keys().index(CHECKSUM)
    checksum = checksum_of(table)
    for row in raw_rows(session, table, where=f"{CHECKSUM} IS NOT NULL"):
        yield row, checksum(row) != row[place]


def renew_checksums(session: Session, table: Table) -> int:
    """Give a checksum to every row of a table that has none; return how many."""
    keys = [column.name for column in table.primary_key]
    checksum = checksum_of(table)
    waiting = []
    for row in raw_rows(session, table, where=f"{CHECKSUM} IS NULL"):
        values = dict(zip(table.columns.keys(), row, strict=True))
        waiting.append({"new": checksum(row)} | {name: values[name] for name in keys})
    where = " AND ".join(f'"{name}" = :{name}' for name in keys)
    statement = text(f'UPDATE "{table.name}" SET {CHECKSUM} = :new WHERE {where}')
    for first in range(0, len(waiting), _BATCH):
        session.connection().execute(statement, waiting[first : first + _BATCH])
    return len(waiting)


def note_changed(connection: Connection, table: Table) -> None:
    """Note that this transaction leaves rows of a table without a checksum until its end."""
    changed = connection.info.setdefault(_CHANGED, [])
    if CHECKSUM in table.columns and table not in changed:
        changed.append(table)


def renew_changed(session: Session) -> None:
    """Compute the checksums that are missing of what this transaction wrote."""
    if session.in_transaction():
        for table in session.connection().info.pop(_CHANGED, ()):
            renew_checksums(session, table)


def _at_insert(context: Any) -> int:
    """Compute the checksum of a row that is inserted; a column default of SQLAlchemy."""
    return _checksum(context.current_column.table, context.get_current_parameters())


def _checksum(table: Table, row: Mapping[Any, Any]) -> int:
    """Return the checksum of a row as SQLAlchemy has it."""
    values = ((row.get(name), form) for name, form in _raw_forms(table))
    return checksum_of(table)([None if value is None else form(value) for value, form in values])


@cache
def _raw_forms(table: Table) -> list[tuple[str, Callable[[Any], Any]]]:
    """Return the columns of a table, and what writes their values."""
    return [(column.name, raw_form(column)) for column in table.columns]


def _at_update(context: Any) -> None:
    """Note that rows of a table are updated, and leave them without a checksum until the end."""
    note_changed(context.root_connection, context.current_column.table)


AT_WRITING: dict[str, Any] = {"default": _at_insert, "onupdate": _at_update}
"""Of the column, for SQLAlchemy."""


def insert_new(session: Session, table: Table, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows, a value for each of `names` as `raw_rows` gives them, with their checksums.

    What is not named is empty, or an id that the database gives. Beside a row of SQLAlchemy it costs a tenth.
    """
    checksum = checksum_of(table, tuple(names))
    with _told_as_of_sqlalchemy(session, f"INSERT INTO {table.name}"):
        write_raw(session, table, ((*row, checksum(row)) for row in rows), (*names, CHECKSUM))


def write_raw(
    session: Session, table: Table, rows: Iterable[Sequence[Any]], names: Sequence[str] = ()
) -> None:
    """Insert rows as `insert_raw` does, of `names` or all columns, with the checksums that they come with."""
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
def _told_as_of_sqlalchemy(session: Session, statement: str) -> Iterator[None]:
    """Raise what a driver refuses as SQLAlchemy does, for whoever expects that."""
    base: Any = session.get_bind().dialect.loaded_dbapi.Error
    try:
        yield
    except base as error:
        raise DBAPIError.instance(statement, None, error, base) from error


def with_checksums(table: Table, rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    """Yield rows, each with its checksum where the table has them."""
    names = table.columns.keys()
    if CHECKSUM not in names:
        yield from rows
        return
    place = names.index(CHECKSUM)
    checksum = checksum_of(table)
    for row in rows:
        written = list(row)
        written[place] = checksum(row)
        yield written
