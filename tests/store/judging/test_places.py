"""Where a collection's file may be: in an archive nobody may write, or gone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import StoreError
from store.records import Action, Decision, JudgeKind, Pool, PoolEntry
from tests.helpers.world import parse_scale

READ = """
import os, sys
import store.collection, store.judging.desk, store.analysis.arrays
import store.grades.qrels, store.errors
from sqlalchemy.dialects.sqlite import pysqlite
if os.getuid() == 0:
    os.setuid(65534)
with store.collection.Collection("c.db") as opened:
    print(opened.name, sum(pool.pairs for pool in opened.pools.all()))
    try:
        opened.judges.add("late", "human")
    except store.errors.StoreError as error:
        print(error)
"""


@pytest.fixture
def archive() -> Iterator[Path]:
    """Make a folder that everybody may read and nobody but the superuser may write."""
    with tempfile.TemporaryDirectory(prefix="pooler-archive-") as name:
        folder = Path(name)
        scale = parse_scale("0-2")
        made = Collection.create(str(folder / "c.db"), name="old", scale=scale, program="test")
        with made as collection:
            collection.pools.add(Pool([PoolEntry("1", "a", 0)], {"out_order": "docno"}))
        (folder / "c.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no user ids here")
def test_archived_file_can_be_read_and_not_written(archive: Path) -> None:
    """Without any right to write beside it, reports work, and writing is refused in words."""
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=archive, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "old 1"
    assert "may be read but not written" in done.stdout


def test_file_that_was_removed_is_not_written_to(tmp_path: Path) -> None:
    """A judgement is never called saved when it went into a file that nobody can find again."""
    path = tmp_path / "c.db"
    with Collection.create(str(path), name="c", scale=parse_scale("0-2"), program="test") as made:
        made.pools.add(Pool([PoolEntry("1", "a", 0)], {"out_order": "docno"}))
        made.judges.add("ann", JudgeKind.HUMAN)
        desk = made.desk("ann")
        desk.queue("1")
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(StoreError, match="is gone: it was moved or deleted"):
            desk.record(Decision("1", "a", Action.JUDGE, 1))
