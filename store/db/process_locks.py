"""Names that one process holds against others until it lets go or ends, however it ends.

Of a SQLite file they are locks of single bytes of a file beside it, of PostgreSQL advisory locks of a
connection of their own: a process that is killed leaves none behind, and no lease has to run out.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Engine, text

LOCK_ENDING = ".held"
"""What the name of the file ends in; it is never removed, or two would hold one lock at once."""


class ProcessLocks:
    """What this process holds of one collection; to be closed.

    Only one is to be open for a collection in one process: the system lets go of all locks of a file when the
    process closes it once.
    """

    def __init__(self, engine: Engine) -> None:
        self._connection: Connection | None = None
        self._descriptor: int | None = None
        self._places: set[int] = set()
        if engine.dialect.name == "postgresql":
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        elif os.name == "posix" and engine.url.database:
            self._descriptor = _opened_beside(Path(engine.url.database))

    def take(self, *names: str) -> bool:
        """Lock a name, at once or not at all; a name that is held already is refused."""
        place = _place(names)
        if place in self._places or not self._lock(place):
            return False
        self._places.add(place)
        return True

    def give_back(self, *names: str) -> None:
        """Release the lock."""
        place = _place(names)
        self._places.discard(place)
        if self._connection is not None:
            self._connection.execute(text("SELECT pg_advisory_unlock(:place)"), {"place": place})
        elif self._descriptor is not None:
            import fcntl

            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Release all locks."""
        if self._connection is not None:
            with suppress(Exception):  # a connection that broke holds nothing any more
                self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
            self._connection.close()
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._connection = self._descriptor = None

    def _lock(self, place: int) -> bool:
        if self._connection is not None:
            query = text("SELECT pg_try_advisory_lock(:place)")
            return bool(self._connection.scalar(query, {"place": place}))
        if self._descriptor is None:
            return True
        import fcntl  # not on Windows, where nothing comes here

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True


def _place(names: tuple[str, ...]) -> int:
    """Return a number for names: two that meet keep each other waiting, and do no other harm."""
    digest = sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 2


def _opened_beside(collection: Path) -> int:
    """Open the file of locks beside a collection, made with its rights where there is none."""
    collection = Path(os.path.realpath(collection))  # one file, whatever a link calls it
    path = collection.with_name(collection.name + LOCK_ENDING)
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
