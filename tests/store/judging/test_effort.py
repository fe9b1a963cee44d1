"""Effort: which times count, where, and what is not known of imported grades."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store.collection import Collection
from store.judging.events import Effort, recent_active_ms
from store.records import Action, Document, JudgeKind, Qrel, State, Task
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, reading

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with two judges and a pool of two topics."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    manifest = {"strategy": "depth", "out_order": "priority"}
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}, manifest=manifest))
    return collection


class Clocked(JudgeAtWork):
    """A judge whose every event has times; a showing begins with `show`."""

    shown_at = datetime(2026, 1, 1, tzinfo=UTC)

    def show(self) -> None:
        """Show a document."""
        self.shown_at += timedelta(minutes=1)

    def do(self, docno: str, action: Action, seconds: float, **fields: Any) -> Task:
        """Act so many active seconds after the document was shown; it was on twice as long."""
        times = {"active_ms": round(seconds * 1000), "dwell_ms": round(seconds * 2000)}
        return self.act(docno, action, shown_at=self.shown_at, **times, **fields)

    def decide(self, docno: str, seconds: float, grade: int = 1, **fields: Any) -> Task:
        """Show a document and grade it."""
        self.show()
        return self.do(docno, Action.JUDGE, seconds, grade=grade, **fields)


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> Clocked:
    """Sit down."""
    return Clocked(collection.desk(judge), topic)


def effort_of(collection: Collection, judge: str = "ann") -> Effort:
    """Return one judge's effort."""
    [found] = [one for one in collection.progress.effort() if one.judge == judge]
    return found


def recent(name: str, judge: int = 1, limit: int = 100) -> list[int]:
    """Return a judge's latest times."""
    with engine_of(name) as engine, reading(engine) as session:
        return recent_active_ms(session, judge=judge, limit=limit)


@pytest.mark.slow
def test_every_decision_has_its_times(ready: Collection, collection_name: str) -> None:
    """Documents come in the order of the first decision, with dwell and active time."""
    ann = sit(ready)
    ann.decide("b", 4, grade=2)
    ann.decide("a", 10.5, dropped_keys=3)
    ann.show()
    ann.do("c", Action.CANNOT, 1, reason="no text", dropped_keys=1)
    ann.desk.leave()
    sit(ready, topic="2").decide("a", 2)
    found = effort_of(ready)
    assert [
        (one.topic, one.docno, one.state, one.grade, one.dwell_ms, one.active_ms) for one in found.documents
    ] == [
        ("1", "b", State.JUDGED, 2, 8000, 4000),
        ("1", "a", State.JUDGED, 1, 21_000, 10_500),
        ("1", "c", State.CANNOT, None, 2000, 1000),
        ("2", "a", State.JUDGED, 1, 4000, 2000),
    ]
    assert (found.sittings, found.active_ms, found.dropped_keys) == (2, 17_500, 4)
    assert (found.undone, found.elsewhere, found.kind) == (0, 0, HUMAN)
    assert recent(collection_name) == [4000, 10_500, 1000, 2000]
    assert recent(collection_name, limit=2) == [1000, 2000]
    assert [one.judge for one in ready.progress.effort()] == ["ann"]


def test_note_and_grade_of_one_showing_count_once(ready: Collection, collection_name: str) -> None:
    """Times run from the beginning of the showing: the last one has those before in it."""
    ann = sit(ready)
    ann.show()
    ann.do("a", Action.NOTE, 5, note="odd")
    ann.do("a", Action.JUDGE, 8, grade=0)
    ann.do("a", Action.NOTE, 11, note="very odd")
    [document] = effort_of(ready).documents
    assert (document.active_ms, document.dwell_ms) == (11_000, 16_000)
    assert effort_of(ready).active_ms == 11_000
    assert recent(collection_name) == [11_000]


def test_undone_decision_costs_its_time_but_has_no_dwell(ready: Collection, collection_name: str) -> None:
    """What was taken back was spent; the dwell is that of the decision that stands."""
    ann = sit(ready)
    ann.decide("a", 6)
    ann.undo()
    ann.decide("b", 1)
    ann.undo()
    ann.decide("a", 2)
    found = effort_of(ready)
    [document] = found.documents
    assert (document.docno, document.active_ms, document.dwell_ms) == ("a", 8000, 4000)
    assert (found.active_ms, found.undone) == (9000, 2)
    assert recent(collection_name) == [8000]


def test_undone_correction_brings_back_the_dwell_of_the_first(ready: Collection) -> None:
    """A second grade that is taken back leaves the first one's dwell, and its time spent."""
    ann = sit(ready)
    ann.decide("a", 6, grade=2)
    ann.decide("a", 1, grade=0)
    ann.undo()
    [document] = effort_of(ready).documents
    assert (document.grade, document.dwell_ms, document.active_ms) == (2, 12_000, 7000)


def test_skipped_documents_are_decided_later(ready: Collection, collection_name: str) -> None:
    """A skip is no decision; its time counts once the document is judged."""
    ann = sit(ready)
    ann.show()
    ann.do("a", Action.SKIP, 3)
    assert effort_of(ready).documents == ()
    assert effort_of(ready).active_ms == 3000
    assert recent(collection_name) == []
    ann.decide("b", 5)
    ann.decide("a", 4)
    assert [one.docno for one in effort_of(ready).documents] == ["b", "a"]
    assert recent(collection_name) == [5000, 7000]


def test_correction_keeps_the_first_place(ready: Collection, collection_name: str) -> None:
    """A grade changed later stays at the place of the first; as a decision it is the newest."""
    ann = sit(ready)
    ann.decide("a", 1, grade=0)
    ann.decide("b", 2)
    ann.decide("a", 3, grade=2)
    found = effort_of(ready).documents
    assert [(one.docno, one.grade, one.dwell_ms) for one in found] == [("a", 2, 6000), ("b", 1, 4000)]
    assert recent(collection_name) == [2000, 4000]


def test_imported_grades_have_no_times(ready: Collection, collection_name: str) -> None:
    """Of imports only the count is known, also where the judge sits down as well."""
    ready.judgements.add({"ann": [Qrel("1", "a", 1), Qrel("1", "b", 1), Qrel("1", "c", 2)]}, HUMAN)
    ready.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    gpt = effort_of(ready, "gpt")
    assert gpt == Effort("gpt", JudgeKind.MODEL, 0, None, 0, 0, 1, ())
    ann = sit(ready)
    ann.decide("a", 2)
    ann.show()
    ann.do("b", Action.NOTE, 9, note="imported, and noted")
    found = effort_of(ready)
    assert [one.docno for one in found.documents] == ["a"]
    assert (found.elsewhere, found.sittings, found.active_ms) == (2, 1, 11_000)
    assert recent(collection_name) == [2000]
    assert recent(collection_name, judge=3) == []


def test_untimed_decisions_have_no_time(ready: Collection, collection_name: str) -> None:
    """A decision without times is one, and its time is not 0."""
    sit(ready).grade("a", 1)
    found = effort_of(ready)
    [document] = found.documents
    assert (document.dwell_ms, document.active_ms, found.active_ms) == (None, None, None)
    assert recent(collection_name) == []


def test_judging_again_begins_anew(ready: Collection, collection_name: str) -> None:
    """A document judged again after it was reopened is another decision."""
    ready.documents.add([Document("a", text="one")])
    ann = sit(ready)
    ann.decide("a", 5, grade=2)
    ann.decide("b", 3)
    ready.documents.add([Document("a", text="two")], replace=True)
    assert len(ready.rejudging.reopen()) == 1
    assert [one.docno for one in effort_of(ready).documents] == ["b"]
    assert recent(collection_name) == [5000, 3000]
    ann.look()
    ann.decide("a", 2, grade=0)
    found = effort_of(ready)
    assert [(one.docno, one.active_ms) for one in found.documents] == [("b", 3000), ("a", 2000)]
    assert found.active_ms == 10_000
    assert recent(collection_name) == [5000, 3000, 2000]


def test_judges_are_told_apart(ready: Collection, collection_name: str) -> None:
    """Nobody's time counts for another."""
    sit(ready).decide("a", 5)
    sit(ready, "bob").decide("a", 7)
    assert [(one.judge, one.active_ms) for one in ready.progress.effort()] == [("ann", 5000), ("bob", 7000)]
    assert recent(collection_name, judge=2) == [7000]
    assert ready.progress.recent_times(limit=9) == {"ann": [5000], "bob": [7000]}


def test_old_events_need_not_be_read(ready: Collection, collection_name: str) -> None:
    """Reading a part of a long history, what was undone further back is no decision."""
    ann = sit(ready)
    ann.decide("a", 5, grade=0)
    ann.decide("a", 6, grade=1)
    ann.undo()
    change_stored(collection_name, "DELETE FROM judgement WHERE revision = 1")
    assert recent(collection_name) == []
