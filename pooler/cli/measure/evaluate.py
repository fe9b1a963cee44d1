"""`pooler evaluate`: scores of runs, their curves, and the list of measures."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ContradictionError


@command
def evaluate(
    given: SourceOptions,
    output: Output,
    *,
    measures: Annotated[
        list[str] | None,
        option(
            "--measure -m MEASURE",
            "AP, P@10, nDCG@10, RR(rel=2), ..., named as in ir_measures; may be repeated.",
            show_default="AP",
        ),
    ] = None,
    by_topic: Annotated[bool, option("--by-topic -q", "Also show one row per topic.")] = False,
    r_mode: Annotated[
        Literal["pool", "own"],
        option(
            "--r",
            "R of AP: all relevant documents of the topic (pool), or those that the run retrieved (own; eq."
            " 1 of Kishida 2001): the measure OwnAP.",
        ),
    ] = "pool",
    curves: Annotated[
        bool,
        option("--curves", "Instead: precision by recall, ROC and its area; with --by-topic of each topic."),
    ] = False,
    plot: PlotOption = None,
    threshold: Annotated[
        float | None,
        option(
            "--threshold SCORE", "Least score of a document that counts as retrieved.", show_default="none"
        ),
    ] = None,
) -> None:
    """Score runs. Means are over the judged topics that have a relevant document.

    A run without documents for one of those topics scores 0 there, as with trec_eval -c. R counts every
    relevant document of the topic, retrieved or not. AP does not exist for a topic without a relevant
    document; a measure that does, such as P@10, is a mean over all judged topics. A table has one
    column per measure; --format json and tsv have one row.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --qrels alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from pooler.results.measures.evaluate import evaluate as score

    if curves:
        for name, is_given in (
            ("--measure", measures),
            ("--threshold", threshold is not None),
            ("--r", r_mode == "own"),
        ):
            if is_given:
                raise ContradictionError(name, "has no meaning with --curves", None)
    elif plot:
        raise ContradictionError("--plot", "draws curves: it needs --curves", None)
    output.check(plot=plot)
    cutoff = given.cutoff if given.names("cutoff") else None
    if r_mode == "own":
        if measures and any(one.partition("@")[0].partition("(")[0] != "AP" for one in measures):
            raise ContradictionError("--r", "own is of AP only", ", ".join(measures))
        measures = [f"Own{one}" for one in measures or ["AP"]]
    source = given.source()
    if curves:
        from pooler.results.measures.curves import curves as trace

        render(trace(source, topics=None if by_topic else (), cutoff=given.cutoff), output, plot=plot)
    else:
        found = score(source, measures or ["AP"], threshold=threshold, cutoff=cutoff)
        render(found, output, "topics" if by_topic else "measures")
