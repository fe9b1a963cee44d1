"""N-fold and leave-one-out over topics; signs of mean changes.

Topics are the unit: documents of one topic are alike, and a split within a topic would test on what
it was trained on.

On one topic, recall and precision at a cutoff rise and fall together. On the mean over topics they
need not: a document more adds 1/N to the precision of every topic alike, but 1/R to its recall. One
of the sources reads four meanings into the two signs; strictly only this follows:

=============== ================ =============================================================
mean recall     mean precision   where the gains lie
=============== ================ =============================================================
up              down             they lean to topics with few relevant documents
down            up               they lean to topics with many relevant documents
up or down      the same         nothing follows: some topics may have changed the other way
=============== ================ =============================================================

No change of one mean is between up and down: recall up and precision unchanged leans to topics with
few relevant documents too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_integer


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One way to part the topics; both arrays hold their places, ascending."""

    train: NDArray[np.int64]
    """Shape (n_train,)."""
    test: NDArray[np.int64]
    """Shape (n_test,), at least 1."""


def topic_folds(n_topics: int, n_folds: int, *, seed: int | None = None) -> tuple[Split, ...]:
    """Split the topics into so many folds, at least 2, and test on each after training on the others.

    Every topic is tested on once. Folds differ in size by 1 at most, the larger first. Without a seed they
    are of neighbouring topics, as scikit-learn's `KFold` has them; a seed, not negative, shuffles the topics
    by raw 64-bit words of PCG64, the same in every version of numpy.

    Examples
    --------
    >>> [split.test.tolist() for split in topic_folds(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    check_integer("n_folds", n_folds, 2)
    order = np.arange(n_topics, dtype=np.int64)
    if seed is not None:
        check_integer("seed", seed, 0)
        words = np.random.PCG64(seed).random_raw(n_topics)
        order = np.argsort(words, kind="stable").astype(np.int64)
    splits = []
    for fold in np.array_split(order, n_folds):
        is_tested = np.zeros(n_topics, dtype=np.bool_)
        is_tested[fold] = True
        splits.append(Split(np.flatnonzero(~is_tested), np.flatnonzero(is_tested)))
    return tuple(splits)


Leaning = Literal["few", "many", "neither"]
"""Topics that the gains lean to: those with few relevant documents, with many, or neither."""


@dataclass(frozen=True, slots=True)
class MeanChanges:
    """How two means over the same topics changed."""

    recall: float
    """Change of mean recall at the cutoff, in [-1, 1]."""
    precision: float
    """Change of mean precision at the cutoff, in [-1, 1]."""
    implied: Leaning | None
    """What the two signs alone imply; ``None`` when they imply nothing."""


def mean_changes(n_relevant: Sequence[int], changes: Sequence[int], *, cutoff: int) -> MeanChanges:
    r"""Compute how mean recall and mean precision at a cutoff change, and which topics gain by the signs.

    Parameters
    ----------
    n_relevant : sequence of int, length n_topics
        R of each topic, at least 1; of one topic or more.
    changes : sequence of int, length n_topics
        Relevant documents within the cutoff, after less before: at most min(R, N) up or down.
    cutoff : int
        N, at least 1.

    Returns
    -------
    MeanChanges
        Signs are those of exact fractions, never of rounded sums.

    Notes
    -----
    With d the changes, mean recall changes by mean(d / R), mean precision by mean(d) / N, and

    .. math:: \sum_h d_h \Bigl(\frac1{R_h} - \overline{1/R}\Bigr)
              = \sum_h \frac{d_h}{R_h} - \overline{1/R} \sum_h d_h

    so that a recall sign above the precision sign makes it positive, and one below negative: gains lean to
    topics with few relevant documents, or with many. O(n_topics).

    Examples
    --------
    The source's two users, R 100 and 20, of whom one lost 2 documents and the other won 1:

    >>> changes = mean_changes([100, 20], [-2, 1], cutoff=10)
    >>> changes.recall, changes.precision, changes.implied
    (0.015, -0.05, 'few')
    """
    recall = sum((Fraction(d, r) for d, r in zip(changes, n_relevant, strict=True)), Fraction(0))
    precision = Fraction(sum(changes), cutoff)
    n_topics = len(changes)
    implied = implied_leaning(_sign(recall), _sign(precision))
    return MeanChanges(float(recall / n_topics), float(precision / n_topics), implied)


def implied_leaning(recall_sign: int, precision_sign: int) -> Leaning | None:
    """Return what the signs of two changes of means at one cutoff, each -1, 0 or 1, imply.

    ``neither`` when both means stayed, ``None`` when both moved the same way.

    >>> implied_leaning(1, -1), implied_leaning(-1, 1), implied_leaning(1, 1)
    ('few', 'many', None)
    """
    if recall_sign == precision_sign:
        return None if recall_sign else "neither"
    return "few" if recall_sign > precision_sign else "many"


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)
