"""Least, expected and scattered AP of a list, and the change by a swap."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.average_precision import (
    average_precision,
    expected_average_precision,
    least_average_precision,
    own_n_relevant,
    swap_effect,
    variance_of_average_precision,
)
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.kishida_tables import N_RELEVANT, TABLE_1, TABLE_2


@pytest.mark.vector("Kishida 2001, tables 1 and 2: three decimals")
def test_every_cell_of_tables_1_and_2() -> None:
    """Eq. 4 and eq. 5 give every printed digit, and no number where a cell is empty."""
    for table, function, n_cells in (
        (TABLE_1, least_average_precision, 41),
        (TABLE_2, expected_average_precision, 36),
    ):
        values = function(np.array(list(table))[:, None], np.array(N_RELEVANT))
        assert np.count_nonzero(~np.isnan(values)) == n_cells == sum(map(len, table.values()))
        for row, printed in zip(values.tolist(), table.values(), strict=True):
            assert np.isnan(row[len(printed) :]).all()
            for value, digits in zip(row, printed, strict=False):
                assert_prints(digits, value)


@pytest.mark.vector("exact fractions over all orders, and E1 in extended precision: twelve digits")
def test_variance_of_known_lists() -> None:
    """E1 gives the six values computed independently of it."""
    known = {
        (4, 2): 0.040316358025,
        (10, 5): 0.019978111129,
        (100, 10): 0.002875741378,
        (1000, 5): 0.000350607870,
        (1000, 100): 0.000130153714,
        (1000, 500): 0.000249117017,
    }
    lists, relevant = np.array(list(known)).T
    np.testing.assert_allclose(
        variance_of_average_precision(lists, relevant), list(known.values()), atol=5.1e-13, rtol=0
    )


def exact_average_precision(order: tuple[int, ...], n_relevant: int) -> Fraction:
    """Add up precision at each relevant rank in fractions."""
    total = Fraction(0)
    for rank, relevant in enumerate(order, start=1):
        total += Fraction(relevant * sum(order[:rank]), rank)
    return total / n_relevant


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_properties_equal_enumeration(size: int) -> None:
    """Of all orders of a small collection cut at N, least, mean and variance are exact."""
    for n_documents in range(1, size + 1):
        for n_relevant in range(1, size + 1):
            orders = itertools.combinations(range(size), n_relevant)
            values = [
                exact_average_precision(
                    tuple(int(place in chosen) for place in range(n_documents)), n_relevant
                )
                for chosen in orders
            ]
            mean = sum(values, Fraction(0)) / len(values)
            variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
            given_ = (n_documents, n_relevant, size)
            assert float(least_average_precision(*given_)) == pytest.approx(float(min(values)))
            assert float(expected_average_precision(*given_)) == pytest.approx(float(mean))
            computed = float(variance_of_average_precision(*given_))
            assert computed == pytest.approx(float(variance), abs=1e-14)
    assert variance_of_average_precision(size, size) == 0.0


def test_expectation_of_one_document_and_of_a_long_list() -> None:
    """Where eq. 5 is 0/0 the value is 1; a list within a larger collection divides by all R."""
    assert expected_average_precision(1, 1) == 1.0
    # One of four documents, one relevant: AP is 1 in a quarter of the orders.
    assert float(expected_average_precision(1, 1, 4)) == 0.25
    assert float(least_average_precision(10, 5, 15)) == 0.0
    assert np.isnan(least_average_precision(3, [0, 4])).all()


@given(st.data())
def test_swap_equals_recomputing(data: st.DataObject) -> None:
    """The closed form is AP after the swap less AP before, in both modes of R."""
    order = data.draw(
        st.lists(st.booleans(), min_size=2, max_size=25).filter(lambda drawn: 0 < sum(drawn) < len(drawn))
    )
    relevant = np.array(order)
    old = data.draw(st.sampled_from(np.flatnonzero(relevant).tolist()))
    new = data.draw(st.sampled_from(np.flatnonzero(~relevant).tolist()))
    n_relevant = own_n_relevant(relevant) + data.draw(st.integers(0, 5))
    after = relevant.copy()
    after[[old, new]] = after[[new, old]]
    expected = average_precision(after, n_relevant) - average_precision(relevant, n_relevant)
    change = float(swap_effect(relevant, n_relevant, old + 1, new + 1))
    assert change == pytest.approx(float(expected), abs=1e-13)
    assert (change > 0) == (new < old)


@pytest.mark.vector("Kishida 2001, section 2.2.3, corrected: S falls by 1/3")
def test_swap_of_the_paper() -> None:
    """11000 to 10100 loses 1/3 of S: taking eq. 6 twice on the first ranking would say 0."""
    lists = np.array([[True, True, False, False, False]] * 2)
    np.testing.assert_allclose(swap_effect(lists, np.array([2, 4]), 2, 3), [-1 / 6, -1 / 12], rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "`n_documents` must hold integers >= 1, but got 0"),
        ((5, -1), "`n_relevant` must hold integers >= 0"),
        ((5, 1.5), "`n_relevant` must hold integers"),
        ((5, 1, 4), "`collection_size` must be at least `n_documents`"),
    ],
)
def test_lists_that_cannot_be_are_refused(arguments: tuple[int, ...], message: str) -> None:
    """Each argument outside its range is named."""
    for function in (least_average_precision, expected_average_precision):
        with pytest.raises(ArgumentError, match=message):
            function(*arguments)


@pytest.mark.parametrize(
    ("n_relevant", "old", "new", "message"),
    [
        (1, 1, 3, "`n_relevant` must be at least the number of relevant"),
        (2, 3, 1, "`from_rank` must hold a document that is relevant, but got 3"),
        (2, 1, 2, "`to_rank` must hold a document that is not relevant, but got 2"),
        (2, 1, 4, "`to_rank` must be at most 3"),
        (2, 0, 3, "`from_rank` must hold integers >= 1"),
    ],
)
def test_swap_of_the_wrong_documents_is_refused(n_relevant: int, old: int, new: int, message: str) -> None:
    """A swap takes a relevant document and one that is not."""
    with pytest.raises(ArgumentError, match=message):
        swap_effect(np.array([True, True, False]), n_relevant, old, new)
