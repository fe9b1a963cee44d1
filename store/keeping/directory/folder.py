"""A whole collection into a folder, with a manifest of the size and hash of every file; and back."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.engine import URL

from store.db.database import Inside
from store.db.engine import collection_url, display, engine_at, writing
from store.db.files import check_folder, folder_beside, made_whole, real_place
from store.db.schema import check_free_place, make_tables
from store.db.tables import TABLES
from store.errors import ArgumentError, PoolerError, SchemaError
from store.formats.syntax.json_lines import read_json_object
from store.judging.kinds import Heard
from store.keeping.copying import go_on_after
from store.keeping.directory.contract import ExportChoice, FileFacts, facts_of, outgoing, write_contract
from store.keeping.directory.qrels import write_all_qrels
from store.keeping.directory.readme import readme
from store.keeping.directory.tables import FOLDER, Faults, TableReader, table_lines
from store.keeping.progress import Progress, no_progress
from store.keeping.verify import broken_rules

MANIFEST = "manifest.json"
README = "README.md"
FORMAT = "pooler collection"
VERSION = 1
_PATH = re.compile(r"([A-Za-z0-9_][A-Za-z0-9._-]*/)?[A-Za-z0-9_][A-Za-z0-9._-]*(?<!\.)")


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote."""

    counts: Mapping[str, int]
    """Rows by table, and ``texts``, ``notes`` (reasons too), ``as_handed_in`` (runs)."""
    qrels: list[dict[str, Any]]
    """What `qrels.json` says of every file of qrels."""
    n_idle: int
    """Judges who have graded nothing."""
    n_files: int
    n_bytes: int
    heard: Heard
    """Whose grades became those of the qrels; nobody where every judge has qrels of their own."""


def write_directory(
    transaction: AbstractContextManager[Inside],
    target: Path,
    choice: ExportChoice,
    *,
    program: str,
    replaces: bool = False,
    progress: Progress = no_progress,
) -> Written:
    """Write a whole collection into a directory, as it stands at one moment; or leave `target` as it was.

    `target` is not there or empty; with `replaces` also an earlier export that nobody has changed since.
    The same collection gives the same bytes, but for new names of judges, which are drawn by chance: nobody
    who knows the judges can draw them again.
    """
    choice.check()
    _check_target(target, replaces=replaces)
    with folder_beside(target, private=not choice.anonymised) as folder, transaction as inside:
        out = outgoing(inside, choice, folder, progress)
        tables = {name: n for name, n in out.counts.items() if name in TABLES}
        if choice.layout == "pooler":
            with progress("tables", len(tables)) as advance:
                for file, lines in table_lines(inside.session, tables, choice.left_out, out.renamed):
                    out.lines(file, lines)
                    advance(1)
        write_contract(out)
        qrels, n_idle, heard = write_all_qrels(out)
        out.lines(README, [readme(out, qrels)])
        files = {name: facts._asdict() for name, facts in out.files.items()}
        tool, _, version = program.partition(" ")
        data = {
            "format": FORMAT,
            "format_version": VERSION,
            "tool": tool,
            "version": version,
            "options": {"layout": choice.layout, "left_out": choice.left_out},
            "counts": tables,
            "readme": files.pop(README),  # told apart, since it is the publisher's to complete
            "files": files,
        }
        out.lines(MANIFEST, [json.dumps(data | {"sha256": _own_hash(data)}, indent=1, sort_keys=True)])
    sizes = [facts.bytes for facts in out.files.values()]
    return Written(out.counts, qrels, n_idle, len(sizes), sum(sizes), heard)


def _check_target(target: Path, *, replaces: bool) -> None:
    """Refuse a place where no directory can be made, or where there is one that is not to be replaced."""
    place, message, hint = real_place(target), "", "name another folder"
    there = {one.relative_to(target).as_posix() for one in target.rglob("*") if not one.is_dir()}
    if not place.parent.is_dir():
        message = f"there is no folder {place.parent}"
    elif target.exists() and not target.is_dir():
        message = "there is already something that is not a folder"
    elif place == Path.cwd().resolve():
        requirement = "must not be the folder you are in"
        raise ArgumentError("DIR", requirement, str(target), hint="name a folder in it")
    elif there and MANIFEST not in there:
        message, hint = "what is there is not an exported collection", f"{hint}, or remove this one first"
    elif there and not replaces:
        message, hint = "there is already an exported collection", f"--replace takes its place; or {hint}"
    elif there:
        manifest = read_manifest(target)
        files = {**manifest.files, README: manifest.readme}
        if changed := next((name for name in files if _file_fault(target, name, files[name])), None):
            message, hint = f"{changed} is not as it was exported", f"keep what is yours elsewhere, or {hint}"
        elif other := min(there - files.keys() - {MANIFEST}, default=None):
            message, hint = (
                f"{other} is not of the export, and would be lost",
                f"move it elsewhere, or {hint}",
            )
    if message:
        message = f"{target}: {message}"
        raise PoolerError(message, hint=hint)


class Manifest(NamedTuple):
    """A manifest that was read."""

    files: Mapping[str, FileFacts]
    readme: FileFacts
    counts: Mapping[str, int]
    """Rows of each table."""
    layout: str


def _own_hash(data: Mapping[str, Any]) -> str:
    """Hash a manifest without the hash that it holds."""
    rest = {key: value for key, value in data.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a directory; it names no file outside, and is of no newer program."""
    path, hint = folder / MANIFEST, "pooler export collection DIR makes one"
    if not path.is_file() or path.is_symlink():
        reason = f"there is no {MANIFEST}: it is no exported collection"
        message = f"{folder}: {reason if folder.is_dir() else 'there is no such folder'}"
        raise PoolerError(message, hint=hint)
    try:
        data = read_json_object(path.read_text("utf-8"))
        version = data.get("format_version")
        if data.get("format") != FORMAT or type(version) is not int:
            message = f"{path} is not that of a collection which this program exported"
            raise PoolerError(message, hint=hint)
        if version > VERSION:
            message = f"{folder} has the newer format {version}; this program knows {VERSION}"
            raise SchemaError(message, hint="install the newest pooler")
        if data.get("sha256") != _own_hash(data):
            message = f"{path}: expected its own hash, got another: it was changed"
            raise PoolerError(message, hint="get the directory again")
        files = {name: FileFacts(**one) for name, one in {**data["files"], README: data["readme"]}.items()}
        counts = {name: int(n) for name, n in data["counts"].items()}
        layout = str(data["options"]["layout"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"{path}: {error}"
        raise PoolerError(message, hint="get the directory again") from error
    if odd := [name for name in files if not _PATH.fullmatch(name)]:
        message = f"{path}: `files`: expected files in the directory, got {odd[0]!r:.200}"
        raise PoolerError(message)
    return Manifest(files, files.pop(README), counts, layout)


def _file_fault(folder: Path, name: str, facts: FileFacts) -> str | None:
    """Say why a file is not the one that a manifest lists; ``None`` when it is."""
    path = folder / name
    # A link could lead anywhere, and reading from a pipe would never end.
    if path.is_symlink() or ("/" in name and path.parent.is_symlink()):
        return "expected a file, got a link"
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "expected a file, and there is none"
    if not stat.S_ISREG(status.st_mode):
        return "expected a file, got something else"
    if status.st_size != facts.bytes:
        return f"expected {facts.bytes:,} bytes, got {status.st_size:,}: it was changed"
    return None if facts_of(path) == facts else "expected another hash (sha256): it was changed"


class Read(NamedTuple):
    """What an import read: into which collection, rows by table, and what else there was."""

    where: str
    counts: Mapping[str, int]
    readme_edited: bool
    """Whether the README is another one than was exported."""
    not_read: list[str]
    """What else lies in the folder, sorted; of another folder in it the name alone."""


def read_directory(where: str, folder: Path, *, progress: Progress = no_progress) -> Read:
    """Make the collection that a directory was exported from, or none: every fault is told by file and line.

    Nothing is read but files that the manifest lists, lie in the directory, and are no links.
    """
    manifest, url, faults = read_manifest(folder), collection_url(where), Faults(folder)
    if manifest.layout != "pooler":
        message = f"{folder} is laid out as {manifest.layout}: it does not hold a whole collection"
        hint = "`import topics`, `docs`, `runs` and `judgements` take its files one by one"
        raise PoolerError(message, hint=hint)
    with progress("files", len(manifest.files)) as advance:
        for name, facts in sorted(manifest.files.items()):
            if fault := _file_fault(folder, name, facts):
                faults[name].add(None, fault)
            advance(1)
    faults.raise_if_any()
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        check_free_place(file)
        check_folder(file)
        with made_whole(file, replaces=file.exists()) as part:
            _fill(part, folder, manifest, faults, progress)
    else:
        _fill(url, folder, manifest, faults, progress)
    edited = _file_fault(folder, README, manifest.readme) is not None
    known = {MANIFEST, README, *manifest.files}
    folders = {name.rpartition("/")[0] for name in known}
    found = {
        path.relative_to(folder).as_posix() for parent in folders for path in (folder / parent).iterdir()
    }
    return Read(
        display(url) if "://" in where else where, manifest.counts, edited, sorted(found - known - folders)
    )


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
            faults[FOLDER].add(None, words)
        faults.raise_if_any()
        for table in TABLES.values():
            go_on_after(session, table)
