"""MAP with only some of the relevant documents known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.average_precision import (
    average_precision,
    mean_average_precision,
    relevant_ranks,
)
from store.analysis.rankings import RELEVANT, JudgedRankings, judged_rankings

DOCUMENTS = range(8)


@st.composite
def collections(draw: st.DrawFn) -> tuple[JudgedRankings, NDArray[np.bool_]]:
    """Draw runs and judgements, and which of the relevant documents are known."""
    topics = [str(number) for number in range(draw(st.integers(1, 3)))]
    tags = [f"run{number}" for number in range(draw(st.integers(1, 3)))]
    rankings = {}
    for tag in tags:
        for topic in topics:
            listed = draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=6))
            rankings[tag, topic] = np.array(listed, np.int64)
    judged = {}
    for topic in topics:
        grades = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.booleans()))
        judged[topic] = np.array(list(grades), np.int64), np.array(list(grades.values()), np.bool_)
    arrays = judged_rankings(topics, tags, rankings, judged, cutoff=draw(st.integers(1, 7)))
    n_relevant = int(arrays.n_relevant.sum())
    known = draw(st.lists(st.booleans(), min_size=n_relevant, max_size=n_relevant))
    return arrays, np.array(known, np.bool_)


@given(collections())
def test_map_is_that_of_judgements_without_the_unknown_documents(
    drawn: tuple[JudgedRankings, NDArray[np.bool_]],
) -> None:
    """Whatever is known, MAP is average precision of the ranks that hold a known document."""
    arrays, known = drawn
    numbers = iter(range(known.size))
    relevant = np.zeros(arrays.documents.shape, np.bool_)
    n_known = np.zeros(len(arrays.topics), np.int64)
    for topic, states in enumerate(arrays.states):
        for code in np.flatnonzero(states == RELEVANT):
            if known[next(numbers)]:
                relevant[:, topic] |= arrays.documents[:, topic] == code
                n_known[topic] += 1
    expected, n_defined = mean_average_precision(average_precision(relevant, n_known[None, :]))
    got, n_topics = relevant_ranks(arrays).mean_average_precision(known)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14, equal_nan=True)
    assert n_topics.tolist() == n_defined.tolist()


def test_map_by_hand() -> None:
    """Two topics, two runs; the second relevant document of topic 1 is in no run.

    All known. Run x: topic 1 ranks a, c with a relevant of two: AP 1/2; topic 2 ranks b, a with a
    relevant: AP 1/2. MAP 1/2. Run y has c, a for topic 1 (AP 1/4) and nothing for topic 2: 1/8.
    Without the document in no run: x 3/4, y 1/4. With that one alone: 0 in topic 1 only.
    """
    a, b, c, nowhere = range(4)
    rankings = {("x", "1"): np.array([a, c]), ("x", "2"): np.array([b, a]), ("y", "1"): np.array([c, a])}
    judged = {
        "1": (np.array([nowhere, a]), np.array([True, True])),
        "2": (np.array([a, b]), np.array([True, False])),
    }
    ranks = relevant_ranks(judged_rankings(["1", "2"], ["x", "y"], rankings, judged, cutoff=1000))
    assert ranks.topic_of.tolist() == [0, 0, 1]  # a, nowhere, a
    for known, expected, n_topics in (
        ([True, True, True], [1 / 2, 1 / 8], 2),
        ([True, False, True], [3 / 4, 1 / 4], 2),
        ([False, True, False], [0.0, 0.0], 1),
    ):
        mean, n_defined = ranks.mean_average_precision(np.array(known))
        assert mean.tolist() == pytest.approx(expected, abs=1e-15)
        assert n_defined.tolist() == [n_topics, n_topics]


def test_nothing_known_has_no_map() -> None:
    """Without a relevant document there is no number."""
    arrays = judged_rankings(
        ["1"], ["x"], {("x", "1"): np.array([5])}, {"1": (np.array([5]), np.array([True]))}, cutoff=9
    )
    mean, n_defined = relevant_ranks(arrays).mean_average_precision(np.array([False]))
    assert np.isnan(mean).all()
    assert n_defined.tolist() == [0]
