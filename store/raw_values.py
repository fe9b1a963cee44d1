"""Single values as SQLite keeps them: moments as text in UTC, truth as 0 and 1, prose as bytes."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary

from store.column_types import RawText


def raw_value(column: Column[Any], value: Any) -> Any:
    r"""Return a value of Python as SQLite keeps it in a column.

    Examples
    --------
    >>> from datetime import datetime
    >>> raw_value(Column("at", DateTime()), datetime(2025, 1, 2, 3, tzinfo=UTC))
    '2025-01-02 03:00:00.000000'
    >>> raw_value(Column("note", RawText()), "\ud83f")
    b'\xed\xa0\xbf'
    """
    if value is None:
        return None
    if isinstance(column.type, RawText):
        return value.encode("utf-8", "surrogatepass")
    if is_of(column, DateTime):
        moment = value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(sep=" ", timespec="microseconds")
    if is_of(column, Boolean) or is_of(column, Integer):
        return int(value)
    if is_of(column, Float):
        return float(value)
    # A member of an enumeration is text, too.
    return bytes(value) if is_of(column, LargeBinary) else str.__str__(value)


def is_of(column: Column[Any], kind: type[Any]) -> bool:
    """Say whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)
