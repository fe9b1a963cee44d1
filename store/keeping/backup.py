"""Backups taken and restored."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, inspect, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from store.db.engine import (
    BUSY_TIMEOUT_MS,
    DAMAGED,
    MISREAD,
    SCHEMA_REVISION,
    check_columns,
    check_revision,
    database_now,
    display,
    hinting,
    make_engine,
    read_only_engine,
    reading,
    stored_revision,
    translated_errors,
)
from store.db.files import (
    SIDE_FILES,
    check_folder,
    made_whole,
    part_beside,
    seal,
    seal_fault,
    side_files,
    unseal,
)
from store.db.tables import JUDGE, SITTING
from store.errors import SchemaError, StoreError
from store.judging.sittings import ALIVE
from store.keeping.checks import wrong_checksums, wrong_texts
from store.keeping.copying import Counts, copy_collection, fill_file
from store.keeping.directory.tables import Progress, no_progress
from store.keeping.merge.copies import is_part

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
    url: URL, file: Path, *, replaces: bool = False, as_it_is: bool = False, progress: Progress = no_progress
) -> Backup:
    """Save a collection as one SQLite file, while others work on it.

    SQLite's online backup reads one state of the collection, as of the beginning, and copies its pages; who
    judges meanwhile waits for the disk alone, which is given a few megabytes at a time. Of PostgreSQL one
    transaction is copied row by row. The file is then checked (integrity, references, checksums, hashes of
    texts, rows of every table counted on both sides), sealed (`store.db.files`), and appears when it is on
    the disk, or not at all. A SQLite collection may have an older schema.

    `replaces`: an earlier backup of the same collection gives way. `as_it_is`: rows and texts are saved, too,
    that are not as they were written. `SchemaError`: no collection, or on a server one of another schema.
    `StoreError`: a file in the way, a damaged collection, or a file that cannot be written.
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

    `StoreError`: it is not there, or damaged.

    Every byte counts where it is sealed, else SQLite's own check of the file and of its references.
    `SchemaError`: no collection, or one of a newer schema.
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
        message = f"{file} already exists"
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
        message = f"{file} has {there[3] - here[3]:,} judgement events more than {display(engine.url)}"
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
    """Finish a file that was written, and check that it is whole and all is in it (`StoreError`)."""
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
    part_of: str | None = None
    """Whose part of what it is, where `export work` made it: "`ann`'s part of `wine`"."""


def restore(
    file: Path,
    url: URL,
    *,
    replaces: bool = False,
    with_erased: bool = False,
    progress: Progress = no_progress,
) -> Restored:
    """Make a collection of a backup, or of any collection file; it is checked first and not changed.

    With `replaces` a SQLite collection that is there gives way, saved beside itself before as
    ``FILE.replaced``, one that is damaged put aside as ``FILE.damaged``; it is replaced in one transaction,
    in which it was saved, so that no judgement can come in between. A new file appears whole or not at all.
    `StoreError`, and what was there stays: the backup is damaged; somebody is judging there; the backup has
    judges who were erased there since, without `with_erased`; it is one judge's part and would replace a
    whole collection.
    """
    backup = look_at_backup(file)
    part_of = _part_of(file)
    if url.get_backend_name() == "postgresql":
        if replaces:
            message = f"{display(url)}: only a collection file can be replaced"
            hint = "pooler backup saves it; restore into an empty database"
            raise StoreError(message, hint=hint)
        copy_collection(URL.create("sqlite", database=str(file)), url, progress=progress)
        return Restored(backup, part_of=part_of)
    target = Path(url.database or "")
    check_folder(target)
    if not target.exists() or not target.stat().st_size:
        _make(file, target, progress)
        return Restored(backup, part_of=part_of)
    if target.samefile(file):
        message = f"{target} is the backup itself"
        raise StoreError(message, hint="--collection names the collection to make of it")
    if not replaces:
        message = f"{target} already exists"
        hint = "--replace saves it and puts the backup in its place; --collection names another"
        raise StoreError(message, hint=hint)
    is_whole = _is_whole(url)
    if part_of is not None and is_whole and _part_of(target) is None:
        message = f"{file} is {part_of}, and {target} is a whole collection"
        hint = f"pooler merge {file} --collection {target} takes in what the judge did"
        raise StoreError(message, hint=hint)
    if not with_erased:
        _check_erased(file, target)
    if is_whole:
        return Restored(backup, _replace(file, url, progress), part_of=part_of)
    aside = _put_aside(file, target, progress)
    return Restored(backup, aside, was_damaged=True, part_of=part_of)


def _part_of(file: Path) -> str | None:
    """Say whose part of what a collection file is; ``None`` = it is a whole one."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    try:
        with reading(engine) as session:
            if not is_part(session):
                return None
            name = session.scalar(text("SELECT name FROM collection"))
            judge = session.scalar(text("SELECT name FROM judge ORDER BY id"))
            return f"`{judge}`'s part of `{name}`"
    finally:
        engine.dispose()


def _check_erased(file: Path, target: Path) -> None:
    """Refuse a backup with judges who were erased in the collection that is to give way."""
    erased: set[str] = set()
    with suppress(StoreError):  # a damaged collection may not tell
        erased = _identities(target, "erasure")
    if n_judges := len(erased & _identities(file, "judge")):
        who = "1 judge who was" if n_judges == 1 else f"{n_judges} judges who were"
        message = f"{file} still has {who} erased in {target}"
        hint = "--with-erased brings them back; pooler judges erase NAME then erases them again"
        raise StoreError(message, hint=hint)


def _identities(file: Path, table: str) -> set[str]:
    """Return the identities of judges in a table of a collection file of any schema."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    try:
        with reading(engine) as session:
            looker = inspect(session.connection())
            if not looker.has_table(table):
                return set()
            if "uid" in {column["name"] for column in looker.get_columns(table)}:
                return set(session.scalars(text(f'SELECT uid FROM "{table}"')))
            # What `pooler upgrade` will give them: migration 0004.
            came = session.execute(text("SELECT id, CAST(created_at AS TEXT) FROM judge"))
            return {sha256(f"{row[0]} {row[1]}".encode()).hexdigest()[:16] for row in came}
    finally:
        engine.dispose()


def _make(file: Path, target: Path, progress: Progress) -> None:
    """Make a collection file of a backup where there is none."""
    for beside in side_files(target):
        message = f"{beside} is left of another collection"
        hint = "it may hold judgements of a file that was moved: move it too, or name another place"
        raise StoreError(message, hint=hint)
    with made_whole(target, replaces=target.exists()) as part:
        _copy_unsealed(file, part, target, progress)


def _copy_unsealed(file: Path, part: Path, target: Path, progress: Progress) -> None:
    """Copy a backup to a place beside its target, as a collection to be worked on."""
    engine = make_engine(URL.create("sqlite", database=str(file)))
    try:
        with reading(engine) as session:
            copy_pages(session, part, target, progress)
        unseal(part)
    finally:
        engine.dispose()


def _is_whole(url: URL) -> bool:
    """Say whether a file is a collection that can be backed up."""
    engine = make_engine(url)
    try:
        if stored_revision(engine) is not None:
            look_at_backup(Path(url.database or ""))
            return True
    except StoreError:
        return False
    finally:
        engine.dispose()
    message = f"{display(url)} is a database of something else"
    raise SchemaError(message, hint="name another place with --collection, or move it away")


def _replace(file: Path, url: URL, progress: Progress) -> Path:
    """Put a backup in the place of a collection, in one transaction; return what was saved."""
    engine = make_engine(url)
    target = Path(url.database or "")
    saved = _free_name(target, "replaced")
    try:
        _check_nobody_judges(engine)
        with part_beside(target) as part:
            _copy_unsealed(file, part, target, progress)
            with (
                writing_to(target),
                opened_alone(part) as source,
                closing(sqlite3.connect(target, timeout=BUSY_TIMEOUT_MS / 1000)) as into,
            ):
                into.execute("PRAGMA synchronous = FULL").close()
                step = _saving_first(lambda: back_up(url, saved, as_it_is=True))
                (total,) = source.execute("PRAGMA page_count").fetchone()
                # The last step commits, and the first must not be the last.
                source.backup(into, pages=min(_RESTORED_PAGES, max(1, total // 2)), progress=step)
    finally:
        engine.dispose()
    return saved


def _saving_first(save: Callable[[], Any]) -> Callable[[int, int, int], None]:
    """Make what is called after each step: the first time it saves what is being replaced.

    By then nobody else can write, and what was there can still be read.
    """
    waiting = [save]

    def step(_status: int, _remaining: int, _total: int) -> None:
        if waiting:
            waiting.pop()()

    return step


def _check_nobody_judges(engine: Engine) -> None:
    """Refuse to replace a collection under the hands of judges."""
    with reading(engine) as session:
        query = (
            select(JUDGE.c.name)
            .join(SITTING, SITTING.c.judge_id == JUDGE.c.id)
            .where(SITTING.c.ended_at.is_(None), SITTING.c.seen_at > database_now(session) - ALIVE)
            .order_by(JUDGE.c.name)
        )
        names = sorted(set(session.scalars(query)))
    if names:
        who = ", ".join(f"`{name}`" for name in names)
        message = f"{display(engine.url)}: {who} may be judging in it at this moment"
        hint = f"let them quit; one who vanished counts as gone after {ALIVE.seconds // 60} minutes"
        raise StoreError(message, hint=hint)


def _put_aside(file: Path, target: Path, progress: Progress) -> Path:
    """Put a damaged collection aside as it is, and a backup in its place."""
    aside = _free_name(target, "damaged")
    with made_whole(target, replaces=True) as part:
        _copy_unsealed(file, part, target, progress)
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


def _free_name(target: Path, what: str) -> Path:
    """Return the first name beside a file that nothing has: `FILE.what`, `FILE.what-2`, ..."""
    name, number = target.with_name(f"{target.name}.{what}"), 1
    while name.exists():
        number += 1
        name = target.with_name(f"{target.name}.{what}-{number}")
    return name
