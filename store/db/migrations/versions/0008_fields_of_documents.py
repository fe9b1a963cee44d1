"""Fields of documents besides title and text, and how their texts are marked up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add what is known of documents, and which of it judges are shown."""
    op.create_table(
        "document_metadata",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("markup", sa.String(16), nullable=True),
        sa.Column("fields", sa.LargeBinary(), nullable=False),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.add_column("collection", sa.Column("fields", sa.LargeBinary(), nullable=True))
