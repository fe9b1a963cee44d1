"""The frame around the document: hints, the decision before, pace, the mouse, wide screens."""

from __future__ import annotations

from typing import Any

import pytest

from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen
from judge_ui.screens.reading import ReadingScreen, SummaryScreen
from judge_ui.session.keys import Command
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from store.records import Document, State, Topic
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import judging, press, rows, seen, settle, stored

pytestmark = pytest.mark.slow


@pytest.fixture
def twelve(make_collection: Maker) -> Collection:
    """Make a topic of twelve documents with titles, and guidelines."""
    documents = [Document(f"CF-{n:04}", f"Bridge {n}", f"Text {n}.") for n in range(12)]
    made = make_collection({ENGLISH: documents})
    made.guidelines.add("# How to judge\n\nA schedule counts.")
    return made


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_decision_before_has_a_place_of_its_own(twelve: Collection, size: tuple[int, int]) -> None:
    """The last line names what `u` takes back, whatever else is said; hints keep their line."""
    async with judging(twelve, size=size) as pilot:
        assert rows(pilot)[-1].strip() == ""
        hints = rows(pilot)[-2]
        for key, said in (("1", "CF-0000: 1, u undoes"), ("s", "CF-0001: skip, u undoes")):
            await press(pilot, key)
            assert rows(pilot)[-1].startswith(f" {said} ")
            assert rows(pilot)[-2] == hints
        await press(pilot, "n", "p", "]")
        assert rows(pilot)[-1].startswith(" CF-0001: skip, u undoes ")
        await press(pilot, "u")
        assert rows(pilot)[-1].startswith(" CF-0000: 1, u undoes ")
        assert rows(pilot)[-1].rstrip().endswith("skip undone: unjudged again")
        await press(pilot, "u")
        assert "undoes" not in rows(pilot)[-1]
        assert rows(pilot)[-2] == hints


async def test_the_pace_is_in_sight_while_judging(twelve: Collection, clock: Any) -> None:
    """Five of 20 s, then seven more at that pace: 140 s; before five decisions only what is left."""
    async with judging(twelve, clock=clock) as pilot:
        for _ in range(4):
            clock.wait(20)
            await press(pilot, "1")
        assert rows(pilot)[0].endswith(" alice   4/12  left 8 ")
        clock.wait(20)
        await press(pilot, "1")
        assert rows(pilot)[0].endswith(" alice   5/12, about 2 min ")


async def click(pilot: Any, text: str) -> None:
    """Click on a text that is on the screen."""
    line, y = next((row, y) for y, row in enumerate(rows(pilot)) if text in row)
    await pilot.click(offset=(line.index(text) + 1, y))
    await settle(pilot)


async def test_hints_can_be_clicked(twelve: Collection) -> None:
    """A grade, a command, an answer and the way back; beside them nothing happens."""
    async with judging(twelve) as pilot:
        await click(pilot, "[2] relevant")
        assert stored(twelve)["CF-0000"].grade == 2
        await click(pilot, "s skip")
        assert stored(twelve)["CF-0001"].state is State.SKIPPED
        await click(pilot, "u undo ")
        assert stored(twelve)["CF-0001"].state is State.UNJUDGED
        await click(pilot, "CF-0000: 2")
        await click(pilot, "now: -")
        assert len(stored(twelve)) == 2
        await click(pilot, "? help")
        assert isinstance(pilot.app.screen, ReadingScreen)
        await click(pilot, "? or Esc back")
        await click(pilot, "c can't")
        await click(pilot, "[2] wrong")
        assert stored(twelve)["CF-0001"].reason == "wrong language"
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        await click(pilot, "Enter open")
        assert isinstance(pilot.app.screen, JudgeScreen)


async def test_every_screen_explains_its_keys(twelve: Collection) -> None:
    """The question mark works in lists, on pages and at the end of a topic; it comes back."""
    async with judging(twelve, briefed=False) as pilot:
        assert "Before you begin" in rows(pilot)[0]
        await press(pilot, "?")
        assert "Enter begin" in seen(pilot)
        assert rows(pilot)[0].startswith(" Keys")
        await press(pilot, "?", "enter", *"1" * 2, "y")
        assert isinstance(pilot.app.screen, HistoryScreen)
        for screen in ("y", "t", "h"):
            await press(pilot, *([] if screen == "y" else [screen]), "?")
            assert rows(pilot)[0].startswith(" Keys")
            await press(pilot, "?", "escape")
            assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, *"1" * 10)
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "?")
        assert "undo the latest decision" in seen(pilot)
        await press(pilot, "?")
        assert isinstance(pilot.app.screen, SummaryScreen)


async def test_wide_screens_use_their_width(twelve: Collection) -> None:
    """At 200 columns guidelines, note and evidence stand beside the text, titles and times in the list."""
    async with judging(twelve, size=(200, 60)) as pilot:
        await press(pilot, "e", *"so", "ctrl+j", *"what", "enter", "v", "enter", "escape")
        text = seen(pilot)
        for said in ("How to judge", "A schedule counts.", "Your note", "Your evidence", '"Text 0."'):
            assert said in text
        assert "Bridge 11" in text
    async with judging(twelve, size=(120, 40)) as pilot:
        assert "Your evidence" in seen(pilot)
        assert "How to judge" not in seen(pilot)


async def test_a_note_has_several_lines(twelve: Collection) -> None:
    """Ctrl+J begins a line, Enter saves; what was there is there to be changed."""
    async with judging(twelve) as pilot:
        await press(pilot, "e", *"one", "ctrl+j", *"2", "enter")
        assert stored(twelve)["CF-0000"].note == "one\n2"
        assert stored(twelve)["CF-0000"].grade is None
        await press(pilot, "e")
        assert pilot.app.screen.query_one(NoteField).text == "one\n2"
        await press(pilot, "escape")
        assert stored(twelve)["CF-0000"].revision == 1


async def test_undo_follows_as_fast_as_fingers_go(twelve: Collection) -> None:
    """Two presses 80 ms apart take back two decisions; a held key, every 30 ms, one."""
    async with judging(twelve, min_dwell=0.3) as pilot:
        screen = pilot.app.screen
        pilot.app._session.min_dwell = 0.0
        await press(pilot, "1", "1")
        pilot.app._session.min_dwell = 0.3
        assert not screen._is_held(Command.UNDO, 10.0)
        assert not screen._is_held(Command.UNDO, 10.08)
        assert screen._is_held(Command.UNDO, 10.11)
        assert not screen._is_held(Command.SKIP, 20.0)
        assert screen._is_held(Command.SKIP, 20.08)


async def test_evidence_by_words(twelve: Collection) -> None:
    """W moves by words: `Text 0.` becomes the passage `Text`, then the range of both words."""
    async with judging(twelve) as pilot:
        await press(pilot, "v", "w")
        assert "j/k word" in rows(pilot)[-2]
        await press(pilot, "enter")
        assert [one.text for one in pilot.app._session.task.passages] == ["Text"]
        await press(pilot, "x", "J", "enter", "w")
        assert "j/k sentence" in rows(pilot)[-2]
        assert [one.text for one in pilot.app._session.task.passages] == ["Text 0"]
        assert set(stored(twelve)) == {"CF-0000"}
        assert stored(twelve)["CF-0000"].grade is None


LONG = Topic(
    "12",
    "are there abnormalities of taste in patients with cystic fibrosis on a diet that is low in salt",
    "Which studies of patients report taste or smell, and what did they find of thresholds?",
    "A relevant document reports thresholds. " * 6,
)


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (60, 16), (100, 30)])
async def test_the_whole_question_is_on_the_screen(make_collection: Maker, size: tuple[int, int]) -> None:
    """Title and description fold, without dots; document, grades and hints keep their rows."""
    document = Document("CF-1", "", "Salt in food. " * 40)
    async with judging(make_collection({LONG: [document]}), size=size) as pilot:
        screen = " ".join(" ".join(row.replace("alice   0/1  left 1", "") for row in rows(pilot)).split())
        assert f"12 {LONG.title} {LONG.description} " in screen
        assert "Salt in food." in screen
        assert "[0]" in screen
        assert "? help" in screen
        if size[1] >= 24:
            assert "A relevant document reports thresholds." in screen
            assert "CF-1 " in screen


async def test_a_question_too_long_for_the_screen_says_so(make_collection: Maker) -> None:
    """Only then there are dots, and the key of the whole; two rows stay for the document."""
    topic = Topic("12", "", "Which bridges are kept, and how? " * 20)
    async with judging(make_collection({topic: [Document("d", "", "Text. " * 99)]}), size=(40, 12)) as pilot:
        assert "... (t: all)" in rows(pilot)[6]
        assert rows(pilot)[7].startswith(" d ")
        assert rows(pilot)[8].startswith(" Text. ")
        await press(pilot, "t")
        assert "Description" in seen(pilot)


async def test_on_a_small_screen_the_question_keeps_its_place(twelve: Collection, clock: Any) -> None:
    """With a pace and something skipped the top line gives up words on the right, not the topic's name."""
    async with judging(twelve, clock=clock, size=(40, 12)) as pilot:
        await press(pilot, "s")
        for _ in range(5):
            clock.wait(20)
            await press(pilot, "1")
        assert rows(pilot)[0].split() == ["12", "bridge", "alice", "5/12", "left", "6"]
        assert rows(pilot)[1].startswith(" maintenance")
        await press(pilot, "escape")
        assert rows(pilot)[0].split() == ["Topics", "alice", "5/12", "left", "6"]


async def test_on_a_small_screen_passages_can_be_marked_and_left(twelve: Collection) -> None:
    """The two keys that matter are in sight, right after a grade, too."""
    async with judging(twelve, size=(40, 12)) as pilot:
        await press(pilot, "1", "v")
        assert rows(pilot)[-1].rstrip() == " Enter mark  j/k sentence  Esc done"
        await press(pilot, "enter")
        assert rows(pilot)[-1].startswith(" Enter mark  Esc done ")


async def test_on_a_small_screen_the_history_cuts_nothing_off_that_is_not_there(twelve: Collection) -> None:
    """A row ends with what was done; three dots say that there is more."""
    async with judging(twelve, size=(40, 12)) as pilot:
        await press(pilot, "s", "1", "y")
        assert rows(pilot)[1].rstrip().endswith("...")
        assert rows(pilot)[2].rstrip().endswith(" skipped")


async def test_after_the_last_document_enter_goes_on_with_the_next_topic(two_topics: Collection) -> None:
    """The cursor leaves a topic that is done, for the next that is not."""
    async with judging(two_topics) as pilot:
        await press(pilot, *"0000", "enter", "enter", "enter")
        assert " j0 " in "\n".join(rows(pilot))


async def test_the_guidelines_beside_the_first_document_use_their_width(make_collection: Maker) -> None:
    """At 200 columns a sentence of 32 cells stands on one line there."""
    made = make_collection({ENGLISH: [Document("d", "", "text")]})
    made.guidelines.add("A schedule of maintenance counts")
    async with judging(made, size=(200, 60)) as pilot:
        assert any(row.rstrip().endswith("A schedule of maintenance counts") for row in rows(pilot))
