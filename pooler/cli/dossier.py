"""One thing, written out: facts in two columns, then small tables; or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pooler.cli.console import emit, json_text, write_lines
from pooler.results.printed import Cell, Column, Format, Table, explained, shown, without_empty, without_same
from pooler.streams import PAGE
from store.text import sanitise_line

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
        More of it; for people without the tables that have no row, and without columns that are
        empty or the same in every row.
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
    (name, value), *others = ((name.replace("_", " "), shown(one)) for name, one in facts.items())
    room = PAGE - _GAP - max(cell_len(name) for name in facts)
    first.columns = (Column("name", name), Column("value", sanitise_line(str(value)), most=room))
    first.rows = [{"name": name, "value": value} for name, value in others]
    lines = explained(facts)
    first.caption = "\n".join(lines)
    filled = [table for table in tables if table.rows]
    for table in filled:
        table.title = table.title or table.name.replace("_", " ")
        columns = without_empty(table.columns, table.rows)
        names = [column.heading or column.name for column in columns]
        table.columns, same = without_same(columns, table.rows)
        # What a word means is said once, where it comes first.
        new = [line for line in explained(names) if line not in lines]
        lines += new
        table.caption = "\n".join(filter(None, (same, *new, table.caption)))
    emit([first, *filled], fmt)
