"""`pooler agreement`: how far judges agree, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pooler.cli.console import check_manifest, write_json
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    BinaryFirstOption,
    CodeOption,
    CollectionOption,
    CutoffOption,
    InputColumnsOption,
    InputOption,
    JudgeColumnOption,
    KindsOption,
    LenientOption,
    MapOption,
    OrderOption,
    QrelsOption,
    RepeatsOption,
    RunsOption,
    ScaleOption,
    TiesOption,
    TopicOption,
    kinds_of,
    level_word,
    names_collection,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from pooler.results.agree.settings import check_options, check_together
from pooler.results.judgement_files import FileReading, is_file
from pooler.results.source import Source
from pooler.version import __version__
from store.errors import ArgumentError, PoolerError
from store.formats.lines import STDIN
from store.grades.definition import QrelsDefinition, is_file_word

if TYPE_CHECKING:
    from pooler.results.agree.agreement import AgreementResult
    from pooler.results.agree.order_stability import JudgedOrders
    from store.ranking import Order


@command
def agreement(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        argument(
            "JUDGE|FILE...",
            "Two or more judges; default all who graded: people, models, and people with models, each apart"
            " (see --kinds), and no adjudicators. Or files, without a collection: each holds one judge's"
            " judgements and is called by its file name, or NAME=FILE.",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        option(
            "--level N|rigid|relaxed",
            "Least grade that counts as relevant; may be repeated.  [default: the relaxed and"
            " the rigid level; for json and tsv all]",
        ),
    ] = None,
    against: Annotated[
        str | None,
        option("--against JUDGE", "Compare every other judge, and all their labels together, with this one."),
    ] = None,
    kinds: KindsOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    binary_first: BinaryFirstOption = False,
    qrels: QrelsOption = None,
    interval: Annotated[
        Literal["topic", "item", "asymptotic", "none"] | None,
        option(
            "--interval",
            "95 % intervals: from resampled topics or documents, from standard errors, or none."
            "  [default: topic; none for pairs when there are more than 66]",
        ),
    ] = None,
    resamples: Annotated[
        int, option("--resamples", "How many times to resample.", min=100, max=1_000_000)
    ] = 10_000,
    seed: Annotated[int, option("--seed", "Seed of resampling and of mixtures.", min=0)] = 1,
    bands: Annotated[
        Literal["landis-koch", "ir-book", "krippendorff"] | None,
        option("--bands", "Add one author's words for the values of kappa and alpha."),
    ] = None,
    by_topic: Annotated[bool, option("--by-topic", "Also show one row per topic.")] = False,
    per_grade: Annotated[bool, option("--per-grade", "Also show the agreement on each grade.")] = False,
    tables: Annotated[bool, option("--tables", "Also show each pair's cross table of grades.")] = False,
    all_pairs: Annotated[
        bool,
        option(
            "--all-pairs",
            "Show more than 66 pairs in full. In json and tsv, also list pairs that share no document; with"
            " more than 10 pairs these are otherwise only counted (pairs_apart).",
        ),
    ] = False,
    matters: Annotated[
        bool, option("--matters", "Instead: compare the order of the runs under different judges.")
    ] = False,
    mixtures: Annotated[
        int, option("--mixtures", "With --matters: how many random mixtures of judges.", min=1)
    ] = 1000,
    cutoff: CutoffOption = 1000,
    order: OrderOption = "trec",
    run_files: Annotated[
        list[str] | None,
        option("--run FILE", "With --matters and files of judgements: a run file; may be repeated."),
    ] = None,
    listed: RunsOption = None,
    form: InputOption = None,
    input_columns: InputColumnsOption = None,
    topic: TopicOption = None,
    judge_column: JudgeColumnOption = None,
    scale_text: ScaleOption = None,
    codes: CodeOption = None,
    mapped: MapOption = None,
    repeats: RepeatsOption = None,
    lenient: LenientOption = False,
    manifest: Annotated[
        str | None, option("--manifest FILE", "Write the settings to this file, as JSON.")
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Measure how far judges agree, all together and two by two.

    All together: Krippendorff's alpha and Fleiss' kappa. Two by two: Cohen's kappa, plain and quadratic
    on the declared scale and at every level of relevance, and the overlap of the relevant documents;
    json and tsv also have linear kappa, Scott's pi, Bennett's S and Gwet's AC. A number that does not
    exist is given as a reason (no-common-docs, one-doc, single-grade, no-relevant, one-topic), never as
    0 or 1.

    Example: pooler agreement --level 1 --by-topic

    Example: pooler agreement judgements/middle.qrels judgements/strict.qrels --scale 0-2
    """
    from pooler.results.agree.agreement import agreement as measure
    from pooler.results.agree.order_stability import disagreement_matters

    check_manifest(manifest)
    output.check()
    reading = FileReading(
        form=form,
        columns=input_columns,
        topic=topic,
        judge_column=judge_column,
        scale=scale_text,
        codes=codes,
        mapped=mapped,
        repeats=repeats,
        lenient=lenient,
    )
    rule = QrelsDefinition(aggregate=aggregate, ties=ties, binary_first=binary_first)
    check_options(rule, against=against, matters=matters)
    check_together(_given(ctx), matters=matters)
    source, judges = judged_source(
        names or (),
        reading,
        run_files or (),
        listed,
        order,
        qrels=qrels,
        wants_runs=matters,
        collection=collection,
        is_chosen=names_collection(ctx),
    )
    if qrels is not None and is_file_word(qrels):
        raise ArgumentError("--qrels", "must be a name: files of judges are arguments", qrels)
    chosen: Any = {"judges": judges, "kinds": kinds_of(kinds)}
    levels = [level_word(one) for one in level or ()]
    found: AgreementResult | JudgedOrders
    if matters:
        if len(levels) > 1:
            raise ArgumentError("--level", "must be one with --matters", levels)
        found = disagreement_matters(
            source, level=levels[0] if levels else None, mixtures=mixtures, seed=seed, cutoff=cutoff, **chosen
        )
        _write_manifest(manifest, found.measured)
        render(found, output)
    else:
        found = measure(
            source,
            levels=levels,
            every_level=not output.is_for_people,
            against=against,
            rule=rule,
            interval=interval,
            resamples=resamples,
            seed=seed,
            bands=bands,
            by_topic=by_topic,
            all_pairs=all_pairs,
            of_grades=per_grade or tables,
            **chosen,
        )
        _write_manifest(manifest, found.settings)
        asked = {"per_grade": per_grade, "cross_tables": tables}
        render(found, output, *(name for name in found.names() if asked.get(name, True)))
    if found.erased:
        say(found.erased)


def _given(ctx: typer.Context) -> dict[str, bool]:
    given = {}
    for one in ctx.command.params:
        value = ctx.params.get(str(one.name))
        name = one.opts[0] if one.opts[0].startswith("-") else "JUDGE..."
        given[name] = value not in (None, [], ()) and value != one.default
    return given


def _write_manifest(file: str | None, settings: Mapping[str, Any]) -> None:
    if file is not None:
        write_json(file, {"program": f"pooler {__version__}", **settings}, private=True)


def judged_source(
    names: Sequence[str],
    reading: FileReading,
    runs: Sequence[str],
    listed: str | None,
    order: Order,
    *,
    qrels: str | None,
    wants_runs: bool,
    collection: str,
    is_chosen: bool,
) -> tuple[Source, Sequence[str] | None]:
    """Name the judgements, and the judges that are asked for; ``None`` = all."""
    if _are_files(names, collection, is_chosen=is_chosen):
        if wants_runs and not runs and listed is None:
            message = "--matters compares the order of runs, but no run is named"
            raise PoolerError(message, hint="name each with --run FILE, or a list of them with --runs FILE")
        source = Source(
            runs, judgements=names, reading=reading, listed=listed, order=order, lenient=reading.lenient
        )
        return source, None
    reading.refuse()
    for name, value in (("--run", runs), ("--runs", listed)):
        if value:
            requirement = "is for files; a collection has runs of its own"
            raise ArgumentError(name, requirement, str(value))
    _check_there(names, collection)
    return Source(collection=collection, qrels=qrels, order=order), names or None


def _are_files(names: Sequence[str], collection: str, *, is_chosen: bool) -> bool:
    """Return whether arguments are files; refuse those that may be judges as well."""
    if is_chosen:
        return False
    found = [name for name in names if _is_named_file(name)]
    if not found:
        return False
    others = [name for name in names if name not in found]
    if others:
        message = f"{others[0]} is not a file, but {found[0]} is"
        hint = f"name only files; --collection {collection} says that these are judges"
        raise PoolerError(message, hint=hint)
    words = [name for name in found if Path(name).name == name and not _has_file_shape(name)]
    if words and _is_there(collection):
        message = f"`{words[0]}` may be a judge of {collection} or a file"
        hint = f"./{words[0]} is the file; --collection {collection} says that these are judges"
        raise PoolerError(message, hint=hint)
    return True


def _is_named_file(name: str) -> bool:
    _, sign, file = name.partition("=")
    return is_file(name) or (bool(sign) and is_file(file))


def _has_file_shape(name: str) -> bool:
    return name == STDIN or "=" in name or bool(Path(name).suffix)


def _is_there(collection: str) -> bool:
    """Return whether there is a collection; a URL is believed."""
    return "://" in collection or Path(collection).exists()


def _check_there(names: Sequence[str], collection: str) -> None:
    """Raise `PoolerError` where an argument is no file and there is nothing else it could be."""
    if names and collection == DEFAULT_COLLECTION and not _is_there(collection):
        message = f"{names[0]}: there is no such file, and no {collection} with judges either"
        hint = "name files of judgements, or the collection of these judges with --collection FILE"
        raise PoolerError(message, hint=hint)
