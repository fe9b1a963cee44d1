"""`pooler pool`: merge the first documents of many runs into a pool."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import check_out, counted, progress, say, warn, write_json, write_lines
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    LenientOption,
    OrderName,
    OrderOption,
    RunsOption,
)
from pooler.cli.runs_given import entries_of
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from pooler.plan import PoolResult
    from pooler.top_ranking import RunTop
    from store.collection import Collection
    from store.ranking import Order

TOPICS_SHOWN = 60
"""Pool sizes are listed topic by topic up to this many topics."""


class OutOrderName(StrEnum):
    """How the documents of a topic are listed."""

    DOCNO = "docno"
    PRIORITY = "priority"
    RANDOM = "random"


def pool(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...", help="Run files; without any, the runs of the collection."
        ),
    ] = None,
    listed: RunsOption = None,
    depth: Annotated[
        int, typer.Option("--depth", "-d", min=1, help="Documents taken from each run and topic.")
    ] = 100,
    order: OrderOption = OrderName.TREC,
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
        OutOrderName,
        typer.Option(
            "--out-order",
            help="docno (bytewise), priority (most runs first, then the smaller sum of ranks),"
            " or random (needs --seed).",
        ),
    ] = OutOrderName.DOCNO,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of the random order.", show_default=False)
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
    name: Annotated[str, typer.Option("--name", help="Of the pool in the collection.")] = "pool",
    round_label: Annotated[
        str,
        typer.Option("--round", help="Iteration label that judgements of this pool carry."),
    ] = "0",
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Pool the first DEPTH documents of every run, from run files or in a collection.

    With run files no collection is touched: the pool goes to --out or stdout. Without, the runs
    of the collection are pooled into it (and to --out, if given). Sizes, ties at the cut and
    overlap go to stderr.

    Example: pooler pool runs/*.run --depth 100 --out pool.txt
    """
    from store.formats.lines import id_fault

    if fault := id_fault(round_label):
        raise ArgumentError("--round", f"must be one word ({fault})", round_label)
    check_out(out, manifest)
    entries = entries_of(runs or [], listed)
    if entries:
        from pooler.top import read_tops

        with progress("runs", len(entries)) as advance:
            tops = read_tops(entries, depth, order=order.value, lenient=lenient, progress=advance)
        result = _build(tops, depth, order.value, out_order, seed, name, round_label)
        _write(result, tops, out, manifest, annotated=annotated, to_stdout=True)
        _report(result, depth)
        return
    from store.collection import Collection

    with Collection(collection) as opened:
        tops = _stored_tops(opened, depth, order.value)
        result = _build(tops, depth, order.value, out_order, seed, name, round_label)
        new = opened.add_pool(result.pool)
        missing, documents = opened.count_pooled_without_text()
    _write(result, tops, out, manifest, annotated=annotated, to_stdout=False)
    _report(result, depth)
    say(f"pool `{name}` " + ("is in the collection" if new else "was there already, the same"))
    if missing:
        say(f"{missing:,} of {documents:,} pooled documents have no text: pooler import docs FILE"
            " brings it")  # fmt: skip


def _build(
    tops: list[RunTop],
    depth: int,
    order: Order,
    out_order: OutOrderName,
    seed: int | None,
    name: str,
    round_label: str,
) -> PoolResult:
    """Make the pool of the runs' first documents."""
    from pooler import __version__
    from pooler.plan import build_pool

    return build_pool(
        tops,
        strategy="depth",
        depth=depth,
        order=order,
        out_order=out_order.value,
        seed=seed,
        name=name,
        round_label=round_label,
        version=__version__,
    )


def _stored_tops(opened: Collection, depth: int, order: Order) -> list[RunTop]:
    """Take the first documents of every run of the collection."""
    from pooler.top import top_of

    stored = opened.runs()
    if not stored:
        message = "there is no run in the collection"
        raise PoolerError(message, hint="pooler import runs, or name run files")
    tops = []
    with progress("runs", len(stored)) as advance:
        for one in stored:
            tops.append(top_of(opened.read_run(one), depth, order=order))
            advance(1)
    return tops


def _write(
    result: PoolResult,
    tops: list[RunTop],
    out: str | None,
    manifest: str | None,
    *,
    annotated: bool,
    to_stdout: bool,
) -> None:
    """Write the pool and its manifest."""
    from pooler.annotated import annotated_lines
    from pooler.plan import pool_lines

    if out is not None or to_stdout:
        lines = annotated_lines(tops, result.pool) if annotated else pool_lines(result.pool)
        write_lines(out, lines)
    if manifest is not None or out not in (None, "-"):
        write_json(manifest or f"{out}.manifest.json", result.pool.manifest)


def _report(result: PoolResult, depth: int) -> None:
    """Say on stderr how large the pool is, where ties were cut, and how far runs overlap."""
    facts = result.statistics
    sizes = list(facts.sizes.values())
    n_runs = sum(run["contributes"] for run in result.pool.manifest["runs"])
    least, most = min(sizes, default=0), max(sizes, default=0)
    spread = f", {least:,} to {most:,} a topic" if least < most else f", {most:,} a topic"
    say(f"{counted(facts.total, 'pair')} to judge in {counted(len(sizes), 'topic')}{spread};"
        f" depth {depth} of {counted(n_runs, 'run')}")  # fmt: skip
    if len(sizes) <= TOPICS_SHOWN:
        say("  " + ", ".join(f"{topic}: {size:,}" for topic, size in facts.sizes.items()))
    alone = facts.overlap.get(1, 0)
    if facts.total:
        returned = sum(count * pairs for count, pairs in facts.overlap.items())
        say(f"{alone:,} of them ({alone / facts.total:.0%}) come from one run only; on average"
            f" {returned / facts.total:.1f} runs bring a document")  # fmt: skip
    if facts.ties_at_cut:
        worst = max(facts.ties_at_cut, key=lambda tie: tie.n_in + tie.n_out)
        warn(
            f"{len(facts.ties_at_cut):,} of {facts.n_rankings:,} rankings tie across depth"
            f" {depth}, so the order decided, as in: {worst.n_in + worst.n_out} documents of run"
            f" {worst.tag} in topic {worst.topic}: {worst.n_in} in, {worst.n_out} out"
        )
    if facts.n_short:
        warn(
            f"{facts.n_short:,} of {facts.n_rankings:,} rankings have fewer than {depth} documents"
        )
