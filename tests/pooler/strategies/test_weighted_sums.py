"""`pooler.strategies.adaptive`: sums without surprises."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.adaptive import WeightedSums, from_units, units
from pooler.strategies.rankings import rankings_of
from tests.pooler.strategies.adaptive import drawn_rankings, rows_of

positive = st.floats(0, 1e6) | st.sampled_from([0.1, 0.2, 0.3, 1 / 3])


def test_weighted_sums_tie_within_a_share() -> None:
    """Sums within the share of the greatest tie with it; the next one does not."""
    rankings, docnos = rankings_of([["a", "b", "c"]])
    worth = np.array([[1.0, 0.995, 0.98]])
    assert docnos[WeightedSums(rankings, worth, tie_within=0.001).best([1.0])] == "a"
    assert docnos[WeightedSums(rankings, worth, tie_within=0.01).best([1.0])] == "b"
    assert docnos[WeightedSums(rankings, worth, tie_within=0.03).best([1.0])] == "c"


def test_weighted_sums_all_zero_is_docno_descending() -> None:
    """Where nothing is worth anything, docnos decide, and none is missed."""
    rankings, docnos = rankings_of([["b", "a", "c"]])
    sums = WeightedSums(rankings, np.zeros((1, 3)), tie_within=0.01)
    order = []
    while (best := sums.best([1.0])) is not None:
        order.append(docnos[best])
        sums.remove(best)
    assert order == ["c", "b", "a"]


@given(runs=drawn_rankings.filter(bool), data=st.data())
def test_weighted_sums_equal_the_definition(runs: list[list[str]], data: st.DataObject) -> None:
    """The best document, one after another, is the last of those whose `math.fsum` is near the greatest."""
    rankings, docnos = rankings_of(runs)
    rows = rows_of(rankings)
    worth = [[data.draw(positive) for _ in range(rankings.depth)] for _ in rows]
    factors = [data.draw(positive) for _ in rows]
    sums = WeightedSums(rankings, np.array(worth), tie_within=1e-10)
    left = list(range(len(docnos)))
    while left:
        exact = {
            document: math.fsum(
                factors[run] * worth[run][row.index(document)]
                for run, row in enumerate(rows)
                if document in row
            )
            for document in left
        }
        best = sums.best(factors)
        assert best is not None
        most = max(exact.values())
        assert exact[best] >= most * (1 - 2e-10)
        assert not [one for one in left if one > best and exact[one] >= most * (1 - 5e-11)]
        sums.remove(best)
        left.remove(best)
    assert sums.best(factors) is None


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_exact_sums_are_rounded_once(values: list[float]) -> None:
    """Units add up without rounding: back as a float, the sum is the fraction's nearest."""
    total = sum(map(Fraction, values))
    if abs(total) < Fraction(2) ** 1023:
        assert from_units(sum(map(units, values))) == float(total)
