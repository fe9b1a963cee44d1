"""Packed arrays give back exactly the numbers that went in, in few bytes, on either engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sqlalchemy import select
from sqlmodel import SQLModel

from store.db.columns import raw_form, raw_rows
from store.db.engine import reading
from store.db.packing import (
    pack_floats,
    pack_integers,
    pack_ranking,
    packed_elements,
    unpack_floats,
    unpack_integers,
)
from store.db.tables import JUDGEMENT
from store.overview import float_at, read_ids
from store.ranking import rank_order
from tests.helpers.full_collection import fill
from tests.helpers.world import carry, engine_of

INT64 = np.iinfo(np.int64)
N_VALUES = st.integers(0, 40)

any_integers = arrays(np.int64, N_VALUES)
small_integers = arrays(np.int64, N_VALUES, elements=st.integers(-3, 70_000))
steps = st.builds(
    lambda first, n: np.arange(n, dtype=np.int64) + first, st.integers(INT64.min, INT64.max - 40), N_VALUES
)
edges = st.lists(
    st.sampled_from([INT64.min, INT64.min + 1, -1, 0, 1, 255, 256, 65_535, 65_536,
                     2**31 - 1, 2**31, -(2**31), -(2**31) - 1, INT64.max - 1, INT64.max]),
    max_size=4,
).map(lambda values: np.array(values, dtype=np.int64))  # fmt: skip

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
any_floats = arrays(np.float64, N_VALUES, elements=finite)
narrow_floats = arrays(
    np.float64, N_VALUES, elements=st.floats(allow_nan=False, allow_infinity=False, width=32)
)


@st.composite
def decimal_texts(draw: st.DrawFn) -> np.ndarray:
    """Draw scores as a run file writes them: decimal digits read by `float`."""
    decimals = draw(st.integers(1, 9))
    digits = draw(st.lists(st.integers(-(10**12), 10**12), max_size=40))
    texts = [f"{value // 10**decimals}.{value % 10**decimals:0{decimals}d}" for value in digits]
    return np.array([float(text) for text in texts], dtype=np.float64)


def bits(values: np.ndarray) -> list[int]:
    """View floats as the integers of their bits, so that -0.0 is not 0.0."""
    return values.view(np.int64).tolist()


@given(any_integers | small_integers | steps | edges)
@example(np.array([INT64.max, INT64.min]))  # their difference wraps to 1
@example(np.array([INT64.max]))
@example(np.array([INT64.max - 1, INT64.max]))
@example(np.array([INT64.min]))
@example(np.array([], dtype=np.int64))
def test_integers_come_back(values: np.ndarray) -> None:
    """Every array of 64-bit integers comes back equal, as int64."""
    back = unpack_integers(pack_integers(values), len(values))
    assert back.dtype == np.int64
    assert back.tolist() == values.tolist()


@given(any_floats | narrow_floats | decimal_texts())
@example(np.array([-0.0]))
@example(np.array([0.0, -0.0, 1.5]))
@example(np.array([5e-324, -5e-324, 2.2250738585072009e-308]))
@example(np.array([1e308, -1.7976931348623157e308, 0.5]))
@example(np.array([2147483647.0, -2147483647.0]))
@example(np.array([2147483648.0, -2147483648.0]))
@example(np.array([214748364.7, 0.1]))
@example(np.array([16777217.0, 0.5]))  # the first integer a 32-bit float cannot hold
@example(np.array([], dtype=np.float64))
def test_floats_come_back_bit_for_bit(values: np.ndarray) -> None:
    """Every array of finite floats comes back with the same bits."""
    back = unpack_floats(pack_floats(values))
    assert back.dtype == np.float64
    assert bits(back) == bits(values)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (list(range(1, 1001)), 9),
        (list(range(-5, 5)), 9),
        ([0, 255, 7], 1 + 3),
        ([0, 256, 7], 1 + 2 * 3),
        ([0, 65_535, 7], 1 + 2 * 3),
        ([0, 65_536, 7], 1 + 4 * 3),
        ([-1, 5, 7], 1 + 4 * 3),
        ([-(2**31), 2**31 - 1, 7], 1 + 4 * 3),
        ([2**31, 0, 7], 1 + 8 * 3),
        ([INT64.min, INT64.max, 7], 1 + 8 * 3),
        ([], 1),
    ],
)
def test_integers_take_the_narrowest_form(values: list[int], size: int) -> None:
    """Consecutive integers take 9 bytes; others 1, 2, 4 or 8 each, by the largest."""
    assert len(pack_integers(np.array(values, dtype=np.int64))) == size


def test_packed_bytes_are_little_endian() -> None:
    """The bytes are those the module's table says, whatever the machine."""
    assert pack_integers(np.array([1, 256])) == b"h" + bytes([1, 0, 0, 1])
    assert pack_integers(np.array([-1, 5])) == b"i" + bytes([255] * 4 + [5, 0, 0, 0])
    assert pack_floats(np.array([1.5, -0.2])) == b"1" + bytes([15, 0, 0, 0, 254, 255, 255, 255])
    assert pack_floats(np.array([-0.0])) == b"f" + bytes([0, 0, 0, 128])


few_values = st.lists(
    st.sampled_from([0.0, -0.0, 1.5, 1.50000001, -2.0, 1 / 3, 16777217.0, 214748364.7, 1e300]), max_size=8
).map(lambda values: np.array(values, dtype=np.float64))


@given(few_values | any_floats | decimal_texts())
@example(np.array([0.0, -0.0]))
@example(np.array([2147483647.0, 2147483646.0]))
@example(np.array([2.147483647, 2.147483646]))
def test_packed_elements_compare_as_the_floats_do(values: np.ndarray) -> None:
    """Elements are equal, or less, exactly where the floats are, -0.0 and 0.0 being equal."""
    elements = packed_elements(pack_floats(values))
    assert elements.shape == values.shape
    with np.errstate(invalid="ignore"):
        assert ((elements[:, None] == elements) == (values[:, None] == values)).all()
        assert ((elements[:, None] < elements) == (values[:, None] < values)).all()


def slow_pack_floats(values: np.ndarray) -> bytes:
    """Try every form on all values, the narrowest first: what `pack_floats` must answer."""
    for decimals in range(10):
        scaled = [round(value * 10.0**decimals) for value in values.tolist()]
        exact = all(one / 10.0**decimals == value for one, value in zip(scaled, values.tolist(), strict=True))
        fits = all(abs(one) <= 2**31 - 1 for one in scaled)
        has_minus_zero = any(value == 0 and np.signbit(value) for value in values)
        if exact and fits and not has_minus_zero:
            return str(decimals).encode() + np.array(scaled, "<i4").tobytes()
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype("<f4")
    if (narrow.astype(np.float64) == values).all():
        return b"f" + narrow.tobytes()
    return b"d" + values.astype("<f8").tobytes()


@given(few_values | any_floats | narrow_floats | decimal_texts())
def test_few_values_rule_out_no_form_that_fits(values: np.ndarray) -> None:
    """The form taken is the first that gives all values back, and no value raises a warning."""
    values = values[np.abs(values) < 1e290]  # above it the slow reference overflows
    assert pack_floats(values) == slow_pack_floats(values)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.0, -0.0, 1.0, 2.5]),
                  st.integers(0, 9)),
        unique_by=lambda line: line[0],
    ),
    st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_ranking_is_packed_in_trec_order(
    lines: list[tuple[str, float, int]], has_ranks: bool, is_sorted: bool
) -> None:
    """Numbers, scores, ranks and positions stand in trec order, whatever the file's order is."""
    if is_sorted:
        lines.sort(key=lambda line: (line[1], line[0]), reverse=True)
    docnos = [line[0] for line in lines]
    scores = np.array([line[1] for line in lines], dtype=np.float64)
    ranks = np.array([line[2] for line in lines], dtype=np.int64)
    numbers = np.array([ord(docno) for docno in docnos], dtype=np.int32)
    packed = pack_ranking("t", docnos, numbers, scores, ranks if has_ranks else None)
    places = rank_order(docnos, scores)
    assert (packed.topic, packed.length) == ("t", len(lines))
    assert np.frombuffer(packed.documents, "<i4").tolist() == numbers[places].tolist()
    assert bits(unpack_floats(packed.scores)) == bits(scores[places])
    assert unpack_integers(packed.positions, packed.length).tolist() == places.tolist()
    assert (packed.ranks is None) == (not has_ranks)
    if packed.ranks is not None:
        assert unpack_integers(packed.ranks, packed.length).tolist() == ranks[places].tolist()


ids = st.lists(st.integers(1, 2**31 - 1), unique=True, max_size=30)
few_digits = st.integers(-99_999, 99_999).map(lambda number: number / 1000)
scores = st.one_of(
    few_digits, st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32,
                                                                           allow_nan=False,
                                                                           allow_infinity=False)
)  # fmt: skip


@given(ids)
def test_ids_are_those_of_the_list(documents: list[int]) -> None:
    """Every id is read, in order."""
    assert read_ids(np.array(documents, "<i4").tobytes()) == tuple(documents)


def test_ranking_without_documents_has_no_bytes() -> None:
    """SQLite may give no value for no bytes."""
    assert read_ids(None) == read_ids(b"") == ()


@given(st.one_of(st.lists(few_digits, min_size=1), st.lists(scores, min_size=1)))
def test_one_number_is_that_of_all(values: list[float]) -> None:
    """In every form a number read alone is the very one that was packed, bit for bit."""
    packed = pack_floats(np.array(values))
    alone = [float_at(packed, place) for place in range(len(values))]
    assert alone == values == unpack_floats(packed).tolist()
    assert np.signbit(alone).tolist() == np.signbit(values).tolist()


def test_rows_are_what_sqlite_has(tmp_path: Path, postgres_url: str) -> None:
    """Both engines give what SQLite says the file has, in the order of the keys."""
    name = str(tmp_path / "full.db")
    fill(name)
    carry(name, postgres_url)
    with (
        engine_of(name) as here,
        engine_of(postgres_url) as there,
        reading(here) as file,
        reading(there) as server,
        closing(sqlite3.connect(name)) as connection,
    ):
        for table in SQLModel.metadata.sorted_tables:
            keys = ", ".join(column.name for column in table.primary_key)
            stored = connection.execute(f'SELECT * FROM "{table.name}" ORDER BY {keys}').fetchall()
            assert [tuple(row) for row in raw_rows(file, table)] == stored, table.name
            assert [tuple(row) for row in raw_rows(server, table)] == stored, table.name
        chosen = list(raw_rows(server, JUDGEMENT, where="revision = 1"))
        assert {row[4] for row in chosen} == {1}


def test_values_become_what_is_stored(tmp_path: Path) -> None:
    """What the program reads as objects is turned into what the file has, column by column."""
    name = str(tmp_path / "full.db")
    fill(name)
    with engine_of(name) as engine, reading(engine) as session:
        for table in SQLModel.metadata.sorted_tables:
            keys = list(table.primary_key)
            objects = session.execute(select(table).order_by(*keys)).all()
            raw = [
                tuple(
                    None if value is None else raw_form(column)(value)
                    for column, value in zip(table.columns, row, strict=True)
                )
                for row in objects
            ]
            assert raw == [tuple(row) for row in raw_rows(session, table)], table.name
