"""The organiser's goal at a judge's desk: an offer to stop, once, and what is not judged stays unjudged."""

from __future__ import annotations

from typing import Any

import pytest

from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import SummaryScreen
from judge_ui.session.session import JudgingSession
from pooler.commands.judge.status_recall import goal_of
from store.collection import Collection
from store.errors import PoolerError
from store.records import Document, Pool, PoolEntry, State
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Maker
from tests.judge_ui.pilots import judging, press, rows, seen, stored
from tests.judge_ui.plain_sitting import sit

pytestmark = pytest.mark.slow

SOUGHT = "at least 50% of the relevant documents of the runs are found (95% sure), if the sample is random"
STAYS = "the rest may stay unjudged"


@pytest.fixture
def sampled(make_collection: Maker) -> Collection:
    """Make a topic of eight documents, all drawn, and one of two that nobody drew.

    Of eight, three relevant and two not: three more at most, so that half is found for certain.
    """
    documents = [Document(f"e{n}", "", f"Text {n}.") for n in range(8)]
    collection = make_collection({JAPANESE: [Document("j0", "", "文書。"), Document("j1", "", "文書。")]})
    collection.topics.add([ENGLISH])
    collection.documents.add(documents)
    entries = [
        PoolEntry(ENGLISH.topic, one.docno, place, stratum=1, inclusion_probability=1.0)
        for place, one in enumerate(documents)
    ]
    collection.pools.add(Pool(entries, {"strategy": "uniform"}, "tail"))
    collection.documents.add(documents)
    return collection


async def test_the_screen_offers_to_stop_once(sampled: Collection) -> None:
    """After the fifth decision; who goes on is asked no more, and the end of the topic says it again."""
    goal = goal_of(sampled, "recall=.5")
    async with judging(sampled, goal=goal) as pilot:
        await press(pilot, "2", "2", "2", "0")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "3 documents unjudged." in seen(pilot)
        assert f"Goal reached: {SOUGHT}; {STAYS}." in seen(pilot)
        assert "Enter stop here: back to the topics" in seen(pilot)
        await press(pilot, "d")  # go on judging
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "0", "0")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert f"Goal reached: {SOUGHT}." in seen(pilot)
        assert "stop here" not in seen(pilot)


async def test_who_stops_leaves_the_rest_unjudged(sampled: Collection) -> None:
    """Enter goes to the topics, and there to another one; no event is written."""
    async with judging(sampled, goal=goal_of(sampled, "recall=.5")) as pilot:
        await press(pilot, "2", "2", "2", "0", "0", "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
        await press(pilot, "enter")
        assert "情報検索の評価" in seen(pilot)
    assert sorted(stored(sampled)) == ["e0", "e1", "e2", "e3", "e4"]
    states = [task.state for task in sampled.desk("alice").queue("12")]
    assert states.count(State.UNJUDGED) == 3


async def test_what_is_skipped_does_not_hold_back(sampled: Collection) -> None:
    """Skipped documents count as relevant until they are judged; Enter stops, and does not go to them."""
    async with judging(sampled, goal=goal_of(sampled, "recall=.5")) as pilot:
        await press(pilot, "s", "2", "2", "2", "0", "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "s go to the 1 skipped" in seen(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, InboxScreen)


async def test_without_a_goal_nothing_is_said(sampled: Collection) -> None:
    """The same decisions, and no word of recall, nor at the end."""
    async with judging(sampled) as pilot:
        await press(pilot, "2", "2", "2", "0", "0")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "0", "0", "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "oal" not in "".join(rows(pilot))
        assert "recall" not in "".join(rows(pilot))


async def test_where_there_is_no_sample_the_end_says_so(sampled: Collection) -> None:
    """No offer, and why."""
    async with judging(sampled, topic="0013", goal=goal_of(sampled, "recall=.5")) as pilot:
        await press(pilot, "2", "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "Goal not to be told: no bound, since nothing was judged at random." in seen(pilot)


def test_line_mode_offers_it_too(sampled: Collection) -> None:
    """Enter stops; the next topic is offered, not the one that was left."""
    goal = goal_of(sampled, "recall=.5")
    printed = sit(sampled, "", "2", "2", "2", "0", "0", "", "q", typed=True, goal=goal)
    assert f"goal reached: {SOUGHT}; {STAYS}\n" in printed
    assert "Enter = stop here, topics" in printed
    assert "topic? Enter = 0013" in printed
    assert sorted(stored(sampled)) == ["e0", "e1", "e2", "e3", "e4"]


def test_a_script_goes_on(sampled: Collection) -> None:
    """Its next answer is meant for the next document: it is told, and asked nothing."""
    goal = goal_of(sampled, "recall=.5")
    printed = sit(sampled, *"22200000", goal=goal)
    assert printed.count(f"goal reached: {SOUGHT}; {STAYS}\n") == 1
    assert len(stored(sampled)) == 8


def test_a_goal_that_cannot_be_looked_up_holds_nobody_up(sampled: Collection) -> None:
    """The topic is gone from the collection that the goal looks at: no offer, no name, no traceback."""

    class Lost:
        def is_reached(self, topic: str) -> bool:
            raise PoolerError(f"run `secret` of {topic}")

        def words(self, topic: str) -> str:
            raise PoolerError(f"run `secret` of {topic}")

    printed = sit(sampled, *"22200000", goal=Lost())
    assert "secret" not in printed
    assert "whether the goal is reached could not be found out" in printed


def test_the_judge_learns_no_number_of_others(sampled: Collection) -> None:
    """Whatever another judge found, what is said has the target's numbers and no other."""
    other = JudgingSession(sampled.desk("bob"), min_dwell=0)
    other.open_topic("12")
    for _ in range(8):
        other.mark_shown()
        other.grade(2)
    other.desk.leave()
    goal: Any = goal_of(sampled, "recall=.5")
    assert goal.words("12") == f"goal reached: {SOUGHT}"
