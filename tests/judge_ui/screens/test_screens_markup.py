"""Fields above the text, and documents with markup, key by key and at every size."""

from __future__ import annotations

import pytest

from judge_ui.widgets.document_pane import DocumentPane
from store.collection import Collection
from store.records import Document
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import enter, judging, press, read_pane, rows, seen, stored, strips

pytestmark = pytest.mark.slow

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
    collection = make_collection(
        {
            ENGLISH: [
                Document("h", "Of a bridge", HTML, fields, "html"),
                Document("evil", "", EVIL, (), "html"),
                Document("p", "", "A plain bridge."),
            ]
        }
    )
    collection.documents.add([], fields=["author", "url", "none"])
    return collection


async def test_fields_stand_between_title_and_text(marked_up: Collection) -> None:
    """In the order of the collection, names bold, words lit up; those a document has not are left out."""
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


async def test_a_key_shows_the_document_as_it_came(marked_up: Collection) -> None:
    """And again as it is read; the bar names the key, and the next document is read."""
    async with judging(marked_up) as pilot:
        assert "< raw" in seen(pilot)
        await press(pilot, "<")
        assert "<h1>Dee</h1><p>The <b>old</b> bridge &amp; its" in seen(pilot)
        assert "<script>bridge()</script>" in seen(pilot)
        assert "< as it is read" in seen(pilot)
        await press(pilot, "<")
        assert "<h1>" not in seen(pilot)
        await press(pilot, "<", "2")
        assert stored(marked_up)["h"].grade == 2
        assert "<p>" not in seen(pilot)
        await press(pilot, "n", "<")
        assert "this document is shown as it came: its text has no markup" in seen(pilot)


async def test_words_are_found_and_marked_in_what_is_read(marked_up: Collection) -> None:
    """A search goes over tags; what is marked is drawn in both views, and unmarked in either."""
    async with judging(marked_up) as pilot:
        await press(pilot, "/")
        await enter(pilot, "old bridge & its paint")
        assert "1 hit: ] next" in seen(pilot)
        await press(pilot, "v", "enter", "escape")
        (kept,) = stored_passages(marked_up)
        assert kept == "The <b>old</b> bridge &amp; its\r\n paint."
        assert [one.text for one in pilot.app.screen.query_one(DocumentPane).passages] == [
            "The old bridge & its paint."
        ]
        await press(pilot, "<")
        pane = pilot.app.screen.query_one(DocumentPane)
        assert [one.text for one in pane.passages] == [kept.replace("\r", "")]
        await press(pilot, "v", "x", "escape")
        await press(pilot, "v", "j", "j", "enter", "escape")


def stored_passages(collection: Collection) -> list[str]:
    """Return the texts of the passages of the latest event."""
    return [one.text for one in [*collection.judgements.history()][-1].passages]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_page_is_harmless_at_every_size(marked_up: Collection, size: tuple[int, int]) -> None:
    """Nothing acts, nothing is drawn wider than the screen, and a grade works."""
    async with judging(marked_up, size=size) as pilot:
        await press(pilot, "n")
        assert "␛]0;owned␇␛[2J[bold]x[/] [@click=app.quit]y[/]" in seen(pilot)
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        await press(pilot, "<")
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        assert not any(ord(one) < 32 for line in rows(pilot) for one in line)
        await press(pilot, "1")
        assert stored(marked_up)["evil"].grade == 1
