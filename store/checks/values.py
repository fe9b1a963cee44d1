"""Checks of the file and of single values: damage that SQLite alone would read over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    text,
)
from sqlmodel import Session, SQLModel

from store.checks.check import RESTORE, Check, Found, count, is_postgresql
from store.column_types import RawText
from store.seals import seal_fault

_HASHED = {("document", "text"), ("document", "title")}
"""Columns that another check reads."""
_MOMENT = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"


def _file(session: Session) -> Found:
    """Ask SQLite for its pages and indexes, and compare a sealed file with its checksum."""
    if is_postgresql(session):
        return Found(0)  # the server looks after its own pages
    pages = session.execute(text("PRAGMA page_count")).scalar_one()
    found = Found(int(pages))
    file: Any = session.get_bind()
    if fault := seal_fault(Path(file.url.database or "")):
        found.add(fault)
    for (said,) in session.execute(text("PRAGMA integrity_check")):
        for line in str(said).splitlines():
            if line != "ok" and not line.startswith("*** in database"):
                found.add(line)
    return found


def _references(session: Session) -> Found:
    """Check that rows refer to rows that are there."""
    found = Found()
    for table in SQLModel.metadata.sorted_tables:
        found.n_checked += count(session, table.name)
    if not is_postgresql(session):
        for table, row, parent, _ in session.execute(text("PRAGMA foreign_key_check")):
            found.add(f"row {row} of `{table}` refers to no `{parent}`")
        return found
    for table in SQLModel.metadata.sorted_tables:
        for key in table.foreign_keys:
            column, parent = key.parent.name, key.column
            query = f"""
                SELECT count(*) FROM "{table.name}" c WHERE c."{column}" IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM "{parent.table.name}" p
                                WHERE p."{parent.name}" = c."{column}")"""
            for _ in range(session.execute(text(query)).scalar_one()):
                found.add(f"a row of `{table.name}` refers to no `{parent.table.name}`")
    return found


def _values(session: Session) -> Found:
    """Check that values are of their columns' types, moments are moments, and text is UTF-8."""
    found = Found()
    for table in SQLModel.metadata.sorted_tables:
        found.n_checked += count(session, table.name)
        if not is_postgresql(session):
            _types(session, table, found)
        for column in table.columns:
            if _is_text(column) and (table.name, column.name) not in _HASHED:
                for fault in _undecodable(session, table, column):
                    found.add(fault)
    return found


def _is(column: Column[Any], kind: type[Any]) -> bool:
    """Say whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)


def _is_text(column: Column[Any]) -> bool:
    """Say whether a column holds text, as text or as bytes."""
    return isinstance(column.type, RawText) or _is(column, String)


def _types(session: Session, table: Table, found: Found) -> None:
    """Compare the types of values, which SQLite leaves open, with those of their columns."""
    wrong = []
    for column in table.columns:
        # Of a column that is missing, SQLite would take the bare name for a text.
        name = f'"{table.name}"."{column.name}"'
        if _is(column, Boolean):
            wrong.append(f"{name} NOT IN (0, 1)")
        elif _is(column, DateTime):
            wrong.append(f"{name} NOT GLOB '{_MOMENT}' OR datetime({name}) IS NULL")
        elif _is(column, Integer):
            wrong.append(f"typeof({name}) NOT IN ('integer', 'null')")
        elif _is(column, Float):
            wrong.append(f"typeof({name}) NOT IN ('real', 'integer', 'null')")
        elif _is(column, LargeBinary):
            wrong.append(f"typeof({name}) NOT IN ('blob', 'null')")
        else:
            wrong.append(f"typeof({name}) NOT IN ('text', 'null')")
    # No value is no fault of its type.
    tests = [
        f'("{column.name}" IS NOT NULL AND ({test}))'
        for column, test in zip(table.columns, wrong, strict=True)
    ]
    shown = ", ".join(tests)
    query = f'SELECT {shown} FROM "{table.name}" WHERE {" OR ".join(tests)}'
    for row in session.execute(text(query)):
        names = [column.name for column, bad in zip(table.columns, row, strict=True) if bad]
        found.add(f"`{table.name}` has a value of another type in `{names[0]}`")


def _undecodable(session: Session, table: Table, column: Column[Any]) -> Iterator[str]:
    """Tell of values of a column that are no UTF-8."""
    name = f'"{column.name}"'
    if not is_postgresql(session):
        name = f"CAST({name} AS BLOB)"
    elif not _is(column, LargeBinary):
        return  # the server has seen to it
    query = f'SELECT DISTINCT {name} FROM "{table.name}" WHERE length({name}) > 0'
    for (raw,) in session.execute(text(query)):
        try:
            bytes(raw).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            yield f"`{table.name}` has a text in `{column.name}` that is no UTF-8"


FILE_CHECKS = (Check("file", "pages", _file, RESTORE),)
VALUE_CHECKS = (
    Check("references", "rows", _references, RESTORE),
    Check("values", "rows", _values, RESTORE),
)
