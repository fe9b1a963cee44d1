"""Columns of lists and dossiers: which go without saying, and what those with odd names count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pooler.cli.console import Cell, Column

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
    "rank_changes_left_out": "places that these runs lose or gain, added up",
    "rank_changes_significant": "those past a run that is significantly different",
    "tau_all_left_out": "Kendall's tau of the orders before and after",
    "newcomer_loses": "mean loss of AP of a run left out (Webber and Park)",
    "relevant_to_twice_the_depth": "a guess, between relevant low and relevant high",
    "relevant_known_there": "those of them that are judged relevant already",
}
"""What columns are, by their headings."""


def without_same(
    columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]
) -> tuple[list[Column], str]:
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
