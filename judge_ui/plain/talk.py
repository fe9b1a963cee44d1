"""What the line mode prints, and what is answered."""

from __future__ import annotations

import select
from collections.abc import Iterable
from typing import TextIO

from judge_ui.messages import counted
from judge_ui.plain.pages import Pages

LIST_LINES = 20
"""Lines of a list, or of a page of reading, that are printed at once where no page is set."""


class Talk:
    """Lines out and answers in.

    Parameters
    ----------
    read, write : TextIO
        Where answers come from and words go to.
    page : int, default=0
        Terminal lines of a document that are printed at once; 0 = all of it.
    width : int, default=80
        Cells on a terminal line.
    """

    def __init__(self, read: TextIO, write: TextIO, *, page: int = 0, width: int = 80) -> None:
        self._read = read
        self._write = write
        self._page = page
        self._width = width
        self._document: Pages | None = None
        self._aside: Pages | None = None
        self.is_interactive = read.isatty()
        """Whether somebody types the answers: a script gives them before it has seen anything."""

    @property
    def more(self) -> str:
        """What Enter would go on with, in words; empty = there is no more to be printed."""
        pages = self._aside or self._document
        return "" if pages is None else f"{pages.percent}% shown, Enter = more"

    def say(self, line: str = "") -> None:
        """Print one line."""
        self._write.write(line + "\n")
        self._write.flush()

    def show_document(self, text: str) -> None:
        """Print a document, or its first page."""
        self._aside = None
        self._document = self._print(Pages(text, self._page, self._width))

    def show(self, text: str) -> None:
        """Print something to be looked up; Enter goes on with it, and then with the document."""
        self._aside = self._print(Pages(text, self._page, self._width))

    def show_list(self, lines: Iterable[str]) -> None:
        """Print the first lines of a list; Enter goes on with it, and then with the document."""
        self._aside = self._print(Pages("\n".join(lines), self._page or LIST_LINES, self._width))

    def show_more(self) -> None:
        """Print the next page."""
        if self._aside is not None:
            self._aside = self._print(self._aside)
        elif self._document is not None:
            self._document = self._print(self._document)

    def ask(self, question: str) -> str:
        """Print a question and return the answer without blanks around it.

        Raises
        ------
        EOFError
            At the end of the input.
        """
        self._write.write(f"{question} > ")
        self._write.flush()
        line = self._read.readline()
        if not line:
            raise EOFError
        return line.strip()

    def ask_after(self, question: str, otherwise: str) -> str:
        """Ask about a list; Enter goes on with it, and after its end is an answer.

        Parameters
        ----------
        question : str
            Without what Enter means.
        otherwise : str
            What Enter means after the end of the list.

        Raises
        ------
        EOFError
            At the end of the input.
        """
        while self._aside is not None:
            if answer := self.ask(f"{question}, {self.more}"):
                self._aside = None
                return answer
            self.show_more()
        return self.ask(f"{question}, {otherwise}")

    def forget_typed(self) -> None:
        """Drop the lines that were typed before there was a question to answer, and say so.

        What is pasted or typed ahead is meant for what is on the terminal already. A script's
        answers are all there from the start, and none is dropped.

        Raises
        ------
        EOFError
            If the end of the input came with them.
        """
        dropped = 0
        while self.is_interactive and self._has_typed():
            if not self._read.readline():
                raise EOFError
            dropped += 1
        if dropped:
            self.say(f"{counted(dropped, 'line')} typed too early: not used")

    def _print(self, pages: Pages) -> Pages | None:
        """Print the next page of a text, and return what has more."""
        text = pages.next()
        self._write.write(text if text.endswith("\n") else f"{text}\n")
        self._write.flush()
        return None if pages.is_done else pages

    def _has_typed(self) -> bool:
        """Say whether a line waits at the terminal."""
        try:
            return bool(select.select([self._read], [], [], 0)[0])
        except (OSError, ValueError):  # no terminal after all, or none that can be asked
            return False
