"""Rows written raw: their checksums are those that `pooler verify` compares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table

from store.db.columns import is_of
from store.db.raw import checksum_of, guarded_tables, with_checksums
from store.db.tables import DOCUMENT
from tests.helpers.world import checksum_by_definition

pytestmark = pytest.mark.slow

TABLES = {table.name: table for table in guarded_tables()}


def rows_of(table: Table) -> st.SearchStrategy[list[list[Any]]]:
    """Draw rows as SQLite keeps them, empty where they may be; the checksum is not known."""
    columns = []
    for column in table.columns:
        value: st.SearchStrategy[Any] = st.text(max_size=4)
        if is_of(column, LargeBinary):
            value = st.binary(max_size=5)
        elif is_of(column, Float):
            value = st.floats()
        elif is_of(column, Boolean) or is_of(column, Integer):
            value = st.integers(-(2**63), 2**63 - 1)
        may_be_empty = column.nullable or column.name == "id"
        columns.append(
            st.none() if column.name == "checksum" else st.none() | value if may_be_empty else value
        )
    return st.lists(st.tuples(*columns).map(list), max_size=4)


@pytest.mark.parametrize("name", TABLES)
@given(data=st.data())
def test_checksums_are_those_of_the_definition(name: str, data: st.DataObject) -> None:
    """What is made of the columns of a table gives what their values, looked at one by one, give."""
    names = [column.name for column in TABLES[name].columns]
    rows = data.draw(rows_of(TABLES[name]))
    written = list(with_checksums(TABLES[name], rows))
    for row, one in zip(rows, written, strict=True):
        told = dict(zip(names, row, strict=True))
        assert dict(zip(names, one, strict=True)) == {**told, "checksum": checksum_by_definition(told)}


@given(data=st.data())
def test_columns_may_come_in_any_order_and_be_left_out(data: st.DataObject) -> None:
    """A row of some columns has the checksum of the whole row, in which the others are empty."""
    table = TABLES["judgement"]
    whole = [one.name for one in table.columns]
    given_names = data.draw(st.permutations(whole).map(lambda names: names[: len(names) // 2]))
    [row] = data.draw(rows_of(table).filter(bool).map(lambda rows: rows[:1]))
    told = dict(zip(whole, row, strict=True))
    checksum = checksum_of(table, tuple(given_names))
    some = {name: told[name] for name in whole if name in given_names}
    assert checksum([told[name] for name in given_names]) == checksum_by_definition(some)


def test_rows_of_other_tables_are_left_alone() -> None:
    """A table without checksums is written as it is given."""
    rows = [(1, "d1", 1, b"", b"", "sha")]
    assert list(with_checksums(DOCUMENT, rows)) == rows
