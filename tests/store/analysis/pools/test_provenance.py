"""What runs brought to a pool, against sets taken depth by depth."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.pools.contributions import (
    best_ranks,
    n_contributing,
    only_contributor,
    unique_contributions,
)

# Run 0: a b c d; run 1: b a; run 2: e c b. Numbers 0 to 4 stand for a to e.
THREE = np.array([[0, 1, 2, 3], [1, 0, -1, -1], [4, 2, 1, -1]], dtype=np.int32)


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Draw rankings of a few documents, padded to one length."""
    ranking = st.lists(st.integers(0, 7), unique=True, max_size=6)
    rankings = draw(st.lists(ranking, max_size=6))
    depth = draw(st.integers(max(map(len, rankings), default=0), 7))
    table = np.full((len(rankings), depth), -1, dtype=draw(st.sampled_from([np.int32, np.int64])))
    for row, numbers in enumerate(rankings):
        table[row, : len(numbers)] = numbers
    return table


def sets_within(table: np.ndarray, depth: int) -> list[set[int]]:
    """Take the first documents of every run as a set."""
    return [{number for number in row[:depth] if number >= 0} for row in table.tolist()]


def alone(sets: list[set[int]], groups: list[int], group: int) -> int:
    """Count the documents that runs of one group have and no others."""
    own = set().union(*(one for one, code in zip(sets, groups, strict=True) if code == group))
    other = set().union(*(one for one, code in zip(sets, groups, strict=True) if code != group))
    return len(own - other)


def test_three_runs_by_hand() -> None:
    """Best ranks and uniques of three short rankings, worked out on paper."""
    assert best_ranks(THREE, 6).tolist() == [1, 1, 2, 4, 1, 0]
    # Depth 1: a, b, e each once. Depth 2: a b / b a / e c. Depth 3: a b c / b a / e c b.
    assert unique_contributions(THREE).tolist() == [[1, 0, 0, 1], [1, 0, 0, 0], [1, 2, 1, 1]]
    # Runs 0 and 2 as one group: at depth 1 it alone has a and e; from 2 on c, e, then d.
    groups = np.array([0, 1, 0])
    assert unique_contributions(THREE, groups).tolist() == [[2, 2, 2, 3], [1, 0, 0, 0]]
    assert n_contributing(THREE, 6).tolist() == [2, 3, 2, 1, 1, 0]


@given(table=tables(), data=st.data())
def test_every_depth_agrees_with_sets(table: np.ndarray, data: st.DataObject) -> None:
    """At every depth the counts are those of sets of documents, for runs and for groups."""
    n_runs, depth = table.shape
    groups = data.draw(st.lists(st.integers(0, 3), min_size=n_runs, max_size=n_runs))
    by_run, by_group = (unique_contributions(table), unique_contributions(table, np.array(groups, int)))
    assert by_run.shape == (n_runs, depth)
    assert by_group.shape == (max(groups, default=-1) + 1, depth)
    for k in range(1, depth + 1):
        sets = sets_within(table, k)
        runs = list(range(n_runs))
        assert by_run[:, k - 1].tolist() == [alone(sets, runs, run) for run in runs]
        codes = range(max(groups, default=-1) + 1)
        assert by_group[:, k - 1].tolist() == [alone(sets, groups, code) for code in codes]
    rankings = table.tolist()
    for document, best in enumerate(best_ranks(table, 8).tolist()):
        places = [row.index(document) + 1 for row in rankings if document in row]
        assert best == min(places, default=0)
        assert n_contributing(table, 8)[document] == len(places)
        having = {code for code, row in zip(groups, rankings, strict=True) if document in row}
        only = having.pop() if len(having) == 1 else -1
        assert only_contributor(table, 8, np.array(groups, int))[document] == only
        runs_with = [run for run, row in enumerate(rankings) if document in row]
        only = runs_with[0] if len(runs_with) == 1 else -1
        assert only_contributor(table, 8)[document] == only
