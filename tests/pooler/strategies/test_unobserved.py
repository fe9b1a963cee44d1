"""`pooler.strategies.adaptive`: what is left of every run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.adaptive import Unobserved
from pooler.strategies.rankings import rankings_of
from store.errors import ArgumentError
from tests.pooler.strategies.adaptive import drawn_rankings, rows_of


@given(runs=drawn_rankings, data=st.data())
def test_unobserved_equals_the_definition(runs: list[list[str]], data: st.DataObject) -> None:
    """Heads and numbers are those of the rankings without what was taken out, in any order."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)
    unobserved = Unobserved(rankings)
    for document in data.draw(st.permutations(range(rankings.n_documents))):
        assert not unobserved.is_empty
        assert unobserved.n_left == [len(row) for row in rows]
        assert [unobserved.head(i) for i, row in enumerate(rows) if row] == [row[0] for row in rows if row]
        unobserved.remove(document)
        rows = [[other for other in row if other != document] for row in rows]
    assert unobserved.is_empty
    assert unobserved.n_observed == rankings.n_documents


def test_unobserved_places_are_runs_and_ranks() -> None:
    """Each document knows where it stands, runs ascending, ranks from 0."""
    unobserved = Unobserved(rankings_of([["a", "b"], ["b"], ["c", "a", "b"]])[0])
    assert unobserved.places == [[(0, 0), (2, 1)], [(0, 1), (1, 0), (2, 2)], [(2, 0)]]


@pytest.mark.parametrize("document", [-1, 1, 3])
def test_unobserved_remove_refuses_what_is_not_left(document: int) -> None:
    """A document goes once, and only one that is there."""
    unobserved = Unobserved(rankings_of([["a", "b", "c"]])[0])
    unobserved.remove(1)
    with pytest.raises(ArgumentError, match=f"not observed before, but got {document}"):
        unobserved.remove(document)
    assert unobserved.n_left == [2]
