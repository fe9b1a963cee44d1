"""Judges of several copies."""

from __future__ import annotations

from pathlib import Path

from store.db.engine import collection_url
from store.keeping.verify import verify
from store.records import JudgeKind
from tests.store.keeping.merge.apart import copies, merge
from tests.store.new import new_collection
from tests.store.outside import contents, execute


def test_judge_who_is_the_same_on_both_copies_is_not_written(tmp_path: Path) -> None:
    """A merge that changes nothing of a judge keeps the checksum, so that damage is still found."""
    start = tmp_path / "whole.db"
    with new_collection(str(start)) as opened:
        opened.judges.add("ann", JudgeKind.HUMAN)
    # As a disk would: behind the program's back, the checksum as it was.
    execute(str(start), "UPDATE judge SET created_at = '2001-01-01 00:00:00.000000'")
    [other] = copies(start, 1)
    before = contents(str(start))["judge"]
    assert merge(start, other).is_done
    assert contents(str(start))["judge"] == before
    assert sum(one.n_faults for one in verify(collection_url(str(start)))) == 1
