"""`pooler diagnose`: whether the pool of a test collection can be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pooler.cli.options import PoolDepthOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command
from pooler.cli.source_options import Given
from store.errors import ArgumentError

JUDGED_AT = 10
"""Ranks of which the share of judged documents is looked at, unless another number is given."""


@command
def diagnose(
    given: Given,
    output: Output,
    *,
    depth: PoolDepthOption = None,
    judged_at: Annotated[
        int | None,
        typer.Option(
            "--judged-at",
            min=1,
            help="Ranks of which the share of judged documents.",
            show_default="10, or --cutoff where that is less",
        ),
    ] = None,
    by_group: Annotated[
        bool | None,
        typer.Option(
            "--by-group/--by-run",
            help="Leave out whole groups of runs, as the list has them, or runs one by one.",
            show_default="groups, where one fed the pool with several runs",
        ),
    ] = None,
    repool: Annotated[
        bool,
        typer.Option(
            "--repool",
            help="Leave a run out by making the pool again without it, so that other documents take"
            " the place of its own where the pool has a fixed size. For a depth pool: the same.",
        ),
    ] = False,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", help="Beside the runs, a row for every topic.")
    ] = False,
    by_rank: Annotated[
        bool, typer.Option("--by-rank", help="Beside the runs, a row for every rank: unjudged and new.")
    ] = False,
    by_contributors: Annotated[
        bool,
        typer.Option(
            "--by-contributors",
            help="Beside the runs, how many documents 1, 2, 3, ... of them brought to the pool.",
        ),
    ] = False,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Beside the runs, their scores in every reading: as judged, of the judged"
            " documents alone, between what limits, RBP with residual, bpref, infAP, unj_k.",
        ),
    ] = False,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="With --scores, named as `evaluate --list` does; may be repeated.",
            show_default="AP, nDCG@10, P@10, RBP(p=0.8)",
        ),
    ] = None,
) -> None:
    """Tell what a pool owes to its runs, and what it missed.

    Each run that fed the pool is scored as if it had come late: without the documents that its
    group, or it where no group is known, alone brought. What follows stands first, in words. Other
    people's collections need no import: of files, the depth and the runs that fed the pool are told
    from the judgements, unless --depth and --runs FILE say them. A column `name` there tells run
    files apart that have one tag. Where only a sample of the pool was judged, `pooler estimate` has
    the scores to read: xinfAP, infNDCG, statAP. --by-rank shows twice the depth, 20 ranks at least,
    unless --limit asks for more.

    Example: pooler diagnose --judge alice --by-topic --by-rank --scores -m AP -m "RBP(p=0.95)"

    Example: pooler diagnose --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.results.measure import diagnose as results

    output.check()
    if measures and not scores:
        raise ArgumentError("--measure", "goes with --scores", measures[0])
    found = results.diagnose(
        given.source(),
        depth=depth,
        by_group=by_group,
        repool=repool,
        measures=measures,
        judged_at=min(JUDGED_AT, given.cutoff) if judged_at is None else judged_at,
        cutoff=given.cutoff,
        limit=output.limit,
    )
    asked = {
        "scores": scores,
        "coverage": scores,
        "topics": by_topic,
        "ranks": by_rank,
        "contributors": by_contributors and "contributors" in found.names(),
    }
    names = [name for name, is_asked in asked.items() if is_asked]
    # Ranks are cut where they are counted; the other tables beside them stay whole.
    render(found, replace(output, limit=None) if by_rank else output, "runs", *names)
