"""What database drivers say, in words for users."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DatabaseError, MultipleResultsFound, NoResultFound, OperationalError

from store.errors import SchemaError, StoreError

MISREAD = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError,
           NoResultFound, MultipleResultsFound)  # fmt: skip
"""What making sense of a value ends in that is none of its column's, or is not there."""
DAMAGED = "the database file is damaged"
DAMAGED_HINT = "restore a backup: pooler restore BACKUP --replace; pooler verify says more"
NO_COLLECTION_HINT = "name another with --collection, or restore a backup: pooler restore"
_DAMAGE = ("malformed", "corrupt", "Could not decode to UTF-8", "no such table", "no such column",
           "unsupported file format", "disk I/O error", "database schema")  # fmt: skip
"""Words of SQLite about a file that is not what it was, or not all of it."""


def as_told(where: str, error: DatabaseError | sqlite3.Error) -> StoreError | None:
    """Say in one line what is wrong with a database; ``None`` = the program is."""
    cause = error.orig if isinstance(error, DatabaseError) else error
    reason = next(iter(str(cause).strip().splitlines()), "the connection failed")
    if isinstance(cause, sqlite3.Error):
        if "not a database" in reason:
            return SchemaError(not_a_collection(where), hint=NO_COLLECTION_HINT)
        if any(words in reason for words in _DAMAGE):
            return StoreError(f"{where}: {DAMAGED}: {reason}", hint=DAMAGED_HINT)
        if "readonly" in reason:
            return StoreError(f"{where}: the file may be read but not written")
        if "locked" in reason:
            message = f"{where}: another process is writing and did not finish in time"
            return StoreError(message)
    is_reachable = not isinstance(error, OperationalError | sqlite3.OperationalError)
    return None if is_reachable else StoreError(f"{where}: {reason}")


def not_a_collection(where: str) -> str:
    """Word the refusal of a file that is something else, or nothing at all."""
    file = Path(where)
    is_empty = file.is_file() and not file.stat().st_size
    return f"{where} is not a pooler collection" + (": the file is empty" if is_empty else "")


@contextmanager
def hinting(hint: str) -> Iterator[None]:
    """Say something else to do about damage, where the usual hint is of no use."""
    try:
        yield
    except StoreError as error:
        if error.hint != DAMAGED_HINT:
            raise
        raise StoreError(error.message, hint=hint) from error
