"""What a judge can look up and move to; nothing is decided here."""

from __future__ import annotations

import socket
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, update

from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.db.engine import collection_url, engine_at, writing
from store.db.tables import GUIDELINE, SITTING
from store.errors import UnknownNameError
from store.records import Document, Passage
from tests.judge_ui.conftest import ENGLISH, Maker, shown
from tests.judge_ui.session.test_session import docno, grade, show, sit


@pytest.fixture
def session(two_topics: Collection, clock: Any) -> JudgingSession:
    """Open the English topic: e0 graded 2 at once, e1 skipped, e2 noted and graded 0 slowly."""
    session = sit(two_topics, clock, quick=1.0)
    session.open_topic("12")
    show(session, clock, 0.4)
    assert session.grade(2).outcome is KeyOutcome.SAVED
    shown(session).skip()
    shown(session).note("odd")
    show(session, clock, 20)
    session.grade(0)
    return session


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


def test_a_list_is_cut_down_by_filter_and_by_grade(session: JudgingSession) -> None:
    """Every filter lets through what it says, in display order; grade 0 is not "no decision"."""
    passage = Passage(0, 4, "Text")
    shown(session).mark([passage])
    found = {wanted: session.places(wanted) for wanted in [*Filter, 0, 1, 2]}
    assert found == {
        Filter.ALL: [0, 1, 2, 3],
        Filter.UNJUDGED: [3],
        Filter.JUDGED: [0, 2],
        Filter.SKIPPED: [1],
        Filter.CANNOT: [],
        Filter.NOTED: [2],
        Filter.MARKED: [3],
        Filter.QUICK: [0],
        0: [2],
        1: [],
        2: [0],
    }


def test_going_to_a_place_decides_nothing(session: JudgingSession, events: Any) -> None:
    """A document chosen from the list is before the judge; places off the list are its ends."""
    before = events()
    session.go_to(1)
    assert docno(session) == "e1"
    session.go_to(99)
    assert docno(session) == "e3"
    session.go_to(-5)
    assert docno(session) == "e0"
    assert events() == before


def test_history_is_of_this_sitting_and_of_the_document(
    session: JudgingSession, two_topics: Collection, clock: Any
) -> None:
    """The newest first; what was undone says so; a document remembers other sittings too."""
    session.undo()
    told = [(one.docno, one.action, one.grade, one.is_undone) for one in session.desk.events()]
    assert told == [
        ("e2", "undo", None, False),
        ("e2", "judge", 0, True),
        ("e2", "note", None, False),
        ("e1", "skip", None, False),
        ("e0", "judge", 2, False),
    ]
    session.desk.leave()
    later = sit(two_topics, clock)
    later.open_topic("12")
    assert later.desk.events() == []
    later.go_to(2)
    assert [(one.action, one.is_here) for one in later.events_here()] == [
        ("undo", False),
        ("judge", False),
        ("note", False),
    ]


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


def test_own_terms_cannot_steer_a_terminal(session: JudgingSession) -> None:
    """Controls, NUL and lone surrogates are shown as what they are; other words take their place."""
    session.set_own_terms("a\x1b[2J,\x00,b\nc,\ud800")
    assert session.own_terms == ("a␛[2J", "␀", "b c", "\ufffd")
    session.set_own_terms(" , ")
    assert session.own_terms == ()


def test_a_briefing_is_needed_until_something_is_decided_under_the_newest_guidelines(
    two_topics: Collection, clock: Any, collection_file: Any
) -> None:
    """A new topic needs one, a topic at work none, new guidelines again one, for each topic."""
    session = sit(two_topics, clock)
    session.open_topic("12")
    assert session.needs_briefing
    assert session.desk.guidelines() is None
    grade(session, clock, 1)
    session.open_topic("12")
    assert not session.needs_briefing
    with engine_at(collection_url(str(collection_file))) as engine, writing(engine) as opened:
        now = datetime.now(UTC)
        opened.execute(insert(GUIDELINE).values(version=1, text="# Read\x1b[2J all", created_at=now))
    session.open_topic("12")
    assert session.needs_briefing
    newest = session.desk.guidelines()
    assert newest is not None
    assert (newest.version, newest.text) == (1, "# Read␛[2J all")
    grade(session, clock, 1)
    session.open_topic("12")
    assert not session.needs_briefing


def test_the_forecast_is_of_this_judges_pace(make_collection: Maker, clock: Any) -> None:
    """Eight decisions of ten seconds each: the twelve left take two minutes."""
    documents = [Document(f"d{n:02}", "", "text") for n in range(20)]
    collection = make_collection({ENGLISH: documents})
    session = sit(collection, clock)
    session.open_topic("12")
    assert session.forecast().seconds is None
    for _ in range(8):
        show(session, clock, 10)
        session.grade(1)
    forecast = session.forecast()
    assert (forecast.left, forecast.n) == (12, 8)
    assert forecast.seconds == pytest.approx(120)
    again = sit(collection, clock)
    again.open_topic("12")
    assert again.forecast() == forecast
    assert again.forecast(6).seconds == pytest.approx(60)


def test_another_sitting_of_the_same_judge_is_seen(two_topics: Collection, clock: Any) -> None:
    """Two screens of one judge know of each other; another judge's is no concern of theirs."""
    first, second, bob = (sit(two_topics, clock, name) for name in ("alice", "alice", "bob"))
    first.open_topic("12")
    bob.open_topic("12")
    assert first.desk.live_elsewhere() == []
    second.open_topic("0013")
    assert [one.topic for one in first.desk.live_elsewhere()] == ["0013"]
    assert [one.topic for one in second.desk.live_elsewhere()] == ["12"]
    first.desk.leave()
    assert second.desk.live_elsewhere() == []


def test_an_unknown_topic_leaves_the_terms_of_the_open_one(session: JudgingSession) -> None:
    """What could not be opened changes nothing."""
    session.set_own_terms("steel")
    with pytest.raises(UnknownNameError):
        session.open_topic("99")
    assert session.own_terms == ("steel",)
    assert docno(session) == "e3"


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
