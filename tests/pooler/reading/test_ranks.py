"""`pooler.reading.columns`: stated ranks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.columns import FieldColumn, parse_ranks
from pooler.reading.strict import whole_ranks

texts = (
    st.integers(-9, 99).map(str)
    | st.integers(-(2**64), 2**64).map(str)
    | st.sampled_from(["007", "+5", "1.5", "5.", "1_0", "x", "-", "9" * 15, "9" * 16, "9" * 40])
)


@given(st.lists(texts, min_size=1, max_size=6), st.integers(0, 3))
def test_ranks_equal_the_slow_way(some: list[str], start: int) -> None:
    """Ranks are the integers of the slow way, or none where it finds none."""
    fields = [text.encode() for text in some]
    ranks = parse_ranks(FieldColumn.of(fields))[start:]
    if fields[start:]:
        expected, found = whole_ranks(fields[start:]), ranks.all_or_none()
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.dtype == expected.dtype
            assert found.tolist() == expected.tolist()
