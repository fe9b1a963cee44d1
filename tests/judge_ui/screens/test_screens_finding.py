"""Finding, the judge's own words, and passages marked as evidence."""

from __future__ import annotations

import asyncio
import time

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from judge_ui.screens.dialogs import LineDialog
from judge_ui.screens.document import READ_AHEAD_S
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.session.keys import Keymap
from judge_ui.widgets.document_pane import DocumentPane
from store.collection import Collection
from store.records import Document, State
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import enter, judging, press, rows, seen, settle, stored, strips, type_ahead

pytestmark = pytest.mark.slow

LONG = "\n".join(f"line {n} of the schedule." for n in range(1, 101)) + "\nNeedle here.\nneedle."


def standing_out(pilot: Pilot[None]) -> list[str]:
    """Return what is lit up in the document, bold and underlined or italic, from top to bottom."""
    screen = pilot.app.screen
    first = screen.query_one(DocumentPane).region.y
    last = first + screen.query_one(DocumentPane).region.height
    return [
        piece.text
        for line in strips(pilot)[first:last]
        for piece in line
        if piece.style and piece.style.bold and (piece.style.underline or piece.style.italic)
    ]


async def test_finding_goes_to_the_words_and_escape_forgets_them(make_collection: Maker) -> None:
    """Enter finds, ] and [ go on and round, Escape first takes the marks away, then goes back."""
    collection = make_collection({ENGLISH: [Document("a", "", LONG), Document("b", "", "x")]})
    async with judging(collection) as pilot:
        await press(pilot, "/")
        assert isinstance(pilot.app.screen, LineDialog)
        assert "Find in a" in rows(pilot)[-3]
        await enter(pilot, "ＮＥＥＤＬＥ")
        assert "2 hits: ] next, [ back" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Needle", "needle"]
        await press(pilot, "]")
        assert "hit 2 of 2" in rows(pilot)[-1]
        await press(pilot, "]")
        assert "hit 1 of 2" in rows(pilot)[-1]
        await press(pilot, "[")
        assert "hit 2 of 2" in rows(pilot)[-1]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert set(standing_out(pilot)) == {"schedule"}
        # What was sought is offered again, and the first key replaces it.
        await press(pilot, "/")
        assert pilot.app.screen.query_one(Input).value == "ＮＥＥＤＬＥ"
        await press(pilot, *"no such", "enter")
        assert "not in this document: no such" in rows(pilot)[-1]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
    assert stored(collection) == {}


async def test_without_a_search_the_highlighted_words_are_gone_through(two_topics: Collection) -> None:
    """The words of the topic are hits as well; a document without any says so."""
    async with judging(two_topics) as pilot:
        await press(pilot, "]")
        assert "hit 1 of 2" in rows(pilot)[-1]
        await press(pilot, "]")
        assert "hit 2 of 2" in rows(pilot)[-1]
    async with judging(two_topics, topic="0013") as pilot:
        await press(pilot, "[")
        assert "hit " in rows(pilot)[-1]


async def test_own_words_stand_out_at_once_and_for_the_sitting(two_topics: Collection) -> None:
    """They are kept for the topic, commas between them, and taken away by an empty line."""
    async with judging(two_topics) as pilot:
        # Until the next document has been read ahead, with the words as they were.
        await asyncio.sleep(2 * READ_AHEAD_S)
        await press(pilot, "w")
        assert "Words to highlight, separated by commas" in rows(pilot)[-3]
        await enter(pilot, "Text, of bridge、0")
        assert "highlighted: Text, of bridge, 0" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Bridge", "0", "Text", "of ", "bridge", "0"]
        await press(pilot, "2")
        # What was read ahead has the new words as well.
        assert standing_out(pilot) == ["Bridge", "Text", "of ", "bridge"]
        await press(pilot, "w")
        assert pilot.app.screen.query_one(Input).value == "Text, of bridge, 0"
        await enter(pilot, "")
        assert "no words of your own" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Bridge", "bridge"]
    async with judging(two_topics) as pilot:
        assert "of " not in standing_out(pilot)


async def test_own_words_are_no_pattern(make_collection: Maker) -> None:
    """NIST's scan terms were raw regular expressions: "you can get a runaway regex"."""
    text = "a" * 40 + "! (a+)+$ and [x"
    collection = make_collection({ENGLISH: [Document("a", "", text)]})
    async with judging(collection) as pilot:
        begun = time.perf_counter()
        await press(pilot, "w")
        await enter(pilot, "(a+)+$, [x")
        assert standing_out(pilot) == ["(a+)+$", "[x"]
        await press(pilot, "/")
        await enter(pilot, "(a+)+$")
        assert "1 hit" in rows(pilot)[-1]
        assert time.perf_counter() - begun < 10


async def test_digits_in_own_words_and_in_a_search_grade_nothing(two_topics: Collection) -> None:
    """NIST's box of scan terms was on the page whose key handler graded documents."""
    async with judging(two_topics) as pilot:
        for key in ("w", "/"):
            await press(pilot, key, *"201")
            assert pilot.app.screen.query_one(Input).value == "201"
            await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
    assert stored(two_topics) == {}


async def test_words_keep_the_place_in_the_document(make_collection: Maker) -> None:
    """Marking other words does not scroll a long document back to its start."""
    collection = make_collection({ENGLISH: [Document("a", "", LONG)]})
    async with judging(collection) as pilot:
        await press(pilot, "space", "space", "w")
        before = pilot.app.screen_stack[-2].query_one(DocumentPane).scroll_offset.y
        await enter(pilot, "line")
        assert before == pilot.app.screen.query_one(DocumentPane).scroll_offset.y > 0


async def test_passages_are_marked_stored_and_undone(make_collection: Maker) -> None:
    """V marks sentences with keys of its own, always in sight; offset and text are stored."""
    text = "First one. Second one. Third one."
    collection = make_collection({ENGLISH: [Document("a", "", text), Document("b", "", text)]})
    async with judging(collection) as pilot:
        await press(pilot, "v")
        assert rows(pilot)[-2].startswith(" Enter mark  j/k sentence  J/K extend")
        assert "Esc done" in rows(pilot)[-2]
        # No key grades meanwhile, and none is offered.
        assert rows(pilot)[-3].strip() == "now: -"
        await press(pilot, "2", "s", "j", "enter")
        assert " saved " in rows(pilot)[-1]
        assert rows(pilot)[-3].strip() == "now: -  marked: 1"
        assert "Esc done" in rows(pilot)[-2]
        (task,) = [task for task in pilot.app._session.tasks if task.docno == "a"]
        assert [(one.start, one.text) for one in task.passages] == [(11, "Second one.")]
        assert stored(collection)["a"].state is State.UNJUDGED
        await press(pilot, "escape")
        assert rows(pilot)[-2].startswith(" u undo  s skip")
        await press(pilot, "u")
        assert "mark undone" in rows(pilot)[-1]
        assert "marked:" not in rows(pilot)[-3]
        assert pilot.app.screen.query_one(DocumentPane).passages == ()
        await press(pilot, "ctrl+r", "2", "p")
        assert "now: 2  marked: 1" in rows(pilot)[-3]
        assert len(pilot.app.screen.query_one(DocumentPane).passages) == 1


async def test_a_marked_passage_stays_marked_where_the_document_was_read_ahead(
    two_topics: Collection,
) -> None:
    """What was laid out before the passage was marked is not what is shown when one comes back."""
    async with judging(two_topics) as pilot:
        await press(pilot, "1", "1")
        await asyncio.sleep(READ_AHEAD_S + 0.1)
        await pilot.resize_terminal(70, 24)
        await press(pilot, "1", "v", "enter", "escape")
        passages = pilot.app.screen.query_one(DocumentPane).passages
        assert [one.text for one in passages] == ["Text of bridge 3."]
        await press(pilot, "p", "n")
        assert pilot.app.screen.query_one(DocumentPane).passages == passages


async def test_a_digit_right_after_v_grades_nothing(make_collection: Maker) -> None:
    """Both in one packet: marking has begun before the digit is looked at."""
    collection = make_collection({ENGLISH: [Document("a", "", "One. Two.")]})
    async with judging(collection) as pilot:
        type_ahead(pilot, "v", "2")
        await settle(pilot)
        assert "Esc done" in rows(pilot)[-2]
    assert stored(collection) == {}


async def test_a_document_without_text_has_nothing_to_mark(make_collection: Maker) -> None:
    """It says so, and keys go on as usual."""
    collection = make_collection({ENGLISH: [Document("a"), Document("b", "", "x")]})
    async with judging(collection) as pilot:
        await press(pilot, "v")
        assert "nothing to mark" in rows(pilot)[-1]
        await press(pilot, "1")
        assert "this document has no text to judge; 1 partially relevant all the same?" in seen(pilot)
        await press(pilot, "n")
        assert stored(collection) == {}
        await press(pilot, "1", "y")
        assert stored(collection)["a"].grade == 1
        assert "1 partially relevant saved" in seen(pilot)


async def test_chosen_keys_are_the_ones_that_are_shown(two_topics: Collection) -> None:
    """A keymap changes grades, commands, hints and help alike, and the old keys do nothing."""
    keymap = Keymap({0: ("à",), 1: ("&",), 2: ("é", "f9")})
    async with judging(two_topics, keymap=keymap) as pilot:
        assert rows(pilot)[-3].startswith(" [à] 0 not relevant  [&] 1 partially relevant  [é] 2 ")
        await press(pilot, "2", "?")
        assert "é  F9         2 relevant" in "\n".join(rows(pilot))
        await press(pilot, "?", "é", "f9")
        assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2, "e1": 2}
