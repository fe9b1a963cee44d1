"""`pooler.strategies.fixed`: pairwise majorities."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.fixed import condorcet_values
from pooler.strategies.rankings import TopicRankings
from tests.pooler.strategies.fixed import drawn_rankings, order_of, values_of


def victories(rankings: list[list[str]]) -> dict[str, int]:
    """Count victories by asking every run about every two documents."""
    union = sorted({docno for ranking in rankings for docno in ranking})

    def place(ranking: list[str], docno: str) -> int:
        return ranking.index(docno) if docno in ranking else len(ranking)

    def beats(one: str, other: str) -> bool:
        places = [(place(ranking, one), place(ranking, other)) for ranking in rankings]
        return sum(a < b for a, b in places) > sum(b < a for a, b in places)

    return {one: sum(beats(one, other) for other in union) for one in union}


def test_condorcet_values_worked_example() -> None:
    """Three runs by hand; what a run returned beats what it did not."""
    # a against b: 2 to 1. a against c: alpha and beta for a, gamma for c. a against d: alpha and
    # beta (gamma has neither). b against c: alpha and gamma for b, beta for c. b against d: alpha
    # and gamma for b, beta for d. c against d: alpha for d, gamma for c, beta for d.
    # So a beats b, c, d; b beats c, d; d beats c.
    rankings = [["a", "b", "d"], ["a", "d", "c"], ["b", "c"]]
    assert values_of("condorcet", rankings) == {"a": 3, "b": 2, "c": 0, "d": 1}
    assert order_of("condorcet", rankings) == ["a", "b", "d", "c"]


def test_condorcet_values_in_a_circle_are_tied() -> None:
    """Condorcet's paradox: each beats one other, so the docno decides."""
    rankings = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    assert values_of("condorcet", rankings) == {"a": 1, "b": 1, "c": 1}
    assert order_of("condorcet", rankings) == ["c", "b", "a"]


def test_condorcet_values_even_match_has_no_winner() -> None:
    """One run against one is no majority."""
    assert values_of("condorcet", [["a", "b"], ["b", "a"]]) == {"a": 0, "b": 0}


@given(rankings=drawn_rankings, depth=st.integers(1, 9))
def test_condorcet_values_equal_the_definition(rankings: list[list[str]], depth: int) -> None:
    """Values are the victories of a slow count."""
    expected = victories([ranking[:depth] for ranking in rankings])
    assert values_of("condorcet", rankings, depth=depth) == expected


def test_condorcet_values_of_many_documents_equal_the_definition() -> None:
    """A union too large to hold all its pairs at once gives the same."""
    n_documents, depth = 3000, 1500
    rng = np.random.default_rng(11)
    # The first two runs have every document between them.
    rows = np.stack([rng.permutation(n_documents)[:depth] for _ in range(5)])
    rows[1] = np.setdiff1d(np.arange(n_documents), rows[0])
    places = np.full((len(rows), n_documents), depth)
    np.put_along_axis(places, rows, np.arange(depth)[np.newaxis], axis=1)
    expected = [
        int((np.sign(places - places[:, [document]]).sum(axis=0) > 0).sum())
        for document in range(n_documents)
    ]
    rankings = TopicRankings(rows.astype(np.int32), n_documents)
    assert condorcet_values(rankings).tolist() == expected
