"""Pool, of files and of a collection; --as, --add, --replace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import typer

from pooler.cli.commands import with_forms
from pooler.cli.console import check_out, write_json, write_results
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    LenientOption,
    ManifestOption,
    RunsOption,
    names_collection,
)
from pooler.cli.pool.diff import diff
from pooler.cli.signature import argument, command, option
from pooler.messages import say, warn
from pooler.results.source import Source
from store.errors import ArgumentError
from store.ranking import Order


@command
def pool(
    ctx: typer.Context,
    *,
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files; without any, the runs of the collection.")
    ] = None,
    listed: RunsOption = None,
    strategy: Annotated[
        str | None,
        option("--strategy -s NAME", "A name, see `show strategies`; or FILE.py:function.  [default: depth]"),
    ] = None,
    param: Annotated[
        list[str] | None, option("--param NAME=VALUE", "A parameter of the strategy; may be repeated.")
    ] = None,
    depth: Annotated[
        int | None,
        option("--depth -d -N", "Documents taken from each run for each topic.  [default: 100]", min=1),
    ] = None,
    budget: Annotated[int | None, option("--budget -b", "Documents to judge per topic.", min=1)] = None,
    level: Annotated[
        int | None,
        option("--level", "Least grade that rewards an adaptive strategy.  [default: the relaxed level]"),
    ] = None,
    order: Annotated[Order | None, option("--order", "Rank order, as in `check`.  [default: trec]")] = None,
    out: Annotated[
        str | None,
        option("--out -o FILE", "Write `topic docno` lines here; from files the default is stdout."),
    ] = None,
    seed: Annotated[int | None, option("--seed", "Seed of random strategies.", min=0)] = None,
    annotated: Annotated[
        bool,
        option("--annotated", "Write `topic docno run group rank score`, one line per contributing run."),
    ] = False,
    manifest: ManifestOption = None,
    name: Annotated[
        str | None, option("--name", "Name of the pool in the collection.  [default: pool]")
    ] = None,
    round_label: Annotated[
        str | None,
        option("--round", "Label that judgements of this pool carry: column 2 of the qrels.  [default: 0]"),
    ] = None,
    add: Annotated[
        bool,
        option(
            "--add",
            "Pool only what no pool of the collection has yet, as a new pool and round. Settings not given"
            " are those of the newest pool that is neither adaptive nor a sample.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        option(
            "--replace",
            "Replace the pool of this name, which is withdrawn and kept under another name. Settings not"
            " given are those of the old pool, such as its round, and whether it left out documents of other"
            " pools (--add).",
        ),
    ] = False,
    dry_run: Annotated[
        bool, option("--dry-run", "Show what the pool would add, drop and cost; write nothing.")
    ] = False,
    minus: Annotated[
        str | None, option("--minus FILE", "Leave out the documents listed in this pool file.")
    ] = None,
    one_of: Annotated[
        str | None,
        option(
            "--one-of CLASSES",
            "Pool one document of each class of near-duplicates (lines `docno class`, as `pooler duplicates"
            " --out` writes them): the first that the strategy chooses.",
        ),
    ] = None,
    lenient: LenientOption = False,
    engine: Annotated[
        Literal["python", "spark"],
        option(
            "--engine",
            "What pools run files: this machine (python), or Spark (extra `spark`, and Java) at"
            " SPARK_MASTER, by default local; the pool is the same. Useful from some 100 GB of runs, or"
            " where they are in HDFS or S3: RUN may then be a URI, hdfs://... or s3a://...",
        ),
    ] = "python",
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Choose the documents to judge, from run files or a collection.

    Given run files, no collection is touched and the pool goes to --out or stdout. Otherwise the runs of
    the collection are pooled into it (and also written to --out, if given). Sizes, ties at the cut and
    overlap go to stderr. Pools of different names exist side by side; judgements stay when pools change.

    Example: pooler pool runs/*.run --depth 100 --out pool.txt

    Example: pooler pool --depth 6 --add --dry-run
    """
    from pooler.results.pool.options import PoolOptions, parse_parameters
    from pooler.results.pool.pool import pool as pool_runs
    from store.fields import id_fault
    from store.formats.qrels import DUPLICATE

    if round_label is not None and (fault := id_fault(round_label)):
        raise ArgumentError("--round", f"must be one word ({fault})", round_label)
    if round_label == DUPLICATE:
        raise ArgumentError(
            "--round",
            "must not be `duplicate`, the iteration of grades copied to near-duplicates",
            round_label,
        )
    if name is not None and not name.strip():
        raise ArgumentError("--name", "must not be empty", name)
    if add and replace:
        raise ArgumentError("--add", "and --replace exclude each other", None)
    if not dry_run:
        check_out(out, manifest)
    given: dict[str, Any] = {
        "strategy": strategy,
        "depth": depth,
        "budget": budget,
        "seed": seed,
        "name": name,
    }
    parameters = parse_parameters(param or [])
    if runs or listed is not None:
        if add:
            hint = "--minus FILE leaves out the pairs of a pool file"
            raise ArgumentError("--add", "is for a collection", "run files", hint=hint)
        if names_collection(ctx):
            hint = "pooler import runs brings files in; pooler pool without files pools a collection's runs"
            requirement = "and run files exclude each other: files need no collection"
            raise ArgumentError("--collection", requirement, collection, hint=hint)
        for one, is_given in (("--replace", replace), ("--dry-run", dry_run)):
            if is_given:
                raise ArgumentError(one, "is for a collection", "run files")
        plan = PoolOptions(parameters=parameters, order=order, level=level, round=round_label, **given).plan()
        values: dict[str, Any] = dict(plan.parameters)
        files = Source(runs or [], listed=listed, qrels=(), order=order or "trec", lenient=lenient)
        found = pool_runs(
            files,
            strategy=plan.strategy,
            depth=depth,
            budget=budget,
            seed=seed,
            without=minus,
            one_of=one_of,
            annotated=annotated,
            engine=engine,
            name=plan.name,
            round_label=plan.round,
            **values,
        )
        _write(found.file_lines(annotated=annotated), found.manifest, out, manifest)
        for line in found.words():
            say(line)
        for line in found.doubts():
            warn(line)
        if minus is not None:
            say(f"without the pairs of {minus}")
        return
    if engine == "spark":
        hint = "name run files; this machine pools the runs of a collection"
        raise ArgumentError("--engine", "spark is for run files", "a collection", hint=hint)
    from pooler.results.idle import missing_words
    from pooler.results.pool.into import pool_collection

    pooled = pool_collection(
        collection,
        **given,
        order=order,
        level=level,
        round_label=round_label,
        without=minus,
        one_of=one_of,
        add=add,
        replace=replace,
        dry_run=dry_run,
        annotated=annotated,
        out=out,
        parameters=parameters,
    )
    if not dry_run and not pooled.is_nothing and (out, manifest) != (None, None):
        lines = pooled.file_lines(annotated=annotated) if out is not None else None
        _write(lines, pooled.manifest, out, manifest)
    for kind, words in pooled.opening[:1] if pooled.is_nothing else pooled.opening:
        (say if kind == "say" else warn)(words)
    for words in () if pooled.is_nothing else pooled.closing:
        say(words)
    if pooled.without_text is not None and (missing := missing_words(pooled.without_text)):
        say(f"{missing}: pooler import docs FILE brings it")


app = with_forms(pool, diff=diff)


def _write(
    lines: Iterable[str] | None, facts: Mapping[str, Any], out: str | None, manifest: str | None
) -> None:
    if lines is not None:
        write_results({out: lines}, lambda: facts, manifest, names_judges=False)
    elif manifest is not None:
        write_json(manifest, facts)
