"""Fields and documents with markup in line mode."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.records import Document
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.plain_sitting import after, sit

HTML = "<p>The <b>old</b> bridge. It &amp; its\r\n paint.</p>"


@pytest.fixture
def marked_up(make_collection: Maker) -> Collection:
    """Make a topic of two documents, the first in HTML."""
    documents = [
        Document("h", "Dee", HTML, (("url", "http://a"), ("date", "1991")), "html"),
        Document("p", "", "x"),
    ]
    collection = make_collection({ENGLISH: documents})
    collection.documents.add([], fields=["date", "url"])
    return collection


def test_fields_are_printed_between_title_and_text(marked_up: Collection) -> None:
    """A line each, in the order of the collection; `again` has them, too."""
    printed = sit(marked_up, "again")
    text = "Title: Dee\ndate: 1991\nurl: http://a\nThe old bridge. It & its paint.\n"
    assert text in printed.split(" > ")[0]
    assert text in after(printed, 0)


def test_raw_prints_it_as_it_came(marked_up: Collection) -> None:
    """Without changing what sentences are; a document without markup says so."""
    printed = sit(marked_up, "raw", "mark 2", "sentences", "n", "<")
    assert after(printed, 0).startswith(HTML.replace("\r", "") + "\n")
    assert "2 (marked) It & its paint." in after(printed, 2)
    assert "this document is shown as it came" in after(printed, 4)
    (kept,) = next(iter(marked_up.judgements.history())).passages
    assert kept.text == "It &amp; its\r\n paint."


def test_words_are_marked_over_tags(marked_up: Collection) -> None:
    """`mark "words"` finds them in what is read."""
    sit(marked_up, 'mark "the old bridge"')
    (kept,) = next(iter(marked_up.judgements.history())).passages
    assert kept.text == "The <b>old</b> bridge"
