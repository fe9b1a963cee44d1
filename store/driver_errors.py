"""What database drivers say, in words for users."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    InternalError,
    MultipleResultsFound,
    NoResultFound,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)

from store.errors import SchemaError, StoreError

MISREAD = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError,
           NoResultFound, MultipleResultsFound)  # fmt: skip
"""What making sense of a value ends in that is none of its column's, or is not there."""
DAMAGED = "the database file is damaged"
DAMAGED_HINT = "restore a backup: pooler restore BACKUP --replace; pooler verify says more"
NO_COLLECTION_HINT = "name another with --collection, or restore a backup: pooler restore"
_UNCODED = ("Could not decode to UTF-8", "no such table", "no such column",
            "unsupported file format")  # fmt: skip
"""Words of SQLite that damage has, and other things, too."""

_FULL = 1 << 20
"""Bytes: a disk with less has no room for what a decision takes, its log included."""
_NO_READING = frozenset(
    {"SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_FSTAT", "SQLITE_IOERR_SEEK"}
)
_LOST = "do it again once that is put right; what was told as saved is in the collection"
_INSUFFICIENT_PRIVILEGE = "42501"
_READ_ONLY = "25006"


def is_like_damage(error: DatabaseError | sqlite3.Error) -> bool:
    """Say whether a failure may come of a file that is not what it was, or not all of it."""
    cause = error.orig if isinstance(error, DatabaseError) else error
    if not isinstance(cause, sqlite3.Error):
        return False
    kind = _code(cause) & 0xFF
    if kind in (0, sqlite3.SQLITE_ERROR):
        return any(words in str(cause) for words in _UNCODED)
    return kind == sqlite3.SQLITE_CORRUPT


def as_told(where: str, error: DatabaseError | sqlite3.Error) -> StoreError | None:
    """Say in one line what is wrong with a database; ``None`` = the program is.

    Of what `is_like_damage` only `store.verification.first_fault` can tell whether it is.
    """
    cause = error.orig if isinstance(error, DatabaseError) else error
    reason = _reason(cause)
    if isinstance(cause, sqlite3.Error):
        found = _as_sqlite_told(where, cause, reason)
        if found is not None:
            return found
        is_reachable = not isinstance(error, OperationalError | sqlite3.OperationalError)
        return None if is_reachable else StoreError(f"{where}: {reason}")
    if getattr(cause, "sqlstate", None) == _INSUFFICIENT_PRIVILEGE:
        return _as_refused(where, getattr(error, "statement", None) or "", reason)
    if getattr(cause, "sqlstate", None) == _READ_ONLY:
        hint = "default_transaction_read_only is on for this login, database or server"
        return StoreError(f"{where}: may be read but not written: {reason}", hint=hint)
    if isinstance(error, OperationalError):
        return StoreError(f"{where}: {reason}")
    if isinstance(error, ProgrammingError | InternalError | DataError | NotSupportedError):
        hint = "pooler upgrade and pooler verify tell whether its tables are this program's"
        return StoreError(f"{where}: the server refused it: {reason}", hint=hint)
    return None


def _as_sqlite_told(where: str, error: sqlite3.Error, reason: str) -> StoreError | None:
    """Say what SQLite's own codes mean; ``None`` = something else."""
    name = getattr(error, "sqlite_errorname", "")
    match _code(error) & 0xFF:
        case sqlite3.SQLITE_NOTADB:
            return SchemaError(not_a_collection(where), hint=NO_COLLECTION_HINT)
        case sqlite3.SQLITE_CORRUPT:
            message = f"{where}: SQLite says `{reason}`, but a check of the file finds no fault"
            return StoreError(message, hint="do it again; pooler verify looks at all of it")
        case sqlite3.SQLITE_READONLY:
            return StoreError(f"{where}: the file may be read but not written")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"{where}: another process is writing and did not finish in time")
        case sqlite3.SQLITE_NOMEM:
            return StoreError(f"{where}: there is not enough memory", hint=_LOST)
        case sqlite3.SQLITE_FULL:
            return _as_full(where)
        case sqlite3.SQLITE_IOERR if name == "SQLITE_IOERR_NOMEM":
            return StoreError(f"{where}: there is not enough memory", hint=_LOST)
        case sqlite3.SQLITE_IOERR if name in _NO_READING:
            return StoreError(f"{where}: the disk could not be read ({name})", hint=_LOST)
        case sqlite3.SQLITE_IOERR:
            if _free(where) < _FULL:
                return _as_full(where)
            message = f"{where}: the disk took no more ({name}), and has {_free_words(where)} left"
            return StoreError(
                message, hint=f"look at quotas and limits of the file's size; {_LOST}"
            )
    return None


def _as_full(where: str) -> StoreError:
    """Say that there is no room, and how much there is."""
    message = f"{where}: the disk is full: {_free_words(where)} left in {Path(where).parent}"
    return StoreError(message, hint=_LOST)


def _as_refused(where: str, statement: str, reason: str) -> StoreError:
    """Say which right a role lacks: the statement names it, the server the table."""
    words = statement.split()
    right = words[0].upper() if words else "it"
    named = re.search(r"permission denied for (table|relation|view|sequence|schema) (\S+)", reason)
    if named and named[1] in ("sequence", "schema"):
        right = "USAGE"
    what = f"{right} on {named[1]} {named[2]}" if named else right
    message = f"{where}: this login may not do it: {reason}"
    return StoreError(message, hint=f"the right it lacks is {what}; the owner may GRANT it")


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's extended code; 0 where Python itself raised it."""
    return int(getattr(error, "sqlite_errorcode", 0))


def _reason(cause: BaseException | None) -> str:
    """Return the first line of what a driver says."""
    return next(iter(str(cause).strip().splitlines()), "the connection failed")


def _free(where: str) -> int:
    """Return the bytes that are free beside a file; many where nobody can tell."""
    try:
        return shutil.disk_usage(Path(where).absolute().parent).free
    except OSError:
        return 1 << 62


def _free_words(where: str) -> str:
    """Say how much is free beside a file."""
    free = _free(where)
    return f"{free // 1_000_000} MB" if free >= 1_000_000 else f"{free // 1000} kB"


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
