"""`pooler upgrade`: says how the schema stands."""

from __future__ import annotations

from pathlib import Path

import psycopg

from store.db.engine import SCHEMA_REVISION
from tests.golden.kept import GOLDEN, unpack
from tests.helpers.run import Cli
from tests.helpers.world import change_stored
from tests.store.keeping.test_upgrade import make_first_schema


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
    change_stored("collection.db", "UPDATE alembic_version SET version_num = '0002'")
    content = (here / "collection.db").read_bytes()
    (here / "collection.db").write_bytes(content[:-4096])
    told = cli("upgrade").failed(3)
    assert "damaged" in told.err
    assert (here / "collection.db").read_bytes() == content[:-4096]


def test_collection_in_between_is_refused_in_a_line_and_mended(cli: Cli, here: Path) -> None:
    """The tables are of no revision: no damage, and `upgrade` migrates it and puts it right."""
    unpack("schemas/0004-first.db", here / "collection.db")
    refusal = (
        f"error: collection.db has the older schema 0004; this program needs {SCHEMA_REVISION}\n"
        "hint: pooler upgrade makes a backup, then migrates it\n"
    )
    assert cli("status").failed(3).err == refusal
    cli("backup", "kept.backup").fine()
    assert cli("verify").failed(3).err == refusal
    said = cli("upgrade").fine().err.splitlines()
    assert said[0] == (
        f"collection.db: schema 0004 -> {SCHEMA_REVISION}; the old state is in collection.db.0004.backup"
    )
    assert len(said) == 17
    assert said[1] == "`assignment_plan.checksum` is missing: mended"
    assert "no fault found" in cli("verify").fine().out
    for backup in ("kept.backup", "collection.db.0004.backup"):
        cli("restore", backup, "--collection", f"{backup}.db").fine()
        again = cli("status", "--collection", f"{backup}.db").failed(3).err
        assert again == refusal.replace("collection.db", f"{backup}.db")


def test_collection_in_between_on_a_server(cli: Cli, postgres_url: str) -> None:
    """The same there, where the backup is the server's own."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute((GOLDEN / "schemas" / "0004-second.sql").read_bytes())
    on = ("--collection", postgres_url)
    for command in (("status", *on), ("backup", "kept.backup", *on)):
        refused = cli(*command).failed(3).err
        assert "older schema 0004" in refused
    assert "pg_dump" in cli("upgrade", *on).failed(3).err
    assert f"schema 0004 -> {SCHEMA_REVISION}; no backup was made" in cli("upgrade", "--no-backup", *on).err
    assert "no fault found" in cli("verify", *on).fine().out


def test_what_is_left_is_told(cli: Cli, judged: Path) -> None:
    """What nobody but its maker can judge is named, and stays."""
    change_stored("collection.db", "ALTER TABLE run ADD COLUMN colour TEXT")
    said = cli("upgrade").fine().err
    assert said == (
        f"collection.db is up to date (schema {SCHEMA_REVISION})\n`run.colour` is unknown: left as it is\n"
    )
