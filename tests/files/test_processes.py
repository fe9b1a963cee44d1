"""`pooler.reading.parallel`: work shared between processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pooler.reading.parallel import share
from store.errors import (
    SHOWN_FAULTS,
    ArgumentError,
    ConflictError,
    Fault,
    FormatError,
    PoolerError,
    UnknownNameError,
)
from tests.helpers.started import started_processes

ERRORS = [
    PoolerError("gone", hint="look"),
    FormatError("a.run", [Fault(3, "bad", "score")] * SHOWN_FAULTS, n_faults=40, hint="mend"),
    ArgumentError("depth", "must be an integer", "x"),
    UnknownNameError("run", "alcie", ["bob", "alice"]),
    ConflictError("locked"),
]


def ignore(_n_done: int) -> None:
    """Take no notice of progress."""


def fail(number: int) -> int:
    """Raise one of `ERRORS`."""
    raise ERRORS[number]


def die_elsewhere(number: int, *, home: int, folder: Path) -> int:
    """End the process, unless it is `home`, which waits until another one has come."""
    if os.getpid() != home:
        (folder / f"{os.getpid()}").touch()
        os._exit(1)
    wait_for(folder, 1)
    return number * 2


def wait_for(folder: Path, n_files: int) -> None:
    """Wait until so many files are there."""
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < n_files and time.monotonic() < deadline:
        time.sleep(0.01)


def meet(number: int, *, folder: Path, n_processes: int) -> int:
    """Wait until so many processes are here; return which one this is."""
    (folder / f"{os.getpid()}").touch()
    print("what a task prints is no answer", number)  # noqa: T201 - the point of a test
    wait_for(folder, n_processes)
    return os.getpid()


def fail_elsewhere(number: int, *, home: int, folder: Path) -> int:
    """Raise what is no user's error, unless this is `home`, which waits until it was."""
    if os.getpid() != home:
        (folder / f"{os.getpid()}").touch()
        raise ZeroDivisionError
    wait_for(folder, 1)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_share_errors_keep_all_their_facts(workers: int) -> None:
    """An error comes back as a value with its type, message, hint and every attribute."""
    outcomes = share(fail, range(len(ERRORS)), workers=workers, progress=ignore)
    for outcome, error in zip(outcomes, ERRORS, strict=True):
        assert type(outcome) is type(error)
        assert isinstance(outcome, PoolerError)
        assert str(outcome) == str(error)
        assert vars(outcome) == vars(error)


@pytest.mark.parametrize("workers", [2, 3])
def test_share_dead_workers_leave_the_work_to_this_process(workers: int, tmp_path: Path) -> None:
    """When a worker dies at an item, all results are there nevertheless."""
    task = partial(die_elsewhere, home=os.getpid(), folder=tmp_path)
    told: list[int] = []
    assert share(task, range(6), workers=workers, progress=told.append) == [0, 2, 4, 6, 8, 10]
    assert sum(told) == 6


def test_share_other_processes_take_part(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each of three processes does one of three items, this one the first; they may print."""
    told: list[int] = []
    task = partial(meet, folder=tmp_path, n_processes=3)
    with started_processes() as started:
        pids = share(task, range(3), workers=3, progress=told.append)
    assert len(started) == 2
    assert pids[0] == os.getpid()
    assert len(set(pids)) == 3
    assert told == [1, 1, 1]
    written = capfd.readouterr()
    assert (written.out.count("is no answer 0"), written.err.count("is no answer")) == (1, 2)


def test_share_worker_loads_the_task_and_nothing_else(tmp_path: Path) -> None:
    """A worker takes numpy and the readers, but not the main module, which needs no guard."""
    (tmp_path / "task.py").write_text(
        "import os, sys, time, pathlib, pooler.reading.blocks\n"
        "def modules(folder):\n"
        "    (pathlib.Path(folder) / str(os.getpid())).touch()\n"
        "    while len(os.listdir(folder)) < 2:\n"
        "        time.sleep(0.01)\n"
        "    return os.getpid(), sorted(sys.modules)\n"
    )
    (tmp_path / "here").mkdir()
    (tmp_path / "script.py").write_text(
        "import sys, typer, task\n"
        "from pooler.reading.parallel import share\n"
        "print('main module')\n"
        "folder = sys.argv[1]\n"
        "answers = share(task.modules, [folder] * 2, workers=2, progress=lambda n: None)\n"
        "print(answers[0][0] != answers[1][0], 'typer' in answers[0][1])\n"
        "heavy = {'typer', 'rich', 'multiprocessing', 'concurrent.futures', 'sqlmodel', 'lzma'}\n"
        "print(sorted(heavy & set(answers[1][1])), 'numpy' in answers[1][1])\n"
    )
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "here")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["main module", "True True", "[] True"]
    assert done.stderr == ""


def test_share_interrupt_ends_the_workers_quietly(tmp_path: Path) -> None:
    """Ctrl-C, which reaches all processes of a terminal, shows one trace: that of the first."""
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, time\n"
        "from pooler.reading.parallel import share\n"
        # A shell lets what it starts in the background ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\n"
        # Short ones: Python notices a signal between two of them, if not within one.
        "share(time.sleep, [0.1] * 600, workers=2, progress=lambda n: None)\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):  # nobody of the group is left
        os.killpg(process.pid, 0)


def test_share_bug_in_a_worker_is_met_again_here(tmp_path: Path) -> None:
    """What a task should not raise does not end the work, unless it is raised here too."""
    task = partial(fail_elsewhere, home=os.getpid(), folder=tmp_path)
    assert share(task, range(4), workers=2, progress=ignore) == [0, 1, 2, 3]


def test_share_task_that_cannot_be_sent_is_done_here() -> None:
    """A function of no module is no task for a worker, but one for this process."""
    assert share(lambda number: number + 1, range(3), workers=2, progress=ignore) == [1, 2, 3]


@pytest.mark.parametrize("n_items", [0, 1])
def test_share_more_workers_than_items(n_items: int) -> None:
    """Workers without work are no obstacle."""
    assert share(str, range(n_items), workers=4, progress=ignore) == ["0"][:n_items]


def test_share_a_bug_is_not_hidden() -> None:
    """An exception that is no user's error is raised as it is."""
    with pytest.raises(TypeError):
        share(len, [1], workers=1, progress=ignore)
