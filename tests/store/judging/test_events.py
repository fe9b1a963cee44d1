"""What a judge is shown of his or her own doings."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.records import Action, JudgeKind, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, make_pool


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics that share a document, and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "bc"}))
    return collection


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> JudgeAtWork:
    """Sit a judge down."""
    return JudgeAtWork(collection.desk(judge), topic)


def test_events_are_of_this_sitting_and_the_newest_comes_first(ready: Collection) -> None:
    """Another sitting of the same judge, and another judge, are left out."""
    first, second, bob = sit(ready), sit(ready), sit(ready, "bob")
    assert first.desk.events() == []
    first.grade("a", 1)
    second.grade("b", 2)
    bob.grade("a", 0)
    first.act("a", Action.NOTE, note="see\x1b[2J")
    other = sit(ready, topic="2")
    other.desk = first.desk
    other.look()
    other.act("b", Action.CANNOT, reason="odd\nreason")
    assert [(one.topic, one.docno, one.action, one.revision) for one in first.desk.events()] == [
        ("2", "b", Action.CANNOT, 1),
        ("1", "a", Action.NOTE, 2),
        ("1", "a", Action.JUDGE, 1),
    ]
    newest, note, grade = first.desk.events()
    assert (newest.state, newest.reason) == (State.CANNOT, "odd reason")
    assert (note.state, note.grade, note.note) == (State.JUDGED, 1, "see␛[2J")
    assert (grade.note, grade.is_here, grade.is_undone) == ("", True, False)
    assert [one.docno for one in second.desk.events()] == ["b"]
    assert [one.grade for one in bob.desk.events()] == [0]


def test_events_of_a_document_are_of_every_sitting_of_the_judge(ready: Collection) -> None:
    """What was done elsewhere, and what was imported, is there, and said to be."""
    by_judge = {"ann": [Qrel("1", "a", 0)], "bob": [Qrel("1", "a", 2)]}
    ready.judgements.add(by_judge, JudgeKind.HUMAN)
    first, second = sit(ready), sit(ready)
    first.grade("a", 1)
    second.look()
    second.grade("a", 2)
    events = second.desk.events_of("1", "a")
    assert [(one.grade, one.revision, one.is_here, bool(one.host)) for one in events] == [
        (2, 3, True, True),
        (1, 2, False, True),
        (0, 1, False, False),
    ]
    assert second.desk.events_of("2", "a") == []
    assert second.desk.events_of("1", "nowhere") == []


def test_undone_events_say_so(ready: Collection) -> None:
    """An undo marks the event it takes back, and no other."""
    sitting = sit(ready)
    sitting.grade("a", 1)
    sitting.grade("a", 2)
    sitting.undo()
    undo, second, first = sitting.desk.events()
    assert [one.is_undone for one in (undo, second, first)] == [False, True, False]
    assert (undo.action, undo.state, undo.grade) == (Action.UNDO, State.JUDGED, 1)
    sitting.undo()
    assert [one.is_undone for one in sitting.desk.events()] == [False, False, True, True]


def test_undone_in_the_other_topic_is_not_undone_here(ready: Collection) -> None:
    """The same document in another topic keeps its event."""
    one = sit(ready)
    one.grade("b", 1)
    two = sit(ready, topic="2")
    two.desk = one.desk
    two.look()
    two.grade("b", 2)
    one.undo()
    assert [event.is_undone for event in one.desk.events_of("1", "b")] == [False]
    assert [event.is_undone for event in one.desk.events_of("2", "b")] == [False, True]
