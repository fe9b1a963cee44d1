"""Backups made and restored, and a schema brought to the newest revision, with a backup before.

SQLite's pages are copied, or to and from a server the rows, with the same row ids. Rows travel as SQLite has
them: moments as text in UTC, truth as 0 and 1. PostgreSQL is asked for them in that form and takes them in
it, so that nothing is converted here.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, delete, event, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlmodel import Session, SQLModel

from store.content.lookup import count_rows
from store.db.columns import insert_new, is_postgresql, raw_rows
from store.db.database import make_tables
from store.db.engine import (
    BUSY_TIMEOUT_MS,
    DAMAGED_HINT,
    NO_COLLECTION_HINT,
    check_revision,
    damaged,
    database_now,
    display,
    engine_at,
    hinting,
    other_schema,
    read_only_engine,
    reading,
    stored_revision,
    translated_errors,
    writing,
)
from store.db.files import SIDE_FILES, check_folder, made_whole, part_beside, seal, side_files
from store.db.tables import COLLECTION, DIGEST, JUDGE, OF_THIS_PLACE, SITTING
from store.errors import SchemaError, StoreError
from store.judging.events import count_events
from store.judging.judges import ALIVE
from store.keeping import Progress, no_progress
from store.keeping.verify import first_fault
from store.text import free_name

_BATCH = 2000
"""Rows written between two steps of a progress bar."""


def fill(session: Session, target: URL | Path, progress: Progress) -> None:
    """Copy what a reading session sees into an empty database, in one transaction."""
    # What refers to a table comes after it; of one table, what came first comes first. Who may come in with
    # which code is for this place alone.
    tables = [table for table in SQLModel.metadata.sorted_tables if table not in OF_THIS_PLACE]
    with (
        engine_at(target) as engine,
        _errors_named(engine),
        progress("copying rows", sum(count_rows(session, table) for table in tables)) as advance,
        writing(engine, bulk=True, creates=True) as into,
        _errors_named(engine),  # before the transaction words it
    ):
        make_tables(into)
        for table in tables:
            # Left half read, as by Ctrl-C, it must not outlive its connection.
            with closing(_rows(session, table, advance)) as rows:
                insert_new(into, table, table.columns.keys(), rows)
            go_on_after(into, table)
        into.execute(delete(DIGEST).where(DIGEST.c.name.in_(table.name for table in OF_THIS_PLACE)))


@contextmanager
def _errors_named(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        reason = next(iter(str(error.orig).strip().splitlines()), "no reason given")
        said, hint = "", "nothing was copied"
        if not isinstance(error, OperationalError):
            said = " cannot take a value"
            hint = "nothing was copied; pooler verify says what is wrong with the collection"
        raise StoreError(f"{display(engine.url)}{said}: {reason}", hint=hint) from error


def _rows(
    session: Session, table: Table, advance: Callable[[int], None]
) -> Generator[Sequence[Any], None, None]:
    """Yield the rows of a table; an error names the database they are of."""
    engine: Any = session.get_bind()
    with translated_errors(engine):
        rows = raw_rows(session, table)
        while batch := list(islice(rows, _BATCH)):
            yield from batch
            advance(len(batch))


def go_on_after(session: Session, table: Table) -> None:
    """Set the next id of a table on PostgreSQL after those it has; of an empty one the first is 1."""
    if is_postgresql(session) and "id" in table.columns:
        newest = f'(SELECT max(id) FROM "{table.name}")'
        sequence = "pg_get_serial_sequence(:name, 'id')"
        query = text(f"SELECT setval({sequence}, coalesce({newest}, 1), {newest} IS NOT NULL)")
        session.execute(query, {"name": f'"{table.name}"'})


_PAGES = 256
"""Pages copied in a step: 1 MB, what a judge's commit may have to wait for on the disk."""
_REST = 0.5
"""How long the disk is left to others after a step, in times of what the step took it."""
_LONGEST_REST_S = 0.02
_ANOTHER = "restore another backup: a file that pooler backup made"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was taken, or looked at."""

    file: Path
    n_events: int
    """Judgement events."""
    n_bytes: int


def back_up(
    url: URL, file: Path, *, replaces: bool = False, as_it_is: bool = False, progress: Progress = no_progress
) -> Backup:
    """Save a collection as one SQLite file, while others work on it.

    SQLite's online backup copies the pages of one state; who judges meanwhile waits for the disk alone. Of
    PostgreSQL one transaction is copied row by row. The file is checked, sealed (`store.db.files`), and
    appears when it is on the disk, or not at all. `replaces`:
    an earlier backup of the same collection gives way. `as_it_is`: rows and texts are saved, too, that are
    not as they were written. `StoreError`: no collection, a file in the way, damage, or a file that cannot
    be written.
    """
    check_folder(file)
    with engine_at(url) as engine:
        check_revision(engine)
        if file.exists():
            _check_replaceable(engine, file, replaces=replaces)
        with made_whole(file, replaces=replaces) as part:
            with reading(engine) as session:
                n_events = count_events(session)
                if url.get_backend_name() == "postgresql":
                    fill(session, part, progress)
                else:
                    _copy_pages(session, part, file, progress)
            with _writing_to(file):
                with closing(sqlite3.connect(part)) as connection:
                    # A backup opens as any collection does, without a byte of it changing.
                    connection.execute("PRAGMA journal_mode = WAL").close()
                _check(part, display(url), DAMAGED_HINT, "file", "references")
                if not as_it_is:
                    hint = "nothing was saved; pooler verify says more"
                    _check(part, display(url), hint, "digests", "texts")
            seal(part)
            return Backup(file, n_events, part.stat().st_size)


def _check(file: Path, where: str, hint: str, *names: str) -> None:
    """Refuse a file that some checks find a fault in; a good backup must not give way to it."""
    engine = read_only_engine(file)
    try:
        with Session(engine) as session:
            fault = first_fault(session, names)
    finally:
        engine.dispose()
    if fault:
        raise damaged(where, fault, hint=hint)


def look_at_backup(file: Path) -> Backup:
    """Check a backup, or any collection file, before it is restored.

    `StoreError`: it is not there, or damaged. `SchemaError`: no collection, or one of a newer schema.
    """
    if not file.exists():
        raise StoreError(f"there is no backup at {file}", hint="pooler backup FILE makes one")
    with hinting(_ANOTHER, also=NO_COLLECTION_HINT):
        with engine_at(file) as engine:
            check_revision(engine)
            with reading(engine) as session:
                n_events = count_events(session)
        with _writing_to(file):
            _check(file, str(file), _ANOTHER, "file", "references")
    return Backup(file, n_events, file.stat().st_size)


def _check_replaceable(engine: Engine, file: Path, *, replaces: bool) -> None:
    """Refuse to put a backup in the place of a file that is no earlier backup of the collection."""
    source = engine.url.database if engine.dialect.name == "sqlite" else None
    hint, message = "name another file, or remove this one yourself", ""
    if source and file.samefile(source):
        message, hint = f"{file} is the collection itself", "name another file for the backup"
    elif not replaces:
        message = f"{file} already exists"
        hint = "--replace puts this one in the place of an earlier backup"
    else:
        name, made, n_events = _identity(engine)
        try:
            with engine_at(file) as other:
                other_name, other_made, n_there = _identity(other)
        except StoreError as error:
            raise StoreError(f"{file} is no backup: {error.message}", hint=hint) from error
        if (other_name, other_made) != (name, made):
            message = f"{file} is a backup of another collection, `{other_name}`"
        elif n_there > n_events:
            message = f"{file} has {n_there - n_events:,} judgement events more than {display(engine.url)}"
        elif side_files(file):
            message, hint = f"{file} is in use", "close what has it open, or name another file"
    if message:
        raise StoreError(message, hint=hint)


def _identity(engine: Engine) -> tuple[str, object, int]:
    """Return name, moment of making, and number of events; of any schema."""
    if stored_revision(engine) is None:
        raise SchemaError(f"{display(engine.url)} is not a pooler collection")
    with reading(engine) as session:
        about = COLLECTION.c
        name, made = session.execute(select(about.name, about.created_at)).one()
        return name, made, count_events(session)


def _copy_pages(session: Session, part: Path, file: Path, progress: Progress) -> None:
    """Copy the pages that a reading session sees into a file, without a seal."""
    source: Any = session.connection().connection.driver_connection
    (total,) = source.execute("PRAGMA page_count").fetchone()
    with (
        _writing_to(file),
        progress("copying pages", total) as advance,
        closing(sqlite3.connect(part)) as target,
        part.open("rb") as stream,
    ):
        target.execute("PRAGMA journal_mode = OFF")
        target.execute("PRAGMA synchronous = OFF")
        # The session holds its state until it ends, so that a commit of a judge does not make the
        # backup begin again.
        source.backup(target, pages=_PAGES, progress=_stepping(stream.fileno(), advance))
        # A code that was revoked since is not to open anything again where this is restored.
        target.execute("PRAGMA secure_delete = ON")
        for table in OF_THIS_PLACE:
            target.execute(f"DELETE FROM {table.name}")
            target.execute("DELETE FROM digest WHERE name = ?", (table.name,))
        target.commit()
        target.execute("PRAGMA application_id = 0")
        target.execute("PRAGMA user_version = 0")


def _stepping(number: int, advance: Callable[[int], None]) -> Callable[[int, int, int], None]:
    """Make what is called after each step: it writes to the disk and reports how far it is."""
    done = 0

    def step(_status: int, remaining: int, total: int) -> None:
        nonlocal done
        # Left to the end, hundreds of megabytes would stand before a judge's next commit.
        began = time.monotonic()
        os.fsync(number)
        time.sleep(min(_LONGEST_REST_S, _REST * (time.monotonic() - began)))
        advance(total - remaining - done)
        done = total - remaining

    return step


@contextmanager
def _writing_to(file: Path) -> Iterator[None]:
    with engine_at(file) as engine, translated_errors(engine):
        yield


_RESTORED_PAGES = 2048
"""Pages put into a collection in a step: 8 MB."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What `restore` did."""

    backup: Backup
    kept: Path | None = None
    """The file that has what was there before; ``None`` = nothing was."""
    was_damaged: bool = False
    """Whether what was there before could not be backed up, and was put aside as it was."""


def restore(
    file: Path,
    url: URL,
    *,
    replaces: bool = False,
    with_erased: bool = False,
    progress: Progress = no_progress,
) -> Restored:
    """Make a collection of a backup, or of any collection file; it is checked first and not changed.

    With `replaces` a SQLite collection that is there gives way, saved beside itself as ``FILE.replaced`` in
    the one transaction that replaces it, or put aside as ``FILE.damaged``. `StoreError`, and what was there
    stays: the backup is damaged; somebody is judging there; the backup has judges who were erased there
    since, without `with_erased`.
    """
    backup = look_at_backup(file)
    if url.get_backend_name() == "postgresql":
        if replaces:
            message = f"{display(url)}: only a collection file can be replaced"
            raise StoreError(message, hint="pooler backup saves it; restore into an empty database")
        with engine_at(file) as engine, reading(engine) as session:
            fill(session, url, progress)
        return Restored(backup)
    target = Path(url.database or "")
    check_folder(target)
    if not target.exists() or not target.stat().st_size:
        for beside in side_files(target):
            message = f"{beside} was left by another collection"
            hint = "it may hold judgements of a file that was moved: move it too, or name another place"
            raise StoreError(message, hint=hint)
        with made_whole(target, replaces=target.exists()) as part:
            _copy_file(file, part, target, progress)
        return Restored(backup)
    if target.samefile(file):
        message = f"{target} is the backup itself"
        raise StoreError(message, hint="--collection names the collection to make of it")
    if not replaces:
        message = f"{target} already exists"
        hint = "--replace saves it and puts the backup in its place; --collection names another"
        raise StoreError(message, hint=hint)
    is_whole = _is_whole(target)
    if not with_erased:
        _check_erased(file, target)
    put = _replace if is_whole else _put_aside
    return Restored(backup, put(file, target, progress), was_damaged=not is_whole)


def _check_erased(file: Path, target: Path) -> None:
    erased: set[str] = set()
    with suppress(StoreError):  # a damaged collection may not tell
        erased = _identities(target, "erasure")
    if n_judges := len(erased & _identities(file, "judge")):
        who = "1 judge who was" if n_judges == 1 else f"{n_judges} judges who were"
        message = f"{file} still has {who} erased in {target}"
        hint = "--with-erased brings them back; pooler judges erase NAME then erases them again"
        raise StoreError(message, hint=hint)


def _identities(file: Path, table: str) -> set[str]:
    with engine_at(file) as engine, reading(engine) as session:
        return set(session.scalars(text(f'SELECT uid FROM "{table}"')))


def _copy_file(file: Path, part: Path, target: Path, progress: Progress) -> None:
    with engine_at(file) as engine, reading(engine) as session:
        _copy_pages(session, part, target, progress)


def _is_whole(file: Path) -> bool:
    try:
        with engine_at(file) as engine:
            is_collection = stored_revision(engine) is not None
        if is_collection:
            look_at_backup(file)
            return True
    except StoreError:
        return False
    message = f"{file} is a database of another program"
    raise SchemaError(message, hint="name another place with --collection, or move it away")


def _replace(file: Path, target: Path, progress: Progress) -> Path:
    """Put a backup in the place of a collection, in one transaction; return what was saved."""
    saved = _free_beside(target, "replaced")
    waiting = [saved]

    def save_first(_status: int, _remaining: int, _total: int) -> None:
        # At the first step no other program can write any more, and what was there can still be read.
        while waiting:
            back_up(URL.create("sqlite", database=str(target)), waiting.pop(), as_it_is=True)

    with engine_at(target) as engine:
        _check_no_sitting(engine)
        with part_beside(target) as part:
            _copy_file(file, part, target, progress)
            with (
                _writing_to(target),
                closing(sqlite3.connect(part)) as source,
                closing(sqlite3.connect(target, timeout=BUSY_TIMEOUT_MS / 1000)) as into,
            ):
                into.execute("PRAGMA synchronous = FULL").close()
                (total,) = source.execute("PRAGMA page_count").fetchone()
                # The last step commits, and the first must not be the last.
                source.backup(into, pages=min(_RESTORED_PAGES, max(1, total // 2)), progress=save_first)
    return saved


def _check_no_sitting(engine: Engine) -> None:
    with reading(engine) as session:
        query = (
            select(JUDGE.c.name)
            .join(SITTING, SITTING.c.judge_id == JUDGE.c.id)
            .where(SITTING.c.ended_at.is_(None), SITTING.c.seen_at > database_now(session) - ALIVE)
        )
        names = sorted(set(session.scalars(query)))
    if names:
        who = ", ".join(f"`{name}`" for name in names)
        message = f"{display(engine.url)}: {who} may be judging in it at this moment"
        hint = f"let them quit; one who vanished counts as gone after {ALIVE.seconds // 60} minutes"
        raise StoreError(message, hint=hint)


def _put_aside(file: Path, target: Path, progress: Progress) -> Path:
    """Put a damaged collection aside as it is, and a backup in its place."""
    aside = _free_beside(target, "damaged")
    with made_whole(target, replaces=True) as part:
        _copy_file(file, part, target, progress)
        # The log first: it must never stand beside the restored file.
        for name in SIDE_FILES:
            beside = target.with_name(target.name + name)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + name))
        try:
            aside.hardlink_to(target)
        except OSError:
            target.rename(aside)
    return aside


def _free_beside(target: Path, ending: str) -> Path:
    """Return the first name beside a file that nothing has: with a number behind it, if need be."""
    return target.with_name(
        free_name(f"{target.name}.{ending}", lambda name: target.with_name(name).exists())
    )


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
    from alembic import command  # which nothing else needs
    from alembic.config import Config
    from alembic.script import ScriptDirectory

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
