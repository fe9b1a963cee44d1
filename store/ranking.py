"""The one rank order of the project, and ties at a cut.

A run file gives a document a score, a stated rank and a place in the file, and the three often
disagree. Which of them orders the run is chosen once, by `Order`, and everything that ranks asks
this module: pools, measures, sensitivity.

========== ====================================================================================
trec       score descending, then docno descending bytewise: what trec_eval 10 does
trec9      the same, with scores rounded to 32-bit floats: trec_eval 9.0.4, pytrec_eval
docno-asc  score descending, then docno ascending bytewise: what NIST's pooling scripts do
rank       stated rank ascending, then file order
file       file order
========== ====================================================================================

Docnos compare bytewise in UTF-8, which for text without surrogates is the order of `str`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError
from store.records import Order

ORDERS: tuple[Order, ...] = get_args(Order)


def check_order(order: str) -> Order:
    """Return `order` when it is one of `ORDERS`, else raise `ArgumentError`."""
    for known in ORDERS:
        if order == known:
            return known
    raise ArgumentError("order", f"must be one of {', '.join(ORDERS)}", order)


def rank_order(
    docnos: Sequence[str] | Sequence[bytes],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None = None,
    *,
    order: Order = "trec",
) -> NDArray[np.int64]:
    """Return the file positions (from 0) of one topic's documents, from the first ranked to the last.

    Docnos (each once), scores (finite, higher is better) and stated ranks are in file order. Only order
    ``rank`` needs the ranks, and raises `ArgumentError` without them. O(n log n); only tied documents compare
    their docnos. Source: trec_eval, `get_trec_results.c`: sim descending, then docno descending; sim is a
    float in 9.0.4 and a double in 10.0.

    >>> rank_order(["a", "b", "c"], np.array([0.5, 0.5, 0.9])).tolist()
    [2, 1, 0]
    >>> rank_order(["a", "b", "c"], np.array([0.5, 0.5, 0.9]), order="docno-asc").tolist()
    [2, 0, 1]
    """
    n_documents = len(docnos)
    if order == "file":
        return np.arange(n_documents, dtype=np.int64)
    if order == "rank":
        if ranks is None:
            raise ArgumentError("order", "needs stated ranks that are integers", "rank")
        return np.argsort(ranks, kind="stable").astype(np.int64)
    compared = compared_scores(scores, order)
    positions = np.argsort(-compared, kind="stable").astype(np.int64)
    ordered = compared[positions]
    is_as_next = ordered[:-1] == ordered[1:]
    if not is_as_next.any():
        return positions
    is_tied = np.zeros(n_documents, np.bool_)
    is_tied[:-1] = is_as_next
    is_tied[1:] |= is_as_next
    # Sorted by docno once, and then by score: documents of one score stay in the order of docnos.
    tied = positions[is_tied]
    # A column of a run file puts some of its docnos in order without making texts of them.
    sort = getattr(docnos, "ascending", None)
    by_docno = sort(tied) if sort else np.array(sorted(tied.tolist(), key=docnos.__getitem__))
    if order != "docno-asc":
        by_docno = by_docno[::-1]
    positions[is_tied] = by_docno[np.argsort(-compared[by_docno], kind="stable")]
    return positions


def compared_scores(scores: NDArray[np.float64], order: Order) -> NDArray[np.float64]:
    """Return the scores as `order` compares them: rounded to 32-bit floats by ``trec9``.

    >>> a, b = compared_scores(np.array([16.00000001, 16.0]), "trec9").tolist()
    >>> a == b
    True
    """
    if order != "trec9":
        return scores
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def ties_at_cut(ordered_scores: NDArray[np.float64] | NDArray[np.int64], depth: int) -> tuple[int, int]:
    """Count the documents tied across the cut at `depth`, at least 1: those taken, and those not.

    They have the score of rank `depth`; (0, 0) when no tie straddles the cut. Scores, or ranks, are in order.

    >>> ties_at_cut(np.array([3.0, 2.0, 2.0, 2.0, 1.0]), 2)
    (1, 2)
    >>> ties_at_cut(np.array([3.0, 2.0]), 2)
    (0, 0)
    """
    if depth >= ordered_scores.size or ordered_scores[depth - 1] != ordered_scores[depth]:
        return 0, 0
    tied = ordered_scores == ordered_scores[depth]
    return int(tied[:depth].sum()), int(tied[depth:].sum())
