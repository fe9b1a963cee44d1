"""Work on many files, shared between this process and others."""

from __future__ import annotations

# All at the top: Python may lose an interrupt that comes while a module is imported.
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Thread
from typing import Any, BinaryIO, TypeVar, cast

from pooler.messages import kept_warnings, warn
from store.errors import PoolerError
from store.formats.lines import is_regular_file

PARALLEL_BYTES = 20_000_000
Item = TypeVar("Item")
Result = TypeVar("Result")

_WORK = (
    "import sys, pickle;"
    "sys.path[:] = pickle.load(sys.stdin.buffer);"
    "from pooler.reading.parallel import _work;"
    "_work()"
)
"""What a worker does: find the modules where this process finds them, then wait for items."""


def share_files(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    files: Sequence[str],
    *,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Result | PoolerError]:
    """Do a task for each of several files, the largest first; two processes where that pays."""
    workers = workers or n_workers(files)
    places = [*range(len(files))]
    if workers > 1:
        places.sort(key=lambda place: -_size(files[place]))
    progress = progress or (lambda _n_files: None)
    outcomes = share(task, [items[place] for place in places], workers=workers, progress=progress)
    return [outcome for _, outcome in sorted(zip(places, outcomes, strict=True), key=itemgetter(0))]


def n_workers(files: Sequence[str]) -> int:
    """Return how many processes should read files: two where that pays, and each can open them all."""
    can_share = min(len(files), n_processors()) > 1 and all(map(is_regular_file, files))
    return 2 if can_share and sum(map(_size, files)) > PARALLEL_BYTES else 1


def _size(file: str) -> int:
    """Return the bytes of a file; 0 when there is none."""
    try:
        return Path(file).stat().st_size
    except (OSError, ValueError):  # a name no file can have
        return 0


def share(
    task: Callable[[Item], Result], items: Sequence[Item], *, workers: int, progress: Callable[[int], None]
) -> list[Result | PoolerError]:
    """Do a task for each of several items, in this process and in others.

    This process takes items from the front. The others, started afresh and importing what the task needs,
    take them from the back. An item whose process dies, or raises anything but a `PoolerError`, is done here.
    """
    outcomes: dict[int, Result | PoolerError] = {}
    left = deque(range(len(items)))
    answers: SimpleQueue[tuple[int, Any]] = SimpleQueue()
    with _processes(task, workers - 1) as others:
        for process in others:
            Thread(target=_share_with, args=(process, items, left, answers), daemon=True).start()
        n_busy = len(others)
        while left or n_busy:
            if left:
                try:
                    index = left.popleft()
                except IndexError:  # another process was faster
                    continue
                outcomes[index] = _attempt(task, items[index])
                progress(1)
            while n_busy and (not left or not answers.empty()):
                index, answer = answers.get()
                if answer is None:
                    n_busy -= 1
                else:
                    outcomes[index] = _outcome_of(answer)
                    progress(1)
    return [outcomes[index] for index in range(len(items))]


def _share_with(
    process: _Process, items: Sequence[object], left: deque[int], answers: SimpleQueue[tuple[int, Any]]
) -> None:
    """Have items done by a process until none is left or it dies; the last answer put is ``(-1, None)``."""
    answer: Any = True
    while left and answer is not None:
        try:
            index = left.pop()
        except IndexError:  # another process was faster
            break
        process.give(items[index])
        if (answer := process.answer()) is None:
            left.append(index)
        else:
            answers.put((index, answer))
    answers.put((-1, None))


def in_order(
    task: Callable[[Item], Result], items: Sequence[Item], *, workers: int
) -> Iterator[Result | PoolerError]:
    """Do a task for each of several items, all in this process or all in others; yield outcomes in order.

    Each process works one item ahead, with its own copy of the task. Items of a process that dies are done
    here.
    """
    with _processes(task, workers if workers > 1 else 0) as others:
        for process, item in zip(others, items, strict=False):
            process.give(item)
        for index, item in enumerate(items):
            answer = None
            if others:
                process, following = others[index % len(others)], index + len(others)
                answer = process.answer()
                if following < len(items):
                    process.give(items[following])
            yield _attempt(task, item) if answer is None else _outcome_of(answer)


def _outcome_of(answer: tuple[Any, list[str]]) -> Any:
    outcome, warnings = answer
    for message in warnings:
        warn(message)
    return outcome


@contextmanager
def _processes(task: Callable[[Any], object], n_processes: int) -> Iterator[list[_Process]]:
    others: list[_Process] = []
    try:
        for _ in range(n_processes if sys.executable else 0):
            with suppress(OSError):  # the system has no room for another process
                others.append(_Process(task))
        yield others
    finally:
        for process in others:
            process.end()


class _Process:
    """Another process, which does a task for one item after another."""

    def __init__(self, task: Callable[[Any], object]) -> None:
        # Isolated (-I), so that modules are found where this process finds them; arrays need one thread.
        command = (sys.executable, "-I", "-c", _WORK)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with interrupts_held():  # until the worker ignores them, it would print a traceback
            self._popen = Popen(command, stdin=PIPE, stdout=PIPE, env=environment)
        self.give(sys.path)
        self.give(task)
        self._is_idle = True

    def give(self, value: object) -> None:
        """Send the task, or an item; a value that cannot be sent ends the process."""
        self._is_idle = False
        pipe = cast(BinaryIO, self._popen.stdin)
        try:
            pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
            pipe.flush()
        except Exception:  # noqa: BLE001 - the caller does what is left
            self._popen.kill()

    def answer(self) -> Any:
        """Wait for the outcome of the item given, and its warnings; ``None`` = the process has died."""
        try:
            answer = pickle.load(cast(BinaryIO, self._popen.stdout))
        except Exception:  # noqa: BLE001 - likewise
            return None
        self._is_idle = True
        return answer

    def end(self) -> None:
        """End the process, at once if it is still at work."""
        if not self._is_idle:
            self._popen.kill()
        with suppress(OSError), self._popen:  # it closes pipes, in which something may be left
            pass


def _work() -> None:
    """Work as a subprocess: read a task and items from standard input, write the result of each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what a task prints is no answer
        try:
            task = pickle.load(sys.stdin.buffer)
            while True:
                with kept_warnings() as warnings:
                    outcome = _attempt(task, pickle.load(sys.stdin.buffer))
                pickle.dump((outcome, warnings), answers, pickle.HIGHEST_PROTOCOL)
                answers.flush()
        except EOFError:
            return  # there is nothing left to do
        except Exception:  # noqa: BLE001 - the parent tries the same item, and shows the error
            sys.exit(1)


def n_processors() -> int:
    """Count the processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back; processes that are started meanwhile never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - not on this system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _attempt(task: Callable[[Item], Result], item: Item) -> Result | PoolerError:
    """Do the task for one item; a user's error becomes a value."""
    try:
        return task(item)
    except PoolerError as error:
        return error
