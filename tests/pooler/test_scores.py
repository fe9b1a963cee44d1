"""`pooler.scores`: columns of numbers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pooler.scores import parse_scores
from tests.strategies import score_texts

plain_texts = st.tuples(
    st.sampled_from(["", "", "-", "+", "--"]),
    st.text("0123456789", max_size=17),
    st.sampled_from(["", ".", ".."]),
    st.text("0123456789", max_size=17),
).map("".join)


@given(st.lists(score_texts | plain_texts | st.text("0123456789.-+e_", max_size=6), max_size=5))
@example(["9007199254740993", "1"])
@example(["9102.754080496083"])  # 16 digits: dividing the rounded integer would end in 4
@example(["1.2.3", "4"])
@example([".", "5"])
@example(["-0", "1"])
@example(["0.1", "-0.30000000000000004"])
@example(["123456789012345.6", "0.1234567890123456"])
def test_scores_any_text_equal_float_bit_for_bit(texts: list[str]) -> None:
    """A column gives the very bits that `float` gives, or ValueError when one field has none."""
    fields = [text.encode() for text in texts]
    try:
        expected = [float(field) for field in fields]
    except ValueError:
        expected = None
    if expected is None or "_" in "".join(texts):
        with pytest.raises(ValueError, match="could not convert"):
            parse_scores(fields)
    else:
        assert parse_scores(fields).tobytes() == struct.pack(f"{len(texts)}d", *expected)


@pytest.mark.parametrize("text", ["nan", "-inf", "infinity", "1e999", "1_000", "abc", "", "0x1p3"])
@pytest.mark.parametrize("other", [[], ["1.5"], ["1e5"]])
def test_scores_not_finite_numbers_raise(text: str, other: list[str]) -> None:
    """What is no finite number is refused, alone and in company."""
    with pytest.raises(ValueError, match="could not convert"):
        parse_scores([field.encode() for field in [*other, text]])


def test_scores_none_is_empty() -> None:
    """A column without fields has no scores."""
    assert parse_scores([]).shape == (0,)
