"""`pooler variation`: how far scores and the order of runs move if documents are judged again."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.measure.probability_options import (
    EmptyOption,
    ProbabilitiesOption,
    UnjudgedOption,
    ValueOption,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import command
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError


@command
def variation(
    given: SourceOptions,
    output: Output,
    *,
    values: ValueOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: UnjudgedOption = "0",
    extra_relevant: Annotated[
        int,
        typer.Option(
            "--extra-relevant",
            min=0,
            metavar="K",
            help="Suppose K more relevant documents per topic that no run retrieved; 1 gives R + 1, the"
            " rule of the paper's section 4.3.",
        ),
    ] = 0,
    empty: EmptyOption = "given",
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="One row for every pair of runs: the difference, how much of its variance comes from"
            " judging, the p of the paired t test without and with that part, and how likely the"
            " order is to turn.",
        ),
    ] = False,
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours", help="With --pairs: only runs next to each other in the order by expected MAP."
        ),
    ] = False,
    monte_carlo: Annotated[
        int | None,
        typer.Option(
            "--monte-carlo",
            min=2,
            metavar="M",
            help="Also judge M times at random, as the paper does, and print that result alongside.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of --monte-carlo.")] = 1,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot",
            help="Plot the runs in order of expected MAP, each with its interval and how likely the next"
            " one is to pass it; with --pairs, how likely pairs are to swap.",
        ),
    ] = False,
) -> None:
    """Show how far judging again would move MAP and the order of runs.

    Judges differ: a document that half of them find relevant is relevant with probability 1/2, and
    judging again would give another MAP. Its mean, variance and covariance are computed exactly,
    where Kishida (2001, section 3.2) simulates. Unjudged documents are never relevant unless --unjudged
    says how likely they are.

    Example: pooler variation --pairs --level 1 --plot

    Example: pooler variation --qrels judgements/strict.qrels runs/*.run --value 0=.05 --value 1=.9
    """
    from pooler.results.measure import variation as results

    output.check(plot=plot)
    if neighbours and not pairs:
        raise ArgumentError("--neighbours", "needs --pairs", None)
    found = results.variation(
        given.probable_source(probabilities),
        values=values,
        probabilities=probabilities,
        unjudged=unjudged,
        extra_relevant=extra_relevant,
        empty=empty,
        pairs=pairs,
        neighbours=neighbours,
        intervals=not pairs,
        quick=not plot,
        simulate=monte_carlo,
        seed=seed,
        cutoff=given.cutoff,
    )
    render(found, output, "pairs" if pairs else "variation", plot=plot)
