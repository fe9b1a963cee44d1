"""Check of the tables themselves: columns, types, keys, indexes and rules."""

from __future__ import annotations

from sqlmodel import Session

from store.checks.check import Check, Found
from store.models import TABLES


def _tables(session: Session) -> Found:
    """Check that the tables are those of the models; every difference is told."""
    from store.schema_differences import differences  # Alembic takes time to import

    told = [one.told for one in differences(session.connection())]
    return Found(len(TABLES), len(told), told)


TABLE_CHECKS = (
    Check("tables", "tables", _tables,
          "pooler upgrade makes a backup, then adds what is missing and says what it cannot mend"),
)  # fmt: skip
