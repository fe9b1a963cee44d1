"""What the tests of fixed strategies share: drawn rankings, values by docno, peers' numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.kinds import FixedStrategy
from pooler.strategies.rankings import descending, rankings_of
from tests.strategies import ids

drawn_rankings = st.lists(st.lists(ids, min_size=1, max_size=8, unique=True), max_size=5)
"""A few runs of one topic, with much in common."""


def cut_at(depth: int | None, *lists: Sequence[Sequence[Any]] | None) -> list[Any]:
    """Cut the rankings of runs, and their scores if there are any."""
    return [None if one is None else [row[:depth] for row in one] for one in lists]


def values_of(
    name: str,
    rankings: Sequence[Sequence[str]],
    scores: Sequence[Sequence[float]] | None = None,
    *,
    depth: int | None = None,
    **given: float,
) -> dict[str, float]:
    """Value documents as the row of the table does, by docno."""
    strategy = find_strategy(name)
    assert isinstance(strategy, FixedStrategy)
    arrays, docnos = rankings_of(*cut_at(depth, rankings, scores))
    values = strategy.values(arrays, **strategy.complete(given))
    assert values.shape == (len(docnos),)
    assert values.dtype == "float64"
    return dict(zip(docnos, values.tolist(), strict=True))


def order_of(
    name: str,
    rankings: Sequence[Sequence[str]],
    scores: Sequence[Sequence[float]] | None = None,
    *,
    depth: int | None = None,
    **given: float,
) -> list[str]:
    """Order documents as a pool does: value descending, then docno descending."""
    strategy = find_strategy(name)
    assert isinstance(strategy, FixedStrategy)
    arrays, docnos = rankings_of(*cut_at(depth, rankings, scores))
    values = strategy.values(arrays, **strategy.complete(given))
    return [docnos[number] for number in descending(values)]


def ranks_of(rankings: Sequence[Sequence[str]], *, depth: int | None = None) -> dict[str, list[int]]:
    """Look up the ranks of every document, ascending: the slow way."""
    ranks = defaultdict(list)
    for ranking in rankings:
        for rank, docno in enumerate(ranking[:depth], start=1):
            ranks[docno].append(rank)
    return {docno: sorted(ranks[docno]) for docno in sorted(ranks)}
