"""How a collection is kept: backups, checks, pages brought back, directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.db.engine import FAULT_FINDERS

if TYPE_CHECKING:
    from sqlalchemy import Engine


def _damage(engine: Engine) -> str | None:
    """Say what the checks find first; they take time to import."""
    from store.keeping.verify import damage

    return damage(engine)


FAULT_FINDERS.append(_damage)
