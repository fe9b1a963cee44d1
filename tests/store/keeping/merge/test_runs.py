"""Runs of several copies."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from store.collection import Collection
from tests.helpers.world import change_stored, make_run, new_collection
from tests.store.keeping.merge.apart import copies, merge


@pytest.mark.parametrize(("here", "there"), [(1, 2), (2, 1)])
def test_run_was_imported_when_it_first_was(tmp_path: Path, here: int, there: int) -> None:
    """Of a run that two copies imported on different days, the first day stands."""
    start = tmp_path / "whole.db"
    with new_collection(str(start)) as opened:
        opened.runs.add(make_run("bm25", {"1": [("a", 1.0)]}))
    [other] = copies(start, 1)
    for place, day in ((start, here), (other, there)):
        change_stored(str(place), f"UPDATE run SET imported_at = '2026-03-0{day} 09:00:00.000000',"
                            " checksum = NULL")  # fmt: skip
    assert merge(start, other).is_done
    with Collection(str(start)) as opened:
        [run] = opened.lists.runs()
    assert run.imported_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
