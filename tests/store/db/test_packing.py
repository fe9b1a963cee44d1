"""Packed arrays give back exactly the numbers that went in, in few bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from store.db.packing import (
    pack_floats,
    pack_integers,
    pack_ranking,
    packed_elements,
    unpack_floats,
    unpack_integers,
)
from store.ranking import rank_order

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
    "scores",
    [
        pytest.param([f"{30 - 0.0237 * i:.4f}" for i in range(1000)], id="bm25, 4 decimals"),
        pytest.param([f"{30 - 0.0237513 * i:.6f}" for i in range(1000)], id="bm25, 6 decimals"),
        pytest.param([f"-{9 + i * 0.01379:.5f}" for i in range(1000)], id="log probabilities"),
        pytest.param([f"{1 - i * 0.000731:.9f}" for i in range(1000)], id="cosine, 9 decimals"),
        pytest.param([str(1000 - i) for i in range(1000)], id="1000 - rank"),
        pytest.param([str(1_000_000_000 - i) for i in range(1000)], id="large integers"),
        pytest.param([repr(float(np.float32(1 / (i + 3)))) for i in range(1000)], id="32-bit"),
    ],
)
def test_typical_scores_take_four_bytes(scores: list[str]) -> None:
    """The scores that systems write take 4 bytes each, and one for the form."""
    values = np.array([float(score) for score in scores])
    packed = pack_floats(values)
    assert len(packed) == 1 + 4 * 1000
    assert bits(unpack_floats(packed)) == bits(values)


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


def test_floats_without_a_short_form_take_eight_bytes() -> None:
    """Scores that neither decimals nor 32 bits give back exactly are kept whole."""
    values = np.array([0.1 + 0.2, 1 / 3])  # .30000000000000004
    packed = pack_floats(values)
    assert len(packed) == 1 + 8 * 2
    assert bits(unpack_floats(packed)) == bits(values)


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
