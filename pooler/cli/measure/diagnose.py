"""`pooler diagnose`: whether the pool of a test collection can be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pooler.cli.options import PoolDepthOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError

JUDGED_AT = 10
"""Ranks of which the share of judged documents is looked at, unless another number is given."""


@command
def diagnose(
    given: SourceOptions,
    output: Output,
    *,
    depth: PoolDepthOption = None,
    judged_at: Annotated[
        int | None,
        option(
            "--judged-at",
            "The rank down to which to count judged documents.",
            min=1,
            show_default="10, or --cutoff where that is less",
        ),
    ] = None,
    by_group: Annotated[
        bool | None,
        option(
            "--by-group/--by-run",
            "Leave out whole groups of runs, as given in the list of runs, or one run at a time.",
            show_default="groups, where a group fed the pool with several runs",
        ),
    ] = None,
    by_topic: Annotated[bool, option("--by-topic", "Also show one row per topic.")] = False,
    by_rank: Annotated[
        bool, option("--by-rank", "Also show one row per rank: unjudged and new documents.")
    ] = False,
    by_contributors: Annotated[
        bool,
        option(
            "--by-contributors", "Also show how many documents exactly 1, 2, 3, ... runs brought to the pool."
        ),
    ] = False,
    scores: Annotated[
        bool,
        option(
            "--scores",
            "Also show each run's scores: as judged, from judged documents only, and their limits; RBP with"
            " its residual, bpref, infAP, unj_k.",
        ),
    ] = False,
    measures: Annotated[
        list[str] | None,
        option(
            "--measure -m MEASURE",
            "With --scores: a measure named as in `show measures`; may be repeated.",
            show_default="AP, nDCG@10, P@10, RBP(p=0.8)",
        ),
    ] = None,
) -> None:
    """Show what a pool owes to its runs, and what it missed.

    Each run that fed the pool is scored as if it had been submitted late: without the documents that only its
    group brought (only the run itself, where no group is known). Conclusions come first, in words.
    Other people's collections need no import: the depth and the runs that fed the pool are inferred
    from the judgements unless --depth and --runs FILE give them; a column `name` in that file tells
    runs with the same tag apart. Where only a sample of the pool was judged, use `pooler estimate`
    (xinfAP, infNDCG, statAP). --by-rank shows ranks down to twice the depth and at least 20, unless
    --limit asks for more.

    Example: pooler diagnose --qrels alice --by-topic --by-rank --scores -m AP -m "RBP(p=0.95)"

    Example: pooler diagnose --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.results.pool import diagnose as results

    output.check()
    if measures and not scores:
        raise ArgumentError("--measure", "goes with --scores", measures[0])
    found = results.diagnose(
        given.source(),
        depth=depth,
        by_group=by_group,
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
