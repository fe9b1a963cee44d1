"""The tables of a collection: topics, documents, runs, pools, judges, judgements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
RAW_TEXT = sa.LargeBinary()
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", KEY_TEXT, nullable=False),
        sa.Column("scale", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("docno", KEY_TEXT, nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("title", RAW_TEXT, nullable=True),
        sa.Column("text", RAW_TEXT, nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("docno"),
    )
    op.create_table(
        "guideline",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", RAW_TEXT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("version"),
    )
    op.create_table(
        "judge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", KEY_TEXT, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "pool",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", KEY_TEXT, nullable=False),
        sa.Column("round", KEY_TEXT, nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("display_order", sa.Text(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tag", KEY_TEXT, nullable=False),
        sa.Column("group", KEY_TEXT, nullable=False),
        sa.Column("contributes", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("file", RAW_TEXT, nullable=False),
        sa.Column("imported_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tag"),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", KEY_TEXT, nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("title", RAW_TEXT, nullable=False),
        sa.Column("description", RAW_TEXT, nullable=False),
        sa.Column("narrative", RAW_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("number"),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
        ),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"],
            ["topic.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("topic_id", "document_id", "judge_id"),
    )
    op.create_index(op.f("ix_assignment_judge_id"), "assignment", ["judge_id"], unique=False)
    op.create_table(
        "pool_entry",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Float(), nullable=True),
        sa.Column("stratum", sa.Integer(), nullable=True),
        sa.Column("inclusion_probability", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
        ),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["topic_id"],
            ["topic.id"],
        ),
        sa.PrimaryKeyConstraint("pool_id", "topic_id", "document_id"),
    )
    op.create_index("pool_entry_pair", "pool_entry", ["topic_id", "document_id"], unique=False)
    op.create_table(
        "pool_run",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pool_id", "run_id"),
    )
    op.create_table(
        "ranking",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("document_ids", sa.LargeBinary(), nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.Column("ranks", sa.LargeBinary(), nullable=True),
        sa.Column("positions", sa.LargeBinary(), nullable=False),
        sa.Column("codec", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["topic_id"],
            ["topic.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "topic_id"),
    )
    op.create_table(
        "sitting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("program", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judge.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_sitting_judge_id"), "sitting", ["judge_id"], unique=False)
    op.create_table(
        "judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("reason", RAW_TEXT, nullable=False),
        sa.Column("note", RAW_TEXT, nullable=False),
        sa.Column("iteration", KEY_TEXT, nullable=False),
        sa.Column("display_order", sa.Text(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("shown_at", MOMENT, nullable=True),
        sa.Column("judged_at", MOMENT, nullable=False),
        sa.Column("dwell_ms", sa.Integer(), nullable=True),
        sa.Column("active_ms", sa.Integer(), nullable=True),
        sa.Column("dropped_keys", sa.Integer(), nullable=False),
        sa.Column("guideline_version", sa.Integer(), nullable=True),
        sa.Column("document_sha256", sa.Text(), nullable=True),
        sa.Column("sitting_id", sa.Integer(), nullable=True),
        sa.CheckConstraint("(state = 'judged') = (grade IS NOT NULL)", name="grade_when_judged"),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
        ),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["sitting_id"],
            ["sitting.id"],
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"],
            ["topic.id"],
        ),
        sa.ForeignKeyConstraint(
            ["undoes"],
            ["judgement.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("topic_id", "document_id", "judge_id", "revision"),
    )
    op.create_index(op.f("ix_judgement_sitting_id"), "judgement", ["sitting_id"], unique=False)
    op.create_index(
        "judgement_of_judge",
        "judgement",
        ["judge_id", "topic_id", "document_id", "revision"],
        unique=False,
    )
    op.create_table(
        "passage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judgement_id", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("text", RAW_TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["judgement_id"],
            ["judgement.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_passage_judgement_id"), "passage", ["judgement_id"], unique=False)
