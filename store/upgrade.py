"""Bring a collection's schema to the newest revision: back up, lock, migrate."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table, event, text
from sqlalchemy.engine import URL
from sqlmodel import Session

from store.backup import back_up
from store.database import display, make_engine, stored_revision, writing
from store.directory.moving import Progress, no_progress
from store.driver_errors import NO_COLLECTION_HINT
from store.errors import SchemaError, StoreError
from store.row_checksums import CHECKSUM, guarded_tables, renew_checksums

MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What `upgrade` did."""

    before: str
    after: str
    backup: str | None
    """The file the old state was saved to; ``None`` when nothing changed, or none was asked for."""


def head_revision(migrations: Path = MIGRATIONS) -> str:
    """Return the newest revision among the migrations."""
    head = ScriptDirectory(str(migrations)).get_current_head()
    return str(head)


def upgrade(
    url: URL,
    *,
    backs_up: bool = True,
    migrations: Path = MIGRATIONS,
    progress: Progress = no_progress,
) -> Upgrade:
    """Migrate a collection to the newest schema.

    Parameters
    ----------
    url : URL
        The collection.
    backs_up : bool, default=True
        Whether it is backed up first. A PostgreSQL collection of an older schema cannot be: that
        is for the server's own tools.
    migrations : Path
        Folder of Alembic's environment.
    progress : callable
        Shows how far the backup is.

    Returns
    -------
    Upgrade
        Revisions before and after, and the backup's file.

    Raises
    ------
    SchemaError
        If the database holds no collection, or one of a revision that is not among the
        migrations.
    StoreError
        If the backup fails, as of a damaged file it does, or is asked for on PostgreSQL; or if a
        step left rows that refer to nothing: it is taken back.

    Notes
    -----
    All steps share one transaction: either the whole way is gone or nothing of it. A SQLite file
    is backed up beside itself first (`FILE.REVISION.backup`, see `store.backup`: whole, checked and
    on the disk before the first step). Rows that came before there were checksums
    (`store.row_checksums`) get one.

    SQLite's foreign keys are off during the steps and checked after them, as its manual asks of
    whoever makes a table anew: dropping the old one would delete what refers to it by cascade.
    """
    engine = make_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _ignore_foreign_keys)
    try:
        before = stored_revision(engine)
        if before is None:
            message = f"{display(url)} is not a pooler collection"
            raise SchemaError(message, hint=NO_COLLECTION_HINT)
        after = head_revision(migrations)
        known = {script.revision for script in ScriptDirectory(str(migrations)).walk_revisions()}
        if before not in known:
            message = f"{display(url)} has schema {before}, which this program does not know"
            raise SchemaError(message, hint="install the newest pooler")
        if before == after:
            return Upgrade(before, after, None)
        backup = _back_up(url, before, progress) if backs_up else None
        config = Config()
        config.set_main_option("script_location", str(migrations).replace("%", "%%"))
        with writing(engine, bulk=True) as session:
            connection = session.connection()
            if engine.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE alembic_version IN EXCLUSIVE MODE"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            for table in guarded_tables():
                if _lacks_checksums(session, table):
                    renew_checksums(session, table)
            if engine.dialect.name == "sqlite":
                _check_foreign_keys(connection)
        return Upgrade(before, after, backup)
    finally:
        engine.dispose()


def _lacks_checksums(session: Session, table: Table) -> bool:
    """Say whether any row has none; a table that has them all is not read any further."""
    query = text(f'SELECT 1 FROM "{table.name}" WHERE {CHECKSUM} IS NULL LIMIT 1')
    return session.scalar(query) is not None


def _ignore_foreign_keys(connection: sqlite3.Connection, _record: Any) -> None:
    """Switch foreign keys off; inside a transaction it would have no effect."""
    connection.execute("PRAGMA foreign_keys = OFF").close()


def _check_foreign_keys(connection: Connection) -> None:
    """Refuse a state in which a row refers to one that is not there."""
    broken = connection.execute(text("PRAGMA foreign_key_check")).first()
    if broken is not None:
        message = f"the migration left a row in `{broken[0]}` that refers to no `{broken[2]}`"
        raise StoreError(message, hint="nothing was changed; please report this")


def _back_up(url: URL, revision: str, progress: Progress) -> str:
    """Back a SQLite collection up beside itself and return the backup's name."""
    if url.get_backend_name() == "postgresql":
        message = f"{display(url)}: a server's collection of an older schema is not backed up here"
        hint = "save it first (pg_dump -Fc -f FILE DATABASE), then: pooler upgrade --no-backup"
        raise StoreError(message, hint=hint)
    source_file = url.database or ""
    copy = Path(f"{source_file}.{revision}.backup")
    number = 1
    while copy.exists():
        number += 1
        copy = Path(f"{source_file}.{revision}-{number}.backup")
    back_up(url, copy, progress=progress)
    return str(copy)
