"""Tables as pandas, polars and Arrow, where those are installed and where they are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from pooler.tables import Column, Table
from store.errors import PoolerError

WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
TABLE = Table(
    "all",
    [
        Column("run"), Column("map", "float"), Column("n", "int"), Column("whole", "int"),
        Column("fed", "bool"), Column("when", "moment"), Column("pools", "texts"), Column("ranks", "ints"),
    ],
    {
        "run": ["a", None], "map": [0.5, float("nan")], "n": [1, None], "whole": [1, 2],
        "fed": [True, None], "when": [WHEN, None], "pools": [["x", "y"], []], "ranks": [[1], []],
    },
)  # fmt: skip
RECORDS = [
    {
        "run": "a",
        "map": 0.5,
        "n": 1,
        "whole": 1,
        "fed": True,
        "when": WHEN,
        "pools": ["x", "y"],
        "ranks": [1],
    },
    {"run": None, "map": None, "n": None, "whole": 2, "fed": None, "when": None, "pools": [], "ranks": []},
]


def test_records_and_columns_need_no_library() -> None:
    """Undefined is None, whatever it was in an array."""
    assert TABLE.to_records() == RECORDS
    assert TABLE.to_dict() == {name: [row[name] for row in RECORDS] for name in RECORDS[0]}


def test_pandas_keeps_whole_numbers_whole() -> None:
    """An undefined cell makes no float of a column of integers, no object of one of booleans."""
    frame = TABLE.to_pandas()
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds["n"] == "Int64"
    assert kinds["whole"] == "int64"
    assert kinds["fed"] == "boolean"
    assert kinds["map"] == "float64"
    assert kinds["when"] == "datetime64[us, UTC]"
    assert frame["n"].tolist() == [1, pd.NA]
    assert frame["map"].isna().tolist() == [False, True]
    assert frame["pools"].tolist() == [["x", "y"], []]
    assert frame["when"][0] == WHEN


def test_polars_has_null_where_a_cell_is_undefined() -> None:
    """Each kind has its type; by method, and by Arrow's own interface."""
    frame = TABLE.to_polars()
    assert frame.to_dicts() == RECORDS
    assert frame.schema["ranks"] == pl.List(pl.Int64)
    assert pl.DataFrame(TABLE).to_dicts() == RECORDS


def test_arrow_has_the_same() -> None:
    """Read back, the cells are those of the table."""
    assert TABLE.to_arrow().to_pylist() == RECORDS
    assert pa.table(TABLE).to_pylist() == RECORDS


@pytest.mark.parametrize(
    ("name", "call", "package"),
    [
        ("pandas", Table.to_pandas, "pip install 'pandas'"),
        ("polars", Table.to_polars, "pip install 'polars'"),
        ("pyarrow", Table.to_arrow, "pip install 'pyarrow'"),
        ("pyarrow", pl.DataFrame, "pip install 'pyarrow'"),
    ],
)
def test_what_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, call: Callable[[Table], Any], package: str
) -> None:
    """An error of one line with what to type; records need nothing."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PoolerError, match=f"{name} is not installed") as caught:
        call(TABLE)
    assert caught.value.hint == package
    assert TABLE.to_records() == RECORDS
