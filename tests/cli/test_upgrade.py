"""`pooler upgrade`: says how the schema stands."""

from __future__ import annotations

from pathlib import Path

from store.database import SCHEMA_REVISION
from tests.cli.conftest import Cli


def test_current_collection_is_up_to_date(cli: Cli, judged: Path) -> None:
    """A collection of the newest schema is left alone, without a backup."""
    before = sorted(path.name for path in judged.iterdir())
    answer = cli("upgrade").fine()
    assert answer.err == f"collection.db is up to date (schema {SCHEMA_REVISION})\n"
    assert sorted(path.name for path in judged.iterdir()) == before
