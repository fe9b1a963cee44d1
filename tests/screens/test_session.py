"""The judging state machine on a real collection, its clock set by hand; and documents drawn into it."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from judge_ui.session.messages import goodbye, remarks, text_shown
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, grade_mark, grade_name
from judge_ui.text.marking import seen_in_raw, seen_in_text
from store.collection import Collection
from store.content.documents import document_sha256
from store.content.pools import Choose, Draw
from store.db.tables import SITTING
from store.errors import PoolerError, UnknownNameError
from store.records import Document, Grade, Passage, Pool, PoolEntry, State, Topic
from tests.helpers.drawing import Watched, adaptive_pool, ends
from tests.helpers.places import held_place, let_lapse
from tests.helpers.world import make_scale
from tests.screens.conftest import ENGLISH, Maker, shown
from tests.screens.sitting import locked

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


@pytest.fixture
def session(two_topics: Collection, clock: Any) -> JudgingSession:
    """Sit alice down at the English topic."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    return session


def test_what_is_not_there_cannot_be_opened_and_what_is_open_stays(session: JudgingSession) -> None:
    """A fresh topic opens at its first document; an unknown one changes nothing."""
    session.set_own_terms("steel")
    assert (docno(session), session.progress.total, session.progress.left) == ("e0", 4, 4)
    with pytest.raises(UnknownNameError, match="unknown topic `99`"):
        session.open_topic("99")
    assert (docno(session), session.own_terms, session.is_complete) == ("e0", ("steel",), False)


def test_a_decision_leads_to_what_was_passed_over_and_the_last_one_stays(
    two_topics: Collection, clock: Any
) -> None:
    """After the last document comes the first one that has no decision; grade 0 is a decision."""
    session = sit(two_topics, clock)
    session.open_topic("0013")
    assert session.go_next()
    assert not session.go_next()
    grade(session, clock, 0)
    assert docno(session) == "j0"
    assert not session.go_previous()
    grade(session, clock, 0)
    assert session.is_complete
    assert (docno(session), session.progress.judged) == ("j0", 2)


def test_a_key_within_the_dwell_is_dropped_counted_and_stored_once(
    two_topics: Collection, clock: Any, events: Events
) -> None:
    """The dwell is counted from the paint, however long ago a key was dropped before it."""
    session = sit(two_topics, clock, min_dwell=0.3)
    session.open_topic("12")
    for _ in range(2):
        assert session.grade(2).outcome is KeyOutcome.TOO_EARLY  # not painted yet
        clock.wait(1)
    session.mark_shown()
    clock.wait(0.29)
    assert session.grade(2).outcome is KeyOutcome.TOO_EARLY
    assert events() == []
    clock.wait(0.31)
    session.note("a note")
    assert session.grade(2).outcome is KeyOutcome.SAVED
    assert session.grade(2).outcome is KeyOutcome.TOO_EARLY
    session.go_next()
    grade(session, clock, 2)  # a key dropped on a document that was left is not counted against this one
    found = [(event["docno"], event["dropped_keys"], event["dwell_ms"]) for event in events()]
    assert found == [("e0", 3, 600), ("e0", 0, 600), ("e2", 0, 1000)]


def test_the_same_again_writes_nothing_and_goes_on(
    session: JudgingSession, clock: Any, events: Events
) -> None:
    """Confirming a grade is no second judgement, nor skipping twice; changing one's mind appends."""
    grade(session, clock, 2)
    shown(session).skip()
    session.go_previous()
    assert shown(session).skip().outcome is KeyOutcome.UNCHANGED
    session.go_to(0)
    assert grade(session, clock, 2) is KeyOutcome.UNCHANGED
    assert len(events()) == 2
    session.go_to(0)
    grade(session, clock, 0)
    assert [(row["docno"], row["revision"], row["grade"]) for row in events()] == [
        ("e0", 1, 2),
        ("e1", 1, None),
        ("e0", 2, 0),
    ]


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


def test_every_key_ends_a_pause(
    session: JudgingSession, two_topics: Collection, clock: Any, events: Events
) -> None:
    """Pauses of 100 s with any key between them are all work; two without one count as 120 s."""
    first = sit(two_topics, clock)
    first.open_topic("12")
    grade(first, clock, 2)
    first.desk.leave()
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


@pytest.mark.parametrize("act", ["skip", "cannot"])
def test_taking_a_grade_away_asks_first(
    session: JudgingSession, clock: Any, events: Events, act: str
) -> None:
    """Skipping a graded document, or calling it impossible, needs a yes."""
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


def test_a_note_keeps_grade_and_document(session: JudgingSession, clock: Any, events: Events) -> None:
    """A note is an event of its own that moves nothing; the same note again is none."""
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
    session: JudgingSession, two_topics: Collection, clock: Any, events: Events
) -> None:
    """Undo takes back the latest event, wherever it was, and shows its document."""
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
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert later.undo().outcome is KeyOutcome.NOTHING  # it reaches one sitting only
    assert [row["action"] for row in events()] == ["judge", "note", "judge", *["undo"] * 3]


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


def test_undo_of_a_document_that_left_the_queue_says_so_and_stays(
    session: JudgingSession, two_topics: Collection, clock: Any, collection_file: Path
) -> None:
    """A pool withdrawn in between does not break the screen."""
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


@pytest.mark.parametrize("settle", [JudgingSession.replace_theirs, lambda session: session.grade(2)])
def test_a_conflict_is_settled_by_replacing(
    met: JudgingSession, events: Events, settle: Callable[[JudgingSession], KeyResult]
) -> None:
    """The grade given here, or pressed again, becomes the next revision, and the judge goes on."""
    assert settle(met).outcome is KeyOutcome.SAVED
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


def test_the_same_grade_elsewhere_is_no_conflict(two_topics: Collection, clock: Any, events: Events) -> None:
    """Who gave the same grade twice is not asked which of them."""
    desktop, laptop = sit(two_topics, clock), sit(two_topics, clock)
    desktop.open_topic("12")
    laptop.open_topic("12")
    grade(desktop, clock, 1)
    assert grade(laptop, clock, 1) is KeyOutcome.UNCHANGED
    assert (docno(laptop), laptop.conflict) == ("e1", None)
    assert len(events()) == 1


def test_a_place_that_went_to_another_judge_is_said_and_passed_by(
    make_collection: Maker, collection_file: Path, clock: Any, events: Events
) -> None:
    """Nothing is written on what is no longer one's own; the next undecided document comes, from the top."""
    collection = make_collection({ENGLISH: [Document(one, "", f"Text of {one}.") for one in "abcd"]})
    held_place(str(collection_file), "12", "abcd", None, lease_s=600)
    session = sit(collection, clock)
    session.open_topic("12")
    grade(session, clock, 1)
    session.go_next()
    show(session, clock)
    let_lapse(str(collection_file), "alice", "c")
    assert collection.desk("bob").claim("12")
    refused = session.grade(2)
    assert refused.outcome is KeyOutcome.FAILED
    assert refused.message == "NOT SAVED (2 relevant): the document is no longer in your queue"
    assert (docno(session), session.pending) == ("b", None)
    grade(session, clock, 0)
    assert session.is_complete
    assert [(row["docno"], row["grade"]) for row in events()] == [("a", 1), ("b", 0)]


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


def test_decisions_count_documents_not_notes(session: JudgingSession, clock: Any) -> None:
    """A note decides nothing, a document graded twice is one, and undo takes its count back."""
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


def test_what_is_skipped_keeps_the_topic_open(
    session: JudgingSession, two_topics: Collection, clock: Any
) -> None:
    """Three decisions and one skipped are 3 of 4; the next sitting opens at what was skipped."""
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
    session.go_to(99)  # places off the list are its ends
    assert docno(session) == "e3"
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


def test_redo_does_again_what_was_undone_last(session: JudgingSession, clock: Any, events: Any) -> None:
    """Undone twice, redone twice: the same grades stand, in new events, and the judge is on."""
    grade(session, clock, 2)
    grade(session, clock, 1)
    session.undo()
    session.undo()
    assert docno(session) == "e0"
    assert [session.redo().message for _ in range(3)] == [
        "2 relevant",
        "1 partially relevant",
        "nothing to redo",
    ]
    assert docno(session) == "e2"
    assert [task.grade for task in session.tasks] == [2, 1, None, None]
    assert revisions(events)[-2:] == [(3, "judge", 2), (3, "judge", 1)]
    assert [(row["dwell_ms"], row["shown_at"]) for row in events()][-2:] == [(None, None)] * 2
    assert session.undo().message == "grade 1 undone: unjudged again"


def test_passages_are_part_of_every_state_after_them(make_collection: Maker, clock: Any, events: Any) -> None:
    """A grade, a note and an undo keep them; undoing the marking takes them away."""
    text = "One.\r\nTwo \x1b is here.\r\n三つ目。"
    collection = make_collection({ENGLISH: [Document("d", "", text), Document("e", "", "E")]})
    session = sit(collection, clock)
    session.open_topic("12")
    page = session.page()
    assert page.text == "One.\nTwo ␛ is here.\n三つ目。"
    marked = (Passage(5, 14, "Two ␛ is here."), Passage(20, 3, "三つ目"))
    assert page.text[5:19] == marked[0].text
    assert page.text[20:23] == marked[1].text
    assert shown(session).mark(marked[::-1]).message == "passage marked"
    assert docno(session) == "d"
    grade(session, clock, 1)
    session.go_previous()
    shown(session).note("why")
    assert session.task is not None
    assert (session.task.passages, session.task.grade) == (marked, 1)
    later = sit(collection, clock)
    later.open_topic("12")
    later.go_to(0)
    assert later.task is not None
    assert later.task.passages == marked
    assert [session.undo().message for _ in range(3)] == [
        "note undone",
        "grade 1 undone: unjudged again",
        "mark undone",
    ]
    assert session.task.passages == ()
    assert session.redo().message == "passage marked"
    assert session.task.passages == marked
    assert shown(session).mark(marked).outcome is KeyOutcome.UNCHANGED


def test_a_passage_that_is_not_there_is_refused(session: JudgingSession, events: Any) -> None:
    """Evidence is a part of the document, or nothing is written."""
    result = shown(session).mark([Passage(0, 5, "Wrong")])
    assert result.outcome is KeyOutcome.FAILED
    assert "must be a part of the document" in result.message
    assert events() == []


@pytest.mark.slow
def test_a_note_that_waits_is_not_lost_to_a_grade(
    session: JudgingSession, two_topics: Collection, clock: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the note cannot be written no grade is; afterwards the note goes first."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)  # as long as a test can wait
    show(session, clock)
    with locked(two_topics):
        assert shown(session).note("why").outcome is KeyOutcome.FAILED
        assert session.grade(2).outcome is KeyOutcome.FAILED
        assert session.pending is not None
        assert session.pending.words == "note saved"
    assert session.grade(2).outcome is KeyOutcome.SAVED
    assert [(row["action"], row["grade"], row["note"]) for row in events()] == [
        ("note", None, b"why"),
        ("judge", 2, b"why"),
    ]


def test_without_an_open_topic_nothing_is_shown_or_kept(
    two_topics: Collection, clock: Any, events: Any
) -> None:
    """In the list of topics no document is before the judge, and nothing asks for one."""
    session = sit(two_topics, clock)
    session.beat()
    session.set_own_terms("truss")
    session.mark_shown()
    assert (session.topic, session.task, session.tasks) == (None, None, [])
    assert session.own_terms == ()
    clock.wait(5)
    session.open_topic("12")
    # What was "shown" before there was a document is no time of the document.
    show(session, clock, 2)
    assert session.grade(1).outcome is KeyOutcome.SAVED
    assert [event["dwell_ms"] for event in events()] == [2000]
    assert session.own_terms == ()


def test_own_terms_are_of_the_topic_and_the_sitting(
    session: JudgingSession, two_topics: Collection, clock: Any
) -> None:
    """They are there when the topic is opened again, in no other topic, and in no other sitting."""
    session.set_own_terms("steel, steel ,,東京タワー、cost (per year)")
    wanted = ("steel", "東京タワー", "cost (per year)")
    assert session.own_terms == wanted
    session.open_topic("0013")
    assert session.own_terms == ()
    session.open_topic("12")
    assert session.own_terms == wanted
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert later.own_terms == ()


def test_a_sitting_whose_process_is_dead_raises_no_alarm(two_topics: Collection, clock: Any) -> None:
    """It was killed a moment ago at this machine; one on another machine may be alive."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    killed, later = two_topics.desk("alice"), two_topics.desk("alice")
    killed.beat("12")
    later.beat("12")
    for host, n_alive in (("another", 1), (socket.gethostname(), 0)):
        with two_topics._db.writing() as session:
            values = {"process": ended.pid, "host": host}
            session.execute(update(SITTING).where(SITTING.c.id == killed._sitting).values(values))
        assert len(later.live_elsewhere()) == n_alive


HTML = "<h1>Bridge</h1>\r\n<p>The <b>old</b> bridge &amp; its\r\n paint.</p>"
MARKDOWN = "# Bridge\n\nThe **old** bridge."
EMPTY = "<script>x()</script>"


@pytest.fixture
def marked_up(make_collection: Maker) -> Collection:
    """Make a topic of four documents: HTML, markdown, markup alone, none."""
    collection = make_collection(
        {
            ENGLISH: [
                Document("h", "Of a bridge", HTML, (("url", "http://a"),), "html"),
                Document("m", "", MARKDOWN, (), "markdown"),
                Document("s", "", EMPTY, (), "html"),
                Document("p", "", "<b>plain</b>"),
            ]
        }
    )
    collection.documents.add([], fields=["url"])
    return collection


@pytest.fixture
def at_markup(marked_up: Collection) -> JudgingSession:
    """Sit alice down before the first."""
    session = JudgingSession(marked_up.desk("alice"), min_dwell=0)
    session.open_topic("12")
    return session


def test_a_judge_reads_text_and_the_event_has_the_hash_of_the_raw_one(
    at_markup: JudgingSession, events: Callable[[], list[dict[str, Any]]]
) -> None:
    """Title, field, text; a grade is about the text as it came."""
    page = at_markup.page()
    assert page.text == "Bridge\n\nThe old bridge & its paint."
    assert remarks(page) == [("url", "http://a")]
    at_markup.mark_shown(page)
    assert at_markup.grade(2).outcome is KeyOutcome.SAVED
    assert events()[0]["document_sha256"] == document_sha256(Document("h", "Of a bridge", HTML))
    assert at_markup.page().text == "Bridge\n\nThe old bridge."
    at_markup.is_raw = True
    assert text_shown(page, is_raw=True) == HTML.replace("\r", "")
    at_markup.go_to(3)  # nobody said that this is HTML
    assert (at_markup.is_raw, at_markup.page().text, at_markup.page().readable) == (
        False,
        "<b>plain</b>",
        None,
    )
    at_markup.go_to(2)
    assert text_shown(at_markup.page()) == "there is nothing to read in this document: it is markup alone"
    at_markup.mark_shown(at_markup.page())
    assert at_markup.grade(1).outcome is KeyOutcome.CONFIRM


def test_evidence_is_the_same_in_both_views(at_markup: JudgingSession, marked_up: Collection) -> None:
    """Marked in one, it is in its place in the other, and the store has the raw part."""
    page = at_markup.page()
    assert page.readable is not None
    at_markup.mark_shown(page)
    start = (page.text or "").index("old bridge & its")
    marked = Passage(start, 16, "old bridge & its")
    assert at_markup.mark([marked]).outcome is KeyOutcome.SAVED
    (raw,) = seen_in_raw(page.readable, [marked])
    assert raw.text == "old</b> bridge &amp; its"
    assert seen_in_text(page.readable, [raw]) == (marked,)
    (stored,) = next(iter(marked_up.judgements.history())).passages
    assert stored.text == "old</b> bridge &amp; its"
    assert HTML[stored.start : stored.end] == stored.text
    # Over a line end, which is two characters of the raw text.
    paint = Passage((page.text or "").index("its paint"), 9, "its paint")
    assert seen_in_text(page.readable, seen_in_raw(page.readable, [paint])) == (paint,)
    assert at_markup.mark([marked, paint]).outcome is KeyOutcome.SAVED
    assert {one.text for one in [*marked_up.judgements.history()][1].passages} == {
        "old</b> bridge &amp; its",
        "its\r\n paint",
    }
    assert at_markup.undo().outcome is KeyOutcome.SAVED
    assert at_markup.task is not None
    assert at_markup.task.passages == (marked,)


@pytest.mark.parametrize(
    ("grade", "mark", "name"),
    [
        (Grade(1, "relevant", "1"), "1", "1 relevant"),
        (Grade(3, "S: highly relevant", "s"), "S", "S: highly relevant"),
        (Grade(1, "relevant", "r"), "r", "r: relevant"),
        (Grade(1, "see: also", "r"), "r", "r: see: also"),
        (Grade(2, "relevant", "+"), "2", "2 relevant"),
        (Grade(1, "rel\x1b[31m", "1"), "1", "1 rel␛[31m"),
    ],
)
def test_a_grade_has_one_mark_and_one_name(grade: Grade, mark: str, name: str) -> None:
    """A letter is said once, and a label cannot steer the terminal."""
    scale = make_scale((Grade(0, "not relevant", "0"), grade))
    assert grade_mark(scale, grade.value) == mark
    assert grade_name(scale, grade.value) == name


@dataclass
class Drawer:
    """Draws from the pool `live`, as long as its strategy can be asked."""

    collection: Collection
    choose: Choose
    trouble: str = ""

    def draw(self, topic: str) -> bool:
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


@pytest.fixture
def at_live(live: Collection, clock: Any, drawer: Drawer) -> JudgingSession:
    """Sit alice down at topic 77, of which one document is drawn."""
    at_live = sit(live, clock, drawing=drawer)
    at_live.open_topic("77")
    return at_live


def queue(at_live: JudgingSession) -> str:
    """Return the docnos in the queue."""
    return "".join(task.docno for task in at_live.tasks)


def drawn(collection: Collection) -> str:
    """Return the docnos drawn, in order."""
    entries = [one for one in collection.pools.get("live").entries if one.sampled]
    return "".join(one.docno for one in sorted(entries, key=lambda one: one.position))


def test_opening_an_adaptive_topic_draws_one_document(live: Collection, clock: Any, drawer: Drawer) -> None:
    """The first document is drawn; the count is of all that may be; opening again draws none."""
    at_live = sit(live, clock, drawing=drawer)
    for _ in range(2):
        at_live.open_topic("77")
        assert (docno(at_live), queue(at_live)) == ("a", "a")
        assert (at_live.progress.total, at_live.progress.left) == (4, 4)
    later = sit(live, clock, "bob", drawing=drawer)
    later.open_topic("77")
    assert (docno(later), drawn(live)) == ("a", "a")


def test_each_decision_draws_the_document_it_leads_to(
    at_live: JudgingSession, live: Collection, clock: Any
) -> None:
    """A hit leads to the first document left, a miss to the last; the budget ends it."""
    for value, following, left in ((1, "b", 3), (0, "f", 2), (2, "c", 1)):
        assert at_live.page_ahead() is None
        assert grade(at_live, clock, value) is KeyOutcome.SAVED
        assert (docno(at_live), at_live.progress.left) == (following, left)
        assert at_live.progress.total == 4
        assert not at_live.is_complete
    grade(at_live, clock, 1)
    assert at_live.is_complete
    assert (docno(at_live), queue(at_live), drawn(live)) == ("c", "abfc", "abfc")
    assert not at_live.go_next()


def test_what_is_no_hit_leads_on_and_is_not_drawn_again(at_live: JudgingSession, live: Collection) -> None:
    """Skipped and impossible documents count as decided; a note draws nothing."""
    shown(at_live).note("odd")
    assert (docno(at_live), drawn(live)) == ("a", "a")
    at_live.skip()
    assert docno(at_live) == "f"
    shown(at_live).cannot("torn")
    assert (docno(at_live), at_live.progress.left) == ("e", 2)


@pytest.mark.parametrize("advance", [True, False])
def test_a_later_sitting_draws_only_when_all_is_decided(
    live: Collection, clock: Any, drawer: Drawer, advance: bool
) -> None:
    """It opens at what was drawn and not judged, else at what the last decision leads to."""
    at_live = sit(live, clock, drawing=drawer, advance=advance)
    at_live.open_topic("77")
    grade(at_live, clock, 1)
    assert drawn(live) == ("ab" if advance else "a")
    at_live.desk.leave()
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    assert (docno(later), drawn(live)) == ("b", "ab")


def test_without_advance_only_next_at_the_end_draws(live: Collection, clock: Any, drawer: Drawer) -> None:
    """A judge who stays draws by going on, and only from the end of a queue that is decided."""
    at_live = sit(live, clock, drawing=drawer, advance=False)
    at_live.open_topic("77")
    assert not at_live.go_next()
    grade(at_live, clock, 1)
    assert (docno(at_live), drawn(live)) == ("a", "a")
    assert at_live.go_next()
    assert (docno(at_live), drawn(live)) == ("b", "ab")
    assert at_live.go_previous()
    assert at_live.go_next()
    assert (docno(at_live), drawn(live)) == ("b", "ab")


def test_next_draws_nothing_past_a_document_without_a_decision(
    at_live: JudgingSession, live: Collection, clock: Any
) -> None:
    """At the end of the queue, something before it is still open: that is first."""
    grade(at_live, clock, 1)
    grade(at_live, clock, 1)
    at_live.go_previous()
    at_live.undo()
    assert (docno(at_live), queue(at_live)) == ("b", "abc")
    at_live.go_next()
    shown(at_live).skip()  # c
    assert docno(at_live) == "b"
    at_live.go_next()
    assert not at_live.go_next()
    assert drawn(live) == "abc"


def test_undo_takes_back_the_grade_and_not_the_draw(
    at_live: JudgingSession, live: Collection, clock: Any, drawer: Drawer
) -> None:
    """The document it led to waits; what is drawn later follows from the grade given instead."""
    grade(at_live, clock, 1)
    assert docno(at_live) == "b"
    assert at_live.undo().outcome is KeyOutcome.SAVED
    assert (docno(at_live), queue(at_live), at_live.progress.left) == ("a", "ab", 4)
    grade(at_live, clock, 0)
    assert (docno(at_live), drawn(live)) == ("b", "ab")
    watched = Watched(drawer.choose)
    drawer.choose = watched
    grade(at_live, clock, 0)
    assert watched.told == [Draw("a", 0), Draw("b", 0)]
    assert (docno(at_live), drawn(live)) == ("f", "abf")


def test_a_failed_draw_leaves_the_grade_saved_and_says_so(
    at_live: JudgingSession, live: Collection, clock: Any, drawer: Drawer, events: Events
) -> None:
    """The judge reads that it is saved and why there is no next document; later it goes on."""
    drawer.trouble = "the runs have changed"
    show(at_live, clock)
    result = at_live.grade(1)
    assert result.outcome is KeyOutcome.STUCK
    assert result.message == (
        "1 partially relevant; the next document could not be drawn: the runs have changed"
    )
    assert result.saved_at is not None
    assert [event["grade"] for event in events()] == [1]
    assert (at_live.progress.judged, at_live.progress.left) == (1, 3)
    assert at_live.undoing.n_decided == 1

    assert at_live.task is None
    show(at_live, clock)
    for act in (
        lambda: at_live.grade(0),
        at_live.skip,
        lambda: at_live.cannot("torn"),
        lambda: at_live.note("odd"),
        lambda: at_live.mark([]),
        at_live.retry,
    ):
        result = act()
        assert result.outcome is KeyOutcome.FAILED
        assert "the runs have changed" in result.message
    with pytest.raises(PoolerError, match="the runs have changed"):
        at_live.go_next()
    assert at_live.go_previous()
    assert docno(at_live) == "a"
    with pytest.raises(PoolerError, match="the runs have changed"):
        at_live.go_next()

    drawer.trouble = ""
    assert at_live.retry().outcome is KeyOutcome.UNCHANGED
    assert (docno(at_live), drawn(live)) == ("b", "ab")
    assert len(events()) == 1


def test_a_failed_draw_opens_nothing(live: Collection, clock: Any, drawer: Drawer) -> None:
    """The topic that was open stays open, at its document."""
    at_live = sit(live, clock, drawing=drawer)
    at_live.open_topic("12")
    at_live.go_next()
    drawer.trouble = "the runs have changed"
    with pytest.raises(PoolerError, match="the runs have changed"):
        at_live.open_topic("77")
    assert at_live.topic is not None
    assert (at_live.topic.topic, docno(at_live)) == ("12", "e1")
    assert (at_live.progress.total, at_live.progress.left) == (4, 4)
    drawer.trouble = ""
    at_live.open_topic("77")
    assert docno(at_live) == "a"


def test_documents_decided_in_another_pool_are_passed_over(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """They are drawn with the grades they have, and nobody judges them twice."""
    live.pools.add(Pool([PoolEntry("77", docno, n) for n, docno in enumerate("abf")], {}, "fixed"))
    at_live = sit(live, clock)
    at_live.open_topic("77")
    for value in (1, 0):
        grade(at_live, clock, value)
    shown(at_live).skip()
    later = sit(live, clock, drawing=drawer)
    later.open_topic("77")
    # a is a hit, b is not, f is none: then e.
    assert (docno(later), drawn(live)) == ("e", "abfe")
    assert (later.progress.total, later.progress.left) == (4, 1)
    assert queue(later) == "abfe"


def test_a_document_drawn_into_the_middle_of_the_queue_moves_nobody(
    live: Collection, clock: Any, drawer: Drawer
) -> None:
    """An older pool's draws come before a newer pool's documents; the judge's place is kept."""
    live.pools.add(Pool([PoolEntry("77", docno, n) for n, docno in enumerate("bxy")], {}, "late"))
    at_live = sit(live, clock, drawing=drawer)
    at_live.open_topic("77")
    assert queue(at_live) == "bxy"
    for _ in range(3):
        grade(at_live, clock, 0)
    assert (docno(at_live), queue(at_live)) == ("a", "abxy")
    for _ in range(2):
        grade(at_live, clock, 0)
    assert (docno(at_live), queue(at_live)) == ("e", "afebxy")
    for expected in "bxy":
        assert at_live.go_next()
        assert docno(at_live) == expected
    drawer.trouble = "the runs have changed"
    grade(at_live, clock, 1)
    show(at_live, clock)
    assert at_live.grade(0).message.endswith("the runs have changed")
    assert at_live.go_previous()
    assert docno(at_live) == "e"


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
    at_live = sit(live, clock)
    at_live.open_topic("77")
    assert (at_live.task, at_live.progress.total) == (None, 0)
    live.pools.draw("live", "77", ends("abcdef"))
    at_live.open_topic("77")
    assert (docno(at_live), at_live.progress.total) == ("a", 1)
