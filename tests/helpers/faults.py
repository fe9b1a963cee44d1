"""A database that fails: at a commit, before or after it is done, or when it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session


class When(StrEnum):
    """When the database fails."""

    BEFORE = "before"
    """At a commit: nothing is written."""
    AFTER = "after"
    """At a commit: everything is written, and the program is told that it was not."""
    READING = "reading"
    """At the first statement of a session that only reads."""


class Faults:
    """Lets the next commit, or the next reading, of any session in this process fail, once."""

    def __init__(self) -> None:
        self.armed: When | None = None
        self.fired: When | None = None
        """How the latest operation failed; the caller sets it back."""

    def _before(self, _session: Session) -> None:
        self._fail(When.BEFORE)

    def _after(self, _session: Session) -> None:
        self._fail(When.AFTER)

    def _reading(self, connection: Any, *_rest: Any) -> None:
        if not connection.get_execution_options().get("pooler_writes"):
            self._fail(When.READING)

    def _fail(self, when: When) -> None:
        if self.armed is when:
            self.armed, self.fired = None, when
            raise OperationalError("COMMIT", {}, Exception("the connection was lost"))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let nothing fail for a while."""
        armed, self.armed = self.armed, None
        yield
        self.armed = armed


@contextmanager
def failing_database() -> Iterator[Faults]:
    """Give the means to let any database fail."""
    faults = Faults()
    event.listen(Session, "before_commit", faults._before)
    event.listen(Session, "after_commit", faults._after)
    event.listen(Engine, "before_cursor_execute", faults._reading)
    try:
        yield faults
    finally:
        event.remove(Session, "before_commit", faults._before)
        event.remove(Session, "after_commit", faults._after)
        event.remove(Engine, "before_cursor_execute", faults._reading)
