"""Backups: a collection as one sealed SQLite file, taken while judges work."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from store.checks.checksums import wrong_checksums
from store.checks.texts import wrong_texts
from store.copying import Counts, fill_file
from store.database import (
    SCHEMA_REVISION,
    check_columns,
    check_revision,
    display,
    make_engine,
    read_only_engine,
    reading,
    stored_revision,
    translated_errors,
)
from store.directory.moving import Progress, no_progress
from store.driver_errors import DAMAGED, MISREAD, hinting
from store.errors import SchemaError, StoreError
from store.merging.copies import is_part
from store.seals import seal, seal_fault
from store.whole_files import check_folder, made_whole, side_files

_PAGES = 256
"""Pages copied in a step: 1 MB, what a judge's commit may have to wait for on the disk."""
_REST = 0.5
"""How long the disk is left to others after a step, in times of what the step took it."""
_LONGEST_REST_S = 0.02
_ANOTHER = "restore another backup"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was taken, or looked at."""

    file: Path
    counts: Counts
    """Rows by table."""
    n_bytes: int

    @property
    def n_events(self) -> int:
        """Judgement events."""
        return self.counts.get("judgement", 0)


def back_up(
    url: URL,
    file: Path,
    *,
    replaces: bool = False,
    as_it_is: bool = False,
    progress: Progress = no_progress,
) -> Backup:
    """Save a collection as one SQLite file, while others work on it.

    Parameters
    ----------
    url : URL
        The collection; a SQLite one may have an older schema.
    file : Path
        Where to. It appears when all is in it, verified and on the disk, or not at all.
    replaces : bool, default=False
        Whether it takes the place of an earlier backup of the same collection.
    as_it_is : bool, default=False
        Whether rows and texts are saved, too, that are not as they were written, by their
        checksums and hashes.
    progress : callable
        Shows how far it is.

    Raises
    ------
    SchemaError
        If there is no collection, or on a server one of another schema.
    StoreError
        If there is a file and `replaces` is false, or it is no backup of this collection; if the
        collection is damaged, or the file cannot be written.

    Notes
    -----
    SQLite's online backup reads one state of the collection, as of the beginning, and copies its
    pages; who judges meanwhile waits for the disk alone, which is given a few megabytes at a time.
    Of PostgreSQL one transaction is copied row by row. The file is then checked (integrity,
    references, checksums, hashes of texts, rows of every table counted on both sides) and sealed
    (`store.seals`).
    """
    check_folder(file)
    engine = make_engine(url)
    try:
        if url.get_backend_name() == "postgresql":
            check_columns(engine)
        elif stored_revision(engine) is None:
            check_revision(engine)  # refuses it in the usual words
        check_replaceable(engine, file, replaces=replaces)
        with made_whole(file, replaces=replaces) as part:
            with reading(engine) as session:
                if url.get_backend_name() == "postgresql":
                    counts = fill_file(session, part, progress)
                else:
                    counts = count_tables(session)
                    copy_pages(session, part, file, progress)
            with writing_to(file):
                _finish(part, display(url), counts)
            if not as_it_is:
                _check_rows(part, display(url))
            seal(part)
            return Backup(file, counts, part.stat().st_size)
    finally:
        engine.dispose()


def look_at_backup(file: Path) -> Backup:
    """Check a backup, or any collection file, before it is restored.

    Raises
    ------
    SchemaError
        If it is no collection, or one of a newer schema.
    StoreError
        If it is not there, or damaged: every byte counts where it is sealed, else SQLite's own
        check of the file and of its references.
    """
    if not file.exists():
        message = f"there is no backup at {file}"
        raise StoreError(message, hint="pooler backup FILE makes one")
    with hinting(_ANOTHER):
        engine = make_engine(URL.create("sqlite", database=str(file)))
        try:
            revision = stored_revision(engine)
            if revision is None or not revision.isdigit() or revision > SCHEMA_REVISION:
                check_revision(engine)
            with reading(engine) as session:
                counts = count_tables(session)
        finally:
            engine.dispose()
        check_seal(file)
        with opened_alone(file) as connection:
            _check_file(connection, str(file), _ANOTHER)
    return Backup(file, counts, file.stat().st_size)


def check_seal(file: Path) -> None:
    """Refuse a sealed file that is not as it was written."""
    if fault := seal_fault(file):
        message = f"{file}: {DAMAGED}: {fault}"
        raise StoreError(message, hint=_ANOTHER)


def check_replaceable(engine: Engine, file: Path, *, replaces: bool) -> None:
    """Refuse a file that is no earlier backup of a collection, or may not be replaced."""
    if not file.exists():
        return
    source = engine.url.database if engine.dialect.name == "sqlite" else None
    if source and file.samefile(source):
        message = f"{file} is the collection itself"
        raise StoreError(message, hint="name another file for the backup")
    if not replaces:
        message = f"{file} is there already"
        raise StoreError(message, hint="--replace takes the place of an earlier backup")
    other = make_engine(URL.create("sqlite", database=str(file)))
    hint = "name another file, or remove this one yourself"
    try:
        there = _identity(other)
    except StoreError as error:
        message = f"{file} is no backup: {error.message}"
        raise StoreError(message, hint=hint) from error
    finally:
        other.dispose()
    here = _identity(engine)
    if there[:2] != here[:2]:
        message = f"{file} is a backup of another collection, `{there[0]}`"
        raise StoreError(message, hint=hint)
    if there[2] != here[2]:
        kinds = ("a whole collection", "one judge's part of it")
        message = f"{file} is of {kinds[there[2]]}, and {display(engine.url)} is {kinds[here[2]]}"
        raise StoreError(message, hint=hint)
    if there[3] > here[3]:
        message = (
            f"{file} has {there[3] - here[3]:,} judgement events more than {display(engine.url)}"
        )
        raise StoreError(message, hint=hint)
    if side_files(file):
        message = f"{file} is in use, or was when the power went"
        hint = f"close it; `pooler status --collection {file}` tidies up"
        raise StoreError(message, hint=hint)


def _identity(engine: Engine) -> tuple[str, str, bool, int]:
    """Return name, moment of making, whether it is a part, and number of events; of any schema."""
    if stored_revision(engine) is None:
        message = f"{display(engine.url)} is not a pooler collection"
        raise SchemaError(message)
    with reading(engine) as session:
        name, made = session.execute(
            text("SELECT name, created_at FROM collection")
            if engine.dialect.name == "sqlite"
            else text(
                "SELECT name, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
                " FROM collection"
            )
        ).one()
        n_events = session.scalar(text("SELECT count(*) FROM judgement")) or 0
        return str(name), str(made), is_part(session), n_events


def count_tables(session: Session) -> Counts:
    """Count the rows of every table of a collection of any schema."""
    connection = session.connection()
    names = sorted(inspect(connection).get_table_names())
    return {
        name: session.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0
        for name in names
        if name != "alembic_version"
    }


def copy_pages(session: Session, part: Path, file: Path, progress: Progress) -> None:
    """Copy the pages that a reading session sees into a file."""
    source: Any = session.connection().connection.driver_connection
    (total,) = source.execute("PRAGMA page_count").fetchone()
    with (
        writing_to(file),
        progress("copying pages", total) as advance,
        closing(sqlite3.connect(part)) as target,
        part.open("rb") as stream,
    ):
        target.execute("PRAGMA journal_mode = OFF")
        target.execute("PRAGMA synchronous = OFF")
        # The session holds its state until it ends, so that a commit of a judge does not make the
        # backup begin again.
        source.backup(target, pages=_PAGES, progress=_stepping(stream.fileno(), advance))


def _stepping(number: int, advance: Callable[[int], None]) -> Callable[[int, int, int], None]:
    """Make what is called after each step: it writes to the disk and tells how far it is."""
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
def writing_to(file: Path) -> Iterator[None]:
    """Name the file that could not be written."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    with translated_errors(engine):
        yield


def _finish(part: Path, where: str, counts: Counts) -> None:
    """Finish a file that was written, and check it.

    Raises
    ------
    StoreError
        If it is not whole, or not all is in it: what it was made of is damaged.
    """
    with closing(sqlite3.connect(part)) as connection:
        # A backup opens as any collection does, without a byte of it changing.
        connection.execute("PRAGMA journal_mode = WAL").close()
    with opened_alone(part) as connection:
        _check_file(connection, where, "nothing was saved; pooler verify says more")
        for name, count in counts.items():
            (written,) = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()
            if written != count:
                message = f"{where}: {count} rows of `{name}` were to be saved, and {written} were"
                raise StoreError(message, hint="nothing was saved; pooler verify says more")


def _check_rows(part: Path, where: str) -> None:
    """Refuse what is not as it was written: a good backup must not give way to it."""
    engine = read_only_engine(part)
    try:
        with Session(engine) as session:
            try:
                faults = wrong_checksums(session).examples or wrong_texts(session).examples
            except (SQLAlchemyError, sqlite3.Error, *MISREAD) as error:
                reason = str(getattr(error, "orig", None) or error) or type(error).__name__
                faults = [f"what is stored cannot be read: {reason.splitlines()[0]}"]
    finally:
        engine.dispose()
    if faults:
        message = f"{where}: {DAMAGED}: {faults[0]}"
        hint = "nothing was saved; pooler verify says more, and pooler copy copies it as it is"
        raise StoreError(message, hint=hint)


@contextmanager
def opened_alone(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a file to read, without writing anything beside it unless others have it open."""
    unchanging = "" if side_files(file) else "&immutable=1"
    name = f"file:{quote(str(file.absolute()))}?mode=ro{unchanging}"
    with writing_to(file), closing(sqlite3.connect(name, uri=True)) as connection:
        yield connection


def _check_file(connection: sqlite3.Connection, where: str, hint: str) -> None:
    """Refuse a SQLite file that is damaged, or whose rows refer to none."""
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        reason = str(said).splitlines()[-1]
        message = f"{where}: {DAMAGED}: {reason}"
        raise StoreError(message, hint=hint)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        message = f"{where}: {DAMAGED}: a row of `{broken[0]}` refers to no `{broken[2]}`"
        raise StoreError(message, hint=hint)
