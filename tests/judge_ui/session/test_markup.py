"""Documents with markup at a session without a screen: text, evidence, hashes, raw and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judge_ui.session.messages import remarks, text_shown
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from judge_ui.text.marking import seen_in_raw, seen_in_text
from store.collection import Collection
from store.content.documents import document_sha256
from store.records import Document, Passage, State
from tests.judge_ui.conftest import ENGLISH, Maker, shown

HTML = "<h1>Bridge</h1>\r\n<p>The <b>old</b> bridge &amp; its\r\n paint.</p>"
MARKDOWN = "# Bridge\n\nThe **old** bridge."
EMPTY = "<script>x()</script>"


@pytest.fixture
def marked_up(make_collection: Maker) -> Collection:
    """Make a topic of four documents: HTML, markdown, markup alone, none."""
    collection = make_collection(
        {
            ENGLISH: [
                Document("h", "Of a bridge", HTML, (("url", "http://a"),), "html"),
                Document("m", "", MARKDOWN, (), "markdown"),
                Document("s", "", EMPTY, (), "html"),
                Document("p", "", "<b>plain</b>"),
            ]
        }
    )
    collection.documents.add([], fields=["url"])
    return collection


@pytest.fixture
def session(marked_up: Collection) -> JudgingSession:
    """Sit alice down before the first."""
    session = JudgingSession(marked_up.desk("alice"), min_dwell=0)
    session.open_topic("12")
    return session


def test_a_judge_reads_text_and_the_event_has_the_hash_of_the_raw_one(
    session: JudgingSession, events: Callable[[], list[dict[str, Any]]]
) -> None:
    """Title, field, text; a grade is about the text as it came."""
    page = session.page()
    assert page.text == "Bridge\n\nThe old bridge & its paint."
    assert remarks(page) == [("url", "http://a")]
    session.mark_shown(page)
    assert session.grade(2).outcome is KeyOutcome.SAVED
    assert events()[0]["document_sha256"] == document_sha256(Document("h", "Of a bridge", HTML))
    assert session.page().text == "Bridge\n\nThe old bridge."


def test_raw_is_of_one_document(session: JudgingSession) -> None:
    """As it came, but for what a terminal would obey; the next document is read again."""
    page = session.page()
    session.is_raw = True
    assert text_shown(page, is_raw=True) == HTML.replace("\r", "")
    session.go_next()
    assert not session.is_raw


def test_evidence_is_the_same_in_both_views(session: JudgingSession, marked_up: Collection) -> None:
    """Marked in one, it is in its place in the other, and the store has the raw part."""
    page = session.page()
    assert page.readable is not None
    session.mark_shown(page)
    start = (page.text or "").index("old bridge & its")
    marked = Passage(start, 16, "old bridge & its")
    assert session.mark([marked]).outcome is KeyOutcome.SAVED
    (raw,) = seen_in_raw(page.readable, [marked])
    assert raw.text == "old</b> bridge &amp; its"
    assert seen_in_text(page.readable, [raw]) == (marked,)
    (stored,) = next(iter(marked_up.judgements.history())).passages
    assert stored.text == "old</b> bridge &amp; its"
    assert HTML[stored.start : stored.end] == stored.text
    # Over a line end, which is two characters of the raw text.
    paint = Passage((page.text or "").index("its paint"), 9, "its paint")
    assert seen_in_text(page.readable, seen_in_raw(page.readable, [paint])) == (paint,)
    assert session.mark([marked, paint]).outcome is KeyOutcome.SAVED
    assert {one.text for one in [*marked_up.judgements.history()][1].passages} == {
        "old</b> bridge &amp; its",
        "its\r\n paint",
    }
    assert session.undo().outcome is KeyOutcome.SAVED
    assert session.task is not None
    assert session.task.passages == (marked,)


def test_markup_alone_asks_before_it_takes_a_grade(session: JudgingSession) -> None:
    """As a document without a text does; the words say what it is."""
    session.go_to(2)
    page = session.page()
    assert text_shown(page) == "there is nothing to read in this document: it is markup alone"
    session.mark_shown(page)
    assert session.grade(1).outcome is KeyOutcome.CONFIRM
    assert session.task is not None
    assert session.task.state is State.UNJUDGED


def test_text_without_markup_stays_as_it_is(session: JudgingSession) -> None:
    """Tags of a text that nobody said is HTML are text."""
    session.go_to(3)
    assert shown(session).page().text == "<b>plain</b>"
    assert session.page().readable is None
