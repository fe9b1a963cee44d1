"""Sittings: signs of life, and the warning that one is at work elsewhere."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import reading
from store.errors import StoreError
from store.records import Action, Decision, JudgeKind, Topic
from tests.helpers.world import change_stored, engine_of, make_pool
from tests.store.faults import When, failing_database


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "c"}))
    return collection


def sittings(name: str) -> list[dict[str, Any]]:
    """Read every sitting, the oldest first."""
    with engine_of(name) as engine, reading(engine) as session:
        result = session.execute(text("SELECT * FROM sitting ORDER BY id"))
        return [dict(row) for row in result.mappings()]


def sittings_of_events(name: str) -> list[int]:
    """Read of which sitting every event is."""
    with engine_of(name) as engine, reading(engine) as session:
        result = session.scalars(text("SELECT sitting_id FROM judgement ORDER BY id"))
        return list(result)


def seen(name: str, sitting: int, ago: timedelta) -> None:
    """Let the last sign of life of a sitting lie so long ago."""
    statement = "UPDATE sitting SET seen_at = :at WHERE id = :id"
    at: Any = datetime.now(UTC) - ago
    if "://" not in name:
        at = at.replace(tzinfo=None).isoformat(" ")
    change_stored(name, statement, at=at, id=sitting)


def test_looking_is_no_sitting(ready: Collection, collection_name: str) -> None:
    """Who only looks leaves no trace; the first sign of life or decision begins the sitting."""
    desk = ready.desk("ann", program="test 1")
    desk.inbox()
    desk.queue("1")
    desk.page("a")
    desk.events()
    desk.live_elsewhere()
    desk.undo()
    desk.leave()
    assert sittings(collection_name) == []
    desk.beat("1")
    (row,) = sittings(collection_name)
    assert (row["host"], row["process"], row["program"]) == (socket.gethostname(), os.getpid(), "test 1")
    assert row["ended_at"] is None
    desk.record(Decision("1", "a", Action.JUDGE, 1))
    assert len(sittings(collection_name)) == 1


def test_other_sittings_of_the_judge_are_alive(ready: Collection) -> None:
    """One's own is left out, and so is every other judge's."""
    first, second, third = ready.desk("ann"), ready.desk("ann"), ready.desk("ann")
    bob = ready.desk("bob")
    bob.beat("1")
    assert first.live_elsewhere() == []
    first.beat("1")
    assert first.live_elsewhere() == []
    (one,) = second.live_elsewhere()  # has not sat down itself yet
    assert (one.host, one.topic) == (socket.gethostname(), "1")
    second.beat("2")
    assert [one.topic for one in first.live_elsewhere()] == ["2"]
    assert [one.topic for one in second.live_elsewhere()] == ["1"]
    first.beat("2")
    assert [one.topic for one in third.live_elsewhere()] == ["2", "2"]
    assert one.seen_at.tzinfo is not None
    first.leave()
    assert [one.topic for one in third.live_elsewhere()] == ["2"]
    second.leave()
    assert third.live_elsewhere() == []
    assert [one.topic for one in ready.desk("bob").live_elsewhere()] == ["1"]


def test_silent_for_two_minutes_is_dead(ready: Collection, collection_name: str) -> None:
    """A sitting without a sign of life for two minutes is not warned of; a sign revives it."""
    desk, other = ready.desk("ann"), ready.desk("ann")
    desk.beat("1")
    seen(collection_name, 1, timedelta(seconds=115))
    assert len(other.live_elsewhere()) == 1
    seen(collection_name, 1, timedelta(seconds=125))
    assert other.live_elsewhere() == []
    desk.beat("1")
    assert len(other.live_elsewhere()) == 1


def test_latest_sign_of_life_comes_first(ready: Collection, collection_name: str) -> None:
    """Where several are alive the liveliest is named first."""
    for topic in ("1", "2"):
        ready.desk("ann").beat(topic)
    seen(collection_name, 2, timedelta(seconds=30))
    assert [one.topic for one in ready.desk("ann").live_elsewhere()] == ["1", "2"]
    seen(collection_name, 1, timedelta(seconds=60))
    assert [one.topic for one in ready.desk("ann").live_elsewhere()] == ["2", "1"]


def test_beat_moves_its_own_sitting_alone(ready: Collection, collection_name: str) -> None:
    """The time and the topic of nobody else change."""
    desk, other = ready.desk("ann"), ready.desk("ann")
    desk.beat("1")
    other.beat("1")
    seen(collection_name, 1, timedelta(seconds=60))
    before = sittings(collection_name)[0]
    other.beat("2")
    assert sittings(collection_name)[0] == before
    desk.beat("2")
    assert sittings(collection_name)[0]["seen_at"] > before["seen_at"]


def test_leaving_ends_the_sitting_and_the_next_is_another(ready: Collection, collection_name: str) -> None:
    """Its end is said once; what is done afterwards is of a new sitting, which undo reaches."""
    desk = ready.desk("ann")
    desk.queue("1")
    desk.record(Decision("1", "a", Action.JUDGE, 1))
    desk.leave()
    desk.leave()
    (row,) = sittings(collection_name)
    assert row["ended_at"] is not None
    assert desk.undo() is None
    desk.record(Decision("1", "b", Action.JUDGE, 1))
    assert len(sittings(collection_name)) == 2
    assert desk.undo() is not None
    assert desk.undo() is None
    assert sittings_of_events(collection_name) == [1, 2, 2]


@pytest.mark.parametrize("when", [When.BEFORE, When.AFTER])
def test_sitting_that_could_not_begin_begins_with_the_next_key(
    ready: Collection, collection_name: str, when: When
) -> None:
    """What is decided is of a sitting that is there, however often sitting down failed before."""
    desk = ready.desk("ann")
    desk.queue("1")
    with failing_database() as faults:
        for act in (
            lambda: desk.beat("1"),
            lambda: desk.claim("1"),
            lambda: desk.record(Decision("1", "a", Action.JUDGE, 1)),
        ):
            faults.armed = when
            with pytest.raises(StoreError):
                act()
    assert desk.record(Decision("1", "a", Action.JUDGE, 1)).revision == 1
    ids = {row["id"] for row in sittings(collection_name)}
    assert [sitting in ids for sitting in sittings_of_events(collection_name)] == [True]
    assert desk.undo() is not None
