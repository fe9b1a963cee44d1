"""Tables as data frames of pandas, polars and pyarrow, where those are installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from store.errors import PoolerError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from pooler.results.table import Column, Table

_MOMENTS = ("moment", "day", "instant")
_PANDAS = {"int": "int64", "float": "float64", "bool": "bool"}
_PANDAS_WITH_NONE = {"int": "Int64", "float": "float64", "bool": "boolean"}


def to_pandas(table: Table) -> pandas.DataFrame:
    """Return a pandas DataFrame: `Int64` and `boolean` where a cell is undefined."""
    frames = _library("pandas", "pandas")
    series = {}
    for column in table.columns:
        cells = _cells(table, column)
        kinds = _PANDAS_WITH_NONE if None in cells else _PANDAS
        kind = "datetime64[us, UTC]" if column.kind in _MOMENTS else kinds.get(column.kind, "object")
        series[column.name] = frames.Series(cells, dtype=kind)
    return frames.DataFrame(series)


def to_polars(table: Table) -> polars.DataFrame:
    """Return a polars DataFrame; undefined is null."""
    frames = _library("polars", "polars")
    moment = frames.Datetime("us", "UTC")
    kinds = {
        "text": frames.String,
        "given_grade": frames.String,
        "int": frames.Int64,
        "float": frames.Float64,
        "bool": frames.Boolean,
        **dict.fromkeys(_MOMENTS, moment),
        "texts": frames.List(frames.String),
        "ints": frames.List(frames.Int64),
    }
    # Of records a library finds the kinds itself.
    schema = {column.name: kinds.get(column.kind) for column in table.columns}
    return frames.DataFrame({column.name: _cells(table, column) for column in table.columns}, schema=schema)


def to_arrow(table: Table) -> pyarrow.Table:
    """Return a pyarrow Table; undefined is null."""
    arrow = _library("pyarrow", "pyarrow")
    moment = arrow.timestamp("us", "UTC")
    kinds = {
        "text": arrow.string(),
        "given_grade": arrow.string(),
        "int": arrow.int64(),
        "float": arrow.float64(),
        "bool": arrow.bool_(),
        **dict.fromkeys(_MOMENTS, moment),
        "texts": arrow.list_(arrow.string()),
        "ints": arrow.list_(arrow.int64()),
    }
    return arrow.table(
        {
            column.name: arrow.array(_cells(table, column), type=kinds.get(column.kind))
            for column in table.columns
        }
    )


def write_parquet(table: Table, file: BinaryIO) -> None:
    """Write a table as a Parquet file."""
    arrow = to_arrow(table)
    _library("pyarrow.parquet", "pyarrow").write_table(arrow, file)


def _cells(table: Table, column: Column) -> list[Any]:
    """Return the cells of a column; of given grades, which are numbers and words, as text."""
    cells: list[Any] = table.cells(column.name)
    return [one if one is None else str(one) for one in cells] if column.kind == "given_grade" else cells


def _library(name: str, package: str) -> Any:
    """Import a library, or say what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        message = f"{name.partition('.')[0]} is not installed"
        raise PoolerError(message, hint=f"pip install '{package}'") from error
