"""`pooler pool`: choose the documents to judge from many runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Format, check_out, progress, say, write_json, write_lines
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LenientOption,
    OrderName,
    RunsOption,
)
from pooler.cli.policy_options import names_collection
from pooler.cli.pool_command import DIFF, PoolGroup
from pooler.cli.pool_diff import diff
from pooler.cli.pool_options import ByTopicOption
from pooler.cli.runs_given import entries_of
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.plan import Plan
    from pooler.run_list import RunEntry
    from pooler.top import Engine
    from store.ranking import Order


class EngineName(StrEnum):
    """What reads run files first."""

    PYTHON = "python"
    DUCKDB = "duckdb"


class OutOrderName(StrEnum):
    """How the documents of a topic are listed."""

    DOCNO = "docno"
    PRIORITY = "priority"
    RANDOM = "random"


def pool(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...", help="Run files; without any, the runs of the collection."
        ),
    ] = None,
    listed: RunsOption = None,
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", "-s", metavar="NAME", help="See --list.  [default: depth]"),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the strategy."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            "-d",
            "-N",
            min=1,
            help="Documents taken from each run and topic.  [default: 100]",
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", min=1, help="Documents to judge for a topic.")
    ] = None,
    total_budget: Annotated[
        int | None,
        typer.Option("--total-budget", min=1, help="Documents to judge for all topics together."),
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
        OrderName | None,
        typer.Option("--order", help="Rank order, as in `check`.  [default: trec]"),
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
            help="docno (bytewise), priority (the strategy's), or random (needs --seed)."
            "  [default: docno]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Of random strategies and of the random order.",
            show_default=False,
        ),
    ] = None,
    annotated: Annotated[
        bool,
        typer.Option(
            "--annotated", help="Write `topic docno run group rank score`, one line a contributor."
        ),
    ] = False,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Of the pool in the collection.  [default: pool]"),
    ] = None,
    round_label: Annotated[
        str | None,
        typer.Option(
            "--round",
            help="Label that judgements of this pool carry, column 2 of the qrels.  [default: 0]",
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
            "--dry-run",
            help="Say what the pool would add, leave without a pool, and cost; write nothing.",
        ),
    ] = False,
    by_topic: ByTopicOption = False,
    minus: Annotated[
        str | None,
        typer.Option("--minus", metavar="FILE", help="Leave out the pairs of this pool file."),
    ] = None,
    lenient: LenientOption = False,
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine",
            help="What reads run files; the pool is the same. duckdb, a second opinion by another"
            " program, needs pip install 'pooler[duckdb]' and up to 1 GB a process; on two"
            " processors it is slower than python, up to 70 million lines at least.",
        ),
    ] = EngineName.PYTHON,
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
        from pooler.cli.strategy_list import show_strategies

        show_strategies(fmt)
        return
    from pooler.cli.pool_plan import DEPTH, Wishes, parse_parameters
    from store.formats.lines import id_fault

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
            engine=engine.value,
        )
        return
    if engine is not EngineName.PYTHON:
        raise ArgumentError("--engine", "is for run files", "a collection")
    from pooler.cli.pool_collection import Manner, pool_collection

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
    engine: Engine,
) -> None:
    """Pool run files to a file."""
    from pooler import __version__
    from pooler.annotated import annotated_lines
    from pooler.cli.pool_report import report
    from pooler.plan import PoolBuild
    from pooler.run_set import FileRuns
    from pooler.strategies import find_strategy
    from pooler.strategies.kinds import AdaptiveStrategy
    from pooler.top import read_tops

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
            engine=engine,
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
