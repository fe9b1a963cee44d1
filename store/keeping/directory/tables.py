r"""Every file of a directory as a field table; the reader and writer of all.

A backslash, a control character, a line separator, a bidirectional control or a lone surrogate of
free text is written as ``\\``, ``\t``, ``\n``, ``\r`` or ``\uXXXX``. What is not known is an empty
cell. Ids are never escaped: none has such a character.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TextIO

from sqlalchemy import Table, insert
from sqlmodel import Session

from store.db.files import give_rights, place_beside, real_place, remove_leftovers
from store.db.keys import Keys
from store.errors import ArgumentError, FaultList, PoolerError
from store.fields import id_fault, topic_fault
from store.formats.json_lines import NoObjectError, read_json_object
from store.formats.lines import read_text_lines
from store.grades.policy import Policy
from store.judging.judges import Disguise
from store.records import Scale
from store.text import BIDI_CONTROLS

_SPECIAL = re.compile(f"[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff{BIDI_CONTROLS}\ud800-\udfff]")
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LONG = {written: character for character, written in _SHORT.items()}
_ESCAPE = re.compile(r"\\(?:[\\tnr]|u[0-9a-f]{4})?")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_MOST = 2**31 - 1


class CellError(ValueError):
    """A cell that cannot be what its column has; the message says what was expected and got."""


def escaped(text: str) -> str:
    r"""Write free text as a cell.

    Examples
    --------
    >>> print(escaped("a\tb\\ \x00"))
    a\tb\\ \u0000
    """
    return _SPECIAL.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def unescaped(cell: str) -> str:
    r"""Read what `escaped` wrote; raise `CellError` at a backslash that stands for nothing.

    Examples
    --------
    >>> unescaped(r"a\tb\\ \u0000")
    'a\tb\\ \x00'
    """
    if "\\" not in cell:
        return cell

    def read(found: re.Match[str]) -> str:
        written = found[0]
        if written == "\\":
            message = f"expected \\\\, \\t, \\n, \\r or \\uXXXX at a backslash, got {_shown(cell)}"
            raise CellError(message)
        return _LONG.get(written) or chr(int(written[2:], 16))

    return _ESCAPE.sub(read, cell)


def checked_id(name: str, value: str) -> str:
    """Return an id, or raise `PoolerError` when no file could hold it."""
    return _checked(name, value, id_fault(value))


def checked_topic(value: str) -> str:
    """Return a topic id, or raise `PoolerError` when no file could hold it."""
    return _checked("topic", value, topic_fault(value))


def _checked(name: str, value: str, fault: str | None) -> str:
    if fault is not None:
        message = f"a {name} cannot be written to a file: {fault}"
        raise PoolerError(message)
    return value


def moment_text(moment: datetime) -> str:
    """Write a moment in UTC, with microseconds where there are any."""
    return moment.astimezone(UTC).isoformat()


def as_moment(cell: str) -> datetime:
    """Read what `moment_text` wrote; raise `CellError`."""
    try:
        moment = datetime.fromisoformat(cell)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    message = f"expected a moment like 2026-03-01T09:30:00+00:00, got {_shown(cell)}"
    raise CellError(message)


def as_float(cell: str) -> float:
    """Read a finite number; raise `CellError`."""
    if _FLOAT.fullmatch(cell):
        value = float(cell)
        if math.isfinite(value):
            return value
    message = f"expected a finite number, got {_shown(cell)}"
    raise CellError(message)


def _as_integer(cell: str, least: int) -> int:
    """Read a whole number that both databases hold."""
    if _INTEGER.fullmatch(cell) and least <= int(cell) <= _MOST:
        return int(cell)
    message = f"expected an integer from {least} to {_MOST}, got {_shown(cell)}"
    raise CellError(message)


def _as_yes_no(cell: str) -> bool:
    """Read yes or no."""
    if cell not in ("yes", "no"):
        message = f"expected yes or no, got {_shown(cell)}"
        raise CellError(message)
    return cell == "yes"


def _as_id(cell: str, fault_of: Callable[[str], str | None]) -> str:
    """Read an id."""
    if fault := fault_of(cell):
        raise CellError(fault)
    return cell


def _shown(cell: str) -> str:
    """Show a cell in a message."""
    return repr(cell if len(cell) <= 80 else f"{cell[:80]}…")


Named = Literal["topics", "documents", "judges"]
"""What a row id may stand for: a file has the name in its place."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a table in a file, and of the database where the table is read back."""

    name: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    """Raises `CellError`."""
    of: Named | None = None
    into: str = ""
    """Column of the database; default the name."""

    @property
    def key(self) -> str:
        """Where a row has the value."""
        return self.into or self.name


def id_column(name: str, *, into: str = "") -> FileColumn:
    """Make a column of docnos, tags or names of judges."""
    return FileColumn(
        name, lambda value: checked_id(name, value), lambda cell: _as_id(cell, id_fault), into=into
    )


def topic_column() -> FileColumn:
    """Make a column of topic ids."""
    return FileColumn("topic", checked_topic, lambda cell: _as_id(cell, topic_fault))


TOPIC_OF = replace(topic_column(), of="topics", into="topic_id")
"""The topic that a row refers to."""
DOCUMENT_OF = replace(id_column("docno"), of="documents", into="document_id")
JUDGE_OF = replace(id_column("judge"), of="judges", into="judge_id")


def text_column(name: str, *, into: str = "") -> FileColumn:
    """Make a column of free text; empty is a text."""
    return FileColumn(name, escaped, unescaped, into=into)


def integer_column(name: str, *, least: int = -_MOST, into: str = "") -> FileColumn:
    """Make a column of whole numbers."""
    return FileColumn(name, str, lambda cell: _as_integer(cell, least), into=into)


def float_column(name: str) -> FileColumn:
    """Make a column of finite numbers."""
    return FileColumn(name, repr, as_float)


def yes_no_column(name: str) -> FileColumn:
    """Make a column of yes and no."""
    return FileColumn(name, lambda value: "yes" if value else "no", _as_yes_no)


def moment_column(name: str) -> FileColumn:
    """Make a column of moments."""
    return FileColumn(name, moment_text, as_moment)


def word_column(name: str, words: Iterable[str]) -> FileColumn:
    """Make a column of one of a few words."""
    known = tuple(words)

    def read(cell: str) -> str:
        if cell not in known:
            message = f"expected one of {', '.join(known)}, got {_shown(cell)}"
            raise CellError(message)
        return cell

    return FileColumn(name, str, read)


def or_none(column: FileColumn) -> FileColumn:
    """Let an empty cell of a column stand for what is not known."""
    return replace(
        column,
        write=lambda value: "" if value is None else column.write(value),
        read=lambda cell: None if cell == "" else column.read(cell),
    )


@dataclass(frozen=True, slots=True)
class FileTable:
    """The columns of a file, by which it is written and read."""

    columns: tuple[FileColumn, ...]

    def write(self, out: Outgoing, file: str, rows: Iterable[Mapping[Any, Any]]) -> int:
        """Write rows by the keys of columns; return how many."""
        ways = [(one.key, one.write, getattr(out, one.of) if one.of else None) for one in self.columns]
        number = 0
        with out.writer.text(file) as stream:
            stream.write("\t".join(column.name for column in self.columns) + "\n")
            for row in rows:
                number += 1
                cells = []
                for key, write, names in ways:
                    value = row[key]
                    cells.append(write(value if names is None or value is None else names[value]))
                stream.write("\t".join(cells) + "\n")
        return number

    def read(self, coming: Incoming, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield line numbers (the first row is on line 2) and rows by the keys of columns.

        Lines with a fault are not yielded. A name that is not known is a fault, and its row id 0.
        """
        faults = coming.faults.of(file)
        names = [column.name for column in self.columns]
        lines = iter(read_text_lines(coming.path(file), faults))
        if (header := next(lines, None)) is not None and header[1].split("\t") != names:
            message = f"expected the columns {', '.join(names)}, got {_shown(header[1])}"
            faults.add(header[0], message, "header")
            return
        for number, text in lines:
            cells = text.split("\t")
            if len(cells) != len(names):
                message = f"expected {len(names)} fields ({', '.join(names)}), got {len(cells)}"
                faults.add(number, message, "fields")
                continue
            row: dict[str, Any] = {}
            for column, cell in zip(self.columns, cells, strict=True):
                try:
                    row[column.key] = column.read(cell)
                except CellError as error:
                    faults.add(number, f"`{column.name}`: {error}", "value")
            if len(row) == len(names):
                for column in self.columns:
                    if column.of and (name := row[column.key]) is not None:
                        ids = getattr(coming, column.of)
                        row[column.key] = coming.known(file, number, column.name, name, ids)
                yield number, row


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that are devices on Windows, whatever comes behind a dot."""
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_MOST_PARTS = 2


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """Turn names into stems of file names that any file system can hold side by side, in the order given.

    ASCII letters, digits, and ``._-``; never empty, no leading dot, no name of a device, at most some 100
    characters, and distinct where case does not count: what would be there already has ``-2`` and so on at
    its end.

    Examples
    --------
    >>> file_stems(["bm25", "BM25", "../etc", "文書", "nul"])
    {'bm25': 'bm25', 'BM25': 'BM25-2', '../etc': '_._etc', '文書': '__', 'nul': '_nul'}
    """
    taken: set[str] = set()
    stems: dict[str, str] = {}
    for name in names:
        stem = wanted = _safe(name)
        number = 1
        while stem.lower() in taken:
            number += 1
            stem = f"{wanted}-{number}"
        taken.add(stem.lower())
        stems[name] = stem
    return stems


def _safe(name: str) -> str:
    """Replace what a file name should not have."""
    stem = _UNSAFE.sub("_", name)[:_LONGEST]
    if not stem or stem[0] in ".-":
        stem = f"_{stem[1:]}"
    if stem.endswith("."):
        stem = f"{stem[:-1]}_"
    return f"_{stem}" if _RESERVED.fullmatch(stem) else stem


def path_fault(path: str) -> str | None:
    """Say why a path cannot be one of an exported directory; ``None`` when it can.

    Examples
    --------
    >>> path_fault("runs/bm25.run") is None
    True
    >>> path_fault("../../etc/passwd")
    "expected a file in the directory, got '../../etc/passwd'"
    """
    parts = path.split("/")
    if len(parts) > _MOST_PARTS or not all(map(_PART.fullmatch, parts)) or path.endswith("."):
        shown = path if len(path) <= 200 else f"{path[:200]}…"
        return f"expected a file in the directory, got {shown!r}"
    return None


_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a manifest says of a file."""

    sha256: str
    n_bytes: int


class Writer:
    """Writes files into a folder and notes their sizes and hashes."""

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


_BATCH = 1000
_SHOWN = 100
"""Lines of faults that are shown of a whole directory."""

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Given a label and the steps in all, shows how many are done."""


def no_progress(_label: str, _total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show nothing."""
    return nullcontext(lambda _steps: None)


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What goes into a directory."""

    texts: bool = True
    runs: bool = True
    notes: bool = True
    anonymised: bool = False
    policy: Policy = field(default_factory=Policy)
    """How several judges' grades become one; with neither a judge nor a rule they stay apart."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A collection on its way into files."""

    session: Session
    topic_keys: Keys
    document_keys: Keys
    scale: Scale
    created_at: datetime
    """When the collection was made."""
    judges: Mapping[int, str]
    """Row id to name, the new one where judges have new names."""
    disguise: Disguise
    export_choice: ExportChoice
    writer: Writer
    progress: Progress
    counts: dict[str, int] = field(default_factory=dict)
    """What was written, for the manifest."""
    how: list[str] = field(default_factory=list)
    """How it was judged, a sentence of the README each."""

    @property
    def topics(self) -> Mapping[int, str]:
        """Row id to topic id."""
        return self.topic_keys.names

    @property
    def documents(self) -> Mapping[int, str]:
        """Row id to docno."""
        return self.document_keys.names


class Faults:
    """Faults of all files of a directory, by file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: dict[str, FaultList] = {}

    def of(self, name: str) -> FaultList:
        """Return the list of a file's faults, to which a reader may add."""
        return self._lists.setdefault(name, FaultList(str(self._folder / name)))

    def __len__(self) -> int:
        return sum(map(len, self._lists.values()))

    def raise_if_any(self) -> None:
        """Raise `PoolerError` with all that were told, file by file."""
        lines: list[str] = []
        for faults in self._lists.values():
            for one in faults.kept:
                where = faults.path if one.line is None else f"{faults.path}:{one.line}"
                lines.append(f"{where}: {one.message}")
            if len(faults) > len(faults.kept):
                lines.append(f"{faults.path}: and {len(faults) - len(faults.kept)} more faults")
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"{self._folder}: and {len(lines) - _SHOWN} more lines like these"]
        if lines:
            hint = "nothing was imported: get the directory again, or correct it"
            raise PoolerError("\n".join(lines), hint=hint)


@dataclass(slots=True)
class Incoming:
    """A directory on its way into an empty collection.

    Ids are those of names that files before this one brought. Rows get their ids in file order, so
    that what came first still comes first.
    """

    session: Session
    folder: Path
    files: frozenset[str]
    """Those that the manifest lists."""
    scale: Scale
    faults: Faults
    progress: Progress
    counts: Mapping[str, int]
    """What the manifest says there is; for progress alone."""
    topics: dict[str, int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    judges: dict[str, int] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    sittings: list[str] = field(default_factory=list)
    """The judge of every sitting; numbers count from 1."""
    n_plans: int = 0
    guidelines: set[int] = field(default_factory=set)
    topic_versions: dict[str, int] = field(default_factory=dict)
    """The newest version of every topic's text."""
    uids: set[str] = field(default_factory=set)
    """Identities of judges, of erased ones too."""

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder.joinpath(*name.split("/")))

    def insert(self, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows, as long as there is no fault; read them to their end in any case."""
        coming = iter(rows)
        while batch := [dict(row) for row in islice(coming, _BATCH)]:
            if not len(self.faults):
                self.session.connection().execute(insert(table), batch)

    def objects(self, name: str) -> Iterable[tuple[int, dict[str, Any]]]:
        """Yield the objects of a file of JSON lines, with their lines."""
        faults = self.faults.of(name)
        for number, text in read_text_lines(self.path(name), faults):
            try:
                yield number, read_json_object(text)
            except NoObjectError as error:
                faults.add(number, str(error), "json")

    def known(self, name: str, line: int, kind: str, value: str, ids: Mapping[str, int]) -> int:
        """Return the row id of a name, or tell the fault and return 0."""
        found = ids.get(value, 0)
        if not found:
            self.faults.of(name).add(line, f"unknown {kind} `{value}`", "unknown")
        return found
