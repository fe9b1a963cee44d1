"""What a judge reads, finds and looks up: guidelines, words, evidence, markup, lists, history."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from judge_ui.screens.dialogs import PaletteDialog
from judge_ui.screens.document import READ_AHEAD_S
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen, PoolList, PoolListScreen
from judge_ui.screens.reading import ReadingScreen
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.lists import RowList
from store.collection import Collection
from store.content.documents import document_sha256
from store.records import Document, State, Topic
from tests.helpers.world import make_pool
from tests.screens.conftest import ENGLISH, Maker
from tests.screens.sitting import (
    enter,
    judging,
    press,
    read_pane,
    rows,
    seen,
    settle,
    stored,
    strips,
    type_ahead,
    typed,
)

pytestmark = pytest.mark.slow

GUIDELINES = """# How to judge

Any relevant part makes a document **relevant**.

- `2`: about the topic
- `1`: mentions it, in a sentence that goes on for longer than one line of the screen can hold

[rules](https://example.org) <b>html</b> [@click=app.quit]x[/] &#27;[2J &#x202e;
"""


async def test_the_guidelines_and_the_topic_are_a_key_away(two_topics: Collection) -> None:
    """They are plain text with bold headings; nothing in them acts, and no grade key works.

    Viewing touched the data in WebAnno (#1558): here no event comes of looking anything up.
    """
    async with judging(two_topics, topic=None) as pilot:
        assert "this collection has no guidelines" in await press(pilot, "h")
        await press(pilot, "h")
        assert isinstance(pilot.app.screen, InboxScreen)
    two_topics.guidelines.add("an older version")
    two_topics.guidelines.add(GUIDELINES)
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
        await press(pilot, "2", "h", "t")
        assert all(part in seen(pilot) for part in (ENGLISH.title, ENGLISH.description, ENGLISH.narrative))
        await press(pilot, "2", "t")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert not pilot.app._exit
        keys = ("?", "?", "l", "G", "escape", "y", "tab", "escape", "n", "p", "space", "]", "v", "escape")
        assert ENGLISH.narrative in await press(pilot, *keys, "/", "enter")
    assert stored(two_topics) == {}


async def test_a_topic_begins_with_its_briefing(two_topics: Collection) -> None:
    """Narrative, grades and guidelines come before the first key, once; and again when they are new.

    Without narrative and guidelines there is no briefing: a title is in sight anyway.
    """
    two_topics.topics.add([Topic("5", "tunnels")])
    two_topics.pools.add(make_pool({"5": ["e0"]}, name="more"))
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
    two_topics.pools.withdraw("more")
    two_topics.guidelines.add(GUIDELINES)
    async with judging(two_topics, topic=None, size=(80, 40)) as pilot:
        await press(pilot, "enter", "2", "s", "u")
        assert isinstance(pilot.app.screen, ReadingScreen)
        grades = "0 not relevant 1 partially relevant 2 relevant"
        for part in ("Before you begin: topic 12", ENGLISH.narrative, grades, "Guidelines, version 1 of 20"):
            assert part in seen(pilot)
        assert pilot.app._session._dwell.ms is None  # what nobody has seen is not on the screen
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        await press(pilot, "enter", "enter", "escape", "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "2")
        assert stored(two_topics)["e0"].grade == 2
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JudgeScreen)
        two_topics.guidelines.add("# Something else counts now")
        assert "Something else counts now" in await press(pilot, "escape", "enter")
    two_topics.topics.add([Topic("7", "bridges")])
    async with judging(two_topics, topic=None, judge="bob") as pilot:
        type_ahead(pilot, "enter", "enter")
        late = typed("enter")
        await settle(pilot)
        pilot.app.post_message(late)
        await settle(pilot)
        assert "Before you begin" in rows(pilot)[0]  # an Enter from before it was there closes nothing


async def test_what_was_read_ahead_is_judged_as_it_is_shown(
    two_topics: Collection, events: Callable[[], list[dict[str, Any]]]
) -> None:
    """A document that is replaced once it was read ahead is judged as it was read, and its event says so.

    What was laid out before a passage was marked is not what is shown when one comes back.
    """
    old, new = Document("e1", "Bridge 1", "Text of bridge 1."), Document("e1", "", "Another text.")
    async with judging(two_topics) as pilot:
        await asyncio.sleep(READ_AHEAD_S + 0.1)
        two_topics.documents.add([new], replace=True)
        assert "Text of bridge 1." in await press(pilot, "1")
        assert "Another text." in await press(pilot, "2", "p")
        await press(pilot, "0")
        await asyncio.sleep(READ_AHEAD_S + 0.1)
        await pilot.resize_terminal(70, 24)
        await press(pilot, "1", "v", "enter", "escape")
        passages = pilot.app.screen.query_one(DocumentPane).passages
        assert [one.text for one in passages] == ["Text of bridge 3."]
        await press(pilot, "p", "n")
        assert pilot.app.screen.query_one(DocumentPane).passages == passages
    hashes = [one["document_sha256"] for one in events() if one["docno"] == "e1"]
    assert hashes == [document_sha256(old), document_sha256(new)]


LONG = "\n".join(f"line {n} of the schedule." for n in range(1, 101)) + "\nNeedle here.\nneedle."


def standing_out(pilot: Pilot[None]) -> list[str]:
    """Return what is lit up in the document, bold and underlined or italic, from top to bottom."""
    region = pilot.app.screen.query_one(DocumentPane).region
    return [
        piece.text
        for line in strips(pilot)[region.y : region.y + region.height]
        for piece in line
        if piece.style and piece.style.bold and (piece.style.underline or piece.style.italic)
    ]


async def test_finding_goes_to_the_words_and_escape_forgets_them(make_collection: Maker) -> None:
    """Enter finds, ] and [ go on and round, Escape first takes the marks away, then goes back.

    Own words, commas between them, stand out at once, in what was read ahead, too, and are taken away.
    """
    bridges = [Document(f"e{n}", f"Bridge {n}", f"Text of bridge {n}.") for n in range(2)]
    collection = make_collection({ENGLISH: [*bridges, Document("a", "", LONG)]})
    async with judging(collection) as pilot:
        # Until the next document has been read ahead, with the words as they were.
        await asyncio.sleep(2 * READ_AHEAD_S)
        await press(pilot, "w")
        assert "Words to highlight, separated by commas" in rows(pilot)[-3]
        await press(pilot, *"201")
        assert pilot.app.screen.query_one(Input).value == "201"
        await enter(pilot, "Text, of bridge、0, (a+)+$")
        assert "highlighted: Text, of bridge, 0, (a+)+$" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Bridge", "0", "Text", "of ", "bridge", "0"]
        await press(pilot, "2")
        assert standing_out(pilot) == ["Bridge", "Text", "of ", "bridge"]
        await press(pilot, "w")
        await enter(pilot, "")
        assert "no words of your own" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Bridge", "bridge"]
        await press(pilot, "n")
        await press(pilot, "]")  # without a search, through the words of the topic
        assert "hit 1 of 100" in rows(pilot)[-1]
        await press(pilot, "g", "/")
        assert "Find in a" in rows(pilot)[-3]
        await enter(pilot, "ＮＥＥＤＬＥ")
        assert "2 hits: ] next, [ back" in rows(pilot)[-1]
        assert standing_out(pilot) == ["Needle", "needle"]
        for key, hit in ("]", 2), ("]", 1), ("[", 2):
            await press(pilot, key)
            assert f"hit {hit} of 2" in rows(pilot)[-1]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert set(standing_out(pilot)) == {"schedule"}
        await press(pilot, "/")  # what was sought is offered again, and the first key replaces it
        assert pilot.app.screen.query_one(Input).value == "ＮＥＥＤＬＥ"
        await press(pilot, *"no 2", "enter")
        assert "not in this document: no 2" in rows(pilot)[-1]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
    assert list(stored(collection)) == ["e0"]


async def test_passages_are_marked_stored_and_undone(make_collection: Maker) -> None:
    """V marks sentences with keys of its own, always in sight; offset and text are stored."""
    text = "First one. Second one. Third one."
    collection = make_collection({ENGLISH: [Document("a", "", text), Document("b", "", text), Document("c")]})
    async with judging(collection) as pilot:
        await press(pilot, "v")
        assert rows(pilot)[-2].startswith(" Enter mark  j/k sentence  J/K extend")
        assert "Esc done" in rows(pilot)[-2]
        # No key grades meanwhile, and none is offered.
        assert rows(pilot)[-3].strip() == "now: -"
        await press(pilot, "2", "s", "j", "enter")
        assert " saved " in rows(pilot)[-1]
        assert rows(pilot)[-3].strip() == "now: -  marked: 1"
        (task,) = [task for task in pilot.app._session.tasks if task.docno == "a"]
        assert [(one.start, one.text) for one in task.passages] == [(11, "Second one.")]
        assert stored(collection)["a"].state is State.UNJUDGED
        await press(pilot, "escape", "u")
        assert "mark undone" in rows(pilot)[-1]
        assert pilot.app.screen.query_one(DocumentPane).passages == ()
        await press(pilot, "ctrl+r", "2", "p")
        assert "now: 2  marked: 1" in rows(pilot)[-3]
        assert len(pilot.app.screen.query_one(DocumentPane).passages) == 1
        await press(pilot, "n", "n", "v")
        assert "nothing to mark" in rows(pilot)[-1]
        await press(pilot, "1")
        assert "this document has no text to judge; 1 partially relevant all the same?" in seen(pilot)


HTML = (
    "<h1>Dee</h1><p>The <b>old</b> bridge &amp; its\r\n paint. It needs a schedule.</p>"
    "<script>bridge()</script>"
)
EVIL = (
    "<p>\x1b]0;owned\x07&#27;[2J<b>[bold]x[/] [@click=app.quit]y[/]</b>\u202e"
    + "<div>" * 5000
    + "e\u0301" * 300
)


@pytest.fixture
def marked_up(make_collection: Maker) -> Collection:
    """Make a topic of three documents: HTML with fields, a hostile one, a plain one."""
    fields = (
        ("url", "http://a.example/oaks?bridge=1"),
        ("author", "Ann"),
        ("x\x1b[2J", "\x1b[31m" + "long " * 200),
    )
    made = [Document("h", "Of a bridge", HTML, fields, "html"), Document("evil", "", EVIL, (), "html")]
    collection = make_collection({ENGLISH: [*made, Document("p", "", "A plain bridge.")]})
    collection.documents.add([], fields=["author", "url", "none"])
    return collection


async def test_a_document_with_markup_is_read_and_a_key_shows_it_as_it_came(marked_up: Collection) -> None:
    """Fields stand between title and text, in the order of the collection, names bold, words lit up.

    A search goes over tags; what is marked is drawn in both views, and unmarked in either.
    """

    def kept() -> list[str]:
        return [one.text for one in [*marked_up.judgements.history()][-1].passages]

    async with judging(marked_up) as pilot:
        lines = [line.strip() for line in await read_pane(pilot)]
        assert lines[:6] == [
            "Of a bridge", "author: Ann  url: http://a.example/oaks?bridge=1", "", "Dee", "",
            "The old bridge & its paint. It needs a schedule.",
        ]  # fmt: skip
        await press(pilot, "g")
        bold = [piece.text for line in strips(pilot) for piece in line if piece.style.bold]
        assert {"author:", "url:", "Dee"} <= set(bold)
        lit = [piece.text for line in strips(pilot) for piece in line if piece.style.underline]
        assert lit.count("bridge") >= 3
        assert "< raw" in seen(pilot)
        assert "<h1>Dee</h1><p>The <b>old</b> bridge &amp; its" in await press(pilot, "<")
        assert "<script>bridge()</script>" in seen(pilot)
        assert "< as it is read" in seen(pilot)
        await press(pilot, "<")
        assert "<h1>" not in seen(pilot)
        pane = pilot.app.screen.query_one(DocumentPane)
        await press(pilot, "/")
        await enter(pilot, "old bridge & its paint")
        assert "1 hit: ] next" in seen(pilot)
        await press(pilot, "v", "enter", "escape")
        raw = "The <b>old</b> bridge &amp; its\r\n paint."
        assert kept() == [raw]
        assert [one.text for one in pane.passages] == ["The old bridge & its paint."]
        await press(pilot, "<")
        assert [one.text for one in pane.passages] == [raw.replace("\r", "")]
        await press(pilot, "v", "x", "escape")
        assert kept() == []
        await press(pilot, "2")
        assert stored(marked_up)["h"].grade == 2
        assert "<p>" not in seen(pilot)
        assert "this document is shown as it came: its text has no markup" in await press(pilot, "n", "<")


@pytest.mark.parametrize("size", [(40, 12), (120, 40)])
async def test_hostile_page_is_harmless_at_every_size(marked_up: Collection, size: tuple[int, int]) -> None:
    """Nothing acts, nothing is drawn wider than the screen, and a grade works."""
    async with judging(marked_up, size=size) as pilot:
        assert "␛]0;owned␇␛[2J[bold]x[/] [@click=app.quit]y[/]" in await press(pilot, "n")
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        await press(pilot, "<")
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        assert not any(ord(one) < 32 for line in rows(pilot) for one in line)
        await press(pilot, "1")
        assert stored(marked_up)["evil"].grade == 1


@pytest.fixture
def bridges(make_collection: Maker) -> Collection:
    """Make a topic of ten documents."""
    return make_collection({ENGLISH: [Document(f"br-{n}", "", f"Bridge {n}.") for n in range(10)]})


async def test_the_list_says_how_every_document_stands_and_leads_to_it(bridges: Collection) -> None:
    """Keys move, a part of a docno finds it, Enter or a click goes there; l and Escape change nothing.

    Grades by value and label, a star for a note, nothing of others; Tab and keys filter, and grade nothing.
    """
    async with judging(bridges) as pilot:
        assert "Bridge 0." in await press(pilot, "l", "j", "j", "l")
        assert "Bridge 1." in await press(pilot, "l", "j", "j", "k", "enter")
        await press(pilot, "l", "/", *"201")
        assert pilot.app.screen.query_one(Input).value == "201"  # digits in a field are no filter
        assert rows(pilot)[1].split() == ["10", "documents"]
        assert "Bridge 7." in await press(pilot, "escape", "/", *"bR-7", "enter", "enter")
        assert "Bridge 7." in await press(pilot, "l", "/", "enter", "]", "escape")
        await press(pilot, "l", "?")
        assert isinstance(pilot.app.screen, ReadingScreen)
        assert "find a docno by a part of it" in seen(pilot)
        await press(pilot, "?")
        await pilot.click(RowList, offset=(10, 4))
        await settle(pilot)
        assert "Bridge 4." in seen(pilot)
        assert stored(bridges) == {}
        await press(pilot, "l", "g", "enter")
        await press(pilot, "2", "s", "c", "1", "e", "x", "enter", "l")
        screen = rows(pilot)
        assert screen[1].split() == ["10", "documents"]
        assert "gap" not in seen(pilot)
        assert all(row.split()[-2] == "today" for row in screen[2:6])
        stand = [" ".join(row.split("  today ")[0].split()) for row in screen[2:7]]
        assert stand == ["2 relevant br-0", "skipped br-1", "cannot be judged br-2", "> - * br-3", "- br-4"]
        # On a screen of its own the list is all there is: no grade key works, none is shown.
        assert "[0]" not in seen(pilot)
        found = []
        for _ in range(10):
            await press(pilot, "tab")
            found.append(" ".join(rows(pilot)[1].split()))
        assert ", ".join(found) == (
            "unjudged 7 of 10, 2 relevant 1 of 10, 1 partially relevant 0 of 10, 0 not relevant 0 of 10,"
            " skipped 1 of 10, cannot be judged 1 of 10, with a note 1 of 10, with passages 0 of 10,"
            " decided in under 1 s 2 of 10, 10 documents"
        )
        await press(pilot, "shift+tab")
        assert rows(pilot)[1].startswith(" decided in under 1 s")
        for key, docno in {"2": "br-0", "s": "br-1", "c": "br-2", "e": "br-3"}.items():
            await press(pilot, key)
            assert docno in rows(pilot)[2].split()
            assert rows(pilot)[3].strip() == ""
        assert stored(bridges)["br-3"].state is State.UNJUDGED
        assert len(stored(bridges)) == 4


async def test_beside_the_document_the_list_follows_the_judge(bridges: Collection) -> None:
    """From 120 columns on topic and list are at the left; l goes into the list, l comes back."""
    async with judging(bridges, size=(120, 40)) as pilot:
        panel = pilot.app.screen.query_one(PoolList)
        assert "Narrative" in seen(pilot)
        await press(pilot, "2")
        text = "\n".join(rows(pilot))
        assert "  2 relevant            br-0 " in text
        assert "> -                     br-1 " in text
        await press(pilot, "l")
        assert panel.rows.has_focus
        assert rows(pilot)[-2].startswith(" Enter go there  Tab filter  / find docno  ? help  l back")
        # Here a digit cuts the list down; it grades nothing, and is not offered to.
        assert rows(pilot)[-3].strip() == "now: -"
        assert "1 of 10" in await press(pilot, "2", "tab", "shift+tab")
        assert list(stored(bridges)) == ["br-0"]
        await press(pilot, "enter")
        assert not panel.is_in_use
        assert "Bridge 0." in seen(pilot)
        await press(pilot, "1")
        assert stored(bridges)["br-0"].grade == 1
        await press(pilot, "l", "/", "7", "enter")
        assert panel.rows.has_focus
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        await press(pilot, "0")
        assert stored(bridges)["br-1"].grade == 0


@pytest.mark.parametrize("size", [(40, 12), (60, 16)])
async def test_a_list_of_ten_thousand_fits_small_terminals_at_once(
    make_collection: Maker, size: tuple[int, int]
) -> None:
    """Only what is in sight is made: a list of widgets took 66 s for as many (ListView)."""
    documents = [Document(f"FT911-{n:05}", "", "x") for n in range(10_000)]
    async with judging(make_collection({Topic("12"): documents}, scale="0-3"), size=size) as pilot:
        await press(pilot, "3")
        begun = time.perf_counter()
        await press(pilot, "l", "G")
        # Half a second is the promise on a terminal; the machine of the tests may be busy.
        assert time.perf_counter() - begun < 3.0
        assert "FT911-09999" in "\n".join(rows(pilot)[-5:])
        assert "Enter go there" in rows(pilot)[-1]
        assert "l back" in rows(pilot)[-1]
        await press(pilot, "g")
        assert rows(pilot)[2].split() == ["3", "highly", "relevant", "FT911-00000"]


async def test_the_history_lists_the_sitting_newest_first(two_topics: Collection) -> None:
    """Time, topic, document and what was done; what was taken back says so; Enter goes where it was.

    Tab shows what was done to the document before the judge, also before this sitting.
    """
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
        await press(pilot, "1", "escape", "escape", "down", "enter", "enter", "1", "y", "j", "enter")
        assert "12 bridge maintenance" in rows(pilot)[0]
        assert "Text of bridge 2." in seen(pilot)
        await press(pilot, "escape", "y", "enter")
        assert "0013 " in rows(pilot)[0]
        assert stored(two_topics)["e2"].state is State.UNJUDGED
    async with judging(two_topics) as pilot:
        await press(pilot, "l", "g", "enter", "1", "l", "g", "enter", "y", "tab")
        screen = rows(pilot)
        assert screen[0].startswith(" History of e0 ")
        assert screen[0].endswith("2 in all sittings ")
        assert screen[1].rstrip().endswith("1 partially relevant")
        assert "2 relevant (" in screen[2]
        await press(pilot, "tab")
        assert rows(pilot)[0].startswith(" History of this sitting")
        assert "2 relevant" not in seen(pilot)


async def test_the_palette_runs_commands_by_name(two_topics: Collection) -> None:
    """Letters narrow it down, arrows move, Enter runs; of the topics it offers what works there."""
    async with judging(two_topics) as pilot:
        await press(pilot, "ctrl+p", "2", "0", "escape")
        assert stored(two_topics) == {}
        await press(pilot, "ctrl+p", *"lis", "enter")
        assert isinstance(pilot.app.screen, PoolListScreen)
        await press(pilot, "l", "ctrl+p", *"not rel", "enter")
        # No command has those words, so there is nothing to run.
        assert isinstance(pilot.app.screen, PaletteDialog)
        await press(pilot, "ctrl+p", "ctrl+p", "down", "enter")
        assert stored(two_topics)["e0"].state is State.SKIPPED
    async with judging(two_topics, topic=None, size=(40, 12)) as pilot:
        assert "guidelines" in await press(pilot, "ctrl+p")
        assert "leave for later" not in seen(pilot)
        await press(pilot, *"quit", "enter")
        assert pilot.app._exit
