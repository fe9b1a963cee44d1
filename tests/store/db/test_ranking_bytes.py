"""Single values of packed rankings: what unpacking the whole gives, at that place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.db.packing import pack_floats, unpack_floats
from store.overview import float_at, read_ids

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


def test_every_form_is_read() -> None:
    """Decimal fractions, 32-bit and 64-bit floats are told apart by their first byte."""
    for values, form in (([0.125, 7.5], b"3"), ([2.0**-60], b"f"), ([1 / 3, 2.0], b"d")):
        packed = pack_floats(np.array(values))
        assert packed[:1] == form
        assert [float_at(packed, place) for place in range(len(values))] == values
