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
    """A line each, in the order of the collection; whenever the document is printed."""
    printed = sit(marked_up, "0", "u")
    text = "Title: Dee\ndate: 1991\nurl: http://a\nThe old bridge. It & its paint.\n"
    assert text in printed.split(" > ")[0]
    assert text in after(printed, 1)
