"""How long a document has been before the judge, and how much of that was work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

IDLE_AFTER_S = 120.0
"""A pause between two keys counts as work up to this long, in seconds."""


class Dwell:
    """The clock of the document before the judge.

    Parameters
    ----------
    clock : callable
        Seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._shown: float | None = None
        self._touched = 0.0
        self._active = 0.0
        self._dropped_at: float | None = None
        self.document: tuple[str, str] | None = None
        """Topic and docno of what is on the screen; ``None`` = nothing yet."""
        self.sha256: str | None = ""
        """Hash of what is on the screen; ``None`` = it has no text, empty = not known."""
        self.shown_at: datetime | None = None
        """UTC; ``None`` = it is not on the screen yet."""
        self.dropped = 0
        """Grade keys that came too soon."""

    @property
    def seconds(self) -> float | None:
        """How long it has been on the screen; ``None`` = it is not yet."""
        return None if self._shown is None else self._clock() - self._shown

    @property
    def quiet_seconds(self) -> float | None:
        """The same since the latest key that came too soon: a held key never stops coming."""
        since = self._shown if self._dropped_at is None else self._dropped_at
        return None if self._shown is None or since is None else self._clock() - since

    @property
    def ms(self) -> int | None:
        """The same in milliseconds."""
        seconds = self.seconds
        return None if seconds is None else round(seconds * 1000)

    @property
    def active_ms(self) -> int:
        """The same without long pauses."""
        return round(self._active * 1000)

    def show(self, document: tuple[str, str], sha256: str | None = "") -> None:
        """Say that a document is on the screen now, unless it was already."""
        if self._shown is None:
            self.document, self.sha256 = document, sha256
            self._dropped_at = None
            self._shown = self._touched = self._clock()
            self.shown_at = datetime.now(UTC)

    def touch(self) -> None:
        """Say that the judge did something."""
        now = self._clock()
        if self._shown is not None:
            self._active += min(now - self._touched, IDLE_AFTER_S)
        self._touched = now

    def drop(self) -> None:
        """Drop a grade key that came too soon, and count it."""
        self.dropped += 1
        self._dropped_at = self._clock()

    def restart(self) -> None:
        """Begin anew with another document, which is not on the screen yet."""
        self._shown = self._dropped_at = self.shown_at = self.document = None
        self.sha256 = ""
        self._active = 0.0
        self.dropped = 0
