"""Sampled pools: four standings stay apart, and places point back at the documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.sampled import (
    GRADED,
    NOT_POOLED,
    NOT_SAMPLED,
    UNGRADED,
    sampled_pool,
    sampled_rankings,
)
from store.analysis.rankings import NOT_RETRIEVED
from store.errors import ArgumentError


@given(data=st.data())
def test_every_rank_finds_its_document(data: st.DataObject) -> None:
    """Whatever order pool and rankings come in, and with ids that lie far apart."""
    ids = st.integers(0, 20).map(lambda number: number**5)
    pooled = data.draw(st.lists(ids, unique=True))
    states = data.draw(st.lists(st.sampled_from([NOT_SAMPLED, UNGRADED, GRADED]),
                                min_size=len(pooled), max_size=len(pooled)))  # fmt: skip
    pool = sampled_pool(pooled, states, list(range(len(pooled))))
    lists = {(tag, "t"): data.draw(st.lists(ids, unique=True)) for tag in "ab"}
    cutoff = data.draw(st.integers(1, 25))
    ranked = {key: np.array(documents, dtype=np.int64) for key, documents in lists.items()}
    arrays = sampled_rankings(["a", "b"], ranked, {"t": pool}, cutoff=cutoff)
    for run, tag in enumerate("ab"):
        expected = lists[tag, "t"][:cutoff]
        assert arrays.lengths[run, 0] == len(expected)
        row = arrays.places[run, 0].tolist()
        assert row[len(expected) :] == [NOT_RETRIEVED] * (len(row) - len(expected))
        for document, place in zip(expected, row, strict=False):
            if document not in pooled:
                assert place == NOT_POOLED
                continue
            assert pool.documents[place] == document
            number = pooled.index(document)
            assert pool.states[place] == states[number]
            assert pool.grades[place] == (number if states[number] == GRADED else 0)


def test_negative_grades_are_grades() -> None:
    """Junk is judged; what is not sampled has no grade to take for one."""
    pool = sampled_pool([1, 2], [GRADED, NOT_SAMPLED], [-2, 1])
    assert pool.graded.tolist() == [True, False]
    assert pool.relevant(-2).tolist() == [True, False]
    assert pool.relevant(0).tolist() == [False, False]


def test_probability_of_what_was_not_sampled_may_be_unknown_or_none() -> None:
    """A stratum of which nothing is drawn has probability 0."""
    pool = sampled_pool([1, 2, 3], [-1, -1, 1], [0, 0, 0], inclusion=[np.nan, 0, 0.5])
    assert pool.inclusion is not None
    assert pool.inclusion.tolist()[1:] == [0, 0.5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 1], [1, 1], [0, 0], {}), "once, but got 1"),
        (([1], [1], [0], {"inclusion": [0.0]}), "above 0"),
        (([1], [0], [0], {"inclusion": [np.nan]}), "above 0"),
        (([1], [-1], [0], {"inclusion": [1.5]}), "at most 1"),
    ],
)
def test_pool_that_cannot_be_is_refused(given: tuple, message: str) -> None:  # type: ignore[type-arg]
    """Each argument by name."""
    documents, states, grades, others = given
    with pytest.raises(ArgumentError, match=message):
        sampled_pool(documents, states, grades, **others)
