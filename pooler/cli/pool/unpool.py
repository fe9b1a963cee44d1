"""`pooler unpool`: take a run out of the pools it fed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.pools.change import ChangeCount, Part
from pooler.results.pool.pool import Cost, change_tables, cost_words, fetch_cost, in_words
from pooler.results.printed import Column, Format, Table
from pooler.telling import say, warn
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from pooler.pools.change import PoolChange
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.content.runs import StoredRun

COLUMNS = [
    Column("pool"),
    Column("topic"),
    Column("docno"),
    Column("rank"),
    Column("state"),
    Column("grade"),
    Column("other_pool"),
]


def unpool(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="Tag of a run; without it, the whole pool is withdrawn (--pool)."),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="NAME", help="Out of this pool.  [default: all]", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would leave the pools; change nothing.")
    ] = False,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="Topic by topic, too.")] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take a run out of the pools it fed, and list what it alone had brought; or withdraw a pool.

    These documents leave the pools; what is judged of them stays judged, and counts as outside of
    every pool; so do documents of a pool that is withdrawn. The run contributes to no later pool.
    Adaptive pools and samples keep their documents, since their choice hangs on every run.

    Example: pooler unpool bm25-words --dry-run

    Example: pooler unpool --pool pool --dry-run --by-topic
    """
    if run is None:
        _withdraw(collection, pool, fmt, dry_run=dry_run, by_topic=by_topic)
        return
    from pooler.pools.contents import brought_alone
    from pooler.pools.runs import stored_runs
    from store.collection import Collection

    with Collection(collection) as opened:
        (known,) = opened.runs.all([run])
        standings = opened.pool_changes.standings()
        table = Table("alone", COLUMNS)
        fed = _fed_pools([one for one in opened.pools.all() if not one.withdrawn], known, pool)
        reasons = [(one, _kept_whole(opened, one)) for one in fed]
        for one, reason in reasons:
            if reason is None:
                continue
            if pool is not None and not dry_run:
                raise ArgumentError("--pool", f"must be another: {reason}", pool)
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
            brought = brought_alone(runs, run, _pairs(opened, one.name))
            alone[one.name] = {(topic, docno) for topic, docno, _ in brought}
            for topic, docno, rank in brought:
                stands = standings[topic, docno]
                table.rows.append(
                    {
                        "pool": one.name,
                        "topic": topic,
                        "docno": docno,
                        "rank": rank,
                        "state": stands.state.value,
                        "grade": stands.grade,
                        "other_pool": " ".join(sorted(stands.pools - {one.name})) or None,
                    }
                )
        change = ChangeCount(standings, alone).finish()
        cost = fetch_cost(opened, change.leaving, drawable=0) if dry_run else None
        if not dry_run:
            opened.pools.remove_run(run, alone)
    emit([table, *change_tables(change, fmt, drawable=0, by_topic=by_topic)], fmt)
    if not fed and not reasons:
        say(f"run `{run}` has fed no pool yet")
    else:
        _report(run, table, dry_run=dry_run)
    verb = "would contribute" if dry_run else "contributes"
    say(f"`{run}` {verb} to no later pool")
    _report_rest(change, cost)


def _withdraw(collection: str, name: str | None, fmt: Format, *, dry_run: bool, by_topic: bool) -> None:
    """Withdraw a whole pool."""
    from store.collection import Collection

    if name is None:
        raise ArgumentError("RUN", "must be given, or --pool NAME to withdraw a pool", None)
    with Collection(collection) as opened:
        n_pairs = len(_pairs(opened, name))
        n_judged = opened.progress.count_judged(name)
        change = ChangeCount(opened.pool_changes.standings(), {name: None}).finish()
        stored = next(one for one in opened.pools.all() if one.name == name)
        was_withdrawn = stored.withdrawn
        undrawn = 0 if was_withdrawn or stored.budget is None else stored.budget - stored.pairs
        cost = fetch_cost(opened, change.leaving, drawable=undrawn) if dry_run else None
        if not dry_run:
            opened.pools.withdraw(name)
    emit(change_tables(change, fmt, drawable=0, by_topic=by_topic), fmt)
    verb = "was already" if was_withdrawn else "would be" if dry_run else "is"
    say(f"pool `{name}` {verb} withdrawn: {counted(n_pairs, 'document')}, {n_judged:,} of them"
        " judged, and they stay so")  # fmt: skip
    _report_rest(change, cost)


def _report_rest(change: PoolChange, cost: Cost | None) -> None:
    """Say on stderr how what is left without a pool stands; `cost` is that of a dry run."""
    dry_run = cost is not None
    leaving = change.total(Part.LEAVING)
    if leaving.documents:
        verb = "would be left" if dry_run else "left"
        say(f"{counted(leaving.documents, 'document')} {verb} without a pool: {in_words(leaving)}")
    if cost is not None and cost.shares:
        say(f"falls away: {cost_words(cost)}")
    if dry_run:
        say("nothing was changed: this is --dry-run")


def _pairs(opened: Collection, name: str) -> set[tuple[str, str]]:
    """Return topic and docno of what a pool has to judge."""
    return {(one.topic, one.docno) for one in opened.pools.get(name).entries if one.sampled}


def _fed_pools(pools: list[StoredPool], run: StoredRun, name: str | None) -> list[StoredPool]:
    """Return the pools that a run feeds; none where it may only feed later ones.

    Raises
    ------
    UnknownNameError
        If there is no such pool in use.
    PoolerError
        If the run does not feed it, or feeds none and is to feed none.
    """
    if name is not None and name not in {pool.name for pool in pools}:
        raise UnknownNameError("pool", name, (pool.name for pool in pools))
    fed = [
        pool
        for pool in pools
        if name in (None, pool.name)
        and any(fact["tag"] == run.tag and fact["contributes"] for fact in pool.manifest.get("runs", []))
    ]
    if not fed and (name is not None or not run.contributes):
        where = "any pool, nor will it" if name is None else f"pool `{name}`"
        message = f"run `{run.tag}` does not feed {where}"
        has_fed = any(fact["tag"] == run.tag and fact["contributes"]
                      for one in pools for fact in one.manifest.get("runs", []))  # fmt: skip
        if has_fed:
            hint = f"pooler show run {run.tag} names the pools it feeds"
        elif run.contributes:
            hint = "it feeds no pool yet"
        else:
            hint = (
                "there is nothing to take out: it came with --late, or was taken out before;"
                f" pooler show run {run.tag} says what it brings"
            )
        raise PoolerError(message, hint=hint)
    return fed


def _kept_whole(opened: Collection, pool: StoredPool) -> str | None:
    """Say why no run can be taken out of a pool; ``None`` when one can."""
    from pooler.strategies import find_strategy
    from pooler.strategies.kinds import FixedStrategy

    name = pool.manifest["strategy"]
    if not isinstance(find_strategy(name), FixedStrategy):
        return f"what `{name}` chose hangs on every run"
    hashes = {run.tag: run.sha256 for run in opened.runs.all()}
    for run in pool.manifest["runs"]:
        if run["contributes"] and hashes.get(run["tag"]) != run["sha256"]:
            return f"its run `{run['tag']}` has been replaced since"
    return None


def _report(run: str, table: Table, *, dry_run: bool) -> None:
    """Say on stderr what leaves, and what stays."""
    judged = sum(row["state"] == "judged" for row in table.rows)
    kept = sum(row["other_pool"] is not None for row in table.rows)
    verb = "would leave" if dry_run else "left"
    say(f"{counted(len(table.rows), 'document')} that only `{run}` brought {verb} the pools;"
        f" {judged:,} of them judged, and they stay so")  # fmt: skip
    if kept:
        say(f"{kept:,} of them stay in another pool")
