"""`pooler evaluate`: scores of runs, their curves, cuts and choice, and the list of measures."""

from __future__ import annotations

from math import isnan
from pathlib import Path
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
    cut: Annotated[
        int | None,
        option(
            "--cut N",
            "Instead: what is relevant (TP, FP, FN, TN) on both sides of rank N, per run and topic.",
            min=1,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        option(
            "--threshold SCORE", "The same, where documents with this score or a higher one are retrieved."
        ),
    ] = None,
    size: Annotated[
        int | None,
        option(
            "--size M",
            "With --cut and --threshold: documents of the whole collection, for TN.",
            min=1,
            show_default="unknown",
        ),
    ] = None,
    attainable: Annotated[
        int | None,
        option(
            "--attainable N",
            "Instead: which values P@N and R@N can take in every topic: least, greatest, step.",
            min=1,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        option(
            "--folds N",
            "Instead: choose the best run on all topics but one of N parts, score it on that part.",
            min=2,
        ),
    ] = None,
    leave_out: Annotated[bool, option("--leave-one-out", "The same with as many parts as topics.")] = False,
    seed: Annotated[
        int | None,
        option(
            "--seed",
            "With --folds: shuffles the topics.",
            min=0,
            show_default="parts are neighbouring topics",
        ),
    ] = None,
    listed_measures: Annotated[bool, option("--list", "List the measures instead of measuring.")] = False,
) -> None:
    """Score runs. Means are over the judged topics that have a relevant document.

    A run without documents for one of those topics scores 0 there, as with trec_eval -c. R counts every
    relevant document of the topic, retrieved or not. AP does not exist for a topic without a relevant
    document; a measure that does, such as P@10, is a mean over all judged topics. A table has one
    column per measure; --format json and tsv have one row.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --judge alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic
    """
    from pooler.results.measures.evaluate import evaluate as score
    from pooler.results.measures.evaluate import list_measures

    ways = {
        "--curves": curves,
        "--cut": cut is not None,
        "--threshold": threshold is not None,
        "--attainable": attainable is not None,
        "--folds": folds is not None,
        "--leave-one-out": leave_out,
    }
    way = _only_way(ways)
    _check_of_way(
        way,
        many=len(measures or ()) > 1,
        named=bool(measures),
        by_topic=by_topic,
        plot=plot,
        size=size,
        seed=seed,
        own=r_mode == "own",
    )
    if threshold is not None and isnan(threshold):
        raise ContradictionError("--threshold", "must be a number", threshold)
    output.check(plot=plot)
    if listed_measures:
        render(list_measures(), output)
        return
    cutoff = given.cutoff if given.names("cutoff") else None
    if r_mode == "own":
        if measures and any(one.partition("@")[0].partition("(")[0] != "AP" for one in measures):
            raise ContradictionError("--r", "own is of AP only", ", ".join(measures))
        measures = [f"Own{one}" for one in measures or ["AP"]]
    source = given.source()
    if way == "--curves":
        from pooler.results.measures.curves import curves as trace

        render(trace(source, topics=None if by_topic else (), cutoff=given.cutoff), output, plot=plot)
    elif way in ("--cut", "--threshold"):
        from pooler.results.measures.cut import cut as divide

        render(divide(source, cut, threshold=threshold, size=size, cutoff=given.cutoff), output)
    elif attainable is not None:
        from pooler.results.measures.at_rank import attainable as reach

        render(reach(source, attainable), output)
    elif way:
        from pooler.results.measures.choice import choose

        measure = measures[0] if measures else "AP"
        render(choose(source, measure, folds=folds, seed=seed, cutoff=cutoff), output)
    else:
        found = score(source, measures or ["AP"], cutoff=cutoff)
        render(found, output, "topics" if by_topic else "measures")


def _only_way(ways: dict[str, bool]) -> str:
    """Return what is asked for instead of scores, if anything; refuse two such things."""
    chosen = [name for name, is_given in ways.items() if is_given]
    if len(chosen) > 1:
        raise ContradictionError(chosen[0], f"excludes {chosen[1]}", None)
    return chosen[0] if chosen else ""


def _check_of_way(
    way: str,
    *,
    many: bool,
    named: bool,
    by_topic: bool,
    plot: Path | None,
    size: int | None,
    seed: int | None,
    own: bool,
) -> None:
    """Refuse options that have no meaning with what is asked for."""
    is_cut, is_choice = way in ("--cut", "--threshold", "--attainable"), way in ("--folds", "--leave-one-out")
    if named and (is_cut or way == "--curves"):
        raise ContradictionError("--measure", f"has no meaning with {way}", None)
    if many and is_choice:
        raise ContradictionError("--measure", f"must be one with {way}, by which runs are chosen", None)
    if by_topic and (is_cut or is_choice):
        requirement = "has no effect with" if is_cut else "has no meaning with"
        raise ContradictionError("--by-topic", f"{requirement} {way}", None)
    if plot and way != "--curves":
        raise ContradictionError("--plot", "draws curves: it needs --curves", None)
    if size is not None and way not in ("--cut", "--threshold"):
        raise ContradictionError("--size", "is for --cut and --threshold", size)
    if seed is not None and way != "--folds":
        raise ContradictionError("--seed", "is for --folds", seed)
    if own and (is_cut or way == "--curves"):
        raise ContradictionError("--r", f"own has no meaning with {way}", None)
