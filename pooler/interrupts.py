"""What Ctrl-C and `kill` do to a command: undo what is under way, and end it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, TextIO

PATIENCE_S = 10.0
"""For so long after an interrupt others are not heard: what is under way is being undone."""
_AGAIN_S = 0.02
"""After so long an interrupt that came where nothing can be raised is raised again."""


class Interrupted(BaseException):
    """Ctrl-C. Not a KeyboardInterrupt, which typer would turn into exit code 1."""

    code = 130
    signal = signal.SIGINT


class Terminated(Interrupted):
    """`kill`."""

    code = 143
    signal = signal.SIGTERM


class _Press:
    """When the latest interrupt was raised, in seconds of `time.monotonic`."""

    at_s = -PATIENCE_S


def catch_interrupts() -> None:
    """Let Ctrl-C and `kill` raise, which rolls back what is open and exits with 130 or 143.

    Raised where Python can only report and forget it (in a destructor, or while it takes the lock of a module
    that is being imported), an interrupt is neither: it is raised again at once.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _raise_once)
    sys.unraisablehook = _raise_again


def interrupt_behind(error: BaseException) -> Interrupted | None:
    """Return the interrupt that an exception is, or was made of; ``None`` = there is none.

    Python makes a RuntimeError of whatever is raised while a class gives its attributes their
    names, and others do likewise.
    """
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__cause__ or behind.__context__
    return behind


def ignore_interrupts() -> None:
    """Let the process end as it is about to: pressed once more, Ctrl-C would change how."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@contextmanager
def last_words(write: TextIO, words: Callable[[], str]) -> Iterator[None]:
    """Where an interrupt ends a talk, say on a line of its own what it came to; it goes on then."""
    try:
        yield
    except BaseException as error:
        if interrupt_behind(error) is not None:
            with suppress(OSError):  # nothing reads it
                write.write(f"\n{words()}\n")
                write.flush()
        raise


def _raise_once(number: int, _frame: object) -> None:
    """Raise, but for an interrupt that comes while an earlier one is being acted on."""
    now_s = time.monotonic()
    if now_s - _Press.at_s >= PATIENCE_S:
        _Press.at_s = now_s
        # SQLAlchemy would log the trace of a connection it is closing. While the module is being
        # imported it may not have the function yet, and there is no connection.
        disable = getattr(sys.modules.get("logging"), "disable", None)
        if disable is not None:
            disable()
        raise Terminated if number == signal.SIGTERM else Interrupted


def _raise_again(lost: Any) -> None:
    """Have an interrupt that was lost come again a moment later, from where it can be raised."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)
        return
    _Press.at_s = -PATIENCE_S
    timer = Timer(_AGAIN_S, os.kill, [os.getpid(), lost.exc_value.signal])
    timer.daemon = True
    timer.start()
