"""Bring a collection's schema to the newest revision: back up, lock, migrate, mend."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, inspect, text
from sqlalchemy.engine import URL

from store.db.differences import SchemaDifference, differences, mend
from store.db.engine import (
    NO_COLLECTION_HINT,
    SCHEMA_REVISION,
    display,
    engine_at,
    reading,
    stored_revision,
    writing,
)
from store.db.raw import CHECKSUM, guarded_tables, renew_checksums
from store.errors import SchemaError, StoreError
from store.keeping.backup import back_up, free_name
from store.keeping.checks import RESTORE
from store.keeping.progress import Progress, no_progress

MIGRATIONS = Path(__file__).parents[1] / "db" / "migrations"

_POOL_TOPIC = """
    CREATE TABLE pool_topic (
        pool_id INTEGER NOT NULL,
        topic_id INTEGER NOT NULL,
        budget INTEGER NOT NULL,
        FOREIGN KEY (pool_id) REFERENCES pool (id) ON DELETE CASCADE,
        FOREIGN KEY (topic_id) REFERENCES topic (id),
        PRIMARY KEY (pool_id, topic_id)
    )
"""
"""A table that collections of schema 0002 or 0003 may lack, and that later steps change."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What `upgrade` did."""

    before: str
    after: str
    backup: str | None
    """The file the old state was saved to; ``None`` when nothing changed, or none was asked for."""
    mended: tuple[str, ...] = ()
    """What was not as its schema has it, and is now."""
    left: tuple[str, ...] = ()
    """What is not as the newest schema has it, and was left as it is."""


def head_revision(migrations: Path = MIGRATIONS) -> str:
    """Return the newest revision among the migrations."""
    head = ScriptDirectory(str(migrations)).get_current_head()
    return str(head)


def upgrade(
    url: URL, *, backs_up: bool = True, migrations: Path = MIGRATIONS, progress: Progress = no_progress
) -> Upgrade:
    """Migrate a collection to the newest schema: all steps in one transaction, or nothing of it.

    A SQLite file is backed up beside itself first (`FILE.REVISION.backup`); a server's collection of another
    schema cannot be, that is for the server's own tools. Tables may be others than the migrations make, for
    anybody may alter one: they are compared with the models after the steps, and what is missing is made.
    SQLite's foreign keys are off during the steps and checked after them: dropping a table that was made anew
    would delete what refers to it. `SchemaError`: no collection, an unknown revision, or a column that cannot
    be made; `StoreError`: the backup failed, or a step left rows that refer to nothing.
    """
    with engine_at(url) as engine:
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _ignore_foreign_keys)
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
            with reading(engine) as session:
                found = _differences(session.connection(), after)
            if not any(one.missing is not None for one in found):
                return Upgrade(before, after, None, left=tuple(one.told for one in found))
        backup = _back_up(url, before, progress) if backs_up else None
        config = Config()
        config.set_main_option("script_location", str(migrations).replace("%", "%%"))
        with writing(engine, bulk=True) as session:
            connection = session.connection()
            if engine.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE alembic_version IN EXCLUSIVE MODE"))
            config.attributes["connection"] = connection
            mended = _make_up_for(connection, before)
            command.upgrade(config, "head")
            found = _differences(connection, after)
            mend(connection, found)
            left = tuple(one.told for one in _differences(connection, after))
            mended += [one.told for one in found if one.told not in left]
            for table in guarded_tables():
                lacking = text(f'SELECT 1 FROM "{table.name}" WHERE {CHECKSUM} IS NULL LIMIT 1')
                # Steps beyond the models may leave a table that these cannot read.
                if session.scalar(lacking) is not None:
                    renew_checksums(session, table)
            if engine.dialect.name == "sqlite":
                _check_foreign_keys(connection)
        return Upgrade(before, after, backup, tuple(mended), left)


def _make_up_for(connection: Connection, revision: str) -> list[str]:
    """Make what the steps from a revision need and its collections may lack; say what."""
    if revision not in ("0002", "0003") or inspect(connection).has_table("pool_topic"):
        return []
    connection.execute(text(_POOL_TOPIC))
    return ["the table `pool_topic` is missing"]


def _differences(connection: Connection, revision: str) -> list[SchemaDifference]:
    """Compare the tables with the models, if these are of that revision.

    A missing column that cannot be made is an error.
    """
    found = differences(connection) if revision == SCHEMA_REVISION else []
    for one in found:
        if one.is_in_the_way:
            where = display(connection.engine.url)
            message = f"{where}: {one.told}, and what was there is not known"
            raise SchemaError(message, hint=f"nothing was changed; {RESTORE}")
    return found


def _ignore_foreign_keys(connection: sqlite3.Connection, _record: Any) -> None:
    """Switch foreign keys off; inside a transaction it would have no effect."""
    connection.execute("PRAGMA foreign_keys = OFF").close()


def _check_foreign_keys(connection: Connection) -> None:
    """Refuse a state in which a row refers to one that is not there."""
    broken = connection.execute(text("PRAGMA foreign_key_check")).first()
    if broken is not None:
        message = f"the upgrade left a row in `{broken[0]}` that refers to no `{broken[2]}`"
        raise StoreError(message, hint="nothing was changed; please report this")


def _back_up(url: URL, revision: str, progress: Progress) -> str:
    """Back a SQLite collection up beside itself and return the backup's name."""
    if url.get_backend_name() == "postgresql":
        message = f"{display(url)}: a server's collection of another schema is not backed up here"
        hint = "save it first (pg_dump -Fc -f FILE DATABASE), then: pooler upgrade --no-backup"
        raise StoreError(message, hint=hint)
    copy = free_name(Path(url.database or ""), f"{revision}{{}}.backup")
    back_up(url, copy, progress=progress)
    return str(copy)
