"""Folds over topics, as scikit-learn's, and what signs of mean changes imply."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from store.analysis.significance.folds import mean_changes, topic_folds


@given(st.integers(2, 30), st.integers(2, 30), st.one_of(st.none(), st.integers(0, 2**70)))
def test_folds_part_the_topics(n_topics: int, n_folds: int, seed: int | None) -> None:
    """Each topic is in one test fold, and trained on in every other; sizes differ by 1 at most."""
    if n_folds > n_topics:
        return
    splits = topic_folds(n_topics, n_folds, seed=seed)
    assert len(splits) == n_folds
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested.tolist()) == list(range(n_topics))
    for split in splits:
        together = np.concatenate([split.train, split.test])
        assert sorted(together.tolist()) == list(range(n_topics))
        assert np.all(np.diff(split.train) > 0)
        assert np.all(np.diff(split.test) > 0)
    sizes = [split.test.size for split in splits]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(2, 30), st.integers(2, 30))
def test_folds_without_seed_are_scikit_learns(n_topics: int, n_folds: int) -> None:
    """In the order of the topics the folds are those of KFold."""
    if n_folds > n_topics:
        return
    theirs = KFold(n_folds).split(np.zeros(n_topics))
    for split, (train, test) in zip(topic_folds(n_topics, n_folds), theirs, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


@pytest.mark.vector("article 002, users A and B")
def test_users_of_the_article() -> None:
    """Mean recall rises by .015 while mean precision falls by .05, as for the printed changes."""
    # Printed a user: recall -.02 and +.05, precision -.2 and +.1.
    assert Fraction(-2, 100) + Fraction(1, 20) == 2 * Fraction("0.015")
    assert Fraction(-2, 10) + Fraction(1, 10) == 2 * Fraction("-0.05")
    changes = mean_changes([100, 20], [-2, 1], cutoff=10)
    assert (changes.recall, changes.precision) == (0.015, -0.05)
    assert changes.implied == "few"


def test_implication_holds_in_every_small_case() -> None:
    """Whatever the signs imply is so for all R up to 4 and all changes of three topics."""
    seen = set()
    for counts in itertools.combinations_with_replacement([1, 2, 4], 3):
        ranges = [range(-min(count, 3), min(count, 3) + 1) for count in counts]
        for moved in itertools.product(*ranges):
            changes = mean_changes(counts, moved, cutoff=3)
            inverse = [Fraction(1, count) for count in counts]
            mean = sum(inverse) / 3
            surplus = sum(d * (i - mean) for d, i in zip(moved, inverse, strict=True))
            leaning = "few" if surplus > 0 else "many" if surplus < 0 else "neither"
            if changes.implied is not None:
                assert changes.implied == leaning
            seen.add((np.sign(changes.recall), np.sign(changes.precision), leaning))
    # Equal signs imply nothing: either leaning occurs with both means up, and with both down.
    assert {(1, 1, "few"), (1, 1, "many"), (-1, -1, "few"), (-1, -1, "many")} <= seen
    assert {(r, p) for r, p, _ in seen} == set(itertools.product([-1, 0, 1], repeat=2))


def test_signs_are_exact() -> None:
    """Changes that cancel exactly have sign 0, where a sum of floats has not."""
    assert 1 / 10 + 2 / 10 - 3 / 10 != 0
    changes = mean_changes([10, 10, 10], [1, 2, -3], cutoff=10)
    assert (changes.recall, changes.precision, changes.implied) == (0, 0, "neither")
