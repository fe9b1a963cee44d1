"""`pooler required-difference`: how far apart two MAPs must be before the difference counts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import inf
from typing import Annotated

import typer

from pooler.cli.console import Cell, Column, Format, Table, emit
from pooler.cli.grid import Axis, grid_table
from pooler.cli.number_lists import decimals, whole_numbers
from pooler.cli.options import FormatOption
from store.errors import ArgumentError


def required_difference(
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
            help="Share of the variance that is there because judges vary, to be left out.",
        ),
    ] = "0",
    drop: Annotated[
        str,
        typer.Option(
            "--drop",
            "-Q",
            metavar="Q,...",
            help="Share by which the difference falls once undiscovered documents are known.",
        ),
    ] = "0",
    variance_drop: Annotated[
        str,
        typer.Option(
            "--variance-drop",
            "-H",
            metavar="H,...",
            help="Share by which the variance falls then; as many as of Q.",
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
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Print the difference of two MAPs that a paired t test finds significant.

    Tables 7 and 8 of Kishida (2001), eq. 23 and 24, rounded up as there; --format json and tsv have
    every digit.

    Example: pooler required-difference --variation 0,0.05,0.10,0.15

    Example: pooler required-difference -Q 0.15,0.10 -H 0.10,0.05 --power 0.8
    """
    import numpy as np

    from store.analysis.required_difference import required_difference as required
    from store.analysis.required_difference import round_up

    down = Axis("variance", "s2", _shares("--variance", variance, least=0.0, below=inf))
    across = Axis("topics", "L", whole_numbers("--topics", topics, least=2))
    _check("--alpha", alpha, "above 0 and below 1", holds=0 < alpha < 1)
    _check("--power", power, "at least 0.5 and below 1", holds=0.5 <= power < 1)
    tables: list[Table] = []
    rows: list[Mapping[str, Cell]] = []
    for share, (q, h) in product(_shares("--variation", variation, least=0.0, below=1.0),
                                 _drops(drop, variance_drop)):  # fmt: skip
        values = required(
            np.array(down.values)[:, None], np.array(across.values), variation_share=share,
            difference_drop=q, variance_drop=h, alpha=alpha, power=power,
        )  # fmt: skip
        title = f"Difference needed at {alpha:g}" + ("" if power == 0.5 else f", power {power:g}")
        title += f"; K={share:g}, Q={q:g}, H={h:g}"
        tables.append(grid_table("difference", down, across, round_up(values).tolist(), fmt,
                                 title=title))  # fmt: skip
        rows += [
            {"k": share, "q": q, "h": h, "variance": down.values[line], "topics": n_topics,
             "difference": float(values[line, place])}
            for line in range(len(down.values)) for place, n_topics in enumerate(across.values)
        ]  # fmt: skip
    if fmt is not Format.TABLE:
        names = ("k", "q", "h", "variance", "topics", "difference")
        tables = [Table("required_difference", [Column(name) for name in names], rows)]
    emit(tables, fmt)


def _shares(name: str, text: str, *, least: float, below: float) -> list[float]:
    """Read numbers that have to lie in a range."""
    values = decimals(name, text)
    upwards = f"at least {least:g}" if least > -inf else ""
    words = " and ".join(filter(None, (upwards, "below 1" if below == 1 else "")))
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
