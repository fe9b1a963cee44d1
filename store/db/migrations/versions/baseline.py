"""The baseline: the schema that `store.db.database` makes. Later migrations begin from it."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """Do nothing: no earlier schema leads here."""
