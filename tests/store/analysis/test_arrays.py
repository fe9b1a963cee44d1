"""`store.analysis.arrays`: runs and qrels as arrays, from files and from a collection alike."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.whole import ranked_runs
from store.analysis.arrays import judged_arrays
from store.analysis.rankings import UNJUDGED
from store.collection import Collection
from store.errors import ArgumentError
from store.ranking import Order
from store.records import Qrel, Ranking, Run

ORDERS: tuple[Order, ...] = get_args(Order)
TOPICS, DOCNOS = ("9", "10", "é"), ("a", "b", "c", "d", "01", "1")


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


def test_documents_stand_in_rank_order() -> None:
    """Ids are those of the docnos, one number a docno across runs, from rank 1 on."""
    runs = [
        run("x", t1=[("a", 1.0, 1), ("b", 2.0, 2)]),
        run("y", t1=[("c", 3.0, 1), ("a", 4.0, 2)], t2=[("b", 1.0, 1)]),
    ]
    ranked = ranked_runs(runs)
    assert ranked.tags == ("x", "y")
    named = {key: [ranked.docnos[one] for one in ids.tolist()] for key, ids in ranked.rankings.items()}
    assert named == {("x", "1"): ["b", "a"], ("y", "1"): ["a", "c"], ("y", "2"): ["b"]}
    assert {ranked.docnos[number]: number for number in ranked.docnos} == dict(ranked.ids)
    assert sorted(ranked.ids) == ["a", "b", "c"]


def test_runs_must_differ_in_their_tags() -> None:
    """Two files with one tag cannot be told apart in a table."""
    with pytest.raises(ArgumentError, match="must each have their own tag, but got 'x'"):
        ranked_runs([run("x"), run("x")])


def test_rank_order_needs_integer_ranks() -> None:
    """Order `rank` is refused where a run states no integers."""
    odd = Run("x", [Ranking("1", ["a"], np.array([1.0]), None)], sha256="")
    with pytest.raises(ArgumentError, match="needs stated ranks that are integers"):
        ranked_runs([odd], order="rank")


def test_documents_nobody_retrieved_count_in_r() -> None:
    """R counts every relevant document of the qrels; unjudged stays apart from not relevant."""
    ranked = ranked_runs([run("x", t1=[("a", 3.0, 1), ("b", 2.0, 2), ("c", 1.0, 3)])])
    qrels = [Qrel("1", "a", 0), Qrel("1", "c", 2), Qrel("1", "z", 1), Qrel("1", "y", 2)]
    arrays = judged_arrays(ranked, qrels, level=1, cutoff=10)
    assert arrays.n_relevant.tolist() == [3]
    assert arrays.states_by_rank(0).tolist() == [[0, UNJUDGED, 1]]
    assert judged_arrays(ranked, qrels, level=2, cutoff=10).n_relevant.tolist() == [2]
    assert judged_arrays(ranked, qrels, level=2, cutoff=2).lengths.tolist() == [[2]]


def test_document_judged_twice_is_refused() -> None:
    """Qrels have one grade a document and topic; anything else is told, not summed up."""
    ranked = ranked_runs([run("x", t1=[("a", 3.0, 1)])])
    with pytest.raises(ArgumentError, match="must hold each document of a topic once"):
        judged_arrays(ranked, [Qrel("1", "a", 0), Qrel("1", "a", 1)], level=1, cutoff=10)


def test_topics_are_those_of_the_qrels() -> None:
    """Topics stand in natural order; one without documents in a run has length 0 there."""
    ranked = ranked_runs([run("x", t10=[("a", 1.0, 1)], t7=[("a", 1.0, 1)])])
    arrays = judged_arrays(ranked, [Qrel("10", "a", 1), Qrel("9", "a", 1)], level=1, cutoff=10)
    assert arrays.topics == ("9", "10")
    assert arrays.lengths.tolist() == [[0, 1]]


rankings = st.lists(
    st.tuples(st.sampled_from(DOCNOS), st.sampled_from([0.0, 1.0, 1.00000001, 2.0]), st.integers(0, 3)),
    min_size=1,
    max_size=5,
    unique_by=lambda line: line[0],
)
runs_of = st.dictionaries(
    st.sampled_from("xyz"), st.dictionaries(st.sampled_from(TOPICS), rankings, min_size=1), min_size=1
)
qrels_of = st.dictionaries(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from((*DOCNOS, "nowhere"))), st.integers(0, 2), min_size=1
)


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


@given(content=runs_of, qrels=qrels_of, level=st.integers(1, 2), cutoff=st.integers(1, 6))
def test_arrays_say_what_dictionaries_say(
    content: dict[str, dict[str, list[tuple[str, float, int]]]],
    qrels: dict[tuple[str, str], int],
    level: int,
    cutoff: int,
) -> None:
    """In every order, each rank's standing and each topic's R are those of plain look-ups."""
    runs = [
        run(tag, **{f"t{topic}": lines for topic, lines in topics.items()}) for tag, topics in content.items()
    ]
    rows = [Qrel(topic, docno, grade) for (topic, docno), grade in qrels.items()]
    for order in ORDERS:
        ranked = ranked_runs(runs, order=order)
        arrays = judged_arrays(ranked, rows, level=level, cutoff=cutoff)
        assert set(arrays.topics) == {topic for topic, _ in qrels}
        for column, topic in enumerate(arrays.topics):
            grades = {docno: grade for (of, docno), grade in qrels.items() if of == topic}
            expected_r = sum(grade >= level for grade in grades.values())
            assert arrays.n_relevant[column] == expected_r
            for row, tag in enumerate(arrays.tags):
                docnos = slow_order(content[tag].get(topic, []), order)[:cutoff]
                assert arrays.lengths[row, column] == len(docnos)
                got = arrays.states_by_rank(column)[row, : len(docnos)].tolist()
                assert got == [
                    int(grades[docno] >= level) if docno in grades else UNJUDGED for docno in docnos
                ]


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
