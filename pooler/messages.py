"""Messages, warnings and progress of what works, for a listener.

The command line writes them to stderr, and lines of a result without a file to stdout; in a notebook
there is no listener, and a result has its warnings, and what was said and written. Answers come from stdin.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from store.text import sanitise

if TYPE_CHECKING:
    from rich.progress import Progress


class Listener:
    """Takes messages, and does nothing with them."""

    def say(self, message: str) -> None:
        """Take a message."""

    def warn(self, message: str) -> None:
        """Take a warning about the data."""

    def note(self, message: str) -> None:
        """Take a warning that the result says itself, where people and programs read it."""

    def write(self, lines: Iterable[str]) -> list[str]:
        """Take the lines of a result without a file, or many at once; return those that were not shown."""
        return [line for some in lines for line in some.split("\n")]

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:  # noqa: ARG002 - of listeners
        """Return a function that takes the steps just done, of `total` in all."""
        return nullcontext(lambda _steps: None)

    def patience(self) -> AbstractContextManager[None]:
        """Say of work that takes long in silence that it goes on."""
        return nullcontext()


_listener: ContextVar[Listener] = ContextVar("listener")
_NOBODY = Listener()


def current_listener() -> Listener:
    """Return the listener of the moment."""
    return _listener.get(_NOBODY)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Give messages of what is done inside to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Keep the warnings of what is done inside, for another process or a later moment to send."""

    class Keeper(Listener):
        def warn(self, message: str) -> None:
            kept.append(message)

    kept: list[str] = []
    with listening(Keeper()):
        yield kept


def say(message: str) -> None:
    """Send a message."""
    current_listener().say(message)


def warn(message: str) -> None:
    """Send a warning about the data."""
    current_listener().warn(message)


def note(message: str) -> None:
    """Send a warning that the result says itself."""
    current_listener().note(message)


def write(lines: Iterable[str]) -> None:
    """Send the lines of a result that goes into no file."""
    current_listener().write(lines)


def progress(label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show the progress of `total` steps: call the function that it gives with the steps just done."""
    return current_listener().progress(label, total)


PAGE = 80
"""Columns of a page, and of a terminal that does not say how wide it is."""


def on_terminal(text: str, stream: TextIO) -> str:
    """Return a sanitised text wrapped for a terminal; for a stream that is none, as it is."""
    if not stream.isatty():
        return text
    width = terminal_width(stream)
    if not any(2 * len(line) > width for line in text.split("\n")):
        return text
    from store.wrapping import wrapped  # rich with it, for long lines only

    return wrapped(text, width)


def terminal_width(stream: TextIO) -> int:
    """Return the columns of a terminal: as COLUMNS says, else as it says itself, else `PAGE`."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    try:
        return os.get_terminal_size(stream.fileno()).columns or PAGE
    except (OSError, ValueError):  # a stream that is no file
        return PAGE


def text_stdin() -> TextIO:
    """Return stdin as text: UTF-8 from files and pipes; what is none becomes U+FFFD."""
    # Once a line has been read it can be said no more.
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != "replace":
        encoding = sys.stdin.encoding if sys.stdin.isatty() else "utf-8"
        sys.stdin.reconfigure(encoding=encoding, errors="replace")
    return sys.stdin


_WORKING = "working ...\r"
SILENCE_S = 0.6
"""After so long without a word, a terminal is told that work goes on; with the start it is a second."""


class OnTerminal(Listener):
    """Writes words to stderr, and draws how far a work has come when that is a terminal."""

    def __init__(self) -> None:
        self._bars: list[Progress] = []
        self._silence: Timer | None = None
        self._is_working = False

    @contextmanager
    def patience(self) -> Iterator[None]:
        """Write on a terminal that brought no word for long that work goes on; erase it before the first."""
        if sys.stderr.isatty():
            self._silence = Timer(SILENCE_S, self._write_working)
            self._silence.start()
        try:
            yield
        finally:
            self._end_silence()

    def _write_working(self, text: str = _WORKING) -> None:
        self._is_working = not self._is_working
        sys.stderr.write(text)
        sys.stderr.flush()

    def _end_silence(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence.join()
        if self._is_working:
            self._write_working(" " * len(_WORKING) + "\r")

    def say(self, message: str) -> None:
        """Write words after what stdout has to show before them; wrapped on a terminal."""
        self._end_silence()
        with suppress(OSError):
            sys.stdout.flush()
        sys.stderr.write(on_terminal(sanitise(message), sys.stderr) + "\n")

    def warn(self, message: str) -> None:
        """Write a warning."""
        self.say(f"warning: {message}")

    def write(self, lines: Iterable[str]) -> list[str]:
        """Write lines to stdout, as they come."""
        self._end_silence()
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return []

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
        self._end_silence()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
            task = bar.add_task(label, total=total)
            self._bars.append(bar)
            try:
                yield lambda steps: bar.advance(task, steps)
            finally:
                self._bars.pop()
