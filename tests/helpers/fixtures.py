"""Fixtures of the command line: in process, as a process, and collections to use it on."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import PAGE, SETTINGS, Cli, Outcome, Terminal, copy_garden, run, write

DOCNOS = [f"d{number}" for number in range(8)]
START = datetime(2026, 1, 1, tzinfo=UTC)


def judge_topic(name: str, topic: str, grades: list[int], seconds: list[float]) -> None:
    """Grade the documents of a topic in turn; the second one first otherwise, taken back."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        desk.queue(topic)
        for number, (grade, active) in enumerate(zip(grades, seconds, strict=True)):
            seen = 0
            if number == 1:
                decide(topic, 1, 0, 3.0, desk, 0)
                desk.undo()
                seen = 2
            decide(topic, number, grade, active, desk, seen)
        desk.leave()


def decide(topic: str, number: int, grade: int, active: float, desk: object, seen: int) -> None:
    """Record one grade."""
    decision = Decision(
        topic,
        DOCNOS[number],
        Action.JUDGE,
        grade=grade,
        seen_revision=seen,
        shown_at=START + timedelta(minutes=number, seconds=seen),
        active_ms=round(active * 1000),
        dwell_ms=round(active * 1000) + 250,
        dropped_keys=int(number == 3),
    )
    desk.record(decision)  # type: ignore[attr-defined]  # a desk


def made_once(fixture: Callable[..., Path]) -> Callable[..., Path]:
    """Let a fixture fill the folder it works in once; later in this process it gets a copy of that."""
    kept: list[Path] = []

    @wraps(fixture)
    def fill(**given: Any) -> Path:
        folder = Path.cwd()
        if kept:
            shutil.copytree(kept[0], folder, dirs_exist_ok=True)
        else:
            assert fixture(**given) == folder
            kept.append(Path(tempfile.mkdtemp(dir=folder.parent)))
            shutil.copytree(folder, kept[0], dirs_exist_ok=True)
        return folder

    return fill


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no setting of the user's."""
    monkeypatch.chdir(tmp_path)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def cli(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """Give a function that runs the command line in this process, in the folder `here`."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(int(code), captured.out, captured.err)

    yield call
    capsys.readouterr()


@pytest.fixture
def on_terminal(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[[Callable[[], object]], list[str]]:
    """Give a function that returns the lines that another one shows on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", str(getattr(request, "param", PAGE)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(show: Callable[[], object]) -> list[str]:
        terminal = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            show()
        return [line.rstrip() for line in terminal.getvalue().splitlines()]

    return call


@pytest.fixture
def garden(here: Path) -> Path:
    """Work in a copy of the sample collection, not imported yet."""
    copy_garden(here)
    return here


@pytest.fixture
def judged(here: Path, imported_garden: Path) -> Path:
    """Work in a copy of the sample collection with `collection.db` in it."""
    shutil.copytree(imported_garden, here, dirs_exist_ok=True)
    return here


@pytest.fixture
def collection_of(cli: Cli, here: Path) -> Callable[..., None]:
    """Give a function that makes `collection.db` with a scale and imports judges' qrels lines."""

    def make(scale: str = "0-2", /, **judges: list[str]) -> None:
        cli("init", "--scale", scale).fine()
        for judge, lines in judges.items():
            path = here / f"{judge}.qrels"
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
            cli("import", "judgements", path, "--judge", judge).fine()

    return make


@pytest.fixture
@made_once
def worked(cli: Cli, here: Path) -> Path:
    """Work beside a collection judged by anna with times, by gpt from a file, and not by ben."""
    cli("init").fine()
    write(here / "x.run", *[f"{t} Q0 {d} 1 {-n} x" for t in "12" for n, d in enumerate(DOCNOS)])
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna", "ben").fine()
    write(here / "q", "1 0 d0 1", "1 0 d1 2")
    cli("import", "judgements", "q", "--judge", "gpt", "--kind", "model").fine()
    # Grades 2 2 1 1 1 0 0 0 of both topics; the dwell is 0.25 s longer than the active time.
    for topic, first in (("1", 8), ("2", 20)):
        judge_topic("anna", topic, [2, 2, 1, 1, 1, 0, 0, 0], [first, 7, 6, 5, 4, 3, 2, 0.5])
    return here
