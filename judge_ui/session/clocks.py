"""The judge's time: how long a document is before them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

IDLE_AFTER_S = 120.0
"""A pause between two keys counts as work up to this long, in seconds."""


class Dwell:
    """The clock of the document before the judge."""

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
        self.has_text = True
        """Whether there is anything to read in it."""
        self.shown_at: datetime | None = None
        """UTC; ``None`` = it is not on the screen yet."""
        self.dropped = 0
        """Grade keys that came too soon."""

    @property
    def ms(self) -> int | None:
        """How long it has been on the screen, in milliseconds; ``None`` = it is not yet."""
        return None if self._shown is None else round((self._clock() - self._shown) * 1000)

    @property
    def quiet_seconds(self) -> float | None:
        """How long there, or since the latest key that came too soon: a held key never stops coming."""
        since = self._shown if self._dropped_at is None else self._dropped_at
        return None if self._shown is None or since is None else self._clock() - since

    @property
    def active_ms(self) -> int:
        """How long it has been there, in milliseconds, without long pauses."""
        return round(self._active * 1000)

    def show(self, document: tuple[str, str], sha256: str | None = "", *, has_text: bool = True) -> None:
        """Say that a document is on the screen now, unless it was already."""
        if self._shown is None:
            self.document, self.sha256, self.has_text = document, sha256, has_text
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
