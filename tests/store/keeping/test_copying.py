"""A collection goes from engine to engine and back, and nothing is lost or left half done."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import collection_url
from store.errors import StoreError
from store.keeping.backup import back_up
from store.keeping.directory import ExportChoice, write_directory
from store.keeping.verify import verify
from store.records import Document, JudgeKind, Topic
from tests.helpers.world import (
    JudgeAtWork,
    carry,
    change_stored,
    count_rows,
    engine_of,
    meanwhile,
    stored_rows,
)
from tests.store.full_collection import DOCNOS, fill


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
    carry(first, postgres_url)
    carry(postgres_url, last)
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
    carry(name, postgres_url)
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
    for table in (*("passage", "answer", "model_judge", "judgement", "sitting", "assignment", "judge"),):
        change_stored(name, f"DELETE FROM {table}")
    carry(name, postgres_url)
    with Collection(postgres_url) as opened:
        opened.judges.add("eve", JudgeKind.HUMAN)
    assert [row[0] for row in stored_rows(postgres_url)["judge"]] == [1]


@pytest.mark.slow
def test_server_that_has_a_collection_is_refused_and_kept(tmp_path: Path, postgres_url: str) -> None:
    """Nothing is copied over a collection."""
    first = str(tmp_path / "first.db")
    fill(first)
    fill(postgres_url, seed=3)
    before = stored_rows(postgres_url)
    with pytest.raises(StoreError, match="already holds a collection"):
        carry(first, postgres_url)
    assert stored_rows(postgres_url) == before


def test_value_that_does_not_fit_leaves_nothing(tmp_path: Path, postgres_url: str) -> None:
    """What PostgreSQL cannot hold is named, and no table is left there."""
    name = str(tmp_path / "first.db")
    fill(name)
    change_stored(name, "UPDATE sitting SET host = 'a' || char(0) || 'b' WHERE id = 1")
    with pytest.raises(StoreError, match=r"cannot take a value: .*NUL") as told:
        carry(name, postgres_url)
    assert "nothing was copied" in (told.value.hint or "")
    assert stored_rows(postgres_url) == {}


def test_one_state_is_copied(tmp_path: Path, postgres_url: str) -> None:
    """What is judged while a server's collection is copied or backed up is not half in it."""
    name = str(tmp_path / "first.db")
    fill(name)
    carry(name, postgres_url)
    before = stored_rows(name)

    def judge() -> None:
        with Collection(postgres_url) as opened:
            JudgeAtWork(opened.desk("dee"), "1").grade("d07", 2)

    with meanwhile("CREATE TABLE judgement", judge):
        made = back_up(collection_url(postgres_url), tmp_path / "b.backup")
    assert made.n_events == len(before["judgement"])
    assert stored_rows(str(tmp_path / "b.backup")) == before
    assert count_rows(postgres_url)["judgement"] == len(before["judgement"]) + 1


def test_interrupted_copy_says_nothing_more(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a table leaves no reader behind that outlives its connection."""

    @contextlib.contextmanager
    def interrupted(_what: str, _total: int) -> Iterator[Callable[[int], None]]:
        def advance(_n: int) -> None:
            raise KeyboardInterrupt

        yield advance

    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    source, target = tmp_path / "first.db", tmp_path / "to.db"
    fill(str(source))
    carry(source, postgres_url)
    with pytest.raises(KeyboardInterrupt):
        back_up(collection_url(postgres_url), target, progress=interrupted)
    gc.collect()
    assert said == []
    assert not target.exists()
