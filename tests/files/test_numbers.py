"""Scores and stated ranks, read a column at a time."""

from __future__ import annotations

import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pooler.reading.fields import FieldColumn
from pooler.reading.numbers import parse_ranks, parse_scores
from pooler.reading.strict import whole_ranks
from tests.strategies import score_texts

plain_texts = st.tuples(
    st.sampled_from(["", "", "-", "+", "--"]),
    st.text("0123456789", max_size=17),
    st.sampled_from(["", ".", ".."]),
    st.text("0123456789", max_size=17),
).map("".join)
exponent_texts = st.tuples(
    plain_texts, st.sampled_from("eE"), st.sampled_from(["", "-", "+"]), st.integers(0, 25).map(str)
).map("".join)
odd_texts = st.text("0123456789.-+e_", min_size=1, max_size=6)
texts = score_texts | plain_texts.filter(bool) | exponent_texts | odd_texts


@given(st.lists(texts, min_size=1, max_size=5), st.sampled_from([1, 60]))
@example(["9007199254740993", "1"], 1)
@example(["9102.754080496083"], 1)  # 16 digits: dividing the rounded integer would end in 4
@example(["1.2.3", "4"], 1)
@example([".", "5"], 1)
@example(["-0", "1"], 1)
@example(["-0e5", "-0.0e-3"], 60)
@example(["1e5.", "2e1"], 60)
@example(["1e+", "e5"], 60)
@example(["0.1", "-0.30000000000000004"], 1)
@example(["123456789012345.6", "0.1234567890123456"], 1)
@example(["1" * 24, "-" + "1" * 24, "0." + "1" * 23], 1)
@example(["0" * 300 + "1.5", "2"], 1)
def test_scores_any_text_equal_float_bit_for_bit(some: list[str], times: int) -> None:
    """A column gives the very bits that `float` gives, or ValueError when one field has none."""
    fields = [text.encode() for text in some * times if len(text) <= 256]
    try:
        expected = [float(field) for field in fields]
    except ValueError:
        expected = None
    if expected is None or "_" in "".join(some) or not np.isfinite(expected).all():
        with pytest.raises(ValueError, match="could not convert"):
            parse_scores(FieldColumn.of(fields))
    elif fields:
        assert parse_scores(FieldColumn.of(fields)).tobytes() == struct.pack(f"{len(fields)}d", *expected)


@given(
    st.lists(st.tuples(st.floats(1e-5, 1e5), st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=9)
)
def test_scores_in_the_middle_between_two_floats(some: list[tuple[float, int, int]]) -> None:
    """Numbers at and near the middle between floats, cut after any digit, are rounded as `float` does."""
    exact = [(Fraction(one) + Fraction(np.nextafter(one, np.inf))) / 2 for one, _, _ in some]
    fields = [
        f"{int(middle * 10**n_digits) + beside}e-{n_digits}"
        if n_digits > 17
        else f"{Decimal(int(middle * 10**n_digits) + beside).scaleb(-n_digits):f}"
        for middle, (_, beside, n_digits) in zip(exact, some, strict=True)
    ]
    scores = parse_scores(FieldColumn.of([field.encode() for field in fields]))
    assert scores.tolist() == [*map(float, fields)]


@pytest.mark.parametrize("text", ["nan", "-inf", "infinity", "1e999", "1_000", "abc", "0x1p3", "1e"])
@pytest.mark.parametrize("others", [[], ["1.5"], ["1e5"], ["1e5"] * 99])
def test_scores_not_finite_numbers_raise(text: str, others: list[str]) -> None:
    """What is no finite number is refused, alone and in company."""
    with pytest.raises(ValueError, match="could not convert"):
        parse_scores(FieldColumn.of([field.encode() for field in [*others, text]]))


rank_texts = (
    st.integers(-9, 99).map(str)
    | st.integers(-(2**64), 2**64).map(str)
    | st.sampled_from(["007", "+5", "1.5", "5.", "1_0", "x", "-", "9" * 15, "9" * 16, "9" * 40])
)


@given(st.lists(rank_texts, min_size=1, max_size=6), st.sampled_from([1, 60]))
def test_ranks_equal_the_slow_way(some: list[str], times: int) -> None:
    """Ranks are the integers of the slow way, or none where it finds none."""
    fields = [text.encode() for text in some * times]
    expected, found = whole_ranks(fields), parse_ranks(FieldColumn.of(fields))
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
