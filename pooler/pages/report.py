"""Figures and tables of a page; a page as a function returns it: shown in a notebook, written to a file.

Nothing is computed: a bar is as long as the cell says, and the cell stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from pooler.files import write_whole
from pooler.messages import say
from pooler.pages.charts import (
    LINE,
    N_SERIES,
    PADDING,
    Axis,
    Chart,
    ChartLine,
    LineChart,
    Row,
    Rows,
    Sheet,
    draw_in_pieces,
    wrapped_label,
)
from pooler.pages.page import START, WIDTH, Figure, PageColumn, PageTable, ReportPage, Section, render
from pooler.tables import Cell, Column, Plot, Table, View, render_view, written
from pooler.version import __version__
from store.errors import ArgumentError
from store.text import counted

HEADINGS = {
    "ap_left_out": "AP if late",
    "cannot": "cannot be judged",
    "ended": "list ended",
    "interval_reason": "why no interval",
    "kappa": "Cohen's kappa",
    "kappa_high": "to",
    "kappa_low": "95% interval from",
    "macro_overlap": "overlap",
    "n": "documents",
    "quadratic": "weighted kappa",
    "quadratic_high": "to",
    "quadratic_low": "95% interval from",
    "rank_left_out": "rank if late",
    "raw": "same grade",
    "reason": "why undefined",
    "sd": "standard deviation",
    "simulated_error": "standard error of simulated",
    "unique": "brought alone",
    "unique_relevant": "relevant among them",
}
"""Words for columns whose names are too short for a page, by their names."""
Interval = tuple[str, str, str]
_IN_WORDS = {
    "one-topic": "all in one topic, so there is no interval",
    "no-relevant": "no relevant document",
    "no-topics": "no topic with a relevant document",
    "single-grade": "both gave one grade to every document",
}
"""Reasons that are no words when their hyphens are taken away."""


def figure(
    plot: Plot,
    how_to_read: str,
    command: str,
    table: Table,
    names: Sequence[str] = (),
    *,
    caption: str = "",
    n: str = "",
) -> Figure | str:
    """Make a figure of a plot and a table, or a sentence that says why it has nothing to show."""
    chart = chart_of(plot)
    drawn, reasons = [0.0], {}
    if isinstance(chart, Rows):
        drawn = [value for row in chart.rows for value in row.values]
        reasons = dict.fromkeys(row.reason for row in chart.rows if row.reason)
    elif isinstance(chart, LineChart):
        drawn = [value for line in chart.lines for _, value in line.points]
    if not any(map(math.isfinite, drawn)):
        why = f": {'; '.join(reasons)}" if reasons else ""
        return f"{plot.title}: every value is undefined{why}."
    interval = None if plot.low is None or plot.high is None else (plot.value, plot.low, plot.high)
    below = page_table(table, names, caption=caption, interval=interval)
    return Figure(how_to_read, chart, below, command, n)


def chart_of(plot: Plot) -> Chart:
    """Return the chart of a plot; rows whose numbers are of few things are grey."""
    table, labels = plot.rows(), plot.labels()
    names = plot.parts or (plot.value,)
    values = [numbers(table, name) for name in names]
    headings = tuple(table.column(name).title for name in names)
    axis = Axis(plot.axis or headings[0], *plot.ends, with_zero=plot.kind in ("bars", "stacks"))
    if plot.kind == "lines":
        return _lines(plot, table, axis, values, headings)
    texts = [_texts(table, name) for name in names]
    reasons = [
        reason_words(*f"{row.get('reason') or ''}, {row.get('interval_reason') or ''}".split(", "))
        for row in table.to_records()
    ]
    if plot.kind == "dots":
        rows = _dots(plot, table, labels, reasons)
    else:
        cells = [(" + ".join(row),) if plot.kind == "stacks" else row for row in _by_row(texts)]
        rows = tuple(map(Row, labels, _by_row(values), cells, reasons))
    described = _described([(row.label, value) for row in rows for value in row.values], axis)
    return Rows(plot.title, described, axis, rows, plot.kind, headings if len(names) > 1 else ("",))


_MARGIN = 16.0


def svg_of(plots: Sequence[Plot]) -> str:
    """Draw plots below each other as one file of SVG, each with its title above and what it says below."""
    sheet, top = Sheet(WIDTH + 2 * _MARGIN, "plots"), _MARGIN
    for number, plot in enumerate(plots):
        parts, title = plot.parts if plot.kind == "lines" else (), plot.title
        if len(parts) == 1 and parts[0] != plot.axis:  # one line has no legend
            title += f": {plot.table.column(parts[0]).title}"
        top = sheet.lines(_MARGIN, top, wrapped_label(title, 0.9 * WIDTH), classes="title") + PADDING
        # More lines than one chart can tell apart are several charts.
        size = math.ceil(len(parts) / math.ceil(len(parts) / N_SERIES)) if parts else 1
        some = [replace(plot, parts=parts[at : at + size]) for at in range(0, len(parts), size)]
        for place, one in enumerate(some or [plot]):
            for drawing in draw_in_pieces(chart_of(one), width=WIDTH, key=f"plot-{number}-{place}"):
                top = sheet.drawing(_MARGIN, top, drawing) + PADDING
        notes = [f"Dot: {plot.words[0]}; line: {plot.words[1]}."] if plot.kind == "dots" else []
        for note in (*notes, *filter(None, [plot.below])):
            top = sheet.lines(_MARGIN, top, wrapped_label(note, WIDTH), classes="soft")
        top += LINE
    return sheet.as_file(top)


def _dots(plot: Plot, table: Table, labels: Sequence[str], reasons: Sequence[str]) -> tuple[Row, ...]:
    assert plot.low is not None
    assert plot.high is not None
    interval = (plot.value, plot.low, plot.high)
    count, few = plot.few or ("", 0)
    counts = numbers(table, count) if count else [math.inf] * len(table)
    written = rounded(table, interval).values()
    rows = []
    for row, (value, low, high) in enumerate(zip(*(numbers(table, name) for name in interval), strict=True)):
        middle, first, last = (texts[row] for texts in written)
        text = middle if math.isnan(low) and math.isnan(high) else f"{middle} [{first}, {last}]"
        text += f", n {counts[row]:,.0f}" if count else ""
        rows.append(Row(labels[row], (value,), (text,), reasons[row], (low, high), counts[row] < few))
    return tuple(rows)


def _lines(
    plot: Plot, table: Table, axis: Axis, values: Sequence[Sequence[float]], headings: Sequence[str]
) -> LineChart:
    across = Axis(plot.heading(), with_zero=False)
    places = numbers(table, str(plot.label))
    drawn = tuple(
        ChartLine(heading, tuple(zip(places, heights, strict=True)), name in plot.stepped)
        for name, heading, heights in zip(plot.parts or (plot.value,), headings, values, strict=True)
    )
    ends = [(f"{line.label}, {across.label} {x:g}", y) for line in drawn for x, y in line.points]
    return LineChart(plot.title, _described(ends, axis), across, axis, drawn)


def page_table(
    table: Table,
    names: Sequence[str] = (),
    *,
    caption: str = "",
    command: str = "",
    interval: Interval | None = None,
) -> PageTable:
    """Write a table of a result for the page; columns without a cell are left out."""
    chosen = [name for name in names or table.data if name in table.data]
    kept = [name for name in chosen if any(cell not in (None, "") for cell in table.cells(name))]
    columns = [
        replace(one, show="always", heading=HEADINGS.get(one.name, one.heading))
        for one in map(table.column, kept or chosen[:1])
    ]
    rendered = render_view(View(table, columns))
    texts = {column.name: cells for column, cells in zip(rendered.columns, rendered.cells, strict=True)}
    if interval is not None:
        texts |= {name: cells for name, cells in rounded(table, interval).items() if name in texts}
    return PageTable(
        " ".join((caption or " ".join(rendered.caption) or rendered.title).split()),
        tuple(PageColumn(column.title, column.kind in ("int", "float")) for column in rendered.columns),
        tuple(zip(*texts.values(), strict=True)),
        command,
    )


def facts_table(
    facts: Mapping[str, Cell], meanings: Mapping[str, str], *, caption: str, command: str, interval: Interval
) -> PageTable:
    """Write facts for the page, a row each, with what they are where the name does not say it."""
    texts = {name: written(cell, Column(name)) for name, cell in facts.items()}
    if all(name in facts for name in interval):
        one = Table.of_rows("facts", [Column(name, "float") for name in interval], [facts])
        texts |= {name: cells[0] for name, cells in rounded(one, interval).items()}
    rows = tuple((name.replace("_", " "), text, meanings.get(name, "")) for name, text in texts.items())
    return PageTable(caption, tuple(map(PageColumn, ("what", "value", "meaning"))), rows, command)


def rounded(table: Table, interval: Interval) -> dict[str, list[str]]:
    """Write values and their intervals with no more digits than the widest interval carries."""
    _, low, high = interval
    ends = zip(numbers(table, low), numbers(table, high), strict=True)
    widest = max((half for a, b in ends if math.isfinite(half := (b - a) / 2)), default=0.0)
    if widest <= 0:
        return {name: _texts(table, name) for name in interval}
    most = max(0, 1 - math.floor(math.log10(widest)))
    return {
        name: [_shorter(cell, table.column(name), most) for cell in table.cells(name)] for name in interval
    }


def _shorter(cell: Cell, column: Column, most: int) -> str:
    if not isinstance(cell, float):
        return written(cell, column)
    decimals = min(most, column.digits)
    return f"{round(cell, decimals) + 0.0:,.{decimals}f}"


def numbers(table: Table, name: str) -> list[float]:
    """Return a column as numbers; NaN where it is undefined."""
    return [float(cell) if isinstance(cell, int | float) else math.nan for cell in table.cells(name)]


def _texts(table: Table, name: str) -> list[str]:
    column = table.column(name)
    return [written(cell, column) for cell in table.cells(name)]


def _by_row(columns: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(zip(*columns, strict=True))


def _described(values: Sequence[tuple[str, float]], axis: Axis) -> str:
    known = [(value, label) for label, value in values if not math.isnan(value)]
    if not known:
        return f"{axis.label}: no value."
    (least, lowest), (most, highest) = min(known), max(known)
    return f"{axis.label}: from {least:.4g} ({lowest}) to {most:.4g} ({highest})."


def reason_words(*codes: str) -> str:
    """Write codes in a few words."""
    return ", ".join(_IN_WORDS.get(code, code.replace("-", " ")) for code in codes if code)


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page: its sections of sentences, tables and figures, and what a browser shows."""

    page: ReportPage

    @property
    def sections(self) -> tuple[Section, ...]:
        """What stands on the page; the first says it in short."""
        return self.page.sections

    @cached_property
    def html(self) -> str:
        """The page as one file."""
        return render(self.page)

    def write(self, path: str | Path) -> None:
        """Write the page to a file that its owner alone can read, new or in place of an earlier page."""
        if check_replaceable(path):
            say(f"{path}: replaced an earlier page")
        write_whole(str(path), [self.html.removesuffix("\n")], private=True)
        say(f"{path}: {counted(len(self.html.encode()) // 1024, 'kB', 'kB')}, to be opened in a browser")

    def __repr__(self) -> str:
        titles = ", ".join(section.title for section in self.sections)
        return f"Report: {self.page.title}\nsections: {titles}"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'


def check_replaceable(path: str | Path, argument: str = "path") -> bool:
    """Return whether there is a page of pooler's; `ArgumentError`: it is something else, and not empty."""
    path = Path(path)
    if str(path) == "-":
        raise ArgumentError(argument, "must be a file", "-")
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(START))
    if start not in (b"", START.encode()):
        hint = "name another file, or remove this one first"
        requirement = "must be new, or a page that pooler wrote: it is something else"
        raise ArgumentError(argument, requirement, str(path), hint=hint)
    return bool(start)


def written_by() -> str:
    """Return which program wrote a page, and when."""
    return f"Written by pooler {__version__} on {datetime.now(UTC):%Y-%m-%d}."
