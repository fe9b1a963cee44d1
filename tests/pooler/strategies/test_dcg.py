"""`pooler.strategies.fixed`: DCG's discounts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of


def test_dcg_values_worked_example() -> None:
    """Two runs by hand: discounts 1, 1 / log2(3) = 0.6309, 1/2, and 1/3 at rank 7."""
    # a: 1 + 1/2. c: 1/2 + 1. b and x: 0.6309 each. z: 1/3.
    rankings = [["a", "b", "c"], ["c", "x", "a", "p", "q", "r", "z"]]
    values = values_of("dcg", rankings)
    assert values["a"] == values["c"] == 1.5
    assert values["b"] == values["x"] == pytest.approx(0.6309, abs=5e-5)
    assert values["z"] == pytest.approx(1 / 3, rel=1e-15)
    assert order_of("dcg", rankings)[:4] == ["c", "a", "x", "b"]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_dcg_values_equal_the_definition(rankings: list[list[str]], depth: int) -> None:
    """Values are sums of discounts, here with natural logarithms."""
    expected = {
        docno: math.fsum(math.log(2) / math.log(rank + 1) for rank in ranks)
        for docno, ranks in ranks_of(rankings, depth=depth).items()
    }
    assert values_of("dcg", rankings, depth=depth) == pytest.approx(expected, rel=1e-14)
