"""`pooler pool` in a collection: the runs of the collection in, a pool of the collection out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pooler.cli.console import Format, counted, emit, say, warn, write_json, write_lines
from pooler.cli.import_report import missing_words
from pooler.cli.pool_before import as_added_to, as_replaced, leaves_others_out
from pooler.cli.pool_plan import DEPTH, Wishes
from pooler.pool_change import Part
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.plan import Plan, PoolBuild
    from pooler.pool_change import ChangeCount, PoolChange
    from pooler.run_set import RunFacts
    from store.collection import Collection
    from store.pair_standings import PairStanding
    from store.records import PoolEntry

Pair = tuple[str, str]
"""Topic and docno."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What is done with the pool."""

    out: str | None
    manifest: str | None
    minus: str | None
    annotated: bool
    add: bool
    replace: bool
    dry_run: bool
    by_topic: bool
    fmt: Format


def pool_collection(collection: str, wishes: Wishes, manner: Manner) -> None:
    """Pool the runs of a collection into it, or say what that would come to."""
    from pooler import __version__
    from pooler.annotated import annotated_lines
    from pooler.cli.pool_change import say_change
    from pooler.cli.pool_report import report, report_adaptive, warn_of_bare_topics
    from pooler.live import start_strategy
    from pooler.plan import PoolBuild
    from pooler.pool_change import ChangeCount
    from pooler.stored_runs import stored_runs
    from pooler.strategies import find_strategy
    from store.collection import Collection
    from store.formats.pairs import read_pairs

    minus = None if manner.minus is None else read_pairs(manner.minus)
    with Collection(collection) as opened:
        stored = opened.pools()
        standings = opened.pair_standings()
        leaves_out = manner.add
        if manner.add:
            wishes = as_added_to(wishes, stored)
        elif manner.replace:
            wishes = as_replaced(wishes, stored)
            leaves_out = leaves_others_out(wishes, stored, has_minus=minus is not None)
        plan = _plan(wishes, opened)
        known, known_from = minus, None
        if leaves_out:
            others = {one.name for one in stored if not one.withdrawn}
            if manner.replace:
                others.discard(plan.name)
                say(f"documents of other pools are left out, as `{plan.name}` did")
            known, known_from = _pairs_of(standings, others, minus)
        runs = stored_runs(
            opened,
            depth=wishes.depth or DEPTH,
            order=wishes.order or "trec",
            scores=manner.annotated or find_strategy(plan.strategy).uses_scores,
        )
        build = PoolBuild(runs, plan, version=__version__, known=known, known_from=known_from)
        if build.is_adaptive:
            _check_adaptive(build, manner)
            for topic in runs.topics[:1]:
                start_strategy(build.manifest(), runs.of_topic(topic).rankings)
        leaving = {plan.name: None} if manner.replace else {}
        count = ChangeCount(standings, leaving)
        if manner.dry_run:
            _show(opened, build, count, manner)
            return
        entries = _counted(build, count)
        former = None
        if manner.add:  # what is new is little, and may be nothing
            listed = [entry for of_topic in entries for entry in of_topic]
            if not build.statistics().total:
                say(_NOTHING_TO_ADD + _left_out(runs.runs))
                return
            new = opened.add_pool(build.pool(listed))
        elif manner.replace:
            if leaves_out:
                entries = iter([*entries])
                _check_anything_left(build)
            replacement = opened.replace_pool(entries, build.pool)
            new, former = replacement.is_new, replacement.former
        else:
            new = opened.add_pool_by_topic(entries, build.pool)
        judged = opened.count_judged(plan.name)
        missing = missing_words(opened.count_pooled_without_text())
        change = count.finish()
        listed_topics = opened.listed_topics()
        n_unassigned = 0
        workloads = opened.workloads()
        if new and workloads.is_assigned:
            # What was assigned before it left the pools has its places still.
            prospects = opened.prospects(change.new)
            n_unassigned = sum(not one.has_place for one in prospects.documents)
    facts = build.manifest()
    if manner.out is not None:
        again = PoolBuild(runs, plan, version=__version__, known=known)
        lines = annotated_lines(runs, again.result().pool) if manner.annotated else again.lines()
        write_lines(manner.out, lines)
    if manner.manifest is not None or manner.out not in (None, "-"):
        write_json(manner.manifest or f"{manner.out}.manifest.json", facts)
    if build.is_adaptive:
        report_adaptive(build.statistics(), facts, build.pool().budgets, workloads=workloads)
    else:
        report(build.statistics(), facts)
    warn_of_bare_topics(listed_topics, _topics_left(build, change), {*runs.topics})
    if judged:
        say(f"{judged:,} of the pairs are judged already, and stay so")
    if new:
        say_change(change)
    where = "is in the collection" if new else "was there already, the same"
    say(f"pool `{plan.name}`, round {plan.round}, {where}")
    if former is not None:
        say(f"the pool that was `{plan.name}` is withdrawn, and listed as `{former}`")
    if n_unassigned:
        say(f"{n_unassigned:,} of {counted(len(change.new), 'new document')} assigned to nobody"
            " yet: pooler assign --add")  # fmt: skip
    if missing:
        say(f"{missing}: pooler import docs FILE brings it")


_NOTHING_TO_ADD = "every document is in a pool already: nothing to add"


def _counted(build: PoolBuild, count: ChangeCount) -> Iterator[list[PoolEntry]]:
    """Yield the entries of one topic after another, and count what they change."""
    for entries in build.entries():
        count.add((entry.topic, entry.docno) for entry in entries if entry.sampled)
        yield entries


def _topics_left(build: PoolBuild, change: PoolChange) -> set[str]:
    """Return the topics that have a pooled document after a change, or one that may be drawn."""
    pooled = {
        topic
        for topic, parts in change.by_topic.items()
        if parts[Part.NEW].documents or parts[Part.STAYING].documents
    }
    return pooled | {topic for topic, most in build.pool().budgets.items() if most}


def _pairs_of(
    standings: Mapping[Pair, PairStanding], pools: Set[str], minus: Set[Pair] | None
) -> tuple[set[Pair], dict[str, Any]]:
    """Return what pools and a file hold, and what a manifest says of that."""
    pooled = {pair for pair, one in standings.items() if one.pools & pools}
    known = pooled | (minus or set())
    facts: dict[str, Any] = {"pools": sorted(pools)}
    if len(known) > len(pooled):
        facts["others"] = len(known) - len(pooled)
    return known, facts


def _check_anything_left(build: PoolBuild) -> None:
    """Raise `PoolerError` where other pools have every document of a pool that leaves them out."""
    if not build.statistics().total:
        name = build.plan.name
        message = f"nothing would be left of pool `{name}`: other pools have all of it"
        raise PoolerError(message, hint=f"pooler unpool --pool {name} withdraws it")


def _show(opened: Collection, build: PoolBuild, count: ChangeCount, manner: Manner) -> None:
    """Say what a pool would come to; write nothing."""
    from pooler.cli.pool_change import change_tables, cost_table, cost_words, fetch_cost
    from pooler.cli.pool_report import report, report_adaptive, warn_of_bare_topics

    for _ in _counted(build, count):
        pass
    if manner.replace and "pools" in build.manifest().get("without", {}):
        _check_anything_left(build)
    is_nothing = manner.add and not build.statistics().total
    if is_nothing:
        say(_NOTHING_TO_ADD + _left_out(build.runs.runs))
        if manner.fmt is Format.TABLE:
            return
    name, facts, budgets = build.plan.name, build.manifest(), build.pool().budgets
    is_there = not is_nothing and _is_there(opened, build, replace=manner.replace)
    change = count.finish()
    drawable = 0 if is_there else sum(budgets.values())
    if build.is_adaptive:
        report_adaptive(build.statistics(), facts, budgets, workloads=opened.workloads())
    elif not is_nothing:
        report(build.statistics(), facts)
    if is_there:
        say(f"pool `{name}` is there already, the same: nothing would be changed")
        change = type(count)(opened.pair_standings()).finish()
    elif manner.replace and name in {pool.name for pool in opened.pools()}:
        say(f"the pool that is `{name}` now would be withdrawn, and listed under another name")
    warn_of_bare_topics(opened.listed_topics(), _topics_left(build, change), {*build.runs.topics})
    cost = fetch_cost(opened, change.new, drawable=drawable)
    tables = change_tables(change, manner.fmt, drawable=drawable, by_topic=manner.by_topic)
    emit([*tables, cost_table(cost, manner.fmt)], manner.fmt)
    if manner.replace and change.leaving:
        cost = fetch_cost(opened, change.leaving, drawable=0)
        say(f"falls away: {cost_words(cost)}")
    say(f"pool `{name}`, round {build.plan.round}: nothing was written, this is --dry-run")


def _is_there(opened: Collection, build: PoolBuild, *, replace: bool) -> bool:
    """Say whether this very pool is there; raise as the real run would when another has its name.

    Raises
    ------
    ConflictError
        If the name is taken by another pool, and it is not to be replaced or cannot be.
    """
    from store.pool_manifests import cannot_replace, is_same_plan, name_taken

    pool = build.pool()
    old = next((one for one in opened.pools() if one.name == pool.name), None)
    if old is None:
        return False
    if not old.withdrawn and old.round == pool.round and is_same_plan(old.manifest, pool.manifest):
        return True
    if not replace:
        raise name_taken(pool.name, old.manifest, pool.manifest, withdrawn=old.withdrawn)
    if build.is_adaptive and old.budget is not None and not old.withdrawn:
        raise cannot_replace(pool.name)
    return False


def _plan(wishes: Wishes, opened: Collection) -> Plan:
    """Make the plan, rewarding from the scale's relaxed level on unless another is given."""
    if wishes.level is not None:
        opened.scale.check_level(wishes.level)
    return wishes.plan(level=opened.scale.relaxed)


def _left_out(runs: Sequence[RunFacts]) -> str:
    """Name the runs that do not contribute; empty when all do."""
    tags = [f"`{run.tag}`" for run in runs if not run.contributes]
    if not tags:
        return ""
    return f" (left out: {', '.join(tags[:10])}, not contributing)"


def _check_adaptive(build: PoolBuild, manner: Manner) -> None:
    """Refuse what only a pool with documents can do."""
    name = build.plan.strategy
    if manner.add or manner.minus is not None:
        option = "--add" if manner.add else "--minus"
        hint = "what a judge has graded already is drawn with its grade, and not shown again"
        raise ArgumentError(option, "is for strategies that choose at once", name, hint=hint)
    if manner.out is not None:
        hint = "pooler export pool writes what was drawn"
        raise ArgumentError(
            "--out", "has nothing to write of an adaptive pool", manner.out, hint=hint
        )
    if build.plan.out_order != "docno":
        warn(f"--out-order {build.plan.out_order} has no effect: documents are shown as {name}"
             " draws")  # fmt: skip
