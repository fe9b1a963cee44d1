"""Documents that are drawn one by one into the queue of a session, by what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.content.pools import Choose, Draw
from store.errors import PoolerError
from store.records import Pool, PoolEntry, Topic
from tests.helpers.drawing import Watched, adaptive_pool, ends
from tests.screens.conftest import shown
from tests.screens.test_session import Events, docno, grade, show, sit


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
def session(live: Collection, clock: Any, drawer: Drawer) -> JudgingSession:
    """Sit alice down at topic 77, of which one document is drawn."""
    session = sit(live, clock, drawing=drawer)
    session.open_topic("77")
    return session


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


def test_each_decision_draws_the_document_it_leads_to(
    session: JudgingSession, live: Collection, clock: Any
) -> None:
    """A hit leads to the first document left, a miss to the last; the budget ends it."""
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


def test_what_is_no_hit_leads_on_and_is_not_drawn_again(session: JudgingSession, live: Collection) -> None:
    """Skipped and impossible documents count as decided; a note draws nothing."""
    shown(session).note("odd")
    assert (docno(session), drawn(live)) == ("a", "a")
    session.skip()
    assert docno(session) == "f"
    shown(session).cannot("torn")
    assert (docno(session), session.progress.left) == ("e", 2)


@pytest.mark.parametrize("advance", [True, False])
def test_a_later_sitting_draws_only_when_all_is_decided(
    live: Collection, clock: Any, drawer: Drawer, advance: bool
) -> None:
    """It opens at what was drawn and not judged, else at what the last decision leads to."""
    session = sit(live, clock, drawing=drawer, advance=advance)
    session.open_topic("77")
    grade(session, clock, 1)
    assert drawn(live) == ("ab" if advance else "a")
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
    session: JudgingSession, live: Collection, clock: Any
) -> None:
    """At the end of the queue, something before it is still open: that is first."""
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


def test_undo_takes_back_the_grade_and_not_the_draw(
    session: JudgingSession, live: Collection, clock: Any, drawer: Drawer
) -> None:
    """The document it led to waits; what is drawn later follows from the grade given instead."""
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
    session: JudgingSession, live: Collection, clock: Any, drawer: Drawer, events: Events
) -> None:
    """The judge reads that it is saved and why there is no next document; later it goes on."""
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
