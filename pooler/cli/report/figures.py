"""Figures and tables of a report, drawn from the tables that commands print.

Nothing is computed: a bar is as long as the cell says, and the cell stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from pooler.cli.fit import cell_text
from pooler.report.drawing import Axis
from pooler.report.lines import Line, Lines
from pooler.report.page import Figure, PageColumn, PageTable
from pooler.report.rows import Bar, Bars, Dot, Dots
from pooler.results.printed import Cell, Column, Table, without_empty

Row = Mapping[str, Cell]
_MISSED = ("relevant_to_twice_the_depth", "relevant_low", "relevant_high")
"""Of the facts, a guess and its limits."""
_IN_WORDS = {
    "one-topic": "all in one topic, so there is no interval",
    "no-relevant": "no relevant document",
    "no-topics": "no topic with a relevant document",
    "single-grade": "both gave one grade to every document",
}
"""Reasons that are no words when their hyphens are taken away."""


def number(row: Row, name: str) -> float:
    """Return a cell as a number; NaN where it is undefined."""
    cell = row.get(name)
    return float(cell) if isinstance(cell, int | float) else math.nan


def page_table(
    table: Table,
    *,
    caption: str = "",
    names: Sequence[str] | None = None,
    command: str = "",
    interval: tuple[str, str, str] | None = None,
) -> PageTable:
    """Write a table of a command for the page.

    Parameters
    ----------
    table : console.Table
        With any columns; those without a cell are left out.
    caption : str, optional
        Default: the table's own.
    names : sequence of str, optional
        Columns that are shown, in this order. Default: all.
    command : str, optional
        Where the table is not a figure's.
    interval : (str, str, str), optional
        Columns of a value and of the two ends of its interval, see `rounded`.
    """
    known = {column.name: column for column in table.columns}
    chosen = list(known.values()) if names is None else [known[one] for one in names if one in known]
    columns = without_empty(chosen, table.rows) or chosen[:1]
    written = [{one.name: cell_text(row.get(one.name), one) for one in columns}
               for row in table.rows]  # fmt: skip
    if interval is not None:
        for texts, better in zip(written, rounded(table.rows, interval, written), strict=True):
            texts |= better
    return PageTable(
        " ".join((caption or table.caption or table.title).split()),
        tuple(PageColumn(_heading(one), _is_numeric(one, table.rows)) for one in columns),
        tuple(tuple(texts[one.name] for one in columns) for texts in written),
        command,
    )


def rounded(
    rows: Sequence[Row], interval: tuple[str, str, str], written: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Write values and their intervals with no more digits than the widest interval carries.

    Those are the decimals that its half-width needs to have two digits.

    Parameters
    ----------
    rows : sequence of mapping of str to Cell
        Of a command.
    interval : (str, str, str)
        Names of the value and of both ends.
    written : sequence of mapping of str to str
        The same as the command prints it: as many digits at most.

    Returns
    -------
    list of dict of str to str
        By name, a row each; those of `written` where no interval has a width.

    Examples
    --------
    >>> row = {"kappa": 0.41234, "low": 0.21, "high": 0.69}
    >>> texts = {"kappa": "0.4123", "low": "0.2100", "high": "0.6900"}
    >>> rounded([row], ("kappa", "low", "high"), [texts])
    [{'kappa': '0.41', 'low': '0.21', 'high': '0.69'}]
    """
    known = [{name: texts[name] for name in interval if name in texts} for texts in written]
    halves = [(number(row, interval[2]) - number(row, interval[1])) / 2 for row in rows]
    widest = max((half for half in halves if math.isfinite(half)), default=0.0)
    if widest <= 0:
        return known
    most = max(0, 1 - math.floor(math.log10(widest)))
    for row, texts in zip(rows, known, strict=True):
        for name, text in texts.items():
            if isinstance(row.get(name), float) and "e" not in text:
                decimals = min(most, len(text.partition(".")[2]))
                texts[name] = f"{round(number(row, name), decimals) + 0.0:,.{decimals}f}"
    return known


def facts_table(facts: Mapping[str, Cell], *, caption: str, command: str) -> PageTable:
    """Write the facts of a dossier for the page."""
    plain = Column("value")
    texts = {name: cell_text(cell, plain) for name, cell in facts.items()}
    texts |= rounded([facts], _MISSED, [texts])[0]
    rows = tuple((name.replace("_", " "), text) for name, text in texts.items())
    return PageTable(caption, (PageColumn("fact"), PageColumn("value")), rows, command)


def bars(
    table: Table,
    parts: Mapping[str, str],
    *,
    title: str,
    axis: Axis,
    label: Callable[[Row], str],
    is_stacked: bool = False,
) -> Bars:
    """Draw a bar a row for every part.

    Parameters
    ----------
    table : console.Table
        Its rows.
    parts : mapping of str to str
        Names of columns, and what the parts are called.
    title, axis
        Of the chart.
    label : callable
        Names a row.
    is_stacked : bool, default=False
        Whether the parts add up.
    """
    columns = {column.name: column for column in table.columns}
    rows = []
    for row in table.rows:
        texts = tuple(cell_text(row.get(name), columns[name]) for name in parts)
        rows.append(
            Bar(
                label(row),
                tuple(number(row, name) for name in parts),
                (" + ".join(texts),) if is_stacked else texts,
                reason_words(row),
            )
        )
    names = tuple(parts.values()) if len(parts) > 1 else ("",)
    ends = [(bar.label, value) for bar in rows for value in bar.values]
    return Bars(title, _described(ends, axis), axis, tuple(rows), names, is_stacked)


def dots(
    table: Table,
    value: str,
    interval: tuple[str, str],
    *,
    title: str,
    axis: Axis,
    label: Callable[[Row], str],
    reference: float | None = None,
    reference_label: str = "",
    count: str = "",
    few: int = 0,
) -> Dots:
    """Draw a dot and its interval a row.

    Parameters
    ----------
    table : console.Table
        Its rows.
    value : str
        Name of the column.
    interval : (str, str)
        Names of the columns of both ends.
    title, axis, reference, reference_label
        Of the chart.
    label : callable
        Names a row.
    count : str, optional
        Column that says of how many a value is; it stands beside the value.
    few : int, default=0
        Rows of fewer are grey.
    """
    columns = {column.name: column for column in table.columns}
    low, high = interval
    names = (value, low, high)
    written = [
        {name: cell_text(row.get(name), columns.get(name, Column(name))) for name in names}
        for row in table.rows
    ]
    rows = []
    for row, texts in zip(table.rows, rounded(table.rows, names, written), strict=True):
        middle, first, last = texts.values()
        ends = number(row, low), number(row, high)
        has_interval = row.get(low) is not None or row.get(high) is not None
        text = f"{middle} [{first}, {last}]" if has_interval else middle
        text += f", n {number(row, count):,.0f}" if count else ""
        is_faint = bool(count) and number(row, count) < few
        rows.append(Dot(label(row), number(row, value), *ends, text, reason_words(row), is_faint))
    described = _described([(dot.label, dot.value) for dot in rows], axis)
    return Dots(title, described, axis, tuple(rows), reference, reference_label)


def lines(
    table: Table,
    across: str,
    series: Mapping[str, str],
    *,
    title: str,
    x_axis: Axis,
    y_axis: Axis,
    stepped: frozenset[str] = frozenset(),
) -> Lines:
    """Draw a line a column.

    Parameters
    ----------
    table : console.Table
        Its rows in order.
    across : str
        Name of the column from left to right.
    series : mapping of str to str
        Names of columns, and what the lines are called.
    title, x_axis, y_axis
        Of the chart.
    stepped : frozenset of str
        Columns whose values stay until the next.
    """
    drawn = tuple(
        Line(text, tuple((number(row, across), number(row, name)) for row in table.rows), name in stepped)
        for name, text in series.items()
    )
    ends = [(f"{line.label}, {x_axis.label} {x:g}", y) for line in drawn for x, y in line.points]
    return Lines(title, _described(ends, y_axis), x_axis, y_axis, drawn)


def without_values(figure: Figure) -> str | None:
    """Say why a figure has nothing to show; ``None`` = it has."""
    chart = figure.chart
    if not isinstance(chart, Bars | Dots) or any(map(math.isfinite, _values(chart))):
        return None
    reasons = dict.fromkeys(row.reason for row in chart.rows if row.reason)
    why = f": {'; '.join(reasons)}" if reasons else ""
    return f"{figure.title}: every value is undefined{why}."


def _values(chart: Bars | Dots) -> Iterator[float]:
    """Yield every value of a chart."""
    for row in chart.rows:
        yield from row.values if isinstance(row, Bar) else (row.value,)


def in_order(table: Table, name: str, order: Mapping[Cell, int]) -> Table:
    """Return a table with its rows in another order; rows that it does not know come last."""
    rows = sorted(table.rows, key=lambda row: order.get(row.get(name), len(order)))
    return Table(table.name, table.columns, rows, table.title, table.caption)


def _described(values: Sequence[tuple[str, float]], axis: Axis) -> str:
    """Say between what a chart lies, for those who do not see it."""
    known = [(value, label) for label, value in values if not math.isnan(value)]
    if not known:
        return f"{axis.label}: no value."
    (least, lowest), (most, highest) = min(known), max(known)
    return f"{axis.label}: from {least:.4g} ({lowest}) to {most:.4g} ({highest})."


def reason_words(row: Row) -> str:
    """Say why something of a row is undefined."""
    reasons = (row.get("reason"), row.get("interval_reason"))
    codes = [code for one in reasons if one for code in str(one).split(", ")]
    return ", ".join(_IN_WORDS.get(code, code.replace("-", " ")) for code in codes)


def _heading(column: Column) -> str:
    """Name a column."""
    return column.heading or column.name.replace("_", " ")


def _is_numeric(column: Column, rows: Sequence[Row]) -> bool:
    """Tell whether a column holds numbers alone."""
    cells = [row.get(column.name) for row in rows]
    return all(
        cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells
    )
