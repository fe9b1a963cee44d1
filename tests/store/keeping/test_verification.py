"""`verify` finds what is wrong with a collection, and nothing where nothing is."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from store.db.engine import collection_url, reading, writing
from store.errors import SchemaError, StoreError
from store.keeping.backup import back_up
from store.keeping.verify import CHECKS, Verified, verify
from tests.helpers.world import carry, change_stored, engine_of, renew_digests, stored_rows
from tests.store.full_collection import fill
from tests.strategies import examples

pytestmark = pytest.mark.slow

UNGUARDED = {"alembic_version": {"version_num"}}
"""What may have another value with nothing to tell it by: the revision is looked up before all else."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection with a bit of everything for the tests that damage copies of it."""
    place = tmp_path_factory.mktemp("whole") / "full.db"
    fill(str(place))
    return place


@pytest.fixture
def full(whole: Path, tmp_path: Path) -> str:
    """Make a copy to be damaged."""
    return str(shutil.copy(whole, tmp_path / "full.db"))


@pytest.fixture
def served(whole: Path, postgres_url: str) -> str:
    """Make a copy on a server."""
    carry(str(whole), postgres_url)
    return postgres_url


def faults(name: str) -> dict[str, Verified]:
    """Return the checks that found something."""
    return {one.name: one for one in verify(collection_url(name)) if one.n_faults}


def change(name: str, statement: str, **values: Any) -> None:
    """Change a SQLite collection as no program of ours would: without its rules."""
    with contextlib.closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)
        connection.commit()


def test_whole_collection_has_no_fault(full: str, served: str) -> None:
    """Nothing is found in a collection with a bit of everything, and every check saw some of it."""
    for name in (full, served):
        found = verify(collection_url(name))
        assert [one.name for one in found] == [check.name for check in CHECKS]
        assert [(one.name, one.examples) for one in found if one.n_faults] == []
        looked = {one.name for one in found if one.n_checked}
        # A server looks after its own pages.
        assert {one.name for one in found} - looked <= ({"file"} if name == served else set())


FAULTS = [
    ("judgements", "UPDATE judgement SET revision = 5 WHERE id ="
     " (SELECT max(id) FROM judgement WHERE revision = 4)"),
    ("judgements", "DELETE FROM judgement WHERE id = (SELECT min(id) FROM judgement e"
     " WHERE revision = 1 AND NOT EXISTS (SELECT 1 FROM passage WHERE judgement_id = e.id)"
     " AND NOT EXISTS (SELECT 1 FROM judgement u WHERE u.undoes = e.id)"
     " AND EXISTS (SELECT 1 FROM judgement l WHERE l.revision = 2 AND l.topic_id = e.topic_id"
     " AND l.document_id = e.document_id AND l.judge_id = e.judge_id))"),
    ("judgements", "UPDATE judgement SET grade = 3 WHERE id = 1"),
    ("judgements", "UPDATE judgement SET state = 'graded', grade = NULL WHERE id = 1"),
    ("judgements", "UPDATE judgement SET action = 'skip' WHERE id = 1"),
    ("judgements", "UPDATE judgement SET undoes = 1 WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET undoes = NULL WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET undoes = id WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET state = 'cannot', grade = NULL WHERE action = 'note'"),
    ("passages", "UPDATE passage SET start = start + 1"),
    ("passages", "UPDATE passage SET length = 2"),
    ("versions", "UPDATE guideline SET version = 3 WHERE version = 2"),
    ("file", "UPDATE judge SET kind = 'person' WHERE id = 2"),
    ("ids", "UPDATE judge SET name = 'a b' WHERE id = 2"),
    ("ids", "UPDATE judge SET uid = 'ann' WHERE id = 2"),
    ("versions", "UPDATE topic SET version = 3 WHERE id = 1"),
    ("versions", "UPDATE topic SET version = 1 WHERE id = 1"),
    ("versions", "UPDATE topic_version SET version = 2"),
    ("versions", "UPDATE topic SET changed_at = NULL WHERE id = 1"),
    ("file", "UPDATE erasure SET events = 2"),
    ("file", "UPDATE erasure SET kind = 'person'"),
    ("versions", "UPDATE judgement SET topic_version = 3 WHERE topic_version = 2"),
    ("versions", "UPDATE judgement SET topic_version = 0 WHERE topic_version = 2"),
    ("digests", "UPDATE judgement SET grade = 2 WHERE grade = 1 AND revision = 1"),
    ("digests", "UPDATE judgement SET judged_at = '2031-01-01 00:00:00.000000' WHERE id = 1"),
    ("digests", "UPDATE judgement SET iteration = '7' WHERE id = 1"),
    ("digests", "UPDATE judgement SET dwell_ms = 7 WHERE id = 1"),
    ("digests", "UPDATE pool_entry SET priority = 0.5"),
    ("digests", "UPDATE pool_entry SET position = 99 WHERE document_id = 1"),
    ("digests", "UPDATE ranking SET ranks = NULL"),
    ("judgements", "UPDATE judgement SET sitting_id = (SELECT id FROM sitting WHERE judge_id <> 1"
     " LIMIT 1) WHERE judge_id = 1 AND sitting_id IS NOT NULL"),
    ("file", "UPDATE assignment SET purpose = 'other' WHERE id = 1"),
    ("assignments", "UPDATE assignment SET judge_id = NULL WHERE id = 1"),
    ("assignments", "UPDATE assignment_plan SET manifest = '{' WHERE id = 1"),
    ("ids", "UPDATE topic SET number = '' WHERE id = 1"),
    ("texts", "UPDATE document SET sha256 = 'abc' WHERE id = 1"),
    ("texts", "UPDATE document SET text = NULL WHERE id = 1"),
    ("rankings", "UPDATE run SET sha256 = '' WHERE id = 1"),
    ("rankings", "UPDATE run SET sha256 = upper(sha256) WHERE id = 1"),
    ("rankings", "UPDATE ranking SET length = length - 1"),
    ("rankings", "UPDATE ranking SET codec = 2"),
    ("rankings", "UPDATE ranking SET scores = document_ids"),
    ("pools", "UPDATE pool SET manifest = 'depth' WHERE id = 1"),
    ("pools", "UPDATE pool_topic SET budget = 0"),
    ("pools", "UPDATE pool_entry SET position = 0 WHERE topic_id = 1"),
    ("file", "UPDATE pool_entry SET inclusion_probability = 1.5 WHERE topic_id = 1"),
    ("collection", "UPDATE collection SET scale = '{}'"),
    ("collection", "DELETE FROM collection"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "statement"), FAULTS)
def test_fault_is_found(full: str, check: str, statement: str) -> None:
    """Each thing that can be wrong is found by the check named for it, with an example."""
    change(full, statement)
    if check != "digests":
        with engine_of(full) as engine, writing(engine) as session:
            renew_digests(session)
    found = faults(full)
    assert check in found, found
    assert found[check].examples
    assert found[check].advice


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE topic SET title = x'41' WHERE number = '007'", "the rows of `topic` are"),
        ("UPDATE guideline SET text = x'41' WHERE version = 2", "the rows of `guideline` are"),
        ("UPDATE run SET priority = 7 WHERE tag = 'lm'", "the rows of `run` are"),
        ("UPDATE judge SET disabled = 1 WHERE name = 'bob'", "the rows of `judge` are"),
        ("UPDATE pool_entry SET priority = 7", "pool `pool`: its entries are"),
        ("UPDATE ranking SET scores = CAST(scores || x'00' AS BLOB)", "run `bm25`: its rankings are"),
        ("UPDATE judgement SET iteration = '7' WHERE id = 1", "topic 1 `d00` of `qrels`, revision 1: it is"),
    ],
)
def test_changed_row_is_named(full: str, statement: str, named: str) -> None:
    """What breaks no rule is told by its digest alone, and no backup is made of it."""
    change(full, statement)
    found = faults(full)["digests"]
    assert any(one.startswith(f"{named} not as") for one in found.examples), found
    assert found.advice == "restore a backup: pooler restore BACKUP --replace"
    backup = Path(full).with_name("backup.db")
    with pytest.raises(StoreError, match="written"):
        back_up(collection_url(full), backup)
    assert not backup.exists()


RULES = """
    SELECT conrelid::regclass, conname FROM pg_constraint
    WHERE contype = 'c' AND connamespace = current_schema()::regnamespace
"""


@pytest.mark.slow
def test_faults_are_found_on_a_server(served: str) -> None:
    """The same checks find the same things there."""
    # Its own rules would refuse some of it.
    with engine_of(served) as engine, reading(engine) as session:
        rules = session.execute(text(RULES)).all()
    for table, rule in rules:
        change_stored(served, f'ALTER TABLE {table} DROP CONSTRAINT "{rule}"')
    last = {"collection": ""}
    for check, statement in FAULTS:
        if check == "collection":
            last[check] = last[check] or statement
        elif "DELETE" not in statement and check != "file":
            change_stored(served, statement)
    found = faults(served)
    assert set(found) == {check for check, _ in FAULTS} - {"collection", "file"}
    change_stored(served, last["collection"])
    assert "collection" in faults(served)


def pack(*numbers: int) -> bytes:
    """Pack document ids."""
    return np.array(numbers, "<i4").tobytes()


@pytest.mark.parametrize("documents", [pack(1, 1), pack(1, 999), pack(0, 1), pack(1)])
def test_ranking_with_a_wrong_document_is_found(full: str, documents: bytes) -> None:
    """A document twice, one that is not there, or one too few."""
    change(
        full,
        "UPDATE ranking SET length = 2, document_ids = :documents, scores = :scores, ranks = NULL,"
        " positions = :places WHERE run_id = 1 AND topic_id = 1",
        documents=documents,
        scores=b"1" + pack(2, 1),
        places=b"b\0\1",
    )
    with engine_of(full) as engine, writing(engine) as session:
        renew_digests(session)
    assert list(faults(full)) == ["rankings"]
    assert faults(full)["rankings"].n_faults == 1


def test_reference_to_nothing_is_found(full: str) -> None:
    """A row that refers to none is found in a file."""
    change(full, "UPDATE judgement SET topic_id = 99 WHERE id = 3")
    assert "references" in faults(full)


VALUES = (
    "UPDATE assignment SET lease_until = 'yesterday' WHERE id = 1",
    "UPDATE sitting SET host = x'00' WHERE id = 1",
    "UPDATE sitting SET process = 'first' WHERE id = 1",
    "UPDATE judgement SET judged_at = 'yesterday' WHERE id = 1",
    "UPDATE topic SET title = x'ff' WHERE id = 1",
    "UPDATE judge SET name = CAST(x'61ff' AS TEXT) WHERE id = 1",
)


@pytest.mark.parametrize("statement", VALUES)
def test_value_of_another_type_is_found(full: str, statement: str) -> None:
    """SQLite takes any value anywhere; one that is none of its column's is found."""
    change(full, statement)
    assert "digests" in faults(full)


def test_missing_table_is_found(full: str) -> None:
    """A table or a column that is gone is named, and what needs it could not be read."""
    change(full, "DROP TABLE passage")
    change(full, "ALTER TABLE run DROP COLUMN priority")
    found = faults(full)
    assert found["tables"].n_faults == 2
    assert "cannot be read" in found["passages"].examples[0]


def test_what_is_no_collection_is_refused(tmp_path: Path) -> None:
    """What is not there, is empty, or is something else is refused as everywhere."""
    empty, text = tmp_path / "empty.db", tmp_path / "text.db"
    empty.touch()
    text.write_text("1 Q0 d1 1 0.5 bm25\n" * 50)
    for place in (empty, text):
        with pytest.raises(SchemaError, match="is not a pooler collection"):
            verify(collection_url(str(place)))
    with pytest.raises(StoreError, match="there is no collection"):
        verify(collection_url(str(tmp_path / "none.db")))


def columns(name: str, table: str) -> list[str]:
    """List the columns of a table."""
    with contextlib.closing(sqlite3.connect(name)) as connection:
        return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def guarded(name: str) -> dict[str, list[list[Any]]]:
    """Return what has a digest, a hash, or an index of its own."""
    found = {}
    for table, rows in stored_rows(name).items():
        kept = [n for n, one in enumerate(columns(name, table))
                if one not in UNGUARDED.get(table, set())]  # fmt: skip
        found[table] = sorted(([row[number] for number in kept] for row in rows), key=repr)
    return found


@settings(max_examples=examples(20))
@given(data=st.data())
def test_flipped_bit_is_told_or_harms_no_judgement(whole: Path, data: st.DataObject) -> None:
    """With any one bit of a collection flipped, opening or `verify` says so, in words.

    Or no judgement, passage, pool entry, ranking, text or link is another one than before.
    """
    content = bytearray(whole.read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    damaged = whole.with_name("damaged.db")
    damaged.write_bytes(content)
    try:
        found = faults(str(damaged))
    except StoreError:
        return
    finally:
        for path in whole.parent.glob("damaged.db-*"):
            path.unlink()
    if not found:
        assert guarded(str(damaged)) == guarded(str(whole))


@settings(max_examples=examples(20))
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_file_is_told(whole: Path, share: float) -> None:
    """A collection that ends too early is never taken for a whole one."""
    content = whole.read_bytes()
    damaged = whole.with_name("short.db")
    damaged.write_bytes(content[: int(len(content) * share)])
    try:
        assert faults(str(damaged))
    except StoreError:
        return


def test_hint_on_a_truncated_file_is_not_to_verify_it(full: str) -> None:
    """Of a file that cannot be opened at all `verify` advises a backup, and not itself."""
    content = Path(full).read_bytes()
    Path(full).write_bytes(content[: len(content) // 2 + 100])
    with pytest.raises(StoreError, match="damaged") as told:
        verify(collection_url(full))
    assert told.value.hint == "restore a backup: pooler restore BACKUP --replace"
