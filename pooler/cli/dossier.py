"""One thing, written out: facts in two columns, then small tables; or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pooler.cli.console import Cell, Column, Format, Table, emit, json_text, write_lines
from store.sanitise import sanitise_line


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
    # The first fact names the thing, so it is the heading.
    (name, value), *others = ((name.replace("_", " "), _shown(one)) for name, one in facts.items())
    first.columns = (Column("name", name), Column("value", sanitise_line(str(value))))
    first.rows = [{"name": name, "value": value} for name, value in others]
    shown = [table for table in tables if table.rows]
    for table in shown:
        table.title = table.title or table.name.replace("_", " ")
        table.columns = without_empty(table.columns, table.rows)
    emit([first, *shown], fmt)


def without_empty(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> list[Column]:
    """Return the columns that say something in at least one row."""
    return [one for one in columns if any(row.get(one.name) not in (None, "") for row in rows)]


def _shown(value: Cell) -> Cell:
    """Write a fact for people: all of one column are text, so numbers are too."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}"
