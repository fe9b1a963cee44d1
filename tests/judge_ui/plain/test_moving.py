"""The way through a topic in line mode: rounds after its end, topics, first entry, warnings."""

from __future__ import annotations

from typing import Any

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import State
from tests.judge_ui.conftest import Clock
from tests.judge_ui.plain_sitting import after, sit, states

ALL_DONE = "12 bridge maintenance: every document has a decision"


def test_the_skipped_are_gone_over_one_after_the_other(two_topics: Collection) -> None:
    """Each is shown once, whatever is decided, and the topic is summed up again."""
    printed = sit(two_topics, "s", "1", "s", "s", "s", "2", "s", "0")
    assert after(printed, 4).startswith("2 more to go over\n\nDocument e0 (skipped)\n")
    assert "\n1 more to go over\n\nDocument e2 (skipped)\n" in after(printed, 5)
    assert "\nthe last to go over\n\nDocument e3 (skipped)\n" in after(printed, 6)
    assert "12 bridge maintenance: 1 skipped\n" in after(printed, 7)
    assert "Enter = the 1 skipped, topics = topics" in after(printed, 7)
    stored = {docno: (one.state, one.grade) for docno, one in states(two_topics).items()}
    assert stored == {
        "e0": (State.JUDGED, 2),
        "e1": (State.JUDGED, 1),
        "e2": (State.SKIPPED, None),
        "e3": (State.JUDGED, 0),
    }


def test_a_grade_key_grades_nothing_at_the_end_of_a_topic(two_topics: Collection) -> None:
    """An answer too many is no judgement of the document that happens to be last."""
    printed = sit(two_topics, "0", "0", "0", "0", "2", "foo", "d", "1")
    assert after(printed, 4).startswith("'2' means nothing here\nEnter = topics, ")
    assert "\nDocument e3 (judged: 0 not relevant)\n" in after(printed, 6)
    assert [one.grade for one in states(two_topics).values()] == [0, 0, 0, 1]


def test_undo_after_the_end_of_a_topic_shows_the_document(two_topics: Collection) -> None:
    """The last decision is taken back, and its document printed."""
    printed = sit(two_topics, "0", "0", "0", "0", "u", "1")
    assert "\nDocument e3\n" in after(printed, 4)
    assert ALL_DONE in after(printed, 5)
    assert states(two_topics)["e3"].grade == 1


def test_next_after_the_last_document_of_a_topic_that_is_done_sums_up(two_topics: Collection) -> None:
    """So does the full screen; before that the last document is said to be the last."""
    printed = sit(two_topics, "0", "0", "0", "n", "0", "d", "n")
    assert after(printed, 3).startswith("this is the last document\n")
    assert ALL_DONE in after(printed, 4)
    assert after(printed, 6).startswith(f"\n{ALL_DONE}\n")


def test_at_a_terminal_the_first_document_waits_for_enter(two_topics: Collection) -> None:
    """Who is new to a topic reads it first; a key typed meanwhile grades nothing."""
    two_topics.guidelines.add("Be kind.")
    printed = sit(two_topics, "2", "?", "", "1", typed=True)
    assert printed.split(" > ")[0].endswith("Be kind.\n\nq quits, Enter = the first document")
    assert after(printed, 0).startswith("'2' was ignored: no document is shown yet\n")
    assert "  ? or help: these lines" in after(printed, 1)
    assert "\nDocument e0\n" in after(printed, 2)
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"e0": 1}
    assert "Enter = the first document" not in sit(two_topics, "2", typed=True)


def test_the_first_document_can_be_turned_away_from(two_topics: Collection) -> None:
    """Quitting and the end of the input work before the first document."""
    assert "Document" not in sit(two_topics, "q", "2", typed=True)
    assert sit(two_topics, typed=True).endswith("all saved\n")
    assert states(two_topics) == {}


def test_another_sitting_of_the_same_judge_is_warned_about(two_topics: Collection) -> None:
    """On opening a topic, as long as the other one is alive, and not after it has ended."""
    other = JudgingSession(two_topics.desk("alice"), min_dwell=0)
    other.open_topic("12")
    warning = sit(two_topics).splitlines()[0]
    assert warning.startswith("Warning: ")
    assert "this very topic" in warning
    other.desk.leave()
    assert "Warning" not in sit(two_topics)


def test_every_answer_is_a_sign_of_life(two_topics: Collection) -> None:
    """A judge who only reads is seen by a second sitting too."""
    seen = []

    def look() -> None:
        other = JudgingSession(two_topics.desk("alice"), min_dwell=0)
        seen.extend(one.seen_at for one in other.desk.live_elsewhere())

    sit(two_topics, "?", look, "?", look)
    assert len(seen) == 2
    assert seen[0] < seen[1]


def test_the_skipped_can_be_left_for_other_topics(two_topics: Collection) -> None:
    """After a topic `topics` goes to the list; a `next` too many does not."""
    printed = sit(two_topics, "0", "12", "s", "1", "1", "1", "n", "Topics", "0013", "2", topic=None)
    assert after(printed, 0).startswith("`0` is none of these topics")
    assert after(printed, 6).startswith("'n' means nothing here\n")
    assert "Topics of alice" in after(printed, 7)
    assert {docno: one.grade for docno, one in states(two_topics).items() if one.grade == 2} == {"j0": 2}


def test_active_time_is_counted_at_every_answer(two_topics: Collection, clock: Clock, events: Any) -> None:
    """Looking around is work: 100 s, then 100 s, and of a pause of 1000 s two minutes."""
    steps = [lambda: clock.wait(100), "?", lambda: clock.wait(100), "find bridge"]
    sit(two_topics, *steps, lambda: clock.wait(1000), "2", clock=clock)
    (event,) = events()
    assert (event["dwell_ms"], event["active_ms"]) == (1_200_000, 320_000)
