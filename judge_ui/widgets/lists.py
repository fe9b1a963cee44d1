"""Rows to move about in, and fields to type in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, TextArea

from judge_ui.session.keys import SCROLLING, Command, KeyTable, steps
from store.text import BIDI_CONTROLS
from store.wrapping import pad

Line = Callable[[int, int], str]
"""Writes a row, by its number, into a width in cells; what it gives is fit for a terminal."""

_CURSOR = Style(reverse=True)


class RowList(ScrollView, can_focus=True):
    """Rows with a cursor, which shows while the list has the focus, or always where it cannot have it."""

    @dataclass
    class Chosen(Message):
        """A row was chosen, with Enter or with the mouse."""

        row: int

    def __init__(self, keys: KeyTable, *, can_focus: bool = True) -> None:
        super().__init__()
        self.can_focus = can_focus
        self._keys = keys
        self._n_rows = 0
        self._line: Line = lambda _row, _width: ""
        self.cursor = 0

    def show(self, n_rows: int, line: Line, cursor: int = 0) -> None:
        """Show other rows, one of them under the cursor."""
        self._n_rows, self._line = n_rows, line
        self._fit()
        self.move_to(cursor)

    def move_to(self, row: int) -> None:
        """Put the cursor on a row, and scroll it into view."""
        self.cursor = max(min(row, self._n_rows - 1), 0)
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if height and not top <= self.cursor < top + height:
            wanted = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=wanted, animate=False, immediate=True)
        self.refresh()

    def move(self, command: Command) -> None:
        """Move the cursor as a command says that scrolls a text."""
        page = max(self.scrollable_content_region.height - 1, 1)
        self.move_to(self.cursor + steps(command, page, self._n_rows))

    def choose(self) -> None:
        """Choose the row under the cursor."""
        if self._n_rows:
            self.post_message(self.Chosen(self.cursor))

    def on_resize(self) -> None:
        self._fit()
        self.move_to(self.cursor)

    def on_key(self, event: events.Key) -> None:
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter":
            self.choose()
        elif isinstance(meaning, Command) and meaning in SCROLLING:
            self.move(meaning)
        else:
            return
        event.stop().prevent_default()

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if row < self._n_rows:
            self.move_to(row)
            self.choose()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        base = self.rich_style
        if row >= self._n_rows:
            return Strip.blank(width, base)
        is_cursor = row == self.cursor and (self.has_focus or not self.can_focus)
        text = pad(self._line(row, width), width)
        return Strip([Segment(text, base + _CURSOR if is_cursor else base)])

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._n_rows)


TYPED = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff{BIDI_CONTROLS}]*"
"""What may be typed or pasted."""


class LineInput(Input):
    """A field for one line, without control characters."""

    def __init__(
        self, value: str = "", *, placeholder: str = "", is_selected: bool = False, disabled: bool = False
    ) -> None:
        super().__init__(value, placeholder, restrict=TYPED, select_on_focus=is_selected, disabled=disabled)
        self.cursor_blink = False


_PASTED = re.compile(f"(?:{TYPED}[\n\t]?)*")


class NoteField(TextArea):
    """A field for several lines: Enter submits it, as everywhere, and ctrl+j begins a line."""

    class Submitted(Message):
        """The text is to be taken."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text, soft_wrap=True, show_line_numbers=False, compact=True, highlight_cursor_line=False
        )
        self.cursor_blink = False
        self.move_cursor(self.document.end)

    @property
    def value(self) -> str:
        """What is in the field."""
        return self.text

    async def _on_key(self, event: events.Key) -> None:
        """Take Enter; a new line has a key of its own, since most terminals send Shift+Enter as Enter."""
        if event.key == "enter":
            event.stop().prevent_default()
            self.post_message(self.Submitted())
        elif event.key in ("ctrl+j", "shift+enter"):
            event.stop().prevent_default()
            self._replace_via_keyboard("\n", *self.selection)
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        """Take text of several lines; refuse what could control the terminal."""
        event.stop().prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if _PASTED.fullmatch(text):
            self._replace_via_keyboard(text, *self.selection)
        else:
            self.app.bell()
