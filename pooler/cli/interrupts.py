"""What Ctrl-C and `kill` do to a command: undo what is under way, and end it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from pooler.cli.console import ExitCode


class Interrupted(BaseException):
    """Ctrl-C. Not a KeyboardInterrupt, which typer would turn into exit code 1."""

    code = ExitCode.INTERRUPTED


class Terminated(Interrupted):
    """`kill`, where `tidy_when_killed` is in force."""

    code = ExitCode.TERMINATED


def catch_interrupts() -> None:
    """Let Ctrl-C raise `Interrupted`, which rolls back what is open and exits with 130."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise Interrupted

    signal.signal(signal.SIGINT, interrupt)


@contextmanager
def tidy_when_killed() -> Iterator[None]:
    """Let `kill` undo what is under way, as Ctrl-C does, instead of leaving half of it."""

    def end(_signal: int, _frame: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
