"""Bring a collection's schema to the newest revision: back up, lock, migrate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import event, text
from sqlalchemy.engine import URL

from store.db.engine import NO_COLLECTION_HINT, display, engine_at, other_schema, stored_revision, writing
from store.errors import SchemaError, StoreError
from store.keeping import Progress, no_progress
from store.keeping.backup import back_up
from store.text import free_name

MIGRATIONS = Path(__file__).parents[1] / "db" / "migrations"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What `upgrade` did."""

    before: str
    after: str
    backup: str | None
    """The file the old state was saved to; ``None`` when nothing changed, or none was asked for."""


def upgrade(
    url: URL, *, backs_up: bool = True, migrations: Path = MIGRATIONS, progress: Progress = no_progress
) -> Upgrade:
    """Migrate a collection to the newest schema: all steps in one transaction, or nothing of it.

    A SQLite file is backed up beside itself first (`FILE.REVISION.backup`); a server's collection of another
    schema cannot be, that is for the server's own tools. SQLite's foreign keys are off during the steps and
    checked after them: dropping a table that was made anew would delete what refers to it. `SchemaError`: no
    collection, or a revision that no migration begins from; `StoreError`: the backup failed, or a step left
    rows that refer to nothing.
    """
    with engine_at(url) as engine:
        if engine.dialect.name == "sqlite":
            # Inside a transaction it would have no effect.
            off = "PRAGMA foreign_keys = OFF"
            event.listen(engine, "connect", lambda connection, _: connection.execute(off).close())
        before = stored_revision(engine)
        if before is None:
            raise SchemaError(f"{display(url)} is not a pooler collection", hint=NO_COLLECTION_HINT)
        scripts = ScriptDirectory(str(migrations))
        after = str(scripts.get_current_head())
        if before not in {one.revision for one in scripts.walk_revisions()}:
            raise other_schema(display(url), before)
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
            if engine.dialect.name == "sqlite":
                broken = connection.execute(text("PRAGMA foreign_key_check")).first()
                if broken is not None:
                    message = f"the upgrade left a row in `{broken[0]}` that refers to no `{broken[2]}`"
                    raise StoreError(message, hint="nothing was changed; please report this")
        return Upgrade(before, after, backup)


def _back_up(url: URL, revision: str, progress: Progress) -> str:
    if url.get_backend_name() == "postgresql":
        message = f"{display(url)}: a server's collection of another schema is not backed up here"
        hint = "save it first (pg_dump -Fc -f FILE DATABASE), then: pooler upgrade --no-backup"
        raise StoreError(message, hint=hint)
    file = Path(url.database or "")
    name = free_name(f"{file.name}.{revision}", lambda one: file.with_name(f"{one}.backup").exists())
    back_up(url, file.with_name(f"{name}.backup"), progress=progress)
    return str(file.with_name(f"{name}.backup"))
