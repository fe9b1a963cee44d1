r"""How average precision varies when judgements do, found by judging again and again at random.

The way of Kishida [1]_, section 4.2.1: a document with probability p is relevant whenever a random
number is below p; AP of the outcome is computed; and that M times. It shares no formula with
`store.analysis.variation.moments` and so checks it, and shows what a law of two moments leaves out.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.variation.moments import Empty, JudgedLists, chance_of_any, check_chances, check_lists

REPETITIONS = 20_000
"""M unless another is asked for: a share is known to .0035 then, its standard error at most."""

TIE = 1e-12
"""Scores no further apart are equal: rounding moves one by some 1e-15."""

_AT_ONCE = 1 << 14
"""Judgings at once: few enough that BLAS puts no threads to a product, which on a busy machine wait."""
_ROWS = 16
"""Documents whose counts are weighted in one product."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedMaps:
    """What simulated judgements of all topics do to the MAP of runs."""

    mean: NDArray[np.float64]
    """Shape (n_runs,): in [0, 1]."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs): with divisor M - 1; symmetric."""
    above: NDArray[np.float64]
    """Shape (n_runs, n_runs): share s of the repetitions in which the row's MAP is the higher; its standard
    error is sqrt(s (1 - s) / M)."""
    repetitions: int
    """M."""
    seed: int


def simulate_maps(
    topics: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    repetitions: int = REPETITIONS,
    seed: int,
    empty: Empty = "given",
    progress: Callable[[int], None] | None = None,
) -> SimulatedMaps:
    r"""Judge all topics many times over and compare the MAPs of the runs.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        At least one, with the same runs in the same order in all of them; see
        `store.analysis.variation.moments.variation`. Ranks of one run may be of shape (n_documents,).
    repetitions : int, default=20000
        M, at least 2; each judges every topic once.
    seed : int
        Not negative; the same seed, the same numbers.
    empty : {"given", "zero"}, default="given"
        The rule for R = 0, of `store.analysis.variation.moments`.

    Returns
    -------
    SimulatedMaps
        MAP is the mean over all topics. All runs see the same judgements. Where all probabilities are 0 or
        1, the covariance is 0 exactly. The order of the documents makes no difference.

    Notes
    -----
    Topics are judged independently. Two MAPs within 1e-12 are tied. A draw compares 64 bits with p, where p
    is neither 0 nor 1: raw bits of PCG64, the same in every version of numpy. With ``given``, a judging that
    leaves a topic without a relevant document is made again, by the law given R > 0: first which document is
    the first relevant one, and then those after it.

    O(M n_runs (n_documents + n_runs)), the documents being those of all topics: to draw a judgement takes
    some 2 ns and to score it 0.8 ns a run. 8 M bytes a run.

    Examples
    --------
    A has the only document that may be relevant first, B does not have it:

    >>> topics = [([0.5], [[1], [np.inf]])]
    >>> found = simulate_maps(topics, seed=1, repetitions=10_000, empty="zero")
    >>> bool(abs(found.above[0, 1] - 0.5) < 0.02), float(found.above[1, 0])
    (True, 0.0)
    """
    check_chances([p for p, _ in topics], empty)
    prepared = []
    for probabilities, ranks in topics:
        lists = check_lists(probabilities, np.atleast_2d(np.asarray(ranks, dtype=np.float64)))
        # In an order that ids do not decide: files and a collection of the same runs are judged alike.
        order = np.lexsort((*lists.ranks, lists.probabilities))
        lists = check_lists(lists.probabilities[order], lists.ranks[:, order])
        prepared.append(_Topic(lists.without(lists.probabilities == 0), empty))
    n_runs = len(prepared[0].rows)
    maps = np.zeros((n_runs, repetitions))
    bits = np.random.PCG64(seed)
    for start in range(0, repetitions, _AT_ONCE):
        part = maps[:, start : start + _AT_ONCE]
        n = part.shape[1]
        for place, topic in enumerate(prepared):
            part += topic.score(topic.draw(bits, n))
            if progress is not None:  # a topic's part of these judgings
                progress(n * (place + 1) // len(prepared) - n * place // len(prepared))
    maps /= len(prepared)
    above = np.zeros((n_runs, n_runs))
    for run in range(n_runs):
        for other in range(run):
            difference = maps[run] - maps[other]
            above[run, other] = np.count_nonzero(difference > TIE) / repetitions
            above[other, run] = np.count_nonzero(difference < -TIE) / repetitions
    # From a score that occurs: a constant is then 0, and its variance, too.
    origin = maps[:, :1].copy()
    maps -= origin
    mean = origin[:, 0] + maps.mean(axis=1)
    return SimulatedMaps(mean, np.atleast_2d(np.cov(maps)), above, repetitions, seed)


class _Topic:
    """One topic, ready to be judged: what to draw, and how each run is scored from it."""

    def __init__(self, lists: JudgedLists, empty: Empty) -> None:
        p = lists.probabilities
        self.first_relevant = np.zeros(0)
        """Law of the first relevant document, added up; empty = outcomes with R = 0 stay."""
        if empty == "given" and not (p == 1).any():
            before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
            self.first_relevant = np.cumsum(before * p / chance_of_any(p))
        self.n_documents = p.size
        self.bounds = [(row, np.uint64(p[row] * 2.0**64)) for row in np.flatnonzero(p < 1).tolist()]
        """A document is relevant where 64 bits are below its bound; others surely are."""
        self.counter = np.min_scalar_type(max(p.size, 1))
        """The smallest type that holds R: the narrower, the more of them in one instruction."""
        retrieved = [order[:n] for order, n in zip(lists.order, lists.n_retrieved.tolist(), strict=True)]
        self.rows = [documents.tolist() for documents in retrieved]
        """By run: its documents in rank order."""
        self.weights = [1 / ranks[documents] for ranks, documents in zip(lists.ranks, retrieved, strict=True)]
        """By run: 1 / rank."""

    def draw(self, bits: np.random.PCG64, n: int) -> NDArray[np.unsignedinteger]:
        """Judge every document n times; shape (n_documents, n), of 0 and 1."""
        flags = np.ones((self.n_documents, n), dtype=self.counter)
        for row, bound in self.bounds:
            flags[row] = bits.random_raw(n) < bound
        # Where some document is surely relevant, there is no law of the first relevant one.
        empty = np.flatnonzero(~flags.any(axis=0)) if self.first_relevant.size else np.zeros(0, np.int64)
        if empty.size:
            numbers = bits.random_raw(empty.size) * 2.0**-64
            first = np.searchsorted(self.first_relevant, numbers, side="right")
            first = np.minimum(first, len(flags) - 1)
            for row, bound in self.bounds:
                flags[row, empty] = (row == first) | ((row > first) & (bits.random_raw(empty.size) < bound))
        return flags

    def score(self, flags: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Compute AP of every run from the judgements; shape (n_runs, n)."""
        n = flags.shape[1]
        n_relevant = flags.sum(axis=0, dtype=self.counter)
        scores = np.zeros((len(self.rows), n))
        counted = np.zeros(n, dtype=self.counter)
        held = np.empty((_ROWS, n))
        for run, (rows, weights) in enumerate(zip(self.rows, self.weights, strict=True)):
            counted[:] = 0
            for start in range(0, len(rows), _ROWS):
                part = rows[start : start + _ROWS]
                for place, row in enumerate(part):
                    # x_i c_i, whole numbers until they meet their 1 / rank.
                    counted += flags[row]
                    held[place] = counted * flags[row]
                scores[run] += weights[start : start + _ROWS] @ held[: len(part)]
        # A precision sum is 0 where R is.
        scores /= np.maximum(n_relevant, 1)
        return scores
