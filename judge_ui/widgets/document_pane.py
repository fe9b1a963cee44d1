"""The pane of the document being judged: it scrolls, and hands every other key on as its meaning.

Grade keys live here and nowhere else, so that a digit typed into a note can never be a grade.
"""

from __future__ import annotations

from textual import events
from textual.message import Message

from judge_ui.keys import SCROLLING, Command
from judge_ui.widgets.text_pane import TextPane


class DocumentPane(TextPane):
    """The document before the judge; see `TextPane` for the parameters."""

    class Pressed(Message):
        """A key that means something was pressed."""

        def __init__(self, meaning: int | Command, pressed_at: float) -> None:
            super().__init__()
            self.meaning = meaning
            """A grade value, or a command."""
            self.pressed_at = pressed_at
            """When the terminal sent the key, in seconds of Textual's clock."""

    def on_key(self, event: events.Key) -> None:
        """Tell the screen what a key means; `TextPane` has those that scroll."""
        meaning = self.keys.meaning(event.key, event.character)
        if meaning is not None and meaning not in SCROLLING:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pressed(meaning, event.time))
