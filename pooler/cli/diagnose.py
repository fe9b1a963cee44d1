"""`pooler diagnose`: whether a pool can be trusted, and which runs it favours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import progress, warn
from pooler.cli.given import Given, on_given_runs
from pooler.cli.policy_options import PoolDepthOption
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.cli.diagnosis_plan import Recipe
    from pooler.cli.judged import Judged
    from store.analysis.diagnosis import Diagnosis


JUDGED_AT = 10
"""Ranks of which the share of judged documents is looked at, unless another number is given."""


@on_given_runs
def diagnose(
    given: Given,
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
        bool,
        typer.Option("--by-rank", help="Beside the runs, a row for every rank: unjudged and new."),
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
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="ROWS",
            min=1,
            help="Ranks shown with --by-rank.",
            show_default="twice the depth, 20 at least",
        ),
    ] = None,
) -> None:
    """Tell what a pool owes to its runs, what it missed, and how far scores can move for it.

    Each run that fed the pool is scored as if it had come late: without the documents that its
    group, or it where no group is known, alone brought. Below the tables stands in words what
    follows. Other people's collections need no import: of files, the depth and the runs that fed
    the pool are told from the judgements, unless --depth and --runs FILE say them. A column `name`
    there tells run files apart that have one tag. Where only a sample of the pool was judged,
    `pooler estimate` has the scores to read: xinfAP, infNDCG, statAP.

    Example: pooler diagnose --judge alice --by-topic --by-rank --scores -m AP -m "RBP(p=0.95)"

    Example: pooler diagnose --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.cli.diagnosis_pools import check_pools
    from pooler.cli.diagnosis_scores import MEASURES, coverage_table, scale_of, scores_tables
    from pooler.cli.diagnosis_tables import show
    from pooler.cli.measured import known_measure

    if limit is not None and not by_rank:
        raise ArgumentError("--limit", "goes with --by-rank", limit)
    if measures and not scores:
        raise ArgumentError("--measure", "goes with --scores", measures[0])
    texts = [
        text
        for text in measures or MEASURES
        if (known_measure(text).cutoff or 0) <= given.cutoff or measures
    ]
    ranks = min(JUDGED_AT, given.cutoff) if judged_at is None else judged_at
    judged = given.load()
    recipe = check_pools(given, repool=repool, depth=depth)
    diagnosis = look(given, judged, depth, ranks, repool=repool, recipe=recipe)
    if by_group and (diagnosis.pool is None or diagnosis.pool.by_group is None):
        warn("no group has several runs, so that groups left out are runs left out")
    tables = []
    if scores:
        names = list(dict.fromkeys(known_measure(text, level=judged.level) for text in texts))
        scale = scale_of(given, judged, diagnosis)
        tables = scores_tables(diagnosis, names, scale, given.fmt)
        tables.append(coverage_table(diagnosis, judged.level, ranks))
    show(
        diagnosis, judged.groups, given.fmt, judged_at=ranks, by_group=by_group,
        by_topic=by_topic, by_rank=by_rank, by_contributors=by_contributors, limit=limit,
        scores=tables,
    )  # fmt: skip


def look(
    given: Given,
    judged: Judged,
    depth: int | None,
    judged_at: int,
    *,
    repool: bool = False,
    recipe: Recipe | None = None,
) -> Diagnosis:
    """Diagnose what was given.

    Parameters
    ----------
    given : Given
        What the user named.
    judged : Judged
        What `Given.load` made of it.
    depth : int or None
        Of the pool; ``None`` = the collection's, or what the judgements look like.
    judged_at : int
        Ranks of which the share of judged documents is looked at.
    repool : bool, default=False
        Whether runs are left out by making the pool again.
    recipe : Recipe, optional
        How it was made; default: by depth.
    """
    import numpy as np

    from store.analysis.diagnosis import DepthSource
    from store.analysis.diagnosis import diagnose as analyse
    from store.arrays import graded_arrays, judged_arrays

    source: DepthSource = "given"
    if recipe is not None:
        depth, source = recipe.depth, "pool"
    elif depth is None and judged.pool_depths:
        depth, source = judged.pool_depth(None), "pool"
    rankings = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    graded = graded_arrays(judged.ranked, judged.by_topic(), cutoff=given.cutoff)
    feeding = None
    if judged.tells_feeding:
        feeding = np.array([tag in judged.feeding for tag in rankings.tags])
    groups = [judged.groups.get(tag, "") for tag in rankings.tags]
    n_pools = 0 if recipe is None else len(groups) + len({*groups})
    with progress("pools", n_pools) as advance:
        return analyse(
            rankings, graded, level=judged.level, depth=depth, source=source, contributing=feeding,
            groups=groups, judged_at=judged_at, way="repool" if repool else "uniques",
            plan=None if recipe is None else recipe.plan(judged, rankings, advance),
        )  # fmt: skip
