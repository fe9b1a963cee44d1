"""What a judge reads: guidelines, the briefing before a topic, and the pages of keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from judge_ui.screens.document import READ_AHEAD_S
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import ReadingScreen
from store.collection import Collection
from store.content.documents import document_sha256
from store.records import Document, Topic
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import judging, press, rows, seen, settle, stored, strips, type_ahead, typed

pytestmark = pytest.mark.slow

GUIDELINES = """# How to judge

Any relevant part makes a document **relevant**.

- `2`: about the topic
- `1`: mentions it, in a sentence that goes on for longer than one line of the screen can hold

[rules](https://example.org) <b>html</b> [@click=app.quit]x[/] &#27;[2J &#x202e;
"""


def guide(collection: Collection, text: str = GUIDELINES) -> None:
    """Add a version of the guidelines."""
    collection.guidelines.add(text)


async def test_the_guidelines_are_a_key_away(two_topics: Collection) -> None:
    """They are plain text with bold headings; nothing in them acts, and no grade key works."""
    guide(two_topics, "an older version")
    guide(two_topics)
    async with judging(two_topics) as pilot:
        await press(pilot, "f1", "f1", "h")
        screen = rows(pilot)
        assert screen[0].startswith(" Guidelines, version 2 of 20")
        text = "\n".join(screen)
        assert " - 1: mentions it, in a sentence that goes on for longer than one line of" in text
        assert "\n   screen can hold" in text
        assert "(https://example.org) <b>html</b> [@click=app.quit]x[/] \ufffd[2J \ufffd" in text
        bold = [piece.text for line in strips(pilot)[1:-2] for piece in line if piece.style.bold]
        assert bold == ["How to judge", "relevant"]
        for y in range(2, 12):
            await pilot.click(offset=(15, y))
        await press(pilot, "2", "h")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert not pilot.app._exit
    assert stored(two_topics) == {}


async def test_a_collection_without_guidelines_says_so(two_topics: Collection) -> None:
    """The key works all the same, from the topics too."""
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "h")
        assert "this collection has no guidelines" in seen(pilot)
        await press(pilot, "h")
        assert isinstance(pilot.app.screen, InboxScreen)


async def test_a_topic_begins_with_its_briefing(two_topics: Collection) -> None:
    """Narrative, grades with labels and guidelines come first; no grade key works before Enter."""
    guide(two_topics)
    async with judging(two_topics, topic=None, size=(80, 40)) as pilot:
        await press(pilot, "enter", "2", "s", "u")
        assert isinstance(pilot.app.screen, ReadingScreen)
        text = seen(pilot)
        for part in (
            "Before you begin: topic 12",
            ENGLISH.narrative,
            "0 not relevant 1 partially relevant 2 relevant",
            "Guidelines, version 1 of 20",
            "How to judge",
        ):
            assert part in text
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        await press(pilot, "enter", "enter", "2")
        assert stored(two_topics)["e0"].grade == 2


async def test_a_briefing_is_not_repeated_but_for_new_guidelines(two_topics: Collection) -> None:
    """Read once it does not come again in the sitting, nor once something was decided."""
    guide(two_topics)
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "enter", "enter", "escape", "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "2")
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
        guide(two_topics, "# Something else counts now")
        await press(pilot, "escape", "enter")
        assert isinstance(pilot.app.screen, ReadingScreen)
        assert "Something else counts now" in seen(pilot)


async def test_a_topic_with_nothing_to_read_opens_at_once(make_collection: Maker) -> None:
    """A title is in sight anyway: without narrative and guidelines there is no briefing."""
    async with judging(
        make_collection({Topic("12", "bridges"): [Document("d", "", "x")]}), topic=None
    ) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)


async def test_a_second_enter_from_before_the_briefing_does_not_close_it(two_topics: Collection) -> None:
    """Enter twice in one packet opens the topic and leaves its briefing to be read."""
    async with judging(two_topics, topic=None) as pilot:
        type_ahead(pilot, "enter", "enter")
        late = typed("enter")
        await settle(pilot)
        pilot.app.post_message(late)
        await settle(pilot)
        assert isinstance(pilot.app.screen, ReadingScreen)
        assert "Before you begin" in rows(pilot)[0]


async def test_the_clock_of_a_document_starts_when_the_briefing_is_closed(two_topics: Collection) -> None:
    """What nobody has seen yet is not on the screen, so its dwell has not begun."""
    async with judging(two_topics, briefed=False) as pilot:
        assert isinstance(pilot.app.screen, ReadingScreen)
        assert pilot.app._session._dwell.ms is None
        await press(pilot, "enter")
        assert pilot.app._session._dwell.ms is not None


@pytest.mark.parametrize("size", [(80, 24), pytest.param((40, 12), marks=pytest.mark.slow)])
async def test_help_is_about_the_screen_it_was_asked_on(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """The topics have keys of their own; every line of a page stands in its column."""
    async with judging(two_topics, topic=None, size=size) as pilot:
        await press(pilot, "?")
        assert "Enter         open the topic" in "\n".join(rows(pilot))
        assert "Grades" not in seen(pilot)
        await press(pilot, "?")
    async with judging(two_topics, size=size) as pilot:
        await press(pilot, "?")
        screen = rows(pilot)
        assert screen[0].startswith(" Keys")
        assert all(row[1:3] == "  " for row in screen if "take back" in row or "and go" in row)


async def test_an_event_names_the_text_that_was_on_the_screen(
    two_topics: Collection, events: Callable[[], list[dict[str, Any]]]
) -> None:
    """A document that is replaced once it was read ahead is judged as it is shown, and says so."""
    old, new = Document("e1", "Bridge 1", "Text of bridge 1."), Document("e1", "", "Another text.")
    async with judging(two_topics) as pilot:
        await asyncio.sleep(READ_AHEAD_S + 0.1)
        two_topics.documents.add([new], replace=True)
        await press(pilot, "1")
        assert "Text of bridge 1." in seen(pilot)
        await press(pilot, "2", "p")
        assert "Another text." in seen(pilot)
        await press(pilot, "0")
    hashes = [one["document_sha256"] for one in events() if one["docno"] == "e1"]
    assert hashes == [document_sha256(old), document_sha256(new)]
