"""What a column holds, and rows as SQLite keeps them, from and to either engine.

Text that keys or orders anything is `KeyText`: compared bytewise on both engines. Prose from
outside is `RawText`: kept byte for byte, even where PostgreSQL's own text type would refuse it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Table
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from store.fields import LONGEST_CODE

KeyText = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


class RawText(sa.TypeDecorator[str]):
    """Text of any characters, NUL and lone surrogates included, as UTF-8 bytes."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> bytes | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Encode for the database."""
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Decode from the database."""
        return None if value is None else bytes(value).decode("utf-8", "surrogatepass")


class UnreadableMomentError(ValueError):
    """A column of moments holds something else."""


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A moment, in UTC."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Turn an aware moment into UTC."""
        return None if value is None else value.astimezone(UTC)

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Return what reads a value, or raises `UnreadableMomentError`."""
        read: Any = super().result_processor(dialect, coltype)

        def moment(value: Any) -> Any:
            try:
                return read(value)
            except (ValueError, TypeError) as error:
                raise UnreadableMomentError from error

        return moment

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Give back an aware moment in UTC; SQLite keeps no zone."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


COLUMN_TYPES: dict[str, Any] = {
    "int": sa.Integer,
    "seed": sa.BigInteger,
    "id": KeyText,
    "text": sa.Text,
    "hash": sa.Text,
    "prose": RawText,
    "moment": UtcDateTime,
    "enum": sa.String(LONGEST_CODE),
    "code": sa.String(LONGEST_CODE),
}
"""What a column has for each kind of value of `store.fields`."""


def new_uid() -> str:
    """Make an identity that says nothing of whose it is: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def raw_form(column: Column[Any]) -> Callable[[Any], Any]:
    r"""Return what turns a value of Python, not ``None``, into what SQLite keeps in a column.

    >>> raw_form(Column("at", sa.DateTime()))(datetime(2025, 1, 2, 3, tzinfo=UTC))
    '2025-01-02 03:00:00.000000'
    >>> raw_form(Column("note", RawText()))("\ud83f")
    b'\xed\xa0\xbf'
    """
    if isinstance(column.type, RawText):
        return lambda value: value.encode("utf-8", "surrogatepass")
    if is_of(column, sa.DateTime):
        return lambda value: value.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
    if is_of(column, sa.Boolean) or is_of(column, sa.Integer):
        return int
    if is_of(column, sa.Float):
        return float
    # A member of an enumeration is text, too.
    return bytes if is_of(column, sa.LargeBinary) else str.__str__


def is_of(column: Column[Any], kind: type[Any]) -> bool:
    """Return whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)


def raw_rows(
    session: Session,
    table: Table,
    *,
    where: str = "",
    joins: str = "",
    columns: Sequence[Column[Any]] | None = None,
) -> Iterator[Sequence[Any]]:
    """Read the rows of a table, a value a column: integers, floats, text, bytes (of prose too) and ``None``.

    `where` is SQL of both engines. Rows then come in any order, else by their keys. `columns` are those of
    the table, or others of it and of the tables of `joins`.
    """
    keys = ", ".join(f'"{table.name}"."{column.name}"' for column in table.primary_key)
    end = f'FROM "{table.name}" {joins} ' + (f"WHERE {where}" if where else f"ORDER BY {keys}")
    connection: Any = session.connection().connection.driver_connection
    columns = columns or [*table.columns]
    if is_postgresql(session):
        return _read_postgresql(connection, columns, end)
    values = ", ".join(f'"{column.table.name}"."{column.name}"' for column in columns)
    return iter(connection.execute(f"SELECT {values} {end}"))


def is_postgresql(session: Session) -> bool:
    """Return whether a session is on PostgreSQL; the other engine is SQLite."""
    return session.get_bind().dialect.name == "postgresql"


def _read_postgresql(connection: Any, columns: Sequence[Column[Any]], end: str) -> Iterator[Sequence[Any]]:
    values, kinds = [], []
    for column in columns:
        name, kind = f'"{column.table.name}"."{column.name}"', "text"
        if is_of(column, sa.DateTime):
            name = f"to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        elif is_of(column, sa.Boolean):
            name, kind = f"{name}::int", "int8"
        elif is_of(column, sa.Integer):
            kind = "int8"
        elif is_of(column, sa.Float) or is_of(column, sa.LargeBinary):
            kind = "float8" if is_of(column, sa.Float) else "bytea"
        values.append(name)
        kinds.append(kind)
    statement = f"COPY (SELECT {', '.join(values)} {end}) TO STDOUT"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(kinds)
        yield from copy.rows()


def insert_row(session: Session, table: Table, **values: Any) -> int:
    """Insert one row and return its id."""
    return int(session.execute(sa.insert(table).values(values).returning(table.c.id)).scalar_one())


def insert_new(session: Session, table: Table, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows, a value for each of `names` as `raw_rows` gives them.

    What is not named is empty, or an id that the database gives. Beside a row of SQLAlchemy it costs a tenth.
    """
    columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    with driver_errors(session.connection(), f"INSERT INTO {table.name}") as driver:
        if not is_postgresql(session):
            driver.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', rows)
            return
        with driver.cursor() as cursor:
            cursor.execute("SET LOCAL TimeZone TO 'UTC'")
            with cursor.copy(f'COPY "{table.name}" ({columns}) FROM STDIN') as copy:
                for row in rows:
                    copy.write_row(row)


@contextmanager
def driver_errors(connection: sa.Connection, statement: str) -> Iterator[Any]:
    """Yield the driver's own connection; what it refuses is raised as SQLAlchemy does."""
    failure: Any = connection.dialect.loaded_dbapi.Error
    try:
        yield connection.connection.driver_connection
    except failure as error:
        raise DBAPIError.instance(statement, None, error, failure, dialect=connection.dialect) from error
