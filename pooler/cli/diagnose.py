"""`pooler diagnose`: whether a pool can be trusted, and which runs it favours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import warn
from pooler.cli.given import Given, on_given_runs

if TYPE_CHECKING:
    from pooler.cli.judged import Judged
    from store.analysis.diagnosis import Diagnosis


@on_given_runs
def diagnose(
    given: Given,
    *,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            min=1,
            help="N: the pool's depth.",
            show_default="the pools', where they have one; else what the judgements look like",
        ),
    ] = None,
    judged_at: Annotated[
        int,
        typer.Option("--judged-at", min=1, help="Ranks of which the share of judged documents."),
    ] = 10,
    by_group: Annotated[
        bool,
        typer.Option("--by-group", help="Leave out whole groups of runs, as the list has them."),
    ] = False,
) -> None:
    """Tell what a pool owes to its runs, what it missed, and how far scores can move for it.

    Each run that fed the pool is scored as if it had come late: without the documents that it, or
    its group, alone brought. Other people's collections need no import: of files, the depth and the
    runs that fed the pool are told from the judgements, unless --runs FILE says them.

    Example: pooler diagnose --judge alice

    Example: pooler diagnose --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.cli.diagnosis_tables import show

    judged = given.load()
    diagnosis = _look(given, judged, depth, judged_at)
    if by_group and (diagnosis.pool is None or diagnosis.pool.by_group is None):
        warn("no group has several runs, so that groups left out are runs left out")
    show(diagnosis, judged.groups, given.fmt, judged_at=judged_at, by_group=by_group)


def _look(given: Given, judged: Judged, depth: int | None, judged_at: int) -> Diagnosis:
    """Diagnose what was given."""
    import numpy as np

    from store.analysis.diagnosis import DepthSource
    from store.analysis.diagnosis import diagnose as analyse
    from store.arrays import graded_arrays, judged_arrays

    source: DepthSource = "given"
    if depth is None and judged.pool_depths:
        depth, source = judged.pool_depth(None), "pool"
    # Run files by themselves do not say which of them fed the pool.
    tells = given.qrels is None or given.listed is not None
    rankings = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    graded = graded_arrays(judged.ranked, judged.by_topic(), cutoff=given.cutoff)
    feeding = np.array([tag in judged.feeding for tag in rankings.tags]) if tells else None
    return analyse(
        rankings, graded, level=judged.level, depth=depth, source=source, contributing=feeding,
        groups=[judged.groups.get(tag, "") for tag in rankings.tags], judged_at=judged_at,
    )  # fmt: skip
