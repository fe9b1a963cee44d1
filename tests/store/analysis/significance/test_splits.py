"""Folds over topics: every topic tested on once, the same folds as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut

from store.analysis.significance.folds import topic_folds
from store.errors import ArgumentError


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


@given(st.integers(2, 30))
def test_leave_one_out_is_scikit_learns(n_topics: int) -> None:
    """Each topic alone is tested on, in order."""
    theirs = LeaveOneOut().split(np.zeros(n_topics))
    for split, (train, test) in zip(topic_folds(n_topics, n_topics), theirs, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_seed_decides_the_folds() -> None:
    """One seed gives the same folds every time, another seed or none gives others."""

    def tests(seed: int | None) -> list[list[int]]:
        return [split.test.tolist() for split in topic_folds(50, 5, seed=seed)]

    assert tests(1) == tests(1)
    assert tests(1) != tests(2)
    assert tests(1) != tests(None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topic_folds(5, 1), "`n_folds` must be an integer >= 2, but got 1"),
        (lambda: topic_folds(2, 3), "`n_topics` must be at least the 3 folds, but got 2"),
        (lambda: topic_folds(4, 2, seed=-1), "`seed` must be an integer >= 0, but got -1"),
    ],
)
def test_arguments_that_cannot_be_used(call: object, message: str) -> None:
    """Each wrong argument is named with what it must be."""
    assert callable(call)
    with pytest.raises(ArgumentError, match=message):
        call()
