"""Who writes next to a SQLite file: whoever has waited longest.

SQLite has no queue. Among many writers who asks often wins, and who has waited longest may come
last, so each takes a lock of a file beside the collection first, for which the kernel keeps a
queue. The lock is advice: SQLite alone keeps two writers apart, and who cannot have it goes on
without it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic

TURN = ".turn"
"""What the name of the file ends in; it is never removed, or two would hold the lock at once."""
BULK_PATIENCE_S = 10.0
"""For so long everybody waits for an import at least: most end sooner."""
_BULK = b"bulk\n"


class Turn:
    """One writer's turn at a file; ``None`` = there is no file, and no queue.

    `is_bulk`: it is kept for longer than a decision takes, which those who wait are to know.
    """

    def __init__(self, file: str | None, *, is_bulk: bool = False) -> None:
        self._file = file if os.name == "posix" else None
        self._is_bulk = is_bulk
        self._descriptor: int | None = None

    def take(self, patience_s: float) -> bool:
        """Wait for the turn until the patience is at its end; say whether it is had."""
        if self._file is None or self._descriptor is not None:
            return self._descriptor is not None
        try:
            descriptor = opened_beside(Path(self._file), TURN)
        except OSError:
            return False
        if not _locked(descriptor, patience_s):
            return False
        self._descriptor = descriptor
        with suppress(OSError):
            # Whoever was killed in a bulk turn has left its word.
            if os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, 0)
            if self._is_bulk:
                os.pwrite(descriptor, _BULK, 0)
        return True

    def give_back(self) -> None:
        """Let the next one write."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            if self._is_bulk:
                with suppress(OSError):
                    os.ftruncate(descriptor, 0)
            os.close(descriptor)


def opened_beside(collection: Path, ending: str) -> int:
    """Open a file of locks beside a collection, made with its rights where there is none."""
    collection = Path(os.path.realpath(collection))  # one queue, whatever a link calls it
    path = collection.with_name(collection.name + ending)
    with suppress(FileNotFoundError):
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    rights = collection.stat()
    with suppress(FileExistsError):
        made = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):
            os.fchown(made, -1, rights.st_gid)
        with suppress(OSError):
            os.fchmod(made, rights.st_mode & 0o666)
        return made
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def _locked(descriptor: int, patience_s: float) -> bool:
    """Wait for the lock; where it is not had in time the descriptor is closed.

    A wait that can end needs a thread of its own: a signal could end it in the main thread alone,
    and asking again and again would have no place in the queue.
    """
    import fcntl  # not on Windows, where nothing comes here

    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    waiter = _Waiter(descriptor)
    end = monotonic() + patience_s
    longest = monotonic() + max(patience_s, BULK_PATIENCE_S)
    try:
        while not waiter.done.wait(max(end - monotonic(), 0)):
            now = monotonic()
            if now >= longest or os.pread(descriptor, len(_BULK), 0) != _BULK:
                break
            end = min(now + patience_s, longest)
    finally:
        is_had = waiter.leave()
    return is_had


class _Waiter(Thread):
    """Waits for a lock, and gives it back at once where nobody waits for it any more."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="turn", daemon=True)
        self.done = Event()
        self._descriptor = descriptor
        self._guard = Lock()
        self._is_had = self._is_left = False
        self.start()

    def run(self) -> None:
        """Wait."""
        import fcntl

        is_had = False
        with suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            is_had = True
        with self._guard:
            self._is_had = is_had
            if self._is_left or not is_had:
                os.close(self._descriptor)
        self.done.set()

    def leave(self) -> bool:
        """Wait no longer; say whether the lock is had."""
        with self._guard:
            self._is_left = True
            return self._is_had
