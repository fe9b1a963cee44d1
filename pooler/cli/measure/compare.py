"""`pooler compare`: whether runs differ, over the topics that were judged."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, write_lines
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.printed import Format, Table
from pooler.telling import progress, say, warn
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pooler.results.measure.compare import Compared


@on_given_runs
def compare(
    given: Given,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Compare every two of all runs, or of those named.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="TAG", help="Compare the others with this run only.", show_default=False
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="What is compared; `evaluate --list`.")
    ] = "AP",
    alpha: Annotated[
        float, typer.Option("--alpha", help="Level of significance, two-sided; intervals cover 1 - it.")
    ] = 0.05,
    resolution: Annotated[
        float,
        typer.Option(
            "--resolution",
            help="Differences are rounded to multiples of it for the exact randomisation test and"
            " Wilcoxon's: scores closer than that are the same.",
        ),
    ] = 1e-4,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of the bootstrap and the randomised Tukey test.")
    ] = 1,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot",
            help="Of two runs: their differences beside the normal curve (figure 3 of Kishida"
            " 2001); with --format json or tsv its points.",
        ),
    ] = False,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", "-q", help="Of two runs: both scores of every topic, too.")
    ] = False,
) -> None:
    """Test whether runs differ: t, signed ranks, exact randomisation, bootstrap; Tukey, Holm.

    Two runs get every test. More runs, or --all, get a row for every pair, with p-values adjusted
    for the number of pairs: by Holm, and by Tukey's HSD. Runs are compared over the topics where
    both have a score; one that has no documents for a topic scores 0 there, as in `evaluate`.

    Example: pooler compare bm25-words rm3-words-title --judge alice

    Example: pooler compare --all --judge alice -m nDCG@10
    """
    from pooler.results.measure.compare import Compared
    from pooler.results.measure.evaluate import known_measure, measure_judged

    _check_options(alpha=alpha, plot=plot, by_topic=by_topic, everything=everything,
                   against=against)  # fmt: skip
    known_measure(measure)
    if given.qrels is None and not given.runs and not everything and against is None:
        message = "no run is named"
        hint = "pooler compare RUN RUN, or --all for every two of them"
        raise PoolerError(message, hint=hint)
    judged = given.load(docnos=False)
    name = known_measure(measure, level=judged.level)
    rankings, (scores,) = measure_judged(judged, [name], given.cutoff, is_given=given.names("cutoff"))
    if len(rankings.tags) < 2:
        message = f"there is one run, `{rankings.tags[0]}`: a comparison needs two"
        raise PoolerError(message, hint="name another run")
    n_without = int(scores.lacks_relevant.sum())
    if n_without:
        say(f"{counted(n_without, 'topic')} without a relevant document: no {name} there")
    # A collection gives its runs by tag; A is the one that was named first.
    named = given.runs if given.qrels is None else None
    tags = list(dict.fromkeys(named or rankings.tags))
    rows = [rankings.tags.index(tag) for tag in tags]
    compared = Compared(tags, rankings.topics, scores.values[rows], str(name), alpha, resolution)
    n_missing = int((rankings.lengths == 0).any(axis=0).sum())
    if n_missing:
        warn(f"in {counted(n_missing, 'topic')} a run has no documents and scores as it does then")
    if len(tags) == 2 and not everything and against is None:
        _two(compared, given.fmt, seed=seed, plot=plot, by_topic=by_topic, kinds=judged.kinds)
    else:
        _many(compared, _pairs(tags, against), given.fmt, seed=seed, kinds=judged.kinds)


def _check_options(
    *, alpha: float, plot: bool, by_topic: bool, everything: bool, against: str | None
) -> None:
    """Refuse what does not go together."""
    if not 0 < alpha < 1:
        raise ArgumentError("--alpha", "must be between 0 and 1", alpha)
    if everything and against is not None:
        raise ArgumentError("--against", "and --all exclude each other", against)
    for name, is_given in (("--plot", plot), ("--by-topic", by_topic)):
        if is_given and (everything or against is not None):
            raise ArgumentError(name, "is of two runs", "several")


def _two(
    compared: Compared, fmt: Format, *, seed: int, plot: bool, by_topic: bool, kinds: Mapping[str, int]
) -> None:
    """Show all there is about two runs."""
    from pooler.cli.plots import normality_lines
    from pooler.results.measure import compare as comparison

    tables = comparison.of_two(compared, fmt, seed=seed)
    if by_topic:
        tables.append(comparison.topic_table(compared))
    if plot and fmt is not Format.TABLE:
        tables.append(comparison.normality_table(compared))
    emit(titled(tables, kinds, fmt), fmt)
    if plot and fmt is Format.TABLE:
        picture = comparison.picture_of(compared)
        if picture.reason is not None:
            say(f"no picture of the differences: {picture.reason}")
        else:
            write_lines(None, ["", *normality_lines(picture)])


def _many(
    compared: Compared,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    fmt: Format,
    *,
    seed: int,
    kinds: Mapping[str, int],
) -> None:
    """Show a row a pair."""
    from pooler.results.measure import compare as comparison

    n_runs = len(compared.tags)
    n_pairs = n_runs * (n_runs - 1) // 2 if pairs is None else len(pairs[0])
    with progress("pairs of runs", n_pairs) as advance:
        table: Table = comparison.of_pairs(compared, pairs, fmt, seed=seed, advance=advance)
    emit(titled([table], kinds, fmt), fmt)


def _pairs(tags: Sequence[str], against: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Choose the pairs: each other run with one, or ``None`` = every two."""
    if against is None:
        return None
    import numpy as np

    if against not in tags:
        raise UnknownNameError("run", against, tags)
    base = list(tags).index(against)
    others = list(chain(range(base), range(base + 1, len(tags))))
    return np.array(others, dtype=np.int64), np.full(len(others), base, dtype=np.int64)
