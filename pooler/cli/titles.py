"""Titles in tables for people, folded to the room there is."""

from __future__ import annotations

from dataclasses import replace

from pooler.cli.console import Table
from pooler.cli.line_breaks import PAGE

MOST = 40
"""Columns of a terminal that a title has at most, ..."""
LEAST = 12
"""... and at least, where other columns of the table need the room."""


def fit_titles(table: Table) -> None:
    """Fold the column ``title`` of a table for people, so that the table is a page wide at most.

    Nothing is cut. Other columns are not folded; where they are wide titles keep `LEAST`.

    Examples
    --------
    >>> from pooler.cli.console import Column, Format, emit
    >>> table = Table("topics", [Column("topic"), Column("title"), Column("runs")])
    >>> title = "Mung bean sprouts that go brown in a cupboard, and how to keep them white"
    >>> table.rows = [{"topic": "G01", "title": title, "runs": 9}]
    >>> fit_titles(table)
    >>> emit([table], Format.TABLE)
    topic  title                                     runs
    ─────────────────────────────────────────────────────
    G01    Mung bean sprouts that go brown in a         9
           cupboard, and how to keep them white
    """
    if all(one.name != "title" for one in table.columns):
        return
    from rich.cells import cell_len

    room = PAGE
    for one in table.columns:
        if one.name != "title":
            cells = [str(row[one.name]) for row in table.rows]
            room -= 2 + max(map(cell_len, [one.heading or one.name, *cells]))
    room = min(max(room, LEAST), MOST)
    table.columns = [
        replace(one, most=room) if one.name == "title" else one for one in table.columns
    ]
