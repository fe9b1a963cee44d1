"""The list of documents: what it shows, what it is cut down to, and the way out of it."""

from __future__ import annotations

import time

import pytest
from textual.widgets import Input

from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import PoolList, PoolListScreen
from judge_ui.screens.reading import ReadingScreen
from judge_ui.widgets.lists import RowList
from store.collection import Collection
from store.records import Document, State, Topic
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import judging, press, rows, seen, settle, stored

pytestmark = pytest.mark.slow


@pytest.fixture
def bridges(make_collection: Maker) -> Collection:
    """Make a topic of ten documents."""
    return make_collection({ENGLISH: [Document(f"br-{n}", "", f"Bridge {n}.") for n in range(10)]})


async def test_the_list_says_in_words_how_every_document_stands(bridges: Collection) -> None:
    """Grades by value and label, states in words, a star for a note, no number and no score."""
    async with judging(bridges) as pilot:
        await press(pilot, "2", "s", "c", "1", "e", "x", "enter", "l")
        assert isinstance(pilot.app.screen, PoolListScreen)
        screen = rows(pilot)
        assert screen[1].split() == ["10", "documents"]
        assert all(row.split()[-2] == "today" for row in screen[2:6])
        assert [row.split("  today ")[0].split() for row in screen[2:7]] == [
            ["2", "relevant", "br-0"],
            ["skipped", "br-1"],
            ["cannot", "be", "judged", "br-2"],
            [">", "-", "*", "br-3"],
            ["-", "br-4"],
        ]
        # On a screen of its own the list is all there is: no grade key works, none is shown.
        assert "[0]" not in seen(pilot)


async def test_every_filter_shows_its_documents_and_the_grade_keys_grade_nothing(bridges: Collection) -> None:
    """Tab goes through the filters; the key that makes a document so shows those that are so."""
    async with judging(bridges) as pilot:
        await press(pilot, "2", "s", "c", "1", "e", "x", "enter", "l")
        found = []
        for _ in range(10):
            await press(pilot, "tab")
            found.append(" ".join(rows(pilot)[1].split()))
        assert found == [
            "unjudged 7 of 10",
            "2 relevant 1 of 10",
            "1 partially relevant 0 of 10",
            "0 not relevant 0 of 10",
            "skipped 1 of 10",
            "cannot be judged 1 of 10",
            "with a note 1 of 10",
            "with passages 0 of 10",
            "decided in under 1 s 2 of 10",
            "10 documents",
        ]
        await press(pilot, "shift+tab")
        assert rows(pilot)[1].startswith(" decided in under 1 s")
        for key, docno in {"2": "br-0", "s": "br-1", "c": "br-2", "e": "br-3"}.items():
            await press(pilot, key)
            assert docno in rows(pilot)[2].split()
            assert rows(pilot)[3].strip() == ""
        assert stored(bridges)["br-3"].state is State.UNJUDGED
        assert len(stored(bridges)) == 4


async def test_enter_goes_to_the_document_under_the_cursor(bridges: Collection) -> None:
    """Keys move, a part of a docno finds it, Enter goes there; l and Escape change nothing."""
    async with judging(bridges) as pilot:
        await press(pilot, "l", "j", "j", "l")
        assert "Bridge 0." in seen(pilot)
        await press(pilot, "l", "j", "j", "k", "enter")
        assert "Bridge 1." in seen(pilot)
        await press(pilot, "l", "/", "b", "R", "-", "7", "enter", "enter")
        assert "Bridge 7." in seen(pilot)
        await press(pilot, "l", "/", "enter", "]", "escape")
        assert "Bridge 7." in seen(pilot)
        await press(pilot, "l", "G", "enter")
        assert "Bridge 9." in seen(pilot)
        await press(pilot, "l", "?")
        assert isinstance(pilot.app.screen, ReadingScreen)
        assert "find a docno by a part of it" in seen(pilot)
        await press(pilot, "?", "escape")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert stored(bridges) == {}


async def test_digits_typed_into_the_field_of_the_list_are_no_filter_and_no_grade(
    bridges: Collection,
) -> None:
    """Digits typed in a text field graded the document in Relevation and in NIST's tool."""
    async with judging(bridges) as pilot:
        await press(pilot, "l", "/", "2", "0", "1")
        assert pilot.app.screen.query_one(Input).value == "201"
        assert rows(pilot)[1].split() == ["10", "documents"]
        await press(pilot, "escape", "escape")
        assert isinstance(pilot.app.screen, JudgeScreen)
    assert stored(bridges) == {}


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
        await press(pilot, "2", "tab", "shift+tab")
        assert "1 of 10" in seen(pilot)
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


async def test_a_click_in_the_list_goes_there(bridges: Collection) -> None:
    """The mouse works, and leaves the keys with the document."""
    async with judging(bridges) as pilot:
        await press(pilot, "l")
        await pilot.click(RowList, offset=(10, 4))
        await settle(pilot)
        assert "Bridge 4." in seen(pilot)
        await press(pilot, "1")
        assert list(stored(bridges)) == ["br-4"]


@pytest.mark.parametrize("size", [(40, 12), (60, 16)])
async def test_the_list_fits_small_terminals(make_collection: Maker, size: tuple[int, int]) -> None:
    """The cursor stays in sight, and the way back is always written there."""
    documents = [Document(f"FT911-{n:05}", "", "x") for n in range(200)]
    collection = make_collection({Topic("12"): documents}, scale="0-3")
    async with judging(collection, size=size) as pilot:
        await press(pilot, "3", "l", "G")
        screen = rows(pilot)
        assert "FT911-00199" in "\n".join(screen)
        assert "Enter go there" in screen[-1]
        assert "l back" in screen[-1]
        await press(pilot, "g")
        assert rows(pilot)[2].split() == ["3", "highly", "relevant", "FT911-00000"]


async def test_hostile_docnos_stay_text_in_the_list(make_collection: Maker) -> None:
    """Markup in an id is drawn as it is, and nothing of it acts."""
    evil = "[@click=app.quit]x[/][bold]"
    async with judging(make_collection({ENGLISH: [Document(evil, "", "x")]})) as pilot:
        await press(pilot, "l")
        assert evil in rows(pilot)[2]
        await pilot.click(RowList, offset=(30, 0))
        await settle(pilot)
        assert not pilot.app._exit


@pytest.mark.slow
async def test_ten_thousand_documents_are_listed_at_once(make_collection: Maker) -> None:
    """Only what is in sight is made: a list of widgets took 66 s for as many (ListView)."""
    documents = [Document(f"d{n:05}", "", "x") for n in range(10_000)]
    async with judging(make_collection({Topic("12"): documents})) as pilot:
        begun = time.perf_counter()
        await press(pilot, "l", "G")
        # Half a second is the promise on a terminal; the machine of the tests may be busy.
        assert time.perf_counter() - begun < 3.0
        assert any("d09999" in row for row in rows(pilot)[-5:])
