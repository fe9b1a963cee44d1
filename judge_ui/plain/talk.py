"""What is printed and what is typed; help."""

from __future__ import annotations

import select
from typing import TextIO

from judge_ui.plain.answers import USES, Answers
from store.text import counted

YES = ("y", "yes", "ｙ")


class Talk:
    """Lines out and answers in."""

    def __init__(self, read: TextIO, write: TextIO) -> None:
        self._read = read
        self._write = write
        self.n_unused = 0
        """A script's answers that were given for documents it never came to."""
        self.n_ignored = 0
        """Those of them that were told of."""
        self.is_interactive = read.isatty()
        """Whether somebody types the answers: a script gives them before it has seen anything."""

    def say(self, text: str = "") -> None:
        """Print a line, or several."""
        self._write.write(text if text.endswith("\n") else f"{text}\n")
        self._write.flush()

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

    def ignore(self, words: str) -> None:
        """Say why an answer is none, and count it where a script gave it."""
        self.say(words)
        self.n_unused += not self.is_interactive

    def say_unused(self) -> None:
        """Say how many answers of a script were not used, if any."""
        if self.n_unused:
            were = "was" if self.n_unused == 1 else "were"
            self.say(f"{counted(self.n_unused, 'answer')} {were} ignored")
            self.n_ignored += self.n_unused
            self.n_unused = 0

    def _has_typed(self) -> bool:
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
    lines.append("The end of the input quits.")
    return lines
