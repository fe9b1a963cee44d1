"""Ctrl-C and `kill` at any moment, on every command that writes: all of it, or nothing."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from pooler.interrupts import Interrupted, Terminated
from tests.helpers.gallery import EXAMPLES, plant
from tests.helpers.run import environment, run_inside, write

pytestmark = pytest.mark.slow

START = (
    "import signal; from pooler.cli import main; process = main._run_process\n"
    "def heard():\n"
    "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])\n"
    "    return process()\n"
    "main._run_process = heard; main.main()"
)
"""What comes before is Python's own start, which acts on signals as Python does."""
CODES = {signal.SIGINT: Interrupted.code, signal.SIGTERM: Terminated.code}
WRITING = {one.line: one for one in EXAMPLES if "--port" not in one.options}
"""The examples of all commands, by the line that help shows."""
STEPWISE = ("pooler import runs ", "pooler demo ", "pooler ask ")
"""What they finished before the interrupt stays."""
IMPORTS = "import judgements judgements/strict.qrels --judge another --kind model"
N_RUNS = 20
"""Files of an import that is interrupted."""
FAST = [name for name in WRITING if "import docs" in name or "export collection" in name]


@dataclass(frozen=True, slots=True)
class Ended:
    """How an interrupted process ended, and what is there afterwards."""

    code: int
    said: str
    files: dict[str, int]
    rows: dict[str, int]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the garden in which every example runs."""
    folder = tmp_path_factory.mktemp("prepared") / "garden"
    plant(folder)
    return folder


def press(prepared: Path, folder: Path, name: str, number: signal.Signals, *after_s: float) -> Ended:
    """Run a command in a copy of the folder; send it a signal after each so many seconds."""
    shutil.copytree(prepared, folder)
    return run_and_press(folder, shlex.join(WRITING[name].words(folder)), number, *after_s)


def run_and_press(folder: Path, command: str, number: signal.Signals, *after_s: float) -> Ended:
    """Run a command in a folder; send it a signal after each so many seconds."""
    with running(folder, command) as process:
        began = time.monotonic()
        for moment in after_s:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            # As a terminal does: to the workers, too.
            if process.poll() is None:
                os.killpg(process.pid, number)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        said = process.stderr.read().decode()
    return Ended(process.returncode, said, files_of(folder), rows_of(folder / "collection.db"))


def running(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """Start a command; signals are held back until it can act on them, however slow its start."""
    held = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        return subprocess.Popen(
            [sys.executable, "-c", START, *shlex.split(command)],
            cwd=folder,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def files_of(folder: Path) -> dict[str, int]:
    """Return the files by name, but for those that SQLite makes and removes; sizes of results."""
    return {
        path.relative_to(folder).as_posix(): 0 if path.suffix == ".db" else path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def rows_of(file: Path) -> dict[str, int]:
    """Return the number of rows of every table."""
    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]  # fmt: skip
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for name in names}  # fmt: skip


@pytest.fixture(scope="session")
def whole(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Ended, float]]:
    """Give a function that runs a command to its end: what is there then, and the time it took."""
    known: dict[str, tuple[Ended, float]] = {}

    def run_through(name: str) -> tuple[Ended, float]:
        if name not in known:
            folder = tmp_path_factory.mktemp("whole") / "garden"
            began = time.monotonic()
            ended = press(prepared, folder, name, signal.SIGINT)
            known[name] = ended, time.monotonic() - began
        return known[name]

    return run_through


def check(name: str, ended: Ended, prepared: Path, complete: Ended, number: int, at: str) -> None:
    """Assert that a command which was interrupted left all or nothing, and said so in a line."""
    before, rows_before = files_of(prepared), rows_of(prepared / "collection.db")
    where = f"{name}, signal {number} {at}: {ended.said}"
    assert ended.code in (complete.code, CODES[signal.Signals(number)]), where
    if ended.code == complete.code:
        assert (ended.files, ended.rows) == (complete.files, complete.rows), where
        return
    lines = [line for line in ended.said.splitlines() if line.startswith("interrupted")]
    assert len(lines) == 1, where
    assert "Traceback" not in ended.said, where
    assert "nothing was saved" not in lines[0] or ended.rows == rows_before, where
    assert "ignored" not in ended.said, where
    new = ended.files.items() - before.items()
    if name.startswith(STEPWISE):
        assert not [path for path in ended.files if "part" in path or "/.pooler" in path], where
        assert all(rows_before[table] <= n <= complete.rows[table]
                   for table, n in ended.rows.items()), where  # fmt: skip
        return
    assert new <= complete.files.items() - before.items(), where
    assert ended.rows in (rows_before, complete.rows), where


@pytest.mark.parametrize("name", FAST)
def test_interrupt_in_the_middle_leaves_all_or_nothing(
    name: str, prepared: Path, whole: Callable[[str], tuple[Ended, float]], tmp_path: Path
) -> None:
    """Ctrl-C is exit code 130, one line, and no half of anything; pressed twice it is the same."""
    complete, took_s = whole(name)
    assert complete.code == 0, complete.said
    moment = took_s * 0.7
    ended = press(prepared, tmp_path / "g", name, signal.SIGINT, moment, moment + 0.03)
    check(name, ended, prepared, complete, signal.SIGINT, f"at {moment:.3f} s")


@pytest.mark.slow
def test_import_that_was_interrupted_goes_on_where_it_stopped(prepared: Path, tmp_path: Path) -> None:
    """Run files that are in stay; called again, `import runs` skips them and takes the rest."""
    folder = tmp_path / "g"
    shutil.copytree(prepared, folder)
    for run in range(N_RUNS):
        write(folder / f"{run}.run", *(f"G01 Q0 d{n} 0 {-n} r{run}" for n in range(5000)))
    names = " ".join(f"{run}.run" for run in range(N_RUNS))
    n_before = rows_of(folder / "collection.db")["run"]
    with running(folder, f"import runs {names}") as process:
        patience = time.monotonic() + 60
        while rows_of(folder / "collection.db")["run"] == n_before:
            assert time.monotonic() < patience
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
    assert process.returncode == Interrupted.code
    n_in = rows_of(folder / "collection.db")["run"] - n_before
    assert 0 < n_in < N_RUNS
    again = run_and_press(folder, f"import runs {names}", signal.SIGINT)
    assert again.code == 0
    assert f"{N_RUNS - n_in} added, {n_in} already there" in again.said


@pytest.mark.parametrize("kind", ["destructor", "module lock", "attribute name", "half a module"])
def test_interrupt_that_python_loses_is_raised_again(kind: str, tmp_path: Path) -> None:
    """Where Python reports an exception, or makes another of it, Ctrl-C still ends the command."""
    here = {
        "destructor": "class Odd:\n    def __del__(self): signal.raise_signal(signal.SIGINT); f()\nOdd()",
        "module lock": "class Odd: pass\nodd = Odd()\n"
        "kept = weakref.ref(odd, lambda _: (signal.raise_signal(signal.SIGINT), f()))\ndel odd",
        "attribute name": "class Odd:\n"
        "    def __set_name__(self, *_): signal.raise_signal(signal.SIGINT); f()\n"
        "type('Named', (), {'odd': Odd()})",
        "half a module": "import logging\ndel logging.disable\nsignal.raise_signal(signal.SIGINT); f()",
    }[kind]
    code = (
        "import signal, sys, time, weakref\nfrom pooler import interrupts\nfrom pooler.cli import main\n"
        "def f(): return 1\n"
        "def work():\n    exec(ODD)\n    time.sleep(30)\n    return 0\n"
        f"ODD = {here!r}\n"
        "interrupts.catch_interrupts()\nsys.exit(main._until_interrupted(work))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        timeout=25,
        check=False,
    )
    assert (ran.returncode, ran.stderr.decode().count("\n")) == (130, 1), ran.stderr.decode()


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("kill(); commit(self)", "nothing was saved; what was in progress is undone"),
        ("commit(self); kill()", "what was saved stays; nothing was in progress"),
    ],
)
def test_what_is_said_around_a_commit_is_true(moment: str, said: str, prepared: Path, tmp_path: Path) -> None:
    """Just before it nothing is in; just after it everything is, although the command failed."""
    folder = tmp_path / "g"
    shutil.copytree(prepared, folder)
    before = rows_of(folder / "collection.db")["judgement"]
    code = (
        "import os, signal, sqlmodel\n"
        "def kill(): os.kill(os.getpid(), signal.SIGTERM)\n"
        "commit = sqlmodel.Session.commit\n"
        f"def wrapped(self): {moment}\n"
        "sqlmodel.Session.commit = wrapped\n"
        "from pooler.cli import main; main.main()"
    )
    command = IMPORTS.split()
    ran = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=folder,
        env=environment({}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == Terminated.code
    assert ran.stderr.decode().splitlines()[-1] == f"interrupted: {said}"
    assert (rows_of(folder / "collection.db")["judgement"] > before) == moment.endswith("kill()")


@pytest.mark.long
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
@pytest.mark.parametrize("name", WRITING)
def test_signal_at_any_moment_leaves_all_or_nothing(
    name: str,
    number: signal.Signals,
    prepared: Path,
    whole: Callable[[str], tuple[Ended, float]],
    tmp_path: Path,
) -> None:
    """From the first import to the last byte: a signal ends the command, and leaves no half."""
    complete, took_s = whole(name)
    assert complete.code == 0, complete.said
    random_moments = random.Random(f"{name} {number}")
    for trial in range(int(os.environ.get("POOLER_INTERRUPTS", "1"))):
        moment = random_moments.uniform(0.0, took_s)
        second = moment + random_moments.choice((0.001, 0.02, 0.2))
        ended = press(prepared, tmp_path / str(trial), name, number, moment, second)
        check(name, ended, prepared, complete, number, f"at {moment:.3f} s of {took_s:.3f}")
        if ended.code:
            verified = run_inside("verify", "--collection", tmp_path / str(trial) / "collection.db")
            assert verified.code == 0, verified.err
            if name.startswith("pooler import "):  # called again, they do what was left
                folder = tmp_path / str(trial)
                again = run_and_press(folder, shlex.join(WRITING[name].words(folder)), number)
                assert (again.code, again.rows) == (0, complete.rows), again.said
        shutil.rmtree(tmp_path / str(trial))
