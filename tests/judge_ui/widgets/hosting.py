"""A tiny app around one pane, and ways to look at what it draws."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

import judge_ui
from judge_ui.session.keys import key_table
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.laid_out import MarkedText
from tests.helpers.world import parse_scale


class Host(App[None]):
    """Shows one document, and keeps what its pane says."""

    CSS_PATH = Path(judge_ui.__file__).parent / "screens" / "judge_ui.tcss"

    def __init__(self, marked_text: MarkedText, scale: str) -> None:
        super().__init__(ansi_color=True)
        self.pane = DocumentPane(key_table(parse_scale(scale)), marked_text)
        self.said: list[Message] = []

    def compose(self) -> ComposeResult:
        """Give the pane the whole screen."""
        yield self.pane

    def on_mount(self) -> None:
        """Give it the keys."""
        self.pane.focus()

    def on_document_pane_pressed(self, message: DocumentPane.Pressed) -> None:
        """Keep it."""
        self.said.append(message)

    def on_document_pane_marked(self, message: DocumentPane.Marked) -> None:
        """Keep it."""
        self.said.append(message)

    def on_document_pane_marking_changed(self, message: DocumentPane.MarkingChanged) -> None:
        """Keep it."""
        self.said.append(message)


class Shown:
    """A pane on a screen."""

    def __init__(self, host: Host, pilot: Pilot[None]) -> None:
        self.pane = host.pane
        self.said = host.said
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, each when the screen is ready."""
        for key in keys:
            # What the terminal's driver sends; `Pilot.press` waits several times for each key.
            special = {"space": " ", "enter": "\r", "escape": "\x1b"}
            character = special.get(key, key if len(key) == 1 else None)
            self.pilot.app.post_message(events.Key(key, character))
            await self.pilot.pause()

    async def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        await self.pilot.resize_terminal(width, height)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds; a test that waits in vain fails after some seconds."""
        for _ in range(500):
            if condition():
                return
            await self.pilot.pause(0.01)
        assert condition()

    def lines(self) -> list[str]:
        """Return the lines in sight without the margin."""
        strips = [self.pane.render_line(y) for y in range(self.pane.size.height)]
        return [strip.text[1:].rstrip(" ") for strip in strips]

    def signs(self) -> str:
        """Return what stands in the margin, line by line; a blank as a point."""
        strips = [self.pane.render_line(y) for y in range(self.pane.size.height)]
        return "".join(strip.text[0] for strip in strips).replace(" ", ".")

    def stretches(self) -> list[tuple[str, Style]]:
        """Return the stretches of text in sight, and how each is drawn."""
        return [
            (segment.text, segment.style or Style.null())
            for y in range(self.pane.size.height)
            for segment in list(self.pane.render_line(y))[1:]
        ]

    def drawn(self, **attributes: bool) -> list[str]:
        """Return the stretches in sight that have these attributes and perhaps others."""
        return [
            text
            for text, style in self.stretches()
            if text.strip() and all(bool(getattr(style, name)) == value for name, value in attributes.items())
        ]


@asynccontextmanager
async def showing(
    marked_text: MarkedText, size: tuple[int, int] = (40, 10), scale: str = "0-3"
) -> AsyncIterator[Shown]:
    """Show a text on a terminal of a size."""
    host = Host(marked_text, scale)
    async with host.run_test(size=size) as pilot:
        await pilot.pause()
        yield Shown(host, pilot)
