"""`pooler unpool`: take a run out of the pools it fed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Column, Format, Table, counted, emit, say, warn
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from store.errors import ArgumentError, PoolerError, UnknownNameError

if TYPE_CHECKING:
    from store.collection import Collection
    from store.pools import StoredPool

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
        typer.Argument(
            metavar="RUN", help="Tag of a run; without it, the whole pool is withdrawn (--pool)."
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool", metavar="NAME", help="Out of this pool.  [default: all]", show_default=False
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what the run alone brought; change nothing.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take a run out of the pools it fed, and list what it alone had brought; or withdraw a pool.

    These documents leave the pools; what is judged of them stays judged, and counts as outside of
    every pool. The run contributes to no later pool. Adaptive pools and samples keep their
    documents, since their choice hangs on every run.

    Example: pooler unpool bm25 --dry-run
    """
    if run is None:
        _withdraw(collection, pool, dry_run=dry_run)
        return
    from pooler.stored_runs import stored_runs
    from pooler.unpool import brought_alone, standing
    from store.collection import Collection
    from store.records import State

    with Collection(collection) as opened:
        opened.runs([run])
        grades = standing(opened.judgements())
        table = Table("alone", COLUMNS)
        pools = [one for one in opened.pools() if not one.withdrawn]
        fed = _fed_pools(pools, run, pool)
        reasons = [(one, _kept_whole(opened, one)) for one in fed]
        for one, reason in reasons:
            if reason is None:
                continue
            if pool is not None and not dry_run:
                raise ArgumentError("--pool", f"must be another: {reason}", pool)
            warn(f"pool `{one.name}` keeps its documents: {reason}")
            fed.remove(one)
        pooled = {one.name: _pairs(opened, one.name) for one in pools}
        alone: dict[str, set[tuple[str, str]]] = {}
        for one in fed:
            runs = stored_runs(
                opened,
                depth=one.manifest["parameters"]["depth"],
                order=one.manifest["order"],
                tags=[fact["tag"] for fact in one.manifest["runs"] if fact["contributes"]],
            )
            brought = brought_alone(runs, run, pooled[one.name])
            alone[one.name] = {(topic, docno) for topic, docno, _ in brought}
            for topic, docno, rank in brought:
                others = [name for name in pooled if name != one.name]
                kept = [name for name in others if (topic, docno) in pooled[name]]
                state, grade = grades.get((topic, docno), (State.UNJUDGED, None))
                table.rows.append(
                    {
                        "pool": one.name,
                        "topic": topic,
                        "docno": docno,
                        "rank": rank,
                        "state": str(state),
                        "grade": grade,
                        "other_pool": " ".join(kept) or None,
                    }
                )
        if not dry_run:
            opened.unpool(run, alone)
    emit([table], fmt)
    _report(run, table, dry_run=dry_run)


def _withdraw(collection: str, name: str | None, *, dry_run: bool) -> None:
    """Withdraw a whole pool."""
    from store.collection import Collection

    if name is None:
        raise ArgumentError("RUN", "must be given, or --pool NAME to withdraw a pool", None)
    with Collection(collection) as opened:
        n_pairs = len(_pairs(opened, name))
        n_judged = opened.count_judged(name)
        is_new = dry_run or opened.withdraw_pool(name)
    verb = "would be" if dry_run else "is" if is_new else "was already"
    say(f"pool `{name}` {verb} withdrawn: {counted(n_pairs, 'document')}, {n_judged:,} of them"
        " judged, and they stay so")  # fmt: skip


def _pairs(opened: Collection, name: str) -> set[tuple[str, str]]:
    """Return topic and docno of what a pool has to judge."""
    return {(one.topic, one.docno) for one in opened.pool(name).entries if one.sampled}


def _fed_pools(pools: list[StoredPool], run: str, name: str | None) -> list[StoredPool]:
    """Return the pools that a run feeds."""
    if name is not None and name not in {pool.name for pool in pools}:
        raise UnknownNameError("pool", name, (pool.name for pool in pools))
    fed = [
        pool
        for pool in pools
        if name in (None, pool.name)
        and any(
            fact["tag"] == run and fact["contributes"] for fact in pool.manifest.get("runs", [])
        )
    ]
    if not fed:
        message = f"run `{run}` does not feed " + ("any pool" if name is None else f"pool `{name}`")
        raise PoolerError(message, hint="`pooler status` names the pools")
    return fed


def _kept_whole(opened: Collection, pool: StoredPool) -> str | None:
    """Say why no run can be taken out of a pool; ``None`` when one can."""
    from pooler.strategies import find_strategy
    from pooler.strategies.kinds import FixedStrategy

    name = pool.manifest["strategy"]
    if not isinstance(find_strategy(name), FixedStrategy):
        return f"what `{name}` chose hangs on every run"
    hashes = {run.tag: run.sha256 for run in opened.runs()}
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
    if not dry_run:
        say(f"`{run}` contributes to no later pool")
