"""Entries that are in a stratum but not to be judged, and budgets of pools drawn as judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Say of every entry that it is to be judged, as all were; no pool has a budget yet."""
    op.add_column(
        "pool_entry",
        sa.Column("sampled", sa.Boolean(), server_default=sa.true(), nullable=False),
    )
    op.create_table(
        "pool_topic",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("budget", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
        sa.PrimaryKeyConstraint("pool_id", "topic_id"),
    )
