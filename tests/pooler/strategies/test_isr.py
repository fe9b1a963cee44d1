"""`pooler.strategies.fusion`: inverse square ranks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of
from tests.vectors import fusion_ranx

RUNS = [list(run) for run in fusion_ranx.RUNS.values()]
EXAMPLE = [["a", "b", "c"], ["c", "b"], ["d", "b"]]


def test_isr_values_worked_example() -> None:
    """Three runs by hand: ranks 2, 2, 2 beat one first rank, but not a first and a third."""
    # a: 1 * 1 = 1. b: 3 * (1/4 + 1/4 + 1/4) = 2.25. c: 2 * (1/9 + 1) = 20/9 = 2.22. d: 1 * 1 = 1.
    expected = {"a": 1, "b": 2.25, "c": 20 / 9, "d": 1}
    assert values_of("isr", EXAMPLE) == pytest.approx(expected, rel=1e-15)
    assert order_of("isr", EXAMPLE) == ["b", "c", "d", "a"]


def test_log_isr_values_worked_example() -> None:
    """The logarithm rewards many runs less: c, in two runs, passes b, in three."""
    # a, d: ln 2 * 1 = 0.6931. b: ln 4 * 0.75 = 1.0397. c: ln 3 * 10/9 = 1.2207.
    expected = {"a": math.log(2), "b": math.log(4) * 0.75, "c": math.log(3) * 10 / 9, "d": math.log(2)}
    assert values_of("log-isr", EXAMPLE) == pytest.approx(expected, rel=1e-15)
    assert order_of("log-isr", EXAMPLE) == ["c", "b", "d", "a"]


def test_log_isr_values_of_one_run_keep_its_order() -> None:
    """A document of a single run is worth something, the more the higher it stands."""
    assert order_of("log-isr", [["a", "b", "c"]]) == ["a", "b", "c"]


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_isr_values_equal_the_definition(rankings: list[list[str]], depth: int) -> None:
    """Values are sums of fractions, times the number of runs or its logarithm."""
    sums = {
        docno: (len(ranks), sum(Fraction(1, rank**2) for rank in ranks))
        for docno, ranks in ranks_of(rankings, depth=depth).items()
    }
    plain = {docno: float(n * total) for docno, (n, total) in sums.items()}
    logarithmic = {docno: math.log(n + 1) * float(total) for docno, (n, total) in sums.items()}
    assert values_of("isr", rankings, depth=depth) == pytest.approx(plain, rel=1e-14)
    assert values_of("log-isr", rankings, depth=depth) == pytest.approx(logarithmic, rel=1e-14)


@pytest.mark.vector("ranx 0.3.21")
@pytest.mark.parametrize("name", ["isr", "log-isr"])
def test_isr_values_agree_with_ranx(name: str) -> None:
    """The three runs of the vector get the numbers of ranx."""
    assert values_of(name, RUNS) == pytest.approx(fusion_ranx.VALUES[name], rel=1e-14)
