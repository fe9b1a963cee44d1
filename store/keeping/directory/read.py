"""A directory back into a collection: the same one, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL

from store.db.engine import collection_url, display, engine_at, writing
from store.db.files import check_folder, made_whole
from store.db.schema import check_free_place, make_tables
from store.db.tables import TABLES
from store.errors import PoolerError
from store.keeping.copying import go_on_after
from store.keeping.directory.folder import MANIFEST, README, Manifest, check_files, file_fault, read_manifest
from store.keeping.directory.tables import FOLDER, Faults, TableReader
from store.keeping.progress import Progress, no_progress
from store.keeping.verify import broken_rules


@dataclass(frozen=True, slots=True)
class Read:
    """What an import read."""

    where: str
    """The collection."""
    counts: Mapping[str, int]
    """Rows by table."""
    readme_edited: bool
    """Whether the README is another one than was exported."""
    not_read: list[str]
    """Paths in the folder that are not of the export, sorted; of another folder in it the name
    alone."""


def read_directory(where: str, folder: Path, *, progress: Progress = no_progress) -> Read:
    """Make the collection that a directory was exported from, or none: every fault is told by file and line.

    Nothing is read but files that the manifest lists, lie in the directory, and are no links.
    """
    manifest, url = read_manifest(folder), collection_url(where)
    if manifest.layout != "pooler":
        message = f"{folder} is laid out as {manifest.layout}: it does not hold a whole collection"
        hint = "`import topics`, `docs`, `runs` and `judgements` take its files one by one"
        raise PoolerError(message, hint=hint)
    faults = Faults(folder)
    check_files(folder, manifest, faults, progress)
    faults.raise_if_any()
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        check_free_place(file)
        check_folder(file)
        with made_whole(file, replaces=file.exists()) as part:
            _fill(part, folder, manifest, faults, progress)
    else:
        _fill(url, folder, manifest, faults, progress)
        where = display(url)
    edited = file_fault(folder, README, manifest.readme) is not None
    known = {MANIFEST, README, *manifest.files}
    folders = {name.rpartition("/")[0] for name in known}
    found = {
        path.relative_to(folder).as_posix() for parent in folders for path in (folder / parent).iterdir()
    }
    return Read(where, manifest.counts, edited, sorted(found - known - folders))


def _fill(place: URL | Path, folder: Path, manifest: Manifest, faults: Faults, progress: Progress) -> None:
    """Read every table into an empty database, in one transaction; the rules of a collection must hold."""
    with (
        engine_at(place) as engine,
        progress("tables", sum(manifest.counts.values())) as advance,
        writing(engine, bulk=True, creates=True) as session,
    ):
        make_tables(session)
        TableReader(session, folder, manifest.counts, faults).read(manifest.files, advance)
        faults.raise_if_any()
        for words in broken_rules(session):
            faults.of(FOLDER).add(None, words)
        faults.raise_if_any()
        for table in TABLES.values():
            go_on_after(session, table)
