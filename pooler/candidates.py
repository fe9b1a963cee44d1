"""The documents of one topic of a run that can still be among its first ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.columns import Column
from pooler.distinct import check_across
from pooler.scores import RELATIVE_ERROR, Scores
from pooler.top_ranking import TopRanking, first_places, is_ranked
from store.ranking import Order


class Candidates:
    """The documents of one topic that can still be among its first `depth`."""

    def __init__(self, depth: int, order: Order, *, with_scores: bool) -> None:
        self.depth = depth
        self.order: Order = order
        self.with_scores = with_scores
        self.n_documents = 0
        self.keys: list[NDArray[np.uint64]] = []
        self.packed: list[bytes] = []
        self.scores: list[NDArray[np.float64]] = []
        self.ranks: list[NDArray[np.int64]] = []
        self.n_kept = 0
        self.most = 4 * depth
        self.cut: float | int | None = None
        """What is below cannot be among the first `depth`; ``None`` = nothing is known yet."""

    def add(
        self,
        docnos: Column,
        scores: Scores,
        keys: NDArray[np.uint64],
        ranks: NDArray[np.int64] | None,
    ) -> None:
        """Add lines that come next in the file."""
        self.n_documents += len(docnos)
        self.keys.append(keys)
        rows = self._chosen(scores.approximate, ranks)
        self.packed.append(docnos.packed(rows))
        self.scores.append(scores.exact(rows))
        if ranks is not None:
            self.ranks.append(ranks[rows])
        self.n_kept += rows.size
        if self.n_kept > self.most:
            self._prune()

    def _chosen(
        self, scores: NDArray[np.float64], ranks: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Return the lines that can be among the first `depth`, whatever a tie rule says."""
        if self.order == "file":
            return np.arange(min(scores.size, self.depth - self.n_kept))
        # The complement reverses the order of all integers, where the minus sign overflows.
        worth = scores if ranks is None else ~ranks
        if worth.size > self.depth:
            if (worth[1:] <= worth[:-1]).all():
                last = worth[self.depth - 1]
            else:
                place = worth.size - self.depth
                last = np.partition(worth, place)[place]
            cut = _least_tied(last.item(), self.order)
            self.cut = cut if self.cut is None else max(cut, self.cut)
        return np.arange(worth.size) if self.cut is None else np.flatnonzero(worth >= self.cut)

    def _prune(self) -> None:
        """Drop what cannot be among the first `depth`, by all that is known now."""
        scores = np.concatenate(self.scores)
        ranks = np.concatenate(self.ranks) if self.ranks else None
        rows = self._chosen(scores, ranks)
        docnos = self._docnos()
        self.packed = [b"\n".join([docnos[row] for row in rows.tolist()])]
        self.scores = [scores[rows]]
        if ranks is not None:
            self.ranks = [ranks[rows]]
        self.n_kept = rows.size
        # Twice as many as are left, so that a long tie is not gone through at every block.
        self.most = max(4 * self.depth, 2 * self.n_kept)

    def _docnos(self) -> list[bytes]:
        """Return the docnos kept."""
        return b"\n".join(filter(None, self.packed)).split(b"\n")

    def finish(self) -> TopRanking:
        """Rank what is left.

        Raises
        ------
        SuspicionError
            If the topic may have a document twice.
        """
        check_across(self.keys)
        scores = self.scores[0] if len(self.scores) == 1 else np.concatenate(self.scores)
        if self.n_kept <= self.depth and is_ranked(scores, self.order):
            packed, tied = b"\n".join(filter(None, self.packed)), [0, 0]
        else:
            docnos = self._docnos()
            ranks = np.concatenate(self.ranks) if self.ranks else None
            first, *tied = first_places(docnos, scores, ranks, depth=self.depth, order=self.order)
            packed, scores = b"\n".join([docnos[place] for place in first.tolist()]), scores[first]
        packed_scores = scores.tobytes() if self.with_scores else None
        return TopRanking.of_packed(packed, packed_scores, self.n_documents, *tied)


def _least_tied(worth: float | int, order: Order) -> float | int:
    """Return a number that no document is below which ties with `worth` or is above it.

    Scores, but not ranks, may be off by `RELATIVE_ERROR`, this one and those compared with it.
    """
    if isinstance(worth, int):
        return worth
    least = worth - 4 * RELATIVE_ERROR * abs(worth)
    if order != "trec9":
        return least
    with np.errstate(over="ignore", under="ignore"):
        # Whatever rounds to the same 32-bit number is above the one below it.
        return float(np.nextafter(np.float32(least), np.float32(-np.inf)))
