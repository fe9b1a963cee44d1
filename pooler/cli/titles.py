"""Titles in tables for people, cut to the room there is."""

from __future__ import annotations

from pooler.cli.console import Format, Table
from store.sanitise import sanitise_line

MOST = 40
"""Columns of a terminal that a title has at most, ..."""
LEAST = 12
"""... and at least, where other columns of the table need the room."""
WIDTH = 92
"""Columns of a terminal that a table with titles keeps to, where it can."""


def short_title(title: str, fmt: Format, room: int = MOST) -> str:
    """Cut a title for people.

    Parameters
    ----------
    title : str
        Raw.
    fmt : Format
        Programs get all of it.
    room : int, default=MOST
        Columns of a terminal; a wide character has two.

    Examples
    --------
    >>> short_title("Mung bean sprouts", Format.TABLE, 12), short_title("ハーブを", Format.TABLE, 8)
    ('Mung bean...', 'ハーブを')
    >>> short_title("ハーブを凍らせる", Format.TABLE, 12)
    'ハーブを...'
    """
    if fmt is not Format.TABLE:
        return title
    from rich.cells import cell_len, set_cell_size

    # Characters that would steer a terminal are shown as others, which have a width.
    title = sanitise_line(title)
    # A wide character that is cut in two leaves a blank.
    return title if cell_len(title) <= room else set_cell_size(title, room - 3).rstrip() + "..."


def fit_titles(table: Table) -> None:
    """Cut the column ``title`` of a table for people, so that the table is `WIDTH` wide at most.

    Other columns are not cut; where they are wide titles keep `LEAST`.
    """
    if all(one.name != "title" for one in table.columns):
        return
    from rich.cells import cell_len

    room = WIDTH
    for one in table.columns:
        if one.name != "title":
            cells = [str(row[one.name]) for row in table.rows]
            room -= 2 + max(map(cell_len, [one.heading or one.name, *cells]))
    room = min(max(room, LEAST), MOST)
    table.rows = [
        {**row, "title": None if row["title"] is None else short_title(str(row["title"]),
                                                                     Format.TABLE, room)}
        for row in table.rows
    ]  # fmt: skip
