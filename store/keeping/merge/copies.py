"""The collections that take part."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Engine, select, text
from sqlalchemy.engine import URL
from sqlmodel import Session

from store.db.engine import check_schema, display, make_engine, read_only_engine, reading
from store.db.keys import Keys
from store.db.tables import JUDGE, POOL, TABLES
from store.errors import ConflictError, SchemaError, StoreError
from store.records import Action, State


class SettleRule(StrEnum):
    """Which of two decisions of one judge on one document stands."""

    LATEST = "latest"
    EARLIEST = "earliest"
    HIGHEST = "highest"
    """The highest grade; one that cannot be judged has none."""
    LOWEST = "lowest"
    UNJUDGED = "unjudged"
    """Neither: the document goes back to the judge."""


class Take(NamedTuple):
    """What shall stand, said by hand."""

    state: State
    grade: int | None = None
    rule: SettleRule | None = None
    """Of the decisions that differ, the one that this rule chooses; state and grade are passed over
    then."""


@dataclass(frozen=True, slots=True)
class Version:
    """What one or more copies say of a document, where copies say different things."""

    copies: tuple[str, ...]
    """Collections in which it stands, as they were named."""
    outcome: Take
    action: Action
    """The event that decided it."""
    judged_at: datetime
    """UTC, by the clock of that copy's machine; when it was decided."""
    reason: str
    note: str
    settled: str | None = None
    """How copies had been settled to it; ``None`` = the judge decided it."""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Decisions of one judge on one document that were made apart, and differ."""

    topic: str
    docno: str
    judge: str
    versions: tuple[Version, ...]
    """Two or more. After them, what rules had made of them before one of them came."""
    would: dict[SettleRule, Take]
    """What would stand by each rule."""
    settled: str | None = None
    """How it was settled; ``None`` = it is not."""
    took: Take | None = None
    """What stands now."""
    was_settled: bool = False
    """Whether it had been settled before, in this collection."""


@dataclass(slots=True)
class JudgeCount:
    """Events of one judge in the copies."""

    judge: str
    new: int = 0
    there: int = 0
    """In this collection already, or in a copy named before."""
    settled: Counter[str] = field(default_factory=Counter)
    """Documents on which copies had gone on apart, by how that was settled."""


@dataclass(slots=True)
class CopyCount:
    """What one copy brought, and what of it was left out."""

    name: str
    is_part: bool = False
    """Made by `pooler export work`: it brings what its judge did, and nothing else."""
    new: Counter[str] = field(default_factory=Counter)
    """Rows by the name of the noun."""
    changed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    """Counted by a reason in words."""


@dataclass(slots=True)
class Merged:
    """What `store.keeping.merge.merge.merge` did."""

    copies: list[CopyCount]
    judges: list[JudgeCount]
    """By name."""
    conflicts: list[MergeConflict]
    """By topic and docno: settled by a rule or by hand, or open. Those that had been settled here
    before are left out."""
    erased: list[str] = field(default_factory=list)
    """Judges who were erased here because another copy had erased them."""
    n_emptied: int = 0
    """Events here whose note or reason was removed because it had been on another copy."""
    is_done: bool = False
    """False = nothing was changed: it was a trial, or conflicts are not settled."""

    @property
    def open_conflicts(self) -> list[MergeConflict]:
        """Conflicts that nothing settles yet."""
        return [one for one in self.conflicts if one.settled is None]

    @property
    def is_nothing_new(self) -> bool:
        """Whether the copies held nothing that is not here."""
        return not (
            self.erased
            or self.n_emptied
            or any(one.new or one.settled for one in self.judges)
            or any(one.new.total() + one.changed.total() for one in self.copies)
        )


PART = "part"
"""Key of a pool's manifest: it is a judge's part of another collection's pools."""

_SHOWN = 25
_ALONE = (
    "take the judgements alone, of judges who judged only there: pooler export judgements NAME"
    " --history --collection OTHER --out FILE, then pooler import judgements FILE --format jsonl"
)
_COLLECTION = TABLES["collection"]
_MOMENT = "%Y-%m-%d %H:%M:%S UTC"


@dataclass(slots=True)
class Copy:
    """A collection that is only read, and what its rows are called here."""

    session: Session
    count: CopyCount
    topics: dict[int, int] = field(default_factory=dict)
    """Row id there to row id here, as all that follow."""
    documents: dict[int, int] = field(default_factory=dict)
    judges: dict[int, int] = field(default_factory=dict)
    """Those who are erased here are left out."""
    runs: dict[int, int] = field(default_factory=dict)
    sittings: dict[int, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The collection as it was named."""
        return self.count.name

    @property
    def is_part(self) -> bool:
        """Whether it is one judge's part."""
        return self.count.is_part


@dataclass(slots=True)
class Here:
    """The collection that is written to, in one transaction."""

    session: Session
    topics: Keys
    documents: Keys
    differences: list[str] = field(default_factory=list)
    """Why the copies cannot come together, a line each."""
    erased: list[str] = field(default_factory=list)
    pools: dict[int, Any] = field(default_factory=dict)
    """What pools hold that were read already, by row id."""

    def differs(self, copy: Copy, what: str) -> None:
        """Note why a copy cannot be merged."""
        self.differences.append(f"{copy.name}: {what}")

    def refuse_if_any(self) -> None:
        """Raise `ConflictError` with all that were noted."""
        if not self.differences:
            return
        lines = self.differences[:_SHOWN]
        if len(self.differences) > _SHOWN:
            lines.append(f"and {len(self.differences) - _SHOWN} more differences like these")
        hint = f"nothing was merged: make these alike in one of the two first, or {_ALONE}"
        raise ConflictError("\n".join(lines), hint=hint)


@contextmanager
def opened(url: URL, name: str | None = None) -> Iterator[Copy]:
    """Open a collection that is only read, in a transaction that sees one state of it; `name` is told."""
    name = name or display(url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        message = f"there is no collection at {name}"
        raise StoreError(message)
    engine = _reading_engine(url)
    log = None if url.get_backend_name() != "sqlite" else Path(f"{url.database}-wal")
    had_log = log is None or log.exists()
    try:
        _check_schema(engine, name)
        with reading(engine) as session:
            yield Copy(session, CopyCount(name, is_part=is_part(session)))
    finally:
        engine.dispose()
        if log is not None and not had_log and log.exists() and not log.stat().st_size:
            _tidy(Path(url.database or ""))


def _tidy(file: Path) -> None:
    """Let SQLite remove the empty log that reading made, if nobody else has the file open."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _check_schema(engine: Engine, name: str) -> None:
    """Refuse another schema, naming the collection to be upgraded."""
    try:
        check_schema(engine)
    except SchemaError as error:
        if "not a pooler collection" in error.message:
            hint = "OTHER must be a collection: a copy, or a part by pooler export work; or what a page"
            hint += " saved; to take in other files, pooler import"
        else:
            hint = (error.hint or "").replace("pooler upgrade", f"pooler upgrade --collection {name}")
        raise SchemaError(error.message, hint=hint) from error


def _reading_engine(url: URL) -> Engine:
    """Make an engine that cannot write: even the log of a SQLite file stays as it is."""
    file = Path(url.database or "")
    can_share = os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)
    if url.get_backend_name() != "sqlite" or not can_share:
        return make_engine(url)
    return read_only_engine(file, is_shared=True)


def is_part(session: Session) -> bool:
    """Say whether a collection is one judge's part of another."""
    manifests = session.scalars(select(POOL.c.manifest).where(POOL.c.manifest.contains(PART)))
    return any(json.loads(one).get(PART) is True for one in manifests)


def check_kinship(here: Here, copy: Copy) -> None:
    """Refuse a collection that is not a copy of this one (`ConflictError`).

    It has another scale, or is another collection altogether: made at another moment, with no judge in
    common.
    """
    own, other = (one.session.execute(select(_COLLECTION)).one() for one in (here, copy))
    judges = [set(one.session.scalars(select(JUDGE.c.uid))) for one in (here, copy)]
    if is_part(here.session):
        message = "this collection is one judge's part of another: it takes nothing in"
        hint = "pooler merge FILE --collection WHOLE brings it back to where it came from"
        raise ConflictError(message, hint=hint)
    if own.created_at != other.created_at and judges[0].isdisjoint(judges[1]):
        message = (
            f"{copy.name} is another collection (`{other.name}`, made {other.created_at:{_MOMENT}}),"
            f" no copy of `{own.name}`, made {own.created_at:{_MOMENT}}"
        )
        raise ConflictError(message, hint=_ALONE)
    if json.loads(own.scale) != json.loads(other.scale):
        message = f"{copy.name} has another scale of grades than this collection"
        raise ConflictError(message, hint="copies of one collection have the same")


def lock(session: Session) -> None:
    """Let judges at work wait until the transaction ends; SQLite does so anyway.

    Tables in the order in which a desk takes them, so that neither waits for the other.
    """
    if session.get_bind().dialect.name == "postgresql":
        for table in ("judge", "assignment", "judgement"):
            session.execute(text(f"LOCK TABLE {table} IN EXCLUSIVE MODE"))
