"""The points and the curve of figure 3."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.diagnostic import kstest_fit

from store.analysis.significance.t_tests import normality_picture
from tests.vectors.three_systems import X, Y


@given(st.lists(st.integers(-100, 100), min_size=4, max_size=40, unique=True))
def test_distance_equals_statsmodels(whole: list[int]) -> None:
    """The largest distance is Lilliefors' statistic; the curve is scipy's normal."""
    differences = np.array(whole) / 100
    picture = normality_picture(differences)
    assert picture.reason is None
    statistic, _ = kstest_fit(differences, dist="norm", pvalmethod="approx")
    assert picture.largest_distance == pytest.approx(float(statistic), abs=1e-12)
    expected = stats.norm(differences.mean(), differences.std(ddof=1)).cdf(np.sort(differences))
    np.testing.assert_allclose(picture.normal, expected, atol=1e-12)
    np.testing.assert_allclose(picture.curve(picture.differences), picture.normal, atol=1e-15)
    assert picture.standardised.mean() == pytest.approx(0, abs=1e-12)
    assert picture.standardised.std(ddof=1) == pytest.approx(1)


def test_points_rise_by_one_topic() -> None:
    """The n-th of L differences stands at n/L, ties one above the other."""
    picture = normality_picture(X - Y)
    assert picture.n_topics == 20
    np.testing.assert_allclose(picture.shares, np.arange(1, 21) / 20)
    np.testing.assert_array_equal(picture.differences, np.sort(X - Y))


def test_no_curve_has_a_reason() -> None:
    """One topic and equal differences leave points without a curve."""
    for differences, reason in (
        ([], "fewer-than-two-topics"),
        ([0.1], "fewer-than-two-topics"),
        ([0.3 - 0.2, 0.2 - 0.1], "no-variation"),
    ):
        picture = normality_picture(np.array(differences))
        assert picture.reason == reason
        assert picture.shares.size == len(differences)
        assert np.isnan(picture.curve(np.array([0.0]))).all()
