"""Diagnose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.dossier import emit_dossier
from pooler.cli.options import PoolDepthOption
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.agree.people import legend
from pooler.results.judge_kinds import kinds_cell, kinds_words
from pooler.results.measure.conclusions import conclusions
from pooler.results.measure.diagnose import (
    chosen_left,
    contributors_table,
    facts,
    ranks_table,
    runs_table,
    topics_table,
)
from pooler.results.printed import Format, Table
from pooler.telling import progress, warn
from store.analysis.pools.diagnosis import Diagnosis
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.results.measure.diagnose import Recipe
    from pooler.results.source import Judged

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
    from pooler.results.measure.diagnose import MEASURES, check_pools, coverage_table, scale_of, scores_tables
    from pooler.results.measure.evaluate import known_measure

    if limit is not None and not by_rank:
        raise ArgumentError("--limit", "goes with --by-rank", limit)
    if measures and not scores:
        raise ArgumentError("--measure", "goes with --scores", measures[0])
    texts = [
        text for text in measures or MEASURES if (known_measure(text).cutoff or 0) <= given.cutoff or measures
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
        scores=tables, kinds=judged.kinds,
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

    from store.analysis.arrays import graded_arrays, judged_arrays
    from store.analysis.pools.diagnosis import DepthSource
    from store.analysis.pools.diagnosis import diagnose as analyse

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


def show(
    found: Diagnosis,
    groups: Mapping[str, str],
    fmt: Format,
    *,
    judged_at: int,
    by_group: bool | None = None,
    by_topic: bool = False,
    by_rank: bool = False,
    by_contributors: bool = False,
    limit: int | None = None,
    scores: Sequence[Table] = (),
    kinds: Mapping[str, int] | None = None,
) -> None:
    """Print the facts of the pool, a row for every run, more tables, and what follows."""
    left = chosen_left(found, by_group=by_group)
    tables = [runs_table(found, left, groups, fmt, judged_at), *scores]
    if by_topic:
        tables.append(topics_table(found))
    if by_rank:
        tables.append(ranks_table(found, limit))
    if by_contributors and found.pool is not None:
        tables.append(contributors_table(found))
    follows = legend(f"- {sentence}" for sentence in conclusions(found, left, judged_at))
    tables[-1].caption = f"{tables[-1].caption}\n\n{follows}"
    known = facts(found, left)
    if kinds:
        known["kinds"] = kinds_words(kinds) if fmt is Format.TABLE else kinds_cell(kinds)
    emit_dossier(known, tables, fmt)
