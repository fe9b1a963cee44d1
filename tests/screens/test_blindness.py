"""Judges who share every document see no trace of each other, nor of the runs.

A judge's whole sitting is held twice: in a collection where another judge has done everything, and
in its twin where nobody has. Everything that comes to the judge must be the same.
"""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from textual.pilot import Pilot
from textual.widgets import Input

from judge_ui.plain import run_plain
from judge_ui.screens.app import JudgeApp
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.errors import PoolerError
from store.records import Passage
from tests.helpers.twin_worlds import OTHER_ID, PLACES, SECRET_NUMBERS, SECRETS, World, make_world
from tests.screens.conftest import Clock
from tests.screens.sitting import rows, settle, type_ahead

pytestmark = pytest.mark.slow


MOMENT = re.compile(r"datetime\.datetime\([^)]*\)|\b\d\d:\d\d(:\d\d)?\b|\d{4}-\d\d-\d\d")
FORBIDDEN_TABLES = {"run", "ranking", "pool_run", "collection"}
FORBIDDEN_WORDS = re.compile(
    r"\b(manifest|scores?|ranks?|priority|stratum|inclusion_probability|purpose|contributes|tag)\b"
)
TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+\"?(\w+)")


class Listener:
    """Keeps the statements that a judge's session sends, and those of nobody else."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.is_on = True

    def note(self, _c: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if self.is_on:
            self.sent.append((statement, parameters))


@contextmanager
def listening() -> Iterator[Listener]:
    """Listen to every statement."""
    listener = Listener()
    event.listen(Engine, "before_cursor_execute", listener.note)
    try:
        yield listener
    finally:
        event.remove(Engine, "before_cursor_execute", listener.note)


def bobs_sitting(world: World, listener: Listener) -> list[str]:
    """Let bob do everything that a session can do; return all that came of it, in words."""
    clock, said = Clock(), []

    class Unheard:
        """Draws as the program does: choosing the next document is not the judge's sight."""

        def draw(self, topic: str) -> bool:
            assert world.drawing is not None
            listener.is_on = False
            try:
                return world.drawing.draw(topic)
            finally:
                listener.is_on = True

    desk = world.collection.desk("bob", program="x")
    drawing = Unheard() if world.drawing is not None else None
    session = JudgingSession(desk, clock=clock, drawing=drawing)

    def hear(what: str, value: object) -> None:
        said.append(f"{what}: {value!r}")

    def ask(*asks: Callable[[], object]) -> None:
        for one in asks:
            try:
                hear("answer", one())
            except PoolerError as error:
                hear("error", (error.message, error.hint))
        hear("tasks", session.tasks)
        hear("standing", (session.index, session.progress, session.pending, session.conflict))

    def look() -> None:
        session.mark_shown()
        clock.wait(2)
        ask(
            session.desk.inbox,
            session.page,
            session.page_ahead,
            session.desk.events,
            session.events_here,
            session.desk.guidelines,
            session.desk.live_elsewhere,
            session.forecast,
            lambda: [session.places(one) for one in Filter],
            lambda: session.places(1),
            lambda: session.own_terms,
            lambda: session.needs_briefing,
        )

    ask(session.desk.inbox, lambda: session.open_topic("9"), lambda: session.open_topic("1"))
    look()
    ask(lambda: session.grade(1), session.undo, session.redo, session.undo)
    look()
    ask(lambda: session.note("mine"), lambda: session.mark([Passage(5, 2, "of")]))
    look()
    ask(lambda: session.grade(0))
    look()
    ask(session.skip)
    look()
    ask(lambda: session.cannot("no"))
    look()
    ask(lambda: session.set_own_terms("mine"), session.beat)
    # The same judge elsewhere: a conflict tells of oneself alone.
    elsewhere = JudgingSession(world.collection.desk("bob", program="x"), clock=clock)
    ask(lambda: elsewhere.open_topic("1"), elsewhere.desk.live_elsewhere)
    assert session.task is not None
    place = next(n for n, one in enumerate(elsewhere.tasks) if one.docno == session.task.docno)
    elsewhere.go_to(place)
    elsewhere.mark_shown()
    session.mark_shown()
    clock.wait(2)
    ask(lambda: elsewhere.grade(0))
    result = session.grade(1)
    assert result.outcome is KeyOutcome.CONFLICT
    hear("conflict", (result, session.conflict))
    ask(session.replace_theirs, session.desk.live_elsewhere)
    while not session.is_complete:
        look()
        ask(lambda: session.grade(1))
        if skipped := session.places(Filter.SKIPPED):
            session.go_to(skipped[0])
            look()
            ask(lambda: session.grade(0))
    look()
    ask(session.go_next, session.go_previous, session.undo)
    look()
    ask(elsewhere.desk.leave, session.desk.leave, session.desk.inbox, desk.recent_active_ms)
    return [MOMENT.sub("<moment>", one) for one in said]


def bobs_lines(world: World) -> str:
    """Let bob give every answer of the line mode; return what was printed."""
    answers = (
        "topics", "1", "?", "/", "", "/ title", "0", "e a note", "2", "u", "s", "c 1", "n", "1", "1",
        "1", "1", "d", "0", "y", "nonsense", "topics", "q",
    )  # fmt: skip
    session = JudgingSession(world.collection.desk("bob"), min_dwell=0, drawing=world.drawing)
    write = io.StringIO()
    run_plain(session, io.StringIO("\n".join(answers) + "\n"), write)
    session.desk.leave()
    return MOMENT.sub("<moment>", write.getvalue())


KEYS = (
    "enter", "enter", "t", "escape", "h", "escape", "?", "escape", "l", "escape", "y", "escape",
    "1", "u", "ctrl+r", "u", "0", "s", "c", "1", "e", "escape", "n", "p", "1", "w", "escape", "v",
    "escape", "ctrl+p", "escape", "y", "escape", "l", "escape", "1", "1", "1", "1", "1", "1",
    "escape", "escape",
)  # fmt: skip


async def bobs_screens(world: World, *, size: tuple[int, int]) -> list[str]:
    """Let bob press every key; return every screen."""
    session = JudgingSession(world.collection.desk("bob"), min_dwell=0, clock=Clock(), drawing=world.drawing)
    screens = []
    app = JudgeApp(session)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in KEYS:
            screens.append(f"{key}\n" + screen(pilot))
            type_ahead(pilot, key)
            await settle(pilot)
            await pilot.app.workers.wait_for_complete()
            if not pilot.app.is_running:
                break
            await settle(pilot)  # what a worker found may have come after the first
        screens.append(screen(pilot))
    session.desk.leave()
    return screens


def screen(pilot: Pilot[None]) -> str:
    """Return what the screen shows, without the time of day."""
    shown = "\n".join(rows(pilot))
    for field in pilot.app.screen.query(Input):
        shown += f"\n{field.value} {field.placeholder}"
    return MOMENT.sub("<moment>", shown)


def check_statements(name: str, sent: list[tuple[str, Any]]) -> None:
    """See that no statement names what is secret, or gives anything of the other judge.

    Each is sent once more, after all is done, and every value of its answer is looked at.
    """
    assert len(sent) > 100
    with closing(sqlite3.connect(name)) as connection:
        different = {(statement, repr(parameters)): parameters for statement, parameters in sent}
        for (statement, words), parameters in different.items():
            assert not FORBIDDEN_WORDS.search(statement), statement
            named = set(TABLES.findall(statement))
            assert not named & FORBIDDEN_TABLES, statement
            reads = len(re.findall(r"(?:FROM|JOIN) judgement\b", statement))
            own = len(re.findall(r"judge_id (?:=|IN) ", statement))
            assert reads <= own, statement
            assert not re.search(rf"\b{OTHER_ID}\b", words), statement
            if statement.lstrip().upper().startswith(("SELECT", "WITH")):
                for row in connection.execute(statement, parameters):
                    for value in row:
                        check_value(statement, value)


def check_value(statement: str, value: object) -> None:
    """See that a value that a statement gave is none of the other judge's."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        assert not SECRETS.search(value), (statement, value)
    assert value not in SECRET_NUMBERS, (statement, value)


@pytest.mark.parametrize("places", PLACES)
def test_sitting_is_the_same_whatever_the_other_judge_did(tmp_path: Path, places: str) -> None:
    """Every value that comes to bob is what it would be if he were alone, and so is all SQL."""
    heard, sent = [], []
    for other in (True, False):
        world = make_world(tmp_path / str(other), places=places, other=other)
        with listening() as listener, world.collection:
            heard.append(bobs_sitting(world, listener))
            sent.append(listener.sent)
        check_statements(world.name, listener.sent)
    assert heard[0] == heard[1]
    assert [one for one, _ in sent[0]] == [one for one, _ in sent[1]]
    text = "\n".join(heard[0])
    assert not SECRETS.search(text)
    assert "Title a" in text, "the story was told"


def test_adaptive_sitting_says_nothing_of_the_other_judge(tmp_path: Path) -> None:
    """What the other judge's grades drew is all that bob has of them: documents, and no grade."""
    for other in (True, False):
        world = make_world(tmp_path / str(other), places="none", other=other, adaptive=True)
        with listening() as listener, world.collection:
            heard = "\n".join(bobs_sitting(world, listener))
        check_statements(world.name, listener.sent)
        assert not SECRETS.search(heard)
        assert "Title a" in heard


@pytest.mark.parametrize("places", PLACES)
def test_line_mode_prints_the_same_whatever_the_other_judge_did(tmp_path: Path, places: str) -> None:
    """Line for line, bob's terminal is what it would be if he were alone."""
    printed = []
    for other in (True, False):
        world = make_world(tmp_path / str(other), places=places, other=other)
        with world.collection:
            printed.append(bobs_lines(world))
    assert printed[0] == printed[1]
    assert not SECRETS.search(printed[0])
    assert "Title f" in printed[0], "the story was told to the end"


async def test_screens_are_the_same_whatever_the_other_judge_did(tmp_path: Path) -> None:
    """Key for key, every screen is what it would be if bob were alone, where most depends on the other."""
    shown = []
    for other in (True, False):
        world = make_world(tmp_path / str(other), places="claimed", other=other)
        with world.collection:
            shown.append(await bobs_screens(world, size=(100, 30)))
    for mine, alone in zip(*shown, strict=True):
        assert mine == alone
        assert not SECRETS.search(mine)
    assert any("Title a" in one for one in shown[0]), "the story was told"
    assert len(set(shown[0])) > 15


async def test_screens_of_an_adaptive_pool_say_nothing_of_the_other_judge(tmp_path: Path) -> None:
    """No screen has another judge's word, nor a run's."""
    world = make_world(tmp_path / "c", places="none", other=True, adaptive=True)
    with world.collection:
        shown = await bobs_screens(world, size=(80, 24))
    assert not SECRETS.search("\n".join(shown))
    assert any("Title a" in one for one in shown)
