"""Messages, warnings and progress of what works, for a listener.

The command line writes them to stderr, and lines of a result without a file to stdout; in a notebook
there is no listener, and a result has its warnings, and what was said and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar


class Listener:
    """Takes messages, and does nothing with them."""

    def say(self, message: str) -> None:
        """Take a message."""

    def warn(self, message: str) -> None:
        """Take a warning about the data."""

    def write(self, lines: Iterable[str]) -> list[str]:
        """Take the lines of a result without a file, or many at once; return those that were not shown."""
        return [line for some in lines for line in some.split("\n")]

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:  # noqa: ARG002 - of listeners
        """Return a function that takes the steps just done, of `total` in all."""
        return nullcontext(lambda _steps: None)


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


def write(lines: Iterable[str]) -> None:
    """Send the lines of a result that goes into no file."""
    current_listener().write(lines)


def progress(label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show the progress of `total` steps: call the function that it gives with the steps just done."""
    return current_listener().progress(label, total)
