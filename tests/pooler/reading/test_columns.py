"""`pooler.reading.columns`: one field of many lines."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.columns import LONGEST_FIELD, FieldColumn
from tests.strategies import ids

fields_of_lines = st.lists(
    ids.map(str.encode) | st.binary(min_size=1, max_size=20).map(lambda raw: raw.replace(b"\0", b"a")),
    min_size=1,
    max_size=12,
)


@given(fields_of_lines, st.data())
def test_packed_fields_are_those_of_the_lines(fields: list[bytes], data: st.DataObject) -> None:
    """Any lines, in any order and repeated, give their fields joined by newlines."""
    column = FieldColumn.of(fields)
    rows = data.draw(st.lists(st.integers(0, len(fields) - 1), max_size=15))
    expected = b"\n".join(fields[row] for row in rows)
    assert column[np.array(rows, np.int64)].packed() == expected
    assert [column[row] for row in range(len(column))] == fields


@given(fields_of_lines, st.integers(0, 12), st.integers(0, 12))
def test_slices_are_columns_of_some_lines(fields: list[bytes], start: int, end: int) -> None:
    """A slice of a column holds what the same slice of a list holds."""
    part = FieldColumn.of(fields)[start:end]
    assert [part[row] for row in range(len(part))] == fields[start:end]


@given(fields_of_lines)
def test_words_are_equal_exactly_where_fields_are(fields: list[bytes]) -> None:
    """Comparing all words is comparing the fields, whatever stands behind them in the block."""
    words = FieldColumn.of(fields).words()
    for row, field in enumerate(fields):
        for other, another in enumerate(fields):
            assert all(word[row] == word[other] for word in words) == (field == another)


@given(fields_of_lines)
def test_keys_of_equal_fields_are_equal(fields: list[bytes]) -> None:
    """No document twice in a topic goes unseen; so few others collide that none does here."""
    keys = FieldColumn.of(fields).keys().tolist()
    assert len(set(keys)) == len(set(fields))


@given(fields_of_lines, fields_of_lines)
def test_keys_are_the_same_whatever_stands_beside(fields: list[bytes], others: list[bytes]) -> None:
    """A document has one key in every block, so that it is seen twice across blocks too."""
    alone = [int(FieldColumn.of([field]).keys()[0]) for field in fields]
    together = FieldColumn.of([*others, *fields]).keys().tolist()
    assert together[len(others) :] == alone


def test_keys_of_docnos_that_differ_in_few_places_are_different() -> None:
    """Ids that count in the last characters of two words, as many do, do not collide."""
    numbers = range(300)
    docnos = [b"clueweb%03d-en000%04d" % (one, two) for one in numbers for two in numbers]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == 300 * 300
    tops = [bytes([one]) * 7 + bytes([two]) for one in range(33, 126) for two in range(33, 126)]
    docnos = [one + two for one in tops[::7] for two in tops[::19]]
    assert len(np.unique(FieldColumn.of(docnos).keys())) == len(docnos)


@given(fields_of_lines)
def test_changes_are_where_a_field_differs_from_the_one_before(fields: list[bytes]) -> None:
    """Runs of equal fields begin where they begin in a list."""
    expected = [row for row in range(1, len(fields)) if fields[row] != fields[row - 1]]
    assert FieldColumn.of(fields).changes().tolist() == expected


def test_longest_field_at_the_end_is_read() -> None:
    """Windows on the last field stay inside the block, also when all before it are longer."""
    fields = [b"x" * LONGEST_FIELD, b"y" * (LONGEST_FIELD - 1), b"z"]
    column = FieldColumn.of(fields)
    assert column.packed() == b"\n".join(fields)
    assert len(set(column.keys().tolist())) == 3
