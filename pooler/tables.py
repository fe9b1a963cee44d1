"""Tables of results: columns declared once, data held by column; what people see of them.

A `Table` is for programs: every column, every digit. A `View` chooses what people see of one: its
rows and their order, its columns, a title and notes. Neither imports numpy, so that a command whose
tables are lists does not either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pooler.reasons import OF_PAIRS, REASONS
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import natural_key, sanitise_line

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Form = TypeVar("Form")
Kind = Literal[
    "text", "int", "float", "bool", "moment", "day", "instant", "given_grade", "texts", "ints", "records"
]
"""Of a column's values. A day is a moment of which people see the date; an instant is one to the
microsecond, in UTC. A given grade is a grade, or a word where a judge could give none. Records are a list
of dicts, of which people and TSV have the number."""
Show = Literal["always", "if_any", "if_varied", "never"]
"""When people see a column: where a cell says something; where rows differ, or are unusual."""
Cell = (
    str | int | float | bool | datetime | Sequence[str] | Sequence[int] | Sequence[Mapping[str, Any]] | None
)

_BLOCK = 1000
"""Rows that are written at once."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: everything there is to say of it, said once."""

    name: str
    """For programs: lower case, underscores."""
    kind: Kind = "text"
    heading: str = ""
    """For people; default the name with blanks."""
    about: str = ""
    """What it holds, for the lines below a table: `heading: about`."""
    digits: int = 4
    """Decimals that people see of a float; programs get every digit."""
    show: Show = "always"
    usual: tuple[Cell, ...] = ()
    """Of `if_varied`: values not worth a column; empty = any that all of several rows have."""
    interval: tuple[str, str] | None = None
    """Of a view alone: the columns of the limits that it shows as one, or why there are none."""
    most: int | None = None
    """Characters that a line of a cell has at most in what is no terminal, which has a width of its own."""
    of_pairs: bool = False
    """Of reasons: they are of two runs."""
    is_chance: bool = False
    """People see one below the last digit as such: `<.01`."""
    can_go: int = 0
    """Left out, and said so, where a terminal is too narrow: 1 goes before 2; 0 stays."""

    @property
    def title(self) -> str:
        """The heading."""
        return self.heading or self.name.replace("_", " ")

    @property
    def is_number(self) -> bool:
        """Whether people see it to the right."""
        return self.kind in ("int", "float", "bool", "records")


def hidden(name: str, kind: Kind = "float") -> Column:
    """Declare a column of which programs have the cells, and people see nothing."""
    return Column(name, kind, show="never")


# Columns of many tables.
RUN = Column("run")
TOPIC = Column("topic")
DOCNO = Column("docno")
JUDGE = Column("judge")
DOCUMENTS = Column("documents", "int")
GRADE = Column("grade", "int")
REASON = Column("reason", show="if_any")
REASON_OF_PAIR = replace(REASON, of_pairs=True)
REASON_HIDDEN = replace(REASON, show="never")
TOPICS_HIDDEN = hidden("topics", "int")
# Of tables of every two runs.
RUN_A = Column("a", heading="A", about="the run ahead")
RUN_B = Column("b", heading="B")
DIFFERENCE = Column("difference", "float", "A - B")
VARIANCE_HIDDEN = hidden("variance")
T2_HIDDEN = hidden("t2")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Named columns of one length; `ValueError`: columns and data have other names, or lengths differ.

    >>> table = Table(
    ...     "runs",
    ...     [Column("run"), Column("map", "float")],
    ...     {"run": ["bm25", "tfidf"], "map": [0.31, float("nan")]},
    ... )
    >>> table.to_records()
    [{'run': 'bm25', 'map': 0.31}, {'run': 'tfidf', 'map': None}]
    >>> table.sort("map", descending=True).head(1).to_dict()
    {'run': ['bm25'], 'map': [0.31]}
    """

    name: str
    """For programs: the key in JSON, the word after `--table`."""
    columns: Sequence[Column]
    data: Mapping[str, Any]
    """By column a list, a tuple or a numpy array; undefined is ``None``, of floats NaN, too."""
    title: str = ""
    notes: Sequence[str] = ()
    """For people, below the table: conclusions before explanations."""
    seen: Sequence[View] | None = None
    """What people see of it; ``None`` = the table as it is."""

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if sorted(names) != sorted(self.data):
            raise ValueError(f"{self.name}: columns are {sorted(names)}, data {sorted(self.data)}")
        sizes = {name: len(self.data[name]) for name in names}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"{self.name}: columns differ in length: {sizes}")

    @classmethod
    def of_columns(
        cls, name: str, columns: Mapping[Column, Any], title: str = "", notes: Sequence[str] = ()
    ) -> Table:
        """Make a table of columns, each with its cells."""
        data = {column.name: cells for column, cells in columns.items()}
        return cls(name, list(columns), data, title, notes)

    @classmethod
    def of_rows(
        cls,
        name: str,
        columns: Sequence[Column],
        rows: Iterable[Mapping[str, Any]],
        *,
        title: str = "",
        notes: Sequence[str] = (),
    ) -> Table:
        """Make a table of rows; a cell that a row does not have is undefined."""
        rows = list(rows)
        data = {column.name: [row.get(column.name) for row in rows] for column in columns}
        return cls(name, columns, data, title, notes)

    @classmethod
    def of_records(
        cls,
        name: str,
        columns: Sequence[Column],
        records: Iterable[Any],
        *,
        title: str = "",
        notes: Sequence[str] = (),
        **cells: Callable[[Any], Any],
    ) -> Table:
        """Make a table of records: a column is the field of its name, or what is made of a record."""
        records = list(records)
        ways = {column.name: cells.get(column.name, attrgetter(column.name)) for column in columns}
        data = {name: [_plain(way(record)) for record in records] for name, way in ways.items()}
        return cls(name, columns, data, title, notes)

    def __len__(self) -> int:
        return len(self.data[self.columns[0].name]) if self.columns else 0

    def __repr__(self) -> str:
        return f"Table {self.name}: {len(self):,} rows of {', '.join(self.data)}"

    def column(self, name: str) -> Column:
        """Return what is declared of a column; `UnknownNameError`: there is none of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownNameError("column", name, self.data)

    def cells(self, name: str) -> list[Cell]:
        """Return the values of a column as Python's own; undefined is ``None``."""
        return _cells(self.column(name), self.data[name])

    def blocks(self) -> Iterator[dict[str, list[Cell]]]:
        """Yield the cells of every column as `to_dict` has them, some rows after others."""
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            yield {column.name: _cells(column, self.data[column.name][rows]) for column in self.columns}

    def take(self, rows: Sequence[int]) -> Table:
        """Return the rows of these numbers, in this order."""
        rows = list(rows)
        data = {
            name: values[rows] if hasattr(values, "tolist") else [values[row] for row in rows]
            for name, values in self.data.items()
        }
        return replace(self, data=data)

    def seen_as(self, *views: View, **how: Any) -> Table:
        """Return the table with what people see of it: these views, or one of it, as `View` has its fields.

        >>> table = Table("runs", [Column("run"), Column("group")], {"run": ["a"], "group": ["x"]})
        >>> [view.title for view in table.seen_as(columns=["run"], title="Runs").seen]
        ['Runs']
        """
        return replace(self, seen=(*views, View(self, **how)) if how else views)

    def where(self, mask: Sequence[bool]) -> Table:
        """Return the rows for which a mask is true; `ArgumentError`: its length is not that of the table."""
        if len(mask) != len(self):
            raise ArgumentError("mask", f"must have {len(self):,} values", len(mask))
        return self.take([row for row, is_kept in enumerate(mask) if is_kept])

    def order(self, by: str, *, descending: bool = False) -> list[int]:
        """Return row numbers sorted by a column.

        Equal cells keep their order, undefined ones are last; 9 is before 10 in text, too.
        """
        cells: list[Any] = self.cells(by)
        if self.column(by).kind in ("text", "given_grade"):
            cells = [None if cell is None else natural_key(str(cell)) for cell in cells]
        known = [row for row, cell in enumerate(cells) if cell is not None]
        unknown = [row for row, cell in enumerate(cells) if cell is None]
        known.sort(key=lambda row: cells[row], reverse=descending)
        return known + unknown

    def sort(self, by: str, *, descending: bool = False) -> Table:
        """Return the rows sorted by a column: equal cells keep their order, undefined are last."""
        return self.take(self.order(by, descending=descending))

    def head(self, number: int) -> Table:
        """Return the first rows."""
        return self.take(range(min(number, len(self))))

    def select(self, names: Sequence[str]) -> Table:
        """Return some columns, in this order."""
        columns = [self.column(name) for name in names]
        return replace(self, columns=columns, data={name: self.data[name] for name in names})

    def to_dict(self) -> dict[str, list[Cell]]:
        """Return a list of cells for every column; undefined is ``None``."""
        return {column.name: self.cells(column.name) for column in self.columns}

    def to_records(self) -> list[dict[str, Cell]]:
        """Return a dict for every row; undefined is ``None``."""
        data = self.to_dict()
        return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas DataFrame: `Int64` and `boolean` where a cell is undefined."""
        frames = _library("pandas")
        series = {}
        for column, cells in self._framed():
            kinds = _PANDAS_WITH_NONE if None in cells else _PANDAS
            kind = "datetime64[us, UTC]" if column.kind in _MOMENTS else kinds.get(column.kind, "object")
            series[column.name] = frames.Series(cells, dtype=kind)
        return frames.DataFrame(series)

    def to_polars(self) -> polars.DataFrame:
        """Return a polars DataFrame; undefined is null."""
        frames = _library("polars")
        plain = frames.String, frames.Int64, frames.Float64, frames.Boolean
        kinds = _kinds(*plain, moment=frames.Datetime("us", "UTC"), several=frames.List)
        schema = {column.name: kinds.get(column.kind) for column in self.columns}
        return frames.DataFrame({column.name: cells for column, cells in self._framed()}, schema=schema)

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow Table; undefined is null. The extra `arrow` brings pyarrow."""
        arrow = _library("pyarrow")
        plain = arrow.string(), arrow.int64(), arrow.float64(), arrow.bool_()
        kinds = _kinds(*plain, moment=arrow.timestamp("us", "UTC"), several=arrow.list_)
        made = {one.name: arrow.array(cells, type=kinds.get(one.kind)) for one, cells in self._framed()}
        return arrow.table(made)

    def _framed(self) -> Iterator[tuple[Column, list[Any]]]:
        """Yield the cells of every column as frames have them: given grades, numbers and words, as text."""
        for column in self.columns:
            cells: list[Any] = self.cells(column.name)
            if column.kind == "given_grade":
                cells = [None if cell is None else str(cell) for cell in cells]
            yield column, cells

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


_MOMENTS = ("moment", "day", "instant")
_PANDAS = {"int": "int64", "float": "float64", "bool": "bool"}
_PANDAS_WITH_NONE = {"int": "Int64", "float": "float64", "bool": "boolean"}


def _kinds(
    text: Any, whole: Any, fraction: Any, truth: Any, *, moment: Any, several: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return a library's kind for each kind of column; those of records it finds itself."""
    return {
        **dict.fromkeys(("text", "given_grade"), text),
        "int": whole,
        "float": fraction,
        "bool": truth,
        **dict.fromkeys(_MOMENTS, moment),
        "texts": several(text),
        "ints": several(whole),
    }


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise PoolerError(f"{package} is not installed", hint=f"pip install '{package}'") from error


def _cells(column: Column, values: Any) -> list[Any]:
    """Return values of a column as Python's own; undefined is ``None``."""
    cells: list[Any]
    if hasattr(values, "tolist"):
        cells = values.tolist()
    else:  # a list may hold numbers of an array
        cells = [cell.item() if hasattr(cell, "item") else cell for cell in values]
    if column.kind == "float":
        # A count among fractions stays whole.
        cells = [None if cell is None or cell != cell else cell for cell in cells]
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What people see of a table."""

    table: Table
    columns: Sequence[str | Column] = ()
    """By name, or declared anew with another heading; default all that are shown to people."""
    rows: Sequence[int] | None = None
    """Numbers of rows, in order; ``None`` = all as they stand."""
    title: str | None = None
    """Default the table's."""
    notes: Sequence[str] | None = None
    """Default the table's."""
    limit: int | None = None
    """Rows that people see unless they ask for more; ``None`` = all."""
    of_rows: str = "row"
    """What a row is, for the line that says how many are shown."""
    is_part: bool = False
    """Of more rows, which may differ where these do not."""
    is_whole: bool = False
    """Shown whole, for any number of rows asked for, as single facts are."""

    def declared(self) -> list[Column]:
        """Return the columns that it chooses from."""
        table = self.table
        return [table.column(one) if isinstance(one, str) else one for one in self.columns or table.columns]

    def shown(self) -> Table:
        """Return the rows, with what people read above and below them."""
        table = self.table if self.rows is None else self.table.take(self.rows)
        title = table.title if self.title is None else self.title
        return replace(table, title=title, notes=table.notes if self.notes is None else self.notes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plot:
    """A picture of a table, which `--plot` and the report draw as a chart."""

    table: Table
    kind: Literal["bars", "stacks", "dots", "lines"]
    label: str | tuple[str, ...]
    """Column of the names that run down, several beside each other, or of the places across."""
    value: str = ""
    """Column of the numbers; not needed where there are `parts`."""
    low: str | None = None
    """Column of the lower end of an interval."""
    high: str | None = None
    parts: Sequence[str] = ()
    """Columns of several numbers of one label: bars side by side, stacks, lines."""
    axis: str = ""
    """What the numbers are, along their axis."""
    ends: tuple[float | None, float | None] = (None, None)
    """Of the axis, unless numbers lie beyond."""
    stepped: Sequence[str] = ()
    """Lines whose value stays until the next place."""
    few: tuple[str, int] | None = None
    """Column that counts what a number is of, and the count below which it says little."""
    title: str = ""
    words: Sequence[str] = ()
    """What a dot is, and what its interval."""
    by: str = ""
    """Column by which rows fall from above; default they stand as in the table."""
    below: str = ""
    """Sentence below the picture."""

    def rows(self) -> Table:
        """Return the rows in the order in which they are drawn."""
        return self.table.sort(self.by, descending=True) if self.by else self.table

    def heading(self) -> str:
        """Return what the labels are."""
        return ", ".join(self.table.column(name).title for name in self._names())

    def labels(self) -> list[str]:
        """Return the label of every row, in the order in which they are drawn."""
        columns = map(self.rows().cells, self._names())
        return [", ".join(map(str, cells)) for cells in zip(*columns, strict=True)]

    def _names(self) -> tuple[str, ...]:
        return (self.label,) if isinstance(self.label, str) else self.label


@dataclass(frozen=True, slots=True, eq=False)
class RenderedView:
    """A view worked out: headings, cells as text, and the lines below."""

    title: str
    columns: list[Column]
    cells: list[list[str]]
    """By column."""
    caption: list[str]
    """Lines of words, not folded."""


def render_view(view: View) -> RenderedView:
    """Work out what people see of a view."""
    table = view.shown()
    columns, same, named = _chosen(table, view.declared())
    cells = [_texts(table, column) for column in columns]
    codes = {
        code: words[code]
        for column, texts in zip(columns, cells, strict=True)
        if column.kind == "text" and (column.interval or column.name.endswith("reason"))
        for words in [REASONS | OF_PAIRS if column.of_pairs else REASONS]
        for text in texts
        for code in text.split(", ")
        if code in words
    }
    caption = [
        *table.notes,
        *([f"the same in every row{' shown' * view.is_part}: {', '.join(same)}"] if same else []),
        *dict.fromkeys(f"{column.title.strip()}: {column.about}." for column in named if column.about),
        *(f"{code}: {words}." for code, words in codes.items()),
    ]
    return RenderedView(table.title, columns, cells, [line for line in caption if line])


def written(cell: Cell, column: Column) -> str:
    """Write one cell for people: undefined is a dash, moments are local, nothing steers a terminal.

    >>> written(0.25, Column("p", "float", digits=3)), written(None, Column("n", "int"))
    ('0.250', '-')
    >>> written(1200, Column("n", "int")), written(["a", "b"], Column("pools", "texts"))
    ('1,200', 'a b')
    >>> written(0.004, Column("p", "float", digits=2, is_chance=True))
    '<.01'
    """
    if cell is None or cell == "":
        return "-" if cell is None else ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        least = 10.0**-column.digits
        is_less = column.is_chance and cell < least
        return f"<{least:.{column.digits}f}".replace("0.", ".") if is_less else f"{cell:.{column.digits}f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, datetime):
        if column.kind == "instant":
            return f"{cell.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"{cell.astimezone():{'%Y-%m-%d' if column.kind == 'day' else '%Y-%m-%d %H:%M'}}"
    if isinstance(cell, str):
        return sanitise_line(cell)
    if column.kind == "records":
        return f"{len(cell):,}"
    return sanitise_line(" ".join(map(str, cell))) or "-"


def tsv_lines(table: Table) -> Iterator[str]:
    r"""Yield tab separated values with a header: undefined is empty, a list is joined by blanks.

    >>> [*tsv_lines(Table("t", [Column("run"), Column("ap", "float")], {"run": ["a"], "ap": [0.5]}))]
    ['run\tap', 'a\t0.5']
    """
    yield "\t".join(column.name for column in table.columns)
    for block in table.blocks():
        cells = (map_cells(_tsv_cell, block[one.name], one.kind) for one in table.columns)
        yield from map("\t".join, zip(*cells, strict=True))


def _tsv_cell(cell: Cell, kind: str) -> str:
    """Write one cell; text loses tabs and line ends, never quotes."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(cell)
    if isinstance(cell, datetime):
        return moment_text(cell, kind)
    if kind == "records" and isinstance(cell, Sequence):
        return str(len(cell))
    return sanitise_line(str(cell) if isinstance(cell, str | int) else " ".join(map(str, cell)))


def moment_text(moment: datetime, kind: str) -> str:
    """Write a moment as programs read it: ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds" if kind == "instant" else "seconds")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write the first names one after the other, and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], 1)
    ('a, b', 'a and 2 more')
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more:,} more"


def cells_where(is_there: Any, values: Any) -> list[Any]:
    """Return the values of an array as cells, ``None`` where another array is false."""
    return [value if there else None for there, value in zip(is_there.tolist(), values.tolist(), strict=True)]


def map_cells(write: Callable[..., Form], cells: Sequence[Any], *more: Any) -> list[Form]:
    """Make something of every cell, and of what is `more`: once of equal ones, where these look alike.

    >>> map_cells(str, [7, None, 7]), map_cells(str, [0.0, -0.0, True])
    (['7', 'None', '7'], ['0.0', '-0.0', 'True'])
    """
    kinds = set(map(type, cells)) - {type(None)}
    if kinds <= {str} or kinds <= {int}:
        made = {cell: write(cell, *more) for cell in set(cells)}
        return list(map(made.__getitem__, cells))
    return [write(cell, *more) for cell in cells]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.value if isinstance(value, StrEnum) else value


def _chosen(table: Table, declared: Sequence[Column]) -> tuple[list[Column], list[str], list[Column]]:
    """Return the columns that people see, the only value of others in words, and the columns of both."""
    columns: list[Column] = []
    same: list[str] = []
    named: list[Column] = []
    for place, column in enumerate(declared):
        if column.show == "never":
            continue
        cells = [] if column.interval else table.cells(column.name)
        if column.show == "if_any" and not any(cells):
            continue
        named.append(column)
        if column.kind == "day":  # people see no more of it
            cells = [written(cell, column) for cell in cells]
        if column.show == "if_varied" and place and _is_same(column, cells):
            same.append(f"{column.title} {written(cells[0], column)}")
            continue
        columns.append(column)
    return columns, same, named


def _is_same(column: Column, cells: Sequence[Cell]) -> bool:
    if not cells or any(cell != cells[0] for cell in cells):
        return False
    return cells[0] in column.usual if column.usual else len(cells) > 1


def _texts(table: Table, column: Column) -> list[str]:
    """Write the cells of a column; of an interval its limits, or why there are none."""
    if column.interval is None:
        return map_cells(written, table.cells(column.name), column)
    low, high = map(table.cells, column.interval)
    names = [name for name in ("reason", "interval_reason") if name in table.data]
    reasons = list(zip(*map(table.cells, names), strict=True)) or [()] * len(table)
    return [
        _interval(first, last, column.digits)
        if isinstance(first, float) and isinstance(last, float)
        else str(next(filter(None, why), "-"))
        for first, last, why in zip(low, high, reasons, strict=True)
    ]


def _interval(low: float, high: float, digits: int) -> str:
    """Write an interval, with up to two decimals more where its limits look like one.

    >>> _interval(0.55, 0.64, 2), _interval(0.9951, 0.9974, 2), _interval(-0.1, -0.004, 2)
    ('0.55 to 0.64', '0.995 to 0.997', '-0.10 to 0.00')
    """
    for more in range(digits, digits + 3):
        first, last = (f"{limit:z.{more}f}" for limit in (low, high))
        if first != last or low == high:
            break
    return f"{first} to {last}"
