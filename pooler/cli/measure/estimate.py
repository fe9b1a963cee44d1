"""Estimate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pooler.cli.options import names_collection
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.cli.source_options import SourceOptions
from pooler.results.measures.estimate import PRELS_HINT, FormName
from store.errors import ArgumentError, PoolerError

_FORMS = "--form xinf (topic iteration docno stratum rel) or statap (topic docno rel method iprob)"
_HERE = "Options"
"""Heading in the help of what this command says otherwise than others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions(SourceOptions):
    """Options of `SourceOptions`, of which some mean another thing here: files go with `--prels`."""

    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or files with --prels.")
    ] = None
    qrels: Annotated[str | None, option("--qrels", "Refused, because qrels name no sample.", hidden=True)] = (
        None
    )
    listed: Annotated[
        str | None,
        option(
            "--runs FILE",
            "With --prels: TSV with a header that lists the runs: file, and optionally tag.",
            rich_help_panel=_HERE,
        ),
    ] = None
    codes: Annotated[
        list[str] | None, option("--code", "Refused, because a prels file has its own.", hidden=True)
    ] = None
    cutoff: Annotated[
        int,
        option(
            "--cutoff",
            "How many documents of a ranking count, as in sample_eval.pl.",
            min=1,
            rich_help_panel=_HERE,
        ),
    ] = 1000
    scale: Annotated[
        str | None,
        option(
            "--scale SCALE",
            "With --prels: the scale of the file, 0-3, binary, ntcir or a TOML file as in `init`; --level"
            " rigid and relaxed need it, and its negative values are grades.",
            rich_help_panel=_HERE,
        ),
    ] = None


def check_options(
    given: SampleOptions, *, pool: str | None, prels: str | None, form: FormName | None
) -> None:
    """Refuse options that do not go together."""
    if given.is_of_file:
        requirement = "names judgements without their sample, which estimates need"
        hint = "name the judged sample with --prels FILE and --form; pooler evaluate takes --qrels"
        raise ArgumentError("--qrels", requirement, given.qrels, hint=hint)
    if given.codes:
        requirement = "is for qrels: in a prels file -1 is not sampled, and --scale declares negative grades"
        raise ArgumentError("--code", requirement, given.codes[0])
    if prels is not None:
        _check_file(given, pool=pool, form=form)
        return
    for name, value in (("--form", form), ("--runs", given.listed)):
        if value is not None:
            requirement = "is for files, with --prels"
            raise ArgumentError(name, requirement, str(value), hint=PRELS_HINT)


def _check_file(given: SampleOptions, *, pool: str | None, form: FormName | None) -> None:
    if form is None:
        message = "which form does the prels file have? the two differ only in the order of columns"
        raise PoolerError(message, hint=_FORMS)
    if pool is not None:
        raise ArgumentError("--pool", "and --prels exclude each other", pool)
    if names_collection(given.ctx):
        requirement = "and --prels exclude each other: files need no collection"
        raise ArgumentError("--collection", requirement, given.collection)
    if given.qrels is not None:
        requirement = "is for a collection; a prels file already has one grade per document"
        raise ArgumentError("--qrels", requirement, given.qrels)
    for run in given.runs or []:
        if run != "-" and not Path(run).exists():
            message = f"{run}: no such file or directory"
            raise PoolerError(message, hint="with --prels a RUN is a file, not a tag")
    if not given.runs and given.listed is None:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")


@command
def estimate(
    *,
    pool: Annotated[str | None, option("--pool NAME", "A sampled pool.", show_default="the only one")] = None,
    prels: Annotated[
        str | None,
        option(
            "--prels FILE", "Use files instead of a collection: this judged sample and the run files named."
        ),
    ] = None,
    form: Annotated[
        FormName | None,
        option(
            "--form xinf|statap",
            "With --prels: xinf (topic iteration docno stratum rel), or statap (topic docno rel method"
            " iprob).",
        ),
    ] = None,
    model: Annotated[
        str | None,
        option(
            "--with-model JUDGE",
            "Score by this model's grades of all pooled documents, corrected by the judged sample.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "--measure -m MEASURE",
            "With --with-model: P@k, RBP, DCG@k, sDCG@k (scaled to 0-1), AP, nDCG@k; may be repeated.",
            show_default="P@10, RBP, AP",
        ),
    ] = None,
    model_level: Annotated[
        int | None,
        option(
            "--model-level",
            "With --with-model: least grade of the model that counts as relevant.",
            show_default="that of people",
        ),
    ] = None,
    pairs: Annotated[
        bool, option("--pairs", "With --with-model: also show differences of every two runs.")
    ] = False,
    by_topic: Annotated[bool, option("--by-topic -q", "Also show one row per run and topic.")] = False,
    given: SampleOptions,
    output: Output,
) -> None:
    """Estimate the scores of runs from a judged sample.

    What is judged stands in for what is not: xinfAP, infNDCG and iP@k need strata, as sample_eval.pl
    reads them; infAP needs the same sampling rate everywhere; statAP needs each document's probability
    of being sampled. A topic without a relevant document in the sample has only iP@k, and is left out
    of means; a run without documents for a topic scores 0 there.

    With --with-model the scores by a model that graded all pooled documents are corrected by what people
    said of the sample: each has an interval for these topics, and one for topics like them.

    Example: pooler estimate --with-model gpt --qrels alice -m P@10 -m AP --pairs

    Example: pooler estimate --prels sampled.prels --form xinf runs/bm25-words.run --by-topic
    """
    from pooler.results.measures import estimate as results

    output.check()
    check_options(given, pool=pool, prels=prels, form=form)
    if model is not None:
        if prels is not None:
            raise ArgumentError("--with-model", "and --prels exclude each other", prels)
        from pooler.results.audit.corrected import MEASURES, corrected

        correction = corrected(
            given.source(),
            model,
            pool=pool,
            measures=measure or MEASURES,
            model_level=model_level,
            cutoff=given.cutoff,
        )
        asked = {"pairs": pairs, "by_topic": by_topic}
        shown = [name for name in correction.NAMES if asked.get(name, True)]
        render(correction, output, *shown)
        return
    options = {"--measure": measure, "--model-level": model_level, "--pairs": pairs or None}
    for name, value in options.items():
        if value is not None:
            raise ArgumentError(name, "goes with --with-model JUDGE", value if value is not True else None)
    found = results.estimate(
        given.source() if prels is None else given.runs_alone(),
        pool=pool,
        prels=prels,
        form=form,
        cutoff=given.cutoff,
    )
    render(found, output, *found.NAMES[: 1 + by_topic])
