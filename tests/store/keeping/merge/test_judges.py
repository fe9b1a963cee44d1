"""Judges of several copies."""

from __future__ import annotations

from pathlib import Path

from store.db.engine import collection_url
from store.keeping.verify import verify
from store.records import JudgeKind
from tests.helpers.world import change_stored, new_collection, stored_rows
from tests.store.keeping.merge.apart import copies, merge


def test_judge_who_is_the_same_on_both_copies_is_not_written(tmp_path: Path) -> None:
    """A merge that changes nothing of a judge keeps the checksum, so that damage is still found."""
    start = tmp_path / "whole.db"
    with new_collection(str(start)) as opened:
        opened.judges.add("ann", JudgeKind.HUMAN)
    # As a disk would: behind the program's back, the checksum as it was.
    change_stored(str(start), "UPDATE judge SET created_at = '2001-01-01 00:00:00.000000'")
    [other] = copies(start, 1)
    before = stored_rows(str(start))["judge"]
    assert merge(start, other).is_done
    assert stored_rows(str(start))["judge"] == before
    assert sum(one.n_faults for one in verify(collection_url(str(start)))) == 1
