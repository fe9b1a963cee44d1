"""A run taken out of the pools it fed, or a whole pool withdrawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.commands.pool.change import cost_words, in_words, pairs_to_judge, planned_words
from pooler.messages import warn
from pooler.pools.change import ChangeCount, PoolChange, PooledWhen
from pooler.pools.contents import brought_alone
from pooler.pools.runs import stored_runs
from pooler.result import Message, Result, messages_of
from pooler.strategies import chooses_at_once
from pooler.tables import DOCNO, GRADE, TOPIC, Column, Table
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.records import StoredRun


@command
def pool_drop(
    collection: Stored,
    run: Annotated[str | None, Option("RUN")] = None,
    *,
    pool: Annotated[str | None, Option("--pool NAME", default="all")] = None,
    dry_run: bool = False,
) -> Unpooled:
    """Take a run out of the pools it fed, or withdraw a pool.

    Documents that only this run brought leave the pools. Their judgements stay and count as outside
    every pool; the same goes for the documents of a withdrawn pool. The run contributes to no later
    pool. Adaptive pools and samples keep their documents, because their choice depends on every run.

    Example: pooler pool drop bm25-words --dry-run

    Example: pooler pool drop --pool pool --dry-run

    run : Tag of a run; without it, the whole pool is withdrawn (--pool).
    pool : Only from this pool.
    dry_run : Show what would leave the pools; change nothing.

    Raises
    ------
    ArgumentError
        If neither a run nor a pool is named, or a named pool keeps its documents.
    UnknownNameError
        If there is no such run, or no such pool in use.
    PoolerError
        If the run does not feed the pool, or feeds none and is to feed none.
    """
    if run is None:
        return _withdrawn(collection, pool, dry_run=dry_run)
    return _without_run(collection, run, pool, dry_run=dry_run)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Unpooled(Result):
    """What leaves the pools; table: `alone`, of a run a row a document and pool."""

    alone: Sequence[Mapping[str, Any]] = ()
    """Of a run: documents that it alone had brought, by pool."""
    change: PoolChange
    words: Sequence[str] = ()

    def closing(self) -> Sequence[Message]:
        """Return what left, or would leave."""
        return messages_of(self.words)

    @classmethod
    def blank(cls) -> Unpooled:
        """Return one without rows."""
        return cls(change=PoolChange({}, 0, 0))

    def lines(self) -> Iterator[str] | None:
        """Return no line of a pool that was withdrawn as a whole."""
        return iter(()) if self.settings["run"] is None else None

    def _tables(self) -> Iterator[Table]:
        columns = [
            Column("pool"),
            TOPIC,
            DOCNO,
            Column("rank", "int"),
            Column("state"),
            GRADE,
            Column("other_pool", "texts"),
        ]
        yield Table.of_rows("alone", columns, self.alone)


def _without_run(opened: Collection, run: str, pool: str | None, *, dry_run: bool) -> Unpooled:
    (known,) = opened.runs.all([run])
    pair_states = opened.pool_changes.pair_states()
    rows: list[dict[str, Any]] = []
    fed = _fed_pools([one for one in opened.pools.all() if not one.withdrawn], known, pool)
    reasons = [(one, _kept_whole(opened, one)) for one in fed]
    for one, reason in reasons:
        if reason is None:
            continue
        if pool is not None and not dry_run:
            raise ArgumentError("pool", f"must be another: {reason}", pool)
        warn(f"pool `{one.name}` keeps its documents: {reason}")
        fed.remove(one)
    alone: dict[str, set[tuple[str, str]]] = {}
    for one in fed:
        runs = stored_runs(
            opened,
            depth=one.manifest["parameters"]["depth"],
            order=one.manifest["order"],
            tags=[fact["tag"] for fact in one.manifest["runs"] if fact["contributes"]],
        )
        brought = brought_alone(runs, run, pairs_to_judge(opened.pools.get(one.name)))
        alone[one.name] = {(topic, docno) for topic, docno, _ in brought}
        for topic, docno, rank in brought:
            stands = pair_states[topic, docno]
            row = {"pool": one.name, "topic": topic, "docno": docno, "rank": rank, "grade": stands.grade}
            others = sorted(stands.pools - {one.name})
            rows.append(row | {"state": stands.state.value, "other_pool": others})
    change = ChangeCount(pair_states, alone).finish()
    cost = cost_words(opened, change.leaving) if dry_run else None
    if not dry_run:
        opened.pools.remove_run(run, alone)
    words = [f"run `{run}` has fed no pool yet"]
    if fed or reasons:
        words = _words(run, rows, dry_run=dry_run)
    verb = "would contribute" if dry_run else "contributes"
    words.append(f"`{run}` {verb} to no later pool")
    return Unpooled(alone=rows, change=change, words=[*words, *_words_of_rest(change, cost)])


def _withdrawn(opened: Collection, name: str | None, *, dry_run: bool) -> Unpooled:
    if name is None:
        raise ArgumentError("run", "must be given, or --pool NAME to withdraw a pool", None)
    n_pairs = len(pairs_to_judge(opened.pools.get(name)))
    n_judged = opened.progress.count_judged(name)
    change = ChangeCount(opened.pool_changes.pair_states(), {name: None}).finish()
    stored = next(one for one in opened.pools.all() if one.name == name)
    was_withdrawn = stored.withdrawn
    undrawn = 0 if was_withdrawn or stored.budget is None else stored.budget - stored.pairs
    cost = cost_words(opened, change.leaving, drawable=undrawn) if dry_run else None
    if not dry_run:
        opened.pools.withdraw(name)
    verb = "was already" if was_withdrawn else "would be" if dry_run else "is"
    words = (
        f"pool `{name}` {verb} withdrawn: {counted(n_pairs, 'document')}, of which {n_judged:,} are judged"
        " and stay so"
    )
    return Unpooled(change=change, words=[words, *_words_of_rest(change, cost)])


def _words(run: str, rows: Sequence[Mapping[str, Any]], *, dry_run: bool) -> list[str]:
    judged = sum(row["state"] == "judged" for row in rows)
    kept = sum(bool(row["other_pool"]) for row in rows)
    verb = "would leave" if dry_run else "left"
    lines = [
        f"{counted(len(rows), 'document')} that only `{run}` brought {verb} the pools; {judged:,} of them"
        " are judged and stay so"
    ]
    return [*lines, f"{kept:,} of them stay in another pool"] if kept else lines


def _words_of_rest(change: PoolChange, cost: str | None) -> list[str]:
    """Say how what is left without a pool stands; `cost` is that of a dry run."""
    if cost is not None:
        less = [f"no longer needed: {cost}"] if cost else []
        return [*planned_words(change), *less, "nothing was changed: this is --dry-run"]
    leaving = change.total(PooledWhen.LEAVING)
    if not leaving.documents:
        return []
    return [f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}"]


def _fed_pools(pools: list[StoredPool], run: StoredRun, name: str | None) -> list[StoredPool]:
    """Return the pools in use that a run feeds; none where it may only feed later ones."""
    if name is not None and name not in {pool.name for pool in pools}:
        raise UnknownNameError("pool", name, (pool.name for pool in pools))

    def feeds(pool: StoredPool) -> bool:
        return any(fact["tag"] == run.tag and fact["contributes"] for fact in pool.manifest.get("runs", []))

    fed = [pool for pool in pools if name in (None, pool.name) and feeds(pool)]
    if not fed and (name is not None or not run.contributes):
        where = "any pool, nor will it" if name is None else f"pool `{name}`"
        message = f"run `{run.tag}` does not feed {where}"
        if any(map(feeds, pools)):
            hint = f"pooler show runs {run.tag} names the pools it feeds"
        elif run.contributes:
            hint = "it feeds no pool yet"
        else:
            hint = (
                "there is nothing to take out: it was added with --late, or taken out before; pooler show"
                f" runs {run.tag} says what it brings"
            )
        raise PoolerError(message, hint=hint)
    return fed


def _kept_whole(opened: Collection, pool: StoredPool) -> str | None:
    """Say why no run can be taken out of a pool; ``None`` when one can."""
    name = pool.manifest["strategy"]
    if not chooses_at_once(name):  # `next` and `imported` are none
        return f"what `{name}` chose depends on every run"
    hashes = {run.tag: run.sha256 for run in opened.runs.all()}
    for run in pool.manifest["runs"]:
        if run["contributes"] and hashes.get(run["tag"]) != run["sha256"]:
            return f"its run `{run['tag']}` has been replaced since"
    return None
