"""The judging state machine on a real collection, with a clock that is set by hand."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_ui.session.messages import goodbye
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.content.documents import document_sha256
from store.content.pools import Choose, Draw
from store.errors import PoolerError, UnknownNameError
from store.records import Document, JudgeKind, Passage, Pool, PoolEntry, State, Topic
from tests.helpers.drawing import Watched, adaptive_pool, ends
from tests.helpers.world import parse_scale
from tests.judge_ui.conftest import ENGLISH, Maker, shown
from tests.strategies import examples

Events = Callable[[], list[dict[str, Any]]]


def sit(collection: Collection, clock: Any, judge: str = "alice", **options: Any) -> JudgingSession:
    """Sit a judge down."""
    return JudgingSession(collection.desk(judge, program="test 1"), clock=clock, **options)


def show(session: JudgingSession, clock: Any, seconds: float = 1.0) -> None:
    """Paint the document and let the judge read."""
    session.mark_shown()
    clock.wait(seconds)


def grade(session: JudgingSession, clock: Any, value: int) -> KeyOutcome:
    """Read the document and grade it."""
    show(session, clock)
    return session.grade(value).outcome


def docno(session: JudgingSession) -> str:
    """Return the docno before the judge."""
    assert session.task is not None
    return session.task.docno


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock of a collection, as another process would."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_topic_opens_at_its_first_document(two_topics: Collection, clock: Any) -> None:
    """A fresh topic opens at the first document of the display order, with nothing decided."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    assert docno(session) == "e0"
    assert (session.progress.total, session.progress.left) == (4, 4)
    assert not session.is_complete


def test_an_unknown_topic_is_refused_and_the_open_one_stays(two_topics: Collection, clock: Any) -> None:
    """Opening what is not there raises and changes nothing."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    with pytest.raises(UnknownNameError, match="unknown topic `99`"):
        session.open_topic("99")
    assert docno(session) == "e0"


def test_a_later_sitting_resumes_at_the_first_document_without_a_decision(
    two_topics: Collection, clock: Any
) -> None:
    """Graded, skipped and impossible documents are not shown again on opening."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    shown(session).skip()
    shown(session).cannot("unreadable")
    session.desk.leave()
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert docno(later) == "e3"
    progress = later.progress
    assert (progress.judged, progress.skipped, progress.cannot, progress.left) == (1, 1, 1, 1)


def test_a_decision_at_the_end_wraps_to_what_was_passed_over(two_topics: Collection, clock: Any) -> None:
    """After the last document comes the first one that has no decision."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    for _ in range(3):
        assert session.go_next()
    assert not session.go_next()
    assert docno(session) == "e3"
    grade(session, clock, 0)
    assert docno(session) == "e0"
    assert not session.go_previous()


def test_the_last_decision_completes_the_topic_and_stays(two_topics: Collection, clock: Any) -> None:
    """With nothing left the document stays, and grade 0 counts as a decision."""
    session = sit(two_topics, clock)
    session.open_topic("0013")
    grade(session, clock, 0)
    grade(session, clock, 0)
    assert session.is_complete
    assert (docno(session), session.progress.judged) == ("j1", 2)


def test_without_advance_a_decision_stays_on_its_document(two_topics: Collection, clock: Any) -> None:
    """With `advance=False` the judge moves on by hand."""
    session = sit(two_topics, clock, advance=False)
    session.open_topic("12")
    assert grade(session, clock, 1) is KeyOutcome.SAVED
    assert docno(session) == "e0"
    assert session.task is not None
    assert session.task.grade == 1


def test_a_key_within_the_dwell_is_dropped_counted_and_stored(
    two_topics: Collection, clock: Any, events: Events
) -> None:
    """Two keys too soon write nothing; the third does, and says that two were dropped."""
    session = sit(two_topics, clock, min_dwell=0.3)
    session.open_topic("12")
    assert session.grade(2).outcome is KeyOutcome.TOO_EARLY  # not painted yet
    session.mark_shown()
    clock.wait(0.29)
    assert session.grade(2).outcome is KeyOutcome.TOO_EARLY
    assert events() == []
    clock.wait(0.31)
    assert session.grade(2).outcome is KeyOutcome.SAVED
    (event,) = events()
    assert (event["dropped_keys"], event["dwell_ms"]) == (2, 600)


def test_a_key_before_the_document_is_shown_is_dropped_however_late(
    two_topics: Collection, clock: Any, events: Events
) -> None:
    """What was not painted is not graded, also when the latest key is long ago."""
    session = sit(two_topics, clock, min_dwell=0.3)
    session.open_topic("12")
    for _ in range(2):
        assert session.grade(2).outcome is KeyOutcome.TOO_EARLY
        clock.wait(1)
    assert events() == []


def test_a_held_key_never_counts(two_topics: Collection, clock: Any, events: Events) -> None:
    """Thirty keys a second for three seconds are ninety dropped keys; a pause ends it."""
    session = sit(two_topics, clock, min_dwell=0.3)
    session.open_topic("12")
    session.mark_shown()
    outcomes = []
    for _ in range(90):
        clock.wait(1 / 30)
        outcomes.append(session.grade(1).outcome)
    assert set(outcomes) == {KeyOutcome.TOO_EARLY}
    clock.wait(0.31)
    assert session.grade(1).outcome is KeyOutcome.SAVED
    assert [event["dropped_keys"] for event in events()] == [90]


def test_dropped_keys_belong_to_their_document(two_topics: Collection, clock: Any, events: Events) -> None:
    """A key dropped on a document that was left is not counted against the next one."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    session.grade(2)
    session.go_next()
    grade(session, clock, 2)
    (event,) = events()
    assert (event["docno"], event["dropped_keys"]) == ("e1", 0)


def test_a_dropped_key_is_counted_once(two_topics: Collection, clock: Any, events: Events) -> None:
    """The event after a dropped key holds it; the next event of the same document does not."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    session.grade(2)
    shown(session).note("a note")
    grade(session, clock, 2)
    assert [event["dropped_keys"] for event in events()] == [1, 0]


def test_an_event_says_everything_about_how_it_came_about(
    make_collection: Callable[..., Collection], clock: Any, events: Events
) -> None:
    """Order, place, times, text and sitting are in the row, for studies of judging."""
    topic = Topic("12", "bridges")
    texts = [Document("b", "B", "text b"), Document("a", "A", "text a")]
    manifest = {"out_order": "priority"}
    session = sit(make_collection({topic: texts}, manifest=manifest), clock)
    session.open_topic("12")
    before = datetime.now(UTC)
    grade(session, clock, 1)
    show(session, clock, 2.5)
    session.grade(0)
    first, second = events()
    assert (first["docno"], second["docno"]) == ("b", "a")
    assert (first["position"], second["position"]) == (0, 1)
    assert [one["display_order"] for one in (first, second)] == ["priority"] * 2
    assert (first["dwell_ms"], second["dwell_ms"]) == (1000, 2500)
    assert (first["active_ms"], second["active_ms"]) == (1000, 2500)
    assert [event["document_sha256"] for event in (first, second)] == [
        document_sha256(text) for text in texts
    ]
    assert first["sitting_id"] == second["sitting_id"] is not None
    assert (first["action"], first["state"], first["grade"], first["revision"]) == ("judge", "judged", 1, 1)
    shown, judged = (
        datetime.fromisoformat(first[name]).replace(tzinfo=UTC) for name in ("shown_at", "judged_at")
    )
    assert before <= shown <= judged <= datetime.now(UTC) < before + timedelta(minutes=1)


def test_a_long_pause_is_not_active_time(two_topics: Collection, clock: Any, events: Events) -> None:
    """Ten minutes away from the keys count as the two that a pause may last."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    show(session, clock, 600)
    session.touch()
    clock.wait(5)
    session.grade(1)
    (event,) = events()
    assert (event["dwell_ms"], event["active_ms"]) == (605_000, 125_000)


PAUSED: dict[str, Callable[[JudgingSession], object]] = {
    "touch": lambda session: session.touch(),
    "undo": lambda session: session.undo(),
    "redo": lambda session: session.redo(),
    "previous": lambda session: session.go_previous(),
    "note": lambda session: shown(session).note("odd"),
    "mark": lambda session: shown(session).mark([Passage(0, 4, "Text")]),
    "skip": lambda session: shown(session).skip(),
    "cannot": lambda session: shown(session).cannot("unreadable"),
}
"""Keys that stay at the first document when it has a grade of an earlier sitting, in this order."""


def test_every_key_ends_a_pause(two_topics: Collection, clock: Any, events: Events) -> None:
    """Pauses of 100 s with any key between them are all work; two without one count as 120 s."""
    first = sit(two_topics, clock)
    first.open_topic("12")
    grade(first, clock, 2)
    first.desk.leave()
    session = sit(two_topics, clock)
    session.open_topic("12")
    session.go_previous()
    session.mark_shown()
    for press in PAUSED.values():
        clock.wait(100)
        press(session)
    clock.wait(100)
    session.grade(1)
    event = events()[-1]
    expected = 100_000 * (len(PAUSED) + 1)
    assert (event["action"], event["dwell_ms"], event["active_ms"]) == ("judge", expected, expected)


def test_the_same_grade_again_writes_nothing_and_goes_on(
    two_topics: Collection, clock: Any, events: Events
) -> None:
    """Confirming a grade is no second judgement."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.go_previous()
    assert grade(session, clock, 2) is KeyOutcome.UNCHANGED
    assert len(events()) == 1
    assert docno(session) == "e1"


def test_another_grade_is_a_new_revision(two_topics: Collection, clock: Any, events: Events) -> None:
    """Changing one's mind appends; the first grade stays in the history."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.go_previous()
    grade(session, clock, 0)
    assert [(row["revision"], row["grade"]) for row in events()] == [(1, 2), (2, 0)]


@pytest.mark.parametrize("act", ["skip", "cannot"])
def test_taking_a_grade_away_asks_first(two_topics: Collection, clock: Any, events: Events, act: str) -> None:
    """Skipping a graded document, or calling it impossible, needs a yes."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.go_previous()
    decide = (
        shown(session).skip if act == "skip" else lambda **said: shown(session).cannot("unreadable", **said)
    )
    asked = decide()
    assert asked.outcome is KeyOutcome.CONFIRM
    wanted = {"skip": "take back grade 2 and skip?", "cannot": "replace grade 2 by cannot be judged?"}
    assert asked.message == wanted[act]
    assert len(events()) == 1
    assert decide(confirmed=True).outcome is KeyOutcome.SAVED
    last = events()[-1]
    assert (last["action"], last["grade"], last["revision"]) == (act, None, 2)
    assert last["reason"] == (b"" if act == "skip" else b"unreadable")


def test_skipping_again_writes_nothing(two_topics: Collection, clock: Any, events: Events) -> None:
    """A skipped document can be skipped again without another event."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    shown(session).skip()
    session.go_previous()
    assert shown(session).skip().outcome is KeyOutcome.UNCHANGED
    assert len(events()) == 1


def test_a_note_keeps_grade_and_document(two_topics: Collection, clock: Any, events: Events) -> None:
    """A note is an event of its own that moves nothing; the same note again is none."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    shown(session).note("see p. 3 \x1b[31m")
    assert docno(session) == "e0"
    assert shown(session).note("see p. 3 \x1b[31m").outcome is KeyOutcome.UNCHANGED
    grade(session, clock, 2)
    rows = [(row["action"], row["state"], row["grade"], row["note"]) for row in events()]
    assert rows == [
        ("note", "unjudged", None, b"see p. 3 \x1b[31m"),
        ("judge", "judged", 2, b"see p. 3 \x1b[31m"),
    ]


def test_undo_goes_back_event_by_event_across_notes_and_topics(
    two_topics: Collection, clock: Any, events: Events
) -> None:
    """Undo takes back the latest event, wherever it was, and shows its document."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    shown(session).note("a note on e1")
    session.open_topic("0013")
    grade(session, clock, 1)
    assert (session.undoing.n_decided, len(session.undoing)) == (2, 3)

    assert session.undo().message == "grade 1 undone: unjudged again"
    assert (docno(session), session.progress.judged) == ("j0", 0)
    assert session.undo().message == "note undone"
    assert session.topic is not None
    assert (session.topic.topic, docno(session)) == ("12", "e1")
    assert session.task is not None
    assert (session.task.note, session.task.state) == ("", State.UNJUDGED)
    session.undo()
    assert (docno(session), session.progress.judged) == ("e0", 0)
    assert session.undo().outcome is KeyOutcome.NOTHING
    assert session.undoing.n_decided == 0
    assert [row["action"] for row in events()] == ["judge", "note", "judge", *["undo"] * 3]


def test_undo_of_a_change_restores_the_grade_before_it(two_topics: Collection, clock: Any) -> None:
    """Undoing a second thought brings the first one back, note and all."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.go_previous()
    shown(session).note("sure")
    grade(session, clock, 0)
    assert session.undo().message == "grade 0 undone: grade 2 again"
    assert session.task is not None
    assert (session.task.grade, session.task.note) == (2, "sure")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        ("skip", "skip undone: unjudged again"),
        ("cannot", "can't judge undone: unjudged again"),
        ("skip, grade", "grade 1 undone: skipped again"),
        ("cannot, grade", "grade 1 undone: cannot be judged again"),
        ("grade, cannot", "can't judge undone: grade 1 again"),
    ],
)
def test_undo_says_what_was_undone_and_what_stands_again(
    two_topics: Collection, clock: Any, act: str, message: str
) -> None:
    """The judge reads which event was taken back, not only how the document stands."""
    session = sit(two_topics, clock, advance=False)
    session.open_topic("12")
    for step in act.split(", "):
        if step == "grade":
            grade(session, clock, 1)
        elif step == "skip":
            shown(session).skip()
        else:
            shown(session).cannot("unreadable", confirmed=True)
    assert session.undo().message == message


def test_undo_reaches_this_sitting_only(two_topics: Collection, clock: Any) -> None:
    """What an earlier sitting decided cannot be undone by accident."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.desk.leave()
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert later.undo().outcome is KeyOutcome.NOTHING


def test_undo_of_a_document_that_left_the_queue_says_so_and_stays(
    two_topics: Collection, clock: Any, collection_file: Path
) -> None:
    """A pool withdrawn in between does not break the screen."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    session.open_topic("0013")
    two_topics.pools.add(Pool([PoolEntry("12", "e3", 0)], {}, name="other"))
    with closing(sqlite3.connect(collection_file)) as connection:
        connection.execute("UPDATE pool SET withdrawn = 1 WHERE name = 'pool'")
        connection.commit()
    undone = session.undo()
    assert undone.outcome is KeyOutcome.SAVED
    assert undone.message.endswith("unjudged again; e0 is no longer in your queue")
    assert docno(session) == "e3"


@pytest.fixture
def met(two_topics: Collection, clock: Any) -> JudgingSession:
    """Sit at a laptop and grade what the same judge has graded at a desktop since."""
    desktop, laptop = sit(two_topics, clock), sit(two_topics, clock)
    desktop.open_topic("12")
    laptop.open_topic("12")
    grade(desktop, clock, 1)
    show(laptop, clock)
    result = laptop.grade(2)
    assert result.outcome is KeyOutcome.CONFLICT
    assert "grade 1" in result.message
    return laptop


def revisions(events: Events) -> list[tuple[int, str, int | None]]:
    """Read revision, action and grade of every event."""
    return [(row["revision"], row["action"], row["grade"]) for row in events()]


def test_the_same_judge_elsewhere_is_a_conflict_and_never_overwritten(
    met: JudgingSession, events: Events
) -> None:
    """Nothing is written, the document stays, and what stands elsewhere is said."""
    assert (docno(met), met.undoing.n_decided) == ("e0", 0)
    assert met.task is not None
    assert met.task.grade == 1
    conflict = met.conflict
    assert conflict is not None
    assert (conflict.theirs, conflict.attempt.words) == ("grade 1", "2 relevant")
    assert conflict.host == socket.gethostname()
    assert revisions(events) == [(1, "judge", 1)]


def test_a_conflict_is_settled_by_replacing(met: JudgingSession, events: Events) -> None:
    """The grade given here becomes the next revision, and the judge goes on."""
    assert met.replace_theirs().outcome is KeyOutcome.SAVED
    assert revisions(events) == [(1, "judge", 1), (2, "judge", 2)]
    assert (docno(met), met.conflict) == ("e1", None)
    assert met.undo().message == "grade 2 undone: grade 1 again"


def test_a_conflict_is_settled_by_keeping(met: JudgingSession, events: Events) -> None:
    """What was graded elsewhere stands; what was graded here is in the history, taken back."""
    assert met.keep_theirs().outcome is KeyOutcome.SAVED
    assert revisions(events) == [(1, "judge", 1), (2, "judge", 2), (3, "undo", 1)]
    assert (docno(met), met.conflict, met.undoing.n_decided) == ("e1", None, 0)
    assert met.tasks[0].grade == 1
    assert met.undo().outcome is KeyOutcome.NOTHING


def test_pressing_again_replaces_too(met: JudgingSession, events: Events) -> None:
    """A second press, after the conflict was shown, is an answer."""
    assert met.grade(2).outcome is KeyOutcome.SAVED
    assert met.conflict is None
    assert revisions(events) == [(1, "judge", 1), (2, "judge", 2)]


def test_the_same_grade_elsewhere_is_no_conflict(two_topics: Collection, clock: Any, events: Events) -> None:
    """Who gave the same grade twice is not asked which of them."""
    desktop, laptop = sit(two_topics, clock), sit(two_topics, clock)
    desktop.open_topic("12")
    laptop.open_topic("12")
    grade(desktop, clock, 1)
    assert grade(laptop, clock, 1) is KeyOutcome.UNCHANGED
    assert (docno(laptop), laptop.conflict) == ("e1", None)
    assert len(events()) == 1


def test_two_judges_never_conflict_and_never_see_each_other(two_topics: Collection, clock: Any) -> None:
    """Bob's queue is untouched by what Alice did."""
    alice, bob = sit(two_topics, clock), sit(two_topics, clock, "bob")
    alice.open_topic("12")
    grade(alice, clock, 2)
    bob.open_topic("12")
    assert (docno(bob), bob.progress.left) == ("e0", 4)
    assert grade(bob, clock, 0) is KeyOutcome.SAVED


def test_a_refused_write_keeps_the_document_and_a_retry_saves(
    two_topics: Collection, clock: Any, events: Events, collection_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the file is locked nothing moves on and nothing is queued; afterwards the key works."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 1)
    two_topics._db.engine.dispose()
    # The default of ten seconds would make this a slow test of SQLite.
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    show(session, clock)
    with locked(collection_file):
        refused = session.grade(2)
    assert refused.outcome is KeyOutcome.FAILED
    assert refused.message.startswith("NOT SAVED (2 relevant): ")
    assert goodbye(session) == "alice: 1 decision in this sitting, 1 NOT SAVED"
    assert refused.saved_at is None
    assert (docno(session), session.progress.judged) == ("e1", 1)
    assert len(events()) == 1
    assert session.grade(2).outcome is KeyOutcome.SAVED
    assert [row["grade"] for row in events()] == [1, 2]


def test_reading_ahead_gives_the_document_a_decision_leads_to(two_topics: Collection, clock: Any) -> None:
    """The page ahead is the next one without a decision; at the end there is none."""
    session = sit(two_topics, clock)
    session.open_topic("0013")
    ahead = session.page_ahead()
    assert ahead is not None
    assert ahead.docno == "j1"
    grade(session, clock, 0)
    grade(session, clock, 0)
    assert session.page_ahead() is None


@dataclass
class Drawer:
    """Draws from the pool `live`, as long as its strategy can be asked."""

    collection: Collection
    choose: Choose
    trouble: str = ""

    def draw(self, topic: str) -> bool:
        """Draw one more document."""
        if self.trouble:
            raise PoolerError(self.trouble)
        return self.collection.pools.draw("live", topic, self.choose) is not None


@pytest.fixture
def live(two_topics: Collection) -> Collection:
    """Make a pool `live` of topic 77 that may draw four of the documents a to f."""
    two_topics.topics.add([Topic("77", "slugs")])
    two_topics.pools.add(adaptive_pool({"77": "abcdef"}, 4))
    return two_topics


@pytest.fixture
def drawer(live: Collection) -> Drawer:
    """Draw the first document that is left after a hit and at the start, else the last."""
    return Drawer(live, ends("abcdef"))


def queue(session: JudgingSession) -> str:
    """Return the docnos in the queue."""
    return "".join(task.docno for task in session.tasks)


def drawn(collection: Collection) -> str:
    """Return the docnos drawn, in order."""
    entries = [one for one in collection.pools.get("live").entries if one.sampled]
    return "".join(one.docno for one in sorted(entries, key=lambda one: one.position))


def test_opening_an_adaptive_topic_draws_one_document(live: Collection, clock: Any, drawer: Drawer) -> None:
    """The first document is drawn; the count is of all that may be; opening again draws none."""
    session = sit(live, clock, drawing=drawer)
    for _ in range(2):
        session.open_topic("77")
        assert (docno(session), queue(session)) == ("a", "a")
        assert (session.progress.total, session.progress.left) == (4, 4)
    later = sit(live, clock, "bob", drawing=drawer)
    later.open_topic("77")
    assert (docno(later), drawn(live)) == ("a", "a")


def test_each_decision_draws_the_document_it_leads_to(live: Collection, clock: Any, drawer: Drawer) -> None:
    """A hit leads to the first document left, a miss to the last; the budget ends it."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    for value, following, left in ((1, "b", 3), (0, "f", 2), (2, "c", 1)):
        assert session.page_ahead() is None
        assert grade(session, clock, value) is KeyOutcome.SAVED
        assert (docno(session), session.progress.left) == (following, left)
        assert session.progress.total == 4
        assert not session.is_complete
    grade(session, clock, 1)
    assert session.is_complete
    assert (docno(session), queue(session), drawn(live)) == ("c", "abfc", "abfc")
    assert not session.go_next()


def test_skipped_and_impossible_documents_lead_on_without_reward(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """Neither is a hit, and neither is drawn again; both count as decided."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    shown(session).skip()
    assert docno(session) == "f"
    shown(session).cannot("torn")
    assert (docno(session), session.progress.left) == ("e", 2)


def test_a_note_draws_nothing(live: Collection, clock: Any, drawer: Drawer) -> None:
    """Only a decision leads on."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    shown(session).note("odd")
    assert (docno(session), drawn(live)) == ("a", "a")


def test_a_later_sitting_draws_only_when_all_is_decided(live: Collection, clock: Any, drawer: Drawer) -> None:
    """A document drawn and not judged is what the next sitting opens at."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    grade(session, clock, 1)
    session.desk.leave()
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    assert (docno(later), drawn(live)) == ("b", "ab")


def test_a_sitting_that_broke_off_before_the_draw_goes_on_with_it(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """With everything decided and something to draw, opening draws what the decision led to."""
    session = sit(live, clock, drawing=drawer, advance=False)
    session.open_topic("77")
    grade(session, clock, 1)
    assert drawn(live) == "a"
    session.desk.leave()
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    assert (docno(later), drawn(live)) == ("b", "ab")


def test_without_advance_only_next_at_the_end_draws(live: Collection, clock: Any, drawer: Drawer) -> None:
    """A judge who stays draws by going on, and only from the end of a queue that is decided."""
    session = sit(live, clock, drawing=drawer, advance=False)
    session.open_topic("77")
    assert not session.go_next()
    grade(session, clock, 1)
    assert (docno(session), drawn(live)) == ("a", "a")
    assert session.go_next()
    assert (docno(session), drawn(live)) == ("b", "ab")
    assert session.go_previous()
    assert session.go_next()
    assert (docno(session), drawn(live)) == ("b", "ab")


def test_next_draws_nothing_past_a_document_without_a_decision(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """At the end of the queue, something before it is still open: that is first."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    grade(session, clock, 1)
    grade(session, clock, 1)
    session.go_previous()
    session.undo()
    assert (docno(session), queue(session)) == ("b", "abc")
    session.go_next()
    shown(session).skip()  # c
    assert docno(session) == "b"
    session.go_next()
    assert not session.go_next()
    assert drawn(live) == "abc"


def test_undo_takes_back_the_grade_and_not_the_draw(live: Collection, clock: Any, drawer: Drawer) -> None:
    """The document it led to waits; what is drawn later follows from the grade given instead."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    grade(session, clock, 1)
    assert docno(session) == "b"
    assert session.undo().outcome is KeyOutcome.SAVED
    assert (docno(session), queue(session), session.progress.left) == ("a", "ab", 4)
    grade(session, clock, 0)
    assert (docno(session), drawn(live)) == ("b", "ab")
    watched = Watched(drawer.choose)
    drawer.choose = watched
    grade(session, clock, 0)
    assert watched.told == [Draw("a", 0), Draw("b", 0)]
    assert (docno(session), drawn(live)) == ("f", "abf")


def test_a_failed_draw_leaves_the_grade_saved_and_says_so(
    live: Collection, clock: Any, drawer: Drawer, events: Events
) -> None:
    """The judge reads that it is saved and why there is no next document; later it goes on."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    drawer.trouble = "the runs have changed"
    show(session, clock)
    result = session.grade(1)
    assert result.outcome is KeyOutcome.STUCK
    assert result.message == (
        "1 partially relevant; the next document could not be drawn: the runs have changed"
    )
    assert result.saved_at is not None
    assert [event["grade"] for event in events()] == [1]
    assert (session.progress.judged, session.progress.left) == (1, 3)
    assert session.undoing.n_decided == 1

    assert session.task is None
    show(session, clock)
    for act in (
        lambda: session.grade(0),
        session.skip,
        lambda: session.cannot("torn"),
        lambda: session.note("odd"),
        lambda: session.mark([]),
        session.retry,
    ):
        result = act()
        assert result.outcome is KeyOutcome.FAILED
        assert "the runs have changed" in result.message
    with pytest.raises(PoolerError, match="the runs have changed"):
        session.go_next()
    assert session.go_previous()
    assert docno(session) == "a"
    with pytest.raises(PoolerError, match="the runs have changed"):
        session.go_next()

    drawer.trouble = ""
    assert session.retry().outcome is KeyOutcome.UNCHANGED
    assert (docno(session), drawn(live)) == ("b", "ab")
    assert len(events()) == 1


def test_going_on_after_a_failed_draw_with_nothing_left_comes_back(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """Nothing could be drawn, and meanwhile nothing is left to draw: the judge is at the document again."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    drawer.trouble = "the runs have changed"
    show(session, clock)
    assert session.grade(1).outcome is KeyOutcome.STUCK
    drawer.trouble = ""
    live.pools.withdraw("live")
    assert not session.go_next()
    assert session.trouble == ""
    assert docno(session) == "a"


def test_a_failed_draw_opens_nothing(live: Collection, clock: Any, drawer: Drawer) -> None:
    """The topic that was open stays open, at its document."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("12")
    session.go_next()
    drawer.trouble = "the runs have changed"
    with pytest.raises(PoolerError, match="the runs have changed"):
        session.open_topic("77")
    assert session.topic is not None
    assert (session.topic.topic, docno(session)) == ("12", "e1")
    assert (session.progress.total, session.progress.left) == (4, 4)
    drawer.trouble = ""
    session.open_topic("77")
    assert docno(session) == "a"


def test_documents_decided_in_another_pool_are_passed_over(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """They are drawn with the grades they have, and nobody judges them twice."""
    live.pools.add(Pool([PoolEntry("77", docno, n) for n, docno in enumerate("abf")], {}, "fixed"))
    session = sit(live, clock)
    session.open_topic("77")
    for value in (1, 0):
        grade(session, clock, value)
    shown(session).skip()
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    # a is a hit, b is not, f is none: then e.
    assert (docno(later), drawn(live)) == ("e", "abfe")
    assert (later.progress.total, later.progress.left) == (4, 1)
    assert queue(later) == "abfe"


def test_all_documents_decided_in_another_pool_end_the_topic(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """Where every document that can be drawn has its decision, there is nothing to judge."""
    live.pools.add(Pool([PoolEntry("77", docno, n) for n, docno in enumerate("abcdef")], {}, "all"))
    session = sit(live, clock)
    session.open_topic("77")
    for _ in range(6):
        grade(session, clock, 1)
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    assert later.is_complete
    assert (docno(later), drawn(live)) == ("a", "abcd")
    assert not later.go_previous()


def test_a_document_drawn_into_the_middle_of_the_queue_moves_nobody(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """An older pool's draws come before a newer pool's documents; the judge's place is kept."""
    live.pools.add(Pool([PoolEntry("77", docno, n) for n, docno in enumerate("bxy")], {}, "late"))
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    assert queue(session) == "bxy"
    for _ in range(3):
        grade(session, clock, 0)
    assert (docno(session), queue(session)) == ("a", "abxy")
    for _ in range(2):
        grade(session, clock, 0)
    assert (docno(session), queue(session)) == ("e", "afebxy")
    for expected in "bxy":
        assert session.go_next()
        assert docno(session) == expected
    drawer.trouble = "the runs have changed"
    grade(session, clock, 1)
    show(session, clock)
    assert session.grade(0).message.endswith("the runs have changed")
    assert session.go_previous()
    assert docno(session) == "e"


@pytest.mark.parametrize("advance", [True, False])
def test_draws_that_bring_nothing_new_move_nobody(
    live: Collection, clock: Any, drawer: Drawer, advance: bool
) -> None:
    """Decided documents that are drawn go to the front of the queue; the judge stays with hers."""
    entries = [PoolEntry("77", docno, n) for n, docno in enumerate("xfedcba")]
    live.pools.add(Pool(entries, {}, "late"))
    session = sit(live, clock, drawing=drawer, advance=advance)
    session.open_topic("77")
    for expected in "xfedcba":
        assert (docno(session), drawn(live)) == (expected, "")
        grade(session, clock, 0)
        if not advance and expected != "a":
            session.go_next()
    if advance:
        assert (docno(session), queue(session), drawn(live)) == ("a", "afedxcb", "afed")
        assert session.is_complete
    else:
        assert session.go_next()
        assert (docno(session), queue(session), drawn(live)) == ("f", "afedxcb", "afed")


def test_what_another_judge_drew_meanwhile_comes_first(live: Collection, clock: Any, drawer: Drawer) -> None:
    """Two judges share the draws: nobody draws while there is something drawn to judge."""
    alice, bob = (sit(live, clock, judge, drawing=drawer) for judge in ("alice", "bob"))
    alice.open_topic("77")
    bob.open_topic("77")
    grade(bob, clock, 1)
    assert (docno(bob), drawn(live)) == ("b", "ab")
    grade(bob, clock, 1)
    assert (docno(bob), drawn(live)) == ("c", "abc")
    for expected in "bc":
        grade(alice, clock, 0)
        assert (docno(alice), drawn(live)) == (expected, "abc")
    assert (alice.progress.total, alice.progress.left) == (4, 2)
    grade(alice, clock, 0)  # a draw: c has only this grade, and it is no hit
    assert (docno(alice), drawn(live)) == ("f", "abcf")
    grade(bob, clock, 2)
    assert (docno(bob), drawn(live)) == ("f", "abcf")


def test_a_judge_without_drawing_sees_what_was_drawn(live: Collection, clock: Any) -> None:
    """A session that is given no source of documents counts and shows the queue alone."""
    session = sit(live, clock)
    session.open_topic("77")
    assert (session.task, session.progress.total) == (None, 0)
    live.pools.draw("live", "77", ends("abcdef"))
    session.open_topic("77")
    assert (docno(session), session.progress.total) == ("a", 1)


ACTS = st.sampled_from(["0", "1", "2", "skip", "cannot", "note", "next", "previous", "topic"])


@pytest.mark.slow
@given(acts=st.lists(ACTS, max_size=14))
@settings(max_examples=examples(20))
def test_undoing_everything_leaves_nothing_decided(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    """Whatever was done, undo brings every document back, and no event is ever lost or changed."""
    file = tmp_path_factory.mktemp("undo") / "c.db"
    scale = parse_scale("0-2")
    with Collection.create(str(file), name="c", scale=scale, program="test") as collection:
        topics = {"1": ("a", "b", "c"), "2": ("a", "d")}
        collection.pools.add(
            Pool(
                [
                    PoolEntry(topic, docno, place)
                    for topic, docnos in topics.items()
                    for place, docno in enumerate(docnos)
                ],
                {},
            )
        )
        collection.judges.add("alice", JudgeKind.HUMAN)
        session = JudgingSession(collection.desk("alice"), min_dwell=0)
        session.open_topic("1")
        n_written = 0
        for step, act in enumerate(acts):
            session.mark_shown()
            if act.isdigit():
                n_written += session.grade(int(act)).outcome is KeyOutcome.SAVED
            elif act == "skip":
                n_written += shown(session).skip(confirmed=True).outcome is KeyOutcome.SAVED
            elif act == "cannot":
                n_written += shown(session).cannot("why", confirmed=True).outcome is KeyOutcome.SAVED
            elif act == "note":
                n_written += shown(session).note(f"note {step}").outcome is KeyOutcome.SAVED
            elif act == "topic":
                session.open_topic("2" if step % 2 else "1")
            else:
                session.go_next() if act == "next" else session.go_previous()
        assert len(session.undoing) == n_written
        while session.undo().outcome is KeyOutcome.SAVED:
            pass
        assert len(session.undoing) == 0
        for topic in topics:
            session.open_topic(topic)
            assert all(task.state is State.UNJUDGED and not task.note for task in session.tasks)
        with closing(sqlite3.connect(file)) as connection:
            (n_rows,) = connection.execute("SELECT count(*) FROM judgement").fetchone()
        assert n_rows == 2 * n_written


def test_decisions_count_documents_not_notes(two_topics: Collection, clock: Any) -> None:
    """A note decides nothing, a document graded twice is one, and undo takes its count back."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    shown(session).note("hello")
    assert goodbye(session) == "alice: 0 decisions in this sitting, all saved"
    grade(session, clock, 2)
    session.go_previous()
    grade(session, clock, 1)
    assert goodbye(session) == "alice: 1 decision in this sitting, all saved"
    session.undo()
    assert session.undoing.n_decided == 1
    session.undo()
    assert (session.undoing.n_decided, len(session.undoing)) == (0, 1)


def test_what_is_skipped_keeps_the_topic_open(two_topics: Collection, clock: Any) -> None:
    """Three decisions and one skipped are 3 of 4; the next sitting opens at what was skipped."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 1)
    shown(session).skip()
    before = session.progress
    grade(session, clock, 1)
    assert not session.reaches_end(before)
    before = session.progress
    grade(session, clock, 1)
    assert session.reaches_end(before)
    assert (session.is_through, session.is_complete, session.progress.decided) == (True, False, 3)
    assert docno(session) == "e1"
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert docno(later) == "e1"
    before = later.progress
    grade(later, clock, 2)
    assert later.is_complete
    assert later.reaches_end(before)


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_grade_for_a_document_without_text_is_asked_about(
    make_collection: Maker, clock: Any, events: Any, text: str | None
) -> None:
    """Nothing is written until it is confirmed; that it cannot be judged needs no question."""
    documents = [Document("a", "", text), Document("b", "", text), Document("c", "", "Text.")]
    session = sit(make_collection({ENGLISH: documents}), clock)
    session.open_topic("12")
    session.mark_shown(session.page())
    clock.wait(5)
    assert session.grade(2).outcome is KeyOutcome.CONFIRM
    assert events() == []
    assert session.grade(2, confirmed=True).outcome is KeyOutcome.SAVED
    session.mark_shown(session.page())
    assert session.cannot("text missing").outcome is KeyOutcome.SAVED
    session.mark_shown(session.page())
    clock.wait(5)
    assert session.grade(0).outcome is KeyOutcome.SAVED
    assert [event["action"] for event in events()] == ["judge", "cannot", "judge"]
