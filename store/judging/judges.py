"""Judges added, listed, renamed; where their names stand beside the list; sittings."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, bindparam, case, collate, exists, func, or_, select, update
from sqlmodel import Session

from store.content.lookup import count_rows, row_named, rules_of_pools, write_rule
from store.db.columns import insert_row
from store.db.database import Area
from store.db.digests import note_events, write_event_digests
from store.db.engine import Scrubbed, database_now, overwrite_removed, scrub
from store.db.tables import ASSIGNMENT_PLAN, JUDGE, JUDGEMENT, POOL, QRELS, SITTING, TOPIC
from store.errors import ArgumentError, ConflictError
from store.fields import id_fault
from store.judging.kinds import Voters, choose_voters
from store.model_judge import MOCK
from store.records import DECIDED, Action, Judge, JudgeKind, LiveSitting, State
from store.text import free_name, natural_key, sanitise_line


def add_judge(session: Session, name: str, kind: JudgeKind) -> bool:
    """Add a judge; return whether the name was new. `ConflictError`: a judge of another kind has it."""
    if fault := id_fault(name):
        raise ArgumentError("judge", f"must be one word: {fault}", None)
    old = session.execute(select(JUDGE).where(JUDGE.c.name == name)).first()
    if old is not None:
        if old.kind != kind:
            message = f"judge `{name}` is there as kind {old.kind}, not {kind}"
            raise ConflictError(message, hint=f"--kind {old.kind}, or another name")
        return False
    check_no_qrels(session, name)
    insert_row(session, JUDGE, name=name, kind=kind, created_at=datetime.now(UTC))
    return True


def check_no_qrels(session: Session, name: str) -> None:
    """Raise `ConflictError` for the name of qrels: a judge's name stands for that judge's own grades."""
    if session.scalar(select(QRELS.c.id).where(QRELS.c.name == name, ~QRELS.c.dropped).limit(1)) is not None:
        message = f"`{name}` is the name of qrels of the collection, and cannot be a judge's"
        raise ConflictError(message, hint="choose another name; pooler qrels lists those of qrels")


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
    """Return the SQL condition that a row of `JUDGE` is one of `fetch_graders`."""
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


def fetch_voters_of_kinds(session: Session, kinds: Sequence[str] = ()) -> Voters:
    """Choose which kinds of judges count, and how many of each graded; their names stay unsaid."""
    counted = select(JUDGE.c.kind, func.count().label("graders"))
    counted = counted.where(JUDGE.c.kind != JudgeKind.ADJUDICATOR.value, has_graded())
    rows = session.execute(counted.group_by(JUDGE.c.kind)).all()
    judges = [Judge(f"{kind} {place}", JudgeKind(kind)) for kind, n in rows for place in range(n)]
    return choose_voters(judges, frozenset(one.name for one in judges), kinds=kinds)


def judge_named(session: Session, name: str, *columns: str) -> Row[Any]:
    """Return columns of a judge; raise `UnknownNameError` when there is none of that name."""
    hint = "pooler show judges shows them; pooler judges add makes a new one"
    return row_named(session, "judge", JUDGE.c.name, name, *columns, hint=hint)


def judge_id(session: Session, name: str) -> int:
    """Return the row id of a judge; raise `UnknownNameError` when there is none."""
    return int(judge_named(session, name, "id").id)


def fetch_identities(session: Session) -> dict[int, str]:
    """Return what identifies judges in every backup of the collection, by row id; no names."""
    return {row.id: row.uid for row in session.execute(select(JUDGE.c.id, JUDGE.c.uid))}


_SOMEBODY = "[judge]"
"""What stands in place of a judge's name in published notes."""
_NAMING_KEYS = ("file", "judge", "judges", "name", "pools", "primary", "replaced", "round")
"""Keys of manifests under which the name of a judge may stand, alone or within another name."""


class Disguise:
    """New names of judges, old to new; empty = everybody keeps the name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)
        longest_first = sorted(self._names, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        # Japanese has no blanks between a name and what follows.
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{alternatives})(?![A-Za-z0-9])")
        self._any_case = re.compile(self._pattern.pattern, re.IGNORECASE)

    def name(self, judge: str) -> str:
        """Return the name of a judge."""
        return self._names.get(judge, judge)

    def iteration(self, label: str) -> str:
        """Return the label of a round; some files have a judge there. A number stays."""
        return label if label.isdecimal() else self.within(label)

    def note(self, text: str) -> str:
        """Replace the names of judges in words of judges: a new name could tell there whose it is."""
        return self._any_case.sub(_SOMEBODY, text) if self._names else text

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
        if key not in _NAMING_KEYS:
            return value
        if isinstance(value, str):
            return self.iteration(value) if key == "round" else self.within(value)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return sorted(map(self.within, value), key=natural_key)
        if isinstance(value, dict):  # judges by topic
            return {topic: self.name(judge) for topic, judge in value.items()}
        return value


def disguise_of(judges: Iterable[str]) -> Disguise:
    """Give judges new names by chance; who is who cannot be found out afterwards."""
    names = list(judges)
    secrets.SystemRandom().shuffle(names)
    return Disguise({name: f"judge-{number}" for number, name in enumerate(names, start=1)})


_POOL_KEYS = {"name", "pools", "replaced"}
"""Keys of manifests that hold names of pools."""


@dataclass(frozen=True, slots=True)
class NamesReplaced:
    """Where the name of a judge stands, beside the list of judges."""

    plans: int
    """Plans of pools and of assignments."""
    pools: Mapping[str, str]
    """Pools whose name or round holds it: old name to new."""
    events: int
    """Events of whatever judge whose round holds it."""


def replace_name(
    session: Session, old: str, new: str, *, keeps_seeds: bool, dry_run: bool = False
) -> NamesReplaced:
    """Put another name in place of a judge's, wherever a collection names the judge beside the list.

    With `dry_run` it is only counted where it stands. Without `keeps_seeds` the seed of an assignment that
    names the judge goes: with it, and a name that is guessed, that judge's order could be drawn again.
    """
    disguise = disguise_among(session, {old: new})
    pools = _rename_pools(session, disguise, dry_run=dry_run)
    n_plans = 0
    for table in (ASSIGNMENT_PLAN, POOL):
        for row_id, manifest in session.execute(select(table.c.id, table.c.manifest)).all():
            before = json.loads(manifest)
            after = disguise.manifest(before)
            for key, value in before.items():
                if key in _POOL_KEYS and isinstance(value, str):
                    after[key] = pools.get(value, value)
                elif key in _POOL_KEYS and isinstance(value, list):
                    after[key] = [pools.get(one, one) for one in value]
                # A list that differs in its order alone stays as it was.
                elif isinstance(value, list) and Counter(map(str, value)) == Counter(map(str, after[key])):
                    after[key] = value
            if after == before:
                continue
            n_plans += 1
            if table is ASSIGNMENT_PLAN and not keeps_seeds:
                after.pop("seed", None)
            if not dry_run:
                values = {"manifest": json.dumps(after, sort_keys=True)}
                session.execute(update(table).where(table.c.id == row_id).values(values))
    for row, rule in rules_of_pools(session, () if dry_run else pools):
        write_rule(session, row.id, rule | {"pool": pools[rule["pool"]]})
    n_events = _rename_rounds(session, disguise, dry_run=dry_run)
    return NamesReplaced(n_plans, pools, n_events)


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
        new = free_name(wanted, (taken - {row.name}).__contains__)
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
                note_events(session, JUDGEMENT, session.scalars(select(JUDGEMENT.c.digest).where(is_its)))
                session.execute(update(JUDGEMENT).where(is_its).values(iteration=new, digest=None))
    if n_events and not dry_run:
        write_event_digests(session)
    return n_events


def count_mentions(session: Session, name: str, *where: ColumnElement[bool]) -> int:
    """Count the notes and reasons in which the name of a judge stands as a word, each once a document."""
    disguise = disguise_among(session, {name: ""})
    pair = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.judge_id)
    n_mentions = 0
    for column in (JUDGEMENT.c.note, JUDGEMENT.c.reason):
        worded = select(*pair, column.label("words")).where(column != "", *where).distinct()
        n_mentions += sum(disguise.within(row.words) != row.words for row in session.execute(worded))
    return n_mentions


@dataclass(frozen=True, slots=True)
class Renamed:
    """What renaming a judge changed, and what it left."""

    named: NamesReplaced
    """Where the old name stood beside the list of judges; the new one stands there."""
    in_notes: int
    """Notes and reasons in which it stands; they stay as they were written."""
    live: tuple[LiveSitting, ...]
    """Screens that show the old name until they are closed."""
    scrubbed: Scrubbed
    """Whether the bytes of the old name are gone from the file."""


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
    own = JUDGEMENT.c.judge_id.in_(judges)
    # The reasons of a reopening are the program's.
    by_hand = JUDGEMENT.c.action != Action.REOPEN.value
    notes = select(*pair, JUDGEMENT.c.note).where(own, JUDGEMENT.c.note != "")
    reasons = select(*pair, JUDGEMENT.c.reason).where(own, JUDGEMENT.c.reason != "", by_hand)
    return sum(count_rows(session, query.distinct().subquery()) for query in (notes, reasons))


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
        """Give a judge another name; it is the same judge at every desk and on every page.

        The old name stands nowhere afterwards but in notes and reasons, which are judges' own words.
        """
        with self._db.writing(bulk=True) as session:
            overwrite_removed(session)
            number = judge_id(session, old)
            if fault := id_fault(new):
                raise ArgumentError("NEW", f"must be one word: {fault}", None)
            if new == old:
                raise ArgumentError("NEW", "must be another name than now", new)
            if old == MOCK:
                raise ConflictError("`mock` keeps its name, which says that it is no language model")
            if session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == new)) is not None:
                message = f"there is a judge `{new}` already"
                raise ConflictError(message, hint="two judges stay two: choose another name")
            check_no_qrels(session, new)
            in_notes = count_mentions(session, old)
            named = replace_name(session, old, new, keeps_seeds=True)
            values = {"name": new, "renamed_at": database_now(session)}
            session.execute(update(JUDGE).where(JUDGE.c.id == number).values(values))
            live = tuple(live_sittings(session, number, but=None))
        return Renamed(named, in_notes, live, scrub(self._db.engine))

    def set_disabled(self, names: Sequence[str], *, disabled: bool) -> list[str]:
        """Disable judges, or let them judge again; return those it changed. What was judged stays."""
        with self._db.writing(bulk=True) as session:
            ids = {name: judge_id(session, name) for name in names}
            query = select(JUDGE.c.id).where(JUDGE.c.id.in_(ids.values()), JUDGE.c.disabled != disabled)
            changed = set(session.scalars(query))
            session.execute(update(JUDGE).where(JUDGE.c.id.in_(changed)).values(disabled=disabled))
            return [name for name, number in ids.items() if number in changed]


ALIVE = timedelta(minutes=2)
"""A sitting without a sign of life for longer is taken for dead."""


def open_sitting(session: Session, judge: int, *, program: str, window: str | None = None) -> int:
    """Begin a sitting of a judge, or of a page's window, and return its id."""
    moments = dict.fromkeys(("started_at", "seen_at"), database_now(session))
    where = {"host": socket.gethostname(), "process": os.getpid(), "program": program}
    return insert_row(session, SITTING, judge_id=judge, window=window, **moments, **where)


def beat(session: Session, sitting: int, *, topic: int | None) -> None:
    """Renew the sign of life: the sitting is at work on a topic, by its row id."""
    values = {"seen_at": database_now(session), "topic_id": topic}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def close_sitting(session: Session, sitting: int) -> None:
    """End a sitting."""
    now = database_now(session)
    values = {"seen_at": now, "ended_at": now}
    session.connection().execute(update(SITTING).where(SITTING.c.id == sitting).values(values))


def live_sittings(session: Session, judge: int, *, but: int | None) -> list[LiveSitting]:
    """Return a judge's other sittings that are alive, the latest sign of life first."""
    query = (
        select(SITTING, TOPIC.c.number)
        .outerjoin(TOPIC, TOPIC.c.id == SITTING.c.topic_id)
        .where(
            SITTING.c.judge_id == judge,
            SITTING.c.ended_at.is_(None),
            SITTING.c.seen_at > database_now(session) - ALIVE,
        )
        .order_by(SITTING.c.seen_at.desc(), SITTING.c.id.desc())
    )
    return [
        LiveSitting(sanitise_line(row.host), row.number or "", row.seen_at)
        for row in session.execute(query)
        if row.id != but and not _is_dead(row)
    ]


def _is_dead(sitting: Row[Any]) -> bool:
    """Return whether the process of a sitting at a desk of this machine is there no more.

    A page's window outlives the server; and to Windows the question would be an order to end.
    """
    if sitting.window is None and sitting.host == socket.gethostname() and os.name == "posix":
        try:
            os.kill(sitting.process, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):  # somebody else's, or no number of a process
            return False
    return False


CLOCK_SLACK, LONG_AGO = timedelta(minutes=1), timedelta(days=365)
"""How far two computers' clocks may differ; after which silence the clock is doubted."""


def clock_doubt(session: Session) -> str:
    """Return how the clock and what is stored contradict each other; empty = they do not."""
    now = database_now(session)
    moments = JUDGEMENT.c.judged_at, SITTING.c.seen_at
    newest = [
        session.scalar(select(moment).order_by(moment.table.c.id.desc()).limit(1)) for moment in moments
    ]
    last = max((one for one in newest if one is not None), default=now)
    if now - LONG_AGO <= last <= now + CLOCK_SLACK:
        return ""
    days = f"{abs(now - last).days:,} days {'after' if last > now else 'before'}"
    return (
        f"the clock says {now:%Y-%m-%d %H:%M} UTC, and what was done last is of {last:%Y-%m-%d %H:%M}, {days}"
        " that: moments of what is judged may be wrong; its order is kept by revisions"
    )


def lock_judge(session: Session, judge: int) -> None:
    """Make two programs of one judge take turns; other judges do not wait."""
    session.execute(_LOCK, {"judge": judge}).one()


_LOCK = select(JUDGE.c.id).where(JUDGE.c.id == bindparam("judge")).with_for_update(key_share=True)


def fetch_sitting_numbers(session: Session, names: Mapping[int, str] | None = None) -> dict[int | None, int]:
    """Return the number of every sitting, from 1 in the order in which they began, by row id."""
    order = SITTING.c.started_at, judge_called(session, names), SITTING.c.id
    ids = session.scalars(select(SITTING.c.id).join(JUDGE, JUDGE.c.id == SITTING.c.judge_id).order_by(*order))
    return {row_id: number for number, row_id in enumerate(ids, start=1)}


def judge_called(session: Session, names: Mapping[int, str] | None = None) -> ColumnElement[str]:
    """Return the names of judges in SQL, compared bytewise: their own, or those of `names` by row id."""
    if not names:
        return JUDGE.c.name
    collation = "C" if session.get_bind().dialect.name == "postgresql" else "BINARY"
    return collate(case(dict(names), value=JUDGE.c.id), collation)
