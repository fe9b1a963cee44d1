"""Migrating a collection: a backup first, then all steps or none."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from store.collection import Collection
from store.db.engine import SCHEMA_REVISION, collection_url
from store.errors import SchemaError, StoreError
from store.formats.scale import parse_scale
from store.keeping.backup import MIGRATIONS, Upgrade, upgrade
from store.records import JudgeKind, Qrel
from tests.golden.kept import unpack
from tests.helpers.run import ROOT, Cli
from tests.helpers.world import change_stored, engine_of, make_pool, make_run, stored_rows

NEXT, AFTER_NEXT = "2", "3"

HEADER = '''
"""A migration of a test."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
'''
ADD_LANGUAGE = """
    op.add_column("topic", sa.Column("language", sa.Text(), server_default="en", nullable=False))
"""
# On SQLite this makes a new table, copies the rows, drops the old table and renames the new one.
REBUILD_RUN = """
    with op.batch_alter_table("run", recreate="auto") as batch:
        batch.alter_column("priority", new_column_name="importance", existing_type=sa.Integer())
        batch.alter_column("group", nullable=True, existing_type=sa.Text())
"""
FAIL_LATE = """
    op.execute("UPDATE topic SET listed = FALSE")
    op.add_column("topic", sa.Column("language", sa.Text()))
    op.create_table("shelf", sa.Column("id", sa.Integer(), primary_key=True))
    op.execute("INSERT INTO no_such_table VALUES (1)")
"""
LOSE_A_RUN = """
    op.execute("DELETE FROM judgement")
    op.execute("DELETE FROM pool_entry WHERE position = 1")
    op.execute("DELETE FROM document WHERE docno = 'a'")
"""


@pytest.fixture
def filled(collection_name: str, collection: Collection) -> str:
    """Fill a collection with a bit of everything and give its name."""
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0)]}))
    collection.pools.add(make_pool({"1": ["a", "b"]}, run_tags=("bm25",)))
    collection.judgements.add({"ann": [Qrel("1", "a", 2)]}, JudgeKind.HUMAN)
    return collection_name


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """Copy the migrations to a folder that a test may add to."""
    return Path(shutil.copytree(MIGRATIONS, tmp_path / "100% migrations"))


def add_step(migrations: Path, body: str, *, revision: str = NEXT, before: str = SCHEMA_REVISION) -> None:
    """Add a migration."""
    text = HEADER.format(revision=revision, before=before) + body
    (migrations / "versions" / f"{revision}_test.py").write_text(text)


def migrate(name: str, migrations: Path) -> Upgrade:
    """Upgrade a collection with a folder of migrations."""
    backs_up = "postgresql" not in name
    return upgrade(collection_url(name), backs_up=backs_up, migrations=migrations)


def test_upgrade_migrates_once(filled: str, migrations: Path) -> None:
    """The steps are taken once, the rows stay, and a second upgrade does nothing."""
    add_step(migrations, ADD_LANGUAGE)
    before = stored_rows(filled)
    done = migrate(filled, migrations)
    assert (done.before, done.after) == (SCHEMA_REVISION, NEXT)
    after = stored_rows(filled)
    assert after.pop("topic") == [(*row, "en") for row in before.pop("topic")]
    assert (before.pop("alembic_version"), after.pop("alembic_version")) == ([(SCHEMA_REVISION,)], [(NEXT,)])
    assert after == before
    assert migrate(filled, migrations) == Upgrade(NEXT, NEXT, None)
    with pytest.raises(SchemaError, match=f"schema {NEXT} of another"):
        Collection(filled)


def test_backup_is_the_collection_as_it_was(tmp_path: Path, migrations: Path) -> None:
    """The old file is kept beside the new one, the write-ahead log's rows too, and opens."""
    name = str(tmp_path / "wine.db")
    add_step(migrations, ADD_LANGUAGE)
    with Collection.create(name, name="w", scale=parse_scale("0-2"), program="t") as collection:
        # The log is folded into the file when the last connection closes, so one stays open.
        collection.judgements.add({"ann": [Qrel("1", "a", 2)]}, JudgeKind.HUMAN)
        assert Path(f"{name}-wal").stat().st_size > 0
        before = stored_rows(name)
        done = migrate(name, migrations)
    assert done.backup == f"{name}.{SCHEMA_REVISION}.backup"
    assert stored_rows(done.backup) == before
    with Collection(done.backup) as kept:
        assert [row.grade for row in kept.judgements.current()] == [2]


def test_backups_do_not_overwrite_each_other(tmp_path: Path, migrations: Path) -> None:
    """Upgrading again after a backup was put back keeps both backups."""
    name = str(tmp_path / "wine.db")
    add_step(migrations, ADD_LANGUAGE)
    for number in ("", "-2", "-3"):
        expected = f"wine.db.{SCHEMA_REVISION}{number}.backup"
        Path(name).unlink(missing_ok=True)
        Collection.create(name, name="w", scale=parse_scale("0-2"), program=expected).close()
        done = migrate(name, migrations)
        assert done.backup == str(tmp_path / expected)
    programs = [stored_rows(str(file))["collection"][0][4] for file in tmp_path.glob("*.backup")]
    assert len(set(programs)) == 3


def test_server_is_backed_up_by_its_own_tools(postgres_url: str, migrations: Path) -> None:
    """A server's collection is not migrated unless it is said that it was saved otherwise."""
    Collection.create(postgres_url, name="w", scale=parse_scale("0-2"), program="t").close()
    add_step(migrations, ADD_LANGUAGE)
    before = stored_rows(postgres_url)
    with pytest.raises(StoreError, match="is not backed up here") as told:
        upgrade(collection_url(postgres_url), migrations=migrations)
    expected = "save it first (pg_dump -Fc -f FILE DATABASE), then: pooler upgrade --no-backup"
    assert told.value.hint == expected
    assert stored_rows(postgres_url) == before
    assert migrate(postgres_url, migrations) == Upgrade(SCHEMA_REVISION, NEXT, None)


def test_rebuilt_table_keeps_what_refers_to_it(filled: str, migrations: Path) -> None:
    """A step that copies a table and drops the old one takes no row of another table with it."""
    add_step(migrations, REBUILD_RUN)
    before = stored_rows(filled)
    migrate(filled, migrations)
    after = stored_rows(filled)
    assert len(before["ranking"]) == len(before["pool_run"]) == 1
    del before["alembic_version"], after["alembic_version"]
    assert after == before
    with pytest.raises(Exception, match=r"(?i)foreign key|violates"):
        change_stored(filled, "INSERT INTO pool_run VALUES (1, 999)")


def test_failing_step_leaves_everything_as_it_was(filled: str, migrations: Path) -> None:
    """When the second of two steps fails, the first is taken back too: rows, tables, revision."""
    add_step(migrations, ADD_LANGUAGE.replace("language", "spoken"))
    add_step(migrations, FAIL_LATE, revision=AFTER_NEXT, before=NEXT)
    before = stored_rows(filled)
    with pytest.raises(Exception, match="no_such_table"):
        migrate(filled, migrations)
    assert stored_rows(filled) == before
    with Collection(filled) as opened:
        assert len(opened.judgements.current()) == 1
    (migrations / "versions" / f"{AFTER_NEXT}_test.py").unlink()
    assert migrate(filled, migrations).after == NEXT


def test_step_that_breaks_references_is_taken_back(filled: str, migrations: Path) -> None:
    """A migration that leaves a row referring to nothing is not kept."""
    add_step(migrations, LOSE_A_RUN)
    before = stored_rows(filled)
    with pytest.raises(Exception, match=r"foreign key|refers to no `document`"):
        migrate(filled, migrations)
    assert stored_rows(filled) == before


def test_upgraded_file_still_has_its_log(tmp_path: Path, migrations: Path) -> None:
    """Neither the upgraded file nor its backup loses the write-ahead log."""
    name = str(tmp_path / "wine.db")
    add_step(migrations, REBUILD_RUN)
    Collection.create(name, name="w", scale=parse_scale("0-2"), program="t").close()
    done = migrate(name, migrations)
    assert done.backup is not None
    Collection(done.backup).close()
    for file in (name, done.backup):
        connection = sqlite3.connect(file)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()
    with engine_of(name) as engine, engine.connect() as opened:
        assert opened.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_current_collection_is_up_to_date(cli: Cli, judged: Path) -> None:
    """A collection of the newest schema is left alone, without a backup."""
    before = sorted(path.name for path in judged.iterdir())
    answer = cli("upgrade").fine()
    assert answer.err == f"collection.db is up to date (schema {SCHEMA_REVISION})\n"
    assert sorted(path.name for path in judged.iterdir()) == before


def test_collection_of_another_version_is_refused_in_a_line(cli: Cli, here: Path) -> None:
    """It says which page carries over what is in it; nothing is changed, and a backup can be made."""
    unpack("written/built.db", here / "collection.db")
    before = stored_rows("collection.db")
    refusal = (
        f"error: collection.db has the schema 0010 of another version; this program has {SCHEMA_REVISION}\n"
        "hint: docs/upgrade.md says how to carry over what is in it\n"
    )
    for command in ("status", "verify", "upgrade"):
        assert cli(command).failed(3).err == refusal
    assert stored_rows("collection.db") == before
    assert (ROOT / "docs" / "upgrade.md").is_file()
