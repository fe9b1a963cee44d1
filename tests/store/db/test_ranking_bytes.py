"""Single values of packed rankings: what unpacking the whole gives, at that place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.db.packing import pack_floats, unpack_floats
from store.db.ranking_bytes import float_at, place_of, read_ids

# Small ids and those around 256 and 65,536 have bytes that read as another id when shifted.
ids = st.lists(
    st.one_of(st.sampled_from([1, 255, 256, 257, 65_536, 65_537, 2**24]), st.integers(1, 2**31 - 1)),
    unique=True,
    max_size=30,
)
few_digits = st.integers(-99_999, 99_999).map(lambda number: number / 1000)
scores = st.one_of(
    few_digits, st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32,
                                                                           allow_nan=False,
                                                                           allow_infinity=False)
)  # fmt: skip


@given(ids)
def test_ids_and_places_are_those_of_the_list(documents: list[int]) -> None:
    """Every id is read, and found at its place; one that is not there has no place."""
    packed = np.array(documents, "<i4").tobytes()
    assert read_ids(packed) == tuple(documents)
    for document in {*documents, 1, 256, 257, 65_536, 2**24}:
        expected = documents.index(document) if document in documents else None
        assert place_of(document, packed) == expected


def test_bytes_across_two_ids_are_no_id() -> None:
    """01 00 00 00 stands in 00 01 00 00 | 00 02 00 00 at byte 1, and is not the id 1."""
    packed = bytes([0, 1, 0, 0, 0, 2, 0, 0])
    assert read_ids(packed) == (256, 512)
    assert place_of(1, packed) is None
    assert place_of(1, packed + bytes([1, 0, 0, 0])) == 2


def test_ranking_without_documents_has_no_bytes() -> None:
    """SQLite may give no value for no bytes."""
    for packed in (None, b""):
        assert read_ids(packed) == ()
        assert place_of(1, packed) is None


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
