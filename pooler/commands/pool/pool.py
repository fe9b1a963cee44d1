"""The documents to judge, chosen from runs: of files, of memory, or of a collection, into it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Annotated, get_args

from pooler.command import Option, Pooled, command
from pooler.commands.pool.pooled import (
    PoolOptions,
    PoolResult,
    parse_parameters,
    pooled_into,
    run_warnings,
    size_words,
)
from pooler.files import check_out, json_text, write_whole
from pooler.pools.change import Pair
from pooler.pools.plan import DEPTH, PoolBuild
from pooler.pools.runs import RunSet
from pooler.result import frozen_settings, messages_of
from pooler.sources.meeting import check_runs
from pooler.sources.source import Engine, Source, named_collection
from pooler.strategies import find_strategy, is_own
from pooler.strategies.kinds import AdaptiveStrategy
from pooler.version import __version__
from store.errors import ArgumentError
from store.fields import id_fault
from store.formats.pairs import Classes, read_classes, read_pairs
from store.formats.qrels import DUPLICATE
from store.records import Order


@command
def pool(
    source: Pooled,
    *,
    strategy: Annotated[str | None, Option("--strategy -s NAME", default="depth")] = None,
    parameters: Annotated[
        Mapping[str, object] | None, Option("--param NAME=VALUE", read=parse_parameters, repeated=True)
    ] = None,
    depth: Annotated[int | None, Option("--depth -d -N", least=1, default="100")] = None,
    budget: Annotated[int | None, Option("--budget -b", least=1)] = None,
    level: Annotated[int | None, Option("--level", default="the relaxed level")] = None,
    order: Annotated[Order | None, Option("--order", default="trec")] = None,
    seed: Annotated[int | None, Option("--seed", least=0)] = None,
    without: Annotated[
        str | Path | Set[Pair] | None, Option("--minus FILE", read=lambda _name, file: file)
    ] = None,
    one_of: Annotated[Classes | None, Option("--one-of CLASSES", read=lambda _name, file: file)] = None,
    name: Annotated[str | None, Option("--name", default="pool")] = None,
    round_label: Annotated[str | None, Option("--round", default="0")] = None,
    add: bool = False,
    replace: bool = False,
    dry_run: bool = False,
    out: Annotated[str | None, Option("--out -o FILE")] = None,
    annotated: bool = False,
    manifest: Annotated[
        str | None, Option("--manifest FILE", default="the name of the file with .manifest.json added")
    ] = None,
    engine: Engine = "python",
) -> PoolResult:
    """Choose the documents to judge, from run files or a collection.

    Given run files, no collection is touched and the pool goes to --out or stdout. Otherwise the runs of
    the collection are pooled into it (and also written to --out, if given). Sizes, ties at the cut and
    overlap go to stderr. Pools of different names exist side by side; judgements stay when pools change.

    Example: pooler pool runs/*.run --depth 100 --out pool.txt

    Example: pooler pool --depth 6 --add --dry-run

    strategy : A name, see `show strategies`; or FILE.py:function.
    parameters : A parameter of the strategy; may be repeated.
    depth : Documents taken from each run for each topic.
    budget : Documents to judge per topic.
    level : Least grade that rewards an adaptive strategy.
    order : Rank order, as in `check`.
    seed : Seed of random strategies.
    without : Leave out the documents listed in this pool file.
    one_of : Pool one document of each class of near-duplicates (lines `docno class`, as `pooler duplicates
        --classes` writes them): the first that the strategy chooses.
    name : Name of the pool in the collection.
    round_label : Label that judgements of this pool carry: column 2 of the qrels.
    add : Pool only what no pool of the collection has yet, as a new pool and round. Settings not given
        are those of the newest pool that is neither adaptive nor a sample.
    replace : Replace the pool of this name, which is withdrawn and kept under another name. Settings not
        given are those of the old pool, such as its round, and whether it left out documents of other
        pools (--add).
    dry_run : Show what the pool would add, drop and cost; write nothing.
    out : Write `topic docno` lines here; from files the default is stdout.
    annotated : Write `topic docno run group rank score`, one line per contributing run.
    manifest : Where the manifest of the file goes.
    engine : What pools run files: this machine (python), or Spark (extra `spark`, and Java) at
        SPARK_MASTER, by default local; the pool is the same. Useful from some 100 GB of runs, or
        where they are in HDFS or S3: RUN may then be a URI, hdfs://... or s3a://...

    Raises
    ------
    UnknownNameError
        If there is no such strategy, or it has no such parameter.
    ArgumentError
        If a value cannot be used with the strategy or the runs, or no run contributes.
    ConflictError
        If the name is taken by another pool of the collection that cannot be replaced.
    FormatError
        If a file has a fault.

    Notes
    -----
    The same for every order of the runs; ties never depend on chance. O(n log n) for the n documents within
    the depth of all runs. In Python nothing is printed; `without` may be a set of pairs, `one_of` a
    mapping; an open collection is pooled into, and left as it is with `dry_run`.

    Examples
    --------
    >>> from pooler import pool
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = pool(runs, depth=1)
    >>> list(found.file_lines()), found.sizes.tolist(), found.unique.tolist()
    (['1 x', '1 y'], [2], [1, 1])
    >>> [one.docno for one in pool(runs, strategy="rrf", parameters={"k": 10}, budget=1).pool.entries]
    ['y']
    """
    if round_label is not None and (fault := id_fault(round_label)):
        raise ArgumentError("round_label", f"must be one word: {fault}", None)
    if round_label == DUPLICATE:
        requirement = f"must not be `{DUPLICATE}`, the iteration of grades copied to near-duplicates"
        raise ArgumentError("round_label", requirement, round_label)
    if name is not None and not name.strip():
        raise ArgumentError("name", "must not be empty", name)
    if add and replace:
        raise ArgumentError("add", "and --replace exclude each other", None)
    if not dry_run:
        check_out(out, manifest)
    options = PoolOptions(
        strategy=strategy,
        parameters=parameters or {},
        depth=depth,
        order=order or (None if source.order == "trec" else source.order),
        budget=budget,
        seed=seed,
        level=level,
        name=name,
        round=round_label,
        one_of=one_of is not None,
        add=add,
        replace=replace,
        annotated=annotated,
        out=out,
    )
    minus = read_pairs(str(without)) if isinstance(without, str | Path) else without
    if source.is_of_files:
        for option, is_given in (("add", add), ("replace", replace), ("dry_run", dry_run)):
            if is_given:
                hint = "--minus FILE leaves out the pairs of a pool file" if add else None
                raise ArgumentError(option, "is for a collection", "run files", hint=hint)
        classes = None if one_of is None else read_classes(one_of)
        found = _of_files(source, options, minus, classes, engine=engine)
        if isinstance(without, str | Path):
            found = with_fields(found, messages=[*found.messages, ("say", f"without the pairs of {without}")])
    elif engine == "spark":
        hint = "name run files; this machine pools the runs of a collection"
        raise ArgumentError("engine", "spark is for run files", "a collection", hint=hint)
    else:
        found = pooled_into(source, options, minus, one_of, dry_run=dry_run)
    build = found.build
    settings = frozen_settings(
        strategy=build.plan.strategy,
        parameters=dict(build.parameters),
        depth=build.runs.depth,
        budget=build.plan.budget,
        seed=build.plan.seed,
        level=build.plan.level,
        order=build.runs.order,
        name=build.plan.name,
        round_label=build.plan.round,
        out=out,
        annotated=annotated,
        without=str(without) if isinstance(without, str | Path) else None,
        one_of=str(one_of) if isinstance(one_of, str | Path) else None,
        **(source.named() if source.is_of_files else named_collection(source.collection)),
    )
    doubts = tuple(words for kind, words in found.messages if kind == "warn")
    found = with_fields(found, settings=settings, warnings=doubts)
    if not dry_run and not found.is_nothing:
        if out not in (None, "-"):
            found.write(str(out), manifest=manifest, annotated=annotated)
        elif manifest is not None:
            write_whole(manifest, [json_text(found.manifest, indent=2, sort_keys=True)])
    return found


def _of_files(
    source: Source,
    options: PoolOptions,
    minus: Set[Pair] | None,
    classes: Mapping[str, str] | None,
    *,
    engine: Engine,
) -> PoolResult:
    chosen = find_strategy(options.strategy or "depth")
    if isinstance(chosen, AdaptiveStrategy):
        hint = "pooler pool without files pools the runs of a collection; pooler replay tries it on files"
        requirement = "must choose all documents at once, without judgements, when files are pooled"
        raise ArgumentError("strategy", requirement, options.strategy, hint=hint)
    if engine not in get_args(Engine):
        raise ArgumentError("engine", "must be python or spark", engine)
    plan = options.plan()
    if engine == "spark" and is_own(plan.strategy):
        requirement = "must be one of pooler's on Spark, which has no such file"
        raise ArgumentError("strategy", requirement, plan.strategy)
    given = source if options.order is None else source.with_order(options.order)
    depth, scores = options.depth or DEPTH, options.annotated or chosen.uses_scores
    runs: RunSet
    if engine == "spark":
        from pooler.spark import SparkRuns

        files = given.run_files()
        runs = SparkRuns(files, depth, order=given.order, lenient=given.lenient, with_scores=scores)
    else:
        runs = given.tops(depth, scores=scores)
    check_runs(runs)
    build = PoolBuild(runs, plan, version=__version__, known=minus, classes=classes)
    topics = [*build.topics()]
    facts, made = build.statistics, build.manifest()
    messages = messages_of(size_words(facts, made), run_warnings(facts, made))
    return PoolResult(build=build, chosen=topics, messages=messages)
