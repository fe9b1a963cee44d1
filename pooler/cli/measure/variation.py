"""`pooler variation`: how far scores and the order of runs move when documents are judged anew."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, write_lines
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.measure.probabilities import (
    EmptyOption,
    EmptyRule,
    ProbabilitiesOption,
    UnjudgedOption,
    ValueOption,
    say_empty,
)
from pooler.telling import progress
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pooler.results.source import Source
    from store.analysis.variation.collection import Topic
    from store.analysis.variation.lists import ProbableRankings
    from store.analysis.variation.simulation import SimulatedMaps


@on_given_runs
def variation(
    given: Given,
    *,
    values: ValueOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: UnjudgedOption = "0",
    extra_relevant: Annotated[
        int,
        typer.Option(
            "--extra-relevant",
            min=0,
            metavar="K",
            help="Suppose K more relevant documents a topic that no run retrieved; 1 is R + 1, the"
            " rule of the paper's section 4.3.",
        ),
    ] = 0,
    empty: EmptyOption = EmptyRule.GIVEN,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="One row for every two runs: the difference, how much of its variance is by"
            " judging, the p of the paired t test without and with that, and how likely the"
            " order turns about.",
        ),
    ] = False,
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours",
            help="With --pairs: only runs that are next to each other by expected MAP, in order.",
        ),
    ] = False,
    monte_carlo: Annotated[
        int | None,
        typer.Option(
            "--monte-carlo",
            min=2,
            metavar="M",
            help="Judge M times by chance, too, as the paper does, and print the result beside.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of --monte-carlo.")] = 1,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot",
            help="Draw the runs in order of their expected MAP, each with its interval and how"
            " likely the next one passes it; with --pairs, how likely pairs turn about.",
        ),
    ] = False,
) -> None:
    """Tell how far MAP and the order of runs move when the documents are judged anew.

    Judges differ: a document that half of them find relevant is one with probability 1/2, and a new
    judging would give another MAP. Its mean, variance and covariance are computed exactly, where
    Kishida (2001, section 3.2) simulates. Unjudged documents are never relevant unless --unjudged
    says how likely they are.

    Example: pooler variation --pairs --level 1 --plot

    Example: pooler variation --qrels judgements/strict.qrels runs/*.run --value 0=.05 --value 1=.9
    """
    from pooler.cli.plots import check_plot, interval_lines, pair_lines, plot_width
    from pooler.results.measure import variation as tables
    from pooler.results.measure.probabilities import load_probable
    from store.analysis.variation.collection import collection_variation
    from store.analysis.variation.intervals import run_intervals
    from store.analysis.variation.order import reversals

    if plot:
        check_plot(given.fmt)
    if neighbours and not pairs:
        raise ArgumentError("--neighbours", "is of --pairs, which is absent", None)
    source = _source(given)
    judged = None if source is None else source.read
    loaded = load_probable(
        given, values=values, probabilities=probabilities, unjudged=unjudged,
        extra_relevant=extra_relevant, empty=empty, judged=judged,
    )  # fmt: skip
    probable = loaded.rankings
    topics = list(zip(probable.probabilities, probable.ranks, strict=True))
    if pairs and len(probable.tags) < 2:
        message = f"there is one run, `{probable.tags[0]}`: a pair needs two"
        raise PoolerError(message, hint="name another run")
    with progress("topics", len(topics)) as advance:
        varied = collection_variation(topics, empty=empty.value, progress=advance)
    say_empty(probable.topics, varied)
    has_unjudged = may_be_unjudged(probable)
    scores = None if source is None else map_as_judged(source, given.cutoff, probable, empty)
    simulated = None if monte_carlo is None else _simulate(topics, monte_carlo, seed, empty)
    of_pairs = None
    n_runs = len(probable.tags)
    turned = None
    if n_runs > 1:
        quick = not (pairs or plot)
        with progress("pairs of runs", n_runs * (n_runs - 1) // 2) as advance:
            turned = reversals(topics, varied, quick=quick, progress=advance)
    if turned is not None and (pairs or plot):
        of_pairs = tables.of_pairs(
            probable.tags, varied, turned, simulated, given.fmt,
            has_unjudged=has_unjudged, neighbours_only=neighbours or not pairs,
        )  # fmt: skip
    if pairs and of_pairs is not None:
        emit(titled([of_pairs], loaded.kinds, given.fmt), given.fmt)
        drawn = partial(pair_lines, of_pairs, neighbours_only=neighbours)
    else:
        with progress("runs", n_runs) as advance:
            intervals = run_intervals(topics, varied, progress=advance)
        table = tables.of_runs(probable.tags, varied, scores, intervals, simulated, given.fmt,
                               turned=turned, has_unjudged=has_unjudged)  # fmt: skip
        emit(titled([table], loaded.kinds, given.fmt), given.fmt)
        drawn = partial(interval_lines, table, of_pairs)
    if plot:
        write_lines(None, ["", *drawn(width=plot_width(sys.stdout))])


def may_be_unjudged(probable: ProbableRankings) -> bool:
    """Say whether a document that nobody judged may be relevant here."""
    from store.analysis.variation.lists import SUPPOSED

    return any(
        bool((~judged & (p > 0) & (ids != SUPPOSED)).any())
        for judged, p, ids in zip(probable.judged, probable.probabilities, probable.ids, strict=True)
    )


def _source(given: Given) -> Source | None:
    """Name one set of judgements, where there is one; ``None`` = several judges and no choice."""
    chooses = given.qrels is not None or given.judge is not None or given.aggregate is not None
    return given.source() if chooses else None


def map_as_judged(
    source: Source, cutoff: int, probable: ProbableRankings, empty: EmptyRule = EmptyRule.GIVEN
) -> NDArray[np.float64]:
    """Compute MAP by the one set of judgements over the same topics; NaN where none has an AP."""
    import numpy as np

    from pooler.results.measure.evaluate import measured
    from store.analysis.measures.names import parse_measure

    name = parse_measure("AP", level=source.level)
    rankings, (scores,) = measured(source, [name], cutoff)
    place = {topic: column for column, topic in enumerate(rankings.topics)}
    columns = [place[topic] for topic in probable.topics if topic in place]
    if len(columns) < len(probable.topics):
        raise ArgumentError("--judge", "must have judged every topic", len(columns))
    rows = [rankings.tags.index(tag) for tag in probable.tags]
    found = scores.values[np.ix_(rows, columns)]
    if empty is EmptyRule.ZERO:
        return np.asarray(np.nan_to_num(found).mean(axis=1))
    undefined = np.isnan(found).any(axis=0)
    if undefined.all():
        return np.full(len(rows), np.nan)
    return np.asarray((found[:, ~undefined] if undefined.any() else found).mean(axis=1))


def _simulate(topics: Sequence[Topic], repetitions: int, seed: int, empty: EmptyRule) -> SimulatedMaps:
    """Judge by chance."""
    from store.analysis.variation.simulation import simulate_maps

    with progress("judgings", repetitions) as advance:
        return simulate_maps(topics, repetitions=repetitions, seed=seed, empty=empty.value, progress=advance)
