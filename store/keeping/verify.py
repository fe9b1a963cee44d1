"""Whether a database keeps the rules of a collection, check by check."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlmodel import Session

from store.db.engine import (
    MISREAD,
    check_revision,
    engine_at,
    hinting,
    is_like_damage,
    reading,
    unreadable_place,
)
from store.errors import StoreError
from store.keeping import Progress, no_progress
from store.keeping.checks import CHECKS, RESTORE, Check

_OF_THE_DATABASE = {"file", "tables", "references", "digests"}
"""Checks of how rows are stored, which say nothing of rows that the database took a moment ago."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What one check found."""

    name: str
    what: str
    """What was counted."""
    n_checked: int
    n_faults: int
    examples: tuple[str, ...]
    """The first faults, at most `store.keeping.checks.N_EXAMPLES`; of the tables, all."""
    advice: str
    """What to do about a fault."""


def verify(url: URL, *, progress: Progress = no_progress) -> list[Verified]:
    """Check a collection against its own rules, read only, while others may work on it; one answer a check.

    All checks but the first see one state.
    """
    with engine_at(url) as engine, hinting(RESTORE):
        check_revision(engine)
        results = []
        with progress("checking", len(CHECKS)) as advance, reading(engine) as session:
            for check in CHECKS:
                results.append(_verified(check, session))
                advance(1)
        return results


def broken_rules(session: Session) -> Iterator[str]:
    """Yield the first faults of every check of what rows say, each with the check's name."""
    for check in CHECKS:
        # A check that fails on what it reads undoes the transaction: there is nothing for the next one.
        if check.name not in _OF_THE_DATABASE and session.in_transaction():
            yield from (f"{check.name}: {words}" for words in _verified(check, session).examples)


def first_fault(session: Session, names: Sequence[str]) -> str | None:
    """Say what some checks find first, in a few words; ``None`` = nothing."""
    results = (_verified(check, session) for check in CHECKS if check.name in names)
    return next((one.examples[0] for one in results if one.n_faults), None)


def damage(engine: Engine) -> str | None:
    """Say what is wrong with a collection, in a few words; ``None`` = nothing that is known."""
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    if file is not None and not Path(file).is_file():
        return None
    try:
        # Not `reading`, which asks here what its errors come of.
        with Session(engine) as session:
            return first_fault(session, [check.name for check in CHECKS if check.name != "tables"])
    except (DatabaseError, sqlite3.Error) as error:
        return str(error) if is_like_damage(error) else None


def _verified(check: Check, session: Session) -> Verified:
    """Make one check; whatever it fails on is a fault of the collection."""
    try:
        n_checked = check.count(session)
        faults = chain.from_iterable(look(session) for look in check.faults)
        examples = tuple(islice(faults, check.n_told))
        n_faults = len(examples) + sum(1 for _ in faults)
    except (SQLAlchemyError, sqlite3.Error, StoreError, *MISREAD) as error:
        cause = getattr(error, "orig", None) or error
        if isinstance(cause, sqlite3.Error) and not is_like_damage(cause):
            raise  # a disk that is full, or cannot be read: the collection may be whole
        reason = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        database: Any = session.get_bind()
        is_text = isinstance(cause, sqlite3.Error | UnicodeDecodeError)
        place = unreadable_place(database) if is_text else ""
        n_checked, n_faults, examples = 0, 1, (place or f"what is stored cannot be read: {reason}",)
        session.rollback()
    return Verified(check.name, check.what, n_checked, n_faults, examples, check.advice)
