"""Migrating a collection: a backup first, then all steps or none."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from store.collection import Collection
from store.database import collection_url
from store.errors import SchemaError, StoreError
from store.records import JudgeKind, Qrel
from store.scale import parse_scale
from store.upgrade import MIGRATIONS, Upgrade, upgrade
from tests.store.outside import contents, engine_of, execute, make_pool, make_run

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
    collection.add_run(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0)]}))
    collection.add_pool(make_pool({"1": ["a", "b"]}, run_tags=("bm25",)))
    collection.import_judgements({"ann": [Qrel("1", "a", 2)]}, JudgeKind.HUMAN)
    return collection_name


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """Copy the migrations to a folder that a test may add to."""
    return Path(shutil.copytree(MIGRATIONS, tmp_path / "100% migrations"))


def add_step(migrations: Path, body: str, *, revision: str = "0003", before: str = "0002") -> None:
    """Add a migration."""
    text = HEADER.format(revision=revision, before=before) + body
    (migrations / "versions" / f"{revision}_test.py").write_text(text)


def migrate(name: str, migrations: Path) -> Upgrade:
    """Upgrade a collection with a folder of migrations."""
    return upgrade(collection_url(name), migrations=migrations)


def test_newest_schema_is_left_alone(filled: str) -> None:
    """A collection of the newest schema is not touched, nor backed up."""
    before = contents(filled)
    assert upgrade(collection_url(filled)) == Upgrade("0002", "0002", None)
    assert contents(filled) == before
    if "postgresql" not in filled:
        assert not list(Path(filled).parent.glob("*.backup"))


def test_upgrade_migrates_once(filled: str, migrations: Path) -> None:
    """The steps are taken once, the rows stay, and a second upgrade does nothing."""
    add_step(migrations, ADD_LANGUAGE)
    before = contents(filled)
    done = migrate(filled, migrations)
    assert (done.before, done.after) == ("0002", "0003")
    after = contents(filled)
    assert after.pop("topic") == [(*row, "en") for row in before.pop("topic")]
    assert (before.pop("alembic_version"), after.pop("alembic_version")) == (
        [("0002",)],
        [("0003",)],
    )
    assert after == before
    assert migrate(filled, migrations) == Upgrade("0003", "0003", None)
    with pytest.raises(SchemaError, match="newer schema 0003"):
        Collection(filled)


def test_older_collection_is_upgraded(filled: str) -> None:
    """A collection of the first schema gets what it lacks; all it held stays."""
    expected = contents(filled)
    execute(filled, "DROP TABLE pool_topic")
    execute(filled, "ALTER TABLE pool_entry DROP COLUMN sampled")
    execute(filled, "UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(SchemaError, match="older schema 0001"):
        Collection(filled)
    assert upgrade(collection_url(filled)).after == "0002"
    assert contents(filled) == expected
    with Collection(filled) as collection:
        assert [entry.sampled for entry in collection.pool("pool").entries] == [True, True]


def test_backup_is_the_collection_as_it_was(tmp_path: Path, migrations: Path) -> None:
    """The old file is kept beside the new one, the write-ahead log's rows too, and opens."""
    name = str(tmp_path / "wine.db")
    add_step(migrations, ADD_LANGUAGE)
    with Collection.create(name, name="w", scale=parse_scale("0-2"), program="t") as collection:
        # The log is folded into the file when the last connection closes, so one stays open.
        collection.import_judgements({"ann": [Qrel("1", "a", 2)]}, JudgeKind.HUMAN)
        assert Path(f"{name}-wal").stat().st_size > 0
        before = contents(name)
        done = migrate(name, migrations)
    assert done.backup == f"{name}.0002.backup"
    assert contents(done.backup) == before
    with Collection(done.backup) as kept:
        assert [row.grade for row in kept.judgements()] == [2]


def test_backups_do_not_overwrite_each_other(tmp_path: Path, migrations: Path) -> None:
    """Upgrading again after a backup was put back keeps both backups."""
    name = str(tmp_path / "wine.db")
    add_step(migrations, ADD_LANGUAGE)
    for expected in ("wine.db.0002.backup", "wine.db.0002-2.backup", "wine.db.0002-3.backup"):
        Path(name).unlink(missing_ok=True)
        Collection.create(name, name="w", scale=parse_scale("0-2"), program=expected).close()
        done = migrate(name, migrations)
        assert done.backup == str(tmp_path / expected)
    programs = [contents(str(file))["collection"][0][-1] for file in tmp_path.glob("*.backup")]
    assert len(set(programs)) == 3


def test_postgresql_is_not_copied(postgres_url: str, migrations: Path) -> None:
    """A server's database has its own backups; none is made or claimed."""
    Collection.create(postgres_url, name="w", scale=parse_scale("0-2"), program="t").close()
    add_step(migrations, ADD_LANGUAGE)
    assert migrate(postgres_url, migrations) == Upgrade("0002", "0003", None)


def test_several_steps_are_taken_in_order(filled: str, migrations: Path) -> None:
    """Every step between the two revisions is taken."""
    add_step(migrations, ADD_LANGUAGE)
    add_step(
        migrations,
        """    op.execute("UPDATE topic SET language = 'ja'")\n""",
        revision="0004",
        before="0003",
    )
    assert migrate(filled, migrations).after == "0004"
    assert {row[-1] for row in contents(filled)["topic"]} == {"ja"}


def test_rebuilt_table_keeps_what_refers_to_it(filled: str, migrations: Path) -> None:
    """A step that copies a table and drops the old one takes no row of another table with it."""
    add_step(migrations, REBUILD_RUN)
    before = contents(filled)
    migrate(filled, migrations)
    after = contents(filled)
    assert len(before["ranking"]) == len(before["pool_run"]) == 1
    del before["alembic_version"], after["alembic_version"]
    assert after == before
    with pytest.raises(Exception, match=r"(?i)foreign key|violates"):
        execute(filled, "INSERT INTO pool_run VALUES (1, 999)")


def test_failing_step_leaves_everything_as_it_was(filled: str, migrations: Path) -> None:
    """When the second of two steps fails, the first is taken back too: rows, tables, revision."""
    add_step(migrations, ADD_LANGUAGE.replace("language", "spoken"))
    add_step(migrations, FAIL_LATE, revision="0004", before="0003")
    before = contents(filled)
    with pytest.raises(Exception, match="no_such_table"):
        migrate(filled, migrations)
    assert contents(filled) == before
    with Collection(filled) as opened:
        assert len(opened.judgements()) == 1
    (migrations / "versions" / "0004_test.py").unlink()
    assert migrate(filled, migrations).after == "0003"


def test_step_that_breaks_references_is_taken_back(filled: str, migrations: Path) -> None:
    """A migration that leaves a row referring to nothing is not kept."""
    add_step(migrations, LOSE_A_RUN)
    before = contents(filled)
    with pytest.raises(Exception, match=r"foreign key|refers to no `document`"):
        migrate(filled, migrations)
    assert contents(filled) == before


def test_unknown_revision_is_refused(filled: str, migrations: Path) -> None:
    """A collection of a newer program is not migrated."""
    execute(filled, "UPDATE alembic_version SET version_num = '0009'")
    with pytest.raises(SchemaError, match="has schema 0009, which this program does not know"):
        migrate(filled, migrations)


def test_missing_collection_is_named(tmp_path: Path) -> None:
    """Upgrading what is not there makes nothing."""
    with pytest.raises(StoreError, match="there is no collection at"):
        upgrade(collection_url(str(tmp_path / "none.db")))
    assert not list(tmp_path.iterdir())


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
