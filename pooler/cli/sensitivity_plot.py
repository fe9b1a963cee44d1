"""What `pooler sensitivity` tells of runs, in plain characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.bar_plot import Reading, plot_bars, plot_intervals
from store.sanitise import sanitise_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pooler.cli.console import Cell, Table


def change_lines(table: Table, *, width: int) -> list[str]:
    """Draw the change of every run's MAP, the largest first.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.sensitivity_runs.by_run`.
    width : int
        Columns of a terminal.
    """
    readings = [
        Reading(
            sanitise_line(str(row["run"])),
            _number(row["change"]),
            notes=(_written(row["change"], sign="+"), _written(row["swapped"])),
            reason=str(row["reason"] or ""),
        )
        for row in _falling(table, "change")
    ]
    return plot_bars(
        readings, title=f"{table.title}: change of each run's MAP", heading="run",
        headings=("change", "swapped"), width=width,
    )  # fmt: skip


def limit_lines(table: Table, *, width: int) -> list[str]:
    """Draw the limits of every run's MAP, the highest MAP first.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.sensitivity_missing.by_run`.
    width : int
        Columns of a terminal.
    """
    readings = [
        Reading(
            sanitise_line(str(row["run"])),
            _number(row["map_before"]),
            _number(row["map_low"]),
            _number(row["map_high"]),
            notes=(_written(row["map_before"]),),
            reason=str(row["reason"] or ""),
        )
        for row in _falling(table, "map_before")
    ]
    return plot_intervals(
        readings, title=table.title, value_words="MAP as judged", interval_words="low to high",
        heading="run", headings=("MAP",), width=width,
    )  # fmt: skip


def _falling(table: Table, name: str) -> list[Mapping[str, Cell]]:
    """Return the rows by a column, the highest number first and undefined ones last."""

    def key(row: Mapping[str, Cell]) -> tuple[bool, float]:
        value = _number(row[name])
        return value is None, -(value or 0.0)

    return sorted(table.rows, key=key)


def _number(cell: Cell) -> float | None:
    """Return a cell as a number; ``None`` where it is undefined."""
    return float(cell) if isinstance(cell, int | float) else None


def _written(cell: Cell, *, sign: str = "") -> str:
    """Write a cell as the table does; a change with its sign."""
    if isinstance(cell, float):
        return f"{cell:{sign}.4f}"
    return f"{cell:,}" if isinstance(cell, int) else "-"
