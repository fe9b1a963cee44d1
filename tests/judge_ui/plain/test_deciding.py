"""Decisions in line mode: reasons, notes, conflicts, and what is not saved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from judge_ui.plain import run_plain
from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Document, State, Topic
from tests.judge_ui.conftest import Maker
from tests.judge_ui.plain_sitting import Typist, after, sit, states
from tests.judge_ui.session.test_session import locked

Events = Callable[[], list[dict[str, Any]]]


def decided(events: Events) -> list[tuple[str, str, int | None]]:
    """Return docno, action and grade of every event."""
    return [(row["docno"], row["action"], row["grade"]) for row in events()]


class Lock:
    """Makes writing to a collection impossible, and possible again."""

    def __init__(self, collection: Collection, file: Path) -> None:
        self._collection = collection
        self._file = file
        self._held = ExitStack()

    def shut(self) -> None:
        """Let no decision be written from here on."""
        self._collection._db.engine.dispose()
        self._held.enter_context(locked(self._file))

    def open(self) -> None:
        """Let decisions be written again."""
        self._held.close()


@pytest.fixture
def lock(two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    """Give a lock on the collection of two topics."""
    # The default of seconds would make these slow tests of SQLite.
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    return Lock(two_topics, collection_file)


def elsewhere(collection: Collection, value: int, place: int = 0) -> Callable[[], None]:
    """Let alice grade a document in another sitting."""

    def grade() -> None:
        session = JudgingSession(collection.desk("alice"), min_dwell=0)
        session.open_topic("12")
        session.go_to(place)
        session.mark_shown()
        session.grade(value)

    return grade


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("c 2", "wrong language"),
        ("can't 3", "text missing"),
        ("c ２", "wrong language"),
        ("cannot torn page", "torn page"),
    ],
)
def test_a_reason_on_the_same_line(two_topics: Collection, answer: str, reason: str) -> None:
    """A key or words after the command are the reason, and nothing more is asked."""
    sit(two_topics, answer, "1")
    stored = states(two_topics)
    assert (stored["e0"].state, stored["e0"].reason) == (State.CANNOT, reason)
    assert stored["e1"].grade == 1


def test_a_note_on_the_same_line(two_topics: Collection) -> None:
    """The note is what follows the command, as it was typed; `-` takes it away."""
    sit(two_topics, "note 2 or 1?  Ask Ann", "n", "e 日本語", "n", "note x", "note -")
    stored = states(two_topics)
    assert stored["e0"].note == "2 or 1?  Ask Ann"
    assert (stored["e0"].grade, stored["e1"].note, stored["e2"].note) == (None, "日本語", "")


def test_a_decision_made_elsewhere_is_asked_about_and_kept(two_topics: Collection, events: Events) -> None:
    """`k` keeps what was decided elsewhere, goes on, and leaves both in the history."""
    printed = sit(two_topics, elsewhere(two_topics, 1), "2", "k", "0")
    assert "grade 1 at " in after(printed, 0)
    assert "your 2 is NOT SAVED\n" in after(printed, 0)
    assert after(printed, 0).endswith("k = keep that, r = replace it by your 2; both stay in the history")
    assert "grade 1 kept (saved " in after(printed, 1)
    grades = {docno: one.grade for docno, one in states(two_topics).items()}
    assert grades == {"e0": 1, "e1": 0}
    assert [row[1:] for row in decided(events) if row[0] == "e0"] == [("judge", 1), ("judge", 2), ("undo", 1)]


@pytest.mark.parametrize("answer", ["r", "ｒ", "Replace"])
def test_a_decision_made_elsewhere_is_replaced(two_topics: Collection, answer: str) -> None:
    """`r` puts the new grade in its place; full width and whole words work too."""
    printed = sit(two_topics, elsewhere(two_topics, 1), "2", answer)
    assert after(printed, 1).startswith("2 relevant (saved ")
    assert states(two_topics)["e0"].grade == 2


def test_the_question_of_a_conflict_takes_nothing_else(two_topics: Collection) -> None:
    """A script's next grade answers no question it was not meant for."""
    printed = sit(two_topics, elsewhere(two_topics, 1), "2", "0", "", "q", "1", "r")
    assert printed.count("k or r\n") == 4
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"e0": 2}


def test_the_end_of_the_input_at_a_conflict_keeps_what_was_decided_elsewhere(
    two_topics: Collection, events: Events
) -> None:
    """Nothing is replaced that nobody was asked about; both stay in the history."""
    printed = sit(two_topics, elsewhere(two_topics, 1), "2")
    assert printed.endswith("alice: 0 decisions in this sitting, all saved\n")
    assert "grade 1 kept (saved " in printed
    assert states(two_topics)["e0"].grade == 1
    assert [grade for _, _, grade in decided(events)] == [1, 2, 1]


@pytest.mark.slow
def test_a_decision_that_is_not_saved_is_said_to_be_and_saved_by_retry(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """The question says what waits; the document stays until it is written, once."""
    printed = sit(two_topics, lock.shut, "2", "retry", "", lock.open, "retry", "1")
    assert "NOT SAVED (2 relevant): " in after(printed, 0)
    question = "\nNOT SAVED: 2 relevant. Enter or retry = try again, u = give it up, q quits"
    assert [after(printed, n).endswith(question) for n in range(4)] == [True] * 3 + [False]
    assert after(printed, 3).startswith("2 relevant (saved ")
    assert "\nDocument e1\n" in after(printed, 3)
    assert decided(events) == [("e0", "judge", 2), ("e1", "judge", 1)]
    assert printed.endswith("all saved\n")


@pytest.mark.slow
def test_a_script_gets_no_further_than_what_is_not_saved(two_topics: Collection, lock: Lock) -> None:
    """The grades after it were meant for other documents: none is written, now or later."""
    printed = sit(two_topics, "0", lock.shut, "2", "1", lock.open, "0", "n", "s", "/")
    grades = {docno: one.grade for docno, one in states(two_topics).items()}
    # The end of the input is the last chance of the grade that waited.
    assert grades == {"e0": 0, "e1": 2}
    assert "5 answers were ignored\n" in printed
    assert printed.endswith("alice: 2 decisions in this sitting, all saved\n")


@pytest.mark.slow
def test_quitting_says_what_was_not_saved(two_topics: Collection, lock: Lock) -> None:
    """A last attempt, and the loss in the last line."""
    printed = sit_locked(two_topics, lock, "2", "q")
    assert printed.count("NOT SAVED (2 relevant): ") == 2
    assert printed.endswith("\nalice: 0 decisions in this sitting, 1 NOT SAVED\n")
    assert states(two_topics) == {}


@pytest.mark.slow
def test_what_is_not_saved_can_be_given_up(two_topics: Collection, lock: Lock) -> None:
    """`u` gives it up, and the document is asked about as before."""
    printed = sit(two_topics, lock.shut, "2", "u", lock.open, "1")
    assert after(printed, 1).startswith("grade 2 given up: unjudged\n\n0/4 grade 0-2, ")
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"e0": 1}


@pytest.mark.slow
def test_at_a_terminal_another_decision_takes_the_place_of_one_that_waits(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """The judge sees which document is here, so a grade is for that one."""
    for answer, action in (("1", "judge"), ("s", "skip"), ("c 1", "cannot")):
        sit(two_topics, "", lock.shut, "2", lock.open, answer, typed=True)
        assert decided(events)[-1][1] == action
    assert [docno for docno, *_ in decided(events)] == ["e0", "e1", "e2"]


@pytest.mark.slow
def test_at_a_terminal_anything_else_tries_once_more_and_is_not_done(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """`n` after the outage saves the grade and goes on by one document, not by two."""
    printed = sit(two_topics, "", lock.shut, "2", "n", lock.open, "n", "1", typed=True)
    assert printed.count("NOT SAVED (2 relevant): ") == 2
    assert "'n' was ignored: answer again\n\nDocument e1\n" in printed
    assert decided(events) == [("e0", "judge", 2), ("e1", "judge", 1)]


@pytest.mark.slow
def test_a_note_that_could_not_be_written_waits_too(two_topics: Collection, lock: Lock) -> None:
    """A note is retried like a grade."""
    sit(two_topics, lock.shut, "note ask Ann", lock.open, "retry", "1")
    stored = states(two_topics)["e0"]
    assert (stored.note, stored.grade) == ("ask Ann", 1)


@pytest.mark.slow
def test_what_waited_and_met_another_decision_is_asked_about(two_topics: Collection, lock: Lock) -> None:
    """After an outage the same judge may have decided on another machine."""
    answers = (lock.shut, "2", lock.open, elsewhere(two_topics, 1), "retry", "r")
    printed = sit(two_topics, *answers)
    assert "k = keep that, r = replace it by your 2" in printed
    assert states(two_topics)["e0"].grade == 2


def test_retry_with_nothing_to_save_says_so(two_topics: Collection) -> None:
    """It is no error."""
    assert after(sit(two_topics, "retry"), 0).startswith("nothing is left to save\n")


@pytest.mark.parametrize("answers", [["c"], ["c", "4"], ["note"], ["find"], ["2", "c"], ["0", "0", "0", "0"]])
def test_the_end_of_the_input_in_any_question_quits(two_topics: Collection, answers: list[str]) -> None:
    """What was answered before is kept, the question is not answered."""
    printed = sit(two_topics, *answers)
    assert printed.count("all saved\n") == 1
    n_graded = len([answer for answer in answers if answer.isdigit() and answer != "4"])
    assert len(states(two_topics)) == n_graded
    assert {one.state for one in states(two_topics).values()} <= {State.JUDGED}


def sit_locked(collection: Collection, lock: Lock, *answers: str) -> str:
    """Give answers while nothing can be written, to the end of the sitting."""
    session = JudgingSession(collection.desk("alice"), min_dwell=0)
    session.open_topic("12")
    write = Typist((), is_terminal=False)
    lock.shut()
    run_plain(session, Typist(answers, is_terminal=False), write)
    lock.open()
    session.desk.leave()
    return write.getvalue()


def test_a_wrong_answer_to_why_is_asked_again(two_topics: Collection) -> None:
    """A word that is no reason, a digit that is none; Enter goes back to the document."""
    printed = sit(two_topics, "c", "banana", "9", "2", "c 7", "", "1")
    assert after(printed, 1).startswith("'banana' is none of these\nwhy? 1 unreadable, ")
    assert after(printed, 2).startswith("'9' is none of these\nwhy? 1 unreadable, ")
    stored = states(two_topics)
    assert (stored["e0"].state, stored["e0"].reason) == (State.CANNOT, "wrong language")
    assert stored["e1"].grade == 1


def test_a_script_is_told_how_many_documents_without_text_it_graded(make_collection: Maker) -> None:
    """Nobody can be asked: each answer is of the document at hand; the count stands at the end."""
    documents = [Document("a"), Document("b", text="x"), Document("c")]
    collection = make_collection({Topic("1"): documents})
    printed = sit(collection, "0", "1", "2", topic="1")
    assert "2 documents graded without a text to judge\n" in printed
    assert {docno: one.grade for docno, one in states(collection).items()} == {"a": 0, "b": 1, "c": 2}
