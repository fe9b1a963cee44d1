"""The first documents of stored runs, as arrays: those that the runs themselves give."""

from __future__ import annotations

import uuid
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.reading.tops import top_of
from store.analysis.arrays import TopDocuments
from store.collection import Collection
from store.errors import ArgumentError, UnknownNameError
from store.ranking import Order
from store.records import Ranking, Run
from store.text import natural_key
from tests.helpers.world import make_run, statements
from tests.strategies import examples

ORDERS: tuple[Order, ...] = get_args(Order)
NEAR = [1.0, 1.00000001, 1.00000002, 16777216.0, 16777217.0, 0.0, -0.0, 5e-324, 1e300, 2e300, -1e300]

docnos = st.lists(
    st.sampled_from(["a", "A", "b", "10", "9", "09", "é", "日本", "\U0001f377", "NA", "z", "zz"]),
    unique=True, max_size=10,
)  # fmt: skip
scores_of_one = st.sampled_from(
    [
        st.sampled_from(NEAR),
        st.sampled_from([2.5, 1.5, 1.0]),
        st.floats(allow_nan=False, allow_infinity=False),
    ]
)


@st.composite
def rankings(draw: st.DrawFn, topic: str) -> Ranking:
    """Draw a ranking in any file order, with ties, near ties, and ranks that tie too."""
    found = draw(docnos)
    number = draw(scores_of_one)
    scores = draw(st.lists(number, min_size=len(found), max_size=len(found)))
    rank = st.integers(0, 3) | st.sampled_from([2**62, 2**62 + 1, -(2**63), 2**63 - 1])
    ranks = draw(st.lists(rank, min_size=len(found), max_size=len(found)))
    return Ranking(topic, found, np.array(scores, np.float64), np.array(ranks, np.int64))


def assert_as_run_says(
    collection: Collection, top: TopDocuments, runs: list[Run], depth: int, order: Order
) -> None:
    """Compare arrays with the first documents of the runs in memory, ties and all."""
    names = collection.documents.names({number for number in top.ids.ravel().tolist() if number >= 0})
    assert top.tags == tuple(sorted(run.tag for run in runs))
    assert top.scores is not None
    for run in runs:
        expected = top_of(run, depth, order=order)
        row = top.tags.index(run.tag)
        for column, topic in enumerate(top.topics):
            ids, scores = top.ids[row, column].tolist(), top.scores[row, column]
            length = int(top.lengths[row, column])
            n_taken = min(length, depth)
            assert ids[n_taken:] == [-1] * (len(ids) - n_taken)
            assert np.isnan(scores[n_taken:]).all()
            if topic not in expected.topics:
                assert length == 0
                continue
            one = expected.topics[topic]
            assert length == one.n_documents
            assert [names[number] for number in ids[:n_taken]] == one.docnos
            assert scores[:n_taken].view(np.int64).tolist() == one.scores.view(np.int64).tolist()
            tied = int(top.tied_in[row, column]), int(top.tied_out[row, column])
            assert tied == (one.n_tied_in, one.n_tied_out)


@settings(max_examples=examples(10))
@given(st.data())
def test_top_documents_are_those_of_the_runs(collection: Collection, data: st.DataObject) -> None:
    """In every order and at every depth: documents, scores, lengths and ties at the cut."""
    runs = []
    for tag in ("s", "r"):
        topics = data.draw(st.lists(st.sampled_from(["10", "9", "T"]), unique=True, max_size=3))
        found = [data.draw(rankings(topic)) for topic in topics]
        runs.append(Run(tag, found, sha256=uuid.uuid4().hex))
        collection.runs.add(runs[-1], replace=True)
    topics = {ranking.topic for run in runs for ranking in run.rankings}
    longest = max((len(one.docnos) for run in runs for one in run.rankings), default=0)
    for order in ORDERS:
        for depth in (1, 3, 1000):
            top = collection.runs.top(depth=depth, order=order, scores=True)
            assert top.topics == tuple(sorted(topics, key=natural_key))
            assert top.ids.shape == (2, len(topics), min(depth, longest))
            assert top.ids.dtype == np.int32
            assert_as_run_says(collection, top, runs, depth, order)
            plain = collection.runs.top(depth=depth, order=order)
            assert plain.scores is None
            for name in ("ids", "lengths", "tied_in", "tied_out"):
                np.testing.assert_array_equal(getattr(plain, name), getattr(top, name))
        whole = collection.runs.top(depth=None, order=order, scores=True)
        assert_as_run_says(collection, whole, runs, 1000, order)


def test_orders_and_ties_by_hand(collection: Collection) -> None:
    """One small ranking, cut after two documents in five orders, worked out by hand."""
    scores = np.array([1.0, 1.00000001, 1.0, 1.0, 2.0])
    run = Run("r", [Ranking("1", list("abcde"), scores, np.array([2, 1, 2, 2, 9]))], "hash")
    collection.runs.add(run)

    def cut(order: Order) -> tuple[str, int, int]:
        top = collection.runs.top(depth=2, order=order)
        names = collection.documents.names(top.ids[top.ids >= 0].tolist())
        found = "".join(names[number] for number in top.ids[0, 0].tolist())
        return found, int(top.tied_in[0, 0]), int(top.tied_out[0, 0])

    assert cut("trec") == ("eb", 0, 0)
    # As 32-bit floats, a to d all score 1.
    assert cut("trec9") == ("ed", 1, 3)
    assert cut("docno-asc") == ("eb", 0, 0)
    assert cut("rank") == ("ba", 1, 2)
    assert cut("file") == ("ab", 0, 0)


def test_tie_of_zero_and_minus_zero(collection: Collection) -> None:
    """0.0 and -0.0 tie, however the scores are packed."""
    run = Run("r", [Ranking("1", ["a", "b", "c"], np.array([0.0, -0.0, 0.0]), None)], "hash")
    collection.runs.add(run)
    for order, first in (("trec", "c"), ("trec9", "c"), ("docno-asc", "a")):
        top = collection.runs.top(depth=1, order=order)  # type: ignore[arg-type]  # a literal
        assert collection.documents.names(top.ids[top.ids >= 0].tolist()) == {int(top.ids[0, 0, 0]): first}
        assert (top.tied_in.tolist(), top.tied_out.tolist()) == ([[1]], [[2]])


def test_documents_are_not_all_read(collection: Collection) -> None:
    """Only `trec9` asks for docnos, and only for those that it must compare."""
    near = [("a", 1.0), ("b", 1.00000001), ("c", 0.5), ("d", 0.5)]
    collection.runs.add(make_run("r", {"1": near}))
    for order in ORDERS:
        with statements() as sent:
            collection.runs.top(depth=1, order=order)
        asked = [statement for statement, _ in sent if "docno" in statement]
        assert len(asked) == (order == "trec9"), order
        if asked:
            assert asked[0].count(",") == 2  # id, docno; of two documents


def test_columns_an_order_does_not_need_are_not_read(collection: Collection) -> None:
    """Neither ranks nor positions are read in trec order, nor scores when all is wanted."""
    collection.runs.add(make_run("r", {"1": [("a", 1.0), ("b", 0.5)]}))
    with statements() as sent:
        collection.runs.top(depth=1)
        collection.runs.ranked()
    read = " ".join(statement for statement, _ in sent)
    assert "ranking.scores" in read
    assert "ranking.ranks" not in read
    assert "ranking.positions" not in read
    with statements() as sent:
        collection.runs.top(depth=None)
        collection.runs.ranked()
    assert not any("ranking.scores" in statement for statement, _ in sent)


def test_arguments_are_checked(collection: Collection) -> None:
    """Depths below 1, unknown orders and runs, and ranks that are no integers are refused."""
    collection.runs.add(Run("r", [Ranking("1", ["a"], np.array([1.0]), None)], "hash"))
    with pytest.raises(ArgumentError, match="`depth` must be an integer >= 1, but got 0"):
        collection.runs.top(depth=0)
    with pytest.raises(ArgumentError, match="`order` must be one of"):
        collection.runs.top(depth=1, order="wine")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ArgumentError, match="needs integer ranks, which run `r` lacks"):
        collection.runs.top(depth=1, order="rank")
    with pytest.raises(UnknownNameError, match="unknown run `s`"):
        collection.runs.top(["s"], depth=1)


def test_collection_without_runs(collection: Collection) -> None:
    """Without runs, or without rankings, the arrays are empty and have three dimensions."""
    top = collection.runs.top(depth=5, scores=True)
    assert (top.tags, top.topics, top.ids.shape, top.lengths.shape) == ((), (), (0, 0, 0), (0, 0))
    collection.runs.add(make_run("void", {}))
    top = collection.runs.top(depth=5)
    assert (top.tags, top.ids.shape) == (("void",), (1, 0, 0))


def test_only_the_named_runs_are_there(collection: Collection) -> None:
    """Topics are those of the named runs; rows stand by tag."""
    for tag, topic in (("b", "2"), ("a", "10"), ("c", "3")):
        collection.runs.add(make_run(tag, {topic: [("x", 1.0)]}))
    top = collection.runs.top(["b", "a"], depth=1)
    assert (top.tags, top.topics) == (("a", "b"), ("2", "10"))
    assert top.lengths.tolist() == [[0, 1], [1, 0]]
