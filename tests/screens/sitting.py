"""Judges at work in tests: the full screen, a pane alone, the line mode."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from rich.style import Style
from textual import events, on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

import judge_ui
from judge_ui.plain import run_plain
from judge_ui.screens.app import JudgeApp
from judge_ui.screens.document import DocumentScreen
from judge_ui.session.keys import key_table
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.laid_out import MarkedText
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from store.records import Judgement
from tests.helpers.world import parse_scale


@asynccontextmanager
async def judging(
    collection: Collection,
    *,
    topic: str | None = "12",
    size: tuple[int, int] = (80, 24),
    judge: str = "alice",
    briefed: bool = True,
    **options: Any,
) -> AsyncIterator[Pilot[None]]:
    """Run the app on a judge's desk, a topic open or not, its briefing read or not."""
    options = {"min_dwell": 0.0} | options
    session = JudgingSession(collection.desk(judge), **options)
    if topic is not None:
        session.open_topic(topic)
        session.needs_briefing = session.needs_briefing and not briefed
    async with JudgeApp(session).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot
    session.desk.leave()


async def settle(pilot: Pilot[None]) -> None:
    """Wait until everything is handled and a document that is to be shown has been painted."""
    for _ in range(50):
        await pilot.pause()
        screen = pilot.app.screen
        if not isinstance(screen, DocumentScreen) or screen._session._dwell.ms is not None:
            break
        if screen._is_too_small:
            break
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> str:
    """Press keys as a person does, each when the screen is ready; return what is `seen` then."""
    for key in keys:
        type_ahead(pilot, key)
        await settle(pilot)
    return seen(pilot)


async def enter(pilot: Pilot[None], text: str) -> None:
    """Type into the field that has the focus, in one go, and press Enter."""
    notes = pilot.app.screen.query(NoteField)
    if notes:
        notes.first().text = text
    else:
        pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


def typed(key: str) -> events.Key:
    """Make the event of a key pressed now, to be delivered when a screen has changed meanwhile."""
    # What the terminal's driver sends; `Pilot.press` waits several times for each key.
    special = {"space": " ", "enter": "\r", "escape": "\x1b"}
    character = special.get(key, key if len(key) == 1 else None)
    return events.Key(key, character)


def type_ahead(pilot: Pilot[None], *keys: str) -> None:
    """Press keys faster than anything can be painted, as a slow line delivers them."""
    for key in keys:
        pilot.app.post_message(typed(key))


def rows(pilot: Pilot[None]) -> list[str]:
    """Return what the screen shows, line by line."""
    return [strip.text for strip in strips(pilot)]


def strips(pilot: Pilot[None]) -> list[Strip]:
    """Return what the screen shows, with its attributes."""
    return pilot.app.screen._compositor.render_strips()


def seen(pilot: Pilot[None]) -> str:
    """Return what the screen shows as one text, blanks and line ends as one blank each."""
    return " ".join(" ".join(rows(pilot)).split())


def stored(collection: Collection, judge: str = "alice") -> dict[str, Judgement]:
    """Return a judge's judgements by docno."""
    return {judgement.docno: judgement for judgement in collection.judgements.current([judge])}


@contextmanager
def locked(collection: Collection) -> Iterator[None]:
    """Hold the write lock of a collection, as another process would."""
    collection._db.engine.dispose()
    with closing(sqlite3.connect(collection.where, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def read_pane(pilot: Pilot[None]) -> list[str]:
    """Scroll through the document and return its lines as they were painted."""
    pane = pilot.app.screen.query_one(DocumentPane)
    await press(pilot, "g")
    lines: list[str] = []
    n_lines = pane.virtual_size.height
    while len(lines) < n_lines:
        height = pane.size.height
        top = pane.scroll_offset.y
        shown = [pane.render_line(y).text for y in range(height)]
        lines += shown[len(lines) - top :][: n_lines - len(lines)]
        await press(pilot, "space")
    return lines


class Host(App[None]):
    """Shows one document, and keeps what its pane says."""

    CSS_PATH = Path(judge_ui.__file__).parent / "screens" / "judge_ui.tcss"

    def __init__(self, marked_text: MarkedText, scale: str) -> None:
        super().__init__(ansi_color=True)
        self.pane = DocumentPane(key_table(parse_scale(scale)), marked_text)
        self.said: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.focus()

    @on(DocumentPane.Pressed)
    @on(DocumentPane.Marked)
    @on(DocumentPane.MarkingChanged)
    def _keep(self, message: Message) -> None:
        self.said.append(message)


class Shown:
    """A pane on a screen."""

    def __init__(self, host: Host, pilot: Pilot[None]) -> None:
        self.pane = host.pane
        self.said = host.said
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        for key in keys:
            type_ahead(self.pilot, key)
            await self.pilot.pause()

    async def resize(self, width: int, height: int) -> None:
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


Step = str | Callable[[], Any]
"""An answer, or something that happens before the next one is read."""


class Typist(io.StringIO):
    """Gives answers one by one, as from a terminal or from a file."""

    def __init__(self, steps: tuple[Step, ...], *, is_terminal: bool) -> None:
        super().__init__()
        self._steps = list(steps)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def readline(self, *_: Any) -> str:
        while self._steps:
            step = self._steps.pop(0)
            if isinstance(step, str):
                return f"{step}\n"
            step()
        return ""


def sit(
    collection: Collection,
    *steps: Step,
    topic: str | None = "12",
    typed: bool = False,
    judge: str = "alice",
    **options: Any,
) -> str:
    """Let a judge answer in line mode, `typed` at a terminal or not; return everything that was printed."""
    session = JudgingSession(collection.desk(judge), **{"min_dwell": 0, "quick": 0} | options)
    if topic is not None:
        session.open_topic(topic)
    write = io.StringIO()
    run_plain(session, Typist(steps, is_terminal=typed), write)
    session.desk.leave()
    return write.getvalue()


def after(printed: str, answer: int) -> str:
    """Return what was printed after an answer, counted from 0 and without it, to the next one."""
    return printed.split(" > ")[answer + 1]


def elsewhere(collection: Collection, value: int) -> JudgingSession:
    """Let alice grade the first document of topic 12 at another desk; the sitting goes on."""
    other = JudgingSession(collection.desk("alice"), min_dwell=0)
    other.open_topic("12")
    other.go_to(0)
    other.mark_shown()
    other.grade(value)
    return other
