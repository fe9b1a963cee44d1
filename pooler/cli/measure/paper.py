"""`pooler paper`: Kishida (2001) redone on a collection, or its own tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pooler.cli.console import check_place
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    CutoffOption,
    EmptyOption,
    FileScaleOption,
    KindsOption,
    LenientOption,
    OrderOption,
    ValueOption,
    kinds_of,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.results.source import source
from store.errors import ArgumentError


@command
def paper(
    output: Output,
    *,
    runs: Annotated[
        list[str] | None,
        argument(
            "RUN_A RUN_B",
            "Two run tags of the collection; default the two with the highest expected MAP. With --qrels:"
            " run files, of which the two highest are compared.",
        ),
    ] = None,
    of_kishida: Annotated[
        bool,
        option(
            "--of-kishida",
            "The paper's own tables beside what follows from its printed numbers, errata explained.",
        ),
    ] = False,
    html: Annotated[str | None, option("--html FILE", "Also write a page to read and print.")] = None,
    values: ValueOption = None,
    rank: Annotated[
        int | None,
        option(
            "--rank N+1",
            "The rank below the pool (tables 3 and 8, figure 2, section 4.3).",
            min=1,
            show_default="the pools' depth + 1; of files none",
        ),
    ] = None,
    scenario: Annotated[
        Literal["own", "shared"],
        option(
            "--scenario",
            "Who gains from the documents at rank N+1 of B: B only, as in the paper (own), or every run that"
            " has them (shared).",
        ),
    ] = "own",
    flip: Annotated[
        Literal["not-relevant", "unjudged"],
        option(
            "--flip",
            "Which of them are found relevant: all with no chance of being relevant, judged or not, as in"
            " the paper; or unjudged ones.",
        ),
    ] = "not-relevant",
    empty: EmptyOption = "given",
    monte_carlo: Annotated[
        int | None,
        option(
            "--monte-carlo M",
            "Judge M times at random, as the paper does (100,000 times), beside the exact moments.",
            min=2,
            show_default="20,000",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", "Of --monte-carlo.", min=0)] = 1,
    alpha: Annotated[float, option("--alpha", "Level of significance, two-sided.")] = 0.05,
    levels: Annotated[
        list[int] | None,
        option(
            "--level",
            "Least relevant grade, for the judges' own MAPs; may be repeated.",
            show_default="every grade but the lowest",
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        option(
            "--judge NAME",
            "Judge 1, judge 2 and so on.",
            show_default="those of --kinds who graded, except adjudicators",
        ),
    ] = None,
    kinds: KindsOption = None,
    qrels: Annotated[
        list[str] | None,
        option(
            "--qrels FILE",
            "Work on files instead of a collection: one file a judge, FILE or NAME=FILE; may be repeated.",
        ),
    ] = None,
    cutoff: CutoffOption = 1000,
    order: OrderOption = "trec",
    scale: FileScaleOption = None,
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Redo the tables and figures of Kishida (2001) on two runs.

    Tables 1 to 8, figures 1 to 3 and section 4.3 in the order of the paper, each with a sentence on what it
    says here. A is the run with the higher expected MAP. Moments are exact where the paper simulates.

    Example: pooler paper bm25-words rm3-words-title --value 0=0 --value 1=.8 --value 2=1 --html paper.html

    Example: pooler paper --of-kishida
    """
    from pooler.results.paper.kishida import paper_of_kishida
    from pooler.results.paper.redone import Paper
    from pooler.results.paper.redone import paper as redo

    output.check()
    if of_kishida:
        needless = (
            ("--html", html),
            ("--qrels", qrels),
            ("RUN_A", runs),
            ("--rank", rank),
            ("--value", values),
            ("--level", levels),
            ("--judge", judges),
            ("--monte-carlo", monte_carlo),
        )
        for name, given in needless:
            if given:
                raise ArgumentError(name, "has no meaning with --of-kishida, which needs no data", None)
        render(paper_of_kishida(), output)
        return
    named = runs or []
    if qrels:
        found = source(named, judgements=qrels, scale=scale, lenient=lenient, order=order)
        pair: list[str] = []
    else:
        if scale is not None:
            raise ArgumentError("--scale", "is of --qrels: a collection has its scale", scale)
        if named and any(Path(run).is_file() for run in named):
            raise ArgumentError(
                "RUN_A",
                "must be a run tag of the collection",
                named[0],
                hint="run files go with --qrels FILE",
            )
        if len(named) not in (0, 2):
            raise ArgumentError("RUN_A", "must be two runs, or none for the two highest", ", ".join(named))
        found = source(collection=collection, order=order)
        pair = named
    if html is not None:
        if output.out is not None and Path(html).resolve() == Path(output.out).resolve():
            raise ArgumentError("--html", "must be another file than --out", html)
        check_place(html)
    result: Paper = redo(
        found,
        *pair,
        rank=rank,
        values=values,
        levels=levels,
        judges=judges,
        kinds=kinds_of(kinds),
        scenario=scenario,
        flip=flip,
        empty=empty,
        simulate=monte_carlo,
        seed=seed,
        alpha=alpha,
        cutoff=cutoff,
    )
    render(result, output, *result.shown())
    if html is not None:
        from pooler.pages.paper import paper_report

        paper_report(result).write(html)
