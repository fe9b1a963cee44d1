"""A collection goes from engine to engine and back, and nothing is lost or left half done."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import collection_url
from store.errors import ArgumentError, SchemaError, StoreError
from store.keeping.backup import back_up
from store.keeping.copying import copy_collection
from store.keeping.directory.contract import ExportChoice
from store.keeping.directory.folder import write_directory
from store.keeping.verify import verify
from store.records import Document, JudgeKind, Topic
from tests.helpers.world import JudgeAtWork, change_stored, count_rows, engine_of, meanwhile, stored_rows
from tests.store.full_collection import DOCNOS, fill

processes = multiprocessing.get_context("forkserver")


def copy(source: str, target: str) -> int:
    """Copy a collection and return how many rows."""
    return sum(copy_collection(collection_url(source), collection_url(target)).values())


def published(name: str, folder: Path) -> dict[str, bytes]:
    """Return the files of `export collection`, by name."""
    with Collection(name) as opened:
        write_directory(opened.as_it_stands(), folder, ExportChoice(), program="test")
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.slow
def test_three_places_export_the_same_bytes(tmp_path: Path, postgres_url: str) -> None:
    """SQLite, PostgreSQL and SQLite again: all rows with their ids, and the same export."""
    first, last = str(tmp_path / "first.db"), str(tmp_path / "last.db")
    fill(first)
    n_rows = sum(count_rows(first).values()) - 1  # alembic_version is made, not copied
    assert copy(first, postgres_url) == n_rows
    assert copy(postgres_url, last) == n_rows
    assert stored_rows(last) == stored_rows(first)
    assert count_rows(postgres_url) == count_rows(first)
    exports = [published(name, tmp_path / str(number))
               for number, name in enumerate((first, postgres_url, last))]  # fmt: skip
    assert len(exports[0]) > 15
    assert exports[0] == exports[1] == exports[2]
    for name in (first, postgres_url, last):
        assert not [one for one in verify(collection_url(name)) if one.n_faults]


@pytest.mark.slow
def test_work_goes_on_at_the_copy(tmp_path: Path, postgres_url: str) -> None:
    """What is added to a copy gets the next row ids, of every table that counts them."""
    name = str(tmp_path / "first.db")
    fill(name)
    copy(name, postgres_url)
    highest = {}
    with engine_of(name) as engine, engine.connect() as connection:
        for table in ("topic", "document", "judge", "judgement", "sitting", "guideline"):
            query = text(f"SELECT max(id) FROM {table}")
            highest[table] = connection.execute(query).scalar_one()
    with Collection(postgres_url) as opened:
        opened.topics.add([Topic("99")])
        opened.documents.add([Document("new", "new", "new")], all_texts=True)
        opened.judges.add("eve", JudgeKind.HUMAN)
        opened.guidelines.add("# Three\n")
        JudgeAtWork(opened.desk("dee"), "1").grade(DOCNOS[0], 2)
    with engine_of(postgres_url) as engine, engine.connect() as connection:
        for table in highest:
            ids = sorted(connection.execute(text(f"SELECT id FROM {table}")).scalars())
            assert ids == list(range(1, highest[table] + 2)), table


def test_empty_collection_is_copied(tmp_path: Path, postgres_url: str) -> None:
    """A collection without a row but its own begins to count at 1 where it is copied to."""
    name = str(tmp_path / "first.db")
    fill(name)
    for table in (
        *("passage", "judge_term", "answer", "model_judge", "judgement", "sitting", "assignment", "judge"),
    ):
        change_stored(name, f"DELETE FROM {table}")
    copy(name, postgres_url)
    with Collection(postgres_url) as opened:
        opened.judges.add("eve", JudgeKind.HUMAN)
    assert [row[0] for row in stored_rows(postgres_url)["judge"]] == [1]


@pytest.mark.slow
def test_place_that_is_taken_is_refused_and_kept(tmp_path: Path, postgres_url: str) -> None:
    """Nothing is copied over a collection, another file, or itself."""
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    fill(first)
    fill(second, seed=2)
    fill(postgres_url, seed=3)
    other = tmp_path / "notes.txt"
    other.write_text("by hand")
    before = stored_rows(second), stored_rows(postgres_url)
    for target in (second, postgres_url):
        with pytest.raises(StoreError, match="already holds a collection"):
            copy(first, target)
    with pytest.raises(SchemaError, match="is not a pooler collection"):
        copy(first, str(other))
    with pytest.raises(ArgumentError, match="another place"):
        copy(first, first)
    with pytest.raises(StoreError, match="there is no collection"):
        copy(str(tmp_path / "none.db"), str(tmp_path / "new.db"))
    assert (stored_rows(second), stored_rows(postgres_url)) == before
    assert other.read_text() == "by hand"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"first.db", "notes.txt", "second.db"}


def test_value_that_does_not_fit_leaves_nothing(tmp_path: Path, postgres_url: str) -> None:
    """What PostgreSQL cannot hold is named, and no table is left there."""
    name = str(tmp_path / "first.db")
    fill(name)
    change_stored(name, "UPDATE sitting SET host = 'a' || char(0) || 'b' WHERE id = 1")
    with pytest.raises(StoreError, match=r"cannot take a value: .*NUL") as told:
        copy(name, postgres_url)
    assert "nothing was copied" in (told.value.hint or "")
    assert stored_rows(postgres_url) == {}


def test_reference_to_nothing_leaves_nothing(tmp_path: Path, postgres_url: str) -> None:
    """A row that refers to none is not copied, to either engine."""
    name, target = str(tmp_path / "first.db"), tmp_path / "last.db"
    fill(name)
    with closing(sqlite3.connect(name)) as connection, connection:
        connection.execute("UPDATE judgement SET sitting_id = 999 WHERE id = 20")
    connection.close()
    with pytest.raises(StoreError, match="cannot take a value"):
        copy(name, postgres_url)
    with pytest.raises(StoreError, match="cannot take a value"):
        copy(name, str(target))
    assert stored_rows(postgres_url) == {}
    assert {path.name for path in tmp_path.iterdir()} == {"first.db"}


def test_one_state_is_copied(tmp_path: Path, postgres_url: str) -> None:
    """What is judged while a server's collection is copied or backed up is not half in it."""
    name = str(tmp_path / "first.db")
    fill(name)
    copy(name, postgres_url)
    before = stored_rows(name)

    def judge() -> None:
        with Collection(postgres_url) as opened:
            JudgeAtWork(opened.desk("dee"), "1").grade("d07", 2)

    with meanwhile("CREATE TABLE judgement", judge):
        made = back_up(collection_url(postgres_url), tmp_path / "b.backup")
    assert made.n_events == len(before["judgement"])
    assert stored_rows(str(tmp_path / "b.backup")) == before
    assert count_rows(postgres_url)["judgement"] == len(before["judgement"]) + 1


def test_interrupted_copy_says_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a table leaves no reader behind that outlives its connection."""

    @contextlib.contextmanager
    def interrupted(_what: str, _total: int) -> Iterator[Callable[[int], None]]:
        def advance(_n: int) -> None:
            raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr("store.keeping.copying._BATCH", 1)
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    source, target = tmp_path / "first.db", tmp_path / "to.db"
    fill(str(source))
    with pytest.raises(KeyboardInterrupt):
        copy_collection(collection_url(str(source)), collection_url(str(target)), progress=interrupted)
    gc.collect()
    assert said == []
    assert not target.exists()


def copy_slowly(source: str, target: str) -> None:
    """Copy a collection in a process of its own."""
    copy(source, target)


@pytest.mark.slow
def test_killed_copy_leaves_nothing_under_the_name(tmp_path: Path, postgres_url: str) -> None:
    """After `kill -9` at any moment there is the whole copy or none."""
    name = str(tmp_path / "first.db")
    fill(name)
    with closing(sqlite3.connect(name)) as connection, connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
            " INSERT INTO document (docno, listed) SELECT 'x' || i, 0 FROM n"
        )
    connection.close()
    began = time.monotonic()
    copy(name, str(tmp_path / "whole.db"))
    took = time.monotonic() - began
    expected = count_rows(name)
    for number in range(6):
        target = str(tmp_path / f"{number}.db") if number % 2 else postgres_url
        process = processes.Process(target=copy_slowly, args=(name, target))
        process.start()
        time.sleep(0.5 + took * number / 4)
        process.kill()
        process.join()
        if target == postgres_url:
            end = time.monotonic() + 10
            while (found := count_rows(target)) not in ({}, expected):
                assert time.monotonic() < end
            if found:
                break
        elif Path(target).exists():
            assert count_rows(target) == expected
