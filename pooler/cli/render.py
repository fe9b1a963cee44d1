"""The one way out: a result as tables for people, drawn or marked up, or as JSON or TSV for programs.

Order of work: choose tables, sort, limit, write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TextIO

from pooler.cli.signature import option
from pooler.messages import say
from pooler.tables import Cell, Table, View, map_cells
from store.errors import ArgumentError, ContradictionError, PoolerError, UnknownNameError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from pooler.result import Result

LAYOUT = 2
"""Of the JSON: one object of named tables, lists as lists."""
TERMINAL_ROWS = 60
"""Rows of a table that a terminal is shown unless more are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The options of every command that prints a table."""

    PANEL: ClassVar[str] = "Output"

    fmt: Annotated[
        Literal["table", "json", "tsv", "markdown", "latex"],
        option("--format", "For people, on a page or in a paper; for programs."),
    ] = "table"
    table: Annotated[str | None, option("--table NAME", "Which of several tables.")] = None
    sort: Annotated[
        str | None, option("--sort COLUMN[:desc]", "Sort the rows; undefined values come last.")
    ] = None
    limit: Annotated[int | None, option("--limit ROWS", "Show at most this many rows.", min=1)] = None
    out: Annotated[Path | None, option("--out -o FILE", "A new file; default stdout.")] = None

    def __post_init__(self) -> None:
        """Take ``-`` for stdout."""
        if self.out == Path("-"):
            object.__setattr__(self, "out", None)

    @property
    def is_for_people(self) -> bool:
        """Whether people read it."""
        return self.fmt not in ("json", "tsv")

    def wanted(self, for_people: int | None) -> int | None:
        """Return how many rows are to be made, all of them to be sorted; ``None`` = all."""
        if self.sort is not None:
            return None
        return self.limit or (for_people if self.is_for_people else None)

    def check_one(self, tables: Sequence[str]) -> None:
        """Raise `ContradictionError` where several tables are to be what holds one."""
        if len(tables) > 1 and self.fmt == "tsv":
            requirement = f"must name the table, one of {', '.join(tables)}: {self.fmt} holds one"
            raise ContradictionError("--table", requirement, None, hint=f"--table {tables[0]}")

    def check(self, *, plot: Path | None = None, tables: Sequence[str] = ()) -> None:
        """Refuse now, before any work, what could not be written.

        `tables`: those that there will be unless one is asked for by its name.
        """
        from pooler.cli.console import check_place

        if plot is not None:
            from pooler.pages.svg import DRAWN

            if plot.suffix != ".svg":
                raise ArgumentError("--plot", "must be a file whose name ends in .svg", str(plot))
            check_place(str(plot))
            if plot.is_file() and (there := plot.read_bytes()) and DRAWN.encode() not in there:
                requirement = "must be new, or a drawing that pooler made: it is something else"
                raise ArgumentError("--plot", requirement, str(plot))
        if self.table is None:
            self.check_one(tables)
        if self.out is not None:
            check_place(str(self.out))
            if self.out.is_file() and self.out.stat().st_size:
                message = f"{self.out}: already exists"
                raise PoolerError(message, hint="name another file, or remove this one first")


ByTopicOption = Annotated[
    bool, option("--by-topic -q", "A row a topic: the table `topics`, as --table topics.")
]
HtmlOption = Annotated[str | None, option("--html FILE", "Also write a page to read and print.")]
PlotOption = Annotated[Path | None, option("--plot FILE.svg", "Also draw it, as an SVG file.")]


def render(result: Result, output: Output, *names: str, plot: Path | None = None) -> None:
    """Write a result to stdout, or to the file that was asked for.

    `names`: tables that the command is about, where none is asked for; default what people are shown, and
    all for programs. `plot`: a file that the result's plots are drawn in. TSV holds one table: several
    are a `ContradictionError`.
    """
    if plot is not None:
        _draw_plots(result, names, plot)
    if output.is_for_people:
        # What people else read as lines is a table, too, where one is asked for.
        are_lines = output.fmt == "table" and output.table is None and output.sort is None
        lines = result.lines(*names) if are_lines else None
        if lines is not None:
            _write(
                output, lambda stream: stream.writelines(f"{line}\n" for line in islice(lines, output.limit))
            )
            return
        rendered = _views(result, output, names)
        _write(output, lambda stream: _draw(rendered, output, stream))
        return
    tables = _tables(result, output, names)
    if output.fmt == "json":
        _write(output, lambda stream: _write_json(result, tables, stream))
        return
    output.check_one([table.name for table in tables])
    _write(output, lambda stream: _write_tsv(tables[0], stream))


def check_choice(result: Result, output: Output, *names: str) -> None:
    """Refuse what `render` would, of a result without rows: before a command changes anything."""
    if output.is_for_people:
        _views(result, output, names)
    else:
        output.check_one([table.name for table in _tables(result, output, names)])


def _tables(result: Result, output: Output, names: tuple[str, ...]) -> list[Table]:
    asked: Sequence[str] = (output.table,) if output.table is not None else names
    if not asked:
        asked = result.names() if output.fmt == "json" or len(result.shown()) != 1 else result.shown()
    tables = [result.table(name) for name in asked]
    if output.sort is not None:
        by, descending = _sorting(output.sort)
        _check_column(by, tables)
        tables = [table.sort(by, descending=descending) if by in table.data else table for table in tables]
    if output.limit is not None:
        tables = [_first(table, output.limit, is_sorted=output.sort is not None) for table in tables]
    return tables


def _first(table: Table, limit: int, *, is_sorted: bool) -> Table:
    """Return the first rows: those that people see first, where a view has an order of its own."""
    name = table.columns[0].name
    views = (one for one in table.seen or () if one.rows is not None and name in one.table.data)
    view = next(views, None)
    if view is None or is_sorted:
        return table.head(limit)
    places = {cell: place for place, cell in reversed([*enumerate(view.shown().cells(name))])}
    cells = table.cells(name)
    return table.take(sorted(range(len(table)), key=lambda row: places.get(cells[row], len(places)))[:limit])


def _views(result: Result, output: Output, names: tuple[str, ...]) -> list[View]:
    """Choose views, sort; limits are applied by the writer."""
    if output.table is not None:
        result.table(output.table)  # the name is known
        names = (output.table,)
    views = [*result.views(*names)]
    if output.sort is None:
        return views
    by, descending = _sorting(output.sort)
    if not any(by in view.table.data for view in views):
        views = [View(result.table(name)) for name in names or result.shown()]  # of the tables, then
    _check_column(by, [view.table for view in views])
    return [_sorted(view, by, descending=descending) for view in views]


def _sorted(view: View, by: str, *, descending: bool) -> View:
    if by not in view.table.data:
        return view
    order = view.table.order(by, descending=descending)
    if view.rows is not None:
        kept = set(view.rows)
        order = [row for row in order if row in kept]
    return replace(view, rows=order)


def _check_column(name: str, tables: Sequence[Table]) -> None:
    known = dict.fromkeys(name for table in tables for name in table.data)
    if name not in known:
        raise UnknownNameError("column", name, known)


def _sorting(text: str) -> tuple[str, bool]:
    """Read `COLUMN` or `COLUMN:desc`.

    Examples
    --------
    >>> _sorting("map"), _sorting("map:desc")
    (('map', False), ('map', True))
    """
    name, _, way = text.partition(":")
    if way not in ("", "asc", "desc"):
        raise ArgumentError("--sort", "must be COLUMN, COLUMN:asc or COLUMN:desc", text)
    return name, way == "desc"


def _draw_plots(result: Result, names: Sequence[str], file: Path) -> None:
    """Draw the plots of the tables that are asked for, or all; say so where there is none."""
    plots = result.plots()
    plots = tuple(one for one in plots if one.table.name in names) or plots
    if not plots:
        say(f"{file}: not written, since there is nothing to draw")
        return
    from pooler.files import write_whole
    from pooler.pages.figures import svg_of

    write_whole(str(file), [svg_of(plots).removesuffix("\n")])


def _draw(views: Sequence[View], output: Output, stream: TextIO) -> None:
    from pooler.cli.fit import draw
    from pooler.cli.markup import write_latex, write_markdown
    from pooler.tables import render_view

    write = {"markdown": write_markdown, "latex": write_latex}.get(output.fmt, draw)
    for number, view in enumerate(views):
        if number:
            stream.write("\n")
        n_rows = len(view.table) if view.rows is None else len(view.rows)
        most = output.limit or view.limit or (TERMINAL_ROWS if stream.isatty() else n_rows)
        if n_rows > most and not view.is_whole:
            rows = (range(n_rows) if view.rows is None else view.rows)[:most]
            # A sentence of its own, before all others: what is not there is the first thing to know.
            notes = view.table.notes if view.notes is None else view.notes
            first = f"The first {most:,}" if most > 1 else "The first"
            words = f"{first} of {counted(n_rows, view.of_rows)}; --limit {n_rows} shows all."
            view = replace(view, rows=rows, notes=[words, *notes], is_part=True)
        write(render_view(view), stream)


def _write(output: Output, write: Callable[[TextIO], None]) -> None:
    """Write to stdout, or to a new file that appears complete or not at all."""
    if output.out is None:
        write(sys.stdout)
        return
    from store.db.files import made_whole

    try:
        with (
            made_whole(output.out, replaces=False) as part,
            part.open("w", encoding="utf-8", newline="", errors="backslashreplace") as stream,
        ):
            write(stream)
    except OSError as error:
        message = f"{output.out}: cannot be written: {error.strerror}"
        raise PoolerError(message) from error


def _write_json(result: Result, tables: Sequence[Table], stream: TextIO) -> None:
    """Write one object: settings, facts, and each table's name to its rows."""
    from pooler.files import json_text
    from pooler.version import __version__

    settings = {"layout": LAYOUT, "pooler": __version__, **result.settings}
    data: dict[str, Any] = {"settings": settings}
    if result.warnings:
        data["warnings"] = result.warnings
    if facts := result.facts():
        data["facts"] = {name: _plain(value) for name, value in facts.items()}
    stream.write(json_text(data)[:-1])
    for table in tables:
        stream.write(f", {json_text(table.name)}: [")
        names, between = [column.name for column in table.columns], ""
        for rows in _rows(table, _plain):
            stream.write(between + json_text([dict(zip(names, row, strict=True)) for row in rows])[1:-1])
            between = ", "
        stream.write("]")
    stream.write("}\n")


def _rows(table: Table, write: Callable[[Any, str], Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows, many at once, each cell as it is written in a column of its kind."""
    for block in table.blocks():
        cells = (map_cells(write, block[one.name], one.kind) for one in table.columns)
        yield list(zip(*cells, strict=True))


def _plain(value: Any, kind: str = "") -> Any:
    """Return a value as JSON has it: moments in ISO 8601, UTC."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds" if kind == "instant" else "seconds")
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _write_tsv(table: Table, stream: TextIO) -> None:
    """Write tab separated values with a header: undefined is empty, a list is joined by blanks."""
    stream.write("\t".join(column.name for column in table.columns) + "\n")
    for rows in _rows(table, _tsv_cell):
        stream.writelines("\t".join(row) + "\n" for row in rows)


def _tsv_cell(cell: Cell, kind: str) -> str:
    """Write one cell; text loses tabs and line ends, never quotes."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(cell)
    if isinstance(cell, datetime):
        return str(_plain(cell, kind))
    if kind == "records" and isinstance(cell, Sequence):
        return str(len(cell))
    return sanitise_line(str(cell) if isinstance(cell, str | int) else " ".join(map(str, cell)))
