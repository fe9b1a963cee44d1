"""Documents that whoever comes first may claim, judges' own terms, the topic of a sitting."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Let an assignment be nobody's yet; add plans, terms, and what a sitting has open."""
    op.create_table(
        "assignment_plan",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("lease_s", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("assignment") as assignment:
        assignment.alter_column("judge_id", existing_type=sa.Integer(), nullable=True)
        assignment.add_column(sa.Column("plan_id", sa.Integer(), nullable=True))
        assignment.add_column(
            sa.Column("display_order", sa.Text(), server_default="docno", nullable=False)
        )
        assignment.create_foreign_key(
            "assignment_plan_id_fkey", "assignment_plan", ["plan_id"], ["id"]
        )
        can_be_claimed = sa.text("judge_id IS NULL OR lease_until IS NOT NULL")
        assignment.create_index(
            "assignment_of_topic",
            ["topic_id", "position"],
            sqlite_where=can_be_claimed,
            postgresql_where=can_be_claimed,
        )
    with op.batch_alter_table("sitting") as sitting:
        sitting.add_column(sa.Column("topic_id", sa.Integer(), nullable=True))
        sitting.create_foreign_key("sitting_topic_id_fkey", "topic", ["topic_id"], ["id"])
    op.create_table(
        "judge_term",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("term", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["judge.id"]),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("judge_id", "topic_id", "position"),
    )
