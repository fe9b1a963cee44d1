"""Pool, of files and of a collection; --as, --add, --replace."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pooler.cli.console import check_out, emit, write_json, write_lines
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    ByTopicOption,
    CollectionOption,
    FormatOption,
    LenientOption,
    OrderName,
    RunsOption,
)
from pooler.cli.pool.diff import diff
from pooler.pools.change import Part
from pooler.results.look import missing_words
from pooler.results.pool.pool import DEPTH, Wishes, as_wishes
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.source import entries_of, names_collection
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy
from pooler.telling import progress, say, warn
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.pools.change import ChangeCount, PoolChange
    from pooler.pools.plan import Plan, PoolBuild
    from pooler.pools.runs import RunFacts
    from pooler.reading.run_list import RunEntry
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.looking.pool_change import PairStanding
    from store.ranking import Order
    from store.records import PoolEntry

DIFF = "diff"
"""The first word that is no run; a run file of that name is `./diff`."""


class PoolGroup(TyperGroup):
    """Compares two pools where the first word is `diff`; else pools runs.

    A group of typer that takes arguments of its own would look for a command among them, so this
    one leaves all of the command line to one command or the other.
    """

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Parse the command line by the options of the command that it is for."""
        if args[:1] == [DIFF]:
            return self.commands[DIFF].make_context(f"{info_name} {DIFF}", args[1:], *rest, **extra)
        return self.alone.make_context(info_name, args, *rest, **extra)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command that pools: the other one is named in it."""
        self.alone.format_help(ctx, formatter)

    @property
    def alone(self) -> Any:
        """The command that pools: what the group is without `diff`."""
        around = typer.Typer(add_completion=False, rich_markup_mode=None)
        around.command("pool")(pool)
        return typer.main.get_command(around)


class OutOrderName(StrEnum):
    """How the documents of a topic are listed."""

    DOCNO = "docno"
    PRIORITY = "priority"
    RANDOM = "random"


def pool(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run files; without any, the runs of the collection."),
    ] = None,
    listed: RunsOption = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", "-s", metavar="NAME", help="See --list.  [default: depth]")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the strategy.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", "-d", "-N", min=1, help="Documents taken from each run and topic.  [default: 100]"
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", min=1, help="Documents to judge for a topic.")
    ] = None,
    total_budget: Annotated[
        int | None, typer.Option("--total-budget", min=1, help="Documents to judge for all topics together.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level",
            help="Least grade that rewards an adaptive strategy.  [default: the relaxed level]",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        OrderName | None, typer.Option("--order", help="Rank order, as in `check`.  [default: trec]")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write `topic docno` lines here; from files the default is stdout.",
        ),
    ] = None,
    out_order: Annotated[
        OutOrderName | None,
        typer.Option(
            "--out-order",
            help="docno (bytewise), priority (the strategy's), or random (needs --seed).  [default: docno]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Of random strategies and of the random order.", show_default=False
        ),
    ] = None,
    annotated: Annotated[
        bool,
        typer.Option("--annotated", help="Write `topic docno run group rank score`, one line a contributor."),
    ] = False,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Of the pool in the collection.  [default: pool]")
    ] = None,
    round_label: Annotated[
        str | None,
        typer.Option(
            "--round", help="Label that judgements of this pool carry, column 2 of the qrels.  [default: 0]"
        ),
    ] = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="List only what no pool of the collection has yet, as a new pool and round; what"
            " is not said is as in the newest pool that is neither adaptive nor a sample.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Take the place of the pool that has the name: that one is withdrawn, and listed"
            " under another name; what is not said is as in it: its round, and that documents of"
            " other pools are left out where --add made it.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what the pool would add, leave without a pool, and cost; write nothing."
        ),
    ] = False,
    by_topic: ByTopicOption = False,
    minus: Annotated[
        str | None, typer.Option("--minus", metavar="FILE", help="Leave out the pairs of this pool file.")
    ] = None,
    lenient: LenientOption = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the strategies and their parameters, and stop.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Choose the documents to judge from the runs of files, or of a collection.

    With run files no collection is touched: the pool goes to --out or stdout. Without, the runs
    of the collection are pooled into it (and to --out, if given). Sizes, ties at the cut and
    overlap go to stderr. Pools of different names live side by side; judgements stay, whatever
    happens to pools. Two pools are compared by `pooler pool diff A B` (pooler pool diff --help).

    Example: pooler pool runs/*.run --depth 100 --out pool.txt

    Example: pooler pool --depth 6 --add --dry-run
    """
    if show_list:
        show_strategies(fmt)
        return
    from pooler.results.pool.pool import DEPTH, Wishes, parse_parameters
    from store.fields import id_fault

    if round_label is not None and (fault := id_fault(round_label)):
        raise ArgumentError("--round", f"must be one word ({fault})", round_label)
    if name is not None and not name.strip():
        raise ArgumentError("--name", "must not be empty", name)
    if by_topic and not dry_run:
        raise ArgumentError("--by-topic", "is for --dry-run", None)
    if fmt is not Format.TABLE and not dry_run:
        raise ArgumentError("--format", "is for --dry-run and --list", fmt.value)
    if add and replace:
        raise ArgumentError("--add", "and --replace exclude each other", None)
    if not dry_run:
        check_out(out, manifest)
    wishes = Wishes(
        strategy=strategy,
        parameters=parse_parameters(param or []),
        depth=depth,
        order=None if order is None else order.value,
        budget=budget,
        total_budget=total_budget,
        out_order=None if out_order is None else out_order.value,
        seed=seed,
        level=level,
        name=name,
        round=round_label,
    )
    entries = entries_of(runs or [], listed)
    if entries:
        if add:
            hint = "--minus FILE leaves out the pairs of a pool file"
            raise ArgumentError("--add", "is for a collection", "run files", hint=hint)
        if names_collection(ctx):
            hint = "import runs brings files into a collection, whose runs are pooled without RUN"
            requirement = "and run files exclude each other: files need no collection"
            raise ArgumentError("--collection", requirement, collection, hint=hint)
        for option, is_given in (("--replace", replace), ("--dry-run", dry_run)):
            if is_given:
                raise ArgumentError(option, "is for a collection", "run files")
        plan = wishes.plan()
        _pool_files(
            entries,
            plan,
            depth=depth or DEPTH,
            order=wishes.order or "trec",
            out=out,
            manifest=manifest,
            minus=minus,
            annotated=annotated,
            lenient=lenient,
        )
        return

    manner = Manner(
        out=out,
        manifest=manifest,
        minus=minus,
        annotated=annotated,
        add=add,
        replace=replace,
        dry_run=dry_run,
        by_topic=by_topic,
        fmt=fmt,
    )
    pool_collection(collection, wishes, manner)


app = typer.Typer(cls=PoolGroup, help=pool.__doc__, rich_markup_mode=None)
app.command(DIFF)(diff)


def _pool_files(
    entries: list[RunEntry],
    plan: Plan,
    *,
    depth: int,
    order: Order,
    out: str | None,
    manifest: str | None,
    minus: str | None,
    annotated: bool,
    lenient: bool,
) -> None:
    """Pool run files to a file."""
    from pooler import __version__
    from pooler.pools.annotated import annotated_lines
    from pooler.pools.plan import PoolBuild
    from pooler.pools.runs import FileRuns
    from pooler.reading.top import read_tops
    from pooler.results.pool.pool import report
    from pooler.strategies import find_strategy
    from pooler.strategies.kinds import AdaptiveStrategy

    strategy = find_strategy(plan.strategy)
    if isinstance(strategy, AdaptiveStrategy):
        hint = "pool runs of a collection; or see what it would do: `pooler replay`"
        requirement = "must choose at once, without judgements, when files are pooled"
        raise ArgumentError("--strategy", requirement, plan.strategy, hint=hint)
    known = _known(minus)
    with progress("runs", len(entries)) as advance:
        tops = read_tops(
            entries,
            depth,
            order=order,
            lenient=lenient,
            with_scores=annotated or strategy.uses_scores,
            progress=advance,
        )
    build = PoolBuild(FileRuns(tops), plan, version=__version__, known=known)
    if annotated:
        write_lines(out, annotated_lines(build.runs, build.result().pool), manifest=manifest)
    else:
        write_lines(out, build.lines(), manifest=manifest)
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", build.manifest())
    report(build.statistics(), build.manifest())
    if minus is not None:
        say(f"without the pairs of {minus}")


def _known(minus: str | None) -> set[tuple[str, str]] | None:
    """Read the pairs to leave out."""
    from store.formats.pairs import read_pairs

    return None if minus is None else read_pairs(minus)


def as_added_to(wishes: Wishes, pools: Sequence[StoredPool]) -> Wishes:
    """Fill in what is not given from the newest fixed pool, with the next name and round.

    Raises
    ------
    PoolerError
        If there is no such pool.
    ArgumentError
        If no round is given and none can be counted on.
    """
    from pooler.strategies import STRATEGIES
    from pooler.strategies.kinds import FixedStrategy

    own = [
        pool
        for pool in pools
        if not pool.withdrawn and isinstance(STRATEGIES.get(pool.manifest.get("strategy", "")), FixedStrategy)
    ]
    if not own:
        message = "--add needs a pool to add to, and the collection has none chosen at once"
        raise PoolerError(message, hint="pooler pool without --add makes the first")
    names = {pool.name for pool in pools}
    return replace(
        _filled(wishes, own[-1]),
        name=wishes.name or _next_name(own[-1].name, names),
        round=wishes.round or _next_round([pool.round for pool in pools]),
    )


def as_replaced(wishes: Wishes, pools: Sequence[StoredPool]) -> Wishes:
    """Fill in what is not given from the pool that has the name, its round too.

    A pool that no run fed, as an imported one, says nothing but its round.
    """
    from pooler.strategies import STRATEGIES

    old = _named(wishes.pool_name, pools)
    if old is None:
        return wishes
    if old.manifest.get("strategy", "") in STRATEGIES:
        wishes = _filled(wishes, old)
    return replace(wishes, round=wishes.round or old.round)


def leaves_others_out(wishes: Wishes, pools: Sequence[StoredPool], *, has_minus: bool) -> bool:
    """Say whether what takes a pool's place leaves out other pools' documents, as that one did.

    Parameters
    ----------
    wishes : Wishes
        Of `as_replaced`.
    pools : sequence of StoredPool
        All there are.
    has_minus : bool
        Whether a file says what else to leave out. Where the old pool had one, and there is none
        now, that is warned of: its pairs are not kept.
    """
    from pooler.strategies import STRATEGIES
    from pooler.strategies.kinds import FixedStrategy

    old = _named(wishes.pool_name, pools)
    without = {} if old is None else old.manifest.get("without", {})
    if old is None or not without:
        return False
    left_out = "pools" in without
    if ("others" in without or not left_out) and not has_minus:
        what = "the pairs of a file, too" if left_out else "documents of other pools, or of a file"
        warn(f"pool `{old.name}` left out {what}; what takes its place does not, unless"
             " --minus FILE says so")  # fmt: skip
    if left_out and not isinstance(STRATEGIES.get(wishes.strategy or "depth"), FixedStrategy):
        warn(f"pool `{old.name}` left out documents of other pools; `{wishes.strategy}` cannot")
        return False
    return left_out


def _named(name: str, pools: Sequence[StoredPool]) -> StoredPool | None:
    """Return the pool that has a name."""
    return next((pool for pool in pools if pool.name == name), None)


def _filled(wishes: Wishes, old: StoredPool) -> Wishes:
    """Fill in what is not given from a pool."""
    before = as_wishes(old.manifest)
    if wishes.strategy not in (None, before["strategy"]):
        before["strategy"], before["parameters"] = wishes.strategy, {}
        before["level"] = None
    if wishes.budget is not None or wishes.total_budget is not None:
        before["budget"] = before["total_budget"] = None
    given = {name: getattr(wishes, name) for name in before}
    filled = {name: before[name] if value is None else value for name, value in given.items()}
    filled["parameters"] = {**before["parameters"], **wishes.parameters}
    return replace(wishes, **filled)


def _next_name(name: str, taken: Container[str]) -> str:
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
    from pooler.pools.annotated import annotated_lines
    from pooler.pools.change import ChangeCount
    from pooler.pools.live import start_strategy
    from pooler.pools.plan import PoolBuild
    from pooler.pools.runs import stored_runs
    from pooler.results.pool.pool import report, report_adaptive, say_change, warn_of_bare_topics
    from pooler.strategies import find_strategy
    from store.collection import Collection
    from store.formats.pairs import read_pairs

    minus = None if manner.minus is None else read_pairs(manner.minus)
    with Collection(collection) as opened:
        stored = opened.pools.all()
        standings = opened.pool_changes.standings()
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
            new = opened.pools.add(build.pool(listed))
        elif manner.replace:
            if leaves_out:
                entries = iter([*entries])
                _check_anything_left(build)
            replacement = opened.pools.replace(entries, build.pool)
            new, former = replacement.is_new, replacement.former
        else:
            new = opened.pools.add_by_topic(entries, build.pool)
        judged = opened.progress.count_judged(plan.name)
        missing = missing_words(opened.documents.count_without_text())
        change = count.finish()
        listed_topics = opened.topics.listed()
        n_unassigned = 0
        workloads = opened.assignments.workloads()
        if new and workloads.is_assigned:
            # What was assigned before it left the pools has its places still.
            prospects = opened.pool_changes.prospects(change.new)
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
    from pooler.results.pool.pool import (
        change_tables,
        cost_table,
        cost_words,
        fetch_cost,
        report,
        report_adaptive,
        warn_of_bare_topics,
    )

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
        report_adaptive(build.statistics(), facts, budgets, workloads=opened.assignments.workloads())
    elif not is_nothing:
        report(build.statistics(), facts)
    if is_there:
        say(f"pool `{name}` is there already, the same: nothing would be changed")
        change = type(count)(opened.pool_changes.standings()).finish()
    elif manner.replace and name in {pool.name for pool in opened.pools.all()}:
        say(f"the pool that is `{name}` now would be withdrawn, and listed under another name")
    warn_of_bare_topics(opened.topics.listed(), _topics_left(build, change), {*build.runs.topics})
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
    from store.content.pools import cannot_replace, is_same_plan, name_taken

    pool = build.pool()
    old = next((one for one in opened.pools.all() if one.name == pool.name), None)
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
        raise ArgumentError("--out", "has nothing to write of an adaptive pool", manner.out, hint=hint)
    if build.plan.out_order != "docno":
        warn(f"--out-order {build.plan.out_order} has no effect: documents are shown as {name}"
             " draws")  # fmt: skip


CAPTION = """\
fixed: all documents at once; adaptive: while judging goes on; sample: at random.
comb-*: scores scaled to 0-1 within a run and topic, 0.5 where they are all equal.
k=60: a parameter and its default, changed by --param k=30; p=...: must be given."""


def show_strategies(fmt: Format) -> None:
    """Print every strategy with its parameters and source."""
    rows: list[Mapping[str, Cell]] = [
        {
            "strategy": row.name,
            "kind": _kind(row),
            "parameters": " ".join(map(_parameter, row.parameters)),
            "summary": row.summary,
            "source": row.source,
        }
        for row in STRATEGIES.values()
    ]
    columns = [Column(name) for name in ("strategy", "kind", "parameters", "summary", "source")]
    emit([Table("strategies", columns, rows, caption=CAPTION)], fmt)


def _kind(row: AnyStrategy) -> str:
    """Name the kind of a strategy."""
    if isinstance(row, AdaptiveStrategy):
        return "adaptive"
    return "sample" if isinstance(row, SamplingStrategy) else "fixed"


def _parameter(parameter: Parameter) -> str:
    """Show a parameter with its default."""
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{parameter.name}={'...' if default is None else shown}"
