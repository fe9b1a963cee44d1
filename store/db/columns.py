"""What a column holds, and a value as SQLite keeps it.

Text that keys or orders anything is `KeyText`: compared bytewise on both engines. Prose from
outside is `RawText`: kept byte for byte, even where PostgreSQL's own text type would refuse it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy import DateTime as SqlDateTime

from store.fields import LONGEST_CODE

KeyText = Text().with_variant(Text(collation="C"), "postgresql")


class RawText(TypeDecorator[str]):
    """Text of any characters, NUL and lone surrogates included, as UTF-8 bytes."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Encode for the database."""
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Decode from the database."""
        return None if value is None else bytes(value).decode("utf-8", "surrogatepass")


class UnreadableMomentError(ValueError):
    """A column of moments holds something else."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, in UTC."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Turn an aware moment into UTC."""
        return None if value is None else value.astimezone(UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Return what reads a value, or raises `UnreadableMomentError`."""
        read: Any = super().result_processor(dialect, coltype)

        def moment(value: Any) -> Any:
            try:
                return read(value)
            except (ValueError, TypeError) as error:
                raise UnreadableMomentError from error

        return moment

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Give back an aware moment in UTC; SQLite keeps no zone."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


COLUMN_TYPES: dict[str, Any] = {
    "int": Integer,
    "seed": BigInteger,
    "id": KeyText,
    "text": Text,
    "hash": Text,
    "prose": RawText,
    "moment": UtcDateTime,
    "enum": String(LONGEST_CODE),
    "code": String(LONGEST_CODE),
}
"""What a column has for each kind of value of `store.fields`."""


def new_uid() -> str:
    """Make an identity that says nothing of whose it is: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def raw_form(column: Column[Any]) -> Callable[[Any], Any]:
    r"""Return what turns a value of Python, not ``None``, into what SQLite keeps in a column.

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
    moment = value.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(sep=" ", timespec="microseconds")


def is_of(column: Column[Any], kind: type[Any]) -> bool:
    """Return whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)
