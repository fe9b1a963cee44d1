"""Files that appear whole or not at all, and those that end too early."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from store.db.files import SIDE_FILES, is_cut, made_whole, place_beside
from store.errors import StoreError


def test_file_appears_at_the_end(tmp_path: Path) -> None:
    """Nothing has the name before the end of the block, and nothing else is left after it."""
    target = tmp_path / "b"
    with made_whole(target) as part:
        part.write_text("whole")
        part.with_name(part.name + "-wal").touch()
        assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert target.read_text() == "whole"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, OSError, GeneratorExit])
def test_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    """However the block ends early, no file is left, and one that was there stays."""
    target = tmp_path / "b"
    target.write_text("before")

    def fail() -> None:
        with made_whole(target, replaces=True) as part:
            part.write_text("half")
            for name in SIDE_FILES:
                part.with_name(part.name + name).touch()
            raise failure

    with pytest.raises(failure):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert target.read_text() == "before"


def test_what_a_killed_command_left_is_removed_after_a_day(tmp_path: Path) -> None:
    """Of the same target alone."""
    target, yesterday = tmp_path / "b", time.time() - 90_000
    left, fresh, other = place_beside(target), place_beside(target), place_beside(tmp_path / "c")
    log = left.with_name(left.name + "-wal")
    for path in (left, log, fresh, other):
        path.touch()
    for path in (left, log, other):
        os.utime(path, (yesterday, yesterday))
    with pytest.raises(OSError, match="disk"), made_whole(target):
        raise OSError("disk")
    assert {*tmp_path.iterdir()} == {fresh, other}
    with made_whole(target) as part:
        part.write_text("whole")
    assert {*tmp_path.iterdir()} == {target, fresh, other}


def test_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    """What another process made under the name in the meantime is not replaced."""
    target = tmp_path / "b"

    def make() -> None:
        with made_whole(target) as part:
            part.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(StoreError, match="was made by somebody else meanwhile"):
        make()
    assert target.read_text() == "theirs"


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_cut_page_is_seen(tmp_path: Path, page: int) -> None:
    """A SQLite file ends where a page ends, of whatever size; no other file is judged."""
    file = tmp_path / "f.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA page_size = {page}")
        connection.execute("CREATE TABLE shelf (book TEXT)")
    content = file.read_bytes()
    assert not is_cut(file)
    for length in (len(content) - 1, len(content) - page + 1, 101):
        file.write_bytes(content[:length])
        assert is_cut(file)
    for other in (b"", content[:99], content[: len(content) - page], b"x" * 1000):
        file.write_bytes(other)
        assert not is_cut(file)
    # The rest may be in the log.
    file.write_bytes(content[:-1])
    (tmp_path / "f.db-wal").write_bytes(b"log")
    assert not is_cut(file)
