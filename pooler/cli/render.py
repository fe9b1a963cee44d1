"""Results written: as tables for people (drawn, Markdown, LaTeX), or as JSON or TSV for programs.

The steps are: choose tables, sort, limit, write.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TextIO

from pooler.command import Option
from pooler.messages import say
from pooler.tables import RenderedView, Table, View, map_cells, moment_text, render_view, tsv_lines
from store.errors import ArgumentError, ContradictionError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from pooler.result import Result

LAYOUT = 2
"""Version of the layout of JSON: one object with named tables, lists as lists."""
TERMINAL_ROWS = 60
"""Most rows of a table that are shown on a terminal, unless more are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The options of every command that prints a table."""

    PANEL: ClassVar[str] = "Output"

    fmt: Annotated[
        Literal["table", "json", "tsv", "markdown", "latex"],
        Option(
            "--format", "table is for people, markdown and latex for documents, json and tsv for programs."
        ),
    ] = "table"
    table: Annotated[str | None, Option("--table NAME", "Which of several tables.")] = None
    sort: Annotated[
        str | None, Option("--sort COLUMN[:desc]", "Sort the rows; undefined values come last.")
    ] = None
    limit: Annotated[int | None, Option("--limit ROWS", "Show at most this many rows.", least=1)] = None
    out: Annotated[Path | None, Option("--out -o FILE", "A new file; default stdout.")] = None

    def __post_init__(self) -> None:
        """Take ``-`` for stdout."""
        if self.out == Path("-"):
            object.__setattr__(self, "out", None)

    @property
    def is_for_people(self) -> bool:
        """Whether people read it."""
        return self.fmt not in ("json", "tsv")

    def rows_needed(self, for_people: int | None) -> int | None:
        """Return how many rows a result has to have; ``None`` = all, as sorting needs them."""
        if self.sort is not None:
            return None
        return self.limit or (for_people if self.is_for_people else None)

    def check_one(self, tables: Sequence[str]) -> None:
        """Raise `ContradictionError` if there are several tables and the format holds only one."""
        if len(tables) > 1 and self.fmt == "tsv":
            requirement = f"must name the table, one of {', '.join(tables)}: {self.fmt} holds one"
            raise ContradictionError("--table", requirement, None, hint=f"--table {tables[0]}")

    def check(self, *, plot: Path | None = None) -> None:
        """Refuse before any work what could not be written at its end."""
        from pooler.files import check_place

        if plot is not None:
            from pooler.pages.charts import DRAWN

            if plot.suffix != ".svg":
                raise ArgumentError("--plot", "must be a file whose name ends in .svg", str(plot))
            check_place(str(plot))
            if plot.is_file() and (there := plot.read_bytes()) and DRAWN.encode() not in there:
                requirement = "must be new, or a drawing that pooler made: it is something else"
                raise ArgumentError("--plot", requirement, str(plot))
        if self.out is not None:
            check_place(str(self.out))
            if self.out.is_file() and self.out.stat().st_size:
                message = f"{self.out}: already exists"
                raise PoolerError(message, hint="name another file, or remove this one first")


def render(result: Result, output: Output, *, plot: Path | None = None) -> None:
    """Write a result to stdout, or to the file that was asked for; its plots to another one, if named.

    People get the tables that the command shows, and programs all of them, unless one is asked for. TSV holds
    one table: several are a `ContradictionError`.
    """
    if plot is not None:
        _draw_plots(result, plot)
    if output.is_for_people:
        # A result that people usually read as lines is drawn as a table where --table or --sort is given.
        are_lines = output.fmt == "table" and output.table is None and output.sort is None
        lines = result.lines() if are_lines else None
        if lines is not None:
            _write(
                output, lambda stream: stream.writelines(f"{line}\n" for line in islice(lines, output.limit))
            )
            return
        rendered = _views(result, output)
        _write(output, lambda stream: _draw(rendered, output, stream, result.last_line()))
        return
    tables = _tables(result, output)
    if output.fmt == "json":
        _write(output, lambda stream: _write_json(result, tables, stream))
        return
    output.check_one([table.name for table in tables])
    _write(output, lambda stream: stream.writelines(f"{line}\n" for line in tsv_lines(tables[0])))


def check_choice(result: Result, output: Output) -> None:
    """Refuse what `render` would, of a result without rows: before a command changes anything."""
    if output.is_for_people:
        _views(result, output)
    else:
        output.check_one([table.name for table in _tables(result, output)])


def _tables(result: Result, output: Output) -> list[Table]:
    asked = (output.table,) if output.table is not None else result.shown()
    if output.table is None and (output.fmt == "json" or len(asked) != 1):
        asked = result.names()
    tables = [result.table(name) for name in asked]
    if output.sort is not None:
        by, descending = _sorting(output.sort, tables)
        tables = [table.sort(by, descending=descending) if by in table.data else table for table in tables]
    if output.limit is not None:
        tables = [_first(table, output.limit, is_sorted=output.sort is not None) for table in tables]
    return tables


def _first(table: Table, limit: int, *, is_sorted: bool) -> Table:
    """Return the rows that people see first, in the order of the table.

    These are others than the first rows of the table where a view has an order of its own.
    """
    name = table.columns[0].name
    views = (one for one in table.seen or () if one.rows is not None and name in one.table.data)
    view = next(views, None)
    if view is None or is_sorted:
        return table.head(limit)
    places = {cell: place for place, cell in reversed([*enumerate(view.shown().cells(name))])}
    cells = table.cells(name)
    first = sorted(range(len(table)), key=lambda row: places.get(cells[row], len(places)))[:limit]
    return table.take(sorted(first))


def _views(result: Result, output: Output) -> list[View]:
    """Choose and sort the views; the writer applies limits."""
    names = () if output.table is None else (result.table(output.table).name,)
    views = [*result.views(*names)]
    if output.sort is None:
        return views
    name = output.sort.partition(":")[0]
    if not any(name in view.table.data for view in views):
        views = [View(result.table(name)) for name in names or result.shown()]  # of the tables, then
    by, descending = _sorting(output.sort, [view.table for view in views])
    return [_sorted(view, by, descending=descending) for view in views]


def _sorted(view: View, by: str, *, descending: bool) -> View:
    if by not in view.table.data:
        return view
    order = view.table.order(by, descending=descending)
    kept = {*order} if view.rows is None else {*view.rows}
    return replace(view, rows=[row for row in order if row in kept])


def _sorting(text: str, tables: Sequence[Table]) -> tuple[str, bool]:
    """Read ``COLUMN`` or ``COLUMN:desc``; return the column, and whether the order is descending."""
    name, _, direction = text.partition(":")
    if direction not in ("", "asc", "desc"):
        raise ArgumentError("--sort", "must be COLUMN, COLUMN:asc or COLUMN:desc", text)
    known = dict.fromkeys(name for table in tables for name in table.data)
    if name not in known:
        raise UnknownNameError("column", name, known)
    return name, direction == "desc"


def _draw_plots(result: Result, file: Path) -> None:
    plots = result.plots()
    if not plots:
        say(f"{file}: not written, since there is nothing to draw")
        return
    from pooler.files import write_whole
    from pooler.pages.report import svg_of

    write_whole(str(file), [svg_of(plots).removesuffix("\n")])


def _draw(views: Sequence[View], output: Output, stream: TextIO, last_line: str) -> None:
    from pooler.cli.fit import draw

    if last_line and output.fmt != "table":
        *others, last = views
        views = [*others, replace(last, notes=[*last.shown().notes, last_line])]
    write = {"markdown": write_markdown, "latex": write_latex}.get(output.fmt, draw)
    for number, view in enumerate(views):
        if number:
            stream.write("\n")
        n_rows = len(view.table) if view.rows is None else len(view.rows)
        most = output.limit or view.limit or (TERMINAL_ROWS if stream.isatty() else n_rows)
        if n_rows > most and not view.is_whole:
            rows = (range(n_rows) if view.rows is None else view.rows)[:most]
            # Before all other sentences: that rows are missing is the first thing to know.
            notes = view.table.notes if view.notes is None else view.notes
            first = f"The first {most:,}" if most > 1 else "The first"
            words = f"{first} of {counted(n_rows, view.of_rows)}; --limit {n_rows} shows all."
            view = replace(view, rows=rows, notes=[words, *notes], is_part=True)
        write(render_view(view), stream)
    if last_line and output.fmt == "table":
        stream.write("\n")
        draw(RenderedView("", [], [], [last_line]), stream, folds=False)


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
        raise PoolerError(f"{output.out}: cannot be written: {error.strerror}") from error


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
        for block in table.blocks():
            cells = (map_cells(_plain, block[one.name], one.kind) for one in table.columns)
            rows = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
            stream.write(between + json_text(rows)[1:-1])
            between = ", "
        stream.write("]")
    stream.write("}\n")


def _plain(value: Any, kind: str = "") -> Any:
    """Return a value that JSON can hold: moments in ISO 8601, UTC."""
    if isinstance(value, datetime):
        return moment_text(value, kind)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


_TEX = str.maketrans(
    {one: f"\\{one}" for one in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$"}
)
_MARKDOWN = re.compile(r"([\\`*_\[\]|]|<(?=[A-Za-z/!]))")
_NEGATIVE = re.compile(r"-(?=[\d.])")


def write_markdown(rendered: RenderedView, stream: TextIO) -> None:
    """Write a table with pipes, numbers to the right; title above in bold, each note a paragraph below."""
    if rendered.title:
        stream.write(f"**{_markdown(rendered.title)}**\n\n")
    if rows := [*zip(*rendered.cells, strict=True)]:
        stream.write(_row(_markdown(one.title) for one in rendered.columns))
        stream.write(_row("---:" if one.is_number else "---" for one in rendered.columns))
        stream.writelines(_row(map(_markdown, row)) for row in rows)
    stream.writelines(f"\n{_markdown(line)}\n" for line in rendered.caption)


def write_latex(rendered: RenderedView, stream: TextIO) -> None:
    r"""Write a `table` with the rules of booktabs, and its notes below it."""
    stream.write("\\begin{table}\n\\centering\n")
    if rendered.title:
        stream.write(f"\\caption{{{_latex(rendered.title)}}}\n")
    if rows := [*zip(*rendered.cells, strict=True)]:
        places = "".join("r" if one.is_number else "l" for one in rendered.columns)
        stream.write(f"\\begin{{tabular}}{{{places}}}\n\\toprule\n")
        stream.write(_line([_latex(one.title) for one in rendered.columns]) + "\\midrule\n")
        for row in rows:
            cells = zip(row, rendered.columns, strict=True)
            stream.write(_line([_number(cell) if one.is_number else _latex(cell) for cell, one in cells]))
        stream.write("\\bottomrule\n\\end{tabular}\n")
    if rendered.caption:
        lines = (line if line.endswith((".", ":", ";")) else f"{line}." for line in rendered.caption)
        notes = " ".join(map(_latex, lines))
        stream.write(f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize {notes}}}\n")
    stream.write("\\end{table}\n")


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"


def _markdown(text: str) -> str:
    r"""Escape text for Markdown.

    >>> print(_markdown("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(r"\\\1", text)


def _latex(text: str) -> str:
    r"""Escape text for TeX.

    >>> print(_latex("50 % of p < .05"))
    50 \% of p $<$ .05
    """
    return text.translate(_TEX)


def _number(text: str) -> str:
    """Write a number for TeX: a proper minus sign, and a dash where it is undefined.

    >>> _number("-0.25"), _number("1,200"), _number("-")
    ('$-$0.25', '1,200', '--')
    """
    return "--" if text == "-" else _NEGATIVE.sub("$-$", _latex(text))
