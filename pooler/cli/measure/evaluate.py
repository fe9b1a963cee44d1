"""`pooler evaluate`: scores of runs, and the list of measures."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pooler.cli.render import Output, render
from pooler.cli.signature import command
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError


@command
def evaluate(
    given: SourceOptions,
    output: Output,
    *,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="AP, P@10, nDCG@10, RR(rel=2), ..., named as in ir_measures; may be repeated.",
            show_default="AP",
        ),
    ] = None,
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="Also show one row per topic.")] = False,
    r_mode: Annotated[
        Literal["pool", "own"],
        typer.Option(
            "--r",
            help="R of AP: all relevant documents of the topic (pool), or those that the run retrieved (own;"
            " eq. 1 of Kishida 2001): the measure OwnAP.",
        ),
    ] = "pool",
    listed_measures: Annotated[
        bool, typer.Option("--list", help="List the measures instead of measuring.")
    ] = False,
) -> None:
    """Score runs. Means are over the judged topics that have a relevant document.

    A run without documents for one of those topics scores 0 there, as with trec_eval -c. R counts every
    relevant document of the topic, retrieved or not. AP does not exist for a topic without a relevant
    document; a measure that does, such as P@10, is a mean over all judged topics. A table has one
    column per measure; --format json and tsv have one row.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --judge alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from pooler.results.measure.evaluate import evaluate as score
    from pooler.results.measure.evaluate import list_measures

    output.check()
    if listed_measures:
        render(list_measures(), output)
        return
    cutoff = given.cutoff if given.names("cutoff") else None
    if r_mode == "own":
        if measures and any(one.partition("@")[0].partition("(")[0] != "AP" for one in measures):
            raise ArgumentError("--r", "own is of AP only", ", ".join(measures))
        measures = [f"Own{one}" for one in measures or ["AP"]]
    found = score(given.source(), measures or ["AP"], cutoff=cutoff)
    render(found, output, "topics" if by_topic else "measures")
