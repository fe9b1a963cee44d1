"""One topic as a strategy sees it; numbers that a seed gives again.

Documents are numbers from 0 in the ascending bytewise order of their docnos, and runs stand in
the ascending order of their tags. So a strategy needs no names: the one tie rule, value
descending, then docno descending, is value descending, then number descending.

numpy promises that the raw bits of a generator stay the same, but not what its distributions make
of them (NEP 19). So everything random here is made from raw bits. Every topic has a stream of its
own, so that a topic more or less leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.pools.contributions import NO_DOCUMENT, best_ranks, n_contributing


@dataclass(frozen=True, slots=True, eq=False)
class TopicRankings:
    """The first documents of every run for one topic."""

    documents: NDArray[np.int32]
    """Shape (n_runs, depth), in rank order; `NO_DOCUMENT` after the last of a shorter ranking.
    No run has a document twice, and no row is empty."""
    n_documents: int
    """Documents of the union; each number below it occurs."""
    scores: NDArray[np.float64] | None = None
    """Shape (n_runs, depth), finite where there is a document, NaN elsewhere; ``None`` = not loaded."""
    topic: str = ""
    """Its id; every topic has a random stream of its own."""

    @property
    def n_runs(self) -> int:
        """Runs that returned something for the topic."""
        return len(self.documents)

    @property
    def depth(self) -> int:
        """Length of the longest ranking."""
        return int(self.documents.shape[1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Documents of every run, shape (n_runs,)."""
        lengths: NDArray[np.int64] = (self.documents != NO_DOCUMENT).sum(axis=1)
        return lengths

    def n_returning(self) -> NDArray[np.int64]:
        """Count the runs that returned each document, shape (n_documents,)."""
        return n_contributing(self.documents, self.n_documents)

    def best_ranks(self) -> NDArray[np.int64]:
        """Return the best rank of each document in any run, from 1, shape (n_documents,)."""
        return best_ranks(self.documents, self.n_documents)

    def sum_by_rank(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up, for each document, what its ranks are worth.

        `values`, shape (depth,), are the worth of rank 1, 2, and so on. The sums, shape (n_documents,),
        are over the runs that returned the document; documents with the same ranks have the same sum to
        the last bit, whichever runs gave them.

        >>> rankings = rankings_of([["a", "b"], ["b"]])[0]
        >>> rankings.sum_by_rank(np.array([1.0, 0.5])).tolist()
        [1.0, 1.5]
        """
        by_rank = self.documents.T
        is_there = by_rank != NO_DOCUMENT
        worth = np.broadcast_to(values[:, np.newaxis], by_rank.shape)
        return self._sum(by_rank[is_there], worth[is_there])

    def sum_by_place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up, for each document, what its places are worth.

        `values`, shape (n_runs, depth), are any number where there is no document. The sums, shape
        (n_documents,), are over the runs that returned the document, the least value added first:
        documents with the same values have the same sum to the last bit.
        """
        is_there = self.documents != NO_DOCUMENT
        worth = values[is_there]
        ascending = np.argsort(worth, kind="stable")
        return self._sum(self.documents[is_there][ascending], worth[ascending])

    def _sum(self, documents: NDArray[np.int32], worth: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(documents, worth, minlength=self.n_documents)
        return sums.astype(np.float64, copy=False)


def rankings_of(
    rankings: Sequence[Sequence[str]],
    scores: Sequence[Sequence[float] | NDArray[np.float64]] | None = None,
    *,
    topic: str = "",
) -> tuple[TopicRankings, list[str]]:
    """Turn rankings of docnos into arrays.

    Parameters
    ----------
    rankings : sequence of sequence of str
        Docnos of one topic in rank order, one sequence a run, runs by tag ascending; none twice
        in a run. Empty rankings are passed over.
    scores : sequence of sequence of float, optional
        Their scores.
    topic : str, optional
        The topic's id.

    Returns
    -------
    TopicRankings, list of str
        The arrays, and docnos by number, ascending bytewise. O(n log n) for n documents taken.

    Examples
    --------
    >>> rankings, docnos = rankings_of([["b", "a"], ["c"]])
    >>> rankings.documents.tolist(), docnos
    ([[1, 0], [2, -1]], ['a', 'b', 'c'])
    """
    taken = [ranking for ranking in rankings if ranking]
    docnos = sorted(set().union(*taken))
    numbers = dict(zip(docnos, range(len(docnos)), strict=True))
    shape = (len(taken), max(map(len, taken), default=0))
    documents = np.full(shape, NO_DOCUMENT, np.int32)
    for row, ranking in enumerate(taken):
        documents[row, : len(ranking)] = np.fromiter(
            map(numbers.__getitem__, ranking), np.int32, len(ranking)
        )
    table = None
    if scores is not None:
        table = np.full(shape, np.nan)
        for row, of_run in enumerate(part for part in scores if len(part)):
            table[row, : len(taken[row])] = of_run
    return TopicRankings(documents, len(docnos), table, topic), docnos


TIE_WITHIN = 2.0**-44
"""Values that differ by less than this share of them are equal but for the rounding of sums."""


def descending(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order documents by value, finite and by document number, descending, then by docno descending.

    Sums of different terms can be equal, as 1/63 + 1/140 and 1/84 + 1/90 are, and yet come out with other
    last bits. So values next to each other that differ by less than `TIE_WITHIN`, about 6e-14 of them, tie:
    more than sums of a hundred terms are off, and less than a document 130 ranks down changes a sum of RBP
    weights with p = 0.8.

    >>> descending(np.array([0.5, 2.0, 0.5])).tolist()
    [1, 2, 0]
    >>> descending(np.array([1 / 63 + 1 / 140, 1 / 84 + 1 / 90])).tolist()
    [1, 0]
    """
    # The stable sort of the reversed array leaves equal values with the higher number first.
    last = values.size - 1
    order = (last - np.argsort(-values[::-1], kind="stable")).astype(np.int64)
    ordered = values[order]
    gaps = ordered[:-1] - ordered[1:]
    is_below = gaps > TIE_WITHIN * np.abs(ordered[:-1])
    if np.count_nonzero(is_below) == np.count_nonzero(gaps):
        return order
    groups = np.concatenate(([0], np.cumsum(is_below)))
    return order[np.lexsort((-order, groups))]


_NO_BYTE = 256
"""Ends the bytes of a topic's id in a key, so that no two keys are alike."""


def raw_numbers(seed: int, topic: str, n_numbers: int, *, step: int | None = None) -> NDArray[np.uint64]:
    """Draw 64 random bits several times, always the same for the same arguments.

    Every topic has a stream of its own, and so has every step of a strategy, at least 0, so that step 7 can
    be had without the six before it. About 15 microseconds, and 2 nanoseconds a number.
    """
    key = tuple(topic.encode())
    if step is not None:
        key += (_NO_BYTE, step)
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)).random_raw(n_numbers)


def uniform_numbers(seed: int, topic: str, n_numbers: int, *, step: int | None = None) -> NDArray[np.float64]:
    """Draw numbers from [0, 1), each a multiple of 2**-53; see `raw_numbers`.

    >>> numbers = uniform_numbers(1, "51", 1000, step=3)
    >>> bool(numbers.min() >= 0), bool(numbers.max() < 1), numbers.size
    (True, True, 1000)
    """
    numbers = raw_numbers(seed, topic, n_numbers, step=step) >> np.uint64(11)
    return numbers.astype(np.float64) * 2.0**-53
