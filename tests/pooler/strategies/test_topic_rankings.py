"""`pooler.strategies.rankings`: the arrays that strategies see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import TopicRankings, descending, rankings_of
from store.analysis.pools.contributions import NO_DOCUMENT
from tests.pooler.strategies.fixed import cut_at, ranks_of
from tests.strategies import ids

lists = st.lists(st.lists(ids, max_size=8, unique=True), max_size=5)
depths = st.none() | st.integers(1, 9)


def test_rankings_of_worked_example() -> None:
    """Docnos are numbered bytewise, short rankings padded, and empty ones passed over."""
    rankings, docnos = rankings_of([["b", "é", "B"], [], ["é"]], [[3.0, 2.0, 1.0], [], [-7.5]], topic="51")
    assert docnos == ["B", "b", "é"]
    assert rankings.documents.tolist() == [[1, 2, 0], [2, NO_DOCUMENT, NO_DOCUMENT]]
    assert rankings.documents.dtype == np.int32
    assert rankings.scores is not None
    assert rankings.scores[0].tolist() == [3, 2, 1]
    assert rankings.scores[1, 0] == -7.5
    assert np.isnan(rankings.scores[1, 1:]).all()
    assert (rankings.n_runs, rankings.depth, rankings.n_documents) == (2, 3, 3)
    assert rankings.lengths.tolist() == [3, 1]
    assert rankings.topic == "51"


@given(rankings=lists, depth=depths)
def test_rankings_of_can_be_read_back(rankings: list[list[str]], depth: int | None) -> None:
    """The arrays say what the lists said, and no docno is lost, added or out of place."""
    arrays, docnos = rankings_of(*cut_at(depth, rankings))
    cut = [ranking[:depth] for ranking in rankings if ranking]
    back = [[docnos[number] for number in row if number != NO_DOCUMENT] for row in arrays.documents]
    assert back == cut
    assert docnos == sorted({docno for ranking in cut for docno in ranking}, key=str.encode)
    assert arrays.n_documents == len(docnos)
    assert arrays.n_runs == len(cut)
    assert arrays.depth == max(map(len, cut), default=0)
    assert arrays.lengths.tolist() == [len(ranking) for ranking in cut]
    assert arrays.scores is None


@given(rankings=lists, depth=depths)
def test_rankings_of_scores_stay_with_their_documents(rankings: list[list[str]], depth: int | None) -> None:
    """Every place has its own score, and a place without a document has none."""
    scores = [[100.0 * run + place for place in range(len(ranking))] for run, ranking in enumerate(rankings)]
    arrays, docnos = rankings_of(*cut_at(depth, rankings, scores))
    assert arrays.scores is not None
    assert arrays.scores.shape == arrays.documents.shape
    assert (np.isnan(arrays.scores) == (arrays.documents == NO_DOCUMENT)).all()
    for numbers, row in zip(arrays.documents, arrays.scores, strict=True):
        for number, score in zip(numbers, row, strict=True):
            if number != NO_DOCUMENT:
                assert rankings[int(score) // 100][int(score) % 100] == docnos[number]


@given(rankings=lists, depth=depths)
def test_n_returning_and_best_ranks_equal_a_search(rankings: list[list[str]], depth: int | None) -> None:
    """Counts and best ranks are those found by going through the lists."""
    arrays, docnos = rankings_of(*cut_at(depth, rankings))
    ranks = ranks_of(rankings, depth=depth)
    assert arrays.n_returning().tolist() == [len(ranks[docno]) for docno in docnos]
    assert arrays.best_ranks().tolist() == [ranks[docno][0] for docno in docnos]


@given(rankings=lists, weights=st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8))
def test_sum_by_rank_adds_from_the_first_rank_on(rankings: list[list[str]], weights: list[float]) -> None:
    """A sum is that of its ranks' worth, the best rank first, to the last bit."""
    arrays, docnos = rankings_of(rankings)
    ranks = ranks_of(rankings)
    expected = []
    for docno in docnos:
        total = 0.0
        for rank in ranks[docno]:
            total += weights[rank - 1]
        expected.append(total)
    assert arrays.sum_by_rank(np.array(weights[: arrays.depth])).tolist() == expected


@given(rankings=lists, data=st.data())
def test_sum_by_place_adds_from_the_least_on(rankings: list[list[str]], data: st.DataObject) -> None:
    """A sum is that of its places' worth, the least first, whatever the order of the runs."""
    arrays, docnos = rankings_of(rankings)
    size = arrays.documents.size
    worth = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=size, max_size=size))
    values = np.array(worth, np.float64).reshape(arrays.documents.shape)
    expected = []
    for number in range(len(docnos)):
        total = 0.0
        for value in sorted(values[arrays.documents == number].tolist()):
            total += value
        expected.append(total)
    assert arrays.sum_by_place(values).tolist() == expected
    shuffled = np.array(data.draw(st.permutations(range(arrays.n_runs))), np.intp)
    other = TopicRankings(arrays.documents[shuffled], arrays.n_documents)
    assert other.sum_by_place(values[shuffled]).tolist() == expected


def test_sum_by_place_passes_over_places_without_document() -> None:
    """What stands after the end of a ranking, even no number, has no part in the sums."""
    arrays, _ = rankings_of([["a", "b"], ["b"]])
    assert arrays.sum_by_place(np.array([[1.0, 2.0], [4.0, np.nan]])).tolist() == [1.0, 6.0]


@given(values=st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e300]) | st.integers(-99, 99)))
def test_descending_is_value_then_number_descending(values: list[float]) -> None:
    """The one tie rule, for any numbers that differ by more than rounding, both zeros too."""
    expected = sorted(range(len(values)), key=lambda number: (-values[number], -number))
    order = descending(np.array(values, np.float64))
    assert order.tolist() == expected
    assert order.dtype == np.int64


@pytest.mark.parametrize("rankings", [[], [[]], [[], []]])
def test_rankings_of_nothing_are_empty(rankings: list[list[str]]) -> None:
    """A topic that no run has is no error."""
    arrays, docnos = rankings_of(rankings, rankings and [[] for _ in rankings])
    assert docnos == []
    assert (arrays.n_runs, arrays.depth, arrays.n_documents) == (0, 0, 0)
    assert arrays.n_returning().tolist() == arrays.best_ranks().tolist() == []
    assert arrays.sum_by_rank(np.zeros(0)).tolist() == []
    assert arrays.sum_by_place(np.zeros((0, 0))).tolist() == []


def test_descending_ties_what_rounding_alone_tells_apart() -> None:
    """0.1 + 0.2 is not 0.3 in floats, but ties with it; a difference of 1e-12 stays one."""
    assert descending(np.array([0.1 + 0.2, 0.3])).tolist() == [1, 0]
    assert descending(np.array([0.3, 0.1 + 0.2])).tolist() == [1, 0]
    assert descending(np.array([0.3 + 1e-12, 0.3])).tolist() == [0, 1]
    assert descending(np.array([-0.3, -0.1 - 0.2, 7.0])).tolist() == [2, 1, 0]
