"""`pooler audit`: what a judge's grades, as a rule a model's, do in place of people's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    CodeOption,
    CollectionOption,
    LenientOption,
    LevelOption,
    OrderOption,
    ScaleOption,
    TiesOption,
    names_collection,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.results.judgement_files import FileReading, is_file, named_file
from pooler.results.source import Source
from store.errors import ArgumentError, PoolerError
from store.grades.definition import QrelsDefinition


@command
def audit(
    ctx: typer.Context,
    model: Annotated[
        str,
        argument(
            "JUDGE|FILE",
            "The judge that is audited, of any kind; with --qrels a file of its judgements, NAME=FILE or"
            " called by its file name.",
        ),
    ],
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or files with --qrels.")
    ] = None,
    against: Annotated[list[str] | None, option("--against JUDGE", "A person; may be repeated.")] = None,
    qrels: Annotated[
        list[str] | None,
        option(
            "--qrels FILE",
            "Use files instead of a collection: a person's judgements, NAME=FILE or called by the file name;"
            " may be repeated.",
        ),
    ] = None,
    listed: Annotated[
        str | None,
        option(
            "--runs FILE",
            "A TSV file with a header that lists the runs: file, tag, group, name, and models (those that"
            " the run uses, as gpt-4,llama; none; empty = unknown). Of a collection its tag and models"
            " are read.",
        ),
    ] = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    level: LevelOption = None,
    model_level: Annotated[
        int | None,
        option(
            "--model-level",
            "Least grade of the audited judge that counts as relevant.",
            show_default="that of people",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "--measure -m MEASURE", "May be repeated; see `show measures`.", show_default="AP, P@10, nDCG@10"
        ),
    ] = None,
    top: Annotated[int, option("--top K", "How many of the best runs to look at apart.", min=1)] = 10,
    alpha: Annotated[float, option("--alpha", "Level of significance of t tests, two-sided.")] = 0.05,
    epsilon: Annotated[
        float,
        option(
            "--epsilon",
            "Alternative annotator test: by how much a person may be better and still be replaced: .2 for"
            " experts, .15 for skilled people, .1 for a crowd.",
        ),
    ] = 0.2,
    nominal: Annotated[
        bool, option("--nominal", "In that test, treat grades as names without an order.")
    ] = False,
    family: Annotated[
        str | None,
        option(
            "--family NAME",
            "What the list of runs calls the model of the audited judge.",
            show_default="its name",
        ),
    ] = None,
    circular: Annotated[bool, option("--circular", "Rank runs that use the judge's own model, too.")] = False,
    by_run: Annotated[bool, option("--by-run", "Also show every run.")] = False,
    by_topic: Annotated[bool, option("--by-topic -q", "Also show kappa by topic.")] = False,
    cutoff: Annotated[
        int | None, option("--cutoff", "Ranks that are looked at.", min=1, show_default="1000")
    ] = None,
    order: OrderOption = "trec",
    resamples: Annotated[
        int, option("--resamples", "How many times to resample topics.", min=100, max=1_000_000)
    ] = 2000,
    seed: Annotated[int, option("--seed", "Seed of resampling.", min=0)] = 1,
    scale_text: ScaleOption = None,
    codes: CodeOption = None,
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Measure what a model's grades change in place of people's.

    First a verdict in words; then, over the documents that both graded: grades and kappa by level, what
    each grade is worth, how runs are scored and ordered, which groups of runs gain, which significant
    differences appear or vanish, and, where several people graded, the alternative annotator test. Any
    judge can be audited.

    Example: pooler audit gpt --against alice --against bob --aggregate majority --ties low

    Example: pooler audit judgements/strict.qrels runs/*.run --qrels judgements/middle.qrels --level 1
    """
    from pooler.results.audit.audit import MEASURES
    from pooler.results.audit.audit import audit as find
    from pooler.results.audit.material import listed_models

    output.check()
    reading = FileReading(scale=scale_text, codes=codes, lenient=lenient)
    uses: Mapping[str, tuple[str, ...]] | None = None
    if qrels:
        if against:
            raise ArgumentError("--against", "is for a collection; --qrels names people's files", against[0])
        if names_collection(ctx):
            raise ArgumentError("--collection", "and --qrels exclude each other", collection)
        files = [model, *qrels]
        for file in runs or []:
            if not is_file(file):
                message = f"{file}: no such file or directory"
                raise PoolerError(message, hint="with --qrels a RUN is a file, not a tag")
        source = Source(
            runs or [], judgements=files, reading=reading, listed=listed, order=order, lenient=lenient
        )
        model, *people = (str(named_file(file).judge) for file in files)
    else:
        reading.refuse()
        source = Source(runs or [], collection=collection, order=order)
        people = list(against or [])
        uses = None if listed is None else listed_models(listed, collection)
    found = find(
        source,
        model,
        people,
        rule=QrelsDefinition(aggregate=aggregate, ties=ties),
        level=level,
        model_level=model_level,
        measures=measure or MEASURES,
        top=top,
        alpha=alpha,
        epsilon=epsilon,
        nominal=nominal,
        family=family,
        uses=uses,
        circular=circular,
        cutoff=cutoff,
        resamples=resamples,
        seed=seed,
    )
    asked = {"runs": by_run, "topics": by_topic}
    shown = [name for name in found.names() if asked.get(name, True)]
    render(found, output, *(shown if output.is_for_people else ()))
