"""Where a directory is written: beside its place first, then there as a whole."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from store.errors import ArgumentError, PoolerError
from store.leftovers import place_beside, remove_leftovers
from store.whole_files import give_rights, real_place

_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a manifest says of a file."""

    sha256: str
    n_bytes: int


class Writer:
    """Writes files into a folder and notes their sizes and hashes.

    Parameters
    ----------
    folder : Path
        A folder that is there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, FileFacts] = {}
        """By path in the folder, with slashes."""

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """Open a file for text: UTF-8, lines that end as they are written."""
        path = self._folder.joinpath(*name.split("/"))
        path.parent.mkdir(exist_ok=True)
        with path.open("xb", buffering=0) as file:
            counted = _Counted(file)
            buffered = io.BufferedWriter(counted, _BUFFER)
            with io.TextIOWrapper(buffered, encoding="utf-8", newline="\n") as stream:
                yield stream
            self.files[name] = counted.facts()

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file."""
        path = self._folder.joinpath(*name.split("/"))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        self.files[name] = FileFacts(hashlib.sha256(content).hexdigest(), len(content))


class _Counted(io.RawIOBase):
    """Passes bytes on to a file, counting and hashing them."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._n_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        n_written: int = self._file.write(data)
        self._digest.update(memoryview(data)[:n_written])
        self._n_bytes += n_written
        return n_written

    def facts(self) -> FileFacts:
        """Say what was written so far."""
        return FileFacts(self._digest.hexdigest(), self._n_bytes)


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_target(target: Path) -> None:
    """Refuse a place where no directory can be made: no folder holds it, or it is this one."""
    real_place(target)
    if target.exists() and not target.is_dir():
        message = f"{target} is there already, and is no folder"
        raise PoolerError(message, hint="name another folder")
    if target.exists() and real_place(target) == Path.cwd().resolve():
        requirement = "must not be the folder you are in"
        raise ArgumentError("DIR", requirement, str(target), hint="name a folder in it")
    if not real_place(target).parent.is_dir():
        message = f"{target}: there is no folder {real_place(target).parent}"
        raise PoolerError(message)


@contextmanager
def made_beside(target: Path, *, private: bool) -> Iterator[Path]:
    """Make a folder beside `target` that takes its place at the end of the block.

    Parameters
    ----------
    target : Path
        A folder that is not there, or is to be replaced: the caller has seen that it may be.
    private : bool
        Whether what is new is for its owner alone; else the umask says for whom. What is replaced
        leaves its mode, group and owner to what takes its place.

    Yields
    ------
    Path
        An empty folder; nothing is left of it when the block raises.
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
            raise PoolerError(message, hint="nothing of it was replaced; do it again")
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
