"""A backup becomes a collection again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, inspect, select, text
from sqlalchemy.engine import URL

from store.backup import Backup, back_up, copy_pages, look_at_backup, opened_alone, writing_to
from store.copying import copy_collection
from store.database import (
    BUSY_TIMEOUT_MS,
    database_now,
    display,
    make_engine,
    reading,
    stored_revision,
)
from store.directory.moving import Progress, no_progress
from store.errors import SchemaError, StoreError
from store.leftovers import SIDE_FILES
from store.merging.copies import is_part
from store.models import JUDGE, SITTING
from store.seals import unseal
from store.sittings import ALIVE
from store.whole_files import check_folder, made_whole, part_beside, side_files

_PAGES = 2048
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
    """Make a collection of a backup.

    Parameters
    ----------
    file : Path
        A backup, or any collection file; it is checked first and not changed.
    url : URL
        Where to: a place without a collection, unless `replaces`.
    replaces : bool, default=False
        Whether a SQLite collection that is there gives way; it is saved beside itself before, as
        ``FILE.replaced``. One that is damaged is put aside as it is, as ``FILE.damaged``.
    with_erased : bool, default=False
        Whether judges come back who were erased in the collection that gives way.
    progress : callable
        Shows how far it is.

    Returns
    -------
    Restored
        What was restored, and where that is which was there before.

    Raises
    ------
    SchemaError
        If the backup is no collection, or of a newer schema.
    StoreError
        If the backup is damaged; if there is a collection and `replaces` is false, or somebody is
        judging in it, or the backup has judges who were erased there and `with_erased` is false, or
        is one judge's part and would replace a whole collection. What was there stays then.

    Notes
    -----
    A new file appears whole or not at all. A collection that is replaced is replaced in one
    transaction, in which it was saved, so that no judgement can come in between.
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
        message = f"{target} is there already"
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
    """Say whether a file is a collection that can be backed up.

    Raises
    ------
    SchemaError
        If it is a database of something else.
    """
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
                source.backup(into, pages=min(_PAGES, max(1, total // 2)), progress=step)
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
