"""Tables as data frames of pandas, polars and pyarrow, where those are installed."""

from __future__ import annotations

from collections.abc import Callable
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
    frames = _library("pandas")
    series = {}
    for column in table.columns:
        cells = _cells(table, column)
        kinds = _PANDAS_WITH_NONE if None in cells else _PANDAS
        kind = "datetime64[us, UTC]" if column.kind in _MOMENTS else kinds.get(column.kind, "object")
        series[column.name] = frames.Series(cells, dtype=kind)
    return frames.DataFrame(series)


def to_polars(table: Table) -> polars.DataFrame:
    """Return a polars DataFrame; undefined is null."""
    frames = _library("polars")
    moment = frames.Datetime("us", "UTC")
    kinds = _kinds(
        frames.String, frames.Int64, frames.Float64, frames.Boolean, moment=moment, listed=frames.List
    )
    schema = {column.name: kinds.get(column.kind) for column in table.columns}
    return frames.DataFrame({column.name: _cells(table, column) for column in table.columns}, schema=schema)


def to_arrow(table: Table) -> pyarrow.Table:
    """Return a pyarrow Table; undefined is null."""
    arrow = _library("pyarrow")
    moment = arrow.timestamp("us", "UTC")
    kinds = _kinds(
        arrow.string(), arrow.int64(), arrow.float64(), arrow.bool_(), moment=moment, listed=arrow.list_
    )
    return arrow.table(
        {
            column.name: arrow.array(_cells(table, column), type=kinds.get(column.kind))
            for column in table.columns
        }
    )


def write_parquet(table: Table, file: BinaryIO) -> None:
    """Write a table as a Parquet file."""
    arrow = to_arrow(table)
    _library("pyarrow.parquet").write_table(arrow, file)


def _kinds(
    text: Any, whole: Any, fraction: Any, truth: Any, *, moment: Any, listed: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return a library's kind of each kind of column; of records it finds the kinds itself."""
    return {
        **dict.fromkeys(("text", "given_grade"), text),
        "int": whole,
        "float": fraction,
        "bool": truth,
        **dict.fromkeys(_MOMENTS, moment),
        "texts": listed(text),
        "ints": listed(whole),
    }


def _cells(table: Table, column: Column) -> list[Any]:
    """Return the cells of a column; of given grades, which are numbers and words, as text."""
    cells: list[Any] = table.cells(column.name)
    return [one if one is None else str(one) for one in cells] if column.kind == "given_grade" else cells


def _library(name: str) -> Any:
    """Import a library, or say what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        message = f"{package} is not installed"
        raise PoolerError(message, hint=f"pip install '{package}'") from error
