"""The line mode at a real terminal: what is typed or pasted too early is not taken."""

from __future__ import annotations

import os
import pty
import select
import termios
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TextIO

import pytest

from judge_ui.plain import Talk, run_plain
from judge_ui.session.session import JudgingSession
from store.collection import Collection
from tests.judge_ui.plain_sitting import Typist, states

PATIENCE_S = 20.0
"""How long an answer may take; a busy machine is slow, a broken program never comes."""


class Terminal:
    """A pseudo-terminal: the program's end as text streams, and ours."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        settings = termios.tcgetattr(theirs)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        self.read: TextIO = os.fdopen(theirs, "r", encoding="utf-8")
        self.write: TextIO = os.fdopen(os.dup(theirs), "w", encoding="utf-8", newline="\n")
        self.shown = ""

    def type(self, text: str) -> None:
        """Type, or paste, all at once."""
        os.write(self._ours, text.encode())

    def wait_for(self, text: str) -> None:
        """Read what is printed until there is something; what already exists counts."""
        while text not in self.shown:
            is_there = select.select([self._ours], [], [], PATIENCE_S)[0]
            assert is_there, f"{text!r} did not come; the terminal shows:\n{self.shown}"
            self.shown += os.read(self._ours, 65_536).decode("utf-8", "replace")

    def close(self) -> None:
        """Hang up; whoever still reads at the other end is let go."""
        os.close(self._ours)
        for stream in (self.read, self.write):
            with suppress(OSError):
                stream.close()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Give a terminal."""
    with closing(Terminal()) as made:
        yield made


@contextmanager
def judging(collection: Collection, terminal: Terminal) -> Iterator[None]:
    """Let alice judge topic 12 at the terminal, until the end of the block and of the input."""
    ready = threading.Event()

    def judge() -> None:
        session = JudgingSession(collection.desk("alice"), min_dwell=0)
        session.open_topic("12")
        ready.set()
        run_plain(session, terminal.read, terminal.write)
        session.desk.leave()

    thread = threading.Thread(target=judge, daemon=True)
    thread.start()
    ready.wait()
    yield
    terminal.type("\x04")
    terminal.wait_for("in this sitting")
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_pasted_block_grades_one_document_at_most(two_topics: Collection, terminal: Terminal) -> None:
    """Only its first line is an answer: the others came before their documents did."""
    with judging(two_topics, terminal):
        terminal.wait_for("Enter = the first document > ")
        terminal.type("\n")
        terminal.wait_for("0/4 grade 0-2")
        terminal.type("2\n1\n0\n1\n")
        terminal.wait_for("3 lines typed too early: ignored")
        terminal.wait_for("1/4 grade 0-2")
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"e0": 2}


def test_a_pasted_note_of_several_lines_grades_nothing(two_topics: Collection, terminal: Terminal) -> None:
    """The first line is the note; a line that happens to be a grade is not one."""
    with judging(two_topics, terminal):
        terminal.type("\n")
        terminal.wait_for("0/4 grade 0-2")
        terminal.type("e\n")
        terminal.wait_for("note? ")
        terminal.type("see page\n2\nq\n")
        terminal.wait_for("2 lines typed too early: ignored")
    stored = states(two_topics)["e0"]
    assert (stored.note, stored.grade) == ("see page", None)


def test_an_answer_at_a_time_is_taken(two_topics: Collection, terminal: Terminal) -> None:
    """Full-width digits as an input method sends them, too."""
    with judging(two_topics, terminal):
        terminal.wait_for("Enter = the first document > ")
        terminal.type("\n")
        for n, answer in enumerate("2１s"):
            terminal.wait_for(f"{n}/4 grade 0-2")
            terminal.type(f"{answer}\n")
        terminal.wait_for("2/4, 1 skipped grade 0-2")
        assert "too early" not in terminal.shown
    grades = {docno: one.grade for docno, one in states(two_topics).items()}
    assert grades == {"e0": 2, "e1": 1, "e2": None}


def test_the_end_of_the_input_among_what_came_too_early_quits(
    two_topics: Collection, terminal: Terminal
) -> None:
    """A line that drops, or ctrl-d, is not swallowed with the lines before it."""
    with judging(two_topics, terminal):
        terminal.wait_for("Enter = the first document > ")
        terminal.type("\n")
        terminal.wait_for("0/4 grade 0-2")
        terminal.type("2\n1\n\x04")
        terminal.wait_for("alice: 1 decision in this sitting, all saved")
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"e0": 2}


def test_a_script_loses_no_line() -> None:
    """What comes from a file is taken line by line, however early it is there."""
    read = Typist(("1", "2"), is_terminal=False)
    talk = Talk(read, Typist((), is_terminal=False))
    answers = []
    for _ in range(2):
        talk.forget_typed()
        answers.append(talk.ask("?"))
    assert answers == ["1", "2"]
    with pytest.raises(EOFError):
        talk.ask("?")
