"""How wide the terminal was at which a judge acted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Say of no event so far how wide it was."""
    op.add_column("judgement", sa.Column("columns", sa.Integer(), nullable=True))
