"""How screens, panes and lines look: at every size, in the terminal's own colours, nothing of a text lost."""

from __future__ import annotations

import re
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color, ColorType
from rich.style import Style
from textual.pilot import Pilot

from judge_ui.session.keys import Command, key_table
from judge_ui.text.finding import Span
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.laid_out import (
    Look,
    MarkedText,
    document_text,
    lay_out,
    markdown_text,
    strong,
    topic_text,
)
from judge_ui.widgets.lines import Notice, grade_lines, hint_lines, hints_content, hints_segments, hints_text
from judge_ui.widgets.text_pane import look_style
from store.collection import Collection
from store.records import Document, Grade, Passage, ShownDocument, State, Task, Topic
from store.wrapping import cell_width, drawn, wrap
from tests.helpers.strategies import examples
from tests.helpers.world import make_scale, parse_scale
from tests.screens.conftest import ENGLISH, Maker
from tests.screens.sitting import (
    Shown,
    enter,
    judging,
    press,
    rows,
    seen,
    settle,
    showing,
    stored,
    strips,
    type_ahead,
)


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
async def test_without_colours_nothing_looks_otherwise(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NO_COLOR, set to anything or empty, takes nothing away that means something."""
    shown = []
    for value in (None, "", "1"):
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
    assert shown[0] == shown[1] == shown[2]


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
@pytest.mark.parametrize("size", [SIZES[0], (200, 50), (44, 14)])
async def test_resizing_folds_as_starting_at_that_size(make_collection: Maker, size: tuple[int, int]) -> None:
    """Title, question, text, guidelines, grades and hints, from every size to this one."""
    collection = make_collection({LONG: [Document(f"d{n}", f"Bridge {n}", LONG_TEXT) for n in range(3)]})
    collection.guidelines.add("Judge a document **relevant** if any part of it is on the topic. " * 5)
    async with judging(collection, size=size) as pilot:
        begun = looks(pilot)
    async with judging(collection, size=SIZES[0]) as pilot:
        for start in SIZES:
            for width, height in (start, size):
                await pilot.resize_terminal(width, height)
                await settle(pilot)
            await press(pilot, "j", "k")
            assert looks(pilot) == begun, start


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (60, 16), (59, 15), (40, 12), (40, 10)])
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
@pytest.mark.parametrize("size", [(80, 24), (60, 16), (100, 30), (40, 12)])
async def test_the_question_and_the_scale_are_the_last_things_to_be_cut(
    make_collection: Maker, size: tuple[int, int]
) -> None:
    """Title and description fold, labels take another row; the narrative has the rows that are empty.

    Only of what is too long there are dots, and the key of the whole; two rows stay for the text.
    """
    if size == (40, 12):
        topic = Topic("12", "", "Which bridges are kept, and how? " * 20)
        async with judging(make_collection({topic: [Document("d", "", "Text. " * 99)]}), size=size) as pilot:
            assert "... (t: all)" in rows(pilot)[6]
            assert rows(pilot)[7].startswith(" d ")
            assert rows(pilot)[8].startswith(" Text. ")
        return
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
async def test_text_and_signs_have_the_colours_of_the_terminal_alone(studies: Collection) -> None:
    """All but the accents, whatever is open: what holds for a palette's two colours holds for the screen.

    Keys and the current grade have one colour; what is read is as it is, and the docno is dim.
    """
    async with judging(studies, topic="7", size=(200, 60)) as pilot:
        for keys in ("", "1", "v", "c", "e", "/", "l", "?", "ctrl+p", "y"):
            if keys:
                await press(pilot, keys)
            assert (keys, await colours(pilot) - ACCENTS) == (keys, set())
            if keys not in ("", "1"):
                await press(pilot, "escape")
        await press(pilot, "p")
        lines = [list(strip) for strip in strips(pilot)]
        pieces = [one for line in lines for one in line if one.style and one.style.color]
        coloured = {one.text: str(one.style.color.name) for one in pieces if one.style and one.style.color}
        coloured = {text: name for text, name in coloured.items() if name not in ("default", "bright_black")}
        assert set(coloured.values()) == {"magenta"}
        assert {"[0]", "[1] partially relevant", "u", "s", "?"} <= set(coloured)
        docno = next(one for line in lines for one in line if one.text.strip().startswith("d0  "))
        assert docno.style is not None
        assert docno.style.dim


texts = st.text(st.sampled_from("ab cé検索。「」\u0301\u200d\n\t"), max_size=60)


@st.composite
def spans_of(draw: st.DrawFn, length: int) -> tuple[Span, ...]:
    """Make ascending spans that do not overlap, of a text of a length."""
    edges = sorted(draw(st.lists(st.integers(0, length), max_size=12)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return tuple((start, end) for start, end in pairs if start < end)


@st.composite
def layered(draw: st.DrawFn) -> tuple[MarkedText, list[tuple[tuple[Span, ...], Look]]]:
    """Make a leaf, and layers over it."""
    text = draw(texts)
    marked_text = MarkedText(text, draw(spans_of(len(text))), draw(spans_of(len(text))))
    looks = (Look.FOUND, Look.CURRENT, Look.PASSAGE, Look.SELECTED)
    return marked_text, [(draw(spans_of(len(text))), look) for look in looks]


@given(made=layered(), width=st.integers(2, 20))
def test_every_character_is_drawn_with_all_that_it_is(
    made: tuple[MarkedText, list[tuple[tuple[Span, ...], Look]]], width: int
) -> None:
    """The pieces of a line are its text, each with every look of the stretches it lies in."""
    marked_text, layers = made
    laid = lay_out(marked_text, width)
    for line, (start, end) in enumerate(laid.lines):
        expected = []
        for place in range(start, end):
            looks = Look.PLAIN
            for spans, look in ((marked_text.strong, Look.STRONG), (marked_text.hits, Look.HERE), *layers):
                if any(first <= place < last for first, last in spans):
                    looks |= look
            expected += [(character, looks) for character in drawn(marked_text.text[place])]
        pieces = laid.pieces(line, layers)
        assert [(character, look) for text, look in pieces for character in text] == expected


@given(text=texts, times=st.integers(1, 1500), width=st.integers(2, 30), share=st.floats(0, 1))
def test_a_place_is_on_the_line_that_holds_it(text: str, times: int, width: int, share: float) -> None:
    """The last line that begins at it or before it, as a search of all lines finds."""
    text = text * times
    place = round(share * len(text))
    lines = wrap(text, width)
    expected = max(line for line, (start, _) in enumerate(lines) if start <= place)
    assert lay_out(MarkedText(text), width).line_of(place) == expected


def test_a_document_shows_its_title_its_words_and_its_passages() -> None:
    """Passages are in characters of the text, and are drawn behind the heading; terms in both."""
    page = ShownDocument("d", "On bridges", "A river crossing. Not a bridge.")
    passage = Passage(2, 5, "river")
    marked_text = document_text(page, ["bridge", "River  Crossing"], [passage])
    laid = lay_out(marked_text, 40)
    pieces = [list(laid.pieces(line)) for line in range(3)]
    assert pieces == [
        [("On ", Look.STRONG), ("bridges", Look.HIT)],
        [],
        [
            ("A ", Look.PLAIN),
            ("river", Look.HIT | Look.PASSAGE),
            (" crossing", Look.HIT),
            (". Not a ", Look.PLAIN),
            ("bridge", Look.HIT),
            (".", Look.PLAIN),
        ],
    ]


def test_passages_that_overlap_are_drawn_as_one() -> None:
    """Whatever is in the store, a screen has passages one after the other."""
    page = ShownDocument("d", "", "abcdef")
    marked_text = document_text(page, (), [Passage(2, 3, "cde"), Passage(0, 4, "abcd")])
    assert marked_text.passages == (Passage(0, 5, "abcde"),)
    assert list(lay_out(marked_text, 9).pieces(0)) == [("abcde", Look.PASSAGE), ("f", Look.PLAIN)]


def test_a_document_without_text_says_so() -> None:
    """Missing and empty are two things, and neither has anything to mark or to search."""
    missing, empty = (
        document_text(ShownDocument("d", "t", None), ["text"]),
        document_text(ShownDocument("d", "", ""), []),
    )
    assert missing.text.startswith("t\n\nno text is stored for this document")
    assert empty.text == "the text of this document is empty"
    assert not missing.is_document
    assert not empty.is_document


def test_a_topic_is_shown_whole() -> None:
    """Title, description, narrative; and something for a topic without a title."""
    assert topic_text(Topic("1", "t", "d", "n")).text == "t\n\nDescription\nd\n\nNarrative\nn"
    assert topic_text(Topic("1")).text == "this topic has no title"


def test_a_title_that_the_text_begins_with_is_written_once() -> None:
    """Whatever its line ends; any other title stands above."""
    said = ShownDocument("d", "Iron bridges", "Iron\nbridges\n\nThey rust.")
    assert document_text(said, []).text == "Iron\nbridges\n\nThey rust."
    other = ShownDocument("d", "Iron", "Iron bridges\n\nThey rust.")
    assert document_text(other, []).text == "Iron\n\nIron bridges\n\nThey rust."


def bold(text: str) -> list[str]:
    """Return what is bold."""
    marked_text = markdown_text(text)
    return [marked_text.text[start:end] for start, end in marked_text.strong]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# A\ntext\nmore\n\n## B", "A\n\ntext more\n\nB"),
        ("para\n- a\n- b\n\nafter", "para\n\n- a\n- b\n\nafter"),
        ("- a\n  - b\n  - c\n- d", "- a\n  - b\n  - c\n- d"),
        ("- a\n\n  more\n\n- b", "- a\n\n  more\n\n- b"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("10) x", "10) x"),
        ("> q\n> r", "> q r"),
        ("> - a\n> - b", "> - a\n> - b"),
        ("```py\na  b\n\n c\n```", "    a  b\n    \n     c"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"),
        ("a\n\n---\n\nb", "a\n\n- - -\n\nb"),
        ("one  \ntwo", "one\ntwo"),
        ("[words](http://u) <http://v>", "words (http://u) http://v"),
        ("![a cat](cat.png)", "a cat"),
        ("*em* `code` <i>html</i>", "*em* code <i>html</i>"),
        ("適合\n文書 and\n文書", "適合文書 and 文書"),
        ("", ""),
    ],
)
def test_structure_becomes_blanks_and_marks(source: str, text: str) -> None:
    """The expected text is written out by hand from what CommonMark says of the source."""
    assert markdown_text(source).text == text


def test_headings_strong_words_and_table_heads_are_bold() -> None:
    """And nothing else is."""
    assert bold("# A **b** c\n\nd **e** *f*") == ["A ", "b", " c", "e"]
    assert bold("| h | i |\n|---|---|\n| 1 | 2 |") == ["h", "i"]


def test_items_stand_below_each_other() -> None:
    """A long item is broken at the width, its lines behind the indent of its first word."""
    lines = markdown_text("- to be or not\n  1. to be that is", 10).text.split("\n")
    assert lines == ["- to be or", "  not", "  1. to be", "     that", "     is"]


@pytest.mark.parametrize("reference", ["&#27;", "&#x9b;", "&#x202e;", "&#0;", "&#x2028;"])
def test_character_references_cannot_steer_the_terminal(reference: str) -> None:
    """What the source spells out is decoded after the desk has sanitised it, so again here."""
    for source in (f"a{reference}b", f"# {reference}", f"[x](u{reference})", f"`{reference}`"):
        text = markdown_text(source).text
        assert not [one for one in text if unicodedata.category(one) in ("Cc", "Cf") and one != "\n"]
        assert "\u202e" not in text


@given(st.text(alphabet=st.sampled_from("ab 検-*_#>`[]()|\\!&;1.\n\t"), max_size=60))
def test_any_text_is_written_within_the_width(source: str) -> None:
    """Whatever the source, spans are in order and inside the text, and it fits."""
    marked_text = markdown_text(source, 20)
    edges = [edge for span in marked_text.strong for edge in span]
    assert edges == sorted(edges)
    assert not edges or edges[-1] <= len(marked_text.text)
    for line in marked_text.text.split("\n"):
        indent = len(line) - len(line.lstrip(" >-*0123456789.)"))
        assert cell_width(line) <= max(20, indent + 4)


PANE_SIZES = [(120, 40), (80, 24), (60, 16), (40, 12)]
JAPANESE = "判定対象の文書は、①テストコレクション（test collection）から採る。ﾊﾟｲﾌﾟ「」ー々"
HIDDEN = "\u200b\u200d\u00ad\ufe0f"


def cells(text: str) -> int:
    """Count cells by Unicode's own tables: East Asian width, and marks that have none."""
    marks = ("Mn", "Me")
    return sum(
        0 if unicodedata.category(one) in marks else 1 + (unicodedata.east_asian_width(one) in "WF")
        for one in text
    )


@settings(max_examples=examples(5))
@given(
    pieces=st.lists(st.sampled_from([JAPANESE, "word ", "\n", "e\u0301", "\t", HIDDEN, "検"])),
    times=st.integers(1, 30),
    size=st.sampled_from(PANE_SIZES),
)
async def test_everything_is_drawn_and_no_line_is_too_wide(
    pieces: list[str], times: int, size: tuple[int, int]
) -> None:
    """What is painted, put together again, is the text but for blanks and what shows nothing."""
    text = "".join(pieces) * times
    async with showing(MarkedText(text), size) as shown:
        pane = shown.pane
        painted: list[str] = []
        n_lines = pane.virtual_size.height
        assert n_lines == len(wrap(text, pane.text_width))
        while len(painted) < n_lines:
            assert all(cells(line) <= pane.text_width for line in shown.lines())
            strips = [pane.render_line(y) for y in range(pane.size.height)]
            assert {strip.cell_length for strip in strips} == {pane.size.width - 1}
            painted += shown.lines()[len(painted) - pane.scroll_offset.y :]
            await shown.press("space")
    expected = "".join(one for one in text if one not in HIDDEN)
    assert "".join("".join(painted).split()) == "".join(expected.split())


@pytest.mark.parametrize("is_other_width", [False, True])
async def test_a_text_laid_out_ahead_is_painted_as_any_other(*, is_other_width: bool) -> None:
    """With what stands out in it; not one line of it is left from when the pane was narrower."""
    page = ShownDocument("d", "A title", f"The red bridge. {JAPANESE}\n" * 9)
    async with showing(MarkedText("before"), (120, 40)) as shown:
        pane = shown.pane
        laid = lay_out(document_text(page, ["red bridge"]), pane.text_width)
        if is_other_width:
            pane.styles.width = 110
            await shown.pilot.pause()
        drawn = []
        for ready in (laid, None):
            pane.show(laid.marked_text, ready)
            await shown.pilot.pause()
            drawn.append([pane.render_line(y) for y in range(pane.size.height)])
        assert drawn[0] == drawn[1]
        assert {strip.cell_length for strip in drawn[0]} == {pane.size.width - 1}


async def test_the_end_of_a_long_text_is_a_key_away() -> None:
    """Also at once, before anything below the first screen has been laid out."""
    text = "bridge と橋梁 " * 90_000 + "THE-END"
    assert len(text.encode()) > 1_000_000
    async with showing(MarkedText(text)) as shown:
        assert shown.pane.percent == 1
        await shown.press("G")
        assert shown.lines()[-1].endswith("THE-END")
        assert shown.pane.percent == 100
        assert shown.pane.virtual_size.height == len(wrap(text, shown.pane.text_width))
        await shown.press("g")
        assert shown.pane.percent == 1


async def test_scrolling_keys_and_the_share_read() -> None:
    """Every scrolling key works, and how much has been on the screen is told."""
    async with showing(MarkedText("\n".join(f"line {n}." for n in range(200)))) as shown:
        pane = shown.pane
        page, last, y = pane.size.height - 1, 200 - pane.size.height, 0
        steps = {"j": 1, "down": 1, "k": -1, "up": -1}
        steps |= {"space": page, "pagedown": page, "b": -page, "pageup": -page}
        ends = {"G": last, "g": 0, "end": last, "home": 0}
        for key in [*steps, *ends]:
            await shown.press(key)
            y = ends[key] if key in ends else y + steps[key]
            assert (key, pane.scroll_offset.y) == (key, y)
            assert pane.percent == 100 * min(y + pane.size.height, 200) // 200


@pytest.mark.slow
@pytest.mark.parametrize("key", ["G", "space"])
async def test_resizing_keeps_the_place(key: str) -> None:
    """What was on the first line is on it after the lines were broken anew."""
    text = "\n".join(f"line {n} {'検索' * 30}" for n in range(400))
    async with showing(MarkedText(text), (80, 24)) as shown:
        await shown.press(key, *("k" * 20))
        first = shown.lines()[0]
        for size in ((40, 12), (120, 40), (60, 16)):
            await shown.resize(*size)
            assert shown.lines()[0].startswith(first[:5]) or first[:20] in shown.lines()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["\u0301\u0323" * 50_000, "a" + "\n" * 100_000, "a" + " " * 100_000, "a" * 100_000, "é" * 100_000],
    ids=["marks", "lines", "blanks", "word", "letters"],
)
async def test_a_long_text_of_anything_is_shown_at_once(text: str) -> None:
    """No text takes quadratic time, which would be minutes."""
    begun = time.process_time()
    async with showing(MarkedText("first")) as shown:
        marked_text = document_text(ShownDocument("d", "", text), ["bridge", "検索", "a b"])
        shown.pane.show(marked_text)
        shown.lines()
        await shown.press("G", "k", "g")
        assert {strip.cell_length for strip in map(shown.pane.render_line, range(9))} == {39}
    assert time.process_time() - begun < 12


def test_every_look_can_be_told_from_the_others_without_colour() -> None:
    """No two ways in which a stretch can be drawn are the same; none has a colour."""
    passage = (Look.PLAIN, Look.PASSAGE)
    looks = [base | more for base in (Look.PLAIN, Look.FOUND, Look.CURRENT) for more in passage]
    styles = [look_style(look) for look in [*looks, Look.STRONG, Look.SELECTED, Look.OWN, Look.COMMON]]
    attributes = [(one.bold, one.italic, one.underline, one.reverse) for one in styles]
    assert len(set(attributes)) == len(attributes)
    # What is found takes the style of the topic's words, which stand back for it.
    assert look_style(Look.HIT) == look_style(Look.FOUND)
    # Reversed is where the judge is, and nothing else.
    where = (Look.CURRENT, Look.SELECTED, Look.HERE)
    assert [look for look in Look if look_style(look).reverse] == [look for look in Look if look in where]
    assert all(one.color is None and one.bgcolor is None for one in styles)


FILLER = "\n".join(f"row {n}" for n in range(30))
HITS = f"Bridge one.\n{FILLER}\nbridge two and bridge three.\n{FILLER}\n橋梁の検\n査 bridge four."
SENTENCES = "One is. Two is. 三である。四である。\nFive is. Six is."


def hits() -> MarkedText:
    """Make a document with four bridges far apart."""
    return document_text(ShownDocument("d", "", HITS), ["row"])


def six_sentences(title: str = "A title") -> MarkedText:
    """Make a document of six sentences."""
    return document_text(ShownDocument("d", title, SENTENCES), ["four"])


def marked(shown: Shown) -> list[list[str]]:
    """Return the passages of every message about them."""
    messages = [one for one in shown.said if isinstance(one, DocumentPane.Marked)]
    assert all(SENTENCES[one.start : one.end] == one.text for message in messages for one in message.passages)
    return [[one.text for one in message.passages] for message in messages]


def pressed(shown: Shown) -> list[int | Command]:
    """Return the meanings of the keys that were handed on."""
    return [one.meaning for one in shown.said if isinstance(one, DocumentPane.Pressed)]


async def test_finding_goes_from_hit_to_hit_and_round_again() -> None:
    """Each is scrolled into sight, is the only one with a sign, and is counted."""
    async with showing(hits()) as shown:
        pane = shown.pane
        assert pane.find("BRIDGE") == 4
        assert pane.scroll_offset.y == 0
        seen = []
        for _ in range(5):
            assert shown.signs().count(">") == 1
            line = shown.lines()[shown.signs().index(">")]
            (current,) = shown.drawn(bold=True, reverse=True)
            assert current.casefold() == "bridge"
            seen.append((line, pane.find_next(1)))
        assert seen == [
            ("Bridge one.", (2, 4)),
            ("bridge two and bridge three.", (3, 4)),
            ("bridge two and bridge three.", (4, 4)),
            ("査 bridge four.", (1, 4)),
            ("Bridge one.", (2, 4)),
        ]
        assert [pane.find_next(-1) for _ in range(3)] == [(1, 4), (4, 4), (3, 4)]


async def test_what_has_just_been_shown_can_be_searched_or_gone_through() -> None:
    """Before it has been painted; with nothing sought its terms are hits; one may have two lines."""
    async with showing(MarkedText("short")) as shown:
        pane = shown.pane
        assert pane.find_next(1) is None
        pane.show(hits())
        assert pane.find_next(1) == (1, 60)
        assert pane.find_next(-1) == (60, 60)
        assert pane.find("bridge four") == 1
        await shown.pilot.pause()
        assert "査 bridge four." in shown.lines()
        assert pane.find("検査") == 1
        assert (shown.drawn(reverse=True), shown.signs().strip(".")) == (["検", "査"], ">>")


async def test_hits_can_be_told_from_terms_and_from_the_one_gone_to() -> None:
    """While something is found the topic's words stand back: underlined, but not bold."""
    async with showing(hits(), (40, 20)) as shown:
        assert "row" in shown.drawn(bold=True, underline=True, reverse=False)
        shown.pane.find("bridge t")
        assert shown.drawn(reverse=True) == ["bridge t"]
        assert shown.drawn(reverse=False, bold=True, underline=True) == ["bridge t"]
        assert "row" in shown.drawn(bold=False, underline=True)
        shown.pane.clear_find()
        assert not shown.drawn(reverse=True)
        assert "row" in shown.drawn(bold=True, underline=True)
        assert shown.signs().strip(".") == ""


async def test_finding_begins_where_the_judge_reads() -> None:
    """At the first hit from the top of the screen on, and after scrolling away from there again."""
    async with showing(hits()) as shown:
        await shown.press("space", "space")
        assert shown.pane.find("bridge") == 4
        assert "bridge two" in "\n".join(shown.lines())
        assert shown.pane.find_next(1) == (3, 4)
        await shown.press("g")
        assert shown.pane.find_next(1) == (1, 4)
        await shown.press("G")
        assert shown.pane.find_next(-1) == (3, 4)


async def test_what_is_not_there_moves_nothing() -> None:
    """No hit, no scrolling, no sign; the topic's words are as they were."""
    async with showing(hits()) as shown:
        await shown.press("space")
        top = shown.pane.scroll_offset.y
        assert shown.pane.find("xylophone") == 0
        assert shown.pane.is_finding
        assert shown.pane.find_next(1) is None
        assert (shown.pane.scroll_offset.y, shown.signs().strip(".")) == (top, "")
        assert "row" in shown.drawn(underline=True)
        assert shown.pane.find(" ") == 0


async def test_another_document_has_neither_hits_nor_a_selection() -> None:
    """What was sought and selected belongs to the document before."""
    async with showing(hits()) as shown:
        shown.pane.find("bridge")
        shown.pane.start_marking()
        shown.pane.show(six_sentences())
        await shown.pilot.pause()
        assert not shown.pane.is_finding
        assert not shown.pane.is_marking
        assert not shown.drawn(underline=True)
        assert shown.pane.scroll_offset.y == 0


async def test_sentences_are_marked_by_keys() -> None:
    """Move, mark, extend, mark, unmark, leave: each change says all passages of the document."""
    async with showing(six_sentences(), (60, 10)) as shown:
        assert shown.pane.start_marking()
        assert "".join(shown.drawn(reverse=True)) == "One is."
        await shown.press("enter")
        await shown.press("j", "down")
        assert shown.drawn(reverse=True) == ["三である。"]
        await shown.press("J", "shift+down")
        assert shown.drawn(reverse=True) == ["三である。四である。", "Five is."]
        await shown.press("K", "enter")
        assert shown.drawn(reverse=True) == ["四である。"]
        await shown.press("j", "k", "up", "x", "escape")
        assert marked(shown) == [["One is."], ["One is.", "三である。四である。"], ["One is."]]
        assert shown.drawn(italic=True) == ["One is."]
        assert shown.signs().startswith("..|.")
        assert not shown.drawn(reverse=True)
        changes = [one for one in shown.said if isinstance(one, DocumentPane.MarkingChanged)]
        assert [one.is_marking for one in changes] == [True, False]
        assert pressed(shown) == []


async def test_no_key_grades_or_commands_while_passages_are_marked() -> None:
    """Digits, letters of commands, Japanese digits: nothing is handed on until Escape."""
    async with showing(six_sentences()) as shown:
        await shown.press("2", "v")
        await shown.press(*"0123", "２", "u", "s", "c", "n", "p", "q", "?", "backspace", "tab", "f5")
        assert pressed(shown) == [2]
        assert shown.pane.is_marking
        await shown.press("escape", "3", "escape")
        type_ahead(shown.pilot, "v", "2")  # both at once, as on a slow line
        await shown.pilot.pause()
        assert pressed(shown) == [2, 3, Command.INBOX]


async def test_letters_of_a_scale_do_not_take_the_keys_of_marking() -> None:
    """Where j or x is a grade, it still moves or unmarks; with v every move extends until it is marked."""
    async with showing(six_sentences(), (60, 10), "ntcir") as shown:
        await shown.press("ｖ", "ｊ", "enter", "s", "a", "ｘ", "delete", "g")
        await shown.press("v", "j", "j", "enter", "j", "v", "j", "v", "j", "enter")
        three = "One is. Two is. 三である。"
        assert marked(shown) == [["Two is."], [], [three], [three, "Six is."]]
        assert pressed(shown) == []


async def test_scrolling_keys_take_the_selection_along() -> None:
    """A page, the start, the end: the sentence that moves is always in sight."""
    text = "\n".join(f"Row {n} is." for n in range(100)) + "\n" + "long " * 400
    async with showing(document_text(ShownDocument("d", "t", text), [])) as shown:
        shown.pane.start_marking()
        seen = []
        for key in ("space", "pagedown", "b", "G", "k", "home", "pageup", "end", "pageup", "g"):
            await shown.press(key)
            seen.append(" ".join(shown.drawn(reverse=True))[:6].strip())
        assert " ".join(seen) == "Row 9 Row 18 Row 9 long l long l Row 0 Row 0 long l long l Row 0"


async def test_marking_begins_on_the_screen() -> None:
    """At the first sentence that begins in sight, or where a hit was gone to."""
    text = "\n".join(f"Row {n} is." for n in range(100))
    async with showing(document_text(ShownDocument("d", "t", text), [])) as shown:
        await shown.press("space", "v")
        assert shown.drawn(reverse=True) == ["Row 7 is."]
        assert shown.lines()[0] == "Row 7 is."
        await shown.press("escape")
        shown.pane.find("row 50")
        await shown.press("v")
        assert "".join(shown.drawn(reverse=True)) == "Row 50 is."
        assert shown.drawn(bold=True, underline=True) == ["Row 50"]


async def test_the_selection_stays_in_sight_when_the_terminal_changes() -> None:
    """Narrower, wider, lower: the sentence that moves is on the screen, whole if it fits."""
    text = " ".join(f"Sentence {n} is here." for n in range(60))
    async with showing(document_text(ShownDocument("d", "t", text), []), (120, 40)) as shown:
        await shown.press("v", *("j" * 50))
        for size in ((40, 12), (80, 24), (40, 12), (120, 10)):
            await shown.resize(*size)
            selected = " ".join(" ".join(shown.drawn(reverse=True)).split())
            assert selected == "Sentence 50 is here."
        await shown.press("enter")
        assert shown.pane.passages == (Passage(text.index("Sentence 50"), 20, selected),)


async def test_stored_passages_are_drawn_until_others_are() -> None:
    """What the screen says is stored replaces what was drawn; the heading is no part of it."""
    page = ShownDocument("d", "A title", SENTENCES)
    marked_text = document_text(page, ["two"], [Passage(8, 7, "Two is.")])
    async with showing(marked_text, (60, 10)) as shown:
        assert shown.drawn(italic=True) == ["Two", " is."]
        assert shown.drawn(italic=True, underline=True) == ["Two"]
        shown.pane.show_passages([Passage(0, 7, "One is."), Passage(4, 9, "is. Two i")])
        assert shown.pane.passages == (Passage(0, 13, "One is. Two i"),)
        assert "".join(shown.drawn(italic=True)) == "One is. Two i"
        shown.pane.show_passages(())
        assert not shown.drawn(italic=True)
        assert [one for one in shown.said if isinstance(one, DocumentPane.Marked)] == []


async def test_other_words_are_marked_in_the_same_place() -> None:
    """The judge's own words change nothing but what is marked; another text starts anew."""
    async with showing(hits()) as shown:
        shown.pane.find("bridge")
        shown.pane.find_next(1)
        top = shown.pane.scroll_offset.y
        shown.pane.show_again(document_text(ShownDocument("d", "", HITS), ["three", "two and"]))
        assert shown.pane.scroll_offset.y == top > 0
        assert shown.pane.find_next(1) == (3, 4)
        shown.pane.clear_find()
        assert shown.drawn(underline=True) == ["two and", "three"]
        shown.pane.show_again(MarkedText("another text"))
        assert shown.lines()[0] == "another text"


async def test_a_document_without_text_is_not_marked() -> None:
    """The key is handed on, so that the screen can say why nothing happens."""
    for text in (None, "", " \n\u200b"):
        async with showing(document_text(ShownDocument("d", "title", text), [])) as shown:
            await shown.press("v", "1")
            assert not shown.pane.is_marking
            assert pressed(shown) == [Command.MARK, 1]
            if not text:
                shown.pane.show_passages([Passage(0, 1, "x")])
                assert shown.pane.passages == ()


async def test_a_hostile_document_is_marked_like_any_other() -> None:
    """Marks without end, markup, a megabyte without a blank: bounded, and offsets are exact."""
    text = "[@click=app.quit]x[/] " + "\u0301" * 3000 + "\n" + "検" * 300_000 + "。end"
    async with showing(document_text(ShownDocument("d", "[b]", text), ["click"])) as shown:
        await shown.press("v", "enter", "j", "enter", "J", "J", "enter", "G", "enter")
        messages = [one for one in shown.said if isinstance(one, DocumentPane.Marked)]
        assert len(messages) == 4
        for one in messages[-1].passages:
            assert text[one.start : one.start + one.length] == one.text
            assert 0 < one.length <= 1300
        assert messages[-1].passages[-1].text == "end"
        await shown.until(lambda: shown.drawn(reverse=True) == ["end"])
        strips = [shown.pane.render_line(y) for y in range(9)]
        assert {strip.cell_length for strip in strips} == {39}


UNJUDGED = Task("d1", State.UNJUDGED, None, "", "", 0)


@pytest.mark.parametrize("width", [120, 78, 58, 38])
@pytest.mark.parametrize("scale", ["binary", "0-2", "0-3", "ntcir", "0-10"])
def test_every_grade_key_is_always_there(scale: str, width: int) -> None:
    """However narrow the screen, no grade key is cut off, and the line is as wide as the screen."""
    declared = parse_scale(scale)
    text = grade_lines(declared, UNJUDGED, width)[0].text
    keys = text[: text.index("now:")]
    assert all(f"{grade.key}" in keys for grade in declared.grades)
    assert cell_width(text) == width
    assert text.endswith("now: -")


@pytest.mark.parametrize(
    ("scale", "width", "begins"),
    [
        ("0-3", 118, "[0] not relevant  [1] marginally relevant  [2] relevant  [3] highly"),
        ("0-3", 78, "[0] not relevant  [1] marginally  [2] relevant  [3] highly  "),
        ("0-3", 58, "[0] not [1] margin [2] releva [3] highly  "),
        ("0-3", 38, "[0]  [1]  [2]  [3]  "),
        (
            "ntcir",
            118,
            "[c] C not relevant  [b] B partially relevant  [a] A relevant  [s] S highly relevant  ",
        ),
        ("ntcir", 78, "[c] C not  [b] B partially  [a] A relevant  [s] S highly  "),
        ("ntcir", 58, "[c] C not [b] B par [a] A rel [s] S hig  "),
    ],
)
def test_labels_shrink_to_what_tells_them_apart(scale: str, width: int, begins: str) -> None:
    """Whole labels where they fit, the widest cut to whole words next, then letters, then keys."""
    assert grade_lines(parse_scale(scale), UNJUDGED, width)[0].text.startswith(begins)


def test_what_is_given_and_what_is_unsaved_stay_in_sight() -> None:
    """The current grade stands on the right and is marked among the keys; no label steers the terminal."""
    task = Task("d1", State.JUDGED, 1, "a note", "", 3)
    marked_text = grade_lines(parse_scale("0-2"), task, 78)[0]
    assert marked_text.text.endswith("now: 1  note: *")
    assert [marked_text.text[start:end] for start, end in marked_text.hits] == ["[1] partially relevant"]
    assert grade_lines(parse_scale("0-2"), UNJUDGED, 78, "2")[0].text.endswith("now: -  NOT SAVED: 2")
    evil = make_scale((Grade(0, "no", "0"), Grade(1, "rel\x1b[31m", "1")))
    assert "\x1b" not in grade_lines(evil, UNJUDGED, 78)[0].text


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (118, "2 relevant saved 12:04:31"),
        (78, "2 relevant saved 12:04:31"),
        (58, "2 saved 12:04:31"),
        (38, "2 saved"),
    ],
)
def test_help_is_the_last_hint_to_go(width: int, said: str) -> None:
    """The hint line fills the width; a save names the grade where that leaves the usual hints."""
    status = Notice("2 relevant saved 12:04:31", brief="2 saved 12:04:31")
    (line,) = hint_lines(key_table(parse_scale("0-2")), status, width)
    assert cell_width(line.text) == width
    assert "? help " in line.text
    assert said in line.text
    if width >= 58:
        assert line.text.startswith("u undo  s skip  c can't  e note  ")
    if width == 78:
        brief = hint_lines(key_table(parse_scale("0-2")), Notice("2 saved 12:04:31"), 78)[0].text
        assert brief == "u undo  s skip  c can't  e note  / find  ? help  n/p move     2 saved 12:04:31"
        assert "x skip  i can't" in hint_lines(key_table(parse_scale("ntcir")), Notice(), 78)[0].text


def test_a_long_failure_takes_the_place_of_the_hints() -> None:
    """A message is never cut where three lines hold it."""
    message = "NOT SAVED (2 relevant): collection.db: another process is writing " + "x" * 50
    lines = hint_lines(key_table(parse_scale("0-2")), Notice(message, urgent=True), 58)
    assert " ".join(line.text for line in lines).replace(" ", "") == message.replace(" ", "")
    assert all(line.strong == ((0, len(line.text)),) for line in lines)


def test_lines_are_painted_with_what_stands_out_and_with_the_keys_to_be_clicked() -> None:
    """A key has its label up to two blanks or to the next key; the grade that is given is reversed."""
    line = (
        strong("[0]")
        + MarkedText(" not ")
        + MarkedText("[1] part", hits=((0, 8),))
        + MarkedText("  now: 1  ")
    )
    line += hints_text([("u", "undo")]) + MarkedText("   ") + strong("saved")
    underlined = Style(underline=True)
    painted = [
        (one.text, str(one.style), one.style.meta.get("key")) for one in hints_segments(line, underlined)
    ]
    assert painted == [
        ("[0]", "bold underline magenta", "0"),
        (" not ", "underline", "0"),
        ("[1] part", "bold underline reverse magenta", "1"),
        ("  now: 1  ", "underline", None),
        ("u", "bold underline magenta", "u"),
        (" undo", "underline", "u"),
        ("   ", "underline", None),
        ("saved", "bold underline", None),
    ]
    assert "".join(text for text, _, _ in painted) == line.text == hints_content(line).plain
