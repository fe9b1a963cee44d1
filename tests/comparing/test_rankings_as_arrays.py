"""Rankings and judgements as arrays."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooler.reading.whole import ranked_runs
from store.analysis.arrays import judged_arrays
from store.analysis.rankings import NOT_RETRIEVED, graded_rankings, judged_rankings
from store.collection import Collection
from store.errors import ArgumentError
from store.ranking import Order
from store.records import Qrel, Ranking, Run

Lists = dict[tuple[str, str], list[int]]
Grades = dict[str, dict[int, bool]]


def ids(documents: list[int]) -> NDArray[np.int64]:
    """Put document ids in an array."""
    return np.array(documents, dtype=np.int64)


def as_arrays(rankings: Lists) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Put each ranking in an array."""
    return {key: ids(documents) for key, documents in rankings.items()}


def as_flags(grades: Grades) -> dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Put each topic's judgements in two arrays."""
    return {
        topic: (ids(list(found)), np.array(list(found.values()), dtype=np.bool_))
        for topic, found in grades.items()
    }


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[str], list[str], Lists, Grades, int]:
    """Draw topics, tags, rankings, grades and a cutoff."""
    topics = [f"t{number}" for number in range(draw(st.integers(0, 3)))]
    tags = [f"r{number}" for number in range(draw(st.integers(0, 4)))]
    documents = st.integers(-3, 12)
    ranking = st.lists(documents, unique=True, max_size=8)
    rankings = {(tag, topic): draw(ranking) for tag in tags for topic in topics if draw(st.booleans())}
    grades = {topic: draw(st.dictionaries(documents, st.booleans())) for topic in topics}
    return topics, tags, rankings, grades, draw(st.integers(1, 10))


@given(collections(), st.sampled_from([1, 10**15]))
def test_every_rank_says_what_the_lists_say(
    collection: tuple[list[str], list[str], Lists, Grades, int], spread: int
) -> None:
    """Each rank's standing is what looking up the document in the judgements gives."""
    topics, tags, rankings, grades, cutoff = collection
    # Ids far apart are coded by another path than dense ones.
    spread_rankings = {key: [doc * spread for doc in docs] for key, docs in rankings.items()}
    spread_grades = {
        topic: {doc * spread: flag for doc, flag in found.items()} for topic, found in grades.items()
    }
    arrays = judged_rankings(topics, tags, as_arrays(spread_rankings), as_flags(spread_grades), cutoff=cutoff)
    for column, topic in enumerate(topics):
        assert arrays.n_relevant[column] == sum(grades[topic].values())
        states = arrays.states_by_rank(column)
        same_code: dict[int, int] = {}
        for run, tag in enumerate(tags):
            cut = rankings.get((tag, topic), [])[:cutoff]
            assert arrays.lengths[run, column] == len(cut)
            expected = [{None: -1, False: 0, True: 1}[grades[topic].get(doc)] for doc in cut]
            padding = [NOT_RETRIEVED] * (states.shape[1] - len(cut))
            assert states[run].tolist() == expected + padding
            codes = arrays.documents[run, column].tolist()
            for doc, code in zip(cut, codes, strict=False):
                assert same_code.setdefault(doc, code) == code
        assert len(set(same_code.values())) == len(same_code)


def test_arguments_that_cannot_be_used() -> None:
    """A grade beyond 32 bits is an error."""
    with pytest.raises(ArgumentError, match="`judged` must hold grades of at most 32 bits"):
        graded_rankings(["t"], [], {}, {"t": (np.array([1]), np.array([2**31]))}, cutoff=1)


ORDERS: tuple[Order, ...] = get_args(Order)


def run(tag: str, **topics: list[tuple[str, float, int]]) -> Run:
    """Make a run of (docno, score, stated rank) lists."""
    rankings = [
        Ranking(
            topic.removeprefix("t"),
            [docno for docno, _, _ in lines],
            np.array([score for _, score, _ in lines], dtype=np.float64),
            np.array([rank for _, _, rank in lines], dtype=np.int64),
        )
        for topic, lines in topics.items()
    ]
    return Run(tag, rankings, sha256=f"sha-{tag}", file=f"{tag}.run")


def test_runs_must_differ_in_their_tags() -> None:
    """Two files with one tag cannot be told apart in a table."""
    with pytest.raises(ArgumentError, match="must each have their own tag, but got 'x'"):
        ranked_runs([run("x"), run("x")])


def test_rank_order_needs_integer_ranks() -> None:
    """Order `rank` is refused where a run states no integers."""
    odd = Run("x", [Ranking("1", ["a"], np.array([1.0]), None)], sha256="")
    with pytest.raises(ArgumentError, match="needs stated ranks that are integers"):
        ranked_runs([odd], order="rank")


def slow_order(lines: list[tuple[str, float, int]], order: Order) -> list[str]:
    """Order a ranking by plain sorts."""
    placed = list(enumerate(lines))
    if order == "rank":
        placed.sort(key=lambda one: (one[1][2], one[0]))
    elif order != "file":
        placed.sort(key=lambda one: one[1][0], reverse=order != "docno-asc")
        rounded = np.float32 if order == "trec9" else float
        placed.sort(key=lambda one: -float(rounded(one[1][1])))
    return [line[0] for _, line in placed]


def test_collection_gives_the_arrays_of_the_files(collection: Collection) -> None:
    """On both engines a stored run ranks as its file does, in every order."""
    runs = [
        run("x", t9=[("b", 1.0, 2), ("a", 1.0, 3), ("c", 1.00000001, 1)], t10=[("a", 0.0, 1)]),
        run("y", t10=[("d", -1.0, 1), ("b", -2.0, 1), ("01", -2.0, 0), ("1", -2.0, 0)]),
    ]
    for one in runs:
        collection.runs.add(one)
    qrels = [Qrel("9", "a", 1), Qrel("10", "1", 2), Qrel("10", "nowhere", 1)]
    for order in ORDERS:
        files, stored = (ranked_runs(runs, order=order), collection.runs.ranked(order=order))
        for ranked in (files, stored):
            named = {key: [ranked.docnos[int(one)] for one in ids] for key, ids in ranked.rankings.items()}
            assert named["x", "9"] == slow_order([("b", 1.0, 2), ("a", 1.0, 3), ("c", 1.00000001, 1)], order)
            arrays = judged_arrays(ranked, qrels, level=1, cutoff=3)
            assert arrays.n_relevant.tolist() == [1, 2]
        assert set(files.rankings) == set(stored.rankings)
