"""`pooler provenance`: which run brought what into the pool, at every depth."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FileCodeOption,
    KindsOption,
    LenientOption,
    LevelOption,
    OrderOption,
    RunsOption,
    policy_of,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.results.source import Source, check_no_policy
from store.errors import ArgumentError


@command
def provenance(
    output: Output,
    *,
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files; without any, the runs of the collection.")
    ] = None,
    listed: RunsOption = None,
    by: Annotated[
        Literal["run", "group", "depth", "document"],
        option(
            "--by",
            "run or group: what each brought, and what only it brought; depth: the pool at every depth;"
            " document: one line per document and run.",
        ),
    ] = "run",
    depth: Annotated[
        int, option("--depth -d -N", "Documents taken from each run for each topic.", min=1)
    ] = 100,
    order: OrderOption = "trec",
    qrels: Annotated[str | None, option("--qrels FILE", "Judgements, for run files.")] = None,
    codes: FileCodeOption = None,
    level: LevelOption = None,
    kinds: KindsOption = None,
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show what each run or group brought into a depth pool.

    In a collection, a document counts as relevant when the grade of one of the judges who count reaches
    the level.

    Example: pooler provenance --by depth --depth 20
    """
    from pooler.results.pool import provenance as results

    output.check()
    is_of_files = bool(runs) or listed is not None
    if qrels is not None and not is_of_files:
        raise ArgumentError("--qrels", "goes with run files", qrels)
    if codes and qrels is None:
        raise ArgumentError("--code", "is for files, with --qrels", codes[0])
    policy = policy_of(kinds=kinds)
    if is_of_files:
        check_no_policy(policy, "is for a collection; --qrels already has one grade per document")
    source = Source(
        runs or [],
        listed=listed,
        qrels=(qrels or ()) if is_of_files else None,
        collection=collection,
        policy=policy,
        codes=codes or (),
        level=level,
        order=order,
        lenient=lenient,
    )
    found = results.provenance(source, depth=depth, by=by)
    render(found, output, *found.shown())
