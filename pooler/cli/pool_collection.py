"""`pooler pool` in a collection: the runs of the collection in, a pool of the collection out."""

from __future__ import annotations

import re
from collections.abc import Collection as AnyCollection
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.console import say, warn, write_json, write_lines
from pooler.cli.pool_plan import DEPTH, Wishes, as_wishes
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.plan import Plan, PoolBuild
    from pooler.run_set import RunFacts
    from store.collection import Collection
    from store.pools import StoredPool


def pool_collection(
    collection: str,
    wishes: Wishes,
    *,
    out: str | None,
    manifest: str | None,
    minus: str | None,
    annotated: bool,
    add: bool,
) -> None:
    """Pool the runs of a collection into it."""
    from pooler import __version__
    from pooler.annotated import annotated_lines
    from pooler.cli.pool_report import report, report_adaptive
    from pooler.live import start_strategy
    from pooler.plan import PoolBuild
    from pooler.stored_runs import stored_runs
    from pooler.strategies import find_strategy
    from store.collection import Collection
    from store.formats.pairs import read_pairs

    known = None if minus is None else read_pairs(minus)
    with Collection(collection) as opened:
        if add:
            wishes = _as_before(wishes, opened.pools())
            known = {*(known or ()), *opened.pooled_rounds()}
        plan = _plan(wishes, opened)
        runs = stored_runs(
            opened,
            depth=wishes.depth or DEPTH,
            order=wishes.order or "trec",
            scores=annotated or find_strategy(plan.strategy).uses_scores,
        )
        build = PoolBuild(runs, plan, version=__version__, known=known)
        if build.is_adaptive:
            _check_adaptive(build, add=add, minus=minus, out=out)
            for topic in runs.topics[:1]:
                start_strategy(build.manifest(), runs.of_topic(topic).rankings)
        if add:  # what is new is little, and may be nothing
            entries = build.result().pool.entries
            if not build.statistics().total:
                say("every document is in a pool already: nothing to add" + _left_out(runs.runs))
                return
            new = opened.add_pool(build.pool(entries))
        else:
            new = opened.add_pool_by_topic(build.entries(), build.pool)
        judged = opened.count_judged(plan.name)
        missing, documents = opened.count_pooled_without_text()
    facts = build.manifest()
    if out is not None:
        again = PoolBuild(runs, plan, version=__version__, known=known)
        lines = annotated_lines(runs, again.result().pool) if annotated else again.lines()
        write_lines(out, lines)
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", facts)
    if build.is_adaptive:
        report_adaptive(build.statistics(), facts, build.pool().budgets)
    else:
        report(build.statistics(), facts)
    if judged:
        say(f"{judged:,} of the pairs are judged already, and stay so")
    where = "is in the collection" if new else "was there already, the same"
    say(f"pool `{plan.name}`, round {plan.round}, {where}")
    if missing:
        say(f"{missing:,} of {documents:,} pooled documents have no text: pooler import docs FILE"
            " brings it")  # fmt: skip


def _plan(wishes: Wishes, opened: Collection) -> Plan:
    """Make the plan, rewarding from the scale's relaxed level on unless another is given."""
    if wishes.level is not None:
        opened.scale.check_level(wishes.level)
    return wishes.plan(level=opened.scale.relaxed)


def _as_before(wishes: Wishes, pools: Sequence[StoredPool]) -> Wishes:
    """Fill in what is not given from the newest fixed pool, with the next name and round."""
    from pooler.strategies import STRATEGIES
    from pooler.strategies.kinds import FixedStrategy

    own = [
        pool
        for pool in pools
        if not pool.withdrawn
        and isinstance(STRATEGIES.get(pool.manifest.get("strategy", "")), FixedStrategy)
    ]
    if not own:
        message = "--add needs a pool to add to, and the collection has none chosen at once"
        raise PoolerError(message, hint="pooler pool without --add makes the first")
    before = as_wishes(own[-1].manifest)
    if wishes.strategy not in (None, before["strategy"]):
        before["strategy"], before["parameters"] = wishes.strategy, {}
        before["level"] = None
    if wishes.budget is not None or wishes.total_budget is not None:
        before["budget"] = before["total_budget"] = None
    given = {name: getattr(wishes, name) for name in before}
    filled = {name: before[name] if value is None else value for name, value in given.items()}
    filled["parameters"] = {**before["parameters"], **wishes.parameters}
    names = {pool.name for pool in pools}
    return replace(
        wishes,
        **filled,
        name=wishes.name or _next_name(own[-1].name, names),
        round=wishes.round or _next_round([pool.round for pool in pools]),
    )


def _left_out(runs: Sequence[RunFacts]) -> str:
    """Name the runs that do not contribute; empty when all do."""
    tags = [f"`{run.tag}`" for run in runs if not run.contributes]
    if not tags:
        return ""
    return f" (left out: {', '.join(tags[:10])}, not contributing)"


def _next_name(name: str, taken: AnyCollection[str]) -> str:
    """Return the first free name of `pool-2`, `pool-3`, and so on."""
    stem = re.sub(r"-[0-9]+$", "", name)
    number = 2
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def _next_round(rounds: Sequence[str]) -> str:
    """Return the whole number after the highest round; rounds need not be numbers, though."""
    numbers = [float(label) for label in rounds if re.fullmatch(r"[0-9]+(\.[0-9]+)?", label)]
    if not numbers:
        hint = "--round LABEL names the new one"
        raise ArgumentError("--round", "must be given, since no round is a number", None, hint=hint)
    return str(int(max(numbers)) + 1)


def _check_adaptive(build: PoolBuild, *, add: bool, minus: str | None, out: str | None) -> None:
    """Refuse what only a pool with documents can do."""
    name = build.plan.strategy
    if add or minus is not None:
        option = "--add" if add else "--minus"
        hint = "what a judge has graded already is drawn with its grade, and not shown again"
        raise ArgumentError(option, "is for strategies that choose at once", name, hint=hint)
    if out is not None:
        hint = "pooler export pool writes what was drawn"
        raise ArgumentError("--out", "has nothing to write of an adaptive pool", out, hint=hint)
    if build.plan.out_order != "docno":
        warn(
            f"--out-order {build.plan.out_order} has no effect: documents are shown as {name} draws"
        )
