"""The pane that shows a long text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypedDict, Unpack

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_ui.session.keys import SCROLLING, Command, KeyTable, steps
from judge_ui.widgets.laid_out import LaidText, Layer, Look, MarkedText, lay_out
from store.wrapping import LineSpan

MEASURE = 100
"""Widest line of text, in cells: the eye loses its way back on longer ones."""

_MARGIN = 1
_SIGNS = ((Look.CURRENT, ">"), (Look.PASSAGE, "|"))
"""The sign in the margin of a line that has something of this look; the first that applies."""


class WidgetNames(TypedDict, total=False):
    """What the style sheet and the screen know a widget by."""

    id: str
    classes: str


class TextPane(ScrollView, can_focus=True):
    """A scrolling text."""

    class Scrolled(Message):
        """The pane shows another part of its text."""

    def __init__(
        self, keys: KeyTable, marked_text: MarkedText | None = None, **named: Unpack[WidgetNames]
    ) -> None:
        super().__init__(**named)
        self.keys = keys
        self._marked_text = marked_text or MarkedText("")
        self._laid: LaidText | None = None
        self._base = Style.null()
        """The style of text in which nothing stands out."""

    @property
    def text_width(self) -> int:
        """Cells of a line of text; 0 before the first layout."""
        room = self.scrollable_content_region.width - 2 * _MARGIN
        return max(min(room, MEASURE), 0)

    @property
    def n_lines(self) -> int | None:
        """Lines of the text; ``None`` before the first layout."""
        return None if self._laid is None else len(self._laid.lines)

    @property
    def percent(self) -> int:
        """How much of the text has been on the screen, from its start to the last line shown."""
        shown, whole = self.scroll_offset.y + self._height, len(self._lines)
        return 100 if self._laid is None or shown >= whole else max(100 * shown // whole, 1)

    @property
    def is_painted(self) -> bool:
        """Whether the text has been on the screen."""
        return self._laid is not None and self.is_on_screen

    def show(self, marked_text: MarkedText, laid: LaidText | None = None) -> None:
        """Show another text from its start.

        `laid` is the same laid out ahead, used when its width is the pane's.
        """
        self._marked_text = marked_text
        self._laid = laid if laid is not None and laid.width == self.text_width else None
        self._lay_out()
        self.scroll_home(animate=False, immediate=True)

    def on_resize(self) -> None:
        if self._laid is None:
            self._lay_out()
        elif self._laid.width != self.text_width:
            top = min(self.scroll_offset.y, len(self._laid.lines) - 1)
            place = self._laid.lines[top][0]
            self._laid = None
            self._lay_out()
            self._scroll_to_line(self._line_of(place))
            self.relaid()
        self.post_message(self.Scrolled())

    def relaid(self) -> None:
        """Update the pane after its text was laid out for another width."""

    def overlays(self) -> Sequence[Layer]:
        """Return the spans that are highlighted besides those of the text itself."""
        return ()

    def style_of(self, look: Look) -> Style:
        return look_style(look)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines, in a style that is looked up once."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        laid, line, width = self._laid, self.scroll_offset.y + y, self.scrollable_content_region.width
        if laid is None or not 0 <= line < len(laid.lines):
            return Strip.blank(width, self.rich_style)
        pieces = [piece for piece in laid.pieces(line, self.overlays()) if piece[0]]
        signs = (sign for look, sign in _SIGNS if any(look in drawn for _, drawn in pieces))
        segments = [Segment(next(signs, " " * _MARGIN), self._base)]
        segments += [Segment(text, self._base + self.style_of(look)) for text, look in pieces]
        return Strip(segments).adjust_cell_length(width, self._base)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_key(self, event: events.Key) -> None:
        meaning = self.keys.meaning(event.key, event.character)
        if isinstance(meaning, Command) and meaning in SCROLLING:
            event.stop().prevent_default()
            self._scroll(meaning)

    def _scroll(self, command: Command) -> None:
        # One line of the previous page stays in view.
        page = max(self._height - 1, 1)
        if command is Command.TOP:
            self.scroll_home(animate=False, immediate=True)
        elif command is Command.BOTTOM:
            self.scroll_end(animate=False, immediate=True)
        else:
            self._scroll_to_line(self.scroll_offset.y + steps(command, page))

    def _scroll_to_line(self, line: int) -> None:
        # Forced: the scrollbar of a text that has just been shown is not there yet.
        self.scroll_to(y=line, animate=False, immediate=True, force=True)

    def _lay_out(self) -> None:
        width = self.text_width
        if width == 0:
            return
        if self._laid is None:
            self._laid = lay_out(self._marked_text, width)
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._laid.lines))
        self.refresh()

    @property
    def _lines(self) -> list[LineSpan]:
        return self._laid.lines if self._laid else [(0, 0)]

    def _line_of(self, place: int) -> int:
        return self._laid.line_of(place) if self._laid else 0

    def _top(self) -> int:
        return self._lines[min(self.scroll_offset.y, len(self._lines) - 1)][0]

    def _bottom(self) -> int:
        return self._lines[min(self.scroll_offset.y + self._height, len(self._lines)) - 1][1]

    def _is_in_sight(self, place: int) -> bool:
        return 0 <= self._line_of(place) - self.scroll_offset.y < self._height

    def _bring_into_view(self, start: int, end: int) -> None:
        """Scroll a stretch of text into sight: a little when it is near, else to the middle."""
        first, last = self._line_of(start), self._line_of(max(end - 1, start))
        top, height = self.scroll_offset.y, self._height
        if top <= first and last < top + height:
            return
        if first < top - height or last >= top + 2 * height:
            line = first - height // 3
        elif first < top:
            line = first - 1
        else:
            line = last - height + 2
        self._scroll_to_line(min(line, first))

    @property
    def _height(self) -> int:
        return self.scrollable_content_region.height


@cache
def look_style(look: Look) -> Style:
    """Return how a stretch of text is drawn: by what every terminal can do, colours apart."""
    is_underlined = look & (Look.HIT | Look.FOUND | Look.COMMON)
    return Style(
        bold=bool(look & (Look.HIT | Look.OWN | Look.FOUND | Look.CURRENT | Look.STRONG | Look.HERE)) or None,
        # "You are here", and nothing else.
        reverse=bool(look & (Look.CURRENT | Look.SELECTED | Look.HERE)) or None,
        underline=bool(is_underlined) or None,
        italic=bool(look & (Look.PASSAGE | Look.OWN)) or None,
    )
