"""`pooler design`: how many topics, how deep, and how reliable what there is."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import decimals, names_collection, whole_numbers
from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option, parameters_of
from pooler.cli.source_options import SourceOptions
from store.errors import ContradictionError

_OF_RUNS = ("depths", "seconds", "per_document", "measure")


@command
def design(
    given: SourceOptions,
    output: Output,
    *,
    variance: Annotated[
        str | None,
        option(
            "--variance S2,...",
            "Instead of runs: variance over topics of the difference between two runs. The analysis of"
            " variance takes half of it as the variance of scores.",
        ),
    ] = None,
    difference: Annotated[
        str, option("--difference D,...", "True differences of two mean scores to detect.")
    ] = "0.05,0.1",
    width: Annotated[str, option("--width W,...", "Widths of the interval of a difference.")] = "0.1",
    compared: Annotated[
        int | None,
        option(
            "--compared M",
            "Runs that one analysis of variance compares.",
            min=2,
            show_default="those of the pilot, else 10",
        ),
    ] = None,
    topics: Annotated[
        str | None,
        option(
            "--topics L,...",
            "What this many topics can show, and how reliable they are.",
            show_default="those at hand and 30,50,100,150",
        ),
    ] = None,
    alpha: Annotated[
        float, option("--alpha", "Level of significance, two-sided; intervals cover 1 - alpha.")
    ] = 0.05,
    power: Annotated[float, option("--power", "Wanted probability of a significant result.")] = 0.8,
    measure: Annotated[str, option("--measure -m MEASURE", "The measure; see `show measures`.")] = "AP",
    depths: Annotated[
        str | None,
        option(
            "--depths N,...",
            "Depths of pools whose costs are shown.",
            show_default="1,3,5,10,... down to the pools', else 10",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        option(
            "--seconds S",
            "Seconds a judgement takes.",
            show_default="the mean in the collection, as in `status effort`",
        ),
    ] = None,
    per_document: Annotated[int, option("--per-document K", "Judges of every document.", min=1)] = 1,
    plot: PlotOption = None,
) -> None:
    """Plan how many topics to judge, and how deep, from a pilot.

    The pilot is runs that have been judged: of this collection, of an earlier one, or files. --variance plans
    without any. The tables: topics that find a difference with the wanted power, by a paired t test, by a
    one-way analysis of variance, or as an interval; differences that so many topics find; what pools of each
    depth would cost, in documents and hours; and how far the order of the runs (E rho2) and their scores
    (Phi) would be the same with other topics. `required-difference` says of pairs of runs whether what was
    observed is enough.

    Example: pooler design --qrels alice --difference 0.05 --seconds 40

    Example: pooler design --qrels alice --topics 50,100
    """
    from pooler.results.measures.design import design as plan

    output.check(plot=plot)
    of_source = [one.name for one in parameters_of(SourceOptions) if one.name != "ctx"]
    for name in (*of_source, *_OF_RUNS) if variance is not None else ():
        if given.names(name) if name != "collection" else names_collection(given.ctx):
            raise ContradictionError(name, "is for runs; --variance stands in their place", None)
    made = plan(
        given.source() if variance is None else None,
        variance=() if variance is None else decimals("--variance", variance),
        difference=decimals("--difference", difference),
        width=decimals("--width", width),
        compared=compared,
        topics=None if topics is None else whole_numbers("--topics", topics, least=2),
        alpha=alpha,
        power=power,
        measure=measure,
        depths=None if depths is None else whole_numbers("--depths", depths, least=1),
        seconds=seconds,
        per_document=per_document,
        cutoff=given.cutoff if given.names("cutoff") else None,
    )
    render(made, output, plot=plot)
