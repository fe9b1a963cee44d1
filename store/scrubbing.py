"""What was removed, removed from the bytes of a SQLite file too.

SQLite marks the place of a removed row as free and leaves its bytes there, and its log keeps pages
as they were. PostgreSQL does alike; there, and in backups of either, it is for others to do.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import StrEnum

from sqlalchemy import Engine
from sqlmodel import Session

from store.database import BUSY_TIMEOUT_MS, JUDGE_PATIENCE_MS, translated_errors


class Scrubbed(StrEnum):
    """What has become of the bytes."""

    DONE = "done"
    """The file has been written anew, without them, and its log is empty."""
    IN_USE = "in-use"
    """The rows are overwritten. Another program has the file open, and older copies of them may be
    in its free pages or in the log: try again when it is closed."""
    NOT_HERE = "not-here"
    """The database is a server's."""


def overwrite_removed(session: Session) -> None:
    """Let SQLite overwrite with zeros whatever this transaction removes."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")


def scrub(engine: Engine) -> Scrubbed:
    """Write the file of a collection anew without what was removed from it, and empty its log.

    Parameters
    ----------
    engine : Engine
        Of the collection; without a transaction of its own.

    Returns
    -------
    Scrubbed

    Raises
    ------
    StoreError
        If there is no room for a second copy of the file while it is written; what was removed
        stays removed.

    Notes
    -----
    Some 200 MB a second. Rows keep their ids.
    """
    if engine.dialect.name != "sqlite":
        return Scrubbed.NOT_HERE
    with translated_errors(engine), closing(engine.raw_connection()) as raw:
        cursor = raw.cursor()
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.execute(f"PRAGMA busy_timeout = {JUDGE_PATIENCE_MS}")
        try:
            cursor.execute("VACUUM")
            is_busy = bool(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            is_busy = True
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return Scrubbed.IN_USE if is_busy else Scrubbed.DONE
