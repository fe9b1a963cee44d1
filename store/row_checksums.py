"""A checksum in every row whose values nothing else would confirm.

SQLite keeps no checksum of its pages: a bit that flips on the disk may turn a grade into another
one of the scale, and no rule of the file or of a collection is broken. So the rows of most tables
carry a CRC-32 of their values, which `pooler verify` compares. A column default computes it,
whoever inserts the row; what an UPDATE changes is marked, and `store.database.writing` computes it
anew before it commits.

Three kinds of rows have none. A document has the hash of its text. Sittings and places at documents
change with every judgement, and say nothing of it that the event does not say, too.

The row id is not in it (nobody knows it before), but every index of the table is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Table, text
from sqlmodel import Session, SQLModel

from store.raw_rows import raw_rows
from store.raw_values import raw_form

CHECKSUM = "checksum"
"""The column; empty where a row was made before there was one."""

_LEFT_OUT = {"id", CHECKSUM}
_CHANGED = "pooler_changed_tables"
_BATCH = 1000


def row_checksum(values: Iterable[tuple[str, Any]]) -> int:
    """Return the checksum of a row.

    Parameters
    ----------
    values : iterable of (str, object)
        Columns and their values as SQLite keeps them (`store.raw_values`). Empty ones do not
        count, so that a column that is added later changes no checksum.

    Returns
    -------
    int
        A CRC-32 as a signed 32-bit integer, which both engines have.

    Notes
    -----
    Of the text ``name=value;`` a column, where a value is written as Python writes it in ASCII, of
    bytes their number and CRC-32. One change in a billion of several bits is missed, none of one.

    Examples
    --------
    ``python -c 'import zlib; print(zlib.crc32(b"length=2;scores=(3, 891568578);") - 2**32)'``
    (891568578 is the CRC-32 of "abc"):

    >>> row_checksum([("length", 2), ("scores", b"abc"), ("ranks", None)])
    -1551677804
    """
    parts = []
    for name, value in values:
        if value is None:
            continue
        if isinstance(value, bytes):
            value = len(value), crc32(value)
        elif isinstance(value, float):
            value += 0.0  # an engine may lose the sign of a zero
        parts.append(f"{name}={value!a};")
    checksum = crc32("".join(parts).encode("ascii"))
    return checksum - ((checksum >> 31) << 32)


def guarded_tables() -> list[Table]:
    """Return the tables whose rows have a checksum; none refers to a later one."""
    return [table for table in SQLModel.metadata.sorted_tables if CHECKSUM in table.columns]


def wrong_rows(session: Session, table: Table) -> Iterable[tuple[Mapping[str, Any], bool]]:
    """Yield each row that has a checksum, and whether that is another than its values give."""
    names = [column.name for column in table.columns]
    for row in raw_rows(session, table, where=f"{CHECKSUM} IS NOT NULL"):
        values = dict(zip(names, row, strict=True))
        yield values, _of(values) != values[CHECKSUM]


def renew_checksums(session: Session, table: Table) -> int:
    """Give a checksum to every row of a table that has none; return how many.

    Parameters
    ----------
    session : Session
        A writing session.
    table : Table
        A table with such a column.
    """
    names = [column.name for column in table.columns]
    keys = [column.name for column in table.primary_key]
    waiting = []
    for row in raw_rows(session, table, where=f"{CHECKSUM} IS NULL"):
        values = dict(zip(names, row, strict=True))
        waiting.append({"new": _of(values)} | {name: values[name] for name in keys})
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


def _of(values: Mapping[str, Any]) -> int:
    """Return the checksum of a row as it was read."""
    return row_checksum((name, one) for name, one in values.items() if name not in _LEFT_OUT)


def _at_insert(context: Any) -> int:
    """Compute the checksum of a row that is inserted; a column default of SQLAlchemy."""
    given = context.get_current_parameters()
    return row_checksum(
        (name, form(given[name]))
        for name, form in _raw_forms(context.current_column.table)
        if given.get(name) is not None
    )


@cache
def _raw_forms(table: Table) -> list[tuple[str, Callable[[Any], Any]]]:
    """Return the columns of a table that its checksum is of, and what writes their values."""
    columns = [column for column in table.columns if column.name not in _LEFT_OUT]
    return [(column.name, raw_form(column)) for column in columns]


def _at_update(context: Any) -> None:
    """Note that rows of a table are updated, and leave them without a checksum until the end."""
    note_changed(context.root_connection, context.current_column.table)


AT_WRITING = {"default": _at_insert, "onupdate": _at_update}
"""Of the column, for SQLAlchemy."""
