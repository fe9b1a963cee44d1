"""Required-difference, ap-properties."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Annotated

import typer

from pooler.cli.measure.sensitivity import ScenarioName
from pooler.cli.options import decimals, whole_numbers
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError, ContradictionError

_OF_TABLES = ("variance", "topics", "drop", "variance_drop")
_OF_RUNS = ("depth", "scenario", "neighbours")
JUDGES = "judges"
"""What `--variation` takes for the share that each pair has by its judges."""


@command
def required_difference(
    given: SourceOptions,
    output: Output,
    *,
    everything: Annotated[bool, option("--all", "One row for every pair of runs of the collection.")] = False,
    neighbours: Annotated[
        bool, option("--neighbours", "Of the runs, only pairs next to each other in the order by MAP.")
    ] = False,
    depth: Annotated[
        int | None,
        option(
            "--depth -N",
            "With runs: N, the pool's depth; the unjudged documents at rank N+1 of the lower run turn out"
            " relevant.",
            min=1,
            show_default="the pools', where they have one",
        ),
    ] = None,
    scenario: Annotated[
        ScenarioName, option("--scenario", "With runs: who gains from a document; see `sensitivity`.")
    ] = "shared",
    variance: Annotated[
        str, option("--variance S2,...", "Variance over topics of the difference between two runs.")
    ] = "0.01,0.03,0.05,0.07,0.09",
    topics: Annotated[str, option("--topics L,...", "Numbers of topics.")] = "30,50,100,150",
    variation: Annotated[
        str,
        option(
            "--variation -K K,...",
            "Share of the variance that comes from differences between judges and is left out; with runs one"
            " number, or `judges` = each pair's share, from the collection's judges.",
        ),
    ] = "0",
    drop: Annotated[
        str,
        option(
            "--drop -Q Q,...",
            "Share by which the difference falls once the undiscovered documents are known; at 1 the order"
            " turns.",
        ),
    ] = "0",
    variance_drop: Annotated[
        str,
        option(
            "--variance-drop -H H,...",
            "Share by which the variance then falls, as many values as Q: of the whole variance where K is"
            " 0, otherwise of what K leaves.",
        ),
    ] = "0",
    alpha: Annotated[float, option("--alpha", "Level of significance, two-sided.")] = 0.05,
    power: Annotated[
        float,
        option(
            "--power",
            "Wanted probability of a significant result, at least 0.5; 0.5 gives the smallest observed"
            " difference that is significant.",
        ),
    ] = 0.5,
) -> None:
    """Print the difference in MAP needed for significance.

    Without runs: tables 7 and 8 of Kishida (2001), eq. 23 and 24, rounded up as in the paper; --format
    json and tsv have every digit. With runs, or --all: one row for every two of them, with the
    variance, the number of topics, Q and H of their own scores. `design` says how many topics a
    difference needs.

    Example: pooler required-difference --all --qrels alice

    Example: pooler required-difference -Q 0.15,0.10 -H 0.10,0.05 --power 0.8
    """
    from pooler.results.paper.required import required_difference as required

    output.check()
    _check("--alpha", alpha, "above 0 and below 1", holds=0 < alpha < 1)
    _check("--power", power, "at least 0.5 and below 1", holds=0.5 <= power < 1)
    if everything or given.runs or given.qrels is not None or given.listed is not None:
        _refuse(given, _OF_TABLES, "cannot be given with runs, whose scores determine it")
        share = None
        if variation != JUDGES:
            shares = _shares("--variation", variation, least=0.0, below=1.0)
            _check("--variation", variation, "one number with runs", holds=len(shares) == 1)
            share = shares[0]
        found = required(
            given.source(),
            variation=share,
            alpha=alpha,
            power=power,
            depth=depth,
            scenario=scenario,
            neighbours=neighbours,
            cutoff=given.cutoff,
        )
    else:
        _refuse(given, _OF_RUNS, "is for runs: name two, or --all")
        found = required(
            variation=_shares("--variation", variation, least=0.0, below=1.0),
            alpha=alpha,
            power=power,
            variance=_shares("--variance", variance, least=0.0, below=inf),
            topics=whole_numbers("--topics", topics, least=2),
            drops=_drops(drop, variance_drop),
        )
    render(found, output)


def _refuse(given: SourceOptions, options: Sequence[str], requirement: str) -> None:
    """Raise `ArgumentError` for the first of some options that was given."""
    for name in options:
        if given.names(name):
            raise ArgumentError(name, requirement, str(given.ctx.params[name]))


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
    if not holds:
        raise ArgumentError(name, f"must be {words}", value)


def _drops(drop: str, variance_drop: str) -> list[tuple[float, float]]:
    """Pair Q with H, one for one; a single one goes with each of the other."""
    q = _shares("--drop", drop, least=-inf, below=1.0)
    h = _shares("--variance-drop", variance_drop, least=-inf, below=1.0)
    n_pairs = max(len(q), len(h))
    words = f"one number, or as many as the {len(q)} of --drop"
    _check("--variance-drop", variance_drop, words, holds={len(q), len(h)} <= {1, n_pairs})
    return list(zip(q * n_pairs if len(q) == 1 else q, h * n_pairs if len(h) == 1 else h, strict=True))


DOCUMENTS = "10,20,30,40,50,100,300,400,500,1000"
RELEVANT = "5,10,30,50,100,500"


@command
def ap_properties(
    ctx: typer.Context,
    documents: Annotated[str, option("--documents -n N,...", "N: ranks of the list.")] = DOCUMENTS,
    relevant: Annotated[str, option("--relevant -r R,...", "R: relevant documents.")] = RELEVANT,
    size: Annotated[
        int | None,
        option(
            "--size M",
            "The list holds N of M documents, and some relevant ones may be missing from it.",
            min=1,
            show_default="all R are in the list",
        ),
    ] = None,
    rank: Annotated[
        int | None,
        option(
            "--rank",
            "Instead: by how much AP changes when the document at this rank turns relevant and all R others"
            " are above it (eq. 20).",
            min=1,
        ),
    ] = None,
    ap: Annotated[str, option("--ap AP,...", "With --rank: AP before.")] = "0.1,0.3,0.5",
    as_printed: Annotated[
        bool,
        option(
            "--as-printed", "With --rank: also the cells that cannot occur, as table 3 of the paper has them."
        ),
    ] = False,
    swap: Annotated[
        str | None,
        option(
            "--swap RANK,RANK",
            "Instead: the change of AP when the documents at two ranks change places (eq. 6); --ranks says"
            " where the relevant ones are.",
        ),
    ] = None,
    ranks: Annotated[
        str, option("--ranks RANK,...", "With --swap: ranks of the relevant documents.")
    ] = "1,2",
    *,
    output: Output,
) -> None:
    """Print the least and the expected AP for any N and R.

    Tables 1 and 2 of Kishida (2001), eq. 4 and 5, with the standard deviation added. With --rank: table
    3, eq. 20, and what can happen where not all R documents are above that rank, as if AP could take
    any value between its least and its greatest. A cell that cannot occur is empty.

    Example: pooler ap-properties --rank 101 --relevant 10,50,100

    Example: pooler ap-properties --swap 2,3 --ranks 1,2
    """
    from pooler.results.paper.required import ap_properties as properties
    from pooler.results.paper.required import swap_of_ranks

    output.check()
    _check_way(ctx, swap=swap is not None, rank=rank is not None)
    if swap is not None:
        pair = whole_numbers("--swap", swap, least=1)
        if len(pair) != 2:
            raise ArgumentError("--swap", "must be two ranks, as in 2,3", swap)
        render(swap_of_ranks(whole_numbers("--ranks", ranks, least=1), *pair), output)
        return
    before = decimals("--ap", ap)
    for one in before:
        _check("--ap", one, "between 0 and 1", holds=0 <= one <= 1)
    found = properties(
        whole_numbers("--documents", documents, least=1),
        whole_numbers("--relevant", relevant, least=1),
        size=size,
        rank=rank,
        ap=before,
        as_printed=as_printed,
    )
    render(found, output)


def _check_way(ctx: typer.Context, *, swap: bool, rank: bool) -> None:
    needed = {"ranks": ("--swap", swap), "ap": ("--rank", rank), "as_printed": ("--rank", rank)}
    without: dict[str, tuple[str, ...]] = {}
    if swap:
        without["--swap"] = ("documents", "relevant", "size", "rank", "ap", "as_printed")
    if rank:
        without["--rank"] = ("documents", "size")
    given = [
        str(name) for name in ctx.params if getattr(ctx.get_parameter_source(name), "name", "") != "DEFAULT"
    ]
    for name in given:
        for way, excluded in without.items():
            if name in excluded:
                raise ContradictionError(name, f"has no meaning with {way}", None)
        if name in needed and not needed[name][1]:
            raise ContradictionError(name, f"needs {needed[name][0]}", None)
