"""Rows written raw: their checksums are those that `pooler verify` compares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table

from store.db.columns import is_of
from store.db.raw import row_checksum, with_checksums
from store.db.tables import DOCUMENT, JUDGEMENT, PASSAGE, POOL_ENTRY

TABLES = {table.name: table for table in (JUDGEMENT, PASSAGE, POOL_ENTRY)}


def rows_of(table: Table) -> st.SearchStrategy[list[list[Any]]]:
    """Draw rows as SQLite keeps them, some values empty; the checksum is not known."""
    columns = []
    for column in table.columns:
        value: st.SearchStrategy[Any] = st.text(max_size=4)
        if is_of(column, LargeBinary):
            value = st.binary(max_size=5)
        elif is_of(column, Float):
            value = st.sampled_from([0.0, -0.0, 0.1, 1e300])
        elif is_of(column, Boolean) or is_of(column, Integer):
            value = st.integers(-(2**31), 2**31 - 1)
        columns.append(st.none() if column.name == "checksum" else st.none() | value)
    return st.lists(st.tuples(*columns).map(list), max_size=4)


@pytest.mark.parametrize("name", TABLES)
@given(data=st.data())
def test_checksums_are_those_of_single_rows(name: str, data: st.DataObject) -> None:
    """Laid out for many rows at once, they are what `row_checksum` gives one by one."""
    names = [column.name for column in TABLES[name].columns]
    rows = data.draw(rows_of(TABLES[name]))
    written = list(with_checksums(TABLES[name], rows))
    for row, one in zip(rows, written, strict=True):
        told = dict(zip(names, row, strict=True))
        expected = row_checksum(pair for pair in told.items() if pair[0] not in ("id", "checksum"))
        assert dict(zip(names, one, strict=True)) == {**told, "checksum": expected}


def test_rows_of_other_tables_are_left_alone() -> None:
    """A table without checksums is written as it is given."""
    rows = [(1, "d1", 1, b"", b"", "sha")]
    assert list(with_checksums(DOCUMENT, rows)) == rows
