"""Sitting down: who may, which guidelines and texts were seen, signs of life, and settling a conflict."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import reading
from store.db.tables import JUDGEMENT
from store.errors import StoreError, UnknownNameError
from store.records import Action, Decision, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.faults import When, failing_database
from tests.helpers.places import held_place, places
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, stored_rows

COLUMNS = [column.name for column in JUDGEMENT.columns]
HASH, VERSION = COLUMNS.index("document_sha256"), COLUMNS.index("guideline_version")
"""Places of the document's hash and the guidelines' version in a row of `judgement`."""


@pytest.fixture
def seated(collection: Collection) -> Collection:
    """Make two topics and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "c"}))
    collection.documents.add([Document("a", "", "first text")])
    return collection


def disable(name: str) -> None:
    """Disable ann behind her back."""
    change_stored(name, "UPDATE judge SET disabled = TRUE WHERE name = 'ann'")


def column(name: str, place: int) -> list[Any]:
    """Return a column of every event, the oldest first."""
    return [row[place] for row in sorted(stored_rows(name)["judgement"])]


def test_disabled_judge_does_not_sit_down(seated: Collection, collection_name: str) -> None:
    """Who is disabled is told so; the others still judge."""
    disable(collection_name)
    with pytest.raises(StoreError, match="judge `ann` is disabled"):
        seated.desk("ann")
    assert seated.desk("bob").inbox()
    with pytest.raises(UnknownNameError, match="unknown judge `carl`"):
        seated.desk("carl")


def test_judge_disabled_while_at_work_writes_no_more(seated: Collection, collection_name: str) -> None:
    """Nothing that decides goes through; what was saved before stays."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    desk = seated.desk("ann")
    desk.claim("1")
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    disable(collection_name)
    before = stored_rows(collection_name)
    decision = Decision("1", "b", Action.JUDGE, 1)
    for act in (
        lambda: sitting.grade("b", 1),
        lambda: sitting.act("a", Action.NOTE, note="n"),
        lambda: desk.record_and_undo(decision),
        desk.undo,
        lambda: desk.claim("1"),
    ):
        with pytest.raises(StoreError, match="judge `ann` is disabled"):
            act()
    assert stored_rows(collection_name) == before
    desk.leave()
    assert [row[2] for row in places(collection_name)] == ["ann", None]


def test_kept_conflict_has_both_in_the_history_and_theirs_stands(seated: Collection) -> None:
    """The decision that met another is noted and taken back at once, whatever stood there."""
    here, elsewhere = JudgeAtWork(seated.desk("ann"), "1"), JudgeAtWork(seated.desk("ann"), "1")
    elsewhere.act("a", Action.MARK, passages=(Passage(0, 5, "first"),))
    elsewhere.act("a", Action.NOTE, note="theirs")
    elsewhere.grade("a", 2)
    mine = Decision("1", "a", Action.JUDGE, 0, note="mine", passages=(Passage(6, 4, "text"),))
    kept = here.desk.record_and_undo(mine)
    assert (kept.state, kept.grade, kept.note, kept.revision) == (State.JUDGED, 2, "theirs", 5)
    assert kept.passages == (Passage(0, 5, "first"),)
    events = here.desk.events_of("1", "a")
    assert [(one.action, one.grade, one.note, one.is_undone) for one in events] == [
        (Action.UNDO, 2, "theirs", False),
        (Action.JUDGE, 0, "mine", True),
        (Action.JUDGE, 2, "theirs", False),
        (Action.NOTE, None, "theirs", False),
        (Action.MARK, None, "", False),
    ]
    assert here.look()[0].passages == (Passage(0, 5, "first"),)
    assert here.desk.undo() is None, "it is taken back already"
    elsewhere.look()
    assert [(one.judge, one.grade) for one in seated.judgements.current()] == [("ann", 2)]


def test_keep_over_nothing_and_over_an_undone_decision(seated: Collection) -> None:
    """Kept over a document that stands undecided, it stands undecided still."""
    here, elsewhere = JudgeAtWork(seated.desk("ann"), "1"), JudgeAtWork(seated.desk("ann"), "1")
    assert here.desk.record_and_undo(Decision("1", "b", Action.JUDGE, 1)).state is State.UNJUDGED
    elsewhere.grade("a", 2)
    elsewhere.undo()
    kept = here.desk.record_and_undo(Decision("1", "a", Action.CANNOT, reason="x"))
    assert (kept.state, kept.reason, kept.revision) == (State.UNJUDGED, "", 4)
    seated.judgements.add({"ann": [Qrel("2", "c", 1)]}, JudgeKind.HUMAN)
    other = JudgeAtWork(here.desk, "2")
    assert other.tasks["c"].grade == 1
    kept = here.desk.record_and_undo(Decision("2", "c", Action.SKIP))
    assert (kept.state, kept.grade, kept.revision) == (State.JUDGED, 1, 3)


def test_keep_settles_the_place_as_their_decision_does(seated: Collection, collection_name: str) -> None:
    """Kept is theirs: decided, the place stays settled; undecided, its lease runs."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    here = seated.desk("ann")
    here.claim("1")
    sitting, elsewhere = JudgeAtWork(here, "1"), JudgeAtWork(seated.desk("ann"), "1")
    elsewhere.grade("a", 2)
    elsewhere.act("b", Action.SKIP)
    for docno in sitting.tasks:
        here.record_and_undo(Decision("1", docno, Action.JUDGE, 0))
    leases = {docno: lease is not None for _, docno, _, lease in places(collection_name)}
    assert leases == {"a": False, "b": True}


def test_off_the_scale_is_kept_neither(seated: Collection, collection_name: str) -> None:
    """A grade that cannot be is in no history."""
    desk = seated.desk("ann")
    desk.queue("1")
    with pytest.raises(UnknownNameError, match="unknown grade `9`"):
        desk.record_and_undo(Decision("1", "a", Action.JUDGE, 9))
    assert stored_rows(collection_name)["judgement"] == []


def test_guidelines_are_the_newest_and_cannot_steer_a_terminal(seated: Collection) -> None:
    """Without any there are none; a later version takes the place of the one before."""
    desk = seated.desk("ann")
    assert desk.guidelines() is None
    seated.guidelines.add("# One\x1b[2J")
    first = desk.guidelines()
    seated.guidelines.add("# Two")
    second = desk.guidelines()
    assert first is not None
    assert second is not None
    assert [(one.version, one.text) for one in (first, second)] == [(1, "# One␛[2J"), (2, "# Two")]


def test_briefed_is_who_judged_here_under_the_newest_guidelines(seated: Collection) -> None:
    """Another topic, another judge, an import, or an older version brief nobody."""
    seated.judgements.add({"ann": [Qrel("1", "a", 1)]}, JudgeKind.HUMAN)
    desk = seated.desk("ann")
    assert not desk.has_seen_guidelines("1")
    JudgeAtWork(desk, "1").grade("b", 1)
    assert desk.has_seen_guidelines("1")
    assert not desk.has_seen_guidelines("2")
    assert not seated.desk("bob").has_seen_guidelines("1")
    seated.guidelines.add("# One")
    assert not desk.has_seen_guidelines("1")
    assert desk.guidelines() is not None
    JudgeAtWork(desk, "1").act("b", Action.NOTE, note="n")
    assert desk.has_seen_guidelines("1")
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        desk.has_seen_guidelines("9")


def test_event_names_the_guidelines_the_judge_had(seated: Collection, collection_name: str) -> None:
    """A version that came while the judge sat counts only once the judge was given it."""
    seated.guidelines.add("# One")
    desk = seated.desk("ann")
    desk.guidelines()
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    seated.guidelines.add("# Two")
    sitting.grade("a", 2)
    assert not seated.desk("ann").has_seen_guidelines("1")
    desk.guidelines()
    sitting.grade("a", 0)
    assert column(collection_name, VERSION) == [1, 1, 2]
    assert seated.desk("ann").has_seen_guidelines("1")


def test_first_guidelines_that_come_meanwhile_were_not_seen(seated: Collection, collection_name: str) -> None:
    """Who sat down before there were any decides under none."""
    desk = seated.desk("ann")
    assert not desk.has_seen_guidelines("1")
    assert desk.guidelines() is None
    sitting = JudgeAtWork(desk, "1")
    seated.guidelines.add("# One")
    sitting.grade("a", 1)
    assert column(collection_name, VERSION) == [None]
    assert not seated.desk("ann").has_seen_guidelines("1")


def test_event_names_the_text_the_judge_had(seated: Collection, collection_name: str) -> None:
    """A document that was replaced while it was read is known to have been judged before."""
    before = next(row[5] for row in stored_rows(collection_name)["document"] if row[1] == "a")
    desk = seated.desk("ann")
    sitting = JudgeAtWork(desk, "1")
    page = desk.page("a")
    assert (page.text, page.sha256) == ("first text", before)
    seated.documents.add([Document("a", "", "second text")], replace=True)
    after = next(row[5] for row in stored_rows(collection_name)["document"] if row[1] == "a")
    sitting.act("a", Action.JUDGE, grade=1, document_sha256=page.sha256)
    assert desk.page("a").sha256 == after
    sitting.grade("a", 2)
    assert before != after
    assert column(collection_name, HASH) == [before, after]


def test_event_on_a_page_without_text_names_none(seated: Collection, collection_name: str) -> None:
    """A text that came while the judge looked at nothing is not what was judged."""
    desk = seated.desk("ann")
    sitting = JudgeAtWork(desk, "1")
    page = desk.page("b")
    assert (page.text, page.sha256) == (None, None)
    seated.documents.add([Document("b", "", "a text")])
    sitting.act("b", Action.CANNOT, reason="no text", document_sha256=page.sha256)
    assert column(collection_name, HASH) == [None]


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


def test_looking_is_no_sitting(seated: Collection, collection_name: str) -> None:
    """Who only looks leaves no trace; the first sign of life or decision begins the sitting."""
    desk = seated.desk("ann", program="test 1")
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


def test_other_sittings_of_the_judge_are_alive(seated: Collection) -> None:
    """One's own is left out, and so is every other judge's."""
    first, second, third = seated.desk("ann"), seated.desk("ann"), seated.desk("ann")
    bob = seated.desk("bob")
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
    assert [one.topic for one in seated.desk("bob").live_elsewhere()] == ["1"]


def test_silent_for_two_minutes_is_dead(seated: Collection, collection_name: str) -> None:
    """A sitting without a sign of life for two minutes is not warned of; a sign revives it."""
    desk, other = seated.desk("ann"), seated.desk("ann")
    desk.beat("1")
    seen(collection_name, 1, timedelta(seconds=115))
    assert len(other.live_elsewhere()) == 1
    seen(collection_name, 1, timedelta(seconds=125))
    assert other.live_elsewhere() == []
    desk.beat("1")
    assert len(other.live_elsewhere()) == 1


def test_latest_sign_of_life_comes_first(seated: Collection, collection_name: str) -> None:
    """Where several are alive the liveliest is named first."""
    for topic in ("1", "2"):
        seated.desk("ann").beat(topic)
    seen(collection_name, 2, timedelta(seconds=30))
    assert [one.topic for one in seated.desk("ann").live_elsewhere()] == ["1", "2"]
    seen(collection_name, 1, timedelta(seconds=60))
    assert [one.topic for one in seated.desk("ann").live_elsewhere()] == ["2", "1"]


def test_beat_moves_its_own_sitting_alone(seated: Collection, collection_name: str) -> None:
    """The time and the topic of nobody else change."""
    desk, other = seated.desk("ann"), seated.desk("ann")
    desk.beat("1")
    other.beat("1")
    seen(collection_name, 1, timedelta(seconds=60))
    before = sittings(collection_name)[0]
    other.beat("2")
    assert sittings(collection_name)[0] == before
    desk.beat("2")
    assert sittings(collection_name)[0]["seen_at"] > before["seen_at"]


def test_leaving_ends_the_sitting_and_the_next_is_another(seated: Collection, collection_name: str) -> None:
    """Its end is said once; what is done afterwards is of a new sitting, which undo reaches."""
    desk = seated.desk("ann")
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
    seated: Collection, collection_name: str, when: When
) -> None:
    """What is decided is of a sitting that is there, however often sitting down failed before."""
    desk = seated.desk("ann")
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
