"""Tables of a value by two things: a grid for people, one row a cell for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pooler.cli.console import Cell, Column, Format, Table


@dataclass(frozen=True, slots=True)
class Axis:
    """What runs down, or across."""

    name: str
    """For programs."""
    heading: str
    """For people."""
    values: Sequence[int | float]


def grid_table(
    name: str,
    down: Axis,
    across: Axis,
    values: Sequence[Sequence[float | None]],
    fmt: Format,
    *,
    title: str,
    reason: str = "",
    digits: int = 4,
    caption: str = "",
) -> Table:
    """Make a table of values by two things.

    Parameters
    ----------
    name : str
        Of the table.
    down, across : Axis
        What the rows and the columns are.
    values : sequence of sequences of float or None
        By `down`, then `across`; ``None`` = undefined.
    fmt : Format
        For whom.
    title : str
        Says what the values are.
    reason : str, optional
        Why a value is undefined, for programs; people read it in the caption.
    digits : int, default=4
        Decimals shown to people.
    caption : str, optional
        Below the grid.
    """
    rows: list[Mapping[str, Cell]] = []
    if fmt is not Format.TABLE:
        columns = [Column(down.name), Column(across.name), Column("value"), Column("reason")]
        for place, line in zip(down.values, values, strict=True):
            rows += [
                {down.name: place, across.name: column, "value": value,
                 "reason": reason if value is None else None}
                for column, value in zip(across.values, line, strict=True)
            ]  # fmt: skip
        return Table(name, columns, rows)
    # The heading of the rows is text, so that people see 0.05 and not 0.0500.
    columns = [Column(down.name, down.heading)]
    columns += [Column(f"{value:g}", f"{across.heading}={value:g}", digits)
                for value in across.values]  # fmt: skip
    for place, line in zip(down.values, values, strict=True):
        cells = zip((f"{value:g}" for value in across.values), line, strict=True)
        rows.append({down.name: f"{place:g}", **dict(cells)})
    return Table(name, columns, rows, title=title, caption=caption)
