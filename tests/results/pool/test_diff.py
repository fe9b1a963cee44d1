"""`pool_diff`: pools in memory, files, and those of a collection."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooler import pool, pool_diff
from store.errors import ArgumentError, StoreError


def test_pools_in_memory_and_files_are_compared_alike(tmp_path: Path) -> None:
    """A pool, the file it is written to, and the pairs in it are one and the same."""
    found = pool({"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"a": 1.0}, "10": {"c": 1.0}}}, depth=2)
    found.write(tmp_path / "pool.txt")
    for same in (found.pool, tmp_path / "pool.txt", {("1", "a"), ("1", "b"), ("10", "c")}):
        compared = pool_diff(same, {("1", "b"), ("2", "d")})
        assert (compared.only_a, compared.only_b) == ([("1", "a"), ("10", "c")], [("2", "d")])
        assert compared.both == [("1", "b")]
    assert compared.names() == ("summary", "topics", "documents")
    assert compared.table("summary").to_dict()["reason"] == ["no-collection"] * 3
    assert "judged" not in compared.views("summary")[0].columns
    assert compared.table("topics").notes == ["3 topics of 3 differ."]


def test_a_name_needs_a_collection() -> None:
    """What is no file can only be a pool, and standard input is read once."""
    with pytest.raises(StoreError, match="whose pool it could be"):
        pool_diff("main", {("1", "a")})
    with pytest.raises(ArgumentError, match="read once"):
        pool_diff("-", "-")
