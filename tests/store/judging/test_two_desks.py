"""Two desks of one judge: what one of them leaves, the other one still has."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import StoreError
from store.judging.desk import Desk
from store.records import JudgeKind, Topic
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, parse_scale
from tests.store.claiming import LONG_AGO, PEOPLE, assign_open, held
from tests.store.places import held_place

pytestmark = pytest.mark.slow


@pytest.fixture
def desks(collection: Collection) -> tuple[Desk, Desk]:
    """Let ann claim three of six documents at each of two desks."""
    collection.pools.add(make_pool({"1": list("abcdef")}))
    for name in PEOPLE:
        collection.judges.add(name, JudgeKind.HUMAN)
    assign_open(collection, 1)
    first, second = collection.desk("ann"), collection.desk("ann")
    assert first.claim("1")
    assert second.claim("1")
    return first, second


def test_leaving_one_desk_keeps_what_the_other_has(
    desks: tuple[Desk, Desk], collection: Collection, collection_name: str
) -> None:
    """No place is another judge's while a desk of its holder is alive; the last one clears up."""
    first, second = desks
    JudgeAtWork(first, "1").grade("a", 1)
    first.leave()
    assert held(collection_name, "ann") == list("abcdef")
    assert not collection.desk("ben").claim("1")
    second.leave()
    assert held(collection_name, "ann") == ["a"]
    assert collection.desk("ben").claim("1")


def test_a_desk_long_silent_keeps_nothing(desks: tuple[Desk, Desk], collection_name: str) -> None:
    """What a dead program claimed goes back with what the live one did."""
    _, second = desks
    second.beat("1")
    change_stored(collection_name, f"UPDATE sitting SET seen_at = '{LONG_AGO}' WHERE id = 1")
    second.leave()
    assert held(collection_name, "ann") == []


def test_another_judges_desk_keeps_nothing(
    desks: tuple[Desk, Desk], collection: Collection, collection_name: str
) -> None:
    """Only desks of the same judge hold a judge's places."""
    collection.desk("ben").beat("1")
    for desk in desks:
        desk.leave()
    assert held(collection_name, "ann") == []


def test_a_start_waits_for_others_as_any_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first document is shown a claim waits; after it, the judge is told soon."""
    monkeypatch.setattr(Desk, "patience_ms", 20)
    name = str(tmp_path / "c.db")
    with Collection.create(name, name="c", scale=parse_scale("0-2"), program="p") as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": "abcdef"}))
        made.judges.add("ann", JudgeKind.HUMAN)
    held_place(name, "1", "abcdef", None, lease_s=600)
    with Collection(name) as opened, closing(sqlite3.connect(name)) as other:
        desk = opened.desk("ann")
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        claimed: list[bool] = []
        start = threading.Thread(target=lambda: claimed.append(desk.claim("1")))
        start.start()
        time.sleep(0.5)
        other.execute("ROLLBACK")
        start.join()
        assert claimed == [True]
        desk.page("a")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="did not finish in time"):
            desk.claim("1")
        other.execute("ROLLBACK")
