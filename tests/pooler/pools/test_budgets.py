"""`pooler.pools.plan`: one budget of judgements, shared among topics."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.plan import share_budget

sizes = st.lists(st.integers(0, 30), max_size=8)


def test_equal_topics_get_equal_shares() -> None:
    """12 judgements of three large topics are 4 each."""
    assert share_budget(12, [9, 9, 9]) == [4, 4, 4]


def test_what_a_small_topic_leaves_goes_to_the_others() -> None:
    """Start 1, 3, 3 (10 // 3 = 3); three are left: one for each large topic, one for the first."""
    assert share_budget(10, [1, 9, 9]) == [1, 5, 4]


def test_more_than_there_is_takes_all() -> None:
    """No topic gets more documents than it has."""
    assert share_budget(100, [2, 0, 5]) == [2, 0, 5]
    assert share_budget(3, []) == []


@given(total=st.integers(0, 300), sizes=sizes)
def test_shares_are_exact_and_even(total: int, sizes: list[int]) -> None:
    """All is spent that can be, and a topic that could take more has the most, or one less."""
    shares = share_budget(total, sizes)
    assert sum(shares) == min(total, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    unfilled = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    if unfilled:
        assert max(shares) - min(unfilled) <= 1
        assert unfilled == sorted(unfilled, reverse=True)


@given(total=st.integers(0, 300), sizes=sizes)
def test_one_judgement_more_never_takes_from_a_topic(total: int, sizes: list[int]) -> None:
    """A larger budget contains the smaller one."""
    fewer, more = share_budget(total, sizes), share_budget(total + 1, sizes)
    assert all(one <= other for one, other in zip(fewer, more, strict=True))
