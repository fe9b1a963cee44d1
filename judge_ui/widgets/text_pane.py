"""The pane that shows a long text: line by line, at once, whatever its length."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_ui.keys import SCROLLING, Command, KeyTable
from judge_ui.widgets.leaf import LaidLeaf, Leaf, Look, lay_out

MEASURE = 100
"""Widest line of text, in cells: the eye loses its way back on longer ones."""

_MARGIN = 1
_LOOKS = {
    Look.PLAIN: Style.null(),
    Look.STRONG: Style(bold=True),
    Look.HIT: Style(bold=True, reverse=True),
}


class TextPane(ScrollView, can_focus=True):
    """A scrolling text.

    Parameters
    ----------
    keys : KeyTable
        Says which keys scroll.
    leaf : Leaf, optional
        The text to begin with.
    id : str, optional
        Of the widget.
    """

    class Scrolled(Message):
        """The pane shows another part of its text."""

    def __init__(self, keys: KeyTable, leaf: Leaf | None = None, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.keys = keys
        self._leaf = leaf or Leaf("")
        self._laid: LaidLeaf | None = None

    @property
    def text_width(self) -> int:
        """Cells of a line of text; 0 before the first layout."""
        room = self.scrollable_content_region.width - 2 * _MARGIN
        return max(min(room, MEASURE), 0)

    @property
    def percent(self) -> int:
        """How much of the text has been on the screen, from its start to the last line shown."""
        n_lines = len(self._laid.lines) if self._laid else 0
        shown = self.scroll_offset.y + self.scrollable_content_region.height
        return 100 if shown >= n_lines else max(100 * shown // n_lines, 1)

    @property
    def is_painted(self) -> bool:
        """Whether the text has been on the screen."""
        return self._laid is not None and self.is_on_screen

    def show(self, leaf: Leaf, laid: LaidLeaf | None = None) -> None:
        """Show another text from its start.

        Parameters
        ----------
        leaf : Leaf
            The text.
        laid : LaidLeaf, optional
            The same, laid out ahead; used when its width is the pane's.
        """
        self._leaf = leaf
        self._laid = laid if laid is not None and laid.width == self.text_width else None
        self._lay_out()
        self.scroll_home(animate=False, immediate=True)

    def on_resize(self) -> None:
        """Break the lines anew and keep the place."""
        if self._laid is None:
            self._lay_out()
        elif self._laid.width != self.text_width:
            top = min(self.scroll_offset.y, len(self._laid.lines) - 1)
            place = self._laid.lines[top][0]
            self._laid = None
            self._lay_out()
            self.scroll_to(y=self._line_of(place), animate=False, immediate=True)
        self.post_message(self.Scrolled())

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        base = self.rich_style
        width = self.scrollable_content_region.width
        line = self.scroll_offset.y + y
        if self._laid is None or not 0 <= line < len(self._laid.lines):
            return Strip.blank(width, base)
        segments = [Segment(" " * _MARGIN, base)]
        segments += [
            Segment(text, base + _LOOKS[look]) for text, look in self._laid.pieces(line) if text
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell the screen; see `ScrollView.watch_scroll_y`."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_key(self, event: events.Key) -> None:
        """Scroll."""
        meaning = self.keys.meaning(event.key, event.character)
        if isinstance(meaning, Command) and meaning in SCROLLING:
            event.stop()
            event.prevent_default()
            self._scroll(meaning)

    def _scroll(self, command: Command) -> None:
        """Scroll as a command says."""
        # One line of the page before stays in sight.
        page = max(self.scrollable_content_region.height - 1, 1)
        if command is Command.TOP:
            self.scroll_home(animate=False, immediate=True)
        elif command is Command.BOTTOM:
            self.scroll_end(animate=False, immediate=True)
        else:
            steps = {
                Command.LINE_DOWN: 1,
                Command.LINE_UP: -1,
                Command.PAGE_DOWN: page,
                Command.PAGE_UP: -page,
            }
            self.scroll_relative(y=steps[command], animate=False, immediate=True)

    def _lay_out(self) -> None:
        """Break the lines, once the width is known."""
        width = self.text_width
        if width == 0:
            return
        if self._laid is None:
            self._laid = lay_out(self._leaf, width)
        room = self.scrollable_content_region.width
        self.virtual_size = Size(room, len(self._laid.lines))
        self.refresh()

    def _line_of(self, place: int) -> int:
        """Return the line that holds a place of the text."""
        lines = self._laid.lines if self._laid else []
        return max(sum(start <= place for start, _ in lines) - 1, 0)
