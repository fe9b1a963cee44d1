"""`pooler.strategies.fixed`: by the number of runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of


def test_count_values_worked_example() -> None:
    """Documents count the runs that have them above the cut; ties are docno descending."""
    # Cut at 2: b is in all three; a, c and d are in one each. Without the cut a is in two.
    rankings = [["a", "b"], ["b", "c", "a"], ["d", "b"]]
    assert values_of("count", rankings, depth=2) == {"a": 1, "b": 3, "c": 1, "d": 1}
    assert order_of("count", rankings, depth=2) == ["b", "d", "c", "a"]
    assert order_of("count", rankings) == ["b", "a", "d", "c"]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_count_values_are_the_number_of_ranks(rankings: list[list[str]], depth: int) -> None:
    """A document's value is how often it has a rank, to the last bit."""
    expected = {docno: len(ranks) for docno, ranks in ranks_of(rankings, depth=depth).items()}
    assert values_of("count", rankings, depth=depth) == expected
