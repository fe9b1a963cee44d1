"""`pooler.reading.blocks`: taking the first documents of one ranking."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.tops import TopRanking, take_top
from store.errors import ArgumentError
from store.ranking import ORDERS, Order
from store.records import Ranking
from tests.strategies import ids

rankings = st.lists(
    st.tuples(ids, st.integers(-2, 2) | st.sampled_from([16.0, 16.00000001]), st.integers(-1, 3)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
)


def slow_top(rows: list[tuple[str, float, int]], depth: int, order: Order) -> tuple[object, ...]:
    """Sort all documents by the words of the rule, and count ties across the cut."""
    # UTF-8 bytes as numbers, turned round where docnos descend; the end sorts after all of them.
    descending = {row[0]: [-byte for byte in row[0].encode()] + [1] for row in rows}
    keys = {
        "trec": lambda row: (-row[1], descending[row[0]]),
        "trec9": lambda row: (-float(np.float32(row[1])), descending[row[0]]),
        "docno-asc": lambda row: (-row[1], row[0].encode()),
        "rank": lambda row: (row[2],),
        "file": lambda _row: (0,),
    }
    ordered = sorted(rows, key=keys[order])  # stable, so file order is kept
    taken, left = ordered[:depth], ordered[depth:]
    n_in = n_out = 0
    if left and order != "file":
        last = keys[order](taken[-1])[0]
        n_out = sum(keys[order](row)[0] == last for row in left)
        n_in = sum(keys[order](row)[0] == last for row in taken) if n_out else 0
    return [row[0] for row in taken], [row[1] for row in taken], n_in, n_out


@given(rows=rankings, depth=st.integers(1, 13), order=st.sampled_from(ORDERS))
def test_take_top_equals_sorting_by_the_rule(
    rows: list[tuple[str, float, int]], depth: int, order: Order
) -> None:
    """The first documents, their scores and the ties across the cut follow the rule's words."""
    docnos, scores, ranks = zip(*rows, strict=True)
    ranking = Ranking("1", [*docnos], np.array(scores, np.float64), np.array(ranks, np.int64))
    _, top = take_top(ranking, depth=depth, order=order, file="")
    found = (top.docnos, top.scores.tolist(), top.n_tied_in, top.n_tied_out)
    assert found == slow_top(rows, depth, order)
    assert top.n_documents == len(rows)
    assert top.scores.dtype == np.float64


def test_take_top_ranks_of_64_bits_are_told_apart() -> None:
    """Stated ranks that float64 rounds to one number do not tie."""
    ranks = np.array([2**62 + 1, 2**62], np.int64)
    _, top = take_top(Ranking("1", ["a", "b"], np.zeros(2), ranks), depth=1, order="rank", file="")
    assert (top.docnos, top.n_tied_in, top.n_tied_out) == (["b"], 0, 0)


def test_take_top_order_rank_needs_ranks() -> None:
    """Without integer ranks, order rank has nothing to go by."""
    with pytest.raises(ArgumentError, match="needs stated ranks that are integers"):
        take_top(Ranking("1", ["a"], np.zeros(1), None), depth=1, order="rank", file="")


@given(rows=st.lists(st.tuples(ids, st.floats(allow_nan=False)), max_size=9), tied=st.integers(0, 9))
def test_top_ranking_gives_back_what_it_packs(rows: list[tuple[str, float]], tied: int) -> None:
    """Docnos, scores to the last bit and counts survive packing, and pickling."""
    docnos = [docno for docno, _ in rows]
    scores = np.array([score for _, score in rows], np.float64)
    made = TopRanking.of(docnos, scores, 20, tied, tied + 1)
    for top in (made, pickle.loads(pickle.dumps(made))):
        assert top.docnos == docnos
        assert top.packed_docnos == "\n".join(docnos).encode()
        assert top.scores.tobytes() == scores.tobytes()
        assert (len(top), top.n_documents) == (len(rows), 20)
        assert (top.n_tied_in, top.n_tied_out) == (tied, tied + 1)


def test_top_ranking_takes_little_memory_and_few_bytes() -> None:
    """A hundred documents of 16 characters take their bytes, and little more, in a pickle too."""
    docnos = [f"FR940104-0-{number:05d}" for number in range(100)]
    top = TopRanking.of(docnos, np.zeros(100), 1000)
    assert len(pickle.dumps(top, pickle.HIGHEST_PROTOCOL)) < 100 * (16 + 1 + 8) + 150
    assert not hasattr(top, "__dict__")


def test_top_ranking_without_scores_says_so() -> None:
    """Scores that were not kept are no numbers, but an error."""
    ranking = Ranking("1", ["a", "b"], np.ones(2), None)
    _, top = take_top(ranking, depth=1, order="trec", file="", with_scores=False)
    assert (top.docnos, len(top), top.n_tied_in) == (["b"], 1, 1)
    with pytest.raises(ArgumentError, match="`with_scores` must be true to have scores"):
        _ = top.scores
