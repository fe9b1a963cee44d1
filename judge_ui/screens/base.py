"""What screens have in common: a title over them and hints below them; a page of text; a way out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget

from judge_ui.session.keys import Command, KeyTable
from judge_ui.widgets.laid_out import MarkedText
from judge_ui.widgets.lines import Hint, Hints, Notice, TitleBar
from judge_ui.widgets.text_pane import TextPane
from store.records import Scale

Answer = TypeVar("Answer")


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


LEAST_WIDTH, LEAST_HEIGHT = 40, 10


class TooSmall(Widget):
    """Says so; the style sheet shows it when the screen has class ``-tiny`` or ``-flat``."""

    def render(self) -> Content:
        need = f"{LEAST_WIDTH} columns and {LEAST_HEIGHT} rows"
        return Content(f"terminal too small\nneeded: {need}\nctrl+q quits")


class LeftOnce(Screen[ScreenResultType]):
    """A screen that goes only while it is the one that is seen.

    On a busy machine a key may come when the one before has put another screen over it, or ended it.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class WorkScreen(LeftOnce[ScreenResultType]):
    """A screen under a title and over hints, unless the terminal is too small for it."""

    def __init__(
        self,
        keys: KeyTable,
        title: str = "",
        right: str | Sequence[str] = "",
        *,
        scale: Scale | None = None,
        folds: bool = False,
    ) -> None:
        super().__init__()
        self._keys = keys
        self._title_bar = TitleBar(title, right, folds=folds, id="topic-bar")
        self._hint_lines = Hints(keys, scale)

    def compose(self) -> ComposeResult:
        yield TooSmall()
        with Vertical(id="work"):
            yield self._title_bar
            yield from self.compose_work()
            yield self._hint_lines

    def compose_work(self) -> ComposeResult:
        """Yield the widgets between the title and the hints."""
        yield from ()

    def ask(self, screen: Screen[Answer | None], then: Callable[[Answer], object]) -> None:
        """Put another screen before this one, and take its answer if it gives one."""

        def answered(answer: Answer | None) -> None:
            if answer is not None:
                then(answer)

        self.app.push_screen(screen, answered)

    def shows_help(self, event: events.Key, page: Callable[[str, Sequence[Hint]], Screen[bool]]) -> bool:
        """Show the keys of this screen, a page made of its title and hints, if a key asks for it."""
        is_asked = self._keys.meaning(event.key, event.character) is Command.HELP
        if is_asked:
            event.stop().prevent_default()
            self.app.push_screen(page(self._title_bar.left, self._hint_lines.special))
        return is_asked

    def show_foot(self, hints: Sequence[Hint], status: Notice | None = None) -> None:
        """Show what the keys do, and the messages."""
        self._hint_lines.show(None, status or Notice(), hints)


class TextScreen(WaitsForPaint, WorkScreen[ScreenResultType]):
    """A page of text, or of what is written for a width in cells; its hints come when its keys work."""

    AUTO_FOCUS = "TextPane"

    def __init__(
        self,
        keys: KeyTable,
        title: str,
        right: str | Sequence[str],
        marked_text: MarkedText | Callable[[int], MarkedText],
        hints: Sequence[Hint],
    ) -> None:
        super().__init__(keys, title, right)
        self._write = None if isinstance(marked_text, MarkedText) else marked_text
        self._pane = TextPane(keys, marked_text if isinstance(marked_text, MarkedText) else None, id="page")
        self._hints = hints
        self._width = 0

    def compose_work(self) -> ComposeResult:
        yield self._pane

    def on_text_pane_scrolled(self) -> None:
        """Write the text for the width there is, and show how far it has been read."""
        if self._write is not None and self._pane.text_width != self._width:
            self._width = self._pane.text_width
            self._pane.show(self._write(self._width))
        self.begin()

    def begin(self) -> None:
        """Show what the keys do."""
        if self.has_begun:
            self.show_foot(self._hints, Notice(f"{self._pane.percent}%"))


# The modal screen stands first: Textual takes the styles of the first class alone.
class Question(ModalScreen[ScreenResultType], LeftOnce[ScreenResultType]):
    """A question at the foot."""


class Dialog(Question[ScreenResultType]):
    """A question that Escape leaves, with ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Back")]
