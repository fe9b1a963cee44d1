"""`pooler required-difference`: how far apart two MAPs must be before the difference counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Cell, Column, Format, Table, emit, progress
from pooler.cli.empty_topics import say_empty
from pooler.cli.given import Given, on_given_runs
from pooler.cli.grid import Axis, grid_table
from pooler.cli.number_lists import decimals, whole_numbers
from pooler.cli.sensitivity import ScenarioName, check_pair
from store.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pooler.cli.judged import Judged
    from store.analysis.pair_sensitivity import PairSensitivity

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
        typer.Option(
            "--neighbours", help="Of the runs: only those next to each other by MAP, in order."
        ),
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
        ScenarioName,
        typer.Option("--scenario", help="With runs: who gains from a document; `sensitivity`."),
    ] = ScenarioName.SHARED,
    variance: Annotated[
        str,
        typer.Option(
            "--variance",
            metavar="S2,...",
            help="Variance over topics of the differences of two runs.",
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
    alpha: Annotated[
        float, typer.Option("--alpha", help="Level of significance, two-sided.")
    ] = 0.05,
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
        emit([table], given.fmt)
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

    from store.analysis.required_difference import required_difference as required
    from store.analysis.required_difference import round_up

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
    from pooler.cli.required_of_runs import of_runs
    from store.analysis.pair_sensitivity import pair_sensitivity
    from store.analysis.required_of_pairs import required_of_pairs
    from store.arrays import judged_arrays

    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=given.cutoff)
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

    from pooler.cli.probable import load_probable
    from store.analysis.collection_variation import collection_variation, pair_components

    probable = load_probable(given, judged=judged).rankings
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
