"""How screens look: at every size, in the terminal's own colours, what stands out and what gives way."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.color import Color, ColorType
from textual.pilot import Pilot

from store.collection import Collection
from store.records import Document, Topic
from tests.screens.conftest import ENGLISH, Maker
from tests.screens.sitting import enter, judging, press, rows, seen, settle, stored, strips


async def test_the_screen_shows_what_the_layout_promises(two_topics: Collection) -> None:
    """Header, narrative, document and both hint lines are where a judge looks for them."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "e", *"see p. 3", "enter")
        screen = rows(pilot)
        assert screen[0].startswith(" 12 bridge maintenance ")
        assert screen[0].endswith(" alice   1/4  left 3 ")
        assert screen[1].rstrip() == " Which bridges are maintained on a schedule?"
        assert screen[2].rstrip() == " A relevant document names a schedule."
        assert screen[3].split() == ["e1", "100%"]
        assert screen[4].rstrip() == " Bridge 1"
        assert screen[-3].startswith(" [0] not relevant  [1] partially relevant  [2] relevant ")
        assert screen[-3].endswith(" now: -  note: * ")
        assert screen[-2].startswith(" u undo  s skip  c can't  e note  / find  ? help  n/p move")
        assert screen[-1].startswith(" e1: note, u undoes ")
        assert " note saved " in screen[-1]


@pytest.mark.slow
@pytest.mark.parametrize("no_color", ["", "1"])
async def test_without_colours_nothing_looks_otherwise(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    """NO_COLOR, set to anything or empty, takes nothing away that means something."""
    shown = []
    for value in (None, no_color):
        monkeypatch.delenv("NO_COLOR", raising=False)
        if value is not None:
            monkeypatch.setenv("NO_COLOR", value)
        async with judging(two_topics) as pilot:
            await press(pilot, "e", *"see p. 3", "enter")
            pieces = [
                one for strip in strips(pilot) for one in strip if one.style and "saved" not in one.text
            ]
            shown.append(
                [
                    (one.text, one.style.bold, one.style.reverse, one.style.underline)
                    for one in pieces
                    if one.style
                ]
            )
    assert shown[0] == shown[1]


SIZES = ((80, 24), (120, 40), (60, 20), (200, 50), (44, 14), (80, 60))
LONG = Topic(
    "12",
    "what the county pays for the maintenance of bridges over the river, and who inspects them every year",
    "Which bridges are maintained on a schedule, and who pays for it?",
    "A relevant document names a schedule of maintenance of a bridge, such as yearly inspections. " * 5
    + "The end.",
)
LONG_TEXT = "The old bridge over the river was inspected in 1998, and the county paid. " * 20


def looks(pilot: Pilot[None]) -> list[str]:
    """Return the rows without the scrollbar and the time of day."""
    return [re.sub(r"\d\d:\d\d:\d\d", "", row.rstrip(" ▁▂▃▄▅▆▇█")) for row in rows(pilot)]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_resizing_folds_as_starting_at_that_size(make_collection: Maker, size: tuple[int, int]) -> None:
    """Title, question, text, guidelines, grades and hints, from every size to this one."""
    collection = make_collection({LONG: [Document(f"d{n}", f"Bridge {n}", LONG_TEXT) for n in range(3)]})
    collection.guidelines.add("Judge a document **relevant** if any part of it is on the topic. " * 5)
    async with judging(collection, size=size) as pilot:
        begun = looks(pilot)
    for start in SIZES:
        async with judging(collection, size=start) as pilot:
            await pilot.resize_terminal(*size)
            await settle(pilot)
            await press(pilot, "j", "k")
            assert looks(pilot) == begun, start


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16), (59, 15), (40, 12), (40, 10)])
async def test_every_size_shows_document_keys_and_a_way_back(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """From 40 x 10 on a judge sees whose screen it is, the text, the keys, and how far it has come.

    Removing the on-screen key hints brought doccano a run of complaints (#635, #1173).
    """
    ways_back = {
        "v": "Esc done",
        "l": "l back",
        "y": "y back",
        "h": "h or Esc back",
        "/": "Esc ",
        "e": "Esc ",
    }
    ways_back |= {"c": "Esc goes back", "ctrl+p": "Esc goes back", "?": "? or Esc back", "t": "t or Esc back"}
    async with judging(two_topics, size=size) as pilot:
        screen = rows(pilot)
        assert len(screen) == size[1]
        assert "alice   0/4  left 4" in screen[0]
        assert any("Text of bridge 0." in row for row in screen)
        below = 1 if size[1] >= 24 else 0  # the status has a line of its own
        grades = " ".join(screen[-4 - below :])  # on a narrow screen two rows
        assert all(f"[{key}]" in grades for key in "012")
        assert "? help" in screen[-1 - below]
        full = any("names a schedule" in row or "Narrative" in row for row in screen)
        # Of a short document the question has the rows that are empty.
        assert full is (size[1] >= 12)
        for key, way in ways_back.items():
            await press(pilot, key)
            assert any(way in row for row in rows(pilot)[-2:]), key
            await press(pilot, "escape")
        await press(pilot, "1")
        assert stored(two_topics)["e0"].grade == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", [(30, 8), (39, 24), (80, 9)])
async def test_too_small_a_terminal_says_so_and_grades_nothing(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """Nobody grades a document that is not to be seen; enlarging brings it back."""
    async with judging(two_topics, size=size) as pilot:
        assert "terminal too small" in "\n".join(rows(pilot))
        await press(pilot, "1", "2", "s")
        assert stored(two_topics) == {}
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        await press(pilot, "2")
        assert stored(two_topics)["e0"].grade == 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (60, 20), (60, 16), (100, 30)])
async def test_the_question_and_the_scale_are_the_last_things_to_be_cut(
    make_collection: Maker, size: tuple[int, int]
) -> None:
    """Title and description fold, labels take another row; the narrative has the rows that are empty."""
    short, long = Document("d", "", "Short."), Document("e", "", "Text. " * 500)
    async with judging(make_collection({LONG: [short, long]}, scale="0-3"), size=size) as pilot:
        assert ("The end." in seen(pilot)) == (size[1] >= 20)
        await press(pilot, "n")
        bare = [row.replace("alice   0/2  left 2", "") for row in rows(pilot)]
        assert f"12 {LONG.title} {LONG.description} " in " ".join(" ".join(bare).split())
        for name in ("[0] not relevant", "[1] marginally relevant", "[2] relevant", "[3] highly relevant"):
            assert name in seen(pilot)
        assert "Text. Text." in seen(pilot)
        assert any("now: -" in row for row in rows(pilot))
        assert "? help" in seen(pilot)
        if size[1] >= 24:
            assert "... (t: all)" in seen(pilot)


@pytest.mark.slow
async def test_a_question_too_long_for_the_screen_says_so(make_collection: Maker) -> None:
    """Only then there are dots, and the key of the whole; two rows stay for the document."""
    topic = Topic("12", "", "Which bridges are kept, and how? " * 20)
    async with judging(make_collection({topic: [Document("d", "", "Text. " * 99)]}), size=(40, 12)) as pilot:
        assert "... (t: all)" in rows(pilot)[6]
        assert rows(pilot)[7].startswith(" d ")
        assert rows(pilot)[8].startswith(" Text. ")


@pytest.mark.slow
async def test_wide_screens_use_their_width(make_collection: Maker) -> None:
    """At 200 columns guidelines, note and evidence stand beside the text, titles and times in the list."""
    made = make_collection({ENGLISH: [Document(f"d{n}", f"Bridge {n}", f"Text {n}.") for n in range(12)]})
    made.guidelines.add("# How to judge\n\nA schedule of maintenance counts")
    async with judging(made, size=(200, 60)) as pilot:
        assert any(row.rstrip().endswith("A schedule of maintenance counts") for row in rows(pilot))
        await press(pilot, "e", *"so", "ctrl+j", *"what", "enter", "v", "enter", "escape")
        for said in ("How to judge", "Your note", "Your evidence", '"Text 0."', "Bridge 11"):
            assert said in seen(pilot)
    async with judging(made) as pilot:
        await press(pilot, "?")
        await pilot.resize_terminal(120, 40)  # behind a page the document is laid out anew, too
        await settle(pilot)
        await press(pilot, "escape")
        assert {strip.cell_length for strip in strips(pilot)} == {120}
        assert "Your evidence" in seen(pilot)
        assert "How to judge" not in seen(pilot)


STUDY = Topic("7", "taste in CF since 1998", "")


@pytest.fixture
def studies(make_collection: Maker) -> Collection:
    """Make ten documents, all of which have `taste`, and three the year."""
    texts = [
        f"taste of salt in CF{' of 1998' if n < 3 else ''}" if n < 4 else "taste of salt" for n in range(10)
    ]
    return make_collection({STUDY: [Document(f"d{n}", "", text) for n, text in enumerate(texts)]})


def drawn_so(pilot: Pilot[None], **attributes: bool) -> list[str]:
    """Return the stretches of the document's text that have these attributes."""
    (line,) = [strip for strip in strips(pilot) if "taste of salt" in strip.text]
    return [
        piece.text
        for piece in line
        if piece.style
        and piece.text.strip()
        and all(bool(getattr(piece.style, name)) == value for name, value in attributes.items())
    ]


@pytest.mark.slow
async def test_each_group_of_words_has_its_style_and_a_key_switches_them(studies: Collection) -> None:
    """The topic's are bold and underlined, those of half of the documents underlined, the judge's italic."""
    async with judging(studies, topic="7") as pilot:
        await press(pilot, "w")
        await enter(pilot, "salt")
        topic, own = {"bold": True, "underline": True}, {"bold": True, "italic": True}
        common = {"bold": False, "underline": True}
        found = []
        for _ in range(5):
            found.append((drawn_so(pilot, **topic), drawn_so(pilot, **common), drawn_so(pilot, **own)))
            await press(pilot, "a")
        every = (["CF", "1998"], ["taste"], ["salt"])
        assert found == [every, (*every[:2], []), ([], [], ["salt"]), ([], [], []), every]
        assert "lit up: words of the topic" in rows(pilot)[-1]
        await press(pilot, "a", "]")
        assert drawn_so(pilot, reverse=True) == ["salt"]


ACCENTS = {*map(Color.parse, ("magenta", "color(5)", "bright_black", "color(8)")), "dim"}
"""Of keys and the current grade, of scrollbars, and of bars."""


async def colours(pilot: Pilot[None]) -> set[Any]:
    """Return every colour that is not the terminal's own for text or background, and dim styles."""
    found: set[Any] = set()
    for strip in strips(pilot):
        for piece in strip:
            if piece.style is not None:
                both = (piece.style.color, piece.style.bgcolor)
                found |= {one for one in both if one is not None and one.type is not ColorType.DEFAULT}
                found |= {"dim"} if piece.style.dim else set()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_text_and_signs_have_the_colours_of_the_terminal_alone(
    studies: Collection, size: tuple[int, int]
) -> None:
    """All but the accents, whatever is open: what holds for a palette's two colours holds for the screen."""
    async with judging(studies, topic="7", size=size) as pilot:
        for keys in ("", "1", "v", "c", "e", "/", "l", "?", "ctrl+p", "y"):
            if keys:
                await press(pilot, keys)
            assert (keys, await colours(pilot) - ACCENTS) == (keys, set())
            if keys not in ("", "1"):
                await press(pilot, "escape")


@pytest.mark.slow
async def test_keys_and_the_current_grade_have_one_colour_and_bars_are_dimmed(two_topics: Collection) -> None:
    """What is read is as it is; the docno is no part of it."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "p")
        lines = [list(strip) for strip in strips(pilot)]
        pieces = [one for line in lines for one in line if one.style and one.style.color]
        coloured = {one.text: str(one.style.color.name) for one in pieces if one.style}
        coloured = {text: name for text, name in coloured.items() if name not in ("default", "bright_black")}
        assert set(coloured.values()) == {"magenta"}
        assert {"[0]", "[2] relevant", "u", "s", "?"} <= set(coloured)
        [docno] = [one for line in lines for one in line if one.text.strip().startswith("e0  ")]
        assert docno.style is not None
        assert docno.style.dim
