"""Single values as SQLite keeps them: moments as text in UTC, truth as 0 and 1, prose as bytes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary

from store.column_types import RawText


def raw_form(column: Column[Any]) -> Callable[[Any], Any]:
    r"""Return what turns a value of Python, not ``None``, into what SQLite keeps in a column.

    Examples
    --------
    >>> raw_form(Column("at", DateTime()))(datetime(2025, 1, 2, 3, tzinfo=UTC))
    '2025-01-02 03:00:00.000000'
    >>> raw_form(Column("note", RawText()))("\ud83f")
    b'\xed\xa0\xbf'
    """
    if isinstance(column.type, RawText):
        return lambda value: value.encode("utf-8", "surrogatepass")
    if is_of(column, DateTime):
        return _as_moment
    if is_of(column, Boolean) or is_of(column, Integer):
        return int
    if is_of(column, Float):
        return float
    # A member of an enumeration is text, too.
    return bytes if is_of(column, LargeBinary) else str.__str__


def _as_moment(value: datetime) -> str:
    """Write a moment as SQLite keeps it."""
    moment = value.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(sep=" ", timespec="microseconds")


def is_of(column: Column[Any], kind: type[Any]) -> bool:
    """Say whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)
