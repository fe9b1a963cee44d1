"""`pooler.reading.columns`: plain numbers read all at once."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from pooler.reading.columns import MOST_BYTES, FieldColumn, read_fixed_point

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
texts = (
    st.tuples(st.integers(0, 99), st.integers(0, 9)).map(lambda pair: "{}.{}".format(*pair))
    | st.from_regex(r"[+-]?[0-9]{0,12}\.?[0-9]{0,12}", fullmatch=True).filter(bool)
    | st.text("0123456789.-+/:e", min_size=1, max_size=9)
)


@given(st.lists(texts, min_size=1, max_size=6))
@example(["1./5"])  # `/` is one below zero, and follows the point
@example(["-", "+.", "."])
@example(["-1" * 20])
def test_fixed_point_fields_equal_reading_each(some: list[str]) -> None:
    """Digits, decimals, points and signs are those that a regular expression finds in each."""
    read = read_fixed_point(FieldColumn.of([text.encode() for text in some]))
    for row, text in enumerate(some):
        is_plain = PLAIN.fullmatch(text) is not None and len(text) <= MOST_BYTES
        assert bool(read.is_plain[row]) == is_plain
        if not is_plain:
            continue
        whole, point, decimals = text.lstrip("+-").partition(".")
        number = int(whole + decimals)
        assert abs(read.digits[row] - number) <= number * 1e-15
        assert number >= 2**53 or read.digits[row] == number
        assert read.n_points[row] == len(point)
        assert (0 if read.n_decimals is None else read.n_decimals[row]) == len(decimals)
        assert (read.is_minus is not None and bool(read.is_minus[row])) == text.startswith("-")
