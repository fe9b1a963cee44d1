"""Work on many files, shared between this process and others."""

from __future__ import annotations

# All at the top: Python may lose an interrupt that comes while a module is imported.
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Event, Semaphore, Thread
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

    This process takes items from the front, others, started afresh and importing what the task needs, from
    the back. What a process that dies leaves, and what raises anything but a `PoolerError` there, is done
    here.
    """
    outcomes: dict[int, Result | PoolerError] = {}
    left = deque(range(len(items)))
    answers: SimpleQueue[_Answer] = SimpleQueue()
    n_busy = workers - 1 if sys.executable else 0
    with _helping([_Helper(task, items, left, answers) for _ in range(n_busy)]):
        while left or n_busy:
            if left:
                try:
                    index = left.popleft()
                except IndexError:  # a helper was faster
                    continue
                outcomes[index] = _attempt(task, items[index])
                progress(1)
            while n_busy and (not left or not answers.empty()):
                answer = answers.get()
                if answer is None:
                    n_busy -= 1
                else:
                    outcomes[answer[0]] = _told(answer)
                    progress(1)
    return [outcomes[index] for index in range(len(items))]


def in_order(
    task: Callable[[Item], Result], items: Sequence[Item], *, workers: int
) -> Iterator[Result | PoolerError]:
    """Do a task for each of several items, all in this process or all in others, and yield what comes of it.

    Each process is at most `_AHEAD` items ahead of the one taken. It gets a copy of the task, and keeps it.
    What a process that dies leaves is done here.
    """
    helpers: list[_Helper] = []
    for one in range(workers if workers > 1 and sys.executable else 0):
        mine = deque(reversed(range(one, len(items), workers)))
        helpers.append(_Helper(task, items, mine, SimpleQueue(), Semaphore(_AHEAD)))
    with _helping(helpers):
        for index, item in enumerate(items):
            answer = helpers[index % workers].next() if helpers else None
            yield _attempt(task, item) if answer is None else _told(answer)


_Answer = tuple[int, Any] | None
"""The place of an item, and what came of it with its warnings; ``None`` = there is no further one."""
_AHEAD = 2


def _told(answer: tuple[int, Any]) -> Any:
    outcome, warnings = answer[1]
    for message in warnings:
        warn(message)
    return outcome


@contextmanager
def _helping(helpers: Sequence[_Helper]) -> Iterator[None]:
    try:
        for helper in helpers:
            helper.start()
        yield
    finally:
        for helper in helpers:
            helper.stop()


class _Helper:
    """A thread that hands items to a process of its own, one after another; `ahead`: while it may."""

    def __init__(
        self,
        task: Callable[[Any], object],
        items: Sequence[object],
        left: deque[int],
        answers: SimpleQueue[_Answer],
        ahead: Semaphore | None = None,
    ) -> None:
        self._task = task
        self._items = items
        self._left = left
        self._answers = answers
        self._ahead = ahead
        self._process: Popen[bytes] | None = None
        self._stopped = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def next(self) -> _Answer:
        """Wait for an answer, and allow one more."""
        answer = self._answers.get()
        if answer is None:
            self._answers.put(None)  # for the next one who asks
        elif self._ahead is not None:
            self._ahead.release()
        return answer

    def stop(self) -> None:
        """End, and at once if there is still something to do."""
        self._stopped.set()
        if self._ahead is not None:
            self._ahead.release()
        if self._process is not None and self._thread.is_alive():
            self._process.kill()
        if self._thread.ident is not None:  # an interrupt may have come before it ran
            self._thread.join()

    def _run(self) -> None:
        """Have items done until none is left, or the process dies."""
        try:
            if self._stopped.is_set():
                return
            with _started() as process:
                self._process = process
                if self._stopped.is_set():
                    process.kill()
                _send(process, sys.path)
                _send(process, self._task)
                while self._left:
                    if self._ahead is not None:
                        self._ahead.acquire()
                    try:
                        index = self._left.pop()
                    except IndexError:  # another process was faster
                        break
                    try:
                        _send(process, self._items[index])
                        answer = pickle.load(cast(BinaryIO, process.stdout))
                    except BaseException:
                        self._left.append(index)
                        raise
                    self._answers.put((index, answer))
        except Exception:  # noqa: BLE001 - what is left is done by the one that asked
            pass
        finally:
            self._answers.put(None)


def _started() -> Popen[bytes]:
    # Isolated, so that only this process says where modules are; and arrays need one thread.
    command = (sys.executable, "-I", "-c", _WORK)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with interrupts_held():  # until the worker ignores them, it would show a trace
        return Popen(command, stdin=PIPE, stdout=PIPE, env=environment)


def _send(process: Popen[bytes], value: object) -> None:
    pipe = cast(BinaryIO, process.stdin)
    pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


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
        except Exception:  # noqa: BLE001 - the parent tries the same, and shows what comes of it
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
