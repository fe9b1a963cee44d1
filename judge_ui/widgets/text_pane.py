"""The pane that shows a long text: line by line, at once, whatever its length."""

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
from textual.timer import Timer

from judge_ui.session.keys import SCROLLING, Command, KeyTable, steps
from judge_ui.widgets.laid_out import LaidText, Layer, Look, MarkedText, lay_out

MEASURE = 100
"""Widest line of text, in cells: the eye loses its way back on longer ones."""

_MARGIN = 1
_SIGNS = ((Look.CURRENT, ">"), (Look.PASSAGE, "|"))
"""What stands in the margin of a line that holds something; the first that applies."""

_PAUSE_S = 0.01
"""Between two pieces of a long text that are laid out; a key is answered meanwhile."""


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
        self._unfinished: Timer | None = None
        self._brush = (Style.null(), 0)
        """The style of text in which nothing stands out, and the cells of a line."""

    @property
    def text_width(self) -> int:
        """Cells of a line of text; 0 before the first layout."""
        room = self.scrollable_content_region.width - 2 * _MARGIN
        return max(min(room, MEASURE), 0)

    @property
    def percent(self) -> int:
        """How much of the text has been on the screen, from its start to the last line shown."""
        if self._laid is None:
            return 100
        shown = self.scroll_offset.y + self._height
        if self._laid.rest is None:
            done, whole = shown, len(self._laid.lines)
        else:
            last = min(shown, len(self._laid.lines)) - 1
            done, whole = self._laid.lines[max(last, 0)][1], len(self._marked_text.text)
        return 100 if done >= whole else max(100 * done // whole, 1)

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
        """Break the lines anew and keep the place."""
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
        """Update the pane after its lines were broken anew."""

    def overlays(self) -> Sequence[Layer]:
        """Return the spans that are highlighted besides those of the text itself."""
        return ()

    def style_of(self, look: Look) -> Style:
        """Return how a stretch of text is drawn."""
        return look_style(look)

    def draw_ahead(self, laid: LaidText) -> None:
        """Draw the first lines of a text that is to be shown, so that they need only be painted then."""
        if not self.overlays():
            self._take_brush(laid)
            for line in range(min(self._height, len(laid.lines))):
                laid.strips[line] = self._drawn(laid, line, ())

    def _take_brush(self, laid: LaidText) -> None:
        """Choose once, and not for each line, how lines are drawn; forget those drawn with other styles."""
        self._brush = (self.rich_style, self.scrollable_content_region.width)
        if laid.brush != self._brush:
            laid.brush = self._brush
            laid.strips.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines."""
        if self._laid is not None:
            self._take_brush(self._laid)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line, unless it was drawn before."""
        laid, line = self._laid, self.scroll_offset.y + y
        if laid is not None:
            laid.reach_line(line)
        if laid is None or not 0 <= line < len(laid.lines):
            return Strip.blank(self.scrollable_content_region.width, self.rich_style)
        if layers := self.overlays():
            return self._drawn(laid, line, layers)
        if line not in laid.strips:
            laid.strips[line] = self._drawn(laid, line, layers)
        return laid.strips[line]

    def _drawn(self, laid: LaidText, line: int, layers: Sequence[Layer]) -> Strip:
        base, width = self._brush
        pieces = [piece for piece in laid.pieces(line, layers) if piece[0]]
        signs = (sign for look, sign in _SIGNS if any(look in drawn for _, drawn in pieces))
        segments = [Segment(next(signs, " " * _MARGIN), base)]
        segments += [Segment(text, base + self.style_of(look)) for text, look in pieces]
        return Strip(segments).adjust_cell_length(width, base)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Post the new place to the screen; see `ScrollView.watch_scroll_y`."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_key(self, event: events.Key) -> None:
        """Scroll."""
        meaning = self.keys.meaning(event.key, event.character)
        if isinstance(meaning, Command) and meaning in SCROLLING:
            event.stop().prevent_default()
            self._scroll(meaning)

    def _scroll(self, command: Command) -> None:
        # One line of the page before stays in sight.
        page = max(self._height - 1, 1)
        if command is Command.TOP:
            self.scroll_home(animate=False, immediate=True)
        elif command is Command.BOTTOM:
            self._reach_line(None)
            self.scroll_end(animate=False, immediate=True)
        else:
            self._scroll_to_line(self.scroll_offset.y + steps(command, page))

    def _scroll_to_line(self, line: int) -> None:
        """Bring a line to the top, if there are enough below it."""
        self._reach_line(line + self._height)
        # Forced: the scrollbar of a text that has just been shown is not there yet.
        self.scroll_to(y=line, animate=False, immediate=True, force=True)

    def _reach_line(self, line: int | None) -> None:
        laid = self._laid
        if laid is None or laid.rest is None:
            return
        laid.reach_line(len(self._marked_text.text) if line is None else line)
        self._measure()

    def _lay_out(self) -> None:
        """Break the lines, once the width is known; those of a long text when there is time."""
        width = self.text_width
        if width == 0:
            return
        if self._laid is None:
            self._laid = lay_out(self._marked_text, width)
        self._measure()
        self.refresh()
        self._pause()
        if self._laid.rest is not None:
            # What is in sight is painted first.
            self.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        if self._unfinished is None:
            self._unfinished = self.set_interval(_PAUSE_S, self._lay_out_more)

    def _pause(self) -> None:
        """Leave the rest of a long text as it is."""
        if self._unfinished is not None:
            self._unfinished.stop()
            self._unfinished = None

    def _lay_out_more(self) -> None:
        laid = self._laid
        if laid is not None and laid.rest is not None:
            if not laid.advance():
                self._measure()
            return
        # Scrolling may have reached the end before.
        self._measure()
        if not self._marked_text.advance():
            self._pause()

    def _measure(self) -> None:
        if self._laid is not None:
            room = self.scrollable_content_region.width
            self.virtual_size = Size(room, self._laid.n_lines)

    def _line_of(self, place: int) -> int:
        return self._laid.line_of(place) if self._laid else 0

    def _top(self) -> int:
        """Return the place of the text that begins the first line in sight."""
        lines = self._laid.lines if self._laid else [(0, 0)]
        return lines[min(self.scroll_offset.y, len(lines) - 1)][0]

    def _bottom(self) -> int:
        """Return the place of the text after the last line in sight."""
        lines = self._laid.lines if self._laid else [(0, 0)]
        below = self.scroll_offset.y + self._height
        return lines[min(below, len(lines)) - 1][1]

    def _is_in_sight(self, place: int) -> bool:
        return 0 <= self._line_of(place) - self.scroll_offset.y < self._height

    def _bring_into_sight(self, start: int, end: int) -> None:
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
    """Return how a stretch of text is drawn: by what every terminal can do, colours apart.

    Examples
    --------
    >>> str(look_style(Look.HIT)), str(look_style(Look.OWN)), str(look_style(Look.COMMON))
    ('bold underline', 'bold italic', 'underline')
    >>> str(look_style(Look.CURRENT | Look.HIT)), str(look_style(Look.SELECTED | Look.HIT))
    ('bold underline reverse', 'bold underline reverse')
    """
    is_underlined = look & (Look.HIT | Look.FOUND | Look.COMMON)
    return Style(
        bold=bool(look & (Look.HIT | Look.OWN | Look.FOUND | Look.CURRENT | Look.STRONG | Look.HERE)) or None,
        # "You are here", and nothing else.
        reverse=bool(look & (Look.CURRENT | Look.SELECTED | Look.HERE)) or None,
        underline=bool(is_underlined) or None,
        italic=bool(look & (Look.PASSAGE | Look.OWN)) or None,
    )
