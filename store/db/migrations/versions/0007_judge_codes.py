"""Access codes of judges who judge in a browser."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the hashes of the codes."""
    op.create_table(
        "judge_code",
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["judge.id"]),
        sa.PrimaryKeyConstraint("judge_id"),
        sa.UniqueConstraint("sha256"),
    )
