"""Rankings and judgements as arrays."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.rankings import NOT_RELEVANT, NOT_RETRIEVED, RELEVANT, UNJUDGED, judged_rankings
from store.errors import ArgumentError

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
