"""Exact randomisation test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.significance import randomisation
from store.analysis.significance.randomisation import (
    RandomisationTest,
    randomisation_test,
    rounded_differences,
    sign_flip_p,
)
from store.errors import ArgumentError
from tests.vectors.three_systems import X, Y


def brute_force(whole: list[int]) -> float:
    """Set the signs in every way."""
    seen = abs(sum(whole))
    ways = itertools.product((-1, 1), repeat=len(whole))
    return sum(
        abs(sum(s * w for s, w in zip(signs, whole, strict=True))) >= seen for signs in ways
    ) / 2 ** len(whole)


@given(st.lists(st.one_of(st.integers(-4, 4), st.integers(-10_000, 10_000)), max_size=11))
def test_equals_brute_force(whole: list[int]) -> None:
    """Every way to set the signs, ties and zeros among them, is counted."""
    assert sign_flip_p(np.array(whole, dtype=np.int64)) == brute_force(whole)


def test_sixteen_topics_equal_brute_force() -> None:
    """So it is for 16 topics of ordinary scores."""
    differences = np.random.default_rng(5).normal(0.03, 0.2, 16)
    whole = rounded_differences(differences).tolist()
    assert randomisation_test(differences).p == brute_force(whole)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equals_scipy_on_the_same_rounded_differences(seed: int) -> None:
    """Scipy's exact permutation test of the rounded differences gives the same p."""
    rng = np.random.default_rng(seed)
    differences = rng.choice([0.1, 0.2, 0.3], 12) - rng.choice([0.1, 0.2], 12)
    theirs = stats.permutation_test(
        (rounded_differences(differences, 0.01).astype(float),),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    ours = randomisation_test(differences, resolution=0.01)
    assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-12)


@pytest.mark.vector("T11: exact randomisation .065918 (elinor 2**20 ways)")
def test_two_systems_of_sakai() -> None:
    """The exact p of X and Y is .065918, at any resolution that holds their digits."""
    for resolution in (0.1, 0.01, 1e-4):
        test = randomisation_test(X - Y, resolution=resolution)
        assert test.p == pytest.approx(0.065918, abs=5e-7)


@given(st.integers(1, 1400), st.data())
def test_many_alike_topics_are_binomial(n_topics: int, data: st.DataObject) -> None:
    """Differences of one size make it the sign test, however many and however far in the tail."""
    n_ahead = data.draw(st.integers(0, n_topics))
    whole = np.where(np.arange(n_topics) < n_ahead, 7, -7)
    expected = float(stats.binomtest(n_ahead, n_topics).pvalue)
    assert sign_flip_p(whole) == pytest.approx(expected, rel=1e-9)


def test_thousands_of_topics_overflow_nothing() -> None:
    """Of 5,000 topics the number of ways is no float, but p is right, near 1 and far out."""
    for n_ahead in (2450, 3000):
        whole = np.where(np.arange(5000) < n_ahead, 1, -1)
        expected = float(stats.binomtest(n_ahead, 5000).pvalue)
        assert sign_flip_p(whole) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=40))
def test_neither_order_nor_roles_nor_unit_matter(whole: list[int]) -> None:
    """Topics in another order, runs exchanged and differences multiplied have the same p."""
    values = np.array(whole, dtype=np.int64)
    p = sign_flip_p(values)
    assert 0 < p <= 1
    assert sign_flip_p(-values[::-1]) == p
    assert sign_flip_p(values * 13) == p


def test_no_topic_is_no_number() -> None:
    """Without topics there is a reason; with equal runs p is 1."""
    assert randomisation_test(np.array([])) == RandomisationTest(None, "no-topics")
    assert randomisation_test(np.zeros(3)).p == 1.0


def test_rounding_can_move_p() -> None:
    """The resolution decides whether .00005 is a difference."""
    differences = np.array([0.2, 0.1, 0.00003])
    assert randomisation_test(differences).p == 0.5  # 2 of 4
    assert randomisation_test(differences, resolution=1e-6).p == 0.25  # 2 of 8


@pytest.mark.parametrize(
    ("differences", "resolution", "message"),
    [
        ([0.1], 0.0, "`resolution` must be above 0, but got 0.0"),
        ([0.1], float("nan"), "`resolution` must be above 0"),
        ([0.1], 1e-17, "`resolution` must not be so fine against the differences"),
        ([float("nan")], 1e-4, "`differences` must be finite"),
    ],
)
def test_what_cannot_be_tested_is_refused(differences: list[float], resolution: float, message: str) -> None:
    """The argument and what it must be are named."""
    with pytest.raises(ArgumentError, match=message):
        randomisation_test(np.array(differences), resolution=resolution)


def test_test_that_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolution too fine for so many topics is refused before anything is computed."""
    monkeypatch.setattr(randomisation, "MOST_STEPS", 1000)
    with pytest.raises(ArgumentError, match="is too fine for 3 topics that differ by 6001 multi"):
        randomisation_test(np.array([0.2, 0.2, 0.2001]))
    # 3 topics of 6001 multiples are 4500 additions; all signs are alike in 2 of 8 cases.
    monkeypatch.setattr(randomisation, "MOST_STEPS", 4500)
    assert randomisation_test(np.array([0.2, 0.2, 0.2001])).p == 0.25
    monkeypatch.setattr(randomisation, "MOST_STEPS", 4499)
    with pytest.raises(ArgumentError, match="is too fine"):
        randomisation_test(np.array([0.2, 0.2, 0.2001]))
