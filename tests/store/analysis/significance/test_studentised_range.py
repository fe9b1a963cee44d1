"""The studentised range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.libqsturng import psturng

from store.analysis.significance.pairs import studentised_range_p


@pytest.mark.parametrize(("n_groups", "freedom"), [(2, 1), (3, 38), (5, 4), (10, 12), (30, 200), (120, 5831)])
def test_studentised_range_equals_scipy(n_groups: int, freedom: int) -> None:
    """For few and many means, small and large q, p is scipy's to nine digits."""
    q = np.array([0.3, 2.5, 4.5, 7.0])
    expected = stats.studentized_range.sf(q, n_groups, freedom)
    np.testing.assert_allclose(studentised_range_p(q, n_groups, freedom), expected, atol=2e-9)


def test_studentised_range_at_its_ends() -> None:
    """P is 1 at 0 and 0 far out; NaN stays; two means with 1 degree of freedom are Student's t."""
    p = studentised_range_p([0.0, 1e6, math.nan], 5, 40)
    assert p[0] == pytest.approx(1.0, abs=1e-12)
    assert p[1] == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(p[2])
    far = 50.0
    expected = 2 * stats.t.sf(far / math.sqrt(2), 1)
    assert float(studentised_range_p(far, 2, 1)) == pytest.approx(expected, abs=1e-8)
    # statsmodels interpolates published tables.
    assert float(studentised_range_p(3.5, 4, 20)) == pytest.approx(psturng(3.5, 4, 20), abs=5e-4)
