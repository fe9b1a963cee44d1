"""Documents in whose place a near-duplicate is shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add what is carried over."""
    op.create_table(
        "carried",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("shared", sa.Integer(), nullable=False),
        sa.Column("united", sa.Integer(), nullable=False),
        sa.Column("document_sha256", sa.Text(), nullable=False),
        sa.Column("source_sha256", sa.Text(), nullable=False),
        sa.Column("carried_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["document.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("carried_pair", "carried", ["topic_id", "document_id"])
    op.create_index("carried_source", "carried", ["topic_id", "source_id"])
