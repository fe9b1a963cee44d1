"""The adjudicating session: which document comes, what is written, what is left as it was."""

from __future__ import annotations

import pytest

from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.judging.disagreements import Settlement
from store.records import State
from tests.judge_ui.conftest import Clock, Maker, shown
from tests.judge_ui.disputes import JUDGES, begin, change, docno, make_disputed, rulings


@pytest.fixture
def disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree on e0, e1, e3, and two of them on j0."""
    return make_disputed(make_collection)


def test_session_goes_from_disagreement_to_disagreement(disputed: Collection) -> None:
    """Documents on which judges agree are never shown; every decision is the adjudicator's own."""
    session = begin(disputed)
    for expected in ("e0", "e1", "e3"):
        assert docno(session) == expected
        session.mark_shown()
        assert session.grade(1).outcome is KeyOutcome.SAVED
    assert session.is_complete
    assert {one: judgement.grade for one, judgement in rulings(disputed).items()} == {
        "e0": 1,
        "e1": 1,
        "e3": 1,
    }
    assert [one.grade for one in disputed.judgements.current(["alice"]) if one.docno == "e0"] == [0]
    session.desk.leave()


def test_session_gives_what_the_judges_said(disputed: Collection) -> None:
    """Grades, notes and passages come with the document, and no name with them."""
    session = begin(disputed)
    found = session.disagreement()
    assert found is not None
    assert sorted(one.grade or 0 for one in found.opinions) == [0, 2, 2]
    assert [one.note for one in found.opinions if one.passages] == ["names a schedule"]
    assert not any(name in repr(found) for name in JUDGES)
    session.desk.leave()


def test_skipping_a_changed_disagreement_keeps_its_outcome(disputed: Collection) -> None:
    """What was settled before stays settled as that, and nothing is written."""
    first = begin(disputed)
    first.mark_shown()
    first.grade(2)
    first.desk.leave()
    change(disputed, "alice", "e0", 1)
    session = begin(disputed)
    assert docno(session) == "e0"
    result = shown(session).skip()
    assert (result.outcome, result.message) == (KeyOutcome.UNCHANGED, "left for later; 2 stands till then")
    assert docno(session) == "e1"
    assert (rulings(disputed)["e0"].grade, session.undoing.n_decided) == (2, 0)
    assert shown(session).skip().outcome is KeyOutcome.SAVED
    assert rulings(disputed)["e1"].state is State.SKIPPED
    session.desk.leave()


def test_skipping_what_is_settled_asks_first(disputed: Collection) -> None:
    """As in judging, a grade is not taken away by one key."""
    session = begin(disputed)
    session.mark_shown()
    session.grade(2)
    session.go_previous()
    assert docno(session) == "e0"
    assert shown(session).skip().outcome is KeyOutcome.CONFIRM
    shown(session).skip(confirmed=True)
    assert rulings(disputed)["e0"].state is State.SKIPPED
    session.desk.leave()


def test_same_grade_again_settles_a_changed_disagreement(disputed: Collection) -> None:
    """The old outcome is no `as before`: the adjudicator decides on what the judges say now."""
    first = begin(disputed)
    first.mark_shown()
    first.grade(2)
    first.desk.leave()
    change(disputed, "alice", "e0", 1)
    session = begin(disputed)
    session.mark_shown()
    assert session.grade(2).outcome is KeyOutcome.SAVED
    (case,) = [case for case in disputed.disagreements.all() if case.docno == "e0"]
    assert case.status is Settlement.SETTLED
    assert rulings(disputed)["e0"].revision == 2
    session.desk.leave()


def test_undo_crosses_topics_and_shows_the_judges_again(disputed: Collection) -> None:
    """Undo goes back to a document of another topic and to what its judges said."""
    session = begin(disputed)
    session.mark_shown()
    session.grade(2)
    session.open_topic("0013")
    assert docno(session) == "j0"
    assert session.undo().message == "grade 2 undone: unjudged again"
    assert docno(session) == "e0"
    found = session.disagreement()
    assert found is not None
    assert (len(found.opinions), found.status) == (3, Settlement.OPEN)
    session.desk.leave()


def test_another_cell_is_another_queue(disputed: Collection) -> None:
    """The open topic is read anew; without a document of that cell it is empty."""
    session = begin(disputed)
    assert [one.cell for one in session.desk.cells()] == [(0, 1), (0, 2), (0, None), (1, None)]
    assert session.select_cell((0, 2))
    assert [task.docno for task in session.tasks] == ["e0", "e3"]
    assert session.select_cell((1, None))
    assert [task.docno for task in session.tasks] == ["e1"]
    session.open_topic("0013")
    assert session.task is None
    assert session.disagreement() is None
    assert session.select_cell(None)
    assert docno(session) == "j0"
    session.desk.leave()


def test_active_time_is_stored_with_a_ruling(disputed: Collection, clock: Clock) -> None:
    """Adjudicating is work like judging: dwell is measured and kept."""
    session = begin(disputed, clock=clock)
    session.mark_shown()
    clock.wait(7)
    session.grade(2)
    assert session.desk.recent_active_ms() == [7000]
    session.desk.leave()
