"""One thing, written out: facts in two columns, then small tables; or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pooler.cli.console import Cell, Column, Format, Table, emit, json_text, write_lines
from pooler.cli.titles import WIDTH
from store.sanitise import sanitise_line

_GAP = 2
"""Columns of a terminal between two columns of a table."""


def emit_dossier(facts: Mapping[str, Cell], tables: Sequence[Table], fmt: Format) -> None:
    """Write everything known of one thing.

    Parameters
    ----------
    facts : mapping of str to Cell
        By name, for programs; people see the name with blanks. The first names the thing.
        ``None`` = undefined, a dash.
    tables : sequence of Table
        More of it; for people without empty columns, and without the tables that have no row.
    fmt : Format
        JSON is one object: the facts, and every table's name with its list of rows. TSV has the
        facts as a table of ``name`` and ``value``.
    """
    if fmt is Format.JSON:
        data: dict[str, Any] = dict(facts)
        for table in tables:
            names = [column.name for column in table.columns]
            data[table.name] = [{name: row.get(name) for name in names} for row in table.rows]
        write_lines(None, [json_text(data)])
        return
    first = Table("facts", (Column("name"), Column("value")))
    if fmt is Format.TSV:
        first.rows = [{"name": name, "value": value} for name, value in facts.items()]
        emit([first, *tables], fmt)
        return
    from rich.cells import cell_len

    # The first fact names the thing, so it is the heading.
    (name, value), *others = ((name.replace("_", " "), _shown(one)) for name, one in facts.items())
    room = WIDTH - _GAP - max(cell_len(name) for name in facts)
    first.columns = (Column("name", name), Column("value", sanitise_line(str(value)), most=room))
    first.rows = [{"name": name, "value": value} for name, value in others]
    shown = [table for table in tables if table.rows]
    for table in shown:
        table.title = table.title or table.name.replace("_", " ")
        table.columns = without_empty(table.columns, table.rows)
    emit([first, *shown], fmt)


def without_empty(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> list[Column]:
    """Return the columns that say something in at least one row."""
    return [one for one in columns if any(row.get(one.name) not in (None, "") for row in rows)]


def without_same(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Cell]],
    values: Mapping[str, Sequence[Cell]],
) -> tuple[list[Column], str]:
    """Leave out columns that say the same of every row, and say that instead.

    Parameters
    ----------
    columns : sequence of Column
        Of the table.
    rows : sequence of mapping of str to Cell
        Its rows.
    values : mapping of str to sequence of Cell
        Names of the columns that may go, and what all their cells must be for that: one of these.

    Returns
    -------
    list of Column, str
        Those that stay, and the words; empty when all stay.

    Examples
    --------
    >>> rows = [{"docno": "a", "skipped": 0, "text": True}, {"docno": "b", "skipped": 0}]
    >>> columns = [Column(name) for name in ("docno", "skipped", "text")]
    >>> kept, words = without_same(columns, rows, {"skipped": (0,), "text": (True, False)})
    >>> [one.name for one in kept], words
    (['docno', 'text'], 'the same in every row: skipped 0')
    """
    kept, same = [], []
    for column in columns:
        cells = [row.get(column.name) for row in rows]
        if (
            cells
            and cells[0] in values.get(column.name, ())
            and cells.count(cells[0]) == len(cells)
        ):
            same.append(f"{column.heading or column.name} {_shown(cells[0])}")
        else:
            kept.append(column)
    return kept, f"the same in every row: {', '.join(same)}" if same else ""


def _shown(value: Cell) -> Cell:
    """Write a fact for people: all of one column are text, so numbers are too."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}"
