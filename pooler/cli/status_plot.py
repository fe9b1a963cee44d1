"""What became of each judge's documents, in bars of plain characters."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

from pooler.cli.bar_plot import Stack, plot_stacks
from pooler.cli.status import grade_heading
from store.sanitise import sanitise_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pooler.cli.console import Cell, Table
    from store.records import Scale

_WITHOUT_GRADE = {
    "skipped": ("/", "skipped"),
    "cannot": ("!", "cannot be judged"),
    "unjudged": (".", "unjudged"),
}
"""By column: a character, and what it stands for."""
_MOST_GRADES = 12
"""Scales of more grades have one fill for all."""
_JUDGED = ("#", "judged")


def status_lines(table: Table, scale: Scale, *, width: int) -> list[str]:
    """Draw a bar for every row of the table of progress.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.status.progress_tables`; with rows.
    scale : Scale
        The declared grades.
    width : int
        Columns of a terminal.

    Returns
    -------
    list of str
        Of several judges by topic the bars of each judge stand together.
    """
    by_topic = any(column.name == "topic" for column in table.columns)
    parts = {**_grade_fills(scale), **_WITHOUT_GRADE}
    columns = [_columns(name, scale) for name in parts]
    judges = list(dict.fromkeys(str(row["judge"]) for row in table.rows))
    stacks = [
        Stack(
            label=sanitise_line(str(row["topic"] if by_topic else judge)),
            parts=[sum(_count(row, name) for name in names) for names in columns],
            notes=[_written(row["judged"]), _written(row["pooled"])],
            group=sanitise_line(judge) if by_topic and len(judges) > 1 else "",
        )
        for judge in judges
        for row in table.rows
        if row["judge"] == judge
    ]
    title = "What became of the documents"
    if any(_count(row, "outside") for row in table.rows):
        title += ", those judged outside among them"
    return plot_stacks(
        stacks, list(parts.values()), title=title, heading="topic" if by_topic else "judge",
        headings=("judged", "pooled"), width=width,
    )  # fmt: skip


def _grade_fills(scale: Scale) -> dict[str, tuple[str, str]]:
    """Choose a character for every grade: as its column is called, else its key, else a letter."""
    if len(scale.grades) > _MOST_GRADES:
        return {"judged": _JUDGED}
    taken = {character for character, _ in _WITHOUT_GRADE.values()}
    fills = {}
    for grade in scale.grades:
        heading = grade_heading(grade)
        character = next(
            one
            for one in (heading, grade.key, *ascii_letters)
            if len(one) == 1 and "!" <= one <= "~" and one not in taken
        )
        taken.add(character)
        words = grade.label if character == heading else f"{heading} {grade.label}"
        fills[f"grade_{grade.value}"] = character, sanitise_line(words)
    return fills


def _columns(name: str, scale: Scale) -> list[str]:
    """Return the columns that a part is the sum of."""
    return [f"grade_{value}" for value in scale.values] if name == "judged" else [name]


def _count(row: Mapping[str, Cell], name: str) -> int:
    """Return a count; 0 where an adjudicator owes nothing."""
    cell = row[name]
    return cell if isinstance(cell, int) else 0


def _written(cell: Cell) -> str:
    """Write a count as the table does."""
    return f"{cell:,}" if isinstance(cell, int) else "-"
