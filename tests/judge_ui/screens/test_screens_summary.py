"""The end of a topic, going over documents again, and what is said of time."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import SummaryScreen
from store.collection import Collection
from store.records import Document, State
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Clock, Maker
from tests.judge_ui.pilots import judging, press, rows, seen, settle, stored, type_ahead, typed

pytestmark = pytest.mark.slow


@pytest.fixture
def ten(make_collection: Maker) -> Collection:
    """Make a topic of six documents and one of four."""
    return make_collection(
        {
            ENGLISH: [Document(f"e{n}", "", f"Text {n}.") for n in range(6)],
            JAPANESE: [Document(f"j{n}", "", f"文書 {n}。") for n in range(4)],
        }
    )


async def decide(pilot: Pilot[None], clock: Clock, **keys: float) -> None:
    """Press a key for each document after some seconds; it is the last letter of each name."""
    for name, seconds in keys.items():
        clock.wait(seconds)
        await press(pilot, name[-1])


async def test_the_summary_says_how_long_it_took_and_how_long_the_rest_will(
    ten: Collection, clock: Any
) -> None:
    """Six documents of 20 s each: the median, the pace, and four more at that pace, by hand."""
    async with judging(ten, clock=clock) as pilot:
        await decide(pilot, clock, a_2=20, b_1=20, c_0=20, d_2=20, e_2=20, f_2=20)
        assert isinstance(pilot.app.screen, SummaryScreen)
        text = seen(pilot)
        assert "Time on the screen: about 2 min, the median document 20 s." in text
        assert "Your pace: 20 s a document." in text
        assert "Other topics: 4 left, about 1 min at your pace." in text
        assert "decided in under" not in text
        await press(pilot, "r", "s")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "4 left, about 1 min at your pace" in seen(pilot)


async def test_before_five_decisions_nobody_forecasts(ten: Collection, clock: Any) -> None:
    """A pace of two documents is none."""
    async with judging(ten, clock=clock) as pilot:
        await decide(pilot, clock, a_2=20, b_1=20)
        await press(pilot, "escape")
        assert "at your pace" not in seen(pilot)


async def test_what_was_decided_quickly_is_gone_over(ten: Collection, clock: Any) -> None:
    """R walks through them: a key confirms or changes, n leaves, and none is offered twice."""
    async with judging(ten, clock=clock) as pilot:
        await decide(pilot, clock, a_2=0.5, b_1=20, c_0=0.5, d_2=20, e_1=0.5, f_1=20)
        assert "r go over the 3 decided in under 1 s" in seen(pilot)
        await press(pilot, "r")
        assert "1 of 3 decided in under 1 s" in rows(pilot)[-1]
        assert "Text 0." in seen(pilot)
        clock.wait(5)
        await press(pilot, "2")  # as it was
        assert "Text 2." in seen(pilot)
        assert "2 of 3 decided in under 1 s" in rows(pilot)[-1]
        await press(pilot, "n", "p", "p", "p")
        assert "Text 0." in seen(pilot)
        await press(pilot, "n", "n")
        assert "Text 4." in seen(pilot)
        clock.wait(5)
        await press(pilot, "0")  # changed
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "decided in under" not in seen(pilot)
        assert [stored(ten)[f"e{n}"].grade for n in range(6)] == [2, 1, 0, 2, 0, 1]
        assert [stored(ten)[f"e{n}"].revision for n in range(6)] == [1, 1, 1, 1, 2, 1]


async def test_undo_goes_back_within_a_review_and_other_ways_end_it(ten: Collection, clock: Any) -> None:
    """After an undo the review goes on from there; from the list everything is as usual."""
    async with judging(ten, clock=clock) as pilot:
        await decide(pilot, clock, a_s=5, b_s=5, c_0=5, d_2=5, e_1=5, f_s=5)
        assert "Enter go to the 3 skipped" in seen(pilot)
        await press(pilot, "s")
        await decide(pilot, clock, a_2=5)
        assert "2 of 3 skipped" in rows(pilot)[-1]
        await press(pilot, "u")
        assert "Text 0." in seen(pilot)
        assert "grade 2 undone: skipped again" in rows(pilot)[-1]
        await decide(pilot, clock, a_1=5, b_1=5)
        assert "3 of 3 skipped" in rows(pilot)[-1]
        await press(pilot, "l", "g", "enter", "n")
        assert "Text 1." in seen(pilot)
        assert "skipped" not in rows(pilot)[-1]
        assert stored(ten)["e5"].state is State.SKIPPED


async def test_with_stay_a_review_moves_by_hand(ten: Collection, clock: Any) -> None:
    """A grade given in a review stays in sight like any other."""
    async with judging(ten, topic="0013", clock=clock, advance=False) as pilot:
        for _ in range(4):
            clock.wait(0.5)
            await press(pilot, "1", "n")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "r")
        clock.wait(5)
        await press(pilot, "2")
        assert " j0 " in "\n".join(rows(pilot))
        assert "now: 2" in rows(pilot)[-3]
        await press(pilot, "n")
        assert " j1 " in "\n".join(rows(pilot))


async def test_keys_from_before_the_summary_do_nothing_there(ten: Collection) -> None:
    """Undo typed behind the last grade takes nothing back that was not seen."""
    async with judging(ten, topic="0013") as pilot:
        await press(pilot, "1", "1", "1")
        type_ahead(pilot, "1", "enter", "q", "u")
        late = [typed(key) for key in ("enter", "q", "u")]
        await settle(pilot)
        for key in late:
            pilot.app.post_message(key)
        await settle(pilot)
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert not pilot.app._exit
        assert stored(ten)["j3"].grade == 1


async def test_the_clock_of_a_document_stands_while_the_summary_is_before_it(
    ten: Collection, clock: Any
) -> None:
    """Back at the document it has just come up: a key at once is too quick."""
    async with judging(ten, topic="0013", clock=clock, min_dwell=0.3) as pilot:
        await decide(pilot, clock, a_1=5, b_1=5, c_1=5, d_1=5)
        assert isinstance(pilot.app.screen, SummaryScreen)
        clock.wait(60)
        await press(pilot, "d", "2")
        assert "too quick" in rows(pilot)[-1]
        assert stored(ten)["j3"].grade == 1


@pytest.mark.parametrize("size", [(40, 12), pytest.param((120, 40), marks=pytest.mark.slow)])
async def test_the_summary_can_be_read_at_every_size(
    ten: Collection, clock: Any, size: tuple[int, int]
) -> None:
    """What does not fit scrolls, and how far it was read is said."""
    async with judging(ten, clock=clock, size=size) as pilot:
        await decide(pilot, clock, a_2=20, b_1=20, c_0=20, d_2=20, e_2=20, f_2=20)
        assert "Every document has a decision." in seen(pilot)
        await press(pilot, "G")
        assert "100%" in rows(pilot)[-1]
        assert "q quit" in seen(pilot)
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, JudgeScreen)


async def test_a_topic_with_documents_skipped_opens_at_them(ten: Collection, clock: Any) -> None:
    """The list of topics says so instead of "done"; opened, it goes over them, then it is done."""
    async with judging(ten, topic="0013", clock=clock) as pilot:
        await decide(pilot, clock, a_2=5, b_s=5, c_2=5, d_s=5)
        await press(pilot, "escape")
        assert "2 skipped" in rows(pilot)[3]
        await press(pilot, "enter")
        assert "文書 1" in seen(pilot)
        assert "1 of 2 skipped" in rows(pilot)[-1]
        await decide(pilot, clock, a_1=5, b_0=5)
        assert "Every document has a decision." in seen(pilot)
        await press(pilot, "escape")
        assert rows(pilot)[3].split()[-3] == "done"


async def test_the_cursor_stands_on_the_topic_worked_at_last(ten: Collection, clock: Any) -> None:
    """As long as anything of it is left; then on the first that is not done."""
    async with judging(ten, topic="0013", clock=clock) as pilot:
        await decide(pilot, clock, a_2=5)
    async with judging(ten, topic=None, clock=clock, briefed=False) as pilot:
        await press(pilot, "enter")
        assert "0013" in rows(pilot)[0]
        await decide(pilot, clock, b_2=5, c_2=5, d_2=5)
    async with judging(ten, topic=None, clock=clock) as pilot:
        await press(pilot, "enter")
        assert "topic 12" in rows(pilot)[0]


async def test_enter_after_the_last_document_opens_the_next_unfinished_topic(ten: Collection) -> None:
    """Through its briefing; Escape goes to the topics, and so does Enter where all are finished."""
    async with judging(ten) as pilot:
        await press(pilot, *"222222")
        assert "Enter go on with topic 0013 " in seen(pilot)
        assert "Esc back to the topics" in seen(pilot)
        await press(pilot, "enter")
        assert "topic 0013" in rows(pilot)[0]
        await press(pilot, "enter")
        assert "文書 0" in seen(pilot)
        await press(pilot, *"1111")
        assert "Enter back to the topics" in seen(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
