"""What every file of a directory needs on its way out of a collection, or into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert
from sqlmodel import Session

from store.directory.disguise import Disguise
from store.directory.place import Writer
from store.errors import FaultList, PoolerError
from store.formats.json_lines import NoObjectError, read_json_object
from store.formats.lines import read_text_lines
from store.keys import Keys
from store.policy import Policy
from store.records import Scale

_BATCH = 1000
_SHOWN = 100
"""Lines of faults that are shown of a whole directory."""

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Given a label and the steps in all, shows how many are done."""


def no_progress(_label: str, _total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show nothing."""
    return nullcontext(lambda _steps: None)


@dataclass(frozen=True, slots=True)
class Wishes:
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
    wishes: Wishes
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
    """Faults of all files of a directory, by file.

    Parameters
    ----------
    folder : Path
        The directory, as the user named it.
    """

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
