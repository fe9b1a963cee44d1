"""The head of a run: what a pool needs to know of it, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError
from store.ranking import Order, compared_scores, rank_order, ties_at_cut


class TopRanking:
    r"""The first documents of one run for one topic, in little memory.

    Parameters
    ----------
    docnos : sequence of str
        In rank order; as many as the depth, or all when the ranking is shorter. No docno is empty
        or has a newline in it.
    scores : ndarray of float64, shape (n_docnos,), or None
        In rank order; ``None`` = not kept.
    n_documents : int
        Documents of the whole ranking.
    n_tied_in : int, default=0
        Documents taken that tie with one not taken: equal scores, or equal stated ranks when those
        order the run. File order knows no ties.
    n_tied_out : int, default=0
        Documents not taken that tie with the last one taken; 0 exactly when `n_tied_in` is.

    Examples
    --------
    >>> top = TopRanking(["d2", "d1"], np.array([0.5, 0.1]), 7)
    >>> top.docnos, top.packed_docnos, top.scores.tolist(), len(top), top.n_documents
    (['d2', 'd1'], b'd2\nd1', [0.5, 0.1], 2, 7)
    """

    __slots__ = ("n_documents", "n_tied_in", "n_tied_out", "packed_docnos", "packed_scores")

    packed_docnos: bytes
    """Docnos in UTF-8, joined by newlines; empty when there is none."""
    packed_scores: bytes | None
    """Scores as float64 of this machine; ``None`` = not kept."""

    def __init__(
        self,
        docnos: Sequence[str],
        scores: NDArray[np.float64] | None,
        n_documents: int,
        n_tied_in: int = 0,
        n_tied_out: int = 0,
    ) -> None:
        self.packed_docnos = "\n".join(docnos).encode()
        self.packed_scores = None if scores is None else scores.astype(np.float64).tobytes()
        self.n_documents = n_documents
        self.n_tied_in = n_tied_in
        self.n_tied_out = n_tied_out

    @staticmethod
    def of_packed(
        packed_docnos: bytes,
        packed_scores: bytes | None,
        n_documents: int,
        n_tied_in: int = 0,
        n_tied_out: int = 0,
    ) -> TopRanking:
        """Make a ranking of what is packed already."""
        top = TopRanking.__new__(TopRanking)
        top.packed_docnos = packed_docnos
        top.packed_scores = packed_scores
        top.n_documents = n_documents
        top.n_tied_in = n_tied_in
        top.n_tied_out = n_tied_out
        return top

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle in little time and few bytes."""
        facts = (self.n_documents, self.n_tied_in, self.n_tied_out)
        return TopRanking.of_packed, (self.packed_docnos, self.packed_scores, *facts)

    def __len__(self) -> int:
        """Count the documents kept."""
        return self.packed_docnos.count(b"\n") + 1 if self.packed_docnos else 0

    @property
    def docnos(self) -> list[str]:
        """Docnos in rank order; unpacked anew each time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores in rank order, shape (len(self),), read-only.

        Raises
        ------
        ArgumentError
            If they were not kept.
        """
        if self.packed_scores is None:
            raise ArgumentError("with_scores", "must be true to have scores", got=False)
        return np.frombuffer(self.packed_scores, np.float64)


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
    with_scores: bool = True,
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
    with_scores : bool, default=True
        Keep the scores of the documents.

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
    first, *tied = first_places(docnos, scores, ranks, depth=depth, order=order)
    taken = [docnos[place] for place in first.tolist()]
    return TopRanking(taken, scores[first] if with_scores else None, n_documents, *tied)


def first_places(
    docnos: Sequence[str] | Sequence[bytes],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None,
    *,
    depth: int,
    order: Order,
) -> tuple[NDArray[np.int64], int, int]:
    """Find the first documents of a ranking, and the ties across the cut.

    Parameters
    ----------
    docnos, scores, ranks, depth, order
        As for `take_top`; docnos may be in UTF-8.

    Returns
    -------
    places : ndarray of int64, shape (min(n, depth),)
        Where the documents stand in `docnos`, in rank order.
    n_tied_in, n_tied_out : int
        As in `TopRanking`.
    """
    if is_ranked(scores, order):
        return np.arange(min(len(docnos), depth)), 0, 0
    places = rank_order(docnos, scores, ranks, order=order)
    compared = compared_scores(scores, order)
    if ranks is not None and order == "rank":
        # Codes, since float64 does not tell all 64-bit integers apart.
        compared = np.unique(ranks, return_inverse=True)[1].astype(np.float64)
    return places[:depth], *ties_at_cut(compared[places], depth)


def is_ranked(scores: NDArray[np.float64], order: Order) -> bool:
    """Say whether documents with these scores stand in rank order already, and none tie.

    ``False`` may mean that it is not known.
    """
    if order == "rank":
        return False
    compared = compared_scores(scores, order)
    return order == "file" or bool((compared[1:] < compared[:-1]).all())
