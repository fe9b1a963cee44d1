"""Differences as whole multiples of a resolution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.significance.randomisation import rounded_differences
from store.errors import ArgumentError


def test_floating_point_breaks_no_ties() -> None:
    """.3 - .2 and .2 - .1 differ in the last bit and are one difference."""
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert rounded_differences(np.array([0.3 - 0.2, 0.2 - 0.1])).tolist() == [1000, 1000]
    assert rounded_differences(np.array([0.29 - 0.0]), 0.01).tolist() == [29]
    assert rounded_differences(np.array([0.7]), 0.3).tolist() == [2]


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000), st.integers(0, 6))
def test_scores_with_so_many_digits_are_exact(one: int, other: int, digits: int) -> None:
    """The difference of two scores of d digits is their difference in units of the last one."""
    first, second = (float(f"{number}e-{digits}") for number in (one, other))
    whole = rounded_differences(np.array([first - second]), float(f"1e-{digits}"))
    assert whole.tolist() == [one - other]


def test_resolution_that_cannot_be_is_refused() -> None:
    """It is above 0, and not so fine that multiples could not be counted."""
    with pytest.raises(ArgumentError, match=r"`resolution` must be above 0, but got -0\.1"):
        rounded_differences(np.array([0.1]), -0.1)
    with pytest.raises(ArgumentError, match="`resolution` must not be so fine"):
        rounded_differences(np.array([1.0]), 1e-16)
    assert rounded_differences(np.zeros((2, 0))).shape == (2, 0)
