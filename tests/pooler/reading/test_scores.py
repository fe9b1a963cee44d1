"""`pooler.reading.columns`: columns of numbers."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pooler.reading.columns import RELATIVE_ERROR, FieldColumn, parse_scores
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


def exact(fields: list[bytes]) -> bytes:
    """Give the bits of the numbers of a column."""
    return parse_scores(FieldColumn.of(fields)).exact(np.arange(len(fields))).tobytes()


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
        assert exact(fields) == struct.pack(f"{len(fields)}d", *expected)


@given(st.lists(score_texts | plain_texts.filter(bool), min_size=1, max_size=5))
def test_scores_approximate_ones_are_near_and_of_the_same_sign(some: list[str]) -> None:
    """Before it is asked for, a score is off by less than the stated error."""
    try:
        scores = parse_scores(FieldColumn.of([text.encode() for text in some]))
    except ValueError:
        return
    numbers = scores.exact(np.arange(len(some)))
    assert (np.abs(scores.approximate - numbers) <= RELATIVE_ERROR * np.abs(numbers)).all()
    assert (np.sign(scores.approximate) == np.sign(numbers)).all()


@given(st.lists(st.decimals(-99, 99, places=6).map(str), min_size=1, max_size=9), st.data())
def test_scores_of_some_lines_are_theirs(some: list[str], data: st.DataObject) -> None:
    """Rows and slices pick the same numbers as they pick of a list."""
    scores = parse_scores(FieldColumn.of([text.encode() for text in some]))
    start = data.draw(st.integers(0, len(some) - 1))
    part = scores[start:]
    rows = data.draw(st.lists(st.integers(0, len(some) - start - 1), max_size=4))
    expected = [float(some[start + row]) for row in rows]
    assert part.exact(np.array(rows, np.int64)).tolist() == expected


@pytest.mark.parametrize("text", ["nan", "-inf", "infinity", "1e999", "1_000", "abc", "0x1p3", "1e"])
@pytest.mark.parametrize("others", [[], ["1.5"], ["1e5"], ["1e5"] * 99])
def test_scores_not_finite_numbers_raise(text: str, others: list[str]) -> None:
    """What is no finite number is refused, alone and in company."""
    with pytest.raises(ValueError, match="could not convert"):
        parse_scores(FieldColumn.of([field.encode() for field in [*others, text]]))
