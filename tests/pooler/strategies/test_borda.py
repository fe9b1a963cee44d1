"""`pooler.strategies.fixed`: points by rank, the rest shared."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, values_of
from tests.vectors import fusion_ranx


def test_borda_values_worked_example() -> None:
    """Four documents by hand; a short run shares the points it did not give."""
    # Of 4 documents, alpha gives 4, 3, 2, 1; beta 4 and 3, and (2 + 1) / 2 to c and d; gamma 4,
    # and (3 + 2 + 1) / 3 to the others.
    # a: 4 + 3 + 2 = 9. b: 3 + 4 + 2 = 9. c: 2 + 1.5 + 4 = 7.5. d: 1 + 1.5 + 2 = 4.5.
    rankings = [["a", "b", "c", "d"], ["b", "a"], ["c"]]
    assert values_of("borda", rankings) == {"a": 9, "b": 9, "c": 7.5, "d": 4.5}
    assert order_of("borda", rankings) == ["b", "a", "c", "d"]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_borda_values_equal_the_election(rankings: list[list[str]], depth: int) -> None:
    """Values are those of counting every voter's points one by one, exactly."""
    cut = [ranking[:depth] for ranking in rankings]
    union = {docno for ranking in cut for docno in ranking}
    points = dict.fromkeys(union, Fraction())
    for ranking in cut:
        left = list(range(len(union), 0, -1))
        for docno in ranking:
            points[docno] += left.pop(0)
        for docno in union - set(ranking):
            points[docno] += Fraction(sum(left), len(left))
    assert values_of("borda", rankings, depth=depth) == points
    # Every voter hands out the same points.
    assert sum(points.values()) == len(cut) * len(union) * (len(union) + 1) / 2


@pytest.mark.vector("ranx 0.3.21")
def test_borda_values_agree_with_ranx() -> None:
    """The three runs of the vector get the points that ranx gives."""
    rankings = [list(run) for run in fusion_ranx.RUNS.values()]
    assert values_of("borda", rankings) == fusion_ranx.VALUES["borda"]
