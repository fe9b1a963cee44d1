"""What `pooler variation` tells of runs and of pairs, in plain characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.bar_plot import Reading, plot_bars, plot_intervals
from pooler.cli.console import counted
from pooler.cli.line_breaks import broken
from store.sanitise import sanitise_line

if TYPE_CHECKING:
    from pooler.cli.console import Cell, Table

MOST_PAIRS = 45
"""Bars of pairs that are drawn; all of neighbours are."""
REACH = 0.05
"""Probability that the axis of pairs reaches at least: small ones have to look small."""


def interval_lines(table: Table, neighbours: Table | None, *, width: int) -> list[str]:
    """Draw the expected MAP of every run with its interval, the highest first.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.variation_tables.of_runs`.
    neighbours : Table, optional
        Of `pooler.cli.variation_tables.of_pairs`, of neighbours alone; ``None`` = there is one run.
    width : int
        Columns of a terminal.

    Returns
    -------
    list of str
        Beside each run stands how likely the next one is above it in another judging.
    """
    rows = {str(row["run"]): row for row in table.rows}
    pairs = neighbours.rows if neighbours is not None else []
    passed: dict[str, Cell] = {str(row["a"]): row["reversed"] for row in pairs}
    # By the pairs, for they say who is ahead of whom; the last run is ahead of nobody.
    tags = [*passed, *(tag for tag in rows if tag not in passed)]
    readings = [
        Reading(
            sanitise_line(tag),
            _number(rows[tag]["mean"]),
            _number(rows[tag]["low"]),
            _number(rows[tag]["high"]),
            notes=(_written(passed.get(tag)),),
        )
        for tag in tags
    ]
    lines = plot_intervals(
        readings, title="Expected MAP", value_words="expected MAP",
        interval_words="low to high, about 95% of judgings",
        heading="run", headings=("passed",), width=width,
    )  # fmt: skip
    words = "passed: how likely another judging puts the run below above this one"
    return lines + (broken(words, width) if pairs else [])


def pair_lines(table: Table, *, neighbours_only: bool, width: int) -> list[str]:
    """Draw how likely pairs of runs turn about.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.variation_tables.of_pairs`.
    neighbours_only : bool
        Whether the pairs are neighbours: all are drawn, in their order. Of others the most likely.
    width : int
        Columns of a terminal.
    """
    rows = table.rows
    title = "How likely another judging puts the second run above the first"
    if not neighbours_only:
        rows = sorted(rows, key=lambda row: -(_number(row["reversed"]) or 0.0))[:MOST_PAIRS]
        if len(rows) < len(table.rows):
            title += f": the {len(rows):,} most likely of {counted(len(table.rows), 'pair')}"
    readings = [
        Reading(
            f"{sanitise_line(str(row['a']))} > {sanitise_line(str(row['b']))}",
            _number(row["reversed"]),
            notes=(_written(row["reversed"]),),
        )
        for row in rows
    ]
    return plot_bars(
        readings,
        title=title,
        heading="pair",
        headings=("reversed",),
        fill="#",
        reach=REACH,
        width=width,
    )


def _number(cell: Cell) -> float | None:
    """Return a cell as a number; ``None`` where it is undefined."""
    return float(cell) if isinstance(cell, int | float) else None


def _written(cell: Cell) -> str:
    """Write a probability as the table does."""
    return f"{cell:.4f}" if isinstance(cell, float) else "-"
