"""Whole histories: out of a collection and into another, event by event."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import ConflictError, UnknownNameError
from store.event import JudgementEvent
from store.records import Action, Document, ImportReport, JudgeKind, Passage, Qrel, State
from tests.helpers.world import JudgeAtWork, bring, make_pool, parse_scale


def work(collection: Collection) -> None:
    """Let two judges judge three documents; one of them changes her mind."""
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["a"]}))
    collection.documents.add([Document("a", "A", "see here")])
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    ann = JudgeAtWork(collection.desk("ann"), "1")
    ann.grade("a", 2)
    ann.act("b", Action.SKIP)
    bob = JudgeAtWork(collection.desk("bob"), "2")
    bob.act("a", Action.CANNOT, reason="torn", note="page 3")
    ann.act("a", Action.MARK, passages=(Passage(4, 4, "here"),))
    ann.undo()
    ann.undo()


def test_events_come_in_the_order_in_which_they_were_made(collection: Collection) -> None:
    """Every event is there once, whole, undo with the revision it takes back."""
    work(collection)
    events = list(collection.judgements.history())
    facts = [(e.topic, e.docno, e.judge, e.revision, e.action, e.undoes, e.state, e.grade)
             for e in events]  # fmt: skip
    judged, skipped, unjudged = State.JUDGED, State.SKIPPED, State.UNJUDGED
    assert facts == [
        ("1", "a", "ann", 1, Action.JUDGE, None, judged, 2),
        ("1", "b", "ann", 1, Action.SKIP, None, skipped, None),
        ("2", "a", "bob", 1, Action.CANNOT, None, State.CANNOT, None),
        ("1", "a", "ann", 2, Action.MARK, None, judged, 2),
        ("1", "a", "ann", 3, Action.UNDO, 2, judged, 2),
        ("1", "b", "ann", 2, Action.UNDO, 1, unjudged, None),
    ]
    assert [event.sitting for event in events] == [1, 1, 2, 1, 1, 1]
    assert events[3].passages == (Passage(4, 4, "here"),)
    assert events[4].passages == ()
    assert (events[2].reason, events[2].note) == ("torn", "page 3")
    assert list(collection.judgements.history(["bob"])) == [events[2]]
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        list(collection.judgements.history(["eve"]))


@pytest.fixture
def other(tmp_path: Path) -> Collection:
    """Make a second collection with the same judges."""
    scale = parse_scale("0-2")
    made = Collection.create(str(tmp_path / "other.db"), name="y", scale=scale, program="y")
    for judge in ("ann", "bob"):
        made.judges.add(judge, JudgeKind.HUMAN)
    return made


def bare(events: list[JudgementEvent]) -> list[JudgementEvent]:
    """Return events without their sittings."""
    return [replace(event, sitting=None) for event in events]


def test_histories_are_appended_once(collection: Collection, other: Collection) -> None:
    """What already exists is counted and not written again; what is new follows it."""
    work(collection)
    events = list(collection.judgements.history())
    assert bring(other, events[:4]) == ImportReport(added=4)
    assert bring(other, events) == ImportReport(added=2, unchanged=4)
    assert list(other.judgements.history()) == bare(events)
    assert bring(other, events) == ImportReport(unchanged=6)
    other.close()


def test_many_events_keep_their_links(other: Collection, tmp_path: Path) -> None:
    """An undo finds what it takes back, however many events lie between the two."""
    other.judgements.add({"ann": [Qrel("1", f"d{n}", 1) for n in range(2500)]}, JudgeKind.HUMAN)
    events = list(other.judgements.history())
    undo = replace(events[0], revision=2, action=Action.UNDO, undoes=1, state=State.UNJUDGED,
                   grade=None, judged_at=events[0].judged_at + timedelta(hours=1))  # fmt: skip
    where = str(tmp_path / "fresh.db")
    with Collection.create(where, name="z", scale=other.scale, program="z") as fresh:
        fresh.judges.add("ann", JudgeKind.HUMAN)
        assert bring(fresh, [*events, undo]) == ImportReport(added=2501)
        assert list(fresh.judgements.history()) == [*events, undo]
    other.close()


def test_contradiction_is_a_conflict(collection: Collection, other: Collection) -> None:
    """Another event at the same revision, or a gap, is refused and leaves nothing."""
    work(collection)
    events = list(collection.judgements.history())
    bring(other, events[:1])
    with pytest.raises(ConflictError, match="docno `a` judge `ann`: revision 1 is there otherwise"):
        bring(other, [events[1], replace(events[0], grade=1)])
    with pytest.raises(ConflictError, match="expected revision 2, got 3"):
        bring(other, [events[1], events[4]])
    assert list(other.judgements.history()) == bare(events[:1])
    other.close()
