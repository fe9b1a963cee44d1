"""Stories of the full screen: an app on a judge's desk, keys, and what the judge sees."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from judge_ui.screens.app import JudgeApp
from judge_ui.screens.document import DocumentScreen
from judge_ui.session.keys import Keymap
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from store.records import Judgement


@asynccontextmanager
async def judging(
    collection: Collection,
    *,
    topic: str | None = "12",
    size: tuple[int, int] = (80, 24),
    judge: str = "alice",
    briefed: bool = True,
    keymap: Keymap | None = None,
    **options: Any,
) -> AsyncIterator[Pilot[None]]:
    """Run the app on a judge's desk, a topic open or not, its briefing read or not."""
    options = {"min_dwell": 0.0} | options
    session = JudgingSession(collection.desk(judge), **options)
    if topic is not None:
        session.open_topic(topic)
        session.needs_briefing = session.needs_briefing and not briefed
    async with JudgeApp(session, keymap).run_test(size=size) as pilot:
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


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as a person does, each when the screen is ready."""
    for key in keys:
        type_ahead(pilot, key)
        await settle(pilot)


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
    character = {"space": " "}.get(key, key if len(key) == 1 else None)
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
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock of a collection, as another process would."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
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
