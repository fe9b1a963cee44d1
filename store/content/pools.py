"""Pools: entries, manifests, one put in the place of another; documents drawn one at a time.

An adaptive pool lists every document it may draw; drawing one turns it into one to be judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlmodel import Session

from store.content.lookup import fetch_topic_names, row_named, rules_of_pools, to_judge, write_rule
from store.content.runs import add_pool_runs, fetch_pool_runs
from store.db.columns import insert_new, insert_row
from store.db.database import Area, Inside
from store.db.digests import pool_digest, write_pool_digest
from store.db.tables import DOCUMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY, POOL_RUN, POOL_TOPIC, RUN, TOPIC
from store.errors import ConflictError, StoreError, UnknownNameError
from store.records import JudgeKind, Pool, PoolEntry
from store.text import natural_key

_COUNT_AFTER = {JudgeKind.IMPORTED.value: 1, JudgeKind.MODEL.value: 2}
"""Kinds that count only where none before them graded: people are first, as in `store.judging.kinds`."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A document that was drawn, and what happened to it."""

    docno: str
    grade: int | None
    """Of the judges' current grades the one that has stood the longest: of people alone, where one has
    graded a document drawn for the topic; else of imported judges, else of models. ``None`` = none of
    them has graded it: unjudged, skipped, or found impossible to judge."""


Choose = Callable[[Sequence[Draw]], str | None]
"""From what was drawn so far, in order, to the next document; ``None`` = there is none."""


def is_adaptive(pool: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the SQL condition that a pool, given by its row id, is adaptive."""
    return pool.in_(select(POOL_TOPIC.c.pool_id))


def draws_left() -> Select[int, int, int]:
    """Select pool id, topic id and ``left``, of adaptive pools that may still draw there."""
    drawn = (
        select(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id, func.count().label("drawn"))
        .where(POOL_ENTRY.c.sampled, is_adaptive(POOL_ENTRY.c.pool_id))
        .group_by(POOL_ENTRY.c.pool_id, POOL_ENTRY.c.topic_id)
        .subquery()
    )
    same = and_(drawn.c.pool_id == POOL_TOPIC.c.pool_id, drawn.c.topic_id == POOL_TOPIC.c.topic_id)
    left = POOL_TOPIC.c.budget - func.coalesce(drawn.c.drawn, 0)
    return (
        select(POOL_TOPIC.c.pool_id, POOL_TOPIC.c.topic_id, left.label("left"))
        .join(POOL, POOL.c.id == POOL_TOPIC.c.pool_id)
        .outerjoin(drawn, same)
        .where(~POOL.c.withdrawn, left > 0)
    )


def fetch_draws(session: Session, pool_id: int, topic_id: int) -> list[Draw]:
    """Return what was drawn for a topic, in order, each with its first current grade by those who count."""
    entry = and_(POOL_ENTRY.c.pool_id == pool_id, POOL_ENTRY.c.topic_id == topic_id, POOL_ENTRY.c.sampled)
    events = (
        select(JUDGEMENT.c.document_id, JUDGEMENT.c.grade, JUDGEMENT.c.judged_at, JUDGE.c.name, JUDGE.c.kind)
        .join(POOL_ENTRY, and_(entry, POOL_ENTRY.c.document_id == JUDGEMENT.c.document_id))
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .where(JUDGEMENT.c.topic_id == topic_id)
        .order_by(JUDGEMENT.c.revision)
    )
    # By document and judge: the grade, when it came, and when the last event came.
    states: dict[int, dict[str, tuple[int | None, datetime, datetime]]] = {}
    kinds: dict[str, int] = {}
    for document, grade, at, judge, kind in session.execute(events):
        kinds[judge] = _COUNT_AFTER.get(kind, 0)
        of_judge = states.setdefault(document, {})
        before, since, last = of_judge.get(judge, (grade, at, at))
        last = max(at, last)  # no event is before an earlier one, whatever the clocks said
        # A note keeps the grade, and its place.
        of_judge[judge] = (grade, since if grade == before else last, last)
    graders = {judge for of in states.values() for judge, (grade, *_) in of.items() if grade is not None}
    first = min((kinds[judge] for judge in graders), default=0)
    query = (
        select(DOCUMENT.c.docno, DOCUMENT.c.id)
        .join(POOL_ENTRY, POOL_ENTRY.c.document_id == DOCUMENT.c.id)
        .where(entry)
        .order_by(POOL_ENTRY.c.position)
    )
    draws = []
    for docno, document in session.execute(query):
        graded = (
            (since, judge, grade)
            for judge, (grade, since, _) in states.get(document, {}).items()
            if grade is not None and kinds[judge] == first
        )
        # By the judges' names where times are equal.
        draws.append(Draw(docno, min(graded, default=(None, "", None))[2]))
    return draws


def is_same_plan(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two manifests are of one plan, whatever version of the program wrote them."""
    return {**old, "version": None} == {**new, "version": None}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return which parts of two plans differ, those of one value with both."""
    plain = (str, int, float, type(None))
    old, new = ({**plan, **plan.get("parameters", {})} for plan in (old, new))
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    differing = []
    for name in names:
        values = old.get(name), new.get(name)
        if name in ("parameters", "pairs", "sizes", "topics", "sha256", "version"):
            continue
        if name == "runs":
            differing += _different_runs(values[0] or (), values[1] or ())
        elif name not in _OF_PARTS and isinstance(values[0], plain) and isinstance(values[1], plain):
            differing.append(
                "{} {}, not {}".format(name, *("none" if one is None else one for one in values))
            )
        else:
            differing.append(_OF_PARTS.get(name, name))
    return f" ({'; '.join(differing)})" if differing else ""


_OF_PARTS = {
    "without": "what it leaves out",
    "one_of": "its classes of near-duplicates",
    "unpooled": "runs taken out of it",
    "strategy_sha256": "the file of its strategy",
}
"""Parts of a plan that are neither numbers nor words."""
_RUNS_NAMED = 5
"""Runs that a message names; it counts the others."""


def _different_runs(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> list[str]:
    before, after = (
        {run["tag"]: run.get("sha256") for run in runs if run.get("contributes", True)} for runs in (old, new)
    )
    parts = {
        "run {} had another file": [t for t in before if t in after and before[t] != after[t]],
        "run {} too": [tag for tag in before if tag not in after],
        "no run {}": [tag for tag in after if tag not in before],
    }
    differing = []
    for words, tags in parts.items():
        named = ", ".join(f"`{tag}`" for tag in sorted(tags)[:_RUNS_NAMED])
        more = f" and {len(tags) - _RUNS_NAMED:,} more" if len(tags) > _RUNS_NAMED else ""
        differing += [words.format(named + more)] if tags else []
    # Groups, file names and runs that fed neither differ as well.
    return differing or ["what is known of its runs"]


_HINTS: dict[Any, str] = {
    "imported": "name the pool otherwise with --as-pool NAME",
    "next": "name the pool otherwise with --name NAME",
}
"""Of pools that the command `pool` does not make, by the strategy in their manifest."""
_REPLACE = (
    "--name NEW gives this one its own name; --replace withdraws the other, which keeps its documents under a"
    " new name"
)


def name_taken(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], *, withdrawn: bool, adaptive: bool
) -> ConflictError:
    """Return the error of a pool, adaptive or not, whose name another pool has, in use or withdrawn."""
    strategy = new.get("strategy")
    what = "" if strategy in _HINTS else differences(old, new)
    hint = _HINTS.get(strategy, _REPLACE)
    if hint == _REPLACE and not adaptive and new.get("seed") is None:  # nor is it a sample
        hint = _REPLACE + "; --add without --name lists only what no pool has yet"
    what += ", and it is withdrawn" if withdrawn else ""
    return ConflictError(f"there is another pool named `{name}`{what}", hint=hint)


def cannot_replace(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> ConflictError:
    """Return the error of an adaptive pool that is to take the place of another, at which judges may work."""
    message = f"adaptive pool `{name}`{differences(old, new)} cannot be replaced by another adaptive pool"
    hint = (
        f"--name NEW gives this one its own name; pooler pool drop --pool {name} withdraws the other, whose"
        " name --replace then takes"
    )
    return ConflictError(message, hint=hint)


def without_run(manifest: dict[str, Any], tag: str, pairs: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Return a pool's manifest after a run and these pairs have left it."""
    sizes = Counter(manifest["sizes"])
    sizes.subtract(Counter(topic for topic, _ in pairs))
    return {
        **manifest,
        "runs": [
            {**run, "contributes": run["contributes"] and run["tag"] != tag} for run in manifest["runs"]
        ],
        "sizes": dict(sizes),
        "pairs": sum(sizes.values()),
        "unpooled": [*manifest.get("unpooled", []), tag],
    }


def as_json(manifest: Mapping[str, Any]) -> str:
    """Write a manifest; file names in it need not be valid Unicode, so they are escaped."""
    return json.dumps(manifest, sort_keys=True)


Pairs = Collection[tuple[str, str]]
"""Topic and docno of several documents."""


@dataclass(frozen=True, slots=True)
class StoredPool:
    """What is known of a pool without reading its entries."""

    name: str
    round: str
    withdrawn: bool
    pairs: int
    """Documents to judge, over all topics."""
    manifest: dict[str, Any]
    budget: int | None = None
    """Of an adaptive pool, the most documents it may draw, over all topics; ``None`` = it is no
    adaptive pool. Those drawn so far are `pairs`."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What happened to a name."""

    is_new: bool
    """False = the same pool was there already, and nothing was changed."""
    former: str | None
    """What the pool that had the name is called now; ``None`` = there was none."""


def add_pool(
    inside: Inside,
    batches: Iterable[Sequence[PoolEntry]],
    finish: Callable[[], Pool],
    *,
    replacing: bool = False,
) -> Replacement:
    """Add a pool as it is built, one topic's batch in memory at a time, unless it is there already.

    `finish` returns the pool without its entries; its name, round and runs are asked for before the entries,
    its manifest and budgets after them. With `replacing` a pool that has the name is withdrawn, else it
    raises `ConflictError`.
    """
    session, name = inside.session, finish().name
    old = session.execute(select(POOL).where(POOL.c.name == name)).first()
    former = None
    if old is not None:
        entries = [entry for batch in batches for entry in batch]
        pool = replace(finish(), entries=entries)
        plans = json.loads(old.manifest), pool.manifest
        is_same = is_same_plan(*plans) and old.round == pool.round and not old.withdrawn
        # What an adaptive pool has drawn since is no part of its plan.
        if is_same and (pool.budgets or _entries(inside, old.id) == _sorted(entries)):
            return Replacement(is_new=False, former=None)
        is_old_adaptive = exists().where(POOL_TOPIC.c.pool_id == old.id)
        if pool.budgets and not old.withdrawn and session.scalar(select(is_old_adaptive)):
            raise cannot_replace(name, *plans)
        if not replacing:
            raise name_taken(name, *plans, withdrawn=old.withdrawn, adaptive=bool(pool.budgets))
        former, batches = _step_aside(session, old), [entries]
    _insert_pool(inside, batches, finish)
    return Replacement(is_new=True, former=former)


_BATCH = 5000
"""Entries inserted at a time."""


def _insert_pool(inside: Inside, batches: Iterable[Sequence[PoolEntry]], finish: Callable[[], Pool]) -> None:
    session, topics, documents = inside
    head, now = finish(), datetime.now(UTC)
    blank = {"manifest": "{}", "display_order": ""}  # known when the entries are
    pool_id = insert_row(session, POOL, name=head.name, round=head.round, created_at=now, **blank)
    waiting: list[tuple[Any, ...]] = []
    for entries in batches:
        topics.add(session, (entry.topic for entry in entries))
        documents.add(session, (entry.docno for entry in entries))
        waiting += [
            (
                pool_id,
                topics.ids[entry.topic],
                documents.ids[entry.docno],
                entry.position,
                None if entry.priority is None else float(entry.priority),
                entry.stratum,
                None if entry.inclusion_probability is None else float(entry.inclusion_probability),
                int(entry.sampled),
            )
            for entry in entries
        ]
        if len(waiting) >= _BATCH:
            insert_new(session, POOL_ENTRY, POOL_ENTRY.columns.keys(), waiting)
            waiting.clear()
    insert_new(session, POOL_ENTRY, POOL_ENTRY.columns.keys(), waiting)
    pool = finish()
    topics.add(session, pool.budgets)
    budgets = [
        {"pool_id": pool_id, "topic_id": topics.ids[topic], "budget": budget}
        for topic, budget in pool.budgets.items()
    ]
    if budgets:
        session.connection().execute(insert(POOL_TOPIC), budgets)
    add_pool_runs(session, pool_id, pool.run_tags)
    order = str(pool.manifest.get("out_order", "docno"))
    plan = {"manifest": as_json(pool.manifest), "display_order": order}
    session.execute(update(POOL).where(POOL.c.id == pool_id).values(plan))
    write_pool_digest(session, pool_id)


def _budgets(inside: Inside, pool_id: int) -> dict[str, int]:
    """Return the budgets of an adaptive pool, topics in natural order; empty for others."""
    query = select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget).where(POOL_TOPIC.c.pool_id == pool_id)
    budgets = {inside.topics.names[topic]: budget for topic, budget in inside.session.execute(query)}
    return {topic: budgets[topic] for topic in sorted(budgets, key=natural_key)}


def _entries(inside: Inside, pool_id: int) -> list[PoolEntry]:
    """Return the entries of a pool, topics in natural order, then by position."""
    query = select(*[*POOL_ENTRY.c][1:]).where(POOL_ENTRY.c.pool_id == pool_id)
    names, docnos, rows = inside.topics.names, inside.documents.names, inside.session.execute(query)
    return _sorted(PoolEntry(names[topic], docnos[document], *rest) for topic, document, *rest in rows)


def _sorted(entries: Iterable[PoolEntry]) -> list[PoolEntry]:
    return sorted(entries, key=lambda one: (natural_key(one.topic), one.position, one.docno))


def pooled_pairs(session: Session) -> set[tuple[int, int]]:
    """Return every pair to judge in a pool not withdrawn."""
    return set(session.execute(to_judge(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)))


def _step_aside(session: Session, old: Row[Any]) -> str:
    taken = set(session.scalars(select(POOL.c.name)))
    former = next(one for n in count(1) if (one := f"{old.name}.replaced-{n}") not in taken)
    manifest = {**json.loads(old.manifest), "name": former, "replaced": True}
    at = old.withdrawn_at or datetime.now(UTC)
    values = {"name": former, "withdrawn": True, "withdrawn_at": at, "manifest": as_json(manifest)}
    session.execute(update(POOL).where(POOL.c.id == old.id).values(values))
    # What was defined as of a moment is of the pool that had the name then; all else of the one that has it.
    for row, rule in rules_of_pools(session, [old.name]):
        if "events" in rule:
            write_rule(session, row.id, rule | {"pool": former})
    return former


class Pools(Area):
    """The pools of a collection."""

    def add(self, pool: Pool) -> bool:
        """Add a pool; return whether it was new. `ConflictError`: another pool has its name."""
        return self.add_by_topic([pool.entries], lambda: pool)

    def add_by_topic(self, batches: Iterable[Sequence[PoolEntry]], finish: Callable[[], Pool]) -> bool:
        """Add a pool as it is built; see `add_pool`."""
        with self._db.filling() as inside:
            return add_pool(inside, batches, finish).is_new

    def all(self) -> list[StoredPool]:
        """Return every pool without its entries, the oldest first."""
        of_pool = select(func.sum(POOL_TOPIC.c.budget)).where(POOL_TOPIC.c.pool_id == POOL.c.id)
        # An expression, for which SQLite walks through the table: by an index of pools, which lacks
        # whether it is sampled, it looks every row up.
        pool_id = (POOL_ENTRY.c.pool_id + literal_column("0")).label("pool_id")
        counted = select(pool_id, func.count().label("pairs")).where(POOL_ENTRY.c.sampled).group_by(pool_id)
        sizes = counted.subquery()
        pairs, budget = func.coalesce(sizes.c.pairs, 0), of_pool.scalar_subquery()
        query = (
            select(POOL.c.name, POOL.c.round, POOL.c.withdrawn, pairs, POOL.c.manifest, budget)
            .outerjoin(sizes, sizes.c.pool_id == POOL.c.id)
            .order_by(POOL.c.id)
        )
        with self._db.reading() as session:
            return [
                StoredPool(name, label, withdrawn, n, json.loads(plan), None if most is None else int(most))
                for name, label, withdrawn, n, plan, most in session.execute(query)
            ]

    def adaptive(self) -> dict[str, dict[str, Any]]:
        """Return the manifests of the adaptive pools in use by name, the oldest first; counts nothing."""
        with self._db.reading() as session:
            query = select(POOL.c.name, POOL.c.manifest).where(~POOL.c.withdrawn, is_adaptive(POOL.c.id))
            rows = session.execute(query.order_by(POOL.c.id))
            return {name: json.loads(manifest) for name, manifest in rows}

    def pairs(self) -> set[tuple[str, int]]:
        """Return topic and document id of everything to judge in a pool not withdrawn."""
        with self._db.reading() as session:
            names = fetch_topic_names(session)
            return {(names[topic], document) for topic, document in pooled_pairs(session)}

    def get(self, name: str) -> Pool:
        """Return a pool with its entries; raise `UnknownNameError` if there is none of that name."""
        with self._db.reading_keyed() as inside:
            stored = row_named(inside.session, "pool", POOL.c.name, name)
            self._db.check_digests(inside.session, pool=name)
            return Pool(
                _entries(inside, stored.id),
                json.loads(stored.manifest),
                stored.name,
                stored.round,
                fetch_pool_runs(inside.session, stored.id),
                _budgets(inside, stored.id),
            )

    def replace(self, batches: Iterable[Sequence[PoolEntry]], finish: Callable[[], Pool]) -> Replacement:
        """Add a pool as `add_by_topic` does, and withdraw another of its name in the same transaction.

        The old one keeps its entries, runs, round and date as ``NAME.replaced-N``, N counting from 1.
        Judgements stay, and keep the round they were made in. `ConflictError` is raised if both pools are
        adaptive.
        """
        with self._db.filling() as inside:
            return add_pool(inside, batches, finish, replacing=True)

    def withdraw(self, name: str) -> bool:
        """Withdraw a pool; return whether it was in use. Its entries and all judgements stay."""
        with self._db.writing(bulk=True) as session:
            stored = row_named(session, "pool", POOL.c.name, name)
            values = {"withdrawn": True, "withdrawn_at": stored.withdrawn_at or datetime.now(UTC)}
            session.execute(update(POOL).where(POOL.c.id == stored.id).values(values))
            return not stored.withdrawn

    def remove_run(self, tag: str, alone: Mapping[str, Pairs]) -> None:
        """Take a run, which contributes no more, out of pools, with the documents that it alone had brought.

        `alone` has them by the name of a pool that the run fed. Judgements stay; the manifest of each pool
        names the run under ``unpooled``. `ConflictError`: one has changed, or is published.
        """
        with self._db.filling() as (session, topics, documents):
            for row, rule in rules_of_pools(session, [name for name, pairs in alone.items() if pairs]):
                if "events" in rule and not row.dropped:
                    message = f"no document leaves pool `{rule['pool']}`: {row.name}@{row.version} is of it"
                    hint = "pooler pool --name NEW makes another, which the run leaves with --pool NEW"
                    raise ConflictError(f"{message} as it was", hint=hint)
            run_id = session.scalar(select(RUN.c.id).where(RUN.c.tag == tag))
            for name, pairs in alone.items():
                stored = row_named(session, "pool", POOL.c.name, name)
                for topic, docno in sorted(pairs):
                    gone = session.connection().execute(
                        delete(POOL_ENTRY).where(
                            POOL_ENTRY.c.pool_id == stored.id,
                            POOL_ENTRY.c.topic_id == topics.ids[topic],
                            POOL_ENTRY.c.document_id == documents.ids[docno],
                        )
                    )
                    if gone.rowcount != 1:
                        message = f"pool `{name}` has changed meanwhile: `{docno}` is not in it"
                        raise ConflictError(message, hint="nothing was changed; try again")
                session.execute(
                    delete(POOL_RUN).where(POOL_RUN.c.pool_id == stored.id, POOL_RUN.c.run_id == run_id)
                )
                manifest = without_run(json.loads(stored.manifest), tag, pairs)
                session.execute(update(POOL).where(POOL.c.id == stored.id).values(manifest=as_json(manifest)))
                write_pool_digest(session, stored.id)
            session.execute(update(RUN).where(RUN.c.id == run_id).values(contributes=False))

    def draw(self, pool: str, topic: str, choose: Choose) -> str | None:
        """Draw the next document of an adaptive pool and return its docno, now to be judged.

        The pool is locked, so that two judges never draw at once. ``None`` = the budget is spent, the
        strategy has nothing left, the pool is withdrawn, or it may draw nothing for the topic. `StoreError`:
        the strategy names a document that is drawn already, or is none of the pool's.
        """
        with self._db.writing() as session:
            row = session.execute(select(POOL).where(POOL.c.name == pool).with_for_update()).first()
            if row is None:
                raise UnknownNameError("pool", pool, session.scalars(select(POOL.c.name)))
            budget = session.execute(
                select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget)
                .join(TOPIC, TOPIC.c.id == POOL_TOPIC.c.topic_id)
                .where(POOL_TOPIC.c.pool_id == row.id, TOPIC.c.number == topic)
            ).first()
            if budget is None or row.withdrawn:
                return None
            drawn = fetch_draws(session, row.id, budget.topic_id)
            if len(drawn) >= budget.budget:
                return None
            if (docno := choose(drawn)) is None:
                return None
            document = session.scalar(select(DOCUMENT.c.id).where(DOCUMENT.c.docno == docno)) or 0
            key = (row.id, budget.topic_id, document)
            entry = " AND pool_entry.topic_id = {1:d} AND pool_entry.document_id = {2:d}".format(*key)
            before = pool_digest(session, row.id, entry)
            own = (one == value for one, value in zip(POOL_ENTRY.primary_key, key, strict=True))
            drawing = update(POOL_ENTRY).where(*own, ~POOL_ENTRY.c.sampled)
            taken = session.connection().execute(drawing.values(sampled=True, position=len(drawn)))
            if taken.rowcount != 1:
                message = f"the strategy of pool `{pool}` named `{docno}`, which cannot be drawn"
                raise StoreError(message, hint="please report this")
            changed = row.digest ^ before ^ pool_digest(session, row.id, entry)
            session.execute(update(POOL).where(POOL.c.id == row.id).values(digest=changed))
            return docno
