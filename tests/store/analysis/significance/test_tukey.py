"""Tukey's honestly significant differences, by residuals and by permutation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from store.analysis.significance.pairs import randomised_tukey_test, tukey_test
from store.analysis.significance.t_tests import paired_t
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.three_systems import SCORES, X, Y

PAIRS = ((0, 1), (0, 2), (1, 2))


@pytest.mark.vector("T11: Tukey F 2.47495, p .097635; p .2567 .0957 .8550")
def test_three_systems_of_sakai() -> None:
    """F and all three p-values come out; the one-way test has others."""
    test = tukey_test(SCORES)
    assert_prints("2.47495", test.f)
    assert_prints("0.097635", test.p_of_f)
    for pair, p in zip(PAIRS, ("0.2567", "0.0957", "0.8550"), strict=True):
        assert_prints(p, float(test.p[pair]))
    assert stats.tukey_hsd(*SCORES).pvalue[0, 1] == pytest.approx(0.394, abs=5e-4)
    np.testing.assert_array_equal(test.p, test.p.T)


@pytest.mark.vector("T11: randomised Tukey .307 .107 .889 (20,000 permutations)")
def test_three_systems_randomised() -> None:
    """Within what 20,000 permutations leave open, three standard errors of both numbers."""
    found = randomised_tukey_test(SCORES, seed=3, permutations=20_000)
    for pair, p in zip(PAIRS, (0.307, 0.107, 0.889), strict=True):
        assert found[pair] == pytest.approx(p, abs=3 * math.sqrt(2 * p * (1 - p) / 20_000))
    assert found[0, 0] == 1.0
    again = randomised_tukey_test(SCORES, seed=3, permutations=20_000)
    np.testing.assert_array_equal(found, again)


def test_randomised_test_of_two_runs_is_the_sign_test() -> None:
    """Two topics of two runs have four orders, two of them as extreme: p is about 1/2."""
    found = randomised_tukey_test(np.array([[0.5, 0.6], [0.1, 0.1]]), seed=1, permutations=4000)
    assert found[0, 1] == pytest.approx(0.5, abs=0.03)
    # Equal scores: every permutation is as extreme.
    assert randomised_tukey_test(np.ones((3, 4)), seed=1, permutations=50).min() == 1.0


@pytest.mark.vector("methods of the project 4.4: 132/216, 36/216, 144/216")
def test_few_permutations_are_all_looked_at() -> None:
    """Three runs in three topics: exact."""
    scores = np.array([[0.5, 0.3, 0.2], [0.6, 0.6, 0.1], [0.9, 0.4, 0.5]]).T
    found = randomised_tukey_test(scores, seed=1)
    for pair, p in zip(PAIRS, (132, 36, 144), strict=True):
        assert float(found[pair]) == pytest.approx(p / 216, abs=1e-12)
    drawn = randomised_tukey_test(scores, seed=1, permutations=30)
    assert drawn[0, 1] == pytest.approx(132 / 216, abs=0.3)


def test_two_runs_are_the_paired_t_test() -> None:
    """With two runs, q is sqrt(2) times t and p the same."""
    test = tukey_test(np.array([X, Y]))
    assert test.p[0, 1] == pytest.approx(paired_t(X - Y).p, abs=1e-9)


def test_degenerate_scores_have_a_reason() -> None:
    """One run, one topic and runs that differ by a constant have no p."""
    assert tukey_test(X[None]).reason == "fewer-than-two-runs"
    assert tukey_test(SCORES[:, :1]).reason == "fewer-than-two-topics"
    shifted = tukey_test(np.array([X, X + 0.1]))
    assert shifted.reason == "no-variation"
    assert np.isnan(shifted.p).all()


@pytest.mark.parametrize(("n_topics", "has_p"), [(0, False), (1, False), (3, True)])
def test_randomised_test_needs_two_topics(n_topics: int, *, has_p: bool) -> None:
    """With fewer every p is undefined."""
    found = randomised_tukey_test(SCORES[:, :n_topics], seed=0, permutations=7)
    assert np.isnan(found).all() == (not has_p)


def test_what_cannot_be_compared_is_refused() -> None:
    """Each argument outside its range is named."""
    with pytest.raises(ArgumentError, match="`scores` must be runs by topics"):
        tukey_test(X)
    with pytest.raises(ArgumentError, match="`scores` must be finite"):
        tukey_test(np.full((2, 2), np.nan))
