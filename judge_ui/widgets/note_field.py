"""A field of several lines, for a note."""

from __future__ import annotations

import re

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from judge_ui.widgets.small import TYPED

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
