"""Tables of pairs: both ways to count them, against counting one document after another."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement import tables as module
from store.analysis.agreement.tables import all_pair_tables, pair_tables
from store.analysis.agreement.votes import Votes
from store.errors import ArgumentError, UnknownNameError
from tests.store.analysis.graded import MISSING, drawn_votes, texts_of, votes_in


def slow_table(votes: Votes, first: int, second: int) -> list[list[list[int]]]:
    """Count the documents of two judges, topic by topic, one after another."""
    seen = Counter(
        (topic, text[first], text[second])
        for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True)
    )
    grades = [str(place) for place in range(votes.n_grades)]
    topics = range(len(votes.topics))
    return [[[seen[topic, a, b] for b in grades] for a in grades] for topic in topics]


@given(drawn_votes(max_judges=4))
def test_tables_of_a_pair_count_documents_graded_by_both(votes: Votes) -> None:
    """A topic's table counts the documents graded by both, and transposed the other way round."""
    for first, second in combinations(range(len(votes.judges)), 2):
        names = votes.judges[first], votes.judges[second]
        tables = pair_tables(votes, *names)
        assert tables.tolist() == slow_table(votes, first, second)
        assert tables.dtype == np.int64
        assert np.array_equal(pair_tables(votes, *names[::-1]), tables.transpose(0, 2, 1))


@given(drawn_votes(max_judges=5, max_documents=15), st.integers(1, 5))
def test_tables_of_all_pairs_are_those_of_each(votes: Votes, block: int) -> None:
    """Every pair's table is there, in order, by either way of counting, in blocks of any size."""
    pairs = list(combinations(range(len(votes.judges)), 2))
    expected = [np.sum(slow_table(votes, *pair), axis=0).tolist() for pair in pairs]
    sizes = np.bincount(votes.documents, minlength=votes.n_documents)
    tables = all_pair_tables(votes)
    assert tables.tolist() == expected
    assert tables.shape == (len(pairs), votes.n_grades, votes.n_grades)
    kept = module._CHUNK_PAIRS, module._BLOCK_CELLS
    try:
        module._CHUNK_PAIRS = block
        module._BLOCK_CELLS = block * max(len(votes.judges) * votes.n_grades, 1)
        for count in (module._one_by_one, module._by_product):
            tables = count(votes, sizes)
            assert tables.tolist() == expected
            assert tables.dtype == np.int64
    finally:
        module._CHUNK_PAIRS, module._BLOCK_CELLS = kept


def test_either_way_is_taken_where_it_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that all judges graded are multiplied, those of a few counted one by one."""
    taken = []
    for name in ("_one_by_one", "_by_product"):
        kept = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, name=name, kept=kept: (taken.append(name), kept(*given))[1]
        )
    full = votes_in(["0" * 40] * 60, (0, 1))
    all_pair_tables(full)
    sparse = votes_in([f"{MISSING * (n % 38)}01{MISSING * (38 - n % 38)}" for n in range(60)], (0, 1))
    all_pair_tables(sparse)
    assert taken == ["_by_product", "_one_by_one"]


def test_judge_not_there_is_refused() -> None:
    """An unknown judge is an error that lists the judges, and so is a judge against itself."""
    votes = votes_in(["0"], (0, 1))
    with pytest.raises(UnknownNameError, match="unknown judge `ann`; known: `judge 0`"):
        pair_tables(votes, "judge 0", "ann")
    with pytest.raises(ArgumentError, match="`second` must be another judge than `first`"):
        pair_tables(votes, "judge 0", "judge 0")
