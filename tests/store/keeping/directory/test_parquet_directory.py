"""A directory of Parquet: another reader sees its tables, and it is the same collection again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.errors import PoolerError
from store.keeping.directory.contract import ExportChoice
from store.keeping.directory.folder import read_directory
from tests.store import full_collection
from tests.store.keeping.directory.test_round_trip import PHASES, export, make
from tests.strategies import examples

PARQUET = ExportChoice(layout="parquet")


def comes_back(folder: Path, where: str) -> None:
    """See that a collection, by way of Parquet, exports to the bytes it exported to before."""
    text = export(where, folder / "text", ExportChoice())
    rows = export(where, folder / "rows", PARQUET)
    read_directory(str(folder / "again.db"), folder / "rows")
    assert export(str(folder / "again.db"), folder / "text again", ExportChoice()) == text
    assert export(str(folder / "again.db"), folder / "rows again", PARQUET) == rows
    tables = {name for name in text if name.endswith((".tsv", ".jsonl", ".run", ".qrels"))}
    assert {name.removesuffix(".parquet") for name in rows if name.endswith(".parquet")} == tables


def test_full_collection_comes_back_by_parquet(tmp_path: Path) -> None:
    """Text to Parquet to text: every byte; and Parquet to collection to Parquet."""
    full_collection.fill(str(tmp_path / "a.db"))
    comes_back(tmp_path, str(tmp_path / "a.db"))


@pytest.mark.slow
@settings(max_examples=examples(20), phases=PHASES)
@given(st.data())
def test_any_collection_comes_back_by_parquet(data: st.DataObject) -> None:
    """Control characters, lone surrogates, runs without ranks: all come back."""
    with tempfile.TemporaryDirectory() as name:
        where = str(Path(name) / "a.db")
        make(where, data)
        comes_back(Path(name), where)


def test_another_reader_sees_kinds_and_values(tmp_path: Path) -> None:
    """Polars reads numbers as numbers, what is not known as null, and texts as they are."""
    full_collection.fill(str(tmp_path / "a.db"))
    export(str(tmp_path / "a.db"), tmp_path / "rows", PARQUET)
    entries = polars.read_parquet(tmp_path / "rows/pools/pool.tsv.parquet")
    assert entries["position"].dtype == polars.Int64
    assert entries["priority"].dtype == polars.Float64
    assert entries["priority"].null_count() == len(entries)
    assert set(entries["topic"]) == {"1", "007"}
    run = polars.read_parquet(tmp_path / "rows/runs/bm25.run.parquet")
    assert run.columns == ["topic", "docno", "rank", "score", "tag"]
    assert run.dtypes[2:4] == [polars.Int64, polars.Float64]
    documents = polars.read_parquet(tmp_path / "rows/documents.jsonl.parquet")
    assert documents["text"][0] == full_collection.TEXT + "d00"


def test_folder_of_others_is_refused_as_a_collection(tmp_path: Path) -> None:
    """A BEIR folder is no whole collection: the message says what takes its files."""
    full_collection.fill(str(tmp_path / "a.db"))
    export(str(tmp_path / "a.db"), tmp_path / "beir", ExportChoice(layout="beir"))
    with pytest.raises(PoolerError, match="laid out as beir: it does not hold a whole collection"):
        read_directory(str(tmp_path / "b.db"), tmp_path / "beir")
    assert not (tmp_path / "b.db").exists()
