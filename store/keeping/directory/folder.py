"""An exported folder: whole or not at all, with a manifest of the size and hash of every file."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from store.db.files import give_rights, place_beside, real_place, remove_leftovers
from store.errors import ArgumentError, PoolerError, SchemaError
from store.formats.syntax.json_lines import once
from store.keeping.directory.tables import Faults
from store.keeping.progress import Progress

MANIFEST = "manifest.json"
README = "README.md"
FORMAT = "pooler collection"
VERSION = 1
_LARGEST = 1 << 28
"""Bytes of a manifest beyond which it is none."""
_BUFFER = 1 << 18
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that are devices on Windows, whatever comes behind a dot."""
_PATH = re.compile(r"([A-Za-z0-9_][A-Za-z0-9._-]*/)?[A-Za-z0-9_][A-Za-z0-9._-]*(?<!\.)")


class FileFacts(NamedTuple):
    """What a manifest says of a file."""

    sha256: str
    bytes: int


def facts_of(path: Path) -> FileFacts:
    """Hash a file."""
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """Turn names into stems of file names that any file system can hold side by side, in the order given.

    ASCII letters, digits, and ``._-``; never empty, no leading dot, no name of a device, at most some 100
    characters, and distinct where case does not count: what would be there already has ``-2`` and so on at
    its end.

    >>> file_stems(["bm25", "BM25", "../etc", "文書", "nul"])
    {'bm25': 'bm25', 'BM25': 'BM25-2', '../etc': '_._etc', '文書': '__', 'nul': '_nul'}
    """
    taken: set[str] = set()
    stems: dict[str, str] = {}
    for name in names:
        wanted = _UNSAFE.sub("_", name)[:_LONGEST]
        if not wanted or wanted[0] in ".-":
            wanted = f"_{wanted[1:]}"
        if wanted.endswith("."):
            wanted = f"{wanted[:-1]}_"
        stem = wanted = f"_{wanted}" if _RESERVED.fullmatch(wanted) else wanted
        number = 1
        while stem.lower() in taken:
            number += 1
            stem = f"{wanted}-{number}"
        taken.add(stem.lower())
        stems[name] = stem
    return stems


class Writer:
    """Writes files into a folder and notes their sizes and hashes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, FileFacts] = {}
        """By path in the folder, with slashes."""

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """Open a file for text: UTF-8, lines that end as they are written."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("x", _BUFFER, "utf-8", "surrogatepass", "\n") as stream:
            yield stream
        self.files[name] = facts_of(path)

    def lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file, line by line."""
        with self.text(name) as stream:
            stream.writelines(f"{line}\n" for line in lines)


def check_target(target: Path, *, replaces: bool) -> None:
    """Refuse a place where no directory can be made, or where there is one that is not to be replaced."""
    place = real_place(target)
    if not place.parent.is_dir():
        message = f"{target}: there is no folder {place.parent}"
        raise PoolerError(message)
    if not target.exists():
        return
    if not target.is_dir():
        message = f"{target} already exists, and is not a folder"
        raise PoolerError(message, hint="name another folder")
    if place == Path.cwd().resolve():
        requirement = "must not be the folder you are in"
        raise ArgumentError("DIR", requirement, str(target), hint="name a folder in it")
    there = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
    if not there:
        return
    if MANIFEST not in there:
        message = f"{target} already exists, and is not an exported collection"
        raise PoolerError(message, hint="name another folder, or remove this one first")
    if not replaces:
        message = f"{target} already exists"
        raise PoolerError(message, hint="--replace takes its place; or name another folder")
    files = read_manifest(target).all_files
    if changed := next((name for name in files if file_fault(target, name, files[name])), None):
        message = f"{target}: {changed} is not as it was exported"
        raise PoolerError(message, hint="keep what is yours elsewhere, then remove the folder")
    if other := min(there - files.keys() - {MANIFEST}, default=None):
        message = f"{target}: {other} is not of the export, and would be lost"
        raise PoolerError(message, hint="move it elsewhere first, or name another folder")


@contextmanager
def made_beside(target: Path, *, private: bool) -> Iterator[Path]:
    """Make a folder beside `target` that takes its place at the end of the block.

    Nothing is left of it on an error.

    `private`: what is new is for its owner alone; else the umask says for whom. What is replaced leaves its
    mode, group and owner to what takes its place.
    """
    target, before = real_place(target), _names_in(target)
    remove_leftovers(target.parent)
    folder, old = place_beside(target), place_beside(target, "old")
    try:
        folder.mkdir(0o700 if private else 0o777)
        yield folder
        for path in (*folder.rglob("*"), folder):
            replaced = target / path.relative_to(folder)
            if replaced.exists():
                give_rights(path, replaced.stat())
            elif private:
                path.chmod(0o700 if path.is_dir() else 0o600)
        if _names_in(target) != before:
            message = f"{target} was changed by somebody else meanwhile"
            raise PoolerError(message, hint="nothing in it was replaced; try again")
        if target.exists():
            target.rename(old)
        folder.rename(target)
        remove_leftovers(target.parent)  # also what was replaced by a command that was killed
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _names_in(folder: Path) -> dict[str, tuple[int, int]] | None:
    """Return the files in a folder, each with its number and time; ``None`` = there is none."""
    if not folder.exists():
        return None
    facts = {path.relative_to(folder).as_posix(): path.lstat() for path in folder.rglob("*")}
    return {name: (one.st_ino, one.st_mtime_ns) for name, one in facts.items()}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that was read."""

    files: Mapping[str, FileFacts]
    readme: FileFacts
    """Told apart, since it is the publisher's to complete."""
    counts: Mapping[str, int]
    """Rows of each table."""
    layout: str

    @property
    def all_files(self) -> dict[str, FileFacts]:
        """The README, too."""
        return {**self.files, README: self.readme}


def manifest_text(files: Mapping[str, FileFacts], said: Mapping[str, Any]) -> str:
    """Write the manifest of files that are written, and what else is to be said."""
    listed = {name: facts._asdict() for name, facts in files.items()}
    readme = listed.pop(README)
    data = {"format": FORMAT, "format_version": VERSION, **said, "files": listed, "readme": readme}
    return json.dumps(data | {"sha256": _own_hash(data)}, indent=1, sort_keys=True)


def _own_hash(data: Mapping[str, Any]) -> str:
    """Hash a manifest without the hash that it holds."""
    rest = {key: value for key, value in data.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a directory; none may name a file outside of it, or be of a newer program."""
    faults = Faults(folder)
    told = faults.of(MANIFEST)
    path = folder / MANIFEST
    if not folder.is_dir():
        message = f"{folder}: there is no such folder"
        raise PoolerError(message)
    if not path.is_file() or path.is_symlink():
        message = f"{folder}: there is no {MANIFEST}: it is no exported collection"
        raise PoolerError(message, hint="pooler export collection DIR makes one")
    data: Any = None
    try:
        if path.stat().st_size <= _LARGEST:
            data = json.loads(path.read_bytes(), object_pairs_hook=once)
            json.dumps(data, allow_nan=False)
    except json.JSONDecodeError as error:
        told.add(error.lineno, f"expected JSON, got: {error.msg}")
    except (ValueError, RecursionError) as error:
        told.add(None, f"expected JSON, got: {error}")
    faults.raise_if_any()
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        message = f"{folder}: {MANIFEST} is not that of a collection which this program exported"
        raise PoolerError(message, hint="pooler export collection DIR makes one")
    version = data.get("format_version")
    if type(version) is int and version > VERSION:
        message = f"{folder} has the newer format {version}; this program knows {VERSION}"
        raise SchemaError(message, hint="install the newest pooler")
    if version != VERSION or type(version) is not int:
        told.add(None, f"`format_version`: expected a number from 1, got {version!r}")
    if data.get("sha256") != _own_hash(data):
        told.add(None, "expected its own hash, got another: it was changed")
    files: dict[str, FileFacts] = {}
    match data:
        case {
            "files": dict(listed),
            "counts": dict(counts),
            "options": {"layout": str(layout)},
            "readme": readme,
        }:
            for name, facts in {**listed, README: readme}.items():
                match facts:
                    case {"sha256": str(sha256), "bytes": int(n_bytes)} if _PATH.fullmatch(name):
                        files[name] = FileFacts(sha256, n_bytes)
                    case _:
                        got = f"{name!r:.200}: {facts!r:.200}"
                        told.add(
                            None, f"`files`: expected a file in the directory, sha256 and bytes, got {got}"
                        )
            faults.raise_if_any()
            numbers = {name: n for name, n in counts.items() if type(n) is int}
            return Manifest(files, files.pop(README), numbers, layout)
    told.add(None, "expected `files`, `counts`, `options` with a `layout`, and `readme`")
    faults.raise_if_any()
    raise AssertionError  # pragma: no cover - a fault was told


def check_files(folder: Path, manifest: Manifest, faults: Faults, progress: Progress) -> None:
    """Tell every file that is not there, is no plain file, or is not what it was."""
    with progress("files", sum(facts.bytes for facts in manifest.files.values())) as advance:
        for name, facts in sorted(manifest.files.items()):
            if fault := file_fault(folder, name, facts):
                faults.of(name).add(None, fault)
            advance(facts.bytes)


def file_fault(folder: Path, name: str, facts: FileFacts) -> str | None:
    """Say why a file is not the one that a manifest lists; ``None`` when it is."""
    path = folder / name
    # A link could lead anywhere, and reading from a pipe would never end.
    if path.is_symlink() or (path.parent.is_symlink() and path.parent != folder):
        return "expected a file, got a link"
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "expected a file, and there is none"
    if not stat.S_ISREG(status.st_mode):
        return "expected a file, got something else"
    if status.st_size != facts.bytes:
        return f"expected {facts.bytes:,} bytes, got {status.st_size:,}: it was changed"
    if facts_of(path) != facts:
        return "expected another hash (sha256): it was changed"
    return None
