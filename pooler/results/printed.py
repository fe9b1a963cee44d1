"""Column, Table: what commands print that do not go through `pooler.results.table` yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pooler.results import table as results

Cell = str | int | float | bool | None


class Format(StrEnum):
    """How a table is written."""

    TABLE = "table"
    JSON = "json"
    TSV = "tsv"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    """For programs: lower case, underscores."""
    heading: str = ""
    """For people; default the name with blanks."""
    digits: int | None = None
    """Decimals shown to people; programs get every digit."""
    most: int | None = None
    """Columns of a terminal that a cell of text has at most: people see more of it on the lines
    below, programs in one."""
    can_go: bool = False
    """Left out, and said so, where a terminal would be too narrow for the names beside it."""


@dataclass(slots=True)
class Table:
    """A result with named columns; an undefined cell is ``None`` beside a column of reasons."""

    name: str
    columns: Sequence[Column]
    rows: list[Mapping[str, Cell]] = field(default_factory=list)
    title: str = ""
    caption: str = ""


UNSAID: Mapping[str, Sequence[Cell] | None] = {
    **dict.fromkeys(("cannot", "skipped", "unjudged", "outside", "undecided"), (0,)),
    **dict.fromkeys(("text", "listed"), (True, False)),
    **dict.fromkeys(("withdrawn", "disabled"), (False,)),
    **dict.fromkeys(("topics", "runs", "round", "iteration", "imported_at", "made_at")),
    "state": ("judged",),
    "revision": (1,),
}
"""Columns that a table for people says in its caption where all rows have one of these values, or,
where none stand here, where all of several rows have the same."""

WORDS = {
    "listed": "a topics or documents file names it, not runs or qrels alone",
    "outside": "judged, but in no pool",
    "undecided": "with a note or a passage alone, or with a decision taken back",
    "round": "label of a pool, which its judgements carry in column 2 of qrels",
    "position": "place in the order in which judges see the topic, from 0",
    "priority": "what the strategy thought of the document, higher first",
    "judged_outside_pool": "judged, but not among these documents",
    "unique": "documents of the pool that one run, or group, alone brought",
    "mean_change_left_out": "of AP, when runs or groups are left out in turn",
    "rank_changes_left_out": "places that each run alone loses or gains, added up",
    "rank_changes_significant": "those past a run that is significantly different",
    "tau_all_left_out": "Kendall's tau of the orders before and after",
    "tau_ap_all_left_out": "the same by tau_AP, which weighs the first places most",
    "newcomer_loses": "mean loss of AP of a run left out (Webber and Park)",
    "unique_by_run": "as unique, of single runs; so are the next two",
    "relevant_to_twice_the_depth": "a guess, between relevant low and relevant high",
    "relevant_known_there": "those of them that are judged relevant already",
}
"""What columns are, by their headings."""


def without_same(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> tuple[list[Column], str]:
    """Leave out columns that say the same of every row, and say that instead.

    Parameters
    ----------
    columns : sequence of Column
        Of the table; the first, which names the rows, stays.
    rows : sequence of mapping of str to Cell
        Its rows.

    Returns
    -------
    list of Column, str
        Those that stay, and the words; empty when all stay.

    Examples
    --------
    >>> rows = [{"docno": "a", "skipped": 0, "round": "0"}, {"docno": "b", "skipped": 0}]
    >>> columns = [Column(name) for name in ("docno", "skipped", "round")]
    >>> kept, words = without_same(columns, rows)
    >>> [one.name for one in kept], words
    (['docno', 'round'], 'the same in every row: skipped 0')
    """
    kept, same = [*columns[:1]], []
    for column in columns[1:]:
        cells = [row.get(column.name) for row in rows]
        if cells and cells.count(cells[0]) == len(cells) and _is_unsaid(column, cells):
            same.append(f"{column.heading or column.name} {shown(cells[0])}")
        else:
            kept.append(column)
    return kept, f"the same in every row: {', '.join(same)}" if same else ""


def explained(names: Iterable[str]) -> list[str]:
    """Return a line for each name of a column that needs one.

    Examples
    --------
    >>> explained(["topic", "outside"])
    ['outside: judged, but in no pool']
    """
    return [f"{name}: {WORDS[name]}".replace("_", " ") for name in names if name in WORDS]


def shown(value: Cell) -> Cell:
    """Write a fact for people: all of one column are text, so numbers are too."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def _is_unsaid(column: Column, cells: Sequence[Cell]) -> bool:
    """Tell whether a column may go whose cells are all alike."""
    if column.name not in UNSAID:
        return False
    values = UNSAID[column.name]
    return len(cells) > 1 if values is None else cells[0] in values


def without_empty(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> list[Column]:
    """Return the columns that say something in at least one row."""
    return [one for one in columns if any(row.get(one.name) not in (None, "") for row in rows)]


def printed_columns(columns: Sequence[results.Column]) -> list[Column]:
    """Return columns of results as a report takes them."""
    return [Column(one.name, one.heading, one.digits) for one in columns]


def printed(table: results.Table) -> Table:
    """Return a table of results as a report takes it."""
    columns = printed_columns(table.columns)
    rows: list[Any] = table.to_records()
    said = [
        one for one in table.columns if one.about and (one.show != "if_any" or any(table.cells(one.name)))
    ]
    about = dict.fromkeys(f"{one.title}: {one.about}." for one in said)
    return Table(table.name, columns, rows, table.title, "\n".join([*table.notes, *about]))
