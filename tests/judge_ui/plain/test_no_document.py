"""Where the next document could not be brought, no answer is a grade."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from judge_ui.plain import run_plain
from store.collection import Collection
from store.errors import StoreError
from store.judging.desk import Desk
from tests.helpers.drawing import adaptive_pool
from tests.helpers.places import held_place
from tests.judge_ui.conftest import Maker, NothingToDraw
from tests.judge_ui.disputes import begin, make_disputed
from tests.judge_ui.pilots import locked
from tests.judge_ui.plain_sitting import Typist, after, sit

pytestmark = pytest.mark.slow

Events = Callable[[], list[dict[str, Any]]]
DOCNOS = ("e0", "e1", "e2", "e3")


class Claims:
    """Claims of alice's desk, which somebody else's writing may come before."""

    def __init__(self, collection: Collection, file: Path) -> None:
        self._collection = collection
        self._file = file
        self._claim = Desk.claim
        self._held = ExitStack()
        self.n_left = 1
        """Claims that go well before the file is locked."""

    def __call__(self, desk: Desk, topic: str) -> bool:
        """Claim, or fail as it fails behind a writer who takes too long."""
        self.n_left -= 1
        if self.n_left == -1:
            self.shut()
        return self._claim(desk, topic)

    def shut(self) -> None:
        """Let nothing be written from here on."""
        self._collection._db.engine.dispose()
        self._held.enter_context(locked(self._file))

    def open(self) -> None:
        """Let everything be written again."""
        self._held.close()


@pytest.fixture
def claims(two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch) -> Claims:
    """Let the documents of the first topic be claimed one by one, by whoever comes."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    monkeypatch.setattr("store.judging.desk.CLAIMED_AT_ONCE", 1)
    held_place(str(collection_file), "12", DOCNOS, None, lease_s=600)
    claims = Claims(two_topics, collection_file)
    monkeypatch.setattr(Desk, "claim", lambda desk, topic: claims(desk, topic))
    return claims


def graded(events: Events) -> list[tuple[str, int | None]]:
    """Return docno and grade of every event."""
    return [(event["docno"], event["grade"]) for event in events()]


def test_a_script_gets_no_further_than_the_document_it_saw(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """Its further answers were meant for documents that never came: they are counted."""
    printed = sit(two_topics, *"01230123", "u", claims.open)
    assert graded(events) == [("e0", 0)]
    assert "the next document could not be drawn: " in after(printed, 0)
    question = "\nno document is shown. Enter or retry = try again, u undo, q quits"
    assert after(printed, 0).endswith(question)
    assert after(printed, 5) == question
    assert printed.endswith("8 answers were ignored\nalice: 1 decision in this sitting, all saved\n")
    assert printed.count("\nDocument ") == 1


@pytest.mark.parametrize("again", ["retry", ""])
def test_the_answer_after_a_retry_is_for_the_document_it_brought(
    two_topics: Collection, claims: Claims, events: Events, again: str
) -> None:
    """What came too early is said once, with its number."""
    printed = sit(two_topics, "0", "2", again, "3", claims.open, again, "1", "q")
    assert graded(events) == [("e0", 0), ("e1", 1)]
    assert printed.count("ignored") == 1
    assert after(printed, 4).startswith("2 answers were ignored\n\nDocument e1\n")


def test_undo_at_once_takes_the_last_grade_back(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """Its document is printed again, and the next answer is for that."""
    printed = sit(two_topics, "0", claims.open, "u", claims.shut, "2", claims.open, "retry")
    assert graded(events) == [("e0", 0), ("e0", None), ("e0", 2)]
    assert after(printed, 1).startswith("grade 0 undone: unjudged again (saved ")
    assert "\nDocument e0\n" in after(printed, 1)


@pytest.mark.parametrize("answer", ["2", "s", "c 1", "e a note", "/ bridge"])
def test_at_a_terminal_nothing_is_decided(
    two_topics: Collection, claims: Claims, events: Events, answer: str
) -> None:
    """The judge is told that there is no document, and may ask for help."""
    printed = sit(two_topics, "", "0", answer, "?", claims.open, "n", "1", "q", typed=True)
    assert graded(events) == [("e0", 0), ("e1", 1)]
    assert f"{answer!r} was ignored: no document is shown\n" in after(printed, 2)
    assert "  ? or help: these lines" in after(printed, 3)
    assert "\nDocument e1" in after(printed, 4)


def test_a_step_to_a_document_that_cannot_be_brought_leaves_none(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """A script's `n` and the grade after it are for the next document, or for none."""
    printed = sit(two_topics, "0", "n", "2", claims.open, "q", advance=False)
    assert graded(events) == [("e0", 0)]
    assert "1 answer was ignored" in printed


def test_a_topic_that_cannot_be_opened_takes_no_answer_for_a_topic(
    two_topics: Collection, claims: Claims, events: Events, collection_file: Path
) -> None:
    """A script's grades could be the names of other topics."""
    claims.n_left = 0
    printed = sit(two_topics, "12", "0", "0013", "retry", claims.open, "retry", "2", topic=None)
    assert graded(events) == [("e0", 2)]
    assert "12 is not open. Enter or retry = try again, q quits" in after(printed, 0)
    assert "2 answers were ignored\n" in after(printed, 4)


def test_an_adaptive_pool_that_fails_takes_no_grade(two_topics: Collection, events: Events) -> None:
    """The judge can go back to the last document, and change it knowingly."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    drawing = NothingToDraw()
    printed = sit(two_topics, "", "2", "1", "0", "u", "0", "q", topic="0013", typed=True, drawing=drawing)
    assert graded(events) == [("j0", 2), ("j1", 1), ("j1", None), ("j1", 0)]
    assert "'0' was ignored: no document is shown" in after(printed, 3)


def test_an_adjudicator_grades_nothing_without_the_opinions(
    make_collection: Maker, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the judges said belongs to the document: without it nothing is decided."""
    session = begin(make_disputed(make_collection))
    before = len(events())
    read, trouble = session.disagreement, ["the disk could not be read"]

    def disagreement() -> Any:
        if trouble:
            raise StoreError(trouble[0])
        return read()

    monkeypatch.setattr(session, "disagreement", disagreement)
    write = io.StringIO()
    typist = Typist(("2", "s", trouble.clear, "0", "retry", "1"), is_terminal=False)
    run_plain(session, typist, write)
    assert "this document could not be read: the disk could not be read" in write.getvalue()
    assert "3 answers were ignored\n" in write.getvalue()
    assert [event["grade"] for event in events()[before:]] == [1]


def test_when_others_claim_the_last_documents_the_topic_is_done(
    two_topics: Collection, claims: Claims, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were counted as left a moment before: no answer is taken for the document before."""
    claim = Desk.claim
    bob = two_topics.desk("bob")

    def beaten(desk: Desk, topic: str) -> bool:
        """Let bob claim all before alice's second claim."""
        if desk.judge == "alice" and events():
            monkeypatch.setattr("store.judging.desk.CLAIMED_AT_ONCE", 9)
            claim(bob, topic)
        return claim(desk, topic)

    claims.n_left = 9
    monkeypatch.setattr(Desk, "claim", beaten)
    printed = sit(two_topics, "0", "2", "1", "2")
    assert graded(events) == [("e0", 0)]
    assert "12 bridge maintenance: every document has a decision" in after(printed, 0)
