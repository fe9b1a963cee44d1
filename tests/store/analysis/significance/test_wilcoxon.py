"""Wilcoxon's signed ranks on rounded differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.significance.randomisation import WilcoxonTest, doubled_signed_ranks, wilcoxon_test
from tests.vectors.three_systems import X, Y

differences = st.lists(st.integers(-9, 9), min_size=1, max_size=11)


@pytest.mark.vector("T11: .0372 on differences rounded to two digits [scipy]")
def test_two_systems_of_sakai() -> None:
    """On rounded differences the approximation is .0372; floating-point noise would make it .04."""
    for resolution in (0.1, 0.01, 1e-4):
        test = wilcoxon_test(X - Y, resolution=resolution)
        assert test.p_normal == pytest.approx(0.0372, abs=5e-5)
    assert len(set((X - Y).tolist())) > len(set(np.round(X - Y, 2).tolist()))


@given(differences)
def test_approximation_equals_scipy(whole: list[int]) -> None:
    """Ties and zeros among them, the normal approximation is that of scipy."""
    assume(any(whole))
    values = np.array(whole, dtype=float)
    ours = wilcoxon_test(values, resolution=1.0)
    theirs = stats.wilcoxon(values, method="asymptotic", correction=False)
    assert ours.p_normal == pytest.approx(float(theirs.pvalue), rel=1e-9)
    n = np.count_nonzero(values)
    assert min(ours.positive, n * (n + 1) / 2 - ours.positive) == float(theirs.statistic)


@given(st.permutations(range(1, 13)), st.integers(0, 2**12 - 1))
def test_exact_equals_scipy_without_ties(sizes: list[int], signs: int) -> None:
    """Where scipy has an exact p, without ties, it is this one."""
    values = np.array([size * (1 if signs >> place & 1 else -1) for place, size in enumerate(sizes)])
    theirs = stats.wilcoxon(values.astype(float), method="exact")
    assert wilcoxon_test(values.astype(float), resolution=1.0).p == pytest.approx(
        float(theirs.pvalue), rel=1e-12
    )


@given(differences)
def test_exact_equals_brute_force_with_ties(whole: list[int]) -> None:
    """With ties, p is the share of all ways to sign the ranks that are as extreme."""
    assume(any(whole))
    sizes = [abs(value) for value in whole if value]
    ranks = stats.rankdata(sizes)
    seen = abs(sum(np.sign([value for value in whole if value]) * ranks))
    ways = itertools.product((-1, 1), repeat=len(sizes))
    expected = sum(abs(np.dot(signs, ranks)) >= seen for signs in ways) / 2 ** len(sizes)
    test = wilcoxon_test(np.array(whole, dtype=float), resolution=1.0)
    assert test.p == pytest.approx(expected, rel=1e-12)
    doubled = doubled_signed_ranks(np.array(whole))
    assert doubled[doubled != 0].tolist() == pytest.approx(
        2 * np.sign([value for value in whole if value]) * ranks
    )


def test_many_topics_are_approximated() -> None:
    """Beyond a thousand differing topics p is the approximation, which is then as good."""
    values = np.random.default_rng(4).normal(0.01, 0.2, 1000)
    exact = wilcoxon_test(values)
    assert exact.p != exact.p_normal
    assert exact.p == pytest.approx(exact.p_normal, abs=1e-4)
    many = wilcoxon_test(np.append(values, [0.5, 0.6]))
    assert many.p == many.p_normal


def test_undefined_has_a_reason() -> None:
    """No topics, and no difference that does not round to 0, are two reasons."""
    empty = WilcoxonTest(None, None, "no-topics", 0.0)
    assert wilcoxon_test(np.array([])) == empty
    assert wilcoxon_test(np.array([1e-5, 0.0])).reason == "no-difference"
