"""`pooler upgrade`: says how the schema stands."""

from __future__ import annotations

from pathlib import Path

from store.database import SCHEMA_REVISION
from tests.cli.conftest import Cli
from tests.store.outside import execute
from tests.store.test_upgrade import make_first_schema


def test_current_collection_is_up_to_date(cli: Cli, judged: Path) -> None:
    """A collection of the newest schema is left alone, without a backup."""
    before = sorted(path.name for path in judged.iterdir())
    answer = cli("upgrade").fine()
    assert answer.err == f"collection.db is up to date (schema {SCHEMA_REVISION})\n"
    assert sorted(path.name for path in judged.iterdir()) == before


def test_older_collection_is_backed_up_and_migrated(cli: Cli, here: Path) -> None:
    """The old state is in a file that is named, and can be restored; judging goes on after it."""
    make_first_schema("collection.db")
    refused = cli("status").failed(3)
    assert "pooler upgrade makes a backup" in refused.err
    said = cli("upgrade").fine()
    assert said.err == (f"collection.db: schema 0001 -> {SCHEMA_REVISION}; the old state is in"
                        " collection.db.0001.backup\n")  # fmt: skip
    cli("status").fine()
    cli("restore", "collection.db.0001.backup", "--collection", "old.db").fine()
    assert "older schema 0001" in cli("status", "--collection", "old.db").failed(3).err


def test_server_needs_no_backup(cli: Cli, postgres_url: str) -> None:
    """On a server the user is told to save it otherwise, and to say so."""
    make_first_schema(postgres_url)
    told = cli("upgrade", "--collection", postgres_url).failed(3)
    assert "pg_dump" in told.err
    assert "no backup was made" in cli(
        "upgrade", "--no-backup", "--collection", postgres_url).fine().err  # fmt: skip
    cli("status", "--collection", postgres_url).fine()


def test_damaged_collection_is_not_migrated(cli: Cli, here: Path) -> None:
    """What cannot be backed up is left as it is."""
    make_first_schema("collection.db")
    execute("collection.db", "UPDATE alembic_version SET version_num = '0002'")
    content = (here / "collection.db").read_bytes()
    (here / "collection.db").write_bytes(content[:-4096])
    told = cli("upgrade").failed(3)
    assert "damaged" in told.err
    assert (here / "collection.db").read_bytes() == content[:-4096]
