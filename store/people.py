"""Judges under other names, and without one: renaming, and making anonymous for good."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import Column, ColumnElement, delete, func, or_, select, update
from sqlmodel import Session

from store.database import database_now
from store.errors import ArgumentError, ConflictError
from store.formats.lines import id_fault
from store.judge_names import Named, rename_in_lists, replace_names, rounds_and_pools_with
from store.judges import judge_id
from store.models import ASSIGNMENT, JUDGE, JUDGE_TERM, JUDGEMENT, POOL, SITTING, TABLES
from store.natural_order import natural_key
from store.records import Action, LiveSitting
from store.sittings import live_sittings

_RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Renamed:
    """What renaming a judge changed, and what it left."""

    plans: int
    """Plans that listed the old name."""
    left: Named
    """Where the old name still stands: it is a part of other names there."""
    live: tuple[LiveSitting, ...]
    """Screens that show the old name until they are closed."""


@dataclass(frozen=True, slots=True)
class Anonymised:
    """What making judges anonymous changed, or would."""

    names: tuple[str, ...]
    """The new ones, in natural order: who is who is said nowhere. Empty of what it only would."""
    sittings: int
    """That said where and with what somebody worked."""
    terms: int
    """Own words of theirs, which are gone."""
    orders: int
    """Events and places whose order no longer tells its seed."""
    notes: int
    """Notes and reasons of theirs, in their own words, each once a document."""
    named: Named
    """Where their names stood beside the list of judges."""


def rename(session: Session, old: str, new: str) -> Renamed:
    """Give a judge another name; it is the same judge in every copy of the collection.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    old, new : str
        A judge of the collection, and one word that is no judge's.

    Raises
    ------
    UnknownNameError
        If there is no judge `old`.
    ArgumentError
        If `new` cannot be a name, or is `old`.
    ConflictError
        If `new` is another judge's.

    Notes
    -----
    A judge who is at work goes on: nothing that a desk writes depends on the name.
    """
    number = judge_id(session, old)
    if fault := id_fault(new):
        raise ArgumentError("NEW", f"must be one word ({fault})", new)
    if new == old:
        raise ArgumentError("NEW", "must be another name than now", new)
    if session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == new)) is not None:
        message = f"there is a judge `{new}` already"
        raise ConflictError(message, hint="two judges stay two: choose another name")
    values = {"name": new, "renamed_at": database_now(session)}
    session.execute(update(JUDGE).where(JUDGE.c.id == number).values(values))
    n_plans = rename_in_lists(session, old, new)
    live = live_sittings(session, number, but=None)
    return Renamed(n_plans, rounds_and_pools_with(session, old), tuple(live))


def anonymise(
    session: Session, names: Sequence[str], *, without_notes: bool = False, dry_run: bool = False
) -> Anonymised:
    """Take from judges whatever tells who they are; nothing in the collection tells it afterwards.

    Parameters
    ----------
    session : Session
        A bulk writing session; with `dry_run` any.
    names : sequence of str
        Judges of the collection.
    without_notes : bool, default=False
        Whether their notes and reasons go too.
    dry_run : bool, default=False
        Whether only to say what would change.

    Returns
    -------
    Anonymised

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    ConflictError
        If one of them is at work; nothing is changed.

    Notes
    -----
    What counts as telling is what an anonymised export leaves out (`store.directory.disguise`): the
    name wherever it stands, host, process and program of sittings, own words that were marked, the
    day of registration, and seeds of orders that were made of the name. The new names are the first
    free of ``judge-1``, ``judge-2``, ..., given by chance. Grades, times and, unless they are to
    go, notes stay.
    """
    numbers = {name: judge_id(session, name) for name in names}
    ids = list(numbers.values())
    if not dry_run:
        refuse_live(session, numbers)
    sittings = SITTING.c.judge_id.in_(ids)
    tells = or_(SITTING.c.host != "", SITTING.c.process != 0, SITTING.c.program != "")
    n_sittings = session.scalar(select(func.count(SITTING.c.id)).where(sittings, tells)) or 0
    terms = JUDGE_TERM.c.judge_id.in_(ids)
    n_terms = session.scalar(select(func.count(JUDGE_TERM.c.id)).where(terms)) or 0
    n_notes = count_notes(session, ids)
    if dry_run:
        named = replace_names(session, dict.fromkeys(numbers, ""), dry_run=True)
        n_orders = _hide_orders(session, ids, dry_run=True)
        return Anonymised((), n_sittings, n_terms, n_orders, n_notes, named)
    new_names = _new_names(session, numbers)
    emptied = {"host": "", "process": 0, "program": ""}
    session.execute(update(SITTING).where(sittings).values(emptied))
    session.execute(delete(JUDGE_TERM).where(terms))
    n_orders = _hide_orders(session, ids)
    named = replace_names(session, new_names)
    _rename_all(session, {numbers[old]: new for old, new in new_names.items()})
    if without_notes:
        for column, is_worded in _words(ids):
            session.execute(update(JUDGEMENT).where(*is_worded).values({column.name: ""}))
    said = tuple(sorted(new_names.values(), key=natural_key))
    return Anonymised(said, n_sittings, n_terms, n_orders, n_notes, named)


def refuse_live(session: Session, numbers: Mapping[str, int]) -> None:
    """Raise `ConflictError` when one of some judges, by name and row id, is at work.

    Until the transaction ends none of them can write.
    """
    lock = select(JUDGE.c.id).where(JUDGE.c.id.in_(numbers.values())).order_by(JUDGE.c.id)
    session.execute(lock.with_for_update()).all()
    for name, number in numbers.items():
        for live in live_sittings(session, number, but=None):
            where = f" on {live.host}" if live.host else ""
            message = f"judge `{name}` is at work{where}: nothing is changed"
            hint = (
                "try again when the judge has left; a sitting that broke off counts for 2 minutes"
            )
            raise ConflictError(message, hint=hint)


def count_notes(session: Session, judges: Sequence[int]) -> int:
    """Count the notes and reasons of some judges, by row id, each once a document."""
    pair = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.judge_id)
    total = 0
    for column, is_worded in _words(judges):
        found = select(*pair, column).where(*is_worded).distinct().subquery()
        total += session.scalar(select(func.count()).select_from(found)) or 0
    return total


def _words(judges: Sequence[int]) -> Iterator[tuple[Column[Any], tuple[ColumnElement[bool], ...]]]:
    """Yield the columns with words of judges, and the condition that a row has some."""
    own = JUDGEMENT.c.judge_id.in_(judges)
    yield JUDGEMENT.c.note, (own, JUDGEMENT.c.note != "")
    # The reasons of a reopening are the program's.
    by_hand = JUDGEMENT.c.action != Action.REOPEN.value
    yield JUDGEMENT.c.reason, (own, JUDGEMENT.c.reason != "", by_hand)


def _new_names(session: Session, numbers: Mapping[str, int]) -> dict[str, str]:
    """Give judges the first free names by chance."""
    others = select(JUDGE.c.name).where(JUDGE.c.id.not_in(numbers.values()))
    taken = set(session.scalars(others))
    free = (name for number in count(1) if (name := f"judge-{number}") not in taken)
    shuffled = [next(free) for _ in numbers]
    secrets.SystemRandom().shuffle(shuffled)
    return dict(zip(numbers, shuffled, strict=True))


def _rename_all(session: Session, names: Mapping[int, str]) -> None:
    """Rename judges by row id, who may take each other's names; and forget when they came."""
    made = session.execute(select(TABLES["collection"].c.created_at)).scalar_one()
    values = {"created_at": made, "renamed_at": database_now(session)}
    for passing in (True, False):
        for number, name in names.items():
            own = {**values, "name": f"{number} {name}" if passing else name}
            session.execute(update(JUDGE).where(JUDGE.c.id == number).values(own))


def _hide_orders(session: Session, judges: Sequence[int], *, dry_run: bool = False) -> int:
    """Forget the seeds of orders that were a judge's own; return how many rows had one.

    The order of a pool lay before everybody, and tells nobody.
    """
    of_pools = session.scalars(select(POOL.c.display_order).distinct()).all()
    n_rows = 0
    for table in (JUDGEMENT, ASSIGNMENT):
        order = table.c.display_order
        own = (
            table.c.judge_id.in_(judges),
            order.startswith(f"{_RANDOM}:", autoescape=True),
            order.not_in(of_pools),
        )
        n_rows += session.scalar(select(func.count()).select_from(table).where(*own)) or 0
        if not dry_run:
            session.execute(update(table).where(*own).values(display_order=_RANDOM))
    return n_rows
