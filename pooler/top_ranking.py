"""The head of a run: what a pool needs to know of it, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.ranking import Order, compared_scores, rank_order, ties_at_cut


@dataclass(frozen=True, slots=True, eq=False)
class TopRanking:
    """The first documents of one run for one topic."""

    docnos: list[str]
    """In rank order; as many as the depth, or all when the ranking is shorter."""
    scores: NDArray[np.float64]
    """Shape (len(docnos),), in rank order."""
    n_documents: int
    """Documents of the whole ranking."""
    n_tied_in: int = 0
    """Documents taken that tie with one not taken: equal scores, or equal stated ranks when those
    order the run. File order knows no ties."""
    n_tied_out: int = 0
    """Documents not taken that tie with the last one taken; 0 exactly when `n_tied_in` is."""


@dataclass(frozen=True, slots=True, eq=False)
class RunTop:
    """The first documents of one run, topic by topic."""

    tag: str
    file: str
    """File name without its folder."""
    sha256: str
    """Hash of the whole file, uncompressed."""
    depth: int
    """Most documents kept for a topic."""
    order: Order
    """What ordered them."""
    topics: dict[str, TopRanking]
    """By topic id, in file order."""
    n_lines: int
    """Lines of the file that name a document; the sum of `TopRanking.n_documents`."""
    group: str = ""
    """The organisation or kind of system; empty = none given."""
    contributes: bool = True
    """Whether the run feeds the pool."""


@dataclass(frozen=True, slots=True)
class TieAtCut:
    """Documents of one topic that tie across the cut, so that a tie rule decided."""

    tag: str
    topic: str
    n_in: int
    n_out: int


def take_top(
    docnos: Sequence[str],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None,
    *,
    depth: int,
    order: Order,
    n_documents: int,
) -> TopRanking:
    """Take the first documents of a ranking.

    Parameters
    ----------
    docnos : sequence of str, length n
        Docnos in file order. They may be some of the ranking's only, if among them are the first
        `depth` and all that tie with the last of these.
    scores : ndarray of float64, shape (n,)
        Their scores.
    ranks : ndarray of int64, shape (n,), or None
        Their stated ranks; needed by order ``rank`` alone.
    depth : int
        Documents to take, at least 1.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}
        What orders them, see `store.ranking`.
    n_documents : int
        Documents of the whole ranking.

    Returns
    -------
    TopRanking
        Documents in rank order.

    Raises
    ------
    ArgumentError
        If order ``rank`` is asked for and `ranks` is ``None``.

    Examples
    --------
    >>> top = take_top(["a", "b", "c"], np.ones(3), None, depth=2, order="trec", n_documents=3)
    >>> top.docnos, top.n_tied_in, top.n_tied_out
    (['c', 'b'], 2, 1)
    """
    positions = rank_order(docnos, scores, ranks, order=order)
    n_tied_in = n_tied_out = 0
    if order == "rank" and ranks is not None:
        # Codes, since float64 does not tell all 64-bit integers apart.
        codes = np.unique(ranks[positions], return_inverse=True)[1].astype(np.float64)
        n_tied_in, n_tied_out = ties_at_cut(codes, depth)
    elif order != "file":
        n_tied_in, n_tied_out = ties_at_cut(compared_scores(scores, order)[positions], depth)
    first = positions[:depth]
    return TopRanking(
        [docnos[position] for position in first.tolist()],
        scores[first],
        n_documents,
        n_tied_in,
        n_tied_out,
    )
