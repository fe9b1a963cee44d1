"""What run files say of themselves before their first line."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the header of a run file."""
    op.add_column("run", sa.Column("header", sa.LargeBinary(), nullable=True))
