"""Screens that take no key from before they were seen."""

from __future__ import annotations

import math

from textual import events
from textual.message import Message
from textual.message_pump import MessagePump


class Unhurried(MessagePump):
    """A base of screens that ask something: an answer was typed after the question was painted.

    On a slow line several keys come at once, and a key that was meant for the screen before is no
    answer. What its keys do is to be shown by `begin`, no sooner than they work.
    """

    _seen_at = math.inf

    def on_mount(self) -> None:
        """Wait until it is painted."""
        self.call_after_refresh(self._painted)

    def is_meant(self, event: events.Key) -> bool:
        """Say whether a key was pressed after the screen was painted."""
        return event.time >= self._seen_at

    @property
    def has_begun(self) -> bool:
        """Whether keys are taken."""
        return self._seen_at < math.inf

    def begin(self) -> None:
        """Show what the keys do."""

    def _painted(self) -> None:
        """Take keys from now on."""
        self._seen_at = Message().time
        self.begin()
