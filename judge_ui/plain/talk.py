"""What is printed, page by page; help."""

from __future__ import annotations

import select
import unicodedata
from collections.abc import Iterable
from typing import TextIO

from judge_ui.plain.answers import USES, Answers
from judge_ui.session.messages import counted

_LEAST_FILL = 0.5
"""A long line is cut at a blank or a full stop, if there is one in the last part of its page."""

_ENDS = frozenset(" \t。．！？.!?、，,")
"""Characters after which a long line may be cut."""


class Pages:
    r"""Gives out a text page by page, of `n_lines` terminal lines each; 0 = all of it is one page.

    A page ends at the end of a line of the text where it can. A line that fills a whole page by itself is
    cut, after a blank or a full stop if there is one in its second half, and never before a character that
    joins the one in front of it; but a page has at most four characters for each of its cells, so that a line
    of combining marks ends.

    Examples
    --------
    >>> pages = Pages("one\ntwo\nthree", 2)
    >>> pages.next(), pages.percent, pages.next(), pages.is_done
    ('one\ntwo\n', 61, 'three', True)
    """

    def __init__(self, text: str, n_lines: int, width: int = 80) -> None:
        self._text = text
        self._n_lines = n_lines
        self._width = width
        self._at = 0

    @property
    def is_done(self) -> bool:
        """Whether everything has been given out."""
        return self._at >= len(self._text)

    @property
    def percent(self) -> int:
        """Share of the text that has been given out, rounded down; 100 for an empty one."""
        return 100 * self._at // len(self._text) if self._text else 100

    def next(self) -> str:
        """Return the next page; empty when everything has been given out."""
        start, self._at = self._at, self._end()
        return self._text[start : self._at]

    def _end(self) -> int:
        """Find the end of the page that begins here."""
        text, place = self._text, self._at
        if self._n_lines <= 0:
            return len(text)
        lines = 0
        while place < len(text):
            most = (self._n_lines - lines) * self._width * 4
            newline = text.find("\n", place, place + most)
            end = newline + 1 if newline >= 0 else min(place + most, len(text))
            needed = -(-max(_cells(text[place:end]), 1) // self._width)
            if end - place == most and newline < 0 and end < len(text):
                needed = self._n_lines + 1
            if lines + needed > self._n_lines:
                return place if lines else self._cut(place, end)
            place, lines = end, lines + needed
            if lines == self._n_lines:
                break
        return place

    def _cut(self, start: int, end: int) -> int:
        """Find where to cut a line that is longer than a page."""
        text, room, place = self._text, self._n_lines * self._width, start
        while place < end and room >= (cells := _cells(text[place])):
            room -= cells
            place += 1
        least = start + max(int((place - start) * _LEAST_FILL), 1)
        good = next((at for at in range(place, least, -1) if text[at - 1] in _ENDS), place)
        # A character wider than the terminal still has to go out.
        return max(good, start + 1)


def _cells(text: str) -> int:
    """Count the terminal cells that a text takes, about: the line mode works without Rich, which knows."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks


LIST_LINES = 20
"""Lines of a list, or of a page of reading, that are printed at once where no page is set."""


class Talk:
    """Lines out and answers in."""

    def __init__(self, read: TextIO, write: TextIO, *, page: int = 0, width: int = 80) -> None:
        self._read = read
        self._write = write
        self._page = page
        self._width = width
        self._document: Pages | None = None
        self._aside: Pages | None = None
        self.n_unused = 0
        """A script's answers that were given for documents it never came to."""
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

    def show(self, text: str | Iterable[str]) -> None:
        """Print a text, or the first lines of a list; Enter goes on with it, and then with the document."""
        n_lines = self._page
        if not isinstance(text, str):
            text, n_lines = "\n".join(text), n_lines or LIST_LINES
        self._aside = self._print(Pages(text, n_lines, self._width))

    def show_more(self) -> None:
        """Print the next page."""
        if self._aside is not None:
            self._aside = self._print(self._aside)
        elif self._document is not None:
            self._document = self._print(self._document)

    def ask(self, question: str) -> str:
        """Print a question and return the answer without blanks around it.

        `EOFError` at the end of the input.
        """
        self._write.write(f"{question} > ")
        self._write.flush()
        line = self._read.readline()
        if not line:
            raise EOFError
        return line.strip()

    def ask_after(self, question: str, otherwise: str) -> str:
        """Ask about a list; Enter goes on with it, and after its end is an answer."""
        while self._aside is not None:
            if answer := self.ask(f"{question}, {self.more}"):
                self._aside = None
                return answer
            self.show_more()
        return self.ask(f"{question}, {otherwise}")

    def forget_typed(self) -> None:
        """Drop the lines that were typed before there was a question to answer, and say so.

        What is pasted or typed ahead is meant for what is on the terminal already. A script's answers are all
        there from the start, and none is dropped.
        """
        dropped = 0
        while self.is_interactive and self._has_typed():
            if not self._read.readline():
                raise EOFError
            dropped += 1
        if dropped:
            self.say(f"{counted(dropped, 'line')} typed too early: ignored")

    def say_unused(self) -> None:
        """Say how many answers of a script were not used, if any."""
        if self.n_unused:
            were = "was" if self.n_unused == 1 else "were"
            self.say(f"{counted(self.n_unused, 'answer')} {were} ignored")
            self.n_unused = 0

    def _print(self, pages: Pages) -> Pages | None:
        """Print the next page of a text, and return what has more."""
        text = pages.next()
        self._write.write(text if text.endswith("\n") else f"{text}\n")
        self._write.flush()
        return None if pages.is_done else pages

    def _has_typed(self) -> bool:
        """Return whether a line waits at the terminal."""
        try:
            return bool(select.select([self._read], [], [], 0)[0])
        except (OSError, ValueError):  # no terminal after all, or none that can be asked
            return False


def help_lines(answers: Answers) -> list[str]:
    """Write every answer and what it does."""
    lines = ["Grades: each is saved at once"]
    lines += [f"  {key}: {name}" for key, name in answers.grades]
    lines.append("Commands: a key or a word, in any case")
    for act, use in USES.items():
        word, _, rest = use.example.partition(" ")
        # A key that the scale takes is not the command's.
        example = f", as in `{answers.name(act) if len(word) == 1 else word} {rest}`" if word else ""
        lines.append(f"  {answers.names(act)}: {use.explanation}{example}")
    lines.append("Enter prints what was not printed yet. The end of the input quits.")
    return lines
