"""Copies that are read, and what is told of those that cannot come together."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import Session

from store.db.engine import collection_url
from store.db.keys import document_keys, topic_keys
from store.db.tables import JUDGE
from store.errors import ConflictError
from store.keeping.merge.copies import Here, opened
from tests.store.keeping.merge.apart import JUDGES, make


@pytest.mark.parametrize(("n_differences", "rest"), [(25, []), (26, ["and 1 more differences like these"])])
def test_first_25_differences_are_told_and_the_others_counted(n_differences: int, rest: list[str]) -> None:
    """Each of 25 differences has its line; of 26, the last one is a number."""
    told = [f"other.db: difference {number}" for number in range(n_differences)]
    with Session() as session:
        here = Here(session, topic_keys(), document_keys(), told)
        with pytest.raises(ConflictError) as caught:
            here.refuse_if_any()
    first = [f"other.db: difference {number}" for number in range(25)]
    assert caught.value.message.splitlines() == [*first, *rest]


def test_log_that_a_copy_brings_is_read_and_stays(tmp_path: Path) -> None:
    """A file copied with its log, as a crash leaves both: what the log alone has counts, and stays there."""
    whole, copy = make(tmp_path / "whole.db"), tmp_path / "copy.db"
    with closing(sqlite3.connect(whole)) as crashed:
        with crashed:
            crashed.execute("UPDATE judge SET name = 'zoe' WHERE name = 'cy'")
        for end in ("", "-wal"):
            shutil.copy(f"{whole}{end}", f"{copy}{end}")
    before = [Path(f"{copy}{end}").read_bytes() for end in ("", "-wal")]
    assert b"zoe" not in before[0]
    with opened(collection_url(str(copy))) as found:
        assert "zoe" in set(found.session.scalars(select(JUDGE.c.name)))
    assert [Path(f"{copy}{end}").read_bytes() for end in ("", "-wal")] == before


def test_file_that_keeps_no_log_is_read(tmp_path: Path) -> None:
    """What VACUUM INTO writes has a rollback journal: reading makes no log, and none is looked into."""
    whole, copy = make(tmp_path / "whole.db"), tmp_path / "copy.db"
    with closing(sqlite3.connect(whole)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with opened(collection_url(str(copy))) as found:
        assert set(found.session.scalars(select(JUDGE.c.name))) == set(JUDGES)
    assert not list(tmp_path.glob("copy.db?*"))
