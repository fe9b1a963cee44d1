"""Exact tests of two runs: randomisation, signed ranks; the studentised bootstrap."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.significance import randomisation
from store.analysis.significance.randomisation import (
    ExactTest,
    doubled_signed_ranks,
    randomisation_test,
    rounded_differences,
    sign_flip_p,
    studentised_bootstrap,
    wilcoxon_test,
)
from store.errors import ArgumentError
from tests.helpers.worked_examples import X, Y


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


def test_no_topic_is_no_number() -> None:
    """Without topics there is a reason; with equal runs p is 1."""
    assert randomisation_test(np.array([])) == ExactTest(None, "no-topics")
    assert randomisation_test(np.zeros(3)).p == 1.0


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


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000), st.integers(0, 6))
def test_scores_with_so_many_digits_are_exact(one: int, other: int, digits: int) -> None:
    """The difference of two scores of d digits is their difference in units of the last one."""
    first, second = (float(f"{number}e-{digits}") for number in (one, other))
    whole = rounded_differences(np.array([first - second]), float(f"1e-{digits}"))
    assert whole.tolist() == [one - other]


differences = st.lists(st.integers(-9, 9), min_size=1, max_size=11)


@pytest.mark.vector("T11: .0372 on differences rounded to two digits [scipy]")
def test_ranks_of_two_systems_of_sakai() -> None:
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
    assert min(ours.ahead, n * (n + 1) / 2 - ours.ahead) == float(theirs.statistic)


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
    empty = ExactTest(None, "no-topics")
    assert wilcoxon_test(np.array([])) == empty
    assert wilcoxon_test(np.array([1e-5, 0.0])).reason == "no-difference"


@pytest.mark.vector("T11: studentised bootstrap .050")
def test_bootstrap_of_two_systems() -> None:
    """The bootstrap's p is .050, to what 20,000 resamples leave open."""
    p = studentised_bootstrap(X - Y, seed=2, resamples=20_000)
    assert float(p) == pytest.approx(0.050, abs=0.0005 + 3 * math.sqrt(0.0475 / 20_000))


def test_bootstrap_equals_a_plain_loop() -> None:
    """The p-value is the share of the resamples, drawn alike, whose t is as large."""
    differences = np.array([0.1, 0.2, 0.1, 0.4, -0.1])
    bits = np.random.PCG64(7).random_raw(200 * 5) >> np.uint64(32)
    drawn = ((bits * np.uint64(5)) >> np.uint64(32)).astype(int).reshape(200, 5)
    shifted = differences - differences.mean()
    seen = abs(differences.mean() / differences.std(ddof=1))
    n_as_large = 0
    for places in drawn:
        sample = shifted[places]
        # Without variation t is infinite, unless the mean is 0, as it never is here.
        constant = np.ptp(sample) == 0
        n_as_large += constant or abs(sample.mean()) / sample.std(ddof=1) >= seen
    p = float(studentised_bootstrap(differences, seed=7, resamples=200))
    assert p == (n_as_large + 1) / 201


def test_bootstrap_of_many_pairs_is_that_of_each() -> None:
    """Every row has the p that it has alone; rows without variation and single topics have none."""
    rows = np.random.default_rng(1).normal(0.05, 0.2, (4, 12))
    rows[2] = 0.1
    together = studentised_bootstrap(rows, seed=5, resamples=500)
    for row, p in zip(rows, together, strict=True):
        alone = studentised_bootstrap(row, seed=5, resamples=500)
        np.testing.assert_array_equal(alone, p)
    assert np.isnan(together).tolist() == [False, False, True, False]
    assert np.isnan(studentised_bootstrap(np.zeros((2, 1)), seed=1)).all()
