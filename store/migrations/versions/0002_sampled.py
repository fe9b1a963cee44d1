"""Sampled pools: entries that are listed in their stratum, but not to be judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Say of every entry that it is to be judged, as all were."""
    op.add_column(
        "pool_entry",
        sa.Column("sampled", sa.Boolean(), server_default=sa.true(), nullable=False),
    )
