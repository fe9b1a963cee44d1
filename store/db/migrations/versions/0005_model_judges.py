"""Who a model judge is, and what it answered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the identities of model judges, and their answers."""
    op.create_table(
        "model_judge",
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("family", sa.LargeBinary(), nullable=False),
        sa.Column("prompt", sa.LargeBinary(), nullable=True),
        sa.Column("stated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["judge_id"], ["judge.id"]),
        sa.PrimaryKeyConstraint("judge_id"),
    )
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("asked", sa.String(16), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("unreadable", sa.String(16), nullable=True),
        sa.Column("topic_version", sa.Integer(), nullable=True),
        sa.Column("document_sha256", sa.Text(), nullable=True),
        sa.Column("request_sha256", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("served_model", sa.LargeBinary(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("finish_reason", sa.LargeBinary(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("probabilities", sa.Text(), nullable=True),
        sa.Column("mass", sa.Float(), nullable=True),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["judge_id"], ["judge.id"]),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("answer_of_judge", "answer", ["judge_id", "topic_id", "document_id"])
