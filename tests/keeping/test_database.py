"""Where a collection is, whether it opens, what its transactions promise, who holds what; and migrations."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import SQLModel

from store.collection import Collection
from store.db import engine as database
from store.db.engine import SCHEMA_REVISION, collection_url, display, reading, writing
from store.db.process_locks import ProcessLocks
from store.errors import ArgumentError, PoolerError, SchemaError, StoreError
from store.keeping.backup import MIGRATIONS, Upgrade, upgrade
from store.records import JudgeKind, Qrel, Topic
from tests.helpers.kept_files import unpack
from tests.helpers.run import ROOT, Cli
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    engine_of,
    make_pool,
    make_run,
    meanwhile,
    parse_scale,
    stored_rows,
)

SCALE = parse_scale("0-2")
SECRET = "s3cret-of-the-database"


def create(name: str) -> None:
    """Make an empty collection and close it."""
    Collection.create(name, name="test", scale=SCALE, program="test").close()


def complaint(error: PoolerError) -> str:
    """Join what a user sees of an error, and see that the message is one line."""
    assert "\n" not in error.message
    return f"{error.message}\n{error.hint}"


@pytest.mark.parametrize(
    ("name", "driver", "where"),
    [
        ("wine.db", "sqlite", "wine.db"),
        ("/data/100% wine?.db", "sqlite", "/data/100% wine?.db"),
        ("ワイン.db", "sqlite", "ワイン.db"),
        ("sqlite:///wine.db", "sqlite", "wine.db"),
        ("sqlite+aiosqlite:///wine.db", "sqlite", "wine.db"),
        ("postgresql://host/wine", "postgresql+psycopg", "postgresql+psycopg://host/wine"),
        (
            f"postgresql+psycopg2://ann:{SECRET}@host:5433/wine",
            "postgresql+psycopg",
            "postgresql+psycopg://ann:***@host:5433/wine",
        ),
    ],
)
def test_collection_name_becomes_url(name: str, driver: str, where: str) -> None:
    """A file path or URL is read as such, and shown without its password."""
    url = collection_url(name)
    assert (url.drivername, display(url)) == (driver, where)


@pytest.mark.parametrize(
    "name",
    [
        f"mysql://ann:{SECRET}@host/wine",
        f"postgres://ann:{SECRET}@host/wine",
        f"postgresql://ann:{SECRET}@host:port/wine",
        "http://",
        "://wine.db",
    ],
)
def test_collection_url_of_another_kind_is_refused(name: str) -> None:
    """A URL of another database, or a malformed one, is refused without showing its password."""
    with pytest.raises(ArgumentError, match="must be a file path or a postgresql:// URL") as caught:
        collection_url(name)
    assert SECRET not in complaint(caught.value)


def test_display_hides_passwords_of_the_query() -> None:
    """A password given as an option of the URL is hidden too."""
    url = collection_url(f"postgresql://host/wine?password={SECRET}&sslpassword={SECRET}")
    assert SECRET not in display(url)
    assert url.query["password"] == SECRET


@pytest.mark.parametrize("server", ["127.0.0.1:1", "localhost:1", "host.invalid", "/wine?host=/nowhere"])
def test_unreachable_server_is_one_line_without_password(server: str) -> None:
    """A server that does not answer is one line that names it, not its password."""
    address = server if "/" in server else f"{server}/wine"
    name = f"postgresql://ann:{SECRET}@{address}".replace("@/", "@localhost:1/")
    for act in (Collection, create, lambda name: upgrade(collection_url(name))):
        with pytest.raises(StoreError, match=r"postgresql\+psycopg://ann:\*\*\*@") as caught:
            act(name)
        assert SECRET not in complaint(caught.value)
        assert "failed" in caught.value.message


def test_unknown_database_is_named(postgres_url: str) -> None:
    """A database the server does not have is one line with the server's words."""
    url = make_url(postgres_url).set(database="absent")
    with pytest.raises(StoreError, match="does not exist") as caught:
        Collection(url.render_as_string(hide_password=False))
    complaint(caught.value)


def test_tables_change_with_a_migration_alone() -> None:
    """The tables are those of revision 1, whose hash is here; a change of them comes with a migration."""
    made = sorted(SQLModel.metadata.sorted_tables, key=lambda table: table.name)
    indexes = [sorted(table.indexes, key=lambda index: str(index.name)) for table in made]
    parts = [*map(CreateTable, made), *map(CreateIndex, chain.from_iterable(indexes))]
    statements = " ".join(str(part.compile(dialect=SQLiteDialect_pysqlite())) for part in parts)
    assert SCHEMA_REVISION == "1"
    assert hashlib.sha256(statements.encode()).hexdigest()[:8] == "d320c2a8"


def test_keys_compare_bytewise_on_postgresql(postgres_url: str) -> None:
    """Every text that keys or orders anything has the collation "C"; moments have a zone."""
    create(postgres_url)
    with engine_of(postgres_url) as engine, engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT table_name, column_name, data_type, collation_name"
                " FROM information_schema.columns WHERE table_schema = current_schema()"
            )
        ).all()
    bytewise = {f"{row.table_name}.{row.column_name}" for row in rows if row.collation_name == "C"}
    assert bytewise == {
        "collection.name",
        "document.docno",
        "judge.name",
        "judgement.iteration",
        "pool.name",
        "pool.round",
        "qrels.name",
        "run.group",
        "run.tag",
        "topic.number",
    }
    moments = {row.data_type for row in rows if row.column_name.endswith("_at")}
    assert moments == {"timestamp with time zone"}


def test_missing_file_names_init(tmp_path: Path) -> None:
    """Opening what is not there says so and names the command that makes one."""
    for path in (tmp_path / "none.db", tmp_path / "no folder" / "none.db"):
        with pytest.raises(StoreError, match=f"there is no collection at {path}") as caught:
            Collection(str(path))
        assert "pooler init" in complaint(caught.value)
        assert not path.exists()


def test_folder_is_no_collection(tmp_path: Path) -> None:
    """A folder is neither opened nor made into a collection."""
    with pytest.raises(StoreError, match="there is no collection at"):
        Collection(str(tmp_path))
    with pytest.raises(StoreError, match="is a folder") as caught:
        create(str(tmp_path))
    complaint(caught.value)


def foreign_file(kind: str, path: Path) -> None:
    """Make a file that is no collection."""
    if kind == "text":
        path.write_text("1 Q0 d1 1 0.5 bm25\n" * 50)
    elif kind == "empty":
        path.touch()
    else:
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("CREATE TABLE topic (subject TEXT)")
            if kind == "migrated by Alembic":
                other.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
                other.execute("INSERT INTO alembic_version VALUES (?)", [SCHEMA_REVISION])
            if kind == "migrated by Alembic, other revision":
                other.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
                other.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf')")
        other.close()


@pytest.mark.parametrize(
    "kind", ["text", "empty", "other tables", "migrated by Alembic", "migrated by Alembic, other revision"]
)
def test_foreign_file_is_refused_and_untouched(kind: str, tmp_path: Path) -> None:
    """A file that is something else is refused in one line and stays byte for byte as it was."""
    path = tmp_path / "other.db"
    foreign_file(kind, path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for act in (Collection, lambda name: upgrade(collection_url(name))):
        with pytest.raises(SchemaError, match="is not a pooler collection") as caught:
            act(str(path))
        assert str(path) in complaint(caught.value)
    if kind != "empty":
        with pytest.raises(StoreError, match="is not a pooler collection"):
            create(str(path))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_empty_file_becomes_a_collection(tmp_path: Path) -> None:
    """An empty file, such as `mktemp` leaves, is a place for a new collection."""
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(SchemaError, match="is not a pooler collection"):
        Collection(str(path))
    create(str(path))
    Collection(str(path)).close()


def test_client_encoding_is_ours(
    collection: Collection, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the environment says about encodings changes no text."""
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with Collection(collection_name) as opened:
        opened.judges.add("赤松", JudgeKind.HUMAN)
    assert [judge.name for judge in collection.judges.all()] == ["赤松"]


@pytest.mark.parametrize("table", ["topic", "alembic_version", "collection"])
def test_database_of_something_else_is_refused(postgres_url: str, table: str) -> None:
    """A PostgreSQL database that holds a table of one of our names is neither opened nor filled."""
    change_stored(postgres_url, f"CREATE TABLE {table} (version_num TEXT)")
    change_stored(postgres_url, f"INSERT INTO {table} VALUES ('{SCHEMA_REVISION}')")
    with pytest.raises(SchemaError, match="is not a pooler collection"):
        Collection(postgres_url)
    with pytest.raises(StoreError, match=f"holds a table `{table}`") as caught:
        create(postgres_url)
    assert "choose another database with --collection" in complaint(caught.value)
    assert stored_rows(postgres_url) == {table: [(SCHEMA_REVISION,)]}


def test_database_that_cannot_hold_all_text_is_refused(postgres_server: str) -> None:
    """A PostgreSQL database of another encoding than UTF-8 is not made into a collection."""
    admin = create_engine(collection_url(postgres_server), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(
            text("CREATE DATABASE latin ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        )
        try:
            name = admin.url.set(database="latin").render_as_string(hide_password=False)
            with pytest.raises(StoreError, match="has the encoding SQL_ASCII") as caught:
                create(name)
            assert "ENCODING 'UTF8'" in complaint(caught.value)
        finally:
            connection.execute(text("DROP DATABASE latin WITH (FORCE)"))
    admin.dispose()


def test_existing_collection_is_not_made_again(collection_name: str) -> None:
    """Making a collection where there is one is refused and changes nothing."""
    create(collection_name)
    before = stored_rows(collection_name)
    with pytest.raises(StoreError, match="already holds a collection") as caught:
        Collection.create(collection_name, name="x", scale=parse_scale("0-3"), program="x")
    assert "--collection" in complaint(caught.value)
    assert stored_rows(collection_name) == before


def test_missing_folder_is_named(tmp_path: Path) -> None:
    """A collection is not made in a folder that is not there."""
    with pytest.raises(StoreError, match=f"the folder {tmp_path / 'no'} does not exist"):
        create(str(tmp_path / "no" / "wine.db"))


def test_other_schema_says_what_to_do(collection_name: str) -> None:
    """The schema of any other version is refused with the page that says how to carry it over."""
    create(collection_name)
    for revision in ("0010", "1_00000000", "9999"):
        change_stored(collection_name, "UPDATE alembic_version SET version_num = :new", new=revision)
        with pytest.raises(SchemaError, match=f"has the schema {revision} of another version") as caught:
            Collection(collection_name)
        assert "docs/upgrade.md" in complaint(caught.value)


def test_half_made_collection_is_never_seen(collection_name: str) -> None:
    """A failure while a collection is made leaves nothing: it can be made afresh."""

    def fail() -> None:
        message = "power cut"
        raise OSError(message)

    with meanwhile("INSERT INTO collection", fail), pytest.raises(OSError, match="power cut"):
        create(collection_name)
    create(collection_name)
    with Collection(collection_name) as made:
        assert made.name == "test"


def test_damaged_file_is_named(tmp_path: Path) -> None:
    """A file with a page overwritten is one line that says so."""
    path = tmp_path / "wine.db"
    create(str(path))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with (
        pytest.raises(StoreError, match="the database file is damaged") as caught,
        Collection(str(path)) as opened,
    ):
        opened.topics.add([Topic("1")])
    assert "backup" in complaint(caught.value)


def test_sqlite_settings_keep_what_was_committed(tmp_path: Path) -> None:
    """A collection file has a write-ahead log, syncs at every commit and checks foreign keys."""
    name = str(tmp_path / "wine.db")
    create(name)
    with engine_of(name) as engine, reading(engine) as session:
        settings = {
            setting: session.execute(text(f"PRAGMA {setting}")).scalar()
            for setting in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    full = 2
    assert settings == {
        "journal_mode": "wal",
        "synchronous": full,
        "foreign_keys": 1,
        "busy_timeout": database.BUSY_TIMEOUT_MS,
    }


def test_file_in_use_opens_though_its_journal_is_old(tmp_path: Path) -> None:
    """A file whose journal cannot be changed now, as others read it, is opened all the same."""
    name = str(tmp_path / "wine.db")
    create(name)
    other = sqlite3.connect(name, isolation_level=None)
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM topic").fetchone()
    with Collection(name) as opened:
        assert opened.topics.all() == []
        other.execute("COMMIT")
        opened.topics.add([Topic("1")])
    other.close()
    Collection(name).close()
    with engine_of(name) as engine, reading(engine) as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar() == "wal"


def test_reading_sees_one_state(collection: Collection, collection_name: str) -> None:
    """What another process commits during a reading transaction is not seen in it."""
    collection.pools.add(make_pool({"1": ["a"]}))

    def import_more() -> None:
        with Collection(collection_name) as other:
            other.pools.add(make_pool({"2": ["b"]}, name="second", manifest={"depth": 2}))

    with meanwhile("FROM pool_run", import_more):
        assert [one.name for one in collection.lists.pools()] == ["pool"]
    assert [one.name for one in collection.lists.pools()] == ["pool", "second"]


def test_writer_that_waits_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second writer waits, and when the first does not finish gets one line."""
    name = str(tmp_path / "wine.db")
    create(name)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 200)
    with engine_of(name) as first, Collection(name) as second:
        with writing(first) as session:
            session.execute(text("SELECT 1"))
            with pytest.raises(StoreError, match="another process is writing") as told:
                second.judges.add("ann", JudgeKind.HUMAN)
        assert "did not finish in time" in complaint(told.value)
        assert second.judges.add("ann", JudgeKind.HUMAN)


def test_read_then_write_waits_for_the_other_writer(tmp_path: Path) -> None:
    """A writer that read before another wrote is not refused: it took its turn at the start."""
    name = str(tmp_path / "wine.db")
    create(name)
    started, results = threading.Event(), []

    def second(engine: Engine) -> None:
        started.set()
        with writing(engine) as session:
            results.append(session.execute(text("SELECT count(*) FROM judge")).scalar())
            session.execute(text("UPDATE collection SET name = 'second'"))

    with engine_of(name) as engine:
        with writing(engine) as session:
            session.execute(text("SELECT count(*) FROM judge"))
            thread = threading.Thread(target=second, args=[engine])
            thread.start()
            started.wait()
            session.execute(
                text(
                    "INSERT INTO judge (name, kind, disabled, created_at, uid)"
                    " VALUES ('ann', 'human', FALSE, '2001-01-01', 'ann')"
                )
            )
        thread.join()
    assert results == [1]


BAD = (
    ("judgement", "judged_at", "infinity"),
    ("judgement", "iteration", "a b"),
    ("judgement", "iteration", ""),
    ("topic", "number", "1\t2"),
    ("document", "docno", "a\n"),
    ("judge", "name", "a b"),
    ("sitting", "seen_at", "infinity"),
)


def _graded(collection: Collection) -> None:
    collection.topics.add([Topic("1")])
    collection.pools.add(make_pool({"1": ["a"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    JudgeAtWork(collection.desk("ann"), "1").grade("a", 1)


@pytest.mark.parametrize(("table", "column", "value"), BAD)
def test_tables_refuse_what_the_desk_refuses(
    collection: Collection, collection_name: str, table: str, column: str, value: str
) -> None:
    """By SQL, on either engine: moments that are none, ids that are no words."""
    _graded(collection)
    with pytest.raises(IntegrityError, match=f"(word|moment)_{column}"):
        change_stored(collection_name, f"UPDATE {table} SET {column} = '{value}'")


@pytest.mark.parametrize(
    ("column", "value"), [("judged_at", "'infinity'"), ("note", r"CAST('\xff' AS bytea)")]
)
def test_what_cannot_be_read_is_named_by_row_and_column(
    collection: Collection, collection_name: str, column: str, value: str
) -> None:
    """In a file whose rules were switched off, and where bytes are no UTF-8, which no rule can say."""
    _graded(collection)
    with engine_of(collection_name) as engine, writing(engine) as session:
        if engine.dialect.name == "sqlite":
            session.execute(text("PRAGMA ignore_check_constraints = 1"))
            value = value.replace(r"CAST('\xff' AS bytea)", "x'ff'")
        elif column == "judged_at":
            session.execute(text("ALTER TABLE judgement DROP CONSTRAINT moment_judged_at"))
        session.connection().exec_driver_sql(f"UPDATE judgement SET {column} = {value}")
    with pytest.raises(StoreError, match=rf"row 1 of `judgement`: `{column}` cannot be read"):
        collection.history.everything()


HOLDER = """
import sys
from store.collection import Collection
from store.db.process_locks import ProcessLocks
held = ProcessLocks(Collection(sys.argv[1])._db.engine)
print(held.take("m", "1", "a"), held.take("m", "1", "a"), flush=True)
sys.stdin.readline()
held.give_back("m", "1", "a")
print("given back", flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(collection: Collection, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run another process that holds a name."""
    command = [sys.executable, "-c", HOLDER, name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline() == b"True False\n"
            yield process
        finally:
            process.kill()


def test_what_another_process_holds_is_not_given(collection: Collection, collection_name: str) -> None:
    """Until it gives it back; other names are free all the time."""
    held = ProcessLocks(collection._db.engine)
    with holder(collection, collection_name) as process:
        assert not held.take("m", "1", "a")
        assert held.take("m", "1", "b")
        assert held.take("n", "1", "a")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"given back\n"
        assert held.take("m", "1", "a")
        assert not held.take("m", "1", "a")
    held.close()


def test_a_killed_process_holds_nothing(collection: Collection, collection_name: str) -> None:
    """No lease has to run out: the system lets go."""
    held = ProcessLocks(collection._db.engine)
    with holder(collection, collection_name) as process:
        assert not held.take("m", "1", "a")
        process.kill()
        process.wait()
        for _ in range(100):  # a server of its own notices a moment later
            if held.take("m", "1", "a"):
                break
            subprocess.run(["sleep", "0.05"], check=True)
        else:
            raise AssertionError
    held.close()


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
