"""Grades by rank: plain dictionaries, and the binary arrays at every level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.rankings import graded_rankings, judged_rankings
from store.errors import ArgumentError

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
