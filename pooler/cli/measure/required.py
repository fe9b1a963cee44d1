"""Required-difference, ap-properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, isnan
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.measure.sensitivity import ScenarioName
from pooler.cli.options import FormatOption, decimals, whole_numbers
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.results.judge_kinds import titled
from pooler.results.measure.probabilities import say_empty
from pooler.results.printed import Axis, Cell, Column, Format, Table, grid_table
from pooler.telling import progress
from store.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pooler.results.source import Judged
    from store.analysis.undiscovered.pairs import PairSensitivity

_OF_TABLES = ("variance", "topics", "drop", "variance_drop")
_OF_RUNS = ("depth", "scenario", "neighbours")
JUDGES = "judges"
"""What `--variation` takes for the share that each pair has by its judges."""


@on_given_runs
def required_difference(
    given: Given,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Estimate for every two runs of the collection.")
    ] = False,
    neighbours: Annotated[
        bool,
        typer.Option("--neighbours", help="Of the runs: only those next to each other by MAP, in order."),
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            "-N",
            min=1,
            help="With runs: N, the pool's depth; the lower run's unjudged documents at rank N+1"
            " are what is found.",
            show_default="the pools', where they have one",
        ),
    ] = None,
    scenario: Annotated[
        ScenarioName, typer.Option("--scenario", help="With runs: who gains from a document; `sensitivity`.")
    ] = ScenarioName.SHARED,
    variance: Annotated[
        str,
        typer.Option(
            "--variance", metavar="S2,...", help="Variance over topics of the differences of two runs."
        ),
    ] = "0.01,0.03,0.05,0.07,0.09",
    topics: Annotated[
        str, typer.Option("--topics", metavar="L,...", help="Numbers of topics.")
    ] = "30,50,100,150",
    variation: Annotated[
        str,
        typer.Option(
            "--variation",
            "-K",
            metavar="K,...",
            help="Share of the variance that is there because judges vary, to be left out; with"
            " runs one number, or `judges` = what each pair has by the collection's judges.",
        ),
    ] = "0",
    drop: Annotated[
        str,
        typer.Option(
            "--drop",
            "-Q",
            metavar="Q,...",
            help="Share by which the difference falls once undiscovered documents are known; at 1"
            " the order turns.",
        ),
    ] = "0",
    variance_drop: Annotated[
        str,
        typer.Option(
            "--variance-drop",
            "-H",
            metavar="H,...",
            help="Share by which the variance falls then, as many as of Q: of the variance with the"
            " part by judging where K is 0, else of what K leaves.",
        ),
    ] = "0",
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance, two-sided.")] = 0.05,
    power: Annotated[
        float,
        typer.Option(
            "--power",
            help="Wanted probability of a significant result, at least 0.5; with 0.5 the smallest"
            " difference that is significant when it is what was observed.",
        ),
    ] = 0.5,
) -> None:
    """Print the difference of two MAPs that a paired t test finds significant.

    Without runs: tables 7 and 8 of Kishida (2001), eq. 23 and 24, rounded up as there; --format
    json and tsv have every digit. With runs, or --all: a row for every two of them, with the
    variance, the topics, Q and H of their own scores.

    Example: pooler required-difference --all --judge alice

    Example: pooler required-difference -Q 0.15,0.10 -H 0.10,0.05 --power 0.8
    """
    _check("--alpha", alpha, "above 0 and below 1", holds=0 < alpha < 1)
    _check("--power", power, "at least 0.5 and below 1", holds=0.5 <= power < 1)
    if everything or given.runs or given.qrels is not None or given.listed is not None:
        _refuse(given, _OF_TABLES, "excludes runs, whose scores give it")
        share = None
        if variation != JUDGES:
            shares = _shares("--variation", variation, least=0.0, below=1.0)
            _check("--variation", variation, "one number with runs", holds=len(shares) == 1)
            share = shares[0]
        judged = given.load()
        table = estimate(given, judged, share, judged.pool_depth(depth), scenario, alpha=alpha,
                         power=power, neighbours=neighbours)  # fmt: skip
        emit(titled([table], judged.kinds, given.fmt), given.fmt)
        return
    _refuse(given, _OF_RUNS, "is for runs: name two, or --all")
    _tabulate(variance, topics, variation, _drops(drop, variance_drop), given.fmt,
              alpha=alpha, power=power)  # fmt: skip


def _refuse(given: Given, options: Sequence[str], requirement: str) -> None:
    """Raise `ArgumentError` for the first of some options that was given."""
    for option in options:
        if given.names(option):
            name = f"--{option.replace('_', '-')}"
            raise ArgumentError(name, requirement, str(given.ctx.params[option]))


def _tabulate(
    variance: str,
    topics: str,
    variation: str,
    drops: Sequence[tuple[float, float]],
    fmt: Format,
    *,
    alpha: float,
    power: float,
) -> None:
    """Print a table for every K, Q and H."""
    import numpy as np

    from store.analysis.undiscovered.required import required_difference as required
    from store.analysis.undiscovered.required import round_up

    down = Axis("variance", "s2", _shares("--variance", variance, least=0.0, below=inf))
    across = Axis("topics", "L", whole_numbers("--topics", topics, least=2))
    tables: list[Table] = []
    rows: list[Mapping[str, Cell]] = []
    for share, (q, h) in product(_shares("--variation", variation, least=0.0, below=1.0),
                                 drops):  # fmt: skip
        values = required(
            np.array(down.values)[:, None], np.array(across.values), variation_share=share,
            difference_drop=q, variance_drop=h, alpha=alpha, power=power,
        )  # fmt: skip
        title = f"Difference needed at {alpha:g}" + ("" if power == 0.5 else f", power {power:g}")
        title += f"; K={share:g}, Q={q:g}, H={h:g}"
        if h:
            title += f", of the variance {'without' if share else 'with'} judging"
        tables.append(grid_table("difference", down, across, round_up(values).tolist(), fmt,
                                 title=title))  # fmt: skip
        rows += [
            {"k": share, "q": q, "h": h,
             "h_of": "judging removed" if share else "judging included",
             "variance": down.values[line], "topics": n_topics,
             "difference": float(values[line, place])}
            for line in range(len(down.values)) for place, n_topics in enumerate(across.values)
        ]  # fmt: skip
    if fmt is not Format.TABLE:
        names = ("k", "q", "h", "h_of", "variance", "topics", "difference")
        tables = [Table("required_difference", [Column(name) for name in names], rows)]
    emit(tables, fmt)


def estimate(
    given: Given,
    judged: Judged,
    share: float | None,
    depth: int,
    scenario: ScenarioName = ScenarioName.SHARED,
    *,
    alpha: float = 0.05,
    power: float = 0.5,
    neighbours: bool = False,
) -> Table:
    """Make a row for every two of the runs, or of neighbours; no share = what judges' is."""
    from pooler.results.measure.required import of_runs
    from store.analysis.arrays import judged_arrays
    from store.analysis.undiscovered.pairs import pair_sensitivity
    from store.analysis.undiscovered.required import required_of_pairs

    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
    from pooler.results.measure.sensitivity import check_pair

    check_pair(arrays)
    with progress("topics", len(arrays.topics)) as advance:
        moved = pair_sensitivity(arrays, depth=depth, scenario=scenario.value, progress=advance)
    shares = _shares_by_judges(given, judged, arrays.tags, moved) if share is None else share
    found = required_of_pairs(moved, variation_share=shares, alpha=alpha, power=power)
    return of_runs(arrays.tags, found, given.fmt, depth=depth, variation=share, alpha=alpha,
                   power=power, neighbours_only=neighbours)  # fmt: skip


def _shares_by_judges(
    given: Given, judged: Judged, tags: Sequence[str], moved: PairSensitivity
) -> NDArray[np.float64]:
    """Compute K of every pair from how the judges differ; 0 where nothing varies."""
    import numpy as np

    from pooler.results.measure.probabilities import load_probable
    from store.analysis.variation.collection import collection_variation, pair_components

    probable = load_probable(given.source(), cutoff=given.cutoff, judged=judged).rankings
    topics = list(zip(probable.probabilities, probable.ranks, strict=True))
    with progress("topics", len(topics)) as advance:
        varied = collection_variation(topics, progress=advance)
    say_empty(probable.topics, varied)
    rows = np.array([probable.tags.index(tag) for tag in tags])
    pairs = rows[moved.first], rows[moved.second]
    return np.nan_to_num(pair_components(varied, pairs).components.share)


def _shares(name: str, text: str, *, least: float, below: float) -> list[float]:
    """Read numbers that have to lie in a range."""
    values = decimals(name, text)
    upwards = f"at least {least:g}" if least > -inf else ""
    words = " and ".join(filter(None, (upwards, "below 1" if below == 1 else "")))
    if name == "--drop" and any(value >= 1 for value in values):
        words += " (from there on the order turns: no difference is enough)"
    _check(name, text, words, holds=all(least <= value < below for value in values))
    return values


def _check(name: str, value: float | str, words: str, *, holds: bool) -> None:
    """Raise `ArgumentError` for a value outside its range."""
    if not holds:
        raise ArgumentError(name, f"must be {words}", value)


def _drops(drop: str, variance_drop: str) -> list[tuple[float, float]]:
    """Pair Q with H, one for one; a single one goes with each of the other."""
    q = _shares("--drop", drop, least=-inf, below=1.0)
    h = _shares("--variance-drop", variance_drop, least=-inf, below=1.0)
    n_pairs = max(len(q), len(h))
    words = f"one number, or as many as the {len(q)} of --drop"
    _check("--variance-drop", variance_drop, words, holds={len(q), len(h)} <= {1, n_pairs})
    return list(zip(q * n_pairs if len(q) == 1 else q, h * n_pairs if len(h) == 1 else h,
                    strict=True))  # fmt: skip


DOCUMENTS = "10,20,30,40,50,100,300,400,500,1000"
RELEVANT = "5,10,30,50,100,500"
_EVERY_VALUE = "least, greatest: as if AP could have any value between those of the worst and the best order"


def ap_properties(
    documents: Annotated[
        str, typer.Option("--documents", "-n", metavar="N,...", help="N: ranks of the list.")
    ] = DOCUMENTS,
    relevant: Annotated[
        str, typer.Option("--relevant", "-r", metavar="R,...", help="R: relevant documents.")
    ] = RELEVANT,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            metavar="M",
            min=1,
            help="The list holds N of M documents, and not all relevant ones need be among them.",
            show_default="all R are in the list",
        ),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank",
            min=1,
            help="Instead: by how much AP changes when the document at this rank turns relevant,"
            " all R others above it (eq. 20).",
            show_default=False,
        ),
    ] = None,
    ap: Annotated[
        str, typer.Option("--ap", metavar="AP,...", help="With --rank: AP before.")
    ] = "0.1,0.3,0.5",
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Print what AP is at least, and on average in random order, for any N and R.

    Tables 1 and 2 of Kishida (2001), eq. 4 and 5, and the standard deviation beside them; with
    --rank table 3, eq. 20, and what can occur where not all R stand above that rank, as if AP could
    have any value between its least and its greatest. A cell that cannot occur is empty.

    Example: pooler ap-properties

    Example: pooler ap-properties --rank 101 --relevant 10,50,100
    """
    n_relevant = Axis("relevant", "R", whole_numbers("--relevant", relevant, least=1))
    if rank is not None:
        before = Axis("ap", "AP", decimals("--ap", ap))
        emit([_changes(rank, n_relevant, before, fmt), *_ranges(rank, n_relevant, before, fmt)], fmt)
        return
    n_documents = Axis("documents", "N", whole_numbers("--documents", documents, least=1))
    if size is not None and size < max(n_documents.values):
        raise ArgumentError("--size", "must be at least every N", size)
    emit(_orders(n_documents, n_relevant, size, fmt), fmt)


def _orders(n_documents: Axis, n_relevant: Axis, size: int | None, fmt: Format) -> list[Table]:
    """Make the tables of the worst order and of random order."""
    import numpy as np

    from store.analysis.measures.chance import (
        expected_average_precision,
        least_average_precision,
        variance_of_average_precision,
    )

    arguments = np.array(n_documents.values)[:, None], np.array(n_relevant.values), size
    found = (
        ("least", "Least AP: all relevant documents last (eq. 4)",
         least_average_precision(*arguments)),
        ("mean", "Mean AP in random order (eq. 5)", expected_average_precision(*arguments)),
        ("standard_deviation", "Standard deviation of AP in random order",
         np.sqrt(variance_of_average_precision(*arguments))),
    )  # fmt: skip
    reason = "more-relevant-than-documents"
    caption = "" if size is None else f"N of {size:,} documents, R of which are relevant"
    return [
        grid_table(name, n_documents, n_relevant, _cells(values), fmt, title=title,
                   reason=reason, digits=3 if size is None else 6, caption=caption)
        for name, title, values in found
    ]  # fmt: skip


def _changes(rank: int, n_relevant: Axis, ap: Axis, fmt: Format) -> Table:
    """Make the table of the change by one discovery."""
    from store.analysis.measures.chance import least_average_precision
    from store.analysis.undiscovered.sensitivity import discovery_effect_below

    values = []
    for count in map(int, n_relevant.values):
        # With all R above the rank, AP is at least that of the worst order.
        least = float(least_average_precision(rank - 1, count)) if count < rank else 2.0
        values.append([
            None if before < least - 1e-12 else discovery_effect_below(count, before, rank)
            for before in ap.values
        ])  # fmt: skip
    title = f"Change of AP when the document at rank {rank} turns relevant (eq. 20)"
    caption = "-: all R above that rank already give a higher AP, so that it cannot occur"
    return grid_table("change", n_relevant, ap, values, fmt, title=title, digits=5,
                      reason="cannot-occur",
                      caption=caption if any(None in line for line in values) else "")  # fmt: skip


def _ranges(rank: int, n_relevant: Axis, ap: Axis, fmt: Format) -> list[Table]:
    """Make the tables of the least and the greatest change over what can stand above the rank."""
    from store.analysis.undiscovered.sensitivity import discovery_range

    found = [
        [discovery_range(int(count), before, rank) for before in ap.values] for count in n_relevant.values
    ]
    above = f"that can occur, with no relevant document below rank {rank} (eq. 19)"
    return [
        grid_table(name, n_relevant, ap,
                   [[None if one is None else one[which] for one in line] for line in found],
                   fmt, title=f"{words} change {above}", digits=5, reason="cannot-occur",
                   caption=_EVERY_VALUE if name == "greatest" else "")
        for which, (name, words) in enumerate((("least", "Least"), ("greatest", "Greatest")))
    ]  # fmt: skip


def _cells(values: NDArray[np.float64]) -> Sequence[Sequence[float | None]]:
    """Return numbers, ``None`` for NaN."""
    return [[None if isnan(value) else value for value in line] for line in values.tolist()]
