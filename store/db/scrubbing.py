"""The bytes of removed rows: overwritten by SQLite, and gone once its file is written anew.

SQLite marks the place of a removed row as free and leaves its bytes there, and its log keeps pages
as they were. PostgreSQL does alike; there, and in backups of either, it is for others to do.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import StrEnum

from sqlalchemy import Engine
from sqlmodel import Session

from store.db.engine import BUSY_TIMEOUT_MS, JUDGE_PATIENCE_MS, translated_errors

_PREVENTED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL}


class Scrubbed(StrEnum):
    """What has happened to the bytes."""

    DONE = "done"
    """The file has been written anew, without them, and its log is empty."""
    OPEN_ELSEWHERE = "open-elsewhere"
    """The file has been written anew; its old pages stay until the last program that has it open closes
    it."""
    NOT_REWRITTEN = "not-rewritten"
    """The rows are overwritten. Another program was writing, or there was no room for a second copy of the
    file: older copies of the rows may be in its free pages."""
    NOT_HERE = "not-here"
    """The database is a server's."""


def overwrite_removed(session: Session) -> None:
    """Let SQLite overwrite with zeros whatever this transaction removes."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")


def scrub(engine: Engine) -> Scrubbed:
    """Write the file of a collection anew without what was removed from it, and empty its log."""
    if engine.dialect.name != "sqlite":
        return Scrubbed.NOT_HERE
    with translated_errors(engine), closing(engine.raw_connection()) as raw:
        cursor = raw.cursor()
        cursor.execute("PRAGMA secure_delete = ON")
        try:
            cursor.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _PREVENTED:
                raise
            return Scrubbed.NOT_REWRITTEN
        cursor.execute(f"PRAGMA busy_timeout = {JUDGE_PATIENCE_MS}")  # a reader may stay for hours
        is_busy = bool(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return Scrubbed.OPEN_ELSEWHERE if is_busy else Scrubbed.DONE
