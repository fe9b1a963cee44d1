r"""How average precision varies when judgements do, found by judging again and again at random.

The way of Kishida [1]_, section 4.2.1: a document with probability p is relevant whenever a random
number is below p; AP of the outcome is computed; and that M times. It shares no formula with
`store.analysis.variation.moments` and so checks it. Its own error, a third of a percent of the standard
deviation at M = 100,000, is in every result.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import check_integer
from store.analysis.variation.lists import Empty, JudgedLists, chance_of_any, check_chances, check_lists
from store.errors import ArgumentError

REPETITIONS = 100_000
"""M of the paper."""

BLOCK = 1 << 14
"""Repetitions computed at once: a document's random numbers take 32 KB. Twice as many would make
BLAS put threads to each product, for nothing."""
TIE = 1e-12
"""Scores no further apart are equal: rounding moves one by some 1e-15."""

_ROWS = 16
"""Documents whose counts are weighted in one product."""


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """Moments of AP, or of MAP, over simulated judgements."""

    mean: NDArray[np.float64]
    """Shape (n_runs,): in [0, 1]."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs): with divisor M - 1; symmetric."""
    mean_error: NDArray[np.float64]
    """Shape (n_runs,): standard error of `mean`."""
    variance_error: NDArray[np.float64]
    """Shape (n_runs,): standard error of the diagonal of `covariance`."""
    repetitions: int
    """M."""
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedMaps:
    """What simulated judgements of all topics do to the MAP of runs."""

    moments: Simulated
    """Of the MAPs."""
    above: NDArray[np.float64]
    """Shape (n_runs, n_runs): share of the repetitions in which the row's MAP is the higher."""
    tied: NDArray[np.float64]
    """Shape (n_runs, n_runs): share in which both are the same; 1 on the diagonal."""


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
    repetitions : int, default=100000
        M, at least 2; each judges every topic once.
    seed : int
        Not negative; the same seed, the same numbers.
    empty : {"given", "zero"}, default="given"
        The rule for R = 0, of `store.analysis.variation.lists`.

    Returns
    -------
    SimulatedMaps
        MAP is the mean over all topics. All runs see the same judgements. Where all probabilities are 0 or
        1, the covariance is 0 exactly. The standard error of a share s is sqrt(s (1 - s) / M).

    Notes
    -----
    Topics are judged independently. Two MAPs within 1e-12 are tied. Documents with p = 0 or 1 are
    not drawn. A draw compares 16 random bits with p, and 64 more where those leave it open: the
    chance of relevance is p to 2^-80. Raw bits of PCG64 are used, the same in every version of
    numpy. With ``given``, a judging that leaves a topic without a relevant document is made again,
    by the law given R > 0: first which document is the first relevant one, and then those after it.

    O(M n_runs (n_documents + n_runs)), the documents being those of all topics: to draw a judgement
    takes some 1.3 ns and to score it 0.8 ns a run. Memory is at most 32 KB a document of a topic and
    512 KB a run, whatever M.

    Examples
    --------
    A has the only document that may be relevant first, B does not have it:

    >>> topics = [([0.5], [[1], [np.inf]])]
    >>> found = simulate_maps(topics, seed=1, repetitions=10_000, empty="zero")
    >>> bool(abs(found.above[0, 1] - 0.5) < 0.02), float(found.above[1, 0])
    (True, 0.0)
    >>> float(found.above[0, 1] + found.tied[0, 1])
    1.0
    """
    check_integer("repetitions", repetitions, 2)
    check_integer("seed", seed, 0)
    check_chances([p for p, _ in topics], empty)
    prepared = [_Topic(_lists(probabilities, ranks), empty) for probabilities, ranks in topics]
    numbers = sorted({topic.n_runs for topic in prepared})
    if len(numbers) != 1:
        raise ArgumentError("topics", "must be at least one, with the same runs in each", numbers)
    n_runs = numbers[0]
    sums = _Sums(n_runs)
    n_above = np.zeros((n_runs, n_runs))
    for scores in _blocks(prepared, repetitions, seed):
        sums.add(scores)
        for run in range(n_runs):
            # One row at a time: of all pairs, the differences would not fit into the cache.
            for other in range(run):
                difference = scores[run] - scores[other]
                n_above[run, other] += np.count_nonzero(difference > TIE)
                n_above[other, run] += np.count_nonzero(difference < -TIE)
        if progress is not None:
            progress(scores.shape[1])
    tied = (repetitions - n_above - n_above.T) / repetitions
    return SimulatedMaps(sums.moments(seed), n_above / repetitions, tied)


def _lists(probabilities: ArrayLike, ranks: ArrayLike) -> JudgedLists:
    """Check the documents; those that cannot be relevant only occupy ranks."""
    lists = check_lists(probabilities, np.atleast_2d(np.asarray(ranks, dtype=np.float64)))
    return lists.without(lists.probabilities == 0)


class _Topic:
    """One topic, ready to be judged: what to draw, and how each run is scored from it."""

    def __init__(self, lists: JudgedLists, empty: Empty) -> None:
        p = lists.probabilities
        self.first_relevant = np.zeros(0)
        """Law of the first relevant document, added up; empty = outcomes with R = 0 stay."""
        if empty == "given" and not (p == 1).any():
            before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
            self.first_relevant = np.cumsum(before * p / chance_of_any(p))
        self.n_runs = len(lists.ranks)
        drawn = np.flatnonzero(p < 1)
        self.n_sure = p.size - drawn.size
        scaled = p[drawn] * 65536
        self.bounds = scaled.astype(np.uint16)
        self.rests = scaled - self.bounds
        """Chance that a document is relevant whose 16 bits equal its bound."""
        self.counter = np.min_scalar_type(max(p.size, 1))
        """The smallest type that holds R: the narrower, the more of them in one instruction."""
        rows = np.full(p.size, -1, dtype=np.int64)
        rows[drawn] = np.arange(drawn.size)
        self.rows: list[list[int]] = []
        """By run: its documents in rank order, as a row of the draws, or -1 = surely relevant."""
        self.weights: list[NDArray[np.float64]] = []
        """By run: 1 / rank."""
        for run, order in enumerate(lists.order):
            retrieved = order[: lists.n_retrieved[run]]
            self.rows.append(rows[retrieved].tolist())
            self.weights.append(1 / lists.ranks[run, retrieved])

    def draw(self, bits: np.random.PCG64, n: int) -> NDArray[np.unsignedinteger]:
        """Judge every uncertain document n times; shape (n_drawn, n), of 0 and 1."""
        flags = np.empty((self.bounds.size, n), dtype=self.counter)
        is_below = np.empty(n, dtype=np.bool_)
        for row, (bound, rest) in enumerate(zip(self.bounds, self.rests, strict=True)):
            raw = bits.random_raw((n + 3) // 4).view(np.uint16)[:n]
            np.less(raw, bound, out=is_below)
            undecided = np.flatnonzero(raw == bound)
            if undecided.size:
                is_below[undecided] = bits.random_raw(undecided.size) * 2.0**-64 < rest
            flags[row] = is_below
        if self.first_relevant.size:
            self._draw_again(bits, flags)
        return flags

    def _draw_again(self, bits: np.random.PCG64, flags: NDArray[np.unsignedinteger]) -> None:
        """Judge anew, given R > 0, where no document is relevant; all of them are uncertain."""
        places = np.flatnonzero(~flags.any(axis=0))
        if not places.size:
            return
        numbers = bits.random_raw(places.size) * 2.0**-64
        first = np.searchsorted(self.first_relevant, numbers, side="right")
        first = np.minimum(first, len(flags) - 1)
        for row, (bound, rest) in enumerate(zip(self.bounds, self.rests, strict=True)):
            numbers = bits.random_raw(places.size) * 2.0**-64
            is_below = numbers < (int(bound) + rest) / 65536
            flags[row, places] = (row == first) | ((row > first) & is_below)

    def score(self, flags: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Compute AP of every run from the judgements; shape (n_runs, n)."""
        n = flags.shape[1]
        n_relevant = np.full(n, self.n_sure, dtype=self.counter)
        for row in flags:
            n_relevant += row
        scores = np.zeros((self.n_runs, n))
        counted = np.zeros(n, dtype=self.counter)
        held = np.empty((_ROWS, n))
        for run, (rows, weights) in enumerate(zip(self.rows, self.weights, strict=True)):
            counted[:] = 0
            for start in range(0, len(rows), _ROWS):
                part = rows[start : start + _ROWS]
                for place, row in enumerate(part):
                    # x_i c_i, whole numbers until they meet their 1 / rank.
                    if row < 0:
                        counted += 1
                        held[place] = counted
                    else:
                        counted += flags[row]
                        held[place] = counted * flags[row]
                scores[run] += weights[start : start + _ROWS] @ held[: len(part)]
        # A precision sum is 0 where R is.
        scores /= np.maximum(n_relevant, 1)
        return scores


def _blocks(topics: Sequence[_Topic], repetitions: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the runs' mean over topics in each repetition: arrays (n_runs, at most BLOCK)."""
    bits = np.random.PCG64(seed)
    for start in range(0, repetitions, BLOCK):
        n = min(BLOCK, repetitions - start)
        scores = np.zeros((topics[0].n_runs, n))
        for topic in topics:
            scores += topic.score(topic.draw(bits, n))
        scores /= len(topics)
        yield scores


class _Sums:
    """Powers of scores, summed up block by block."""

    def __init__(self, n_runs: int) -> None:
        self.n = 0
        self.origin = np.zeros((n_runs, 1))
        """A score that occurs: from there, the powers lose few digits, and constants are 0."""
        self.powers = np.zeros((4, n_runs))
        self.products = np.zeros((n_runs, n_runs))

    def add(self, scores: NDArray[np.float64]) -> None:
        """Take in one block, shape (n_runs, n)."""
        if not self.n:
            self.origin = scores[:, :1].copy()
        self.n += scores.shape[1]
        apart = scores - self.origin
        square = apart * apart
        self.powers += (
            apart.sum(axis=1),
            square.sum(axis=1),
            np.einsum("rm,rm->r", square, apart),
            np.einsum("rm,rm->r", square, square),
        )
        # BLAS puts threads to long products of few rows, and waits for them on a busy machine.
        is_small = len(apart) < 4
        self.products += np.einsum("rm,sm->rs", apart, apart) if is_small else apart @ apart.T

    def moments(self, seed: int) -> Simulated:
        """Turn the sums into central moments."""
        first, second, third, fourth = self.powers / self.n
        products = self.products - np.outer(first, first) * self.n
        covariance = (products + products.T) / 2 / (self.n - 1)
        variance = np.maximum(covariance.diagonal(), 0.0)
        central = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        # Var(s^2) = (m4 - (M - 3) / (M - 1) s^4) / M.
        of_variance = (central - (self.n - 3) / (self.n - 1) * variance**2) / self.n
        return Simulated(
            mean=self.origin[:, 0] + first,
            covariance=covariance,
            mean_error=np.sqrt(variance / self.n),
            variance_error=np.sqrt(np.maximum(of_variance, 0.0)),
            repetitions=self.n,
            seed=seed,
        )
