"""`pooler variation`: how far scores and the order of runs move if documents are judged again."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import EmptyOption, ProbabilitiesOption, UnjudgedOption, ValueOption
from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ContradictionError


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
        option(
            "--extra-relevant K",
            "Suppose K more relevant documents per topic that no run retrieved; 1 gives R + 1, the rule of"
            " the paper's section 4.3.",
            min=0,
        ),
    ] = 0,
    empty: EmptyOption = "given",
    pairs: Annotated[
        bool,
        option(
            "--pairs",
            "One row for every pair of runs: the difference, how much of its variance comes from judging,"
            " the p of the paired t test without and with that part, and how likely the order is to turn.",
        ),
    ] = False,
    neighbours: Annotated[
        bool,
        option("--neighbours", "With --pairs: only runs next to each other in the order by expected MAP."),
    ] = False,
    monte_carlo: Annotated[
        int | None,
        option(
            "--monte-carlo M",
            "Judge M times at random, as the paper does, and print what that gives of every run and pair.",
            min=2,
            show_default="20,000 times, the 45 pairs nearest to a swap",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", "Of the random judgings.", min=0)] = 1,
    by_topic: Annotated[
        bool, option("--by-topic -q", "One row per run and topic: expected AP and its variance by judging.")
    ] = False,
    plot: PlotOption = None,
) -> None:
    """Show how far judging again would move MAP and the order of runs.

    Judges differ: a document that half of them find relevant is relevant with probability 1/2, and
    judging again would give another MAP. Its mean, variance and covariance are computed exactly,
    where Kishida (2001, section 3.2) simulates; intervals and swaps are by the normal distribution with
    these moments. Unjudged documents are never relevant unless --unjudged says how likely they are. `pooler
    sensitivity` flips documents under fixed judgements instead.

    Example: pooler variation --pairs --level 1 --plot pairs.svg

    Example: pooler variation --qrels judgements/strict.qrels runs/*.run --value 0=0 --value 1=.8 --value 2=1
    """
    output.check(plot=plot)
    if neighbours and not pairs:
        raise ContradictionError("--neighbours", "needs --pairs", None)
    for name, is_given in (("--pairs", pairs), ("--plot", plot), ("--monte-carlo", monte_carlo)):
        if by_topic and is_given:
            raise ContradictionError("--by-topic", f"excludes {name}", None)
    from pooler.results.variation import variation as results

    found = results.variation(
        given.probable_source(probabilities),
        values=values,
        probabilities=probabilities,
        unjudged=unjudged,
        extra_relevant=extra_relevant,
        empty=empty,
        pairs=pairs,
        neighbours=neighbours,
        simulate=monte_carlo,
        seed=seed,
        cutoff=given.cutoff,
    )
    render(found, output, "topics" if by_topic else "pairs" if pairs else "variation", plot=plot)
