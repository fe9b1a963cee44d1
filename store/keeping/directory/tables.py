r"""Every file of a directory as a field table; the reader and writer of all.

A backslash, a control character, a line separator, a bidirectional control or a lone surrogate of
free text is written as ``\\``, ``\t``, ``\n``, ``\r`` or ``\uXXXX``. What is not known is an empty
cell. Ids are never escaped: none has such a character.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from sqlalchemy import Table, insert
from sqlmodel import Session

from store.db.files import give_rights, place_beside, real_place, remove_leftovers
from store.db.keys import Keys
from store.db.tables import TABLES
from store.errors import ArgumentError, FaultList, PoolerError
from store.fields import MOMENT, UnfitValueError, id_fault, topic_fault
from store.formats import Layout
from store.formats.judgements import escape_cell, read_cell
from store.formats.syntax.json_lines import NoObjectError, json_line, read_json_object
from store.formats.syntax.lines import read_text_lines
from store.grades.policy import Policy
from store.judging.judges import Disguise
from store.keeping.progress import Progress
from store.records import Run, Scale

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
MOST = 2**31 - 1
"""Whole numbers that both databases hold."""


def escaped(text: str) -> str:
    r"""Write free text as a cell.

    >>> print(escaped("a\tb\\ \x00"))
    a\tb\\ \u0000
    """
    return escape_cell(text).replace("\ufeff", "\\ufeff")


def _unescaped(cell: str) -> str:
    """Read what `escaped` wrote."""
    text = read_cell(cell)
    if text is None:
        raise _unfit("\\\\, \\t, \\n, \\r or \\uXXXX at a backslash", cell)
    return text


def as_float(cell: str) -> float:
    """Read a finite number."""
    if _FLOAT.fullmatch(cell) and math.isfinite(value := float(cell)):
        return value
    raise _unfit("a finite number", cell)


def _unfit(expected: str, cell: str) -> UnfitValueError:
    """Say what a column has instead of a cell."""
    return UnfitValueError(f"expected {expected}, got {cell if len(cell) <= 80 else f'{cell[:80]}…'!r}")


def _as_yes_no(cell: str) -> bool:
    """Read yes or no."""
    if cell not in ("yes", "no"):
        raise _unfit("yes or no", cell)
    return cell == "yes"


class Kind(NamedTuple):
    """How the values of a column are written and read: as cells of a table, or as JSON values."""

    write: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda value: value
    """Raises `UnfitValueError`, as `write` does."""
    types: tuple[type, ...] = (str,)
    """What JSON has."""


def _without(fault_of: Callable[[str], str | None]) -> Callable[[str], str]:
    """Make what lets an id pass that has no fault."""

    def passed(value: str) -> str:
        if fault := fault_of(value):
            raise UnfitValueError(fault)
        return value

    return passed


ID = Kind(_without(id_fault), _without(id_fault))
"""Docnos, tags, names of judges."""
TOPIC_ID = Kind(_without(topic_fault), _without(topic_fault))
TEXT = Kind(escaped, _unescaped)
"""Free text; empty is a text."""
FLOAT = Kind(repr, as_float)
YES_NO = Kind(lambda value: "yes" if value else "no", _as_yes_no)
TIME = Kind(lambda moment: moment.astimezone(UTC).isoformat(), MOMENT.read)
"""With microseconds where there are any."""
JSON_TEXT = Kind()
JSON_BOOL = Kind(types=(bool,))


def whole(least: int = -MOST) -> Kind:
    """Make the kind of whole numbers that both databases hold."""

    def read(cell: str) -> int:
        if _INTEGER.fullmatch(cell) and least <= int(cell) <= MOST:
            return int(cell)
        raise _unfit(f"an integer from {least} to {MOST}", cell)

    return Kind(str, read)


def word(words: Iterable[str]) -> Kind:
    """Make the kind of one of a few words."""
    known = list(map(str, words))

    def read(cell: str) -> str:
        if cell not in known:
            raise _unfit(f"one of {', '.join(known)}", cell)
        return cell

    return Kind(str, read)


def or_none(kind: Kind, nothing: str | None = "") -> Kind:
    """Let an empty cell stand for what is not known; in JSON, `nothing` is null."""
    return Kind(
        lambda value: nothing if value is None else kind.write(value),
        lambda value: None if value == nothing else kind.read(value),
        (*kind.types, type(None)),
    )


Named = Literal["topics", "documents", "runs", "pools", "judges"]
"""What a row id may stand for: a file has the name in its place."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file, and of the table of the database that the file is read into."""

    name: str
    kind: Kind = TEXT
    about: str | None = ", "
    """What the README has behind its name; ``None`` = it leaves the column out."""
    into: str = ""
    """Column of the database; default the name."""
    of: Named | None = None
    """Whose row id the database has."""

    @property
    def key(self) -> str:
        """Where a row has the value."""
        return self.into or self.name


TOPIC_OF = FileColumn("topic", TOPIC_ID, into="topic_id", of="topics")
"""The topic that a row refers to."""
DOCUMENT_OF = FileColumn("docno", ID, into="document_id", of="documents")
JUDGE_OF = FileColumn("judge", ID, into="judge_id", of="judges")


@dataclass(frozen=True, slots=True)
class FileTable:
    """A file of rows, by which it is written, read and described: a table (`.tsv`), or JSON lines."""

    file: str
    about: str
    """What the README says that it is."""
    columns: tuple[FileColumn, ...] = ()
    into: str = ""
    """The table of the database that it is read into."""
    counts: str = ""
    """What its rows are counted as; empty = they are not."""
    key: tuple[str, ...] = ()
    """What no two rows have in common, by the keys of columns; nothing that is not known is."""
    again: str = ""
    """What is told of a row whose key another one has."""
    numbers: Named | None = None
    """Whose names the first part of the key is: rows get their ids from here, in the order of the file."""
    later: Mapping[str, Any] = field(default_factory=dict)
    """Values of the last columns in files that were written before there were these."""
    shape: str = ""
    """What is told of an object that is not of this form, `{plan}` being the number of the next plan; other
    keys are passed over then."""
    is_needed: bool = False
    """Whether the file is there without any row."""

    @property
    def is_json(self) -> bool:
        """Whether it is of JSON lines."""
        return self.file.endswith(".jsonl")

    @property
    def words(self) -> str:
        """What a README says of the file."""
        told = "".join(f"`{one.name}`{one.about}" for one in self.columns if one.about is not None)
        return f"{self.about}: {told.removesuffix(', ')}" if told else self.about

    def write(self, out: Outgoing, rows: Iterable[Mapping[Any, Any]], file: str = "") -> int:
        """Write and count rows by the keys of columns; return how many."""
        coming = iter(rows)
        first = [*islice(coming, 1)]
        if not (first or self.is_needed):
            return 0
        names = [column.name for column in self.columns]
        number = 0
        with out.writer.text(file or self.file) as stream:
            if not self.is_json:
                stream.write("\t".join(names) + "\n")
            ways = [
                (one.name, one.key, one.kind.write, getattr(out, one.of) if one.of else None)
                for one in self.columns
            ]
            for row in chain(first, coming):
                number += 1
                values = []
                for name, column, write, named in ways:
                    value = row[column]
                    try:
                        values.append(write(value if named is None or value is None else named[value]))
                    except UnfitValueError as error:
                        message = f"a {name} cannot be written to a file: {error}"
                        raise PoolerError(message) from error
                line = json_line(dict(zip(names, values, strict=True))) if self.is_json else "\t".join(values)
                stream.write(line + "\n")
        if self.counts and number:
            out.counts[self.counts] = out.counts.get(self.counts, 0) + number
        return number

    def fill(
        self,
        coming: Incoming,
        take: Callable[[dict[str, Any]], str | None] | None = None,
        *,
        file: str = "",
        **same: Any,
    ) -> None:
        """Read the file into its table; `take` completes a row, or says what is wrong with it.

        `same`: values that all rows have.
        """

        def rows() -> Iterator[dict[str, Any]]:
            for line, row in self.read(coming, file):
                fault = None if take is None else take(row)
                if fault is None:
                    yield same | row
                else:
                    coming.tell(file or self.file, line, fault)

        coming.insert(TABLES[self.into], rows())

    def read(self, coming: Incoming, file: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield lines and rows by the keys of columns, if there is the file.

        Lines with a fault are not yielded. A name that is not known is a fault, and its row id 0.
        """
        file = file or self.file
        ids: dict[str, int] | None = getattr(coming, self.numbers) if self.numbers else None
        seen: set[tuple[Any, ...]] = set()
        ways = [(one.name, one.key, one.kind.read) for one in self.columns]
        refers = [(one.name, one.key, getattr(coming, one.of)) for one in self.columns if one.of]
        for line, values in (self._objects if self.is_json else self._cells)(coming, file):
            row = dict(self.later)
            is_fit = True
            for (name, column, read), value in zip(ways, values, strict=False):
                try:
                    row[column] = read(value)
                except UnfitValueError as error:
                    coming.tell(file, line, f"`{name}`: {error}")
                    is_fit = False
            if not is_fit:
                continue
            for name, column, known in refers:
                if row[column] is not None:
                    row[column] = coming.known(file, line, name, row[column], known)
            key = (*(row[name] for name in self.key),)
            fault = _FAULT_OF[self.numbers](key[0]) if self.numbers in _FAULT_OF else None
            if fault is None and (key in seen if ids is None else key[0] in ids):
                fault = self.again.format(**row)
            if fault is not None:
                coming.tell(file, line, fault)
                continue
            if ids is not None:
                row["id"] = ids[key[0]] = len(ids) + 1
            elif key and None not in key and 0 not in key:
                seen.add(key)
            yield line, row

    def _cells(self, coming: Incoming, file: str) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield lines and cells of a table; the first row is on line 2."""
        if file not in coming.files:
            return
        lines = iter(read_text_lines(coming.path(file), coming.faults.of(file)))
        names = [column.name for column in self.columns]
        if (header := next(lines, None)) is not None and header[1].split("\t") != names:
            names = [one.name for one in self.columns if one.key not in self.later]
            if not self.later or header[1].split("\t") != names:
                listed = ", ".join(column.name for column in self.columns)
                coming.tell(file, header[0], str(_unfit(f"the columns {listed}", header[1])))
                return
        for line, text in lines:
            cells = text.split("\t")
            if len(cells) == len(names):
                yield line, cells
            else:
                message = f"expected {len(names)} fields ({', '.join(names)}), got {len(cells)}"
                coming.tell(file, line, message)

    def _objects(self, coming: Incoming, file: str) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield lines and values of JSON lines."""
        if file not in coming.files:
            return
        for line, text in read_text_lines(coming.path(file), coming.faults.of(file)):
            try:
                values = read_json_object(text)
            except NoObjectError as error:
                coming.tell(file, line, str(error))
                continue
            columns = [
                one for one in self.columns if self.later.keys() & values.keys() or one.key not in self.later
            ]
            fault = self._misfit(columns, values)
            if fault is None:
                yield line, [values[column.name] for column in columns]
            else:
                coming.tell(file, line, self.shape.format(plan=coming.n_plans + 1) or fault)

    def _misfit(self, columns: Sequence[FileColumn], values: Mapping[str, Any]) -> str | None:
        """Say why an object has not the form of the file; ``None`` = it has."""
        names = [column.name for column in columns]
        if set(names) - values.keys() or (values.keys() - set(names) and not self.shape):
            return f"expected the keys {', '.join(names)}, got {', '.join(values)}"
        odd = (one.name for one in columns if not isinstance(values[one.name], one.kind.types))
        return next((f"`{name}`: expected another kind of value" for name in odd), None)


_FAULT_OF = {"topics": topic_fault, "documents": id_fault}


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


def facts_of(path: Path) -> FileFacts:
    """Hash a file."""
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)


class Writer:
    """Writes files into a folder and notes their sizes and hashes."""

    def __init__(self, folder: Path, keeps: Callable[[str], bool]) -> None:
        self._folder = folder
        self.keeps = keeps
        """Whether a file of some name is written; others are gone through, for what is counted."""
        self.files: dict[str, FileFacts] = {}
        """By path in the folder, with slashes."""

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """Open a file for UTF-8, or nothing where it is not kept; lines end as they are written."""
        if not self.keeps(name):
            with open(os.devnull, "w", encoding="utf-8", errors="surrogatepass") as stream:  # noqa: PTH123
                yield stream
            return
        path = self._folder.joinpath(*name.split("/"))
        path.parent.mkdir(exist_ok=True)
        # Guidelines may hold lone surrogates; whatever else does is escaped.
        with path.open("x", _BUFFER, "utf-8", "surrogatepass", "\n") as stream:
            yield stream
        self.files[name] = facts_of(path)

    def write(self, name: str, content: str) -> None:
        """Write a whole file."""
        with self.text(name) as stream:
            stream.write(content)


def check_target(target: Path) -> None:
    """Refuse a place where no directory can be made: no folder holds it, or it is this one."""
    real_place(target)
    if target.exists() and not target.is_dir():
        message = f"{target} already exists, and is not a folder"
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


ALWAYS_COUNTED = (
    "topics",
    "documents",
    "runs",
    "pools",
    "pool_entries",
    "judges",
    "sittings",
    "assignments",
    "guidelines",
    "events",
)
"""What every manifest counts; what few collections have, where there are any."""
_BATCH = 1000
_SHOWN = 100
"""Lines of faults that are shown of a whole directory."""


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What goes into a directory."""

    texts: bool = True
    runs: bool = True
    notes: bool = True
    anonymised: bool = False
    policy: Policy = field(default_factory=Policy)
    """How several judges' grades become one; with neither a judge nor a rule they stay apart."""
    layout: Layout = "pooler"
    run_files: Path | None = None
    """A folder with run files as they were handed in, which go out themselves."""


@dataclass(frozen=True, slots=True)
class About:
    """What a manifest says of the collection itself."""

    name: str
    scale: Scale
    created_at: datetime
    created_by: str
    fields: tuple[str, ...] = ()
    """Of documents: what judges are shown above the text."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A collection on its way into files."""

    session: Session
    about: About
    topic_keys: Keys
    document_keys: Keys
    judges: Mapping[int, str]
    """Row id to name, the new one where judges have new names."""
    disguise: Disguise
    export_choice: ExportChoice
    writer: Writer
    progress: Progress
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ALWAYS_COUNTED, 0))
    """What was written, for the manifest."""
    how: list[str] = field(default_factory=list)
    """How it was judged, a sentence of the README each."""
    rewritten_runs: list[str] = field(default_factory=list)
    """Tags of runs whose file as handed in was not there to be copied."""

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
    files: Mapping[str, FileFacts]
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
    pools: dict[str, int] = field(default_factory=dict)
    sittings: list[str] = field(default_factory=list)
    """The judge of every sitting; numbers count from 1."""
    n_plans: int = 0
    guidelines: set[int] = field(default_factory=set)
    topic_versions: dict[str, int] = field(default_factory=dict)
    """The newest version of every topic's text."""
    uids: set[str] = field(default_factory=set)
    """Identities of judges, of erased ones too."""
    read_run: Callable[[str], Run] | None = None
    """Reads a run file of any form; ``None`` = those alone are read that stand as an export writes them."""

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder.joinpath(*name.split("/")))

    def insert(self, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows, as long as there is no fault; read them to their end in any case."""
        coming = iter(rows)
        while batch := [dict(row) for row in islice(coming, _BATCH)]:
            if not len(self.faults):
                self.session.connection().execute(insert(table), batch)

    def tell(self, name: str, line: int | None, message: str) -> None:
        """Tell a fault of a file."""
        self.faults.of(name).add(line, message)

    def grade_fault(self, grade: int | None) -> str | None:
        """Say that a grade is not of the scale; ``None`` = it is, or there is none."""
        if grade is None or grade in self.scale.values:
            return None
        return f"expected a grade of the scale ({', '.join(map(str, self.scale.values))}), got {grade}"

    def known(self, name: str, line: int | None, kind: str, value: str, ids: Mapping[str, int]) -> int:
        """Return the row id of a name, or tell the fault and return 0."""
        found = ids.get(value, 0)
        if not found:
            self.tell(name, line, f"unknown {kind} `{value}`")
        return found
