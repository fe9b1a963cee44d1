"""Holm's correction for many tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from store.analysis.significance.pairs import holm
from store.analysis.significance.t_tests import paired_t
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.three_systems import X, Y, Z


@pytest.mark.vector("T11: Holm .1434 .2463 .5218 [statsmodels]")
def test_holm_of_the_three_systems() -> None:
    """The three paired t tests of T11, adjusted."""
    p = [paired_t(difference).p for difference in (X - Y, X - Z, Y - Z)]
    for digits, value in zip(
        ("0.1434", "0.2463", "0.5218"), holm(np.array(p, dtype=float)).tolist(), strict=True
    ):
        assert_prints(digits, value)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 3))
def test_holm_equals_statsmodels(p_values: list[float], n_undefined: int) -> None:
    """Adjusted p-values are those of statsmodels; undefined tests neither count nor change."""
    ours = holm(p_values + [math.nan] * n_undefined)
    theirs = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(ours[: len(p_values)], theirs, rtol=1e-12)
    assert np.isnan(ours[len(p_values) :]).all()


def test_holm_refuses_what_is_no_probability() -> None:
    """And keeps the shape that it was given."""
    with pytest.raises(ArgumentError, match=r"`p_values` must be in \[0, 1\]"):
        holm([0.5, 1.5])
    assert holm(np.full((2, 2), 0.1)).shape == (2, 2)
    assert holm([]).shape == (0,)
