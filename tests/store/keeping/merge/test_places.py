"""Places at documents, on several copies."""

from __future__ import annotations

from pathlib import Path

from store.collection import Collection
from store.records import JudgeKind
from tests.helpers.world import make_pool, new_collection
from tests.store.keeping.merge.apart import copies, merge
from tests.store.places import held_place, places


def test_place_is_of_the_same_topic_document_and_judge(tmp_path: Path) -> None:
    """Copies number what is new on each of them alike: a place goes by names, not by numbers."""
    start = tmp_path / "whole.db"
    new_collection(str(start)).close()
    [other] = copies(start, 1)
    for place, topic, docno, judge in ((start, "2", "x", "dee"), (other, "3", "y", "eve")):
        with Collection(str(place)) as opened:
            opened.pools.add(make_pool({topic: [docno]}, name=f"of {judge}"))
            opened.judges.add(judge, JudgeKind.HUMAN)
    held_place(str(other), "3", "y", "eve")
    assert merge(start, other).copies[0].new["places"] == 1
    assert places(str(start)) == [("3", "y", "eve", None)]


def test_open_places_of_a_copy_come_in(tmp_path: Path) -> None:
    """Places that nobody has claimed yet are there to be claimed after a merge."""
    start = tmp_path / "whole.db"
    with new_collection(str(start)) as opened:
        opened.pools.add(make_pool({"1": ["a", "b"]}))
    [other] = copies(start, 1)
    held_place(str(other), "1", "ab", None, lease_s=600)
    assert merge(start, other).copies[0].new["places"] == 2
    assert places(str(start)) == [("1", "a", None, None), ("1", "b", None, None)]
