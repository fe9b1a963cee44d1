"""Fields of one line and of several, and what is shown where the terminal is too small."""

from __future__ import annotations

import math
import re
from typing import TypedDict

from textual import events
from textual.content import Content
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input, TextArea

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
        """Return how large the terminal must be."""
        need = f"{LEAST_WIDTH} columns and {LEAST_HEIGHT} rows"
        return Content(f"terminal too small\nneeded: {need}\nctrl+q quits")


_PASTED = re.compile(f"(?:{TYPED}[\n\t]?)*")


class NoteField(TextArea):
    """The field: Enter submits it, as everywhere, and ctrl+j begins a line."""

    class Submitted(Message):
        """The text is to be taken."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text, soft_wrap=True, show_line_numbers=False, compact=True, highlight_cursor_line=False
        )
        self.cursor_blink = False
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        """Take Enter; a new line is a key of its own, since Shift+Enter is Enter to most terminals."""
        if event.key == "enter":
            event.stop().prevent_default()
            self.post_message(self.Submitted())
        elif event.key in ("ctrl+j", "shift+enter"):
            event.stop().prevent_default()
            self._replace_via_keyboard("\n", *self.selection)
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        """Take text of several lines, and none that holds what could steer the terminal."""
        event.stop().prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if _PASTED.fullmatch(text):
            self._replace_via_keyboard(text, *self.selection)
        else:
            self.app.bell()
