"""`pooler.strategies.fusion`: rank-biased centroids."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from store.errors import ArgumentError
from tests.pooler.strategies.fixed import drawn_rankings, order_of, ranks_of, values_of
from tests.vectors import fusion_ranx


def test_rbc_values_worked_example() -> None:
    """Three runs by hand, phi = 3/4: weights 1/4, 3/16, 9/64."""
    # a: 1/4 + 3/16 = 28/64. b: 3/16 + 1/4 + 9/64 = 37/64. c: 9/64 + 1/4 = 25/64. d: 3/16 = 12/64.
    rankings = [["a", "b", "c"], ["b", "a"], ["c", "d", "b"]]
    expected = {"a": 28 / 64, "b": 37 / 64, "c": 25 / 64, "d": 12 / 64}
    assert values_of("rbc", rankings, phi=0.75) == expected
    assert order_of("rbc", rankings, phi=0.75) == ["b", "a", "c", "d"]


@pytest.mark.vector("polyfuse, weights of RBC for phi = 0.8")
def test_rbc_values_weights_agree_with_polyfuse() -> None:
    """One run gets the weights that polyfuse prints."""
    printed = {"a": 0.2, "b": 0.16, "c": 0.128, "d": 0.1024, "e": 0.08192}
    assert values_of("rbc", [list(printed)], phi=0.8) == pytest.approx(printed, rel=1e-14)


@pytest.mark.vector("ranx 0.3.21")
def test_rbc_values_agree_with_ranx() -> None:
    """The three runs of the vector get the numbers of ranx."""
    rankings = [list(run) for run in fusion_ranx.RUNS.values()]
    values = values_of("rbc", rankings, **fusion_ranx.PARAMETERS["rbc"])
    assert values == pytest.approx(fusion_ranx.VALUES["rbc"], rel=1e-14)


@given(rankings=drawn_rankings, percent=st.integers(1, 99), depth=st.integers(1, 9))
def test_rbc_values_equal_the_definition(rankings: list[list[str]], percent: int, depth: int) -> None:
    """Values are the sums of fractions."""
    phi = Fraction(percent, 100)
    expected = {
        docno: float(sum((1 - phi) * phi ** (rank - 1) for rank in ranks))
        for docno, ranks in ranks_of(rankings, depth=depth).items()
    }
    values = values_of("rbc", rankings, depth=depth, phi=percent / 100)
    assert values == pytest.approx(expected, rel=1e-13)


def test_rbc_phi_must_be_given() -> None:
    """There is no usual phi, so none is assumed."""
    with pytest.raises(ArgumentError, match="`phi` must be given: persistence"):
        find_strategy("rbc").complete({})


@pytest.mark.parametrize("phi", [0, 1, -0.1, 1.5])
def test_rbc_phi_outside_is_refused(phi: float) -> None:
    """With 0 or 1 the weights would say nothing."""
    with pytest.raises(ArgumentError, match="`phi` must be a number > 0 and < 1, but got"):
        find_strategy("rbc").complete({"phi": phi})
