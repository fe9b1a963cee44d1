"""Redo, passages, and decisions that could not be written at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.db.engine import writing
from store.errors import StoreError
from store.records import Document, Passage, State
from tests.judge_ui.conftest import ENGLISH, Maker, shown
from tests.judge_ui.session.test_session import docno, grade, locked, show, sit

Locked = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def session(two_topics: Collection, clock: Any) -> JudgingSession:
    """Open the English topic."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    return session


@pytest.fixture
def lock(two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch) -> Locked:
    """Give a way to make writing impossible for a while."""

    @contextmanager
    def hold() -> Iterator[None]:
        two_topics._db.engine.dispose()
        monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
        with locked(collection_file):
            yield

    return hold


def grades(events: Any) -> list[tuple[str, str, int | None]]:
    """Read docno, action and grade of every event."""
    return [(row["docno"], row["action"], row["grade"]) for row in events()]


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
    assert grades(events)[-2:] == [("e0", "judge", 2), ("e1", "judge", 1)]
    assert [(row["dwell_ms"], row["shown_at"]) for row in events()][-2:] == [(None, None)] * 2
    assert session.undo().message == "grade 1 undone: unjudged again"


def test_a_decision_forgets_what_could_be_redone(session: JudgingSession, clock: Any) -> None:
    """Redo never overwrites what was decided since."""
    grade(session, clock, 2)
    session.undo()
    grade(session, clock, 0)
    assert session.redo().outcome is KeyOutcome.NOTHING
    assert session.tasks[0].grade == 0


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
def test_a_decision_that_was_not_written_waits_and_is_written_once(
    session: JudgingSession, clock: Any, events: Any, lock: Locked
) -> None:
    """The grade stays with its document; trying again writes it with its own dwell, once."""
    show(session, clock, 5)
    with lock():
        assert session.grade(2).outcome is KeyOutcome.FAILED
        assert session.pending is not None
        assert session.pending.words == "2 relevant"
        assert session.retry().outcome is KeyOutcome.FAILED
        for go in (session.go_next, session.go_previous, lambda: session.go_to(3)):
            with pytest.raises(StoreError, match="NOT SAVED: 2 relevant"):
                go()
        with pytest.raises(StoreError, match="NOT SAVED: 2 relevant"):
            session.open_topic("0013")
    clock.wait(60)
    assert docno(session) == "e0"
    assert session.retry().outcome is KeyOutcome.SAVED
    assert docno(session) == "e1"
    assert session.retry().outcome is KeyOutcome.NOTHING
    ((row),) = events()
    assert (row["grade"], row["dwell_ms"]) == (2, 5000)
    assert session.unsaved == set()


@pytest.mark.slow
def test_another_grade_takes_the_place_of_one_that_waits(
    session: JudgingSession, clock: Any, events: Any, lock: Locked
) -> None:
    """What the judge pressed last is what is written."""
    show(session, clock)
    with lock():
        session.grade(2)
        session.grade(0)
    assert session.retry().outcome is KeyOutcome.SAVED
    assert grades(events) == [("e0", "judge", 0)]


@pytest.mark.slow
def test_undo_gives_up_a_decision_that_waits(
    session: JudgingSession, clock: Any, events: Any, lock: Locked
) -> None:
    """It takes back the one that waits, not the one written before it."""
    grade(session, clock, 1)
    show(session, clock)
    with lock():
        session.grade(2)
        assert session.undo().message == "grade 2 given up: unjudged"
    assert session.pending is None
    assert session.unsaved == set()
    assert grades(events) == [("e0", "judge", 1)]
    assert docno(session) == "e1"


@pytest.mark.slow
def test_a_note_does_not_take_the_place_of_a_grade_that_waits(
    session: JudgingSession, clock: Any, events: Any, lock: Locked
) -> None:
    """A note is refused meanwhile, even when it could be written."""
    show(session, clock)
    with lock():
        session.grade(2)
    assert shown(session).note("n").message == "NOT SAVED yet: 2 relevant"
    assert session.retry().outcome is KeyOutcome.SAVED
    assert grades(events) == [("e0", "judge", 2)]


def test_a_failed_undo_that_was_done_after_all_is_not_done_twice(
    two_topics: Collection, clock: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks just after an undo: pressing again undoes nothing more."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    grade(session, clock, 2)
    grade(session, clock, 1)
    with breaking_after_commit(monkeypatch):
        assert session.undo().outcome is KeyOutcome.FAILED
    assert session.undo().message == "grade 1 undone: unjudged again"
    assert grades(events) == [("e0", "judge", 2), ("e1", "judge", 1), ("e1", "undo", None)]
    assert session.undo().message == "grade 2 undone: unjudged again"


def test_a_failed_grade_that_was_written_after_all_is_not_written_twice(
    two_topics: Collection, clock: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks just after a grade was committed: trying again finds it there."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    show(session, clock)
    with breaking_after_commit(monkeypatch):
        assert session.grade(2).outcome is KeyOutcome.FAILED
    assert session.retry().outcome is KeyOutcome.SAVED
    assert grades(events) == [("e0", "judge", 2)]
    assert docno(session) == "e1"
    assert session.undo().message == "grade 2 undone: unjudged again"


def test_another_grade_after_one_written_unseen_is_a_revision(
    two_topics: Collection, clock: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else wrote it, so it is no conflict."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    show(session, clock)
    with breaking_after_commit(monkeypatch):
        session.grade(2)
    assert session.grade(0).outcome is KeyOutcome.SAVED
    assert grades(events) == [("e0", "judge", 2), ("e0", "judge", 0)]
    assert session.tasks[0].state is State.JUDGED


@contextmanager
def breaking_after_commit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every writing transaction fail when it is committed already."""
    from store.judging import desk as open_desk

    whole = writing

    @contextmanager
    def broken(*arguments: Any, **options: Any) -> Iterator[Any]:
        with whole(*arguments, **options) as session:
            yield session
        message = "the server closed the connection"
        raise StoreError(message)

    with monkeypatch.context() as patch:
        patch.setattr(open_desk, "writing", broken)
        yield


@pytest.mark.slow
def test_a_note_that_waits_is_not_lost_to_a_grade(
    session: JudgingSession, clock: Any, events: Any, lock: Locked
) -> None:
    """While the note cannot be written no grade is; afterwards the note goes first."""
    show(session, clock)
    with lock():
        assert shown(session).note("why").outcome is KeyOutcome.FAILED
        assert session.grade(2).outcome is KeyOutcome.FAILED
        assert session.pending is not None
        assert session.pending.words == "note saved"
    assert session.grade(2).outcome is KeyOutcome.SAVED
    assert [(row["action"], row["grade"], row["note"]) for row in events()] == [
        ("note", None, b"why"),
        ("judge", 2, b"why"),
    ]


def test_a_key_dropped_before_the_paint_does_not_start_the_wait(two_topics: Collection, clock: Any) -> None:
    """The least time on the screen is counted from the paint, whatever was pressed before it."""
    session = sit(two_topics, clock, min_dwell=0.3)
    session.open_topic("12")
    assert session.grade(1).outcome is KeyOutcome.TOO_EARLY
    clock.wait(1.0)
    session.mark_shown()
    clock.wait(0.1)
    assert session.grade(1).outcome is KeyOutcome.TOO_EARLY
