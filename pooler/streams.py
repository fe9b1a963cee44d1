"""Words and progress on standard error, broken into lines at a width."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from pooler.telling import Listener
from store.text import sanitise

if TYPE_CHECKING:
    from rich.progress import Progress

PAGE = 80
"""Columns of a page, and of a terminal that does not say how wide it is."""
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_NO_START = "、。，．・：；？！ー々〕）］｝〉》」』】"
"""Never the first of a line."""
_BLANKS = re.compile(rf"(?<=[{_WIDE}])(?![{_NO_START}\s])|(?<=\S)(?=[{_WIDE}])(?![{_NO_START}])|\s+")
_JOINTS = re.compile(r"(?<=[^\W_])[-_./:=,@+]+(?=[^\W_])")


def least_width(text: str, *, joints: bool = False) -> int:
    """Return the columns that a text needs when it is broken at blanks, or at joints of names too.

    A number, a date and a time are one word, and so are a date and its time if joints are kept.

    Examples
    --------
    >>> least_width("two words"), least_width("rm3-words-title"), least_width("2026-03-01 09:30")
    (5, 15, 16)
    >>> least_width("rm3-words-title", joints=True), least_width("漬物 石")
    (6, 2)
    """
    from rich.cells import cell_len

    return max((cell_len(piece.rstrip()) for piece in _pieces(text, joints=joints)), default=0)


def broken(text: str, width: int) -> list[str]:
    """Break a text into lines of a width; a word is broken only where it is wider than that.

    Parameters
    ----------
    text : str
        One line; sanitised.
    width : int
        Columns of a terminal, 2 or more.

    Examples
    --------
    >>> broken("of the late-tfidf-bigrams run", 12)
    ['of the', 'late-tfidf-', 'bigrams run']
    >>> broken("0123456789abcdef", 10)
    ['0123456789', 'abcdef']
    """
    from rich.cells import cell_len, chop_cells

    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in _pieces(text):
        parts = [word]
        if cell_len(word.rstrip()) > width:
            parts = [
                part
                for piece in _pieces(word, joints=True)
                for part in ([piece] if cell_len(piece.rstrip()) <= width
                             else chop_cells(piece, width))
            ]  # fmt: skip
        for number, part in enumerate(parts):
            starts = number == 0 and len(parts) > 1
            if lines and not starts and cell_len(lines[-1] + part.rstrip()) <= width:
                lines[-1] += part
            else:
                lines.append(part)
    return [line.rstrip() for line in lines]


def wrapped(text: str, width: int) -> str:
    r"""Break lines of words at blanks; words that are wider stay whole, for they may be paths.

    Lines go on under the first word of theirs.

    Examples
    --------
    >>> print(wrapped("one line\n  another line, that is too long for this", 20))
    one line
      another line, that
      is too long for
      this
    """
    from rich.cells import cell_len

    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        lines.append(indent)
        for word in _pieces(words):
            is_first = lines[-1] == indent
            if not is_first and cell_len(lines[-1] + word.rstrip()) > width:
                lines.append(indent)
            lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def on_terminal(text: str, stream: TextIO) -> str:
    """Return a text wrapped for a terminal; for what is none as it is.

    Parameters
    ----------
    text : str
        Sanitised.
    stream : text stream
        Where it goes.
    """
    if not stream.isatty():
        return text
    width = terminal_width(stream)
    # The width in characters first: what draws is imported for long lines only.
    return wrapped(text, width) if any(2 * len(line) > width for line in text.split("\n")) else text


def terminal_width(stream: TextIO) -> int:
    """Return the columns of a terminal: as COLUMNS says, else as it says itself, else `PAGE`."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    try:
        return os.get_terminal_size(stream.fileno()).columns or PAGE
    except (OSError, ValueError):  # a stream that is no file
        return PAGE


def _pieces(text: str, *, joints: bool = False) -> Iterator[str]:
    """Yield the parts between which a text may be broken, each with the blanks after it."""
    ends = {
        found.end()
        for pattern in ((_BLANKS, _JOINTS) if joints else (_BLANKS,))
        for found in pattern.finditer(text)
        if not _is_between_digits(text, found.start(), found.end()) or (joints and pattern is _BLANKS)
    }
    start = 0
    for end in sorted({*ends, len(text)} - {0}):
        yield text[start:end]
        start = end


def _is_between_digits(text: str, start: int, end: int) -> bool:
    """Tell whether a break would tear a number, a date or a time apart."""
    return 0 < start < end < len(text) and text[start - 1].isdigit() and text[end].isdigit()


class OnTerminal(Listener):
    """Writes words to stderr, and draws how far a work has come when that is a terminal."""

    def __init__(self) -> None:
        self._bars: list[Progress] = []

    def say(self, message: str) -> None:
        """Write words after what stdout has to show before them; wrapped on a terminal."""
        with suppress(OSError):
            sys.stdout.flush()
        sys.stderr.write(on_terminal(sanitise(message), sys.stderr) + "\n")

    def warn(self, message: str) -> None:
        """Write a warning."""
        self.say(f"warning: {message}")

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """Draw a bar; within a longer work, a line of its display: a terminal has room for one."""
        if self._bars and total > 1:
            bar = self._bars[-1]
            task = bar.add_task(label, total=total)
            try:
                yield lambda steps: bar.advance(task, steps)
            finally:
                bar.remove_task(task)
            return
        if self._bars or not sys.stderr.isatty() or total < 2:
            yield lambda _steps: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
                   TimeRemainingColumn())  # fmt: skip
        with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
            task = bar.add_task(label, total=total)
            self._bars.append(bar)
            try:
                yield lambda steps: bar.advance(task, steps)
            finally:
                self._bars.pop()
