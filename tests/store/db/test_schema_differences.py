"""Tables that are not as the models have them: what is told of them, and what `upgrade` makes."""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from store.collection import Collection
from store.db.engine import collection_url
from store.errors import SchemaError, StoreError
from store.keeping.upgrade import MIGRATIONS, upgrade
from store.keeping.verify import verify
from tests.golden.kept import GOLDEN, unpack
from tests.helpers.world import carry, change_stored, new_collection, statements, stored_rows
from tests.store.full_collection import fill

LANDED = {
    "0001": "01cedb3f6da986a5973a82145f8038aeec8a2a5853f9dec06750c4aaaf393430",
    "0002": "ed44603252ba1ec9fd38a6fbfbb76877fd9bba31020eeb89f128d1b3aea1d3ca",
    "0003": "745db253e54405f9770e846be0f2d4bc65b0c0c1077b18c3f3929d04d58ffa19",
    "0004": "36511b48c35126bf7e572320d53ad07fd1bb79437f570bd46afaedbbb1eb28b2",
    "0005": "2d267f6f5f7431f1b13a8ea129d67003969f480721e782d6eb019c648f507414",
    "0006": "bbfb1551dc2ea6aadcd27e2c51df8e5c7ae876d624c540939e9c508541c87c38",
    "0007": "00b0994cba85fcf149b58849bc8697c94711b67c551b0d15988fd58a377770fc",
    "0008": "973b3996c98e2e454be4932477ddc111faf01c9c6e59657c2feff4ba468b48e3",
    "0009": "a23e2a558a02b394e3c15d01a688190f1d1222c5053e92388ace64ccc7a2cc97",
    "0010": "9380e2b7bac01b9f67136d062b4ef8ac4147491d54596fefe67cdd51b4f15a24",
}
"""SHA-256 of every migration, for good (``sha256sum store/migrations/versions/*.py``)."""


def test_landed_migration_never_changes() -> None:
    """A collection may have gone through a migration as it stands: the next change is the next."""
    files = sorted((MIGRATIONS / "versions").glob("*.py"))
    assert {file.name[:4]: hashlib.sha256(file.read_bytes()).hexdigest() for file in files} == LANDED


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection with a bit of everything."""
    place = tmp_path_factory.mktemp("whole") / "full.db"
    fill(str(place))
    return place


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def full(request: pytest.FixtureRequest, whole: Path, tmp_path: Path) -> str:
    """Copy it to each engine in turn."""
    if request.param == "sqlite":
        return str(shutil.copy(whole, tmp_path / "full.db"))
    url: str = request.getfixturevalue("postgres_url")
    carry(str(whole), url)
    return url


def told(name: str) -> list[str]:
    """Return what `verify` says of the tables."""
    (check,) = (one for one in verify(collection_url(name)) if one.name == "tables")
    assert check.n_faults == len(check.examples)
    return list(check.examples)


def faults(name: str) -> set[str]:
    """Return the checks that found something."""
    return {one.name for one in verify(collection_url(name)) if one.n_faults}


def alter(name: str, *changes: str) -> None:
    """Change tables by hand, with the rules of SQLite's references off."""
    if "://" in name:
        for change in changes:
            change_stored(name, change)
        return
    with closing(sqlite3.connect(name)) as connection:
        for change in changes:
            connection.execute(change)
        connection.commit()


MISSING = [
    (
        ["ALTER TABLE judgement DROP COLUMN topic_version"],
        ["`judgement.topic_version` is missing"],
    ),
    (
        ["DROP INDEX pool_entry_changed", "ALTER TABLE pool_entry DROP COLUMN sampled"],
        ["`pool_entry.sampled` is missing", "the index `pool_entry_changed` is missing"],
    ),
    (["DROP INDEX judgement_of_judge"], ["the index `judgement_of_judge` is missing"]),
    (
        ["DROP INDEX judgement_of_judge",
         "CREATE UNIQUE INDEX judgement_of_judge ON judgement (topic_id, document_id, id)"],
        ["the index `judgement_of_judge` is another"],
    ),
    (
        ["DROP INDEX assignment_of_topic",
         "CREATE INDEX assignment_of_topic ON assignment (topic_id, position)"],
        ["the index `assignment_of_topic` is another"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), MISSING)
def test_missing_is_told_and_made(full: str, changes: list[str], expected: list[str]) -> None:
    """What is missing is named, refused at opening where rows need it, and made by `upgrade`."""
    alter(full, *changes)
    assert told(full) == expected
    if "index" not in expected[0]:
        with pytest.raises(SchemaError, match=expected[0].replace(".", r"\.")) as refused:
            Collection(full)
        assert refused.value.hint == "pooler upgrade makes a backup, then mends what it can"
    done = upgrade(collection_url(full), backs_up="://" not in full)
    assert (done.before, list(done.mended), done.left) == (done.after, expected, ())
    assert told(full) == []
    with Collection(full) as opened:
        opened.judges.add("late", next(iter(opened.judges.all())).kind)
    assert done.backup is None or Path(done.backup).exists()
    assert upgrade(collection_url(full)).mended == ()


def test_what_was_in_a_dropped_column_is_told_by_checksums(full: str) -> None:
    """A column that is made anew is empty; rows that had a value there are not as written."""
    alter(full, "ALTER TABLE judgement DROP COLUMN topic_version")
    upgrade(collection_url(full), backs_up=False)
    assert "checksums" in faults(full)


def test_lost_budgets_are_refused(full: str) -> None:
    """A pool with documents that were not drawn had some."""
    alter(full, "DROP TABLE pool_topic")
    with pytest.raises(SchemaError, match="the table `pool_topic` is missing, and what was there"):
        upgrade(collection_url(full), backs_up=False)


@pytest.mark.parametrize("table", ["judge_term", "assignment", "passage"])
def test_lost_table_is_refused(full: str, table: str) -> None:
    """An empty one in its place would look whole: what was in it is in a backup, or nowhere."""
    alter(full, f"DROP TABLE {table}")
    assert told(full) == [f"the table `{table}` is missing"]
    with pytest.raises(SchemaError, match=f"the table `{table}` is missing, and what was there"):
        upgrade(collection_url(full), backs_up=False)
    assert told(full) == [f"the table `{table}` is missing"]


KEPT = [
    (["ALTER TABLE run ADD COLUMN colour TEXT"], ["`run.colour` is unknown"]),
    (["CREATE INDEX by_file ON run (file)"], ["the index `by_file` of `run` is unknown"]),
    (["CREATE TABLE shelf (id INTEGER)"], []),
]


@pytest.mark.parametrize(("changes", "expected"), KEPT)
def test_unknown_is_told_and_left(full: str, changes: list[str], expected: list[str]) -> None:
    """What is not of a collection is named and left; tables of other names are nobody's matter."""
    alter(full, *changes)
    assert told(full) == expected
    Collection(full).close()
    before = stored_rows(full)
    done = upgrade(collection_url(full))
    assert (done.backup, done.mended, list(done.left)) == (None, (), expected)
    assert stored_rows(full) == before


SERVER = [
    ("ALTER TABLE judge ALTER kind TYPE TEXT", "`judge.kind` has the type TEXT, not VARCHAR(16)"),
    ("ALTER TABLE judge ALTER kind DROP NOT NULL", "`judge.kind` may be empty"),
    ("ALTER TABLE run ALTER contributes DROP NOT NULL", "`run.contributes` may be empty"),
    ("ALTER TABLE run ALTER priority SET DEFAULT 3", "`run.priority` has another default"),
    ("ALTER TABLE judge DROP CONSTRAINT judge_uid_key", "`judge`: UNIQUE (uid) is missing"),
    ("ALTER TABLE passage DROP CONSTRAINT passage_judgement_id_fkey",
     "`passage`: FOREIGN KEY (judgement_id) to `judgement.id` is missing"),
    ("ALTER TABLE pool_topic DROP CONSTRAINT pool_topic_pkey",
     "`pool_topic`: PRIMARY KEY is (), not (pool_id, topic_id)"),
    ("ALTER TABLE judgement DROP CONSTRAINT grade_when_judged",
     "`judgement`: CHECK grade_when_judged is missing"),
]  # fmt: skip


def test_other_kinds_are_told_and_left_on_a_server(whole: Path, postgres_url: str) -> None:
    """Types, empty values, defaults, keys and rules of another kind are named, each once."""
    carry(str(whole), postgres_url)
    for statement, _ in SERVER:
        change_stored(postgres_url, statement)
    expected = sorted(words for _, words in SERVER)
    assert sorted(told(postgres_url)) == expected
    assert sorted(upgrade(collection_url(postgres_url)).left) == expected


FILE = [
    ("judge", "kind VARCHAR(16)", "kind BLOB", "`judge.kind` has the type BLOB, not VARCHAR(16)"),
    ("run", "priority INTEGER NOT NULL", "priority INTEGER", "`run.priority` may be empty"),
    ("judgement", "topic_version INTEGER", "topic_version INTEGER NOT NULL",
     "`judgement.topic_version` may not be empty"),
    ("passage", "FOREIGN KEY(judgement_id) REFERENCES judgement (id)", "CHECK (length)",
     "`passage`: FOREIGN KEY (judgement_id) to `judgement.id` is missing"),
    ("pool_topic", "PRIMARY KEY (pool_id, topic_id)", "PRIMARY KEY (topic_id, pool_id)",
     "`pool_topic`: PRIMARY KEY is (topic_id, pool_id), not (pool_id, topic_id)"),
    ("judgement", "grade_when_judged", "graded", "`judgement`: CHECK grade_when_judged is missing"),
]  # fmt: skip


def test_other_kinds_are_told_and_left_in_a_file(whole: Path, tmp_path: Path) -> None:
    """The same of a file, whose tables are the text that made them."""
    name = str(shutil.copy(whole, tmp_path / "full.db"))
    with closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        for table, old, new, _ in FILE:
            changed = connection.execute(
                "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)",
                (old, new, table, old),
            )
            assert changed.rowcount == 1, table
        connection.commit()
    expected = sorted(words for *_, words in FILE)
    assert sorted(told(name)) == expected
    assert sorted(upgrade(collection_url(name)).left) == expected


def test_column_that_refers_to_another_table_is_made(whole: Path, postgres_url: str) -> None:
    """Its reference and its index come with it; a rule of several columns does not."""
    carry(str(whole), postgres_url)
    change_stored(postgres_url, "ALTER TABLE assignment DROP COLUMN judge_id")
    change_stored(postgres_url, "ALTER TABLE sitting DROP COLUMN topic_id")
    rule = "`assignment`: UNIQUE (topic_id, document_id, judge_id) is missing"
    done = upgrade(collection_url(postgres_url), backs_up=False)
    assert set(done.mended) == {
        "`assignment.judge_id` is missing",
        "`assignment`: FOREIGN KEY (judge_id) to `judge.id` is missing",
        "the index `assignment_of_topic` is missing",
        "the index `ix_assignment_judge_id` is missing",
        "`sitting.topic_id` is missing",
        "`sitting`: FOREIGN KEY (topic_id) to `topic.id` is missing",
    }
    assert [*done.left] == told(postgres_url) == [rule]


def test_column_that_refers_to_another_table_is_made_in_a_file(tmp_path: Path) -> None:
    """The same in a file."""
    name = str(tmp_path / "new.db")
    new_collection(name).close()
    with closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'sitting'").fetchone()
        without = [line for line in sql.splitlines() if "topic_id" not in line]
        changed = re.sub(r",\s*\)$", ")", "\n".join(without))
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'sitting'", (changed,))
        connection.commit()
    assert told(name)[0] == "`sitting.topic_id` is missing"
    assert upgrade(collection_url(name)).left == ()
    assert (told(name), faults(name)) == ([], set())


def test_damaged_row_in_between_is_not_saved(tmp_path: Path) -> None:
    """What has a checksum already is compared with it before `upgrade` changes anything."""
    file = unpack("schemas/0004-second.db", tmp_path / "collection.db")
    alter(str(file), "UPDATE judgement SET grade = 1 - grade WHERE grade < 2")
    before = stored_rows(str(file))
    with pytest.raises(StoreError, match="its checksum does not match its content"):
        upgrade(collection_url(str(file)))
    assert stored_rows(str(file)) == before
    assert not list(tmp_path.glob("*.backup"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (["ALTER TABLE run DROP COLUMN priority"], "`run.priority` is missing, and what was there is not"),
        (
            ["ALTER TABLE judgement RENAME COLUMN topic_version TO after"],
            "`judgement.topic_version` is missing, and `judgement.after` may be what it was, and",
        ),
    ],
)
def test_lost_column_is_refused(full: str, changes: list[str], expected: str) -> None:
    """What would have to be guessed is not made: nothing changes, and a backup is named."""
    alter(full, *changes)
    before = stored_rows(full)
    with pytest.raises(SchemaError, match=expected) as refused:
        upgrade(collection_url(full), backs_up=False)
    assert "pooler restore BACKUP" in (refused.value.hint or "")
    assert stored_rows(full) == before


@pytest.mark.parametrize("shape", ["0003", "0004-first"])
def test_steps_find_what_they_need(shape: str, tmp_path: Path, postgres_url: str) -> None:
    """`pool_topic`, which the first 0002 left out, may be missing at every later revision."""
    file = str(unpack(f"schemas/{shape}.db", tmp_path / "collection.db"))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute((GOLDEN / "schemas" / f"{shape}.sql").read_bytes())
    for name in (file, postgres_url):
        alter(name, "DROP TABLE pool_topic")
        done = upgrade(collection_url(name), backs_up=name == file)
        assert "the table `pool_topic` is missing" in done.mended
        assert (done.left, faults(name)) == ((), set())


def test_columns_are_asked_for_once_at_opening(full: str) -> None:
    """Opening asks one question about all tables, and none about a single one."""
    with statements() as sent:
        Collection(full).close()
    asked = [one for one, _ in sent if "pragma_table_info" in one or "pg_attribute" in one]
    assert len(asked) == 1
    assert not any("PRAGMA main.table" in one or "pg_catalog" in one for one, _ in sent)


def test_reference_to_nothing_is_told(whole: Path, tmp_path: Path) -> None:
    """A reference to a column that is not there is one line, too."""
    name = str(shutil.copy(whole, tmp_path / "full.db"))
    with closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'topic (id)', 'topic (hd)')"
            " WHERE name = 'judge_term'"
        )
        connection.commit()
    with pytest.raises(SchemaError, match="'topic' has no column named 'hd', and what was there"):
        upgrade(collection_url(name))
