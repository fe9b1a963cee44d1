"""The history, redo, and the palette of commands."""

from __future__ import annotations

import re

import pytest

from judge_ui.screens.dialogs import PaletteDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen, PoolListScreen
from store.collection import Collection
from store.records import State
from tests.judge_ui.conftest import ENGLISH
from tests.judge_ui.pilots import judging, press, rows, seen, stored

pytestmark = pytest.mark.slow


async def test_the_history_lists_the_sitting_newest_first(two_topics: Collection) -> None:
    """Time, topic, document and what was done; what was taken back says so in words."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "s", "u", "c", "1", "e", "x", "enter", "y")
        assert isinstance(pilot.app.screen, HistoryScreen)
        done = [re.split(r"\s{2,}", row.strip())[1:] for row in rows(pilot)[1:6]]
        assert done == [
            ["12", "e2", "note: x", "Bridge 2"],
            ["12", "e1", "cannot be judged: unreadable", "Bridge 1"],
            ["12", "e1", "undo: unjudged again", "Bridge 1"],
            ["12", "e1", "undone: skipped", "Bridge 1"],
            ["12", "e0", "2 relevant", "Bridge 0"],
        ]
        # A grade key is nothing here.
        await press(pilot, "1", "y")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics)["e2"].state is State.UNJUDGED


async def test_tab_shows_every_sitting_of_the_document(two_topics: Collection) -> None:
    """What was done to the document before the judge, also before this sitting."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2")
    async with judging(two_topics) as pilot:
        await press(pilot, "p", "1", "p", "y", "tab")
        screen = rows(pilot)
        assert screen[0].startswith(" History of e0 ")
        assert screen[0].endswith("2 in all sittings ")
        assert screen[1].rstrip().endswith("1 partially relevant")
        assert "2 relevant (" in screen[2]
        await press(pilot, "tab")
        assert rows(pilot)[0].startswith(" History of this sitting")
        assert "2 relevant" not in seen(pilot)


async def test_enter_goes_where_it_was_done_in_another_topic_too(two_topics: Collection) -> None:
    """The document of the event comes up, with its topic."""
    async with judging(two_topics) as pilot:
        await press(pilot, "n", "2", "escape", "down", "enter", "enter", "1", "y", "j", "enter")
        assert "12 bridge maintenance" in rows(pilot)[0]
        assert "Text of bridge 1." in seen(pilot)
        assert "now: 2" in rows(pilot)[-3]
        await press(pilot, "escape", "y", "enter")
        assert "0013 " in rows(pilot)[0]
        assert " j0 " in "\n".join(rows(pilot))


async def test_redo_does_again_what_was_undone(two_topics: Collection) -> None:
    """It is said, counted and stored like the first time; with nothing undone it says so."""
    async with judging(two_topics) as pilot:
        await press(pilot, "ctrl+r")
        assert "nothing to redo" in rows(pilot)[-1]
        await press(pilot, "2", "u", "ctrl+r")
        assert "done again: 2 relevant saved " in rows(pilot)[-1]
        assert stored(two_topics)["e0"].grade == 2
        assert "1/4  left 3" in rows(pilot)[0]
        await press(pilot, "u", "escape", "f12")
        assert isinstance(pilot.app.screen, InboxScreen)
        await press(pilot, "ctrl+r")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics)["e0"].grade == 2


async def test_the_palette_runs_commands_by_name(two_topics: Collection) -> None:
    """Letters narrow it down, arrows move, Enter runs; digits and letters grade nothing."""
    async with judging(two_topics) as pilot:
        await press(pilot, "ctrl+p", "2", "0")
        assert isinstance(pilot.app.screen, PaletteDialog)
        await press(pilot, "escape")
        assert stored(two_topics) == {}
        await press(pilot, "ctrl+p", *"lis", "enter")
        assert isinstance(pilot.app.screen, PoolListScreen)
        await press(pilot, "l", "ctrl+p", *"not rel", "enter")
        # No command has those words, so there is nothing to run.
        assert isinstance(pilot.app.screen, PaletteDialog)
        await press(pilot, "ctrl+p", "ctrl+p", "down", "enter")
        assert stored(two_topics)["e0"].state is State.SKIPPED


async def test_the_palette_of_the_topics_has_what_works_there(two_topics: Collection) -> None:
    """Nothing is offered that would need a document."""
    async with judging(two_topics, topic=None, size=(40, 12)) as pilot:
        await press(pilot, "ctrl+p")
        assert "guidelines" in seen(pilot)
        assert "skip" not in seen(pilot)
        await press(pilot, *"quit", "enter")
        assert pilot.app._exit


async def test_looking_things_up_writes_nothing(two_topics: Collection) -> None:
    """Viewing touched the data in WebAnno (#1558): here no event comes of it."""
    async with judging(two_topics) as pilot:
        keys = ("t", "t", "h", "h", "?", "?", "l", "G", "escape", "y", "tab", "escape")
        await press(pilot, *keys, "n", "p", "space", "]", "v", "escape", "/", "enter")
        assert ENGLISH.narrative in seen(pilot)
    assert stored(two_topics) == {}
