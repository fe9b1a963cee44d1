"""A directory back into a collection: the same one, or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select, text, update
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, SQLModel

from store.content.documents import fields_text
from store.db.database import Database, Inside
from store.db.engine import collection_url, make_engine, writing
from store.db.files import made_whole
from store.db.tables import TABLES
from store.errors import PoolerError, StoreError
from store.keeping.copying import go_on_after
from store.keeping.directory.content import DOCNOS, DOCUMENTS, TOPICS
from store.keeping.directory.manifest import (
    MANIFEST,
    README,
    Manifest,
    check_files,
    file_fault,
    read_manifest,
)
from store.keeping.directory.parts import COUNTED, PARTS
from store.keeping.directory.people import JUDGEMENTS, JUDGES
from store.keeping.directory.tables import ALWAYS_COUNTED, About, Faults, Incoming
from store.keeping.progress import Progress, no_progress
from store.records import Run


@dataclass(frozen=True, slots=True)
class Read:
    """What an import read."""

    where: str
    """The collection."""
    counts: Mapping[str, int]
    """What the manifest counts."""
    readme_edited: bool
    """Whether the README is another one than was exported."""
    not_read: list[str]
    """Paths in the folder that are not of the export, sorted; of another folder in it the name
    alone."""


def read_directory(
    where: str,
    folder: Path,
    *,
    read_run: Callable[[str], Run] | None = None,
    progress: Progress = no_progress,
) -> Read:
    """Make the collection that a directory was exported from, or none: every fault is told by file and line.

    Nothing is read but files that the manifest lists, lie in the directory, and are no links. `read_run`
    reads run files that stand there as they were handed in, in whatever form.
    """
    manifest = read_manifest(folder)
    if manifest.layout != "pooler":
        message = f"{folder} is laid out as {manifest.layout}: it does not hold a whole collection"
        hint = "`import topics`, `docs`, `runs` and `judgements` take its files one by one"
        raise PoolerError(message, hint=hint)
    faults = Faults(folder)
    documents = DOCNOS if DOCNOS.file in manifest.files else DOCUMENTS
    for name in (TOPICS.file, JUDGES.file, JUDGEMENTS.file, documents.file):
        if name not in manifest.files:
            faults.of(MANIFEST).add(None, f"`files`: expected {name}, and it is not listed")
    check_files(folder, manifest, faults, progress)
    faults.raise_if_any()
    with _new_collection(where, manifest.about) as opened:
        try:
            with opened.filling() as inside:
                _fill(inside, folder, manifest, faults, read_run, progress)
        except (SQLAlchemyError, UnicodeEncodeError) as error:
            reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
            message = f"{folder}: the database cannot hold what is there: {reason}"
            raise PoolerError(message) from error
        place = opened.where
    edited = file_fault(folder, README, manifest.readme) is not None
    return Read(place if "://" in where else where, manifest.counts, edited, _not_read(folder, manifest))


def _not_read(folder: Path, manifest: Manifest) -> list[str]:
    """List what lies in a directory and is not of the export."""
    known = {MANIFEST, README, *manifest.files}
    folders = {name.rpartition("/")[0] for name in known} - {""}
    found: list[str] = []
    for parent in ("", *sorted(folders)):
        for path in (folder / parent).iterdir():
            name = path.relative_to(folder).as_posix()
            if name not in known and name not in folders:
                found.append(name)
    return sorted(found)


def _fill(
    inside: Inside,
    folder: Path,
    manifest: Manifest,
    faults: Faults,
    read_run: Callable[[str], Run] | None,
    progress: Progress,
) -> None:
    """Read every file into an empty collection."""
    coming = Incoming(
        session=inside.session,
        folder=folder,
        files=manifest.files,
        scale=manifest.about.scale,
        faults=faults,
        progress=progress,
        counts=manifest.counts,
        read_run=read_run,
    )
    for part in PARTS:
        part.read(coming)
    _check_counts(inside.session, manifest, faults)
    faults.raise_if_any()
    about = {"created_at": manifest.about.created_at, "fields": fields_text(manifest.about.fields)}
    inside.session.execute(update(TABLES["collection"]).values(about))
    for table in TABLES.values():
        go_on_after(inside.session, table)


def _check_counts(session: Session, manifest: Manifest, faults: Faults) -> None:
    """Tell where a file has more or fewer rows than the manifest says."""
    for name, table in COUNTED.items():
        # Of what few collections have, not counted is none.
        expected = manifest.counts.get(name, None if name in ALWAYS_COUNTED else 0)
        found = session.scalar(select(func.count()).select_from(TABLES[table])) or 0
        if expected != found:
            message = f"`counts`: expected {found:,} for {name}, as was read, got {expected}"
            faults.of(MANIFEST).add(None, message, "counts")


@contextmanager
def _new_collection(where: str, about: About) -> Iterator[Database]:
    """Make an empty collection that is gone again when the block raises."""
    url = collection_url(where)
    if url.get_backend_name() != "sqlite":
        opened = _created(where, about)
        try:
            with opened:
                yield opened
        except BaseException:
            _remove_tables(where)
            raise
        return
    file = Path(url.database or "")
    _check_free(file)
    with made_whole(file, replaces=file.exists()) as part:
        with _created(str(part), about) as opened:
            yield opened
        _check_free(file)


def _created(where: str, about: About) -> Database:
    """Make an empty collection of some name and scale."""
    return Database.create(where, name=about.name, scale=about.scale, program=about.created_by)


def _check_free(file: Path) -> None:
    """Refuse a place where there is something already, or no folder."""
    hint = "an imported collection is a new one: name a file that is not there with --collection"
    if file.is_dir() or (file.exists() and file.stat().st_size):
        message = f"{file} already exists"
        raise StoreError(message, hint=hint)
    if not file.parent.is_dir():
        message = f"{file}: the folder {file.parent} does not exist"
        raise StoreError(message)
    if not os.access(file.parent, os.W_OK):
        message = f"{file}: cannot be written: permission denied"
        raise StoreError(message)


def _remove_tables(where: str) -> None:
    """Remove the tables of a collection that was begun."""
    engine = make_engine(collection_url(where))
    try:
        with writing(engine) as session:
            SQLModel.metadata.drop_all(session.connection())
            session.execute(text("DROP TABLE IF EXISTS alembic_version"))
    finally:
        engine.dispose()
