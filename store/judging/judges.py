"""Judges added, renamed, made anonymous."""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import Column, ColumnElement, Row, Table, and_, delete, exists, func, or_, select, update
from sqlmodel import Session

from store.content.lookup import count_rows, row_named
from store.db.database import Area
from store.db.engine import database_now, overwrite_removed
from store.db.tables import (
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    JUDGE,
    JUDGE_CODE,
    JUDGEMENT,
    POOL,
    SITTING,
    TABLES,
    JudgeRow,
)
from store.errors import ArgumentError, ConflictError
from store.fields import id_fault
from store.judging.kinds import Heard, hear
from store.judging.sittings import live_sittings
from store.records import DECIDED, Action, Judge, JudgeKind, LiveSitting, State
from store.text import natural_key


def add_judge(session: Session, name: str, kind: JudgeKind) -> bool:
    """Add a judge; return whether the name was new. `ConflictError`: a judge of another kind has it."""
    if fault := id_fault(name):
        raise ArgumentError("judge", f"must be one word ({fault})", name)
    old = session.execute(select(JUDGE).where(JUDGE.c.name == name)).first()
    if old is not None:
        if old.kind != kind:
            message = f"judge `{name}` is there as kind {old.kind}, not {kind}"
            raise ConflictError(message, hint=f"--kind {old.kind}, or another name")
        return False
    session.add(JudgeRow(name=name, kind=kind, created_at=datetime.now(UTC)))
    session.flush()
    return True


def fetch_judge_names(session: Session) -> dict[int, str]:
    """Return the names of all judges by row id."""
    return {row.id: row.name for row in session.execute(select(JUDGE.c.id, JUDGE.c.name))}


def fetch_judges(session: Session) -> list[Judge]:
    """Return every judge, by name."""
    rows = session.execute(select(JUDGE.c.name, JUDGE.c.kind, JUDGE.c.disabled).order_by(JUDGE.c.name))
    return [Judge(row.name, JudgeKind(row.kind), row.disabled) for row in rows]


def fetch_graders(session: Session) -> frozenset[str]:
    """Return who has graded something, as it stands now; of adjudicators, who has decided anything."""
    return frozenset(session.scalars(select(JUDGE.c.name).where(has_graded())))


def has_graded() -> ColumnElement[bool]:
    """Say of a row of `JUDGE` whether it is one of `fetch_graders`."""
    later = JUDGEMENT.alias("later")
    key = ("judge_id", "topic_id", "document_id")
    has_later = exists().where(
        *(later.c[name] == JUDGEMENT.c[name] for name in key), later.c.revision > JUDGEMENT.c.revision
    )
    rules = and_(JUDGE.c.kind == JudgeKind.ADJUDICATOR.value, JUDGEMENT.c.state.in_(DECIDED))
    # One row of each judge is enough: the databases would join whole tables for an EXISTS.
    grade = (
        select(JUDGEMENT.c.judge_id)
        .where(
            JUDGEMENT.c.judge_id == JUDGE.c.id,
            or_(JUDGEMENT.c.state == State.JUDGED.value, rules),
            ~has_later,
        )
        .limit(1)
        .correlate(JUDGE)
        .scalar_subquery()
    )
    return grade.is_not(None)


def fetch_kinds_heard(session: Session, kinds: Sequence[str] = ()) -> Heard:
    """Choose which kinds of judges count, and how many of each graded; their names stay unsaid."""
    counted = select(JUDGE.c.kind, func.count().label("graders"))
    counted = counted.where(JUDGE.c.kind != JudgeKind.ADJUDICATOR.value, has_graded())
    rows = session.execute(counted.group_by(JUDGE.c.kind)).all()
    judges = [Judge(f"{kind} {place}", JudgeKind(kind)) for kind, n in rows for place in range(n)]
    return hear(judges, frozenset(one.name for one in judges), kinds=kinds)


def judge_named(session: Session, name: str, *columns: str) -> Row[Any]:
    """Return columns of a judge; raise `UnknownNameError` when there is none of that name."""
    hint = "pooler judges list shows them; pooler judges add makes a new one"
    return row_named(session, "judge", JUDGE.c.name, name, *columns, hint=hint)


def judge_id(session: Session, name: str) -> int:
    """Return the row id of a judge; raise `UnknownNameError` when there is none."""
    return int(judge_named(session, name, "id").id)


def fetch_identities(session: Session) -> dict[int, str]:
    """Return what tells judges apart in every backup of the collection, by row id; no names."""
    return {row.id: row.uid for row in session.execute(select(JUDGE.c.id, JUDGE.c.uid))}


_RANDOM = "random"
_NAMING_KEYS = ("file", "judge", "judges", "name", "pools", "replaced", "round")
"""Keys of manifests under which the name of a judge may stand, alone or within another name."""


class Disguise:
    """New names of judges, old to new; empty = everybody keeps the name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)
        longest_first = sorted(self._names, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])")

    @property
    def is_on(self) -> bool:
        """Whether anybody has another name."""
        return bool(self._names)

    def name(self, judge: str) -> str:
        """Return the name of a judge."""
        return self._names.get(judge, judge)

    def iteration(self, label: str) -> str:
        """Return the label of a round; some files have a judge there. A number stays."""
        return label if label.isdecimal() else self.within(label)

    def order(self, order: str | None) -> str | None:
        """Return how documents lay before a judge, without a seed: it is made of the name."""
        return _RANDOM if self.is_on and order and order.startswith(f"{_RANDOM}:") else order

    def within(self, text: str) -> str:
        """Replace the names of judges that stand in a text as words of their own."""
        if not self._names:
            return text
        return self._pattern.sub(lambda found: self._names[found[0]], text)

    def manifest(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Replace names in the manifest of a pool or an assignment; lists of judges are sorted anew."""
        if not self._names:
            return dict(manifest)
        return {key: self._value(key, value) for key, value in manifest.items()}

    def _value(self, key: str, value: Any) -> Any:
        """Replace names in one value of a manifest."""
        if key not in _NAMING_KEYS:
            return value
        if isinstance(value, str):
            return self.iteration(value) if key == "round" else self.within(value)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return sorted(map(self.within, value), key=natural_key)
        return value


def disguise_of(judges: Iterable[str]) -> Disguise:
    """Give judges new names by chance; nothing tells who is who afterwards."""
    names = list(judges)
    secrets.SystemRandom().shuffle(names)
    return Disguise({name: f"judge-{number}" for number, name in enumerate(names, start=1)})


def are_disguised(judges: Iterable[str]) -> bool:
    """Say whether judges have just the names that `disguise_of` gives."""
    names = list(judges)
    return sorted(names) == sorted(f"judge-{number}" for number in range(1, len(names) + 1))


_LISTS = ("judge", "judges")
"""Keys of manifests that hold names of judges and nothing else."""
_POOL_KEYS = {"name", "pools", "replaced"}
"""Keys of manifests that hold names of pools."""


@dataclass(frozen=True, slots=True)
class NamesReplaced:
    """Where names of judges stand, beside the list of judges."""

    plans: int = 0
    """Plans of pools and of assignments."""
    pools: tuple[str, ...] = ()
    """Pools whose name or round holds one, as they were called."""
    events: int = 0
    """Events of whatever judge whose round holds one."""


def rename_in_lists(session: Session, old: str, new: str) -> int:
    """Put a name in place of another wherever a plan lists judges; return how many plans did.

    Names of pools, rounds and files stay: files made before know them by these.
    """
    n_plans = 0
    for table in (ASSIGNMENT_PLAN, POOL):
        for row_id, manifest in _manifests(session, table):
            listed = {key: manifest[key] for key in _LISTS if key in manifest}
            renamed = {key: _mapped(value, {old: new}, resorted=True) for key, value in listed.items()}
            if renamed != listed:
                _write(session, table, row_id, {**manifest, **renamed})
                n_plans += 1
    return n_plans


def replace_names(session: Session, names: Mapping[str, str], *, dry_run: bool = False) -> NamesReplaced:
    """Put other names in place of judges', wherever a collection names them beside their list.

    With `dry_run` it is only said where they stand: where `Disguise` hides a name that is published. The seed
    of an assignment that names one of them goes: with it, and a name that is guessed, the order of that
    judge's documents could be drawn again.
    """
    disguise = disguise_among(session, names)
    renamed_pools = _rename_pools(session, disguise, dry_run=dry_run)
    n_plans = 0
    for table in (ASSIGNMENT_PLAN, POOL):
        for row_id, manifest in _manifests(session, table):
            new = disguise.manifest(manifest)
            for key, old in manifest.items():
                # A list that differs in its order alone stays as it was.
                if isinstance(old, list) and Counter(map(str, old)) == Counter(map(str, new[key])):
                    new[key] = old
            for key in _POOL_KEYS & manifest.keys():
                new[key] = _mapped(manifest[key], renamed_pools)
            if new == manifest:
                continue
            n_plans += 1
            if table is ASSIGNMENT_PLAN:
                new.pop("seed", None)
            if not dry_run:
                _write(session, table, row_id, new)
    n_events = _rename_rounds(session, disguise, dry_run=dry_run)
    return NamesReplaced(n_plans, tuple(renamed_pools), n_events)


def disguise_among(session: Session, names: Mapping[str, str]) -> Disguise:
    """Return other names for some judges; a longer name that holds one of them is another's."""
    everybody = session.scalars(select(JUDGE.c.name))
    return Disguise({**{name: name for name in everybody}, **names})


def _rename_pools(session: Session, disguise: Disguise, *, dry_run: bool) -> dict[str, str]:
    """Rename pools and their rounds; return old to new names of those that change in either."""
    rows = session.execute(select(POOL.c.id, POOL.c.name, POOL.c.round).order_by(POOL.c.id)).all()
    taken = {row.name for row in rows}
    renamed: dict[str, str] = {}
    for row in rows:
        wanted, label = disguise.within(row.name), disguise.iteration(row.round)
        if (wanted, label) == (row.name, row.round):
            continue
        new, number = wanted, 1
        while new != row.name and new in taken:
            number += 1
            new = f"{wanted}-{number}"
        taken.add(new)
        renamed[row.name] = new
        if not dry_run:
            values = {"name": new, "round": label}
            session.execute(update(POOL).where(POOL.c.id == row.id).values(values))
    return renamed


def _rename_rounds(session: Session, disguise: Disguise, *, dry_run: bool) -> int:
    """Rename rounds that events carry; return how many events do."""
    labels = session.scalars(select(JUDGEMENT.c.iteration).distinct()).all()
    n_events = 0
    for label in labels:
        new = disguise.iteration(label)
        if new != label:
            is_its: ColumnElement[bool] = JUDGEMENT.c.iteration == label
            n_events += count_rows(session, JUDGEMENT, is_its)
            if not dry_run:
                session.execute(update(JUDGEMENT).where(is_its).values(iteration=new))
    return n_events


def _manifests(session: Session, table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the row id and the manifest of every plan."""
    query = select(table.c.id, table.c.manifest).order_by(table.c.id)
    for row_id, manifest in session.execute(query).all():
        yield row_id, json.loads(manifest)


def _write(session: Session, table: Table, row_id: int, manifest: Mapping[str, Any]) -> None:
    """Store a manifest in place of another."""
    text = json.dumps(manifest, sort_keys=True)
    session.execute(update(table).where(table.c.id == row_id).values(manifest=text))


def _mapped(value: Any, names: Mapping[str, str], *, resorted: bool = False) -> Any:
    """Put names in place of others: alone, or in a list, whose order stays unless it is sorted anew."""
    if not isinstance(value, list):
        return names.get(value, value) if isinstance(value, str) else value
    new = [names.get(one, one) for one in value]
    return sorted(new, key=natural_key) if resorted and new != value else new


@dataclass(frozen=True, slots=True)
class Renamed:
    """What renaming a judge changed, and what it left."""

    plans: int
    """Plans that listed the old name."""
    left: NamesReplaced
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
    orders: int
    """Events and places whose order no longer tells its seed."""
    notes: int
    """Notes and reasons of theirs, in their own words, each once a document."""
    named: NamesReplaced
    """Where their names stood beside the list of judges."""


def rename(session: Session, old: str, new: str) -> Renamed:
    """Give a judge another name; it is the same judge at every desk and on every page."""
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
    left = replace(replace_names(session, {old: ""}, dry_run=True), plans=0)
    return Renamed(n_plans, left, tuple(live))


def anonymise(
    session: Session, names: Sequence[str], *, without_notes: bool = False, dry_run: bool = False
) -> Anonymised:
    """Take from judges whatever tells who they are; nothing in the collection tells it afterwards.

    What counts as telling is what an anonymised export leaves out. Grades, times and, unless they are to go,
    notes stay. `ConflictError`: one of them is at work; nothing is changed.
    """
    numbers = {name: judge_id(session, name) for name in names}
    ids = list(numbers.values())
    if not dry_run:
        refuse_live(session, numbers)
    sittings = SITTING.c.judge_id.in_(ids)
    tells = or_(SITTING.c.host != "", SITTING.c.process != 0, SITTING.c.program != "")
    n_sittings = count_rows(session, SITTING, sittings, tells)
    n_notes = count_notes(session, ids)
    new_names = dict.fromkeys(numbers, "") if dry_run else _new_names(session, numbers)
    n_orders = _hide_orders(session, ids, dry_run=dry_run)
    named = replace_names(session, new_names, dry_run=dry_run)
    if not dry_run:
        emptied = {"host": "", "process": 0, "program": ""}
        session.execute(update(SITTING).where(sittings).values(emptied))
        # Whoever knows the code would know who it was.
        session.execute(delete(JUDGE_CODE).where(JUDGE_CODE.c.judge_id.in_(ids)))
        _rename_all(session, {numbers[old]: new for old, new in new_names.items()})
        for column, is_worded in _words(ids) if without_notes else ():
            session.execute(update(JUDGEMENT).where(*is_worded).values({column.name: ""}))
    said = () if dry_run else tuple(sorted(new_names.values(), key=natural_key))
    return Anonymised(said, n_sittings, n_orders, n_notes, named)


def refuse_live(session: Session, numbers: Mapping[str, int]) -> None:
    """Raise `ConflictError` when one of some judges is at work; until the transaction ends none can be."""
    lock = select(JUDGE.c.id).where(JUDGE.c.id.in_(numbers.values())).order_by(JUDGE.c.id)
    session.execute(lock.with_for_update()).all()
    for name, number in numbers.items():
        for live in live_sittings(session, number, but=None):
            where = f" on {live.host}" if live.host else ""
            message = f"judge `{name}` is at work{where}: nothing is changed"
            hint = "try again when the judge has left; a sitting that broke off counts for 2 minutes"
            raise ConflictError(message, hint=hint)


def count_notes(session: Session, judges: Sequence[int]) -> int:
    """Count the notes and reasons of some judges, by row id, each once a document."""
    pair = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.judge_id)
    worded = (select(*pair, column).where(*is_worded) for column, is_worded in _words(judges))
    return sum(count_rows(session, query.distinct().subquery()) for query in worded)


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
    """Forget the seeds of orders that were a judge's own, not a pool's; return how many rows had one."""
    of_pools = session.scalars(select(POOL.c.display_order).distinct()).all()
    n_rows = 0
    for table in (JUDGEMENT, ASSIGNMENT):
        order = table.c.display_order
        own = (
            table.c.judge_id.in_(judges),
            order.startswith(f"{_RANDOM}:", autoescape=True),
            order.not_in(of_pools),
        )
        n_rows += count_rows(session, table, *own)
        if not dry_run:
            session.execute(update(table).where(*own).values(display_order=_RANDOM))
    return n_rows


class Judges(Area):
    """The judges of a collection."""

    def all(self) -> list[Judge]:
        """Return every judge, by name."""
        with self._db.reading() as session:
            return fetch_judges(session)

    def add(self, name: str, kind: JudgeKind) -> bool:
        """Add a judge; see `add_judge`."""
        with self._db.writing(bulk=True) as session:
            return add_judge(session, name, kind)

    def rename(self, old: str, new: str) -> Renamed:
        """Give a judge another name; see `rename`."""
        with self._db.writing(bulk=True) as session:
            return rename(session, old, new)

    def anonymise(
        self, names: Sequence[str], *, without_notes: bool = False, dry_run: bool = False
    ) -> Anonymised:
        """Take from judges whatever tells who they are; see `anonymise`."""
        if dry_run:
            with self._db.reading() as session:
                return anonymise(session, names, dry_run=True)
        with self._db.writing(bulk=True) as session:
            overwrite_removed(session)
            return anonymise(session, names, without_notes=without_notes)

    def set_disabled(self, names: Sequence[str], *, disabled: bool) -> list[str]:
        """Disable judges, or let them judge again; return those it changed. What was judged stays."""
        with self._db.writing(bulk=True) as session:
            ids = {name: judge_id(session, name) for name in names}
            query = select(JUDGE.c.id).where(JUDGE.c.id.in_(ids.values()), JUDGE.c.disabled != disabled)
            changed = set(session.scalars(query))
            session.execute(update(JUDGE).where(JUDGE.c.id.in_(changed)).values(disabled=disabled))
            return [name for name, number in ids.items() if number in changed]
