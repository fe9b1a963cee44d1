"""Tables of pairs, against counting one document after another."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import Votes
from store.errors import UnknownNameError
from tests.store.analysis.graded import drawn_votes, texts_of, votes_in


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


def test_judge_not_there_is_refused() -> None:
    """An unknown judge is an error that lists the judges."""
    votes = votes_in(["0"], (0, 1))
    with pytest.raises(UnknownNameError, match="unknown judge `ann`; known: `judge 0`"):
        pair_tables(votes, "judge 0", "ann")
