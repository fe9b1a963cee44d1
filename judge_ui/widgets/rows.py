"""A list to move about in: one line a row, only those in sight are ever made."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_ui.keys import SCROLLING, Command, KeyTable
from judge_ui.widgets.wrapping import pad

Line = Callable[[int, int], str]
"""Writes a row, by its number, into a width in cells; what it gives is fit for a terminal."""

_CURSOR = Style(reverse=True)


class RowList(ScrollView, can_focus=True):
    """Rows, one of them under the cursor.

    Parameters
    ----------
    keys : KeyTable
        Says which keys move the cursor.
    id : str, optional
        Of the widget.

    Attributes
    ----------
    cursor : int
        The row under the cursor.
    shows_cursor : bool
        Whether the cursor is drawn also while the keys go elsewhere.
    """

    class Chosen(Message):
        """A row was chosen, with Enter or with the mouse."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, keys: KeyTable, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._keys = keys
        self._n_rows = 0
        self._line: Line = lambda _row, _width: ""
        self.cursor = 0
        self.shows_cursor = False

    def show(self, n_rows: int, line: Line, cursor: int = 0) -> None:
        """Show other rows, one of them under the cursor."""
        self._n_rows, self._line = n_rows, line
        self._fit()
        self.move_to(cursor)

    def move_to(self, row: int) -> None:
        """Put the cursor on a row, and the row in sight."""
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
        steps = {
            Command.LINE_DOWN: 1,
            Command.LINE_UP: -1,
            Command.PAGE_DOWN: page,
            Command.PAGE_UP: -page,
            Command.TOP: -self._n_rows,
            Command.BOTTOM: self._n_rows,
        }
        self.move_to(self.cursor + steps[command])

    def choose(self) -> None:
        """Choose the row under the cursor."""
        if self._n_rows:
            self.post_message(self.Chosen(self.cursor))

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._fit()
        self.move_to(self.cursor)

    def on_key(self, event: events.Key) -> None:
        """Move or choose."""
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter":
            self.choose()
        elif isinstance(meaning, Command) and meaning in SCROLLING:
            self.move(meaning)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        row = self.scroll_offset.y + event.y
        if row < self._n_rows:
            self.move_to(row)
            self.choose()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        base = self.rich_style
        if row >= self._n_rows:
            return Strip.blank(width, base)
        is_cursor = row == self.cursor and (self.has_focus or self.shows_cursor)
        text = pad(self._line(row, width), width)
        return Strip([Segment(text, base + _CURSOR if is_cursor else base)])

    def _fit(self) -> None:
        """Say how far there is to scroll."""
        self.virtual_size = Size(self.scrollable_content_region.width, self._n_rows)
