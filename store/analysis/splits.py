"""Splits of the topics into those to train on and those to test on.

Topics are the unit: documents of one topic are alike, and a split within a topic would test on what
it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One way to part the topics; both arrays hold their places, ascending."""

    train: NDArray[np.int64]
    """Shape (n_train,)."""
    test: NDArray[np.int64]
    """Shape (n_test,), at least 1."""


def topic_folds(n_topics: int, n_folds: int, *, seed: int | None = None) -> tuple[Split, ...]:
    """Part the topics into folds, and test on each after training on the others.

    Parameters
    ----------
    n_topics : int
        At least `n_folds`.
    n_folds : int
        At least 2; as many as there are topics leaves one out each time.
    seed : int, optional
        Not negative: shuffles the topics. By default folds are neighbouring topics.

    Returns
    -------
    tuple of Split, length n_folds
        Every topic is tested on once. Folds differ in size by 1 at most, the larger first.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    Notes
    -----
    Without a seed, scikit-learn's `KFold`. The shuffle orders the topics by raw 64-bit words of
    PCG64 and so is the same in every version of numpy. O(n_topics * n_folds).

    Examples
    --------
    >>> [split.test.tolist() for split in topic_folds(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    if n_folds < 2:
        raise ArgumentError("n_folds", "must be an integer >= 2", n_folds)
    if n_topics < n_folds:
        raise ArgumentError("n_topics", f"must be at least the {n_folds} folds", n_topics)
    order = np.arange(n_topics, dtype=np.int64)
    if seed is not None:
        if seed < 0:
            raise ArgumentError("seed", "must be an integer >= 0", seed)
        words = np.random.PCG64(seed).random_raw(n_topics)
        order = np.argsort(words, kind="stable").astype(np.int64)
    splits = []
    for fold in np.array_split(order, n_folds):
        is_tested = np.zeros(n_topics, dtype=np.bool_)
        is_tested[fold] = True
        splits.append(Split(np.flatnonzero(~is_tested), np.flatnonzero(is_tested)))
    return tuple(splits)


def leave_one_out(n_topics: int) -> tuple[Split, ...]:
    """Test on each topic after training on all others.

    Parameters
    ----------
    n_topics : int
        At least 2.

    Returns
    -------
    tuple of Split, length n_topics
        In the order of the topics.

    Raises
    ------
    ArgumentError
        If `n_topics` is below 2.

    Examples
    --------
    >>> [(split.train.tolist(), split.test.tolist()) for split in leave_one_out(3)]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """
    if n_topics < 2:
        raise ArgumentError("n_topics", "must be an integer >= 2", n_topics)
    return topic_folds(n_topics, n_topics)
