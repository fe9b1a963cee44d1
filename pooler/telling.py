"""What is said while something works, and how far it has come: to whoever listens.

The command line writes it to stderr; in a notebook nobody listens, and what there is to doubt is
in a result's `warnings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar


class Listener:
    """Hears what is said, and does nothing."""

    def say(self, message: str) -> None:
        """Take words."""

    def warn(self, message: str) -> None:
        """Take a doubt about the data."""

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:  # noqa: ARG002 - of listeners
        """Return what counts the steps of a work: what is done, and steps in all."""
        return nullcontext(lambda _steps: None)


_listener: ContextVar[Listener] = ContextVar("listener")
_NOBODY = Listener()


def now_listening() -> Listener:
    """Return who listens."""
    return _listener.get(_NOBODY)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let somebody listen to what is done inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def say(message: str) -> None:
    """Say what a reader wants to know beside the data."""
    now_listening().say(message)


def warn(message: str) -> None:
    """Say what there is to doubt about the data."""
    now_listening().warn(message)


def progress(label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Tell how far a work of `total` steps has come: call what it gives with the steps just done."""
    return now_listening().progress(label, total)
