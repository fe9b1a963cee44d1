"""`pooler.strategies.fixed`: weights of rank-biased precision, and method A."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.fixed import rbp_weights
from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of
from tests.vectors import fusion_ranx, fusion_trectools


def test_rbp_a_values_worked_example() -> None:
    """Three runs by hand, p = 1/2: weights 1/2, 1/4, 1/8."""
    # a: 1/2 + 1/4 = 6/8. b: 1/4 + 1/2 + 1/8 = 7/8. c: 1/8 + 1/2 = 5/8. d: 1/4 = 2/8.
    rankings = [["a", "b", "c"], ["b", "a"], ["c", "d", "b"]]
    assert values_of("rbp-a", rankings, p=0.5) == {"a": 0.75, "b": 0.875, "c": 0.625, "d": 0.25}
    assert order_of("rbp-a", rankings, p=0.5) == ["b", "a", "c", "d"]


@pytest.mark.vector("trectools 0.0.50")
def test_rbp_a_values_agree_with_trectools() -> None:
    """With the default, p = 0.8, the three runs of the vector get the numbers of trectools."""
    rankings = [list(run) for run in fusion_ranx.RUNS.values()]
    expected = fusion_trectools.VALUES["rbp-a"]
    assert values_of("rbp-a", rankings) == pytest.approx(expected, rel=1e-14)
    assert order_of("rbp-a", rankings) == list(expected)


@given(rankings=drawn_rankings, percent=st.integers(1, 99), depth=st.integers(1, 9))
def test_rbp_a_values_equal_the_definition(rankings: list[list[str]], percent: int, depth: int) -> None:
    """Values are the sums of fractions."""
    p = Fraction(percent, 100)
    expected = {
        docno: float(sum((1 - p) * p ** (rank - 1) for rank in ranks))
        for docno, ranks in ranks_of(rankings, depth=depth).items()
    }
    values = values_of("rbp-a", rankings, depth=depth, p=percent / 100)
    assert values == pytest.approx(expected, rel=1e-13)


@given(depth=st.integers(0, 3000), p=st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_rbp_weights_fall_and_add_up(depth: int, p: float) -> None:
    """Weights never rise, are never negative, and add up to what RBP can give."""
    weights = rbp_weights(depth, p=p)
    assert weights.shape == (depth,)
    assert (np.diff(weights) <= 0).all()
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1 - p**depth, rel=1e-9, abs=1e-12)
