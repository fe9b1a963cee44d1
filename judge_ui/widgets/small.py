"""One-line field; too small a terminal."""

from __future__ import annotations

import math
from typing import TypedDict

from textual import events
from textual.content import Content
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input

from store.text import BIDI_CONTROLS


class WidgetNames(TypedDict, total=False):
    """What the style sheet and the screen know a widget by."""

    id: str
    classes: str


class WaitsForPaint(MessagePump):
    """A base of screens that ask something: an answer was typed after the question was painted.

    On a slow line several keys come at once, and a key that was meant for the screen before is no
    answer. What its keys do is to be shown by `begin`, no sooner than they work.
    """

    _seen_at = math.inf

    def on_mount(self) -> None:
        """Wait until it is painted."""
        self.call_after_refresh(self._painted)

    def is_meant(self, event: events.Key) -> bool:
        """Return whether a key was pressed after the screen was painted."""
        return event.time >= self._seen_at

    @property
    def has_begun(self) -> bool:
        """Whether keys are taken."""
        return self._seen_at < math.inf

    def begin(self) -> None:
        """Show what the keys do."""

    def _painted(self) -> None:
        self._seen_at = Message().time
        self.begin()


TYPED = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff{BIDI_CONTROLS}]*"
"""What may be typed or pasted."""


class LineInput(Input):
    """The field."""

    def __init__(
        self, value: str = "", *, placeholder: str = "", is_selected: bool = False, disabled: bool = False
    ) -> None:
        super().__init__(value, placeholder, restrict=TYPED, select_on_focus=is_selected, disabled=disabled)
        self.cursor_blink = False


LEAST_WIDTH, LEAST_HEIGHT = 40, 10


class TooSmall(Widget):
    """Says so; the style sheet shows it when the screen has class ``-tiny`` or ``-flat``."""

    def render(self) -> Content:
        """Say how large the terminal must be."""
        need = f"{LEAST_WIDTH} columns and {LEAST_HEIGHT} rows"
        return Content(f"terminal too small\nneeded: {need}\nctrl+q quits")
