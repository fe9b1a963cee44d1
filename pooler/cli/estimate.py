"""`pooler estimate`: scores of runs where only a sample of the pool was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, say, warn
from pooler.cli.estimate_options import FormName, check_options, with_prels
from pooler.cli.given import Given, on_given_runs

if TYPE_CHECKING:
    from pooler.cli.estimate_sample import Sample
    from pooler.cli.estimate_scores import Estimates


@with_prels
@on_given_runs
def estimate(
    given: Given,
    *,
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="NAME", help="A sampled pool.", show_default="the only one"),
    ] = None,
    prels: Annotated[
        str | None,
        typer.Option(
            "--prels",
            metavar="FILE",
            help="Work on files, without a collection: this judged sample and the named run files.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        FormName | None,
        typer.Option(
            "--form",
            metavar="xinf|statap",
            help="With --prels: xinf (topic iteration docno stratum rel), or statap (topic docno"
            " rel method iprob).",
            show_default=False,
        ),
    ] = None,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", "-q", help="One row a run and topic, too.")
    ] = False,
) -> None:
    """Estimate the scores of runs from a judged sample: xinfAP, infNDCG, statAP and their like.

    What is judged stands for what is not: xinfAP, infNDCG and iP@k need strata, as sample_eval.pl
    reads them, infAP the same share of each, and statAP how likely each document was to be sampled.
    A topic of which no sampled document is relevant has none of them but iP@k, and is left out of
    means; a run without a topic scores 0 there.

    Example: pooler estimate --pool sampled --judge carol

    Example: pooler estimate --prels sampled.prels --form xinf runs/bm25-words.run --by-topic
    """
    check_options(given, pool=pool, prels=prels, form=form)
    from pooler.cli.estimate_sample import sample_of_collection, sample_of_file
    from pooler.cli.estimate_scores import estimates
    from pooler.cli.estimate_tables import show

    if prels is None or form is None:
        sample = sample_of_collection(given, pool)
    else:
        sample = sample_of_file(given, prels, form)
    found = estimates(sample.ranked, sample.pools, cutoff=given.cutoff, level=sample.level)
    _tell(sample, found)
    show(found, sample, given.fmt, by_topic=by_topic)


def _tell(sample: Sample, found: Estimates) -> None:
    """Say on stderr what of the sample is not judged, and what that does."""
    if sample.n_topics_without_grade:
        n_topics = counted(sample.n_topics_without_grade, "topic")
        say(f"{sample.name}: {n_topics} without a judged document left out")
    if n_waiting := sample.n_waiting:
        verb = "has" if n_waiting == 1 else "have"
        does = {"statap": "statAP is too low", "xinfap": "by strata the judged stand for them"}
        effects = "; ".join(words for name, words in does.items() if name in found.values)
        warn(f"{counted(n_waiting, 'sampled document')} {verb} no grade: {effects}")
    if found.n_uncovered:
        n_pooled = counted(found.n_uncovered, "pooled document")
        warn(f"{n_pooled} in strata without a judged one: not relevant in all, and a third of them"
             " relevant in iP@k, as in sample_eval.pl")  # fmt: skip
