"""Rankings and judgements as arrays."""

from __future__ import annotations

from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooler.reading.whole import ranked_runs
from store.analysis.arguments import check_cutoff
from store.analysis.arrays import judged_arrays
from store.analysis.rankings import (
    NOT_RELEVANT,
    NOT_RETRIEVED,
    RELEVANT,
    UNJUDGED,
    graded_rankings,
    judged_rankings,
)
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


def test_unjudged_and_judged_not_relevant_stay_apart() -> None:
    """A document nobody judged is never stored as one judged not relevant."""
    arrays = judged_rankings(
        ["t"], ["a"], as_arrays({("a", "t"): [7, 8, 9]}), as_flags({"t": {8: False, 9: True}}), cutoff=10
    )
    assert arrays.states_by_rank(0).tolist() == [[UNJUDGED, NOT_RELEVANT, RELEVANT]]
    assert arrays.judged().tolist() == [[[False, True, True]]]
    assert arrays.relevant().tolist() == [[[False, False, True]]]


def test_relevant_documents_no_run_retrieved_are_counted() -> None:
    """R counts relevant documents that are beyond the cutoff or in no run at all."""
    arrays = judged_rankings(
        ["t"],
        ["a"],
        as_arrays({("a", "t"): [1, 2, 3]}),
        as_flags({"t": {1: True, 3: True, 99: True, 98: False}}),
        cutoff=2,
    )
    assert arrays.n_relevant.tolist() == [3]
    assert arrays.lengths.tolist() == [[2]]
    assert arrays.relevant().tolist() == [[[True, False]]]


def test_run_without_a_topic_has_length_zero() -> None:
    """A run that has no documents for a topic keeps its place, with length 0."""
    arrays = judged_rankings(
        ["t1", "t2"],
        ["a", "b"],
        as_arrays({("a", "t1"): [1], ("b", "t2"): [5, 6], ("b", "t9"): [1], ("c", "t1"): [1]}),
        as_flags({"t1": {1: True}, "t2": {}}),
        cutoff=1000,
    )
    assert arrays.lengths.tolist() == [[1, 0], [0, 2]]
    assert arrays.documents.shape == (2, 2, 2)
    assert arrays.documents[0, 1].tolist() == [-1, -1]
    assert arrays.states_by_rank(0)[1].tolist() == [NOT_RETRIEVED, NOT_RETRIEVED]
    assert arrays.n_relevant.tolist() == [1, 0]


def test_nothing_retrieved_gives_arrays_without_width() -> None:
    """Judgements without any ranking are a collection too: width 0, R as judged."""
    arrays = judged_rankings(["t"], ["a"], {}, as_flags({"t": {4: True}}), cutoff=5)
    assert arrays.documents.shape == (1, 1, 0)
    assert arrays.relevant().shape == (1, 1, 0)
    assert arrays.n_relevant.tolist() == [1]


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


@given(collections(), st.randoms(use_true_random=False))
def test_permuting_runs_permutes_rows(
    collection: tuple[list[str], list[str], Lists, Grades, int], random: Random
) -> None:
    """The order in which runs are given decides nothing but the order of the rows."""
    topics, tags, rankings, grades, cutoff = collection
    order = list(range(len(tags)))
    random.shuffle(order)
    lists, flags = as_arrays(rankings), as_flags(grades)
    plain = judged_rankings(topics, tags, lists, flags, cutoff=cutoff)
    mixed = judged_rankings(topics, [tags[i] for i in order], lists, flags, cutoff=cutoff)
    np.testing.assert_array_equal(mixed.documents, plain.documents[order])
    np.testing.assert_array_equal(mixed.lengths, plain.lengths[order])


@pytest.mark.parametrize(
    ("rankings", "judged", "cutoff", "message"),
    [
        ({}, {"t": (ids([1]), np.array([True]))}, 0, "`cutoff` must be an integer >= 1, but got 0"),
        (
            {},
            {"t": (ids([1, 1]), np.array([True, False]))},
            5,
            "`judged` must hold each document of a topic once, but got 't'",
        ),
        (
            {("b", "t"): ids([3, 4, 3])},
            {"t": (ids([1]), np.array([True]))},
            5,
            r"`rankings` must hold each document of a ranking once, but got \('b', 't'\)",
        ),
    ],
)
def test_faulty_input_is_named(
    rankings: dict[tuple[str, str], NDArray[np.int64]],
    judged: dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]],
    cutoff: int,
    message: str,
) -> None:
    """What cannot be put into arrays is refused with the argument and the value."""
    with pytest.raises(ArgumentError, match=message):
        judged_rankings(["t"], ["a", "b"], rankings, judged, cutoff=cutoff)


def test_repeat_beyond_the_cutoff_does_no_harm() -> None:
    """Only ranks that count are checked for repeats."""
    arrays = judged_rankings(
        ["t"], ["a"], as_arrays({("a", "t"): [3, 4, 3]}), as_flags({"t": {3: True}}), cutoff=2
    )
    assert arrays.relevant().tolist() == [[[True, False]]]


DOCUMENTS = st.sampled_from([*range(8), 10**9])


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("ab"), st.sampled_from("tu")), st.lists(DOCUMENTS, unique=True)
    ),
    st.fixed_dictionaries({t: st.dictionaries(DOCUMENTS, st.integers(-2, 3)) for t in "tu"}),
    st.integers(1, 9),
)
def test_grades_equal_plain_dictionaries(
    rankings: dict[tuple[str, str], list[int]], judged: dict[str, dict[int, int]], cutoff: int
) -> None:
    """Each rank has its document's grade, and every level the binary arrays of that level."""
    lists = {key: np.array(ids, dtype=np.int64) for key, ids in rankings.items()}
    arrays = graded_rankings(
        ["t", "u"],
        ["a", "b"],
        lists,
        {
            topic: (np.array(list(found), dtype=np.int64), np.array(list(found.values()), int))
            for topic, found in judged.items()
        },
        cutoff=cutoff,
    )
    for run, tag in enumerate("ab"):
        for column, topic in enumerate("tu"):
            kept = rankings.get((tag, topic), [])[:cutoff]
            filler = [0] * (arrays.grades.shape[-1] - len(kept))
            expected = [judged[topic].get(document, 0) for document in kept] + filler
            assert arrays.grades[run, column].tolist() == expected
            is_judged = [document in judged[topic] for document in kept] + [False] * len(filler)
            assert arrays.judged[run, column].tolist() == is_judged
            assert arrays.lengths[run, column] == len(kept)
    for column, topic in enumerate("tu"):
        in_order = sorted(judged[topic].values(), reverse=True)
        assert arrays.judged_grades[column].tolist() == in_order
    for level in range(-2, 5):
        binary = judged_rankings(
            ["t", "u"],
            ["a", "b"],
            lists,
            {
                topic: (
                    np.array(list(found), dtype=np.int64),
                    np.array([grade >= level for grade in found.values()], dtype=bool),
                )
                for topic, found in judged.items()
            },
            cutoff=cutoff,
        )
        np.testing.assert_array_equal(arrays.relevant(level), binary.relevant())
        np.testing.assert_array_equal(arrays.n_relevant(level), binary.n_relevant)
        np.testing.assert_array_equal(arrays.judged, binary.judged())


def test_arguments_that_cannot_be_used() -> None:
    """A grade beyond 32 bits is an error."""
    with pytest.raises(ArgumentError, match="`judged` must hold grades of at most 32 bits"):
        graded_rankings(["t"], [], {}, {"t": (np.array([1]), np.array([2**31]))}, cutoff=1)


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


@pytest.mark.parametrize("cutoff", [0, -1])
def test_cutoff_below_one_is_refused(cutoff: int) -> None:
    """There is no rank 0; a cutoff that is not given is none."""
    check_cutoff(None)
    check_cutoff(1)
    with pytest.raises(ArgumentError, match=rf"cutoff.*must be an integer >= 1.*{cutoff}"):
        check_cutoff(cutoff)
