"""`pooler compare`: whether runs differ, over the topics that were judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pooler.cli.render import Output, PlotOption, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError, ContradictionError, PoolerError


@command
def compare(
    given: SourceOptions,
    output: Output,
    *,
    everything: Annotated[
        bool, option("--all", "Compare every pair of runs, among all or those named.")
    ] = False,
    against: Annotated[
        str | None, option("--against TAG", "Compare the other runs with this one only.")
    ] = None,
    measure: Annotated[
        str, option("--measure -m MEASURE", "The measure to compare by; see `show measures`.")
    ] = "AP",
    alpha: Annotated[
        float, option("--alpha", "Level of significance, two-sided; intervals cover 1 - alpha.")
    ] = 0.05,
    resolution: Annotated[
        float,
        option(
            "--resolution",
            "For the exact randomisation test and Wilcoxon's test, differences are rounded to multiples of"
            " this: scores closer than that count as equal.",
        ),
    ] = 1e-4,
    seed: Annotated[
        int, option("--seed", "Seed of the bootstrap and of the randomised Tukey test.", min=0)
    ] = 1,
    plot: PlotOption = None,
    by_topic: Annotated[
        bool, option("--by-topic -q", "With two runs: also show both scores for every topic.")
    ] = False,
) -> None:
    """Test whether runs differ, in pairs or all at once.

    Two runs get every test: t, signed ranks, exact randomisation, bootstrap. More runs, or --all, get
    one row per pair, with p-values adjusted for the number of pairs by Holm's method and by Tukey's
    HSD. Runs are compared over the topics for which both have a score; a run without documents for a
    topic scores 0 there, as in `evaluate`. By P@N or R@N, a sentence says what the
    signs of the changes of both means imply.

    Example: pooler compare bm25-words rm3-words-title --qrels alice

    Example: pooler compare --all --qrels alice -m nDCG@10
    """
    from pooler.results.measures.compare import compare as test
    from pooler.results.measures.evaluate import known_measure
    from pooler.results.result import collect_warnings

    _check_options(plot=plot, by_topic=by_topic, everything=everything, against=against)
    if not 0 < alpha < 1:
        raise ArgumentError("alpha", "must be between 0 and 1", alpha)
    output.check(plot=plot)
    known_measure(measure)
    if not given.is_of_file and not given.runs and not everything and against is None:
        message = "no run is named"
        hint = "name two runs or more; --all compares all of the collection"
        raise PoolerError(message, hint=hint)
    source = given.source()
    # A collection gives its runs by tag; A is the one that was named first.
    named = None if source.runs_are_files else given.runs
    with collect_warnings() as before:  # what reading has to say belongs to the result
        tags = list(dict.fromkeys(named or source.numbered.ranked.tags))
    is_two = len(tags) == 2 and not everything and against is None
    found = test(
        source,
        *(tags if is_two else []),
        against=against,
        measure=measure,
        alpha=alpha,
        resolution=resolution,
        seed=seed,
        cutoff=given.cutoff if given.names("cutoff") else None,
        runs=tags,
    )
    found = replace(found, warnings=(*before.warnings, *found.warnings))
    asked = {"topics": by_topic, "normality": plot is not None and not output.is_for_people}
    render(found, output, *(name for name in found.names() if asked.get(name, True)), plot=plot)


def _check_options(*, plot: Path | None, by_topic: bool, everything: bool, against: str | None) -> None:
    if everything and against is not None:
        raise ContradictionError("--against", "and --all exclude each other", None)
    for name, is_given in (("--plot", plot), ("--by-topic", by_topic)):
        if is_given and (everything or against is not None):
            raise ContradictionError(name, "is of two runs", None)
