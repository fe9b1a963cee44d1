"""The desk: what a judge sees, what is written, passages, what undo takes back, and what stays unseen."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.collection import Collection
from store.content.documents import document_sha256
from store.db.engine import reading
from store.db.tables import JUDGEMENT
from store.errors import ArgumentError, ConflictError, StoreError, UnknownNameError
from store.formats.markup import readable
from store.judging.events import as_raw, as_shown, fetch_passages
from store.records import (
    Action,
    Decision,
    Document,
    InboxLine,
    JudgeKind,
    Passage,
    Qrel,
    ShownDocument,
    State,
    Task,
    Topic,
)
from store.text import sanitise
from tests.helpers.drawing import adaptive_pool, ends
from tests.helpers.places import held_place
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    make_pool,
    make_run,
    meanwhile,
    named_rows,
    new_collection,
    statements,
    stored_rows,
)

HUMAN = JudgeKind.HUMAN
StateCounts = tuple[State, int | None, str, str]
COLUMNS = [column.name for column in JUDGEMENT.columns]


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with two judges and a pool shown in the order c, a, b."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    collection.topics.add([Topic("1", "wine")])
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0), ("c", 0.5)]}))
    manifest = {"strategy": "depth", "out_order": "priority"}
    pool = make_pool({"1": ["c", "a", "b"]}, manifest=manifest, round="3", run_tags=("bm25",))
    collection.pools.add(pool)
    collection.documents.add([Document("a", "A", "text of a")])
    return collection


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> JudgeAtWork:
    """Sit down at a desk of one's own."""
    return JudgeAtWork(collection.desk(judge, program="test 1"), topic)


def document_states(task: Task | None) -> StateCounts:
    """Give state, grade, note and reason."""
    assert task is not None
    return task.state, task.grade, task.note, task.reason


def test_queue_is_laid_as_the_pool_says(ready: Collection) -> None:
    """Documents come by position; those of a later pool follow; a document comes once."""
    ready.pools.add(make_pool({"1": ["z", "a", "d"]}, name="second", manifest={}))
    queue = ready.desk("ann").queue("1")
    assert [task.docno for task in queue] == ["c", "a", "b", "z", "d"]
    assert queue[0] == Task("c", State.UNJUDGED, None, "", "", 0)


def test_inbox_counts_this_judges_states(ready: Collection) -> None:
    """Topics come in natural order with this judge's counts alone."""
    ready.topics.add([Topic("10", "ten"), Topic("9", "nine\x1b[2J\nlines"), Topic("5", "no pool")])
    ready.pools.add(make_pool({"10": ["a"], "9": ["b", "c"]}, name="second", manifest={}))
    ready.judgements.add({"bob": [Qrel("9", "b", 1), Qrel("10", "a", 2)]}, HUMAN)
    sitting = sit(ready)
    sitting.grade("a", 0)
    sitting.act("b", Action.SKIP)
    sitting.act("c", Action.CANNOT, reason="x")
    one, nine, ten = sitting.desk.inbox()
    assert one.last_judged_at is not None
    assert one == InboxLine("1", "wine", 3, 1, 1, 1, one.last_judged_at)
    assert nine == InboxLine("9", "nine␛[2J lines", 2, 0, 0, 0, None)
    assert ten == InboxLine("10", "ten", 1, 0, 0, 0, None)
    ready.judgements.add({"bob": [Qrel("1", "z", 1), Qrel("7", "a", 1)]}, HUMAN)  # outside the queue
    assert ready.desk("bob").inbox()[0] == InboxLine("1", "wine", 3, 0, 0, 0, None)


def test_idle_is_who_has_an_empty_inbox(ready: Collection, collection_name: str) -> None:
    """A pool, a place, and what may be drawn are work; a withdrawn pool is none."""
    desks = ready.desk("ann"), ready.desk("bob")

    def idle() -> list[bool]:
        found = [desk.is_idle() for desk in desks]
        assert found == [not desk.inbox() for desk in desks]
        return found

    assert idle() == [False, False]
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE")
    assert idle() == [True, True]
    ready.pools.add(adaptive_pool({"1": "xyz"}, 2))
    assert idle() == [False, False]
    change_stored(collection_name, "UPDATE pool SET withdrawn = (name = 'live')")
    held_place(collection_name, "1", "a", "ann")
    assert idle() == [False, True]


def test_undrawn_counts_what_adaptive_pools_may_still_draw(ready: Collection) -> None:
    """Each pool may draw up to its budget; each draw counts one less, by topic."""
    desk = ready.desk("ann")
    assert desk.undrawn("1") == 0
    with pytest.raises(UnknownNameError, match="unknown topic `none`"):
        desk.undrawn("none")
    ready.pools.add(adaptive_pool({"1": "xyz", "2": "xy"}, 2))
    ready.pools.add(adaptive_pool({"2": "xz"}, 1, name="second"))
    assert (desk.undrawn("1"), desk.undrawn("2")) == (2, 3)
    assert ready.pools.draw("live", "2", ends("xy")) == "x"
    assert (desk.undrawn("1"), desk.undrawn("2")) == (2, 2)
    assert ready.pools.draw("second", "2", ends("xz")) == "x"
    assert ready.pools.draw("live", "2", ends("xy")) == "y"
    assert (desk.undrawn("1"), desk.undrawn("2")) == (2, 0)
    assert ready.desk("bob").undrawn("1") == 2


def test_drawn_documents_follow_in_the_order_they_were_drawn(ready: Collection) -> None:
    """The queue has what was drawn, not what may be; a document of another pool comes once."""
    ready.pools.add(adaptive_pool({"1": "abxyz"}, 4))
    strategy = ends("abxyz")
    for expected in ("a", "z", "y"):
        assert ready.pools.draw("live", "1", strategy) == expected
    queue = ready.desk("ann").queue("1")
    assert [task.docno for task in queue] == ["c", "a", "b", "z", "y"]


def test_what_is_shown_cannot_steer_a_terminal(collection: Collection) -> None:
    """Titles, topics and documents are sanitised for display and stay raw in the store."""
    raw = "a\x1b]0;owned\x07\u202e\0\ud800\r\nb"
    collection.topics.add([Topic("1", raw, raw, raw)])
    collection.pools.add(make_pool({"1": ["d"]}))
    collection.documents.add([Document("d", raw, raw)])
    collection.judges.add("ann", HUMAN)
    desk = collection.desk("ann")
    clean = "a␛]0;owned␇\ufffd␀\ufffd\nb"
    line = clean.replace("\n", " ")
    assert desk.topic("1") == Topic("1", line, clean, clean)
    assert desk.page("d") == ShownDocument("d", line, clean)
    assert desk.inbox()[0].title == line
    assert collection.documents.get("d") == Document("d", raw, raw)


def test_missing_text_is_not_an_empty_text(ready: Collection) -> None:
    """A page says when the text is not in the collection."""
    ready.documents.add([Document("b", "B", "")])
    desk = ready.desk("ann")
    assert desk.page("b") == ShownDocument("b", "B", "")
    assert desk.page("c") == ShownDocument("c", "", None)
    assert desk.page("nowhere") == ShownDocument("nowhere", "", None)


def test_every_action_has_its_state(ready: Collection) -> None:
    """Five actions and what a document is after each of them."""
    sitting = sit(ready)
    assert document_states(sitting.act("a", Action.NOTE, note="n")) == (State.UNJUDGED, None, "n", "")
    assert document_states(sitting.grade("a", 0)) == (State.JUDGED, 0, "n", "")
    assert document_states(sitting.grade("a", 2)) == (State.JUDGED, 2, "n", "")
    assert document_states(sitting.act("a", Action.NOTE, note="m")) == (State.JUDGED, 2, "m", "")
    assert document_states(sitting.act("a", Action.SKIP)) == (State.SKIPPED, None, "m", "")
    assert document_states(sitting.act("a", Action.CANNOT, reason="torn\0")) == (
        State.CANNOT,
        None,
        "m",
        "torn\0",
    )
    assert document_states(sitting.act("a", Action.NOTE, note="")) == (State.CANNOT, None, "", "torn\0")
    assert document_states(sitting.grade("a", 1)) == (State.JUDGED, 1, "", "")
    assert sitting.tasks["a"].revision == 8
    assert sitting.look()[1] == sitting.tasks["a"]


def test_impossible_decisions_write_nothing(ready: Collection, collection_name: str) -> None:
    """A grade off the scale, no grade, or an undo that names no event is refused."""
    sitting = sit(ready)
    sitting.grade("b", 1)
    before = stored_rows(collection_name)
    for grade in (3, -1, None):
        with pytest.raises(UnknownNameError, match=f"unknown grade `{grade}`; known: "):
            sitting.act("a", Action.JUDGE, grade=grade)
    for action in (Action.UNDO, Action.REOPEN):
        with pytest.raises(StoreError, match=f"`{action}` is not a decision"):
            sitting.act("a", action)
    assert stored_rows(collection_name) == before
    assert sitting.undo() is not None


def test_event_says_how_it_came_about(ready: Collection, collection_name: str) -> None:
    """Each row holds the whole state and its circumstances."""
    change_stored(
        collection_name,
        "INSERT INTO guideline (version, text, created_at)"
        " VALUES (1, '', '2001-01-01'), (4, '', '2001-01-01')",
    )
    shown = datetime(2001, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
    sitting = sit(ready)
    before = datetime.now(UTC)
    sitting.act(
        "a", Action.JUDGE, grade=2, note="n", position=1, shown_at=shown, dwell_ms=1500,
        active_ms=1200, dropped_keys=3,
    )  # fmt: skip
    sitting.undo()
    after = datetime.now(UTC)
    found = named_rows(collection_name, "judgement")
    judged_at = []
    for event in found:
        assert event.pop("digest") is not None
        moment = event.pop("judged_at")
        moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        judged_at.append(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
    assert before <= judged_at[0] <= judged_at[1] <= after
    (shown_at,) = {str(event.pop("shown_at"))[:26] for event in found[:1]}
    assert shown_at == "2001-02-03 04:05:06.000789"
    sha256 = document_sha256(Document("a", "A", "text of a"))
    same = {
        "topic_id": 1, "document_id": found[0]["document_id"], "judge_id": 1, "iteration": "3",
        "display_order": "priority", "order_seed": None, "position": 1, "guideline_version": 4,
        "document_sha256": sha256, "sitting_id": 1, "reason": b"", "topic_version": 1, "view": None,
    }  # fmt: skip
    first = {
        "id": 1, "revision": 1, "action": "judge", "undoes": None, "state": "judged", "grade": 2,
        "note": b"n", "dwell_ms": 1500, "active_ms": 1200, "dropped_keys": 3,
    }  # fmt: skip
    second = {
        "id": 2, "revision": 2, "action": "undo", "undoes": 1, "state": "unjudged", "grade": None,
        "note": b"", "dwell_ms": None, "active_ms": None, "dropped_keys": 0, "shown_at": None,
    }  # fmt: skip
    assert found == [same | first, same | second]
    assert {*same, *first, "shown_at", "judged_at", "digest"} == set(COLUMNS)
    ((_, judge, *_, host, process, program, _, _, _),) = stored_rows(collection_name)["sitting"]
    assert (judge, process, program) == (1, os.getpid(), "test 1")
    assert host


def test_moment_of_another_zone_is_the_same_moment(ready: Collection, collection_name: str) -> None:
    """Moments are stored in UTC, whatever zone they were told in."""
    shown = datetime(2001, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=9)))
    sit(ready).act("a", Action.JUDGE, grade=1, shown_at=shown)
    (event,) = named_rows(collection_name, "judgement")
    assert str(event["shown_at"])[:19] == "2001-02-02 19:05:06"


def test_undo_is_of_this_sitting_alone(ready: Collection) -> None:
    """Neither an earlier sitting's nor another judge's events are taken back."""
    first = sit(ready)
    first.grade("a", 1)
    first.desk.leave()
    assert first.undo() is None
    other = sit(ready, "bob")
    other.grade("a", 2)
    second = sit(ready)
    assert second.undo() is None
    second.grade("b", 1)
    assert second.undo() is not None
    assert second.undo() is None
    tasks = {task.docno: task for task in second.look()}
    assert (tasks["a"].grade, tasks["b"].state) == (1, State.UNJUDGED)
    assert other.look()[1].grade == 2


def test_undo_restores_the_iteration(ready: Collection) -> None:
    """A grade of an earlier round is that round's again after undo; a note does not move it."""
    ready.judgements.add({"ann": [Qrel("1", "a", 2, "1")]}, HUMAN)
    sitting = sit(ready)

    def iteration() -> tuple[int | None, str]:
        (one,) = [one for one in ready.judgements.current(["ann"]) if one.docno == "a"]
        return one.grade, one.iteration

    sitting.act("a", Action.NOTE, note="hm")
    assert iteration() == (2, "1")
    sitting.grade("a", 0)
    assert iteration() == (0, "3")
    sitting.undo()
    assert iteration() == (2, "1")
    sitting.undo()
    assert iteration() == (2, "1")


def test_random_work_and_undo_equal_a_plain_history(ready: Collection) -> None:
    """Over a long random sitting every document stands as a plain list of states says."""
    dice = random.Random(3)
    sitting = sit(ready)
    states: dict[str, StateCounts] = dict.fromkeys("abc", (State.UNJUDGED, None, "", ""))
    before: list[tuple[str, StateCounts]] = []
    for _ in range(120):
        docno = dice.choice("abc")
        _, _, note, _ = old = states[docno]
        grade = dice.randrange(3)
        if dice.random() < 0.45:
            undone = sitting.undo()
            if not before:
                assert undone is None
                continue
            docno, state = before.pop()
            states[docno] = state
            assert undone is not None
            assert undone.docno == docno
        else:
            before.append((docno, old))
            match dice.randrange(4):
                case 0:
                    sitting.grade(docno, grade)
                    states[docno] = (State.JUDGED, grade, note, "")
                case 1:
                    sitting.act(docno, Action.SKIP)
                    states[docno] = (State.SKIPPED, None, note, "")
                case 2:
                    sitting.act(docno, Action.CANNOT, reason=str(grade), note="why")
                    states[docno] = (State.CANNOT, None, "why", str(grade))
                case _:
                    sitting.act(docno, Action.NOTE, note=f"note {grade}")
                    states[docno] = (old[0], old[1], f"note {grade}", old[3])
        assert document_states(sitting.tasks[docno]) == states[docno]
    assert {task.docno: document_states(task) for task in sitting.look()} == states


def test_same_judge_elsewhere_is_a_conflict(ready: Collection, collection_name: str) -> None:
    """What was decided on a screen that is out of date is not written; a fresh look helps."""
    first, second = sit(ready), sit(ready)
    first.grade("a", 1)
    second.grade("b", 1)
    before = stored_rows(collection_name)
    for action in (Action.SKIP, Action.CANNOT, Action.NOTE):
        with pytest.raises(ConflictError, match="judged under the same name somewhere else"):
            second.act("a", action, note="x")
    with pytest.raises(ConflictError, match="judged under the same name somewhere else"):
        second.grade("a", 2)
    future = Decision("1", "a", Action.JUDGE, grade=2, seen_revision=7)
    with pytest.raises(ConflictError):
        second.desk.record(future)
    assert stored_rows(collection_name) == before
    second.look()
    assert second.grade("a", 2).revision == 2


def test_undo_under_another_sitting_is_a_conflict(ready: Collection, collection_name: str) -> None:
    """Undo never takes away what the same judge decided elsewhere afterwards."""
    first, second = sit(ready), sit(ready)
    first.grade("a", 1)
    second.look()
    second.grade("a", 2)
    before = stored_rows(collection_name)
    for _ in range(2):
        with pytest.raises(ConflictError, match="judged under the same name somewhere else"):
            first.undo()
    assert stored_rows(collection_name) == before
    ready.judgements.add({"ann": [Qrel("1", "b", 1)]}, HUMAN)
    assert document_states(second.undo()) == (State.JUDGED, 1, "", "")


@pytest.mark.parametrize("act", ["record", "undo"])
def test_event_between_look_and_write_is_a_conflict(postgres_url: str, act: str) -> None:
    """The same judge's event that comes in between reading and writing is never overwritten."""
    with new_collection(postgres_url) as made:
        made.judges.add("ann", HUMAN)
        made.pools.add(make_pool({"1": ["a"]}))
        first, second = sit(made), sit(made)
        first.grade("a", 1)
        second.look()
        second.desk._sit()
        late = first.undo if act == "undo" else lambda: first.grade("a", 0)
        # The guideline's version is read after the judge's own events.
        early = meanwhile("FROM guideline", lambda: second.grade("a", 2))
        with early, pytest.raises(ConflictError):
            late()
        (one,) = made.judgements.current()
        assert (one.grade, one.revision) == (2, 2)


FORBIDDEN = re.compile(
    r"\b(runs?|rankings?|pool_run|manifest|scores?|ranks?|priority|stratum"
    r"|inclusion_probability|purpose|sha256_of_run|kind)\b"
)
TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+\"?(\w+)")


def test_desk_is_blind(ready: Collection) -> None:
    """No statement of a desk names runs, ranks, scores or plans, or reads others' judgements."""
    ready.judgements.add({"bob": [Qrel("1", docno, 2) for docno in "abc"]}, HUMAN)
    ready.pools.add(adaptive_pool({"1": "xyz"}, 2))
    with statements() as sent:
        sitting = sit(ready)
        desk = sitting.desk
        desk.inbox()
        desk.topic("1")
        desk.undrawn("1")
        for docno in "abc":
            desk.page(docno)
            sitting.grade(docno, 1)
        sitting.act("a", Action.NOTE, note="n")
        sitting.act("b", Action.SKIP)
        sitting.act("c", Action.CANNOT, reason="r")
        while sitting.undo():
            pass
        with pytest.raises(ConflictError):
            desk.record(Decision("1", "a", Action.SKIP, seen_revision=99))
        desk.inbox()
        tasks = desk.queue("1")
        desk.leave()
    assert all(task.state is State.UNJUDGED for task in tasks)
    assert len(sent) > 50
    tables = set()
    for statement, _ in sent:
        assert not FORBIDDEN.search(statement), statement
        tables |= set(TABLES.findall(statement)) - {"pragma_function_list", "OF"}
        reads = len(re.findall(r"(?:FROM|JOIN) judgement\b", statement))
        own = len(re.findall(r"judgement\.judge_id (?:=|IN) ", statement))
        assert reads <= own, statement
    seen = {"topic", "document", "pool", "pool_entry", "pool_topic", "judge", "judgement", "digest"}
    seen |= {"assignment", "assignment_plan", "sitting", "guideline", "passage", "document_metadata"}
    assert tables - {"sqlite_master"} == seen


def test_undo_that_names_what_it_takes_back_is_done_once(ready: Collection) -> None:
    """Sent again after its answer was lost; another event than the latest is a conflict."""
    sitting = sit(ready)
    sitting.grade("a", 1)
    sitting.grade("b", 2)
    for _ in range(2):
        undone = sitting.desk.undo(of=("1", "b", 1))
        assert undone is not None
        assert (undone.task.state, undone.task.revision) == (State.UNJUDGED, 2)
    with pytest.raises(ConflictError, match="something else was done here since"):
        sitting.desk.undo(of=("1", "b", 2))
    assert len(sitting.desk.events()) == 3


def test_window_goes_on_in_its_sitting_until_it_ends(ready: Collection) -> None:
    """Taken up by another process; a page that is open twice does not decide over itself unseen."""
    window = "0123456789abcdef"
    first, second = ready.desk("ann"), ready.desk("ann")
    first.sit_at(window)
    assert first.has_in_queue("1", "a")
    assert not first.has_in_queue("1", "nowhere")
    decision = Decision("1", "a", Action.JUDGE, grade=1)
    first.record(decision, is_strict=True)
    second.sit_at(window)
    assert second.has_in_queue("1", "a")
    assert second.record(decision, is_strict=True).revision == 1
    with pytest.raises(ConflictError):
        second.record(replace(decision, grade=2), is_strict=True)
    assert [one.is_here for one in second.events()] == [True]
    second.leave()
    third = ready.desk("ann")
    third.sit_at(window)
    assert third.events() == []


def test_desk_has_no_door_to_the_rest(ready: Collection) -> None:
    """The public face of a desk is these words and no others."""
    desk = ready.desk("ann")
    public = {name for name in dir(desk) if not name.startswith("_")}
    words = "inbox judge judge_name leave page queue record scale topic undo undrawn"
    words += " claim claimable record_and_undo events events_of recent_active_ms guidelines"
    words += " shown_versions is_idle has_seen_guidelines beat live_elsewhere titles sample_texts"
    words += " sit_at has_in_queue note_shown topic_version patience_ms"
    assert public == set(words.split())


@pytest.fixture
def shared(collection: Collection) -> Collection:
    """Make two topics that share a document, and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "bc"}))
    return collection


def test_events_are_of_this_sitting_and_the_newest_comes_first(shared: Collection) -> None:
    """Another sitting of the same judge, and another judge, are left out."""
    first, second, bob = sit(shared), sit(shared), sit(shared, "bob")
    assert first.desk.events() == []
    first.grade("a", 1)
    second.grade("b", 2)
    bob.grade("a", 0)
    first.act("a", Action.NOTE, note="see\x1b[2J")
    other = sit(shared, topic="2")
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


def test_events_of_a_document_are_of_every_sitting_of_the_judge(shared: Collection) -> None:
    """What was done elsewhere, and what was imported, is there, and said to be."""
    by_judge = {"ann": [Qrel("1", "a", 0)], "bob": [Qrel("1", "a", 2)]}
    shared.judgements.add(by_judge, JudgeKind.HUMAN)
    first, second = sit(shared), sit(shared)
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


def test_undone_events_say_so(shared: Collection) -> None:
    """An undo marks the event it takes back, and no other."""
    sitting = sit(shared)
    sitting.grade("a", 1)
    sitting.grade("a", 2)
    sitting.undo()
    undo, second, first = sitting.desk.events()
    assert [one.is_undone for one in (undo, second, first)] == [False, True, False]
    assert (undo.action, undo.state, undo.grade) == (Action.UNDO, State.JUDGED, 1)
    sitting.undo()
    assert [one.is_undone for one in sitting.desk.events()] == [False, False, True, True]


def test_undone_in_the_other_topic_is_not_undone_here(shared: Collection) -> None:
    """The same document in another topic keeps its event."""
    one = sit(shared)
    one.grade("b", 1)
    two = sit(shared, topic="2")
    two.desk = one.desk
    two.look()
    two.grade("b", 2)
    one.undo()
    assert [event.is_undone for event in one.desk.events_of("1", "b")] == [False]
    assert [event.is_undone for event in one.desk.events_of("2", "b")] == [False, True]


RAW = "\ufeffA\r\nb\x00c\ud800\r\rd\u202e\u2028e\x1b]0;x\x07 検索\U0001f600.\r"
"""Every kind of character that the screen shows otherwise, or not at all."""
SHOWN = "\ufeffA\nb␀c\ufffdd\ufffd\ne␛]0;x␇ 検索\U0001f600."
Before = Callable[[str], JudgeAtWork]
texts = st.text(st.sampled_from("ab\r\n\t\x00\x9b\ud800\udc00\u202e\u2029検\U0001f600"), max_size=25)


@pytest.fixture
def before(collection: Collection) -> Before:
    """Make document `d` of some text, and sit ann down before it."""
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one")])
    collection.pools.add(make_pool({"1": "de"}))

    def make(text: str) -> JudgeAtWork:
        collection.documents.add([Document("d", "", text)], replace=True)
        return JudgeAtWork(collection.desk("ann"), "1")

    return make


def part(text: str, start: int, end: int) -> Passage:
    """Cut a passage out of a text."""
    return Passage(start, end - start, text[start:end])


def rows(name: str) -> dict[int, list[tuple[int, int, str]]]:
    """Return what is stored, by event: start, length, text."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    for _, event, start, length, marked, *_ in stored_rows(name)["passage"]:
        decoded = bytes(marked).decode("utf-8", "surrogatepass")
        found.setdefault(event, []).append((start, length, decoded))
    return {event: sorted(passages) for event, passages in sorted(found.items())}


@given(texts, st.data())
def test_raw_passage_is_shown_as_it_was_marked(text: str, data: st.DataObject) -> None:
    """What is marked on the screen is stored of the raw text and comes back as it was.

    The raw part is the shortest that the screen shows so: it begins and ends with a character that
    is shown.
    """
    shown = sanitise(text)
    places = st.integers(0, len(shown))
    start, end = sorted((data.draw(places), data.draw(places)))
    marked = part(shown, start, end)
    if start == end:
        with pytest.raises(ArgumentError, match="must be a part of the document"):
            as_raw([marked], readable(text))
        return
    (raw,) = as_raw([marked], readable(text))
    assert raw == part(text, raw.start, raw.end)
    assert sanitise(text[: raw.start]) == shown[:start]
    assert sanitise(raw.text) == shown[start:end]
    assert (raw.text[0], raw.text[-1]) != ("\r", "\r")
    assert raw.text.strip("\r") == raw.text
    assert as_shown([raw], readable(text)) == (marked,)


def test_offsets_counted_by_hand() -> None:
    """Each carriage return before a passage moves it by one; one inside makes it one longer."""
    assert sanitise(RAW) == SHOWN
    # Shown: BOM 0, A 1, newline 2, b 3, NUL picture 4, c 5, surrogate 6, d 7. Raw: A 1, CR 2,
    # newline 3, b 4, NUL 5, c 6, surrogate 7, CR 8, CR 9, d 10.
    assert as_raw([Passage(4, 4, "␀c\ufffdd")], readable(RAW)) == (Passage(5, 6, "\x00c\ud800\r\rd"),)
    assert as_raw([Passage(1, 2, "A\n")], readable(RAW)) == (Passage(1, 3, "A\r\n"),)
    assert as_raw([Passage(0, len(SHOWN), SHOWN)], readable(RAW)) == (Passage(0, len(RAW) - 1, RAW[:-1]),)


def test_several_are_sorted_and_come_once() -> None:
    """The order of marking is not kept, and what is marked twice is marked."""
    b, whole = part("abc", 1, 2), part("abc", 0, 3)
    assert as_raw([b, whole, b], readable("abc")) == (whole, b)


@pytest.mark.parametrize(
    "wrong",
    [
        Passage(0, 0, ""),
        Passage(0, 3, "xyz"),
        Passage(-3, 3, "abc"),
        Passage(-1, 1, "c"),
        Passage(1, 5, "bc"),
        Passage(1, 1, "bc"),
        Passage(3, 1, ""),
        Passage(7, 1, "a"),
        Passage(2, -1, ""),
    ],
)
def test_what_is_not_there_is_refused(wrong: Passage) -> None:
    """A passage that the document does not have where it says is no evidence of anything."""
    with pytest.raises(ArgumentError, match="must be a part of the document"):
        as_raw([wrong], readable("abc"))


def test_hostile_text_is_kept_byte_for_byte(before: Before, collection_name: str) -> None:
    """NUL, lone surrogates and escapes are stored as they are and shown harmless."""
    sitting = before(RAW)
    marked = part(SHOWN, 3, 7), part(SHOWN, SHOWN.index("␛"), len(SHOWN))
    task = sitting.act("d", Action.MARK, passages=marked)
    assert task.passages == marked
    assert (task.state, task.revision) == (State.UNJUDGED, 1)
    start = RAW.index("\x1b")
    assert rows(collection_name) == {
        1: [(4, 4, "b\x00c\ud800"), (start, len(RAW) - 1 - start, RAW[start:-1])]
    }
    assert sitting.desk.queue("1")[0].passages == marked


def test_every_event_carries_the_whole_state(before: Before, collection_name: str) -> None:
    """Grades, notes and skips keep the passages, and undo brings back those before."""
    sitting = before("one two three")
    one, two = part("one two three", 0, 3), part("one two three", 4, 7)
    seen = [
        sitting.act("d", Action.MARK, passages=(one,)).passages,
        sitting.grade("d", 2).passages,
        sitting.act("d", Action.NOTE, note="see there").passages,
        sitting.act("d", Action.MARK, passages=(two, one)).passages,
        sitting.act("d", Action.SKIP).passages,
        sitting.act("d", Action.MARK, passages=()).passages,
        sitting.act("d", Action.CANNOT, reason="x").passages,
    ]
    assert seen == [(one,), (one,), (one,), (one, two), (one, two), (), ()]
    undone = []
    while (task := sitting.undo()) is not None:
        undone.append(task.passages)
    assert undone == [(), (one, two), (one, two), (one,), (one,), (one,), ()]
    stored = rows(collection_name)
    assert [len(stored.get(event, ())) for event in range(1, 15)] == [
        *map(len, seen), *map(len, undone)
    ]  # fmt: skip
    # What a mark keeps: the standing decision and its note.
    sitting.grade("d", 1)
    sitting.act("d", Action.NOTE, note="n")
    task = sitting.act("d", Action.MARK, passages=(two,))
    assert (task.state, task.grade, task.note, task.passages) == (State.JUDGED, 1, "n", (two,))


def test_passages_are_of_their_document_and_judge(
    before: Before, collection: Collection, collection_name: str
) -> None:
    """Another judge of the same document, and another document, have none of them."""
    sitting = before("abc")
    collection.judges.add("bob", JudgeKind.HUMAN)
    collection.documents.add([Document("e", "", "abc")])
    sitting.act("d", Action.MARK, passages=(part("abc", 0, 1),))
    assert sitting.grade("e", 1).passages == ()
    assert [task.passages for task in collection.desk("bob").queue("1")] == [(), ()]
    assert len(stored_rows(collection_name)["passage"]) == 1


def test_replaced_document_hides_what_it_no_longer_has(before: Before, collection_name: str) -> None:
    """A passage whose place holds another text is not shown, and is not lost either."""
    sitting = before("alpha\r\nbeta gamma")
    shown = "alpha\nbeta gamma"
    alpha, beta = part(shown, 0, 5), part(shown, 6, 10)
    sitting.act("d", Action.MARK, passages=(alpha, beta))
    later = before("alpha\r\nzeta gamma")
    assert later.tasks["d"].passages == (alpha,)
    assert later.grade("d", 1).passages == (alpha,)
    assert rows(collection_name)[2] == [(0, 5, "alpha"), (7, 4, "beta")]
    with pytest.raises(ArgumentError, match="must be a part of the document"):
        later.act("d", Action.MARK, passages=(alpha, beta))
    back = before("alpha\r\nbeta gamma")
    assert back.tasks["d"].passages == (alpha, beta)


def test_many_passages_of_many_events(before: Before, collection: Collection) -> None:
    """More events than one statement may name come back, each with its own."""
    sitting = before("x" * 40)
    for number in range(30):
        sitting.act("d", Action.MARK, passages=tuple(part("x" * 40, n, n + 1) for n in range(number)))
    assert len(sitting.look()[0].passages) == 29
    with reading(collection._db.engine) as session:
        found = fetch_passages(session, [*range(-1500, 31)])
    assert {event: len(passages) for event, passages in found.items()} == {n + 1: n for n in range(1, 30)}
