"""Texts of run files with a header."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the text of a run file as it was handed in."""
    op.add_column("run", sa.Column("as_handed_in", sa.LargeBinary(), nullable=True))
