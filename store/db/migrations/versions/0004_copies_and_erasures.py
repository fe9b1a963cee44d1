"""What copies of a collection need to come together again; versions of topics; erased judges."""

from __future__ import annotations

from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_GUARDED = (
    "collection", "guideline", "topic", "run", "ranking", "pool", "pool_entry", "pool_topic",
    "judge", "assignment_plan", "judgement", "judge_term", "passage",
)  # fmt: skip
"""Tables of earlier revisions whose rows have a checksum from now on."""


def upgrade() -> None:
    """Give judges an identity, events what they follow, topics their versions."""
    op.create_table(
        "topic_version",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.LargeBinary(), nullable=False),
        sa.Column("description", sa.LargeBinary(), nullable=False),
        sa.Column("narrative", sa.LargeBinary(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
        sa.PrimaryKeyConstraint("topic_id", "version"),
    )
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("judgements", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checksum", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uid"),
    )
    with op.batch_alter_table("topic") as topic:
        topic.add_column(sa.Column("version", sa.Integer(), server_default="1", nullable=False))
        topic.add_column(sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("judgement", sa.Column("follows", sa.Integer(), nullable=True))
    op.add_column("judgement", sa.Column("settled", sa.String(16), nullable=True))
    op.add_column("judgement", sa.Column("topic_version", sa.Integer(), nullable=True))
    op.add_column("judge", sa.Column("uid", sa.String(16), nullable=True))
    op.add_column("judge", sa.Column("renamed_at", sa.DateTime(timezone=True), nullable=True))
    for table in _GUARDED:
        op.add_column(table, sa.Column("checksum", sa.Integer(), nullable=True))
    changed = sa.text("checksum IS NULL")
    op.create_index(
        "pool_entry_changed",
        "pool_entry",
        ["pool_id"],
        sqlite_where=changed,
        postgresql_where=changed,
    )
    _identify_judges()
    with op.batch_alter_table("judge") as judge:
        judge.alter_column("uid", existing_type=sa.String(16), nullable=False)
        judge.create_unique_constraint("judge_uid_key", ["uid"])


def _identify_judges() -> None:
    """Give every judge an identity that another copy of the same collection gives, too."""
    judge = sa.table("judge", sa.column("id"), sa.column("uid"), sa.column("created_at"))
    connection = op.get_bind()
    came = sa.cast(judge.c.created_at, sa.Text) if _is_sqlite() else _in_utc(judge.c.created_at)
    for row in connection.execute(sa.select(judge.c.id, came.label("came"))).all():
        uid = sha256(f"{row.id} {row.came}".encode()).hexdigest()[:16]
        connection.execute(judge.update().where(judge.c.id == row.id).values(uid=uid))


def _is_sqlite() -> bool:
    return str(op.get_bind().dialect.name) == "sqlite"


def _in_utc(moment: sa.ColumnElement[object]) -> sa.ColumnElement[str]:
    """Write a moment of PostgreSQL as SQLite keeps it."""
    return sa.func.to_char(sa.func.timezone("UTC", moment), "YYYY-MM-DD HH24:MI:SS.US")
