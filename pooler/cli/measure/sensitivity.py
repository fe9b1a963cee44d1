"""`pooler sensitivity`: what if unjudged documents are relevant after all."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ContradictionError

ScenarioName = Literal["shared", "own"]


AtName = Literal["next", "first"]


@command
def sensitivity(
    given: SourceOptions,
    output: Output,
    *,
    depth: Annotated[
        int | None,
        option(
            "--depth -N",
            "N: the pool's depth; rank N+1 is flipped.",
            min=1,
            show_default="the pools', where they have one",
        ),
    ] = None,
    at: Annotated[
        AtName | None,
        option(
            "--at",
            "Which unjudged document to flip: the one at rank N+1 (next), or the first one below rank N"
            " (first).",
            show_default="next; first with --flips",
        ),
    ] = None,
    flips: Annotated[
        int | None,
        option(
            "--flips K",
            "Flip K unjudged documents per topic at once; with --at next, those at ranks N+1 to N+K that are"
            " unjudged.",
            min=1,
            show_default="1",
        ),
    ] = None,
    by: Annotated[
        Literal["run", "topic", "pair"],
        option(
            "--by",
            "What a row is of: a run; a run and topic; a pair of runs, with the difference in MAP, t2 and p"
            " before and after.",
        ),
    ] = "run",
    scenario: Annotated[
        ScenarioName,
        option(
            "--scenario",
            "shared: every run that retrieved the document gains, the others have R+1. own: only the flipped"
            " run gains; all others have R+1, whether they retrieved it or not, also with --r own.",
        ),
    ] = "shared",
    r_mode: Annotated[
        Literal["pool", "own"],
        option("--r", "R = relevant documents of the topic (pool), or those the run retrieved (own)."),
    ] = "pool",
    plot: PlotOption = None,
) -> None:
    """Flip the unjudged documents at rank N+1, and see what moves.

    For each run in turn, all its unjudged documents at rank N+1 (one per topic) turn relevant, and AP
    changes by eq. 19 of Kishida (2001). A row shows the run's own MAP and its change, and what its
    flips do to the order of all runs: Kendall's tau-b, tau_AP, and the pairs that swap. The judgements are
    taken as they are, and only unjudged documents are flipped. The paper's own experiment (section 4.3)
    flips every document at rank 101 whose probability of relevance is 0, judged or not, within its
    model of judging errors: that is `pooler paper A B --table section_4_3`.

    Example: pooler sensitivity --depth 5 --qrels alice --plot changes.svg

    Example: pooler sensitivity --depth 5 --qrels judgements/strict.qrels runs/bm25-words.run
    """
    from pooler.results.undiscovered import sensitivity as results

    if plot and by != "run":
        raise ContradictionError("--plot", f"draws one line per run: it excludes --by {by}", None)
    output.check(plot=plot)
    source = given.source()
    cutoff = given.cutoff
    if by == "pair":
        found = results.sensitivity_pairs(
            source,
            depth=depth,
            at=at,
            flips=flips,
            scenario=scenario,
            r=r_mode,
            cutoff=cutoff,
            limit=output.limit,
        )
        render(found, output)
    else:
        result = results.sensitivity(
            source, depth=depth, at=at, flips=flips, scenario=scenario, r=r_mode, cutoff=cutoff
        )
        render(result, output, "topics" if by == "topic" else "sensitivity", plot=plot)
