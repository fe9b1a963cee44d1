"""What a column holds: text that keys, prose from outside, moments, identities.

Text that keys or orders anything is `KeyText`: compared bytewise on both engines. Prose from
outside is `RawText`: kept byte for byte, even where PostgreSQL's own text type would refuse it.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime as SqlDateTime
from sqlalchemy import Dialect, LargeBinary, Text, TypeDecorator

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


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, in UTC."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Turn an aware moment into UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Give back an aware moment in UTC; SQLite keeps no zone."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def new_uid() -> str:
    """Make an identity that says nothing of whose it is: 16 hexadecimal digits."""
    return secrets.token_hex(8)
