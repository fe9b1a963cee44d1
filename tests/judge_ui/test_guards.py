"""Keys as a terminal really sends them: held, pasted, typed ahead. No wrong grade comes of it.

The minimum dwell is the default one, and the program is the one that is installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Document, State
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pty_terminal import ESCAPE_S, PtyTerminal, begin, judge

REPEAT_S = 1 / 30
"""Between two repeats of a held key, as terminals send them."""


@pytest.fixture
def collection(make_collection: Maker) -> Collection:
    """Make a topic of forty documents."""
    documents = [Document(f"d{n:02}", f"Title {n}", f"Text {n}.") for n in range(40)]
    return make_collection({ENGLISH: documents})


@pytest.fixture
def terminal(collection: Collection, collection_file: Path) -> Iterator[PtyTerminal]:
    """Give a terminal with the first document on its screen, for longer than the least dwell."""
    with PtyTerminal(judge(collection_file, "--topic", "12")) as opened:
        begin(opened)
        opened.wait_for("Text 0.", "now: -")
        opened.until_quiet(0.4)
        yield opened


def leave(terminal: PtyTerminal) -> None:
    """Quit once everything that was typed has been taken."""
    terminal.until_quiet(0.3)
    terminal.send(b"\x11")
    terminal.wait_for("all saved")
    assert terminal.wait() == 0


def grades(collection: Collection) -> dict[str, int | None]:
    """Return alice's grades by docno."""
    return {one.docno: one.grade for one in collection.judgements.current(["alice"]) if one.grade is not None}


@pytest.mark.slow
def test_a_held_key_grades_one_document(terminal: PtyTerminal, collection: Collection) -> None:
    """A second of repeats is one key: the next document waits until the key is let go."""
    for _ in range(30):
        terminal.send(b"1")
        time.sleep(REPEAT_S)
        terminal.read(0)
    terminal.wait_for("too quick")
    leave(terminal)
    assert grades(collection) == {"d00": 1}


@pytest.mark.slow
def test_a_key_held_since_the_document_came_grades_nothing(
    terminal: PtyTerminal, collection: Collection
) -> None:
    """Who scrolls through documents and rests a finger on a grade key grades none of them."""
    for _ in range(10):
        terminal.send(b"n1")
        terminal.read(REPEAT_S)
    terminal.wait_for("too quick")
    leave(terminal)
    assert grades(collection) == {}


@pytest.mark.slow
def test_a_burst_of_keys_grades_one_document(terminal: PtyTerminal, collection: Collection) -> None:
    """What a slow line delivers at once, or a raw paste, is one grade and no more."""
    for n_graded, burst in enumerate((b"2222", b"1" * 40, b"1020" * 10, b"1\r" * 20), start=1):
        place = terminal.send(burst)
        terminal.wait_for(f"Text {n_graded}.", since=place)
        terminal.until_quiet(0.5)
        assert len(grades(collection)) == n_graded
    leave(terminal)
    assert grades(collection) == {"d00": 2, "d01": 1, "d02": 1, "d03": 1}


def states(collection: Collection) -> dict[str, State]:
    """Return where documents stand with alice."""
    return {one.docno: one.state for one in collection.judgements.current(["alice"])}


@pytest.mark.slow
def test_a_held_key_that_changes_acts_once(terminal: PtyTerminal, collection: Collection) -> None:
    """One document is skipped, then one decision undone, however long the key is held.

    All repeats come at once, as a slow line has them: here a busy machine's pauses let go of none.
    """
    place = terminal.send(b"1")
    terminal.wait_for("Text 1.", since=place)
    for key, after in ((b"s", {"d01": State.SKIPPED}), (b"\x7f", {"d01": State.UNJUDGED})):
        terminal.until_quiet(0.2)
        place = terminal.send(key * 40)
        terminal.wait_for("too quick", since=place)
        terminal.until_quiet(0.2)
        assert states(collection) == {"d00": State.JUDGED} | after
    leave(terminal)
    assert grades(collection) == {"d00": 1}


PASTE = b"\x1b[200~2 0 1 1\x1b[201~"

NOTE, REASON, WORDS = "Note on d00", "Why can it not", "In your words"

HARMLESS: dict[str, tuple[tuple[bytes, str], ...]] = {
    "a bracketed paste": ((PASTE, ""),),
    "a note, pasted and typed": (
        (b"e", NOTE),
        (b"2", "2"),
        (b"1", "1"),
        (b"00", "00"),
        (PASTE, "2 0 1 1"),
        (b"\x1b", "now: -"),
    ),
    "a note typed ahead": ((b"e2 1 0", NOTE), (b"\x1b", "now: -")),
    "a reason in words": (
        (b"c", REASON),
        (b"4", WORDS),
        (b"1", "1"),
        (b"22", "22"),
        (PASTE, "2 0 1 1"),
        (b"\x1b", "now: -"),
    ),
    "the page of the topic": ((b"t", "t or Esc back"), (b"2", ""), (b"1", ""), (PASTE, ""), (b"t", "now: -")),
    "the page of the keys": ((b"?", "? or Esc back"), (b"2", ""), (b"1", ""), (PASTE, ""), (b"?", "now: -")),
    "the wheel": ((b"\x1b[<64;10;10M\x1b[<65;10;10M", ""),),
    "a click": ((b"\x1b[<0;10;10M\x1b[<0;10;10m", ""),),
    "the window lost and got back": ((b"\x1b[O\x1b[I", ""),),
    "keys with modifiers": ((b"\x1b[1;2A\x1b[1;5B\x1b[2~\x1b[3~\x1b[21;2~", ""),),
    "a report of the cursor": ((b"\x1b[24;80R", ""),),
    "answers to what Textual asks": ((b"\x1b[?2026;2$y\x1b[?2048;0$y", ""),),
    "Alt and a digit": ((b"\x1b2", ""), (b"\x1b1", "")),
}
"""What a terminal may send that holds digits and is no grade, and what comes on the screen then.

A pause after each; where nothing comes, empty.
"""


@pytest.mark.slow
def test_digits_that_are_no_keys_of_the_document_grade_nothing(
    terminal: PtyTerminal, collection: Collection
) -> None:
    """Text for a field or a page, and the digits in what a terminal says, are no grades."""
    for name, sent in HARMLESS.items():
        for data, shows in sent:
            place = terminal.send(data)
            terminal.wait_for(shows, since=place)
            terminal.until_quiet(ESCAPE_S)
        assert (name, grades(collection)) == (name, {})
    terminal.until_quiet(0.3)
    terminal.send(b"\x11")
    terminal.wait_for("lose it?")  # a draft of what was pasted into a note
    assert "now: -" in terminal.text()
    terminal.until_quiet(ESCAPE_S)
    terminal.send(b"y")
    terminal.wait_for("all saved")
    assert terminal.wait() == 0
    assert grades(collection) == {}
