"""`pooler sensitivity`: what if documents that nobody judged are relevant after all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ContradictionError

ScenarioName = Literal["shared", "own"]


AtName = Literal["next", "first", "best", "worst"]


@command
def sensitivity(
    given: SourceOptions,
    output: Output,
    *,
    depth: Annotated[
        int | None,
        option(
            "--depth -N",
            "N: the pool's depth; rank N+1 is flipped. Not used by --at best, --at worst, --missing and"
            " --each, which look at whole lists.",
            min=1,
            show_default="the pools', where they have one",
        ),
    ] = None,
    at: Annotated[
        AtName | None,
        option(
            "--at",
            "Which unjudged document to flip: the one at rank N+1 (next), the first one below rank N"
            " (first), or the one in the whole list that raises AP most (best) or lowers it most (worst);"
            " with --pairs, best and worst find the one document that moves each difference most.",
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
    missing: Annotated[
        int | None,
        option(
            "--missing K",
            "The lowest and highest possible AP and MAP if K relevant documents of every topic went"
            " unjudged, wherever they are.",
            min=1,
        ),
    ] = None,
    pairs: Annotated[
        bool,
        option(
            "--pairs",
            "One row for every pair of runs: difference in MAP, t2 and p, before and after; with --missing,"
            " the limits of the difference.",
        ),
    ] = False,
    each: Annotated[
        bool,
        option(
            "--each", "One row for every unjudged document: what this one document does to the order of runs."
        ),
    ] = False,
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
    by_topic: Annotated[bool, option("--by-topic -q", "One row per run and topic.")] = False,
    plot: PlotOption = None,
) -> None:
    """Flip the unjudged documents at rank N+1, and see what moves.

    For each run in turn, all its unjudged documents at rank N+1 (one per topic) turn relevant, and AP
    changes by eq. 19 of Kishida (2001). A row shows the run's own MAP and its change, and what its
    flips do to the order of all runs: Kendall's tau-b, tau_AP, and the pairs that swap. The judgements are
    taken as they are, and only unjudged documents are flipped. The paper's own experiment (section 4.3)
    flips every document at rank 101 whose probability of relevance is 0, judged or not, within its
    model of judging errors: that is `pooler variation --discover RUN --scenario own --flip not-relevant`.

    Example: pooler sensitivity --depth 5 --judge alice --plot changes.svg

    Example: pooler sensitivity --each --qrels judgements/strict.qrels runs/bm25-words.run
    """
    from pooler.results.undiscovered import missing as bounds
    from pooler.results.undiscovered import sensitivity as results

    _check_options(
        scenario, at=at, flips=flips, missing=missing, pairs=pairs, each=each, by_topic=by_topic, plot=plot
    )
    output.check(plot=plot)
    source = given.source()
    cutoff = given.cutoff
    if each:
        render(results.sensitivity_each(source, r=r_mode, cutoff=cutoff), output)
    elif missing is not None and pairs:
        render(bounds.missing_pairs(source, missing, r=r_mode, cutoff=cutoff, limit=output.limit), output)
    elif missing is not None:
        limits = bounds.missing_bounds(source, missing, r=r_mode, cutoff=cutoff)
        render(limits, output, "topics" if by_topic else "missing", plot=plot)
    elif pairs:
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
        render(result, output, "topics" if by_topic else "sensitivity", plot=plot)


def _check_options(
    scenario: ScenarioName,
    *,
    at: AtName | None,
    flips: int | None,
    missing: int | None,
    pairs: bool,
    each: bool,
    by_topic: bool,
    plot: Path | None,
) -> None:
    """Refuse what does not go together."""
    rows = {"--each": each, "--pairs": pairs, "--by-topic": by_topic}
    chosen = [name for name, is_given in rows.items() if is_given]
    if len(chosen) > 1:
        raise ContradictionError(chosen[0], f"excludes {chosen[1]}: a row can be only one of the two", None)
    if plot and chosen:
        raise ContradictionError("--plot", f"draws one line per run: it excludes {chosen[0]}", None)
    for name, is_given in (("--each", each), ("--missing", missing is not None)):
        if not is_given:
            continue
        if each and missing is not None:
            raise ContradictionError("--each", "excludes --missing", None)
        for other, value in (("--at", at), ("--flips", flips)):
            if value is not None:
                raise ContradictionError(other, f"has no meaning with {name}", str(value))
        if scenario == "own":
            requirement = f"must be shared with {name}: a document is relevant in every run"
            raise ContradictionError("--scenario", requirement, scenario)
    if pairs and at in ("best", "worst") and (flips or 1) > 1:
        requirement = f"must be 1 with --pairs --at {at}: the search is for one document"
        raise ContradictionError("--flips", requirement, flips)
