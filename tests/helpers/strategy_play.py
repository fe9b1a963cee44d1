"""What tests of strategies share: drawn rankings and histories, and how to play them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pooler.reading.tops import RunTop, TopRanking
from pooler.strategies import find_strategy
from pooler.strategies.kinds import Adaptive, AdaptiveStrategy, FixedStrategy, ParameterValue
from pooler.strategies.rankings import TopicRankings, descending, rankings_of
from store.analysis.pools.contributions import NO_DOCUMENT
from tests.helpers.strategies import ids

Rows = list[list[int]]
"""Documents of every run in rank order."""
Log = list[tuple[int, bool | None]]
"""What was observed, in order."""
Decisions = list[tuple[int | None, bool | None]]
"""Step by step: which of the documents left is observed (``None`` = the one chosen), and what
came of it."""

drawn_ranking = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8, unique=True)
drawn_rankings = st.lists(drawn_ranking, max_size=5)
"""A few runs of one topic, with much in common."""

drawn_outcomes = st.sampled_from([True, False, None])

drawn_decisions = st.lists(st.tuples(st.none() | st.integers(0, 9), drawn_outcomes), max_size=11)
"""A history in which some documents are not the ones the strategy chose."""


def start(name: str, rankings: TopicRankings, *, seed: int = 1, **given: ParameterValue) -> Adaptive:
    """Begin a strategy as its row of the table says."""
    strategy = find_strategy(name)
    assert isinstance(strategy, AdaptiveStrategy)
    parameters = strategy.complete(given)
    if strategy.needs_seed_for(parameters):
        return strategy.start(rankings, seed=seed, **parameters)
    return strategy.start(rankings, **parameters)


def play(
    name: str,
    rankings: Sequence[Sequence[str]],
    outcomes: Mapping[str, bool | None],
    *,
    seed: int = 1,
    **given: ParameterValue,
) -> str:
    """Judge all documents in the order chosen; those not in `outcomes` are not relevant."""
    arrays, docnos = rankings_of(rankings, topic="51")
    state = start(name, arrays, seed=seed, **given)
    order = []
    for _ in docnos:
        chosen = state.choose()
        assert chosen is not None
        order.append(docnos[chosen])
        state.observe(chosen, outcomes.get(docnos[chosen], False))
    assert state.choose() is None
    return " ".join(order)


def rows_of(rankings: TopicRankings) -> Rows:
    """Return the rankings as lists."""
    return [[document for document in row if document != NO_DOCUMENT] for row in rankings.documents.tolist()]


def relive(
    state: Adaptive, rankings: TopicRankings, decisions: Decisions, check: Callable[[int | None, Log], None]
) -> Log:
    """Observe what was decided, and `check` every choice against what was observed before it."""
    log: Log = []
    left = list(range(rankings.n_documents))
    for pick, outcome in decisions:
        chosen = state.choose()
        check(chosen, log)
        if chosen is None:
            break
        document = chosen if pick is None else left[pick % len(left)]
        state.observe(document, outcome)
        log.append((document, outcome))
        left.remove(document)
    check(state.choose(), log)
    return log


id_rankings = st.lists(st.lists(ids, min_size=1, max_size=8, unique=True), max_size=5)
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


def top_run(
    tag: str,
    topics: Mapping[str, Sequence[str]],
    *,
    depth: int,
    contributes: bool = True,
    group: str = "",
    file: str = "",
) -> RunTop:
    """Make a run of ranked docnos, cut at `depth`, as it is read from a file."""
    tops = {
        topic: TopRanking.of(list(docnos[:depth]), -np.arange(1.0, len(docnos[:depth]) + 1), len(docnos))
        for topic, docnos in topics.items()
    }
    n_lines = sum(map(len, topics.values()))
    return RunTop(tag, file or f"{tag}.run", f"sha-{tag}", depth, "trec", tops, n_lines, group, contributes)


def ranks_of(rankings: Sequence[Sequence[str]], *, depth: int | None = None) -> dict[str, list[int]]:
    """Look up the ranks of every document, ascending: the slow way."""
    ranks = defaultdict(list)
    for ranking in rankings:
        for rank, docno in enumerate(ranking[:depth], start=1):
            ranks[docno].append(rank)
    return {docno: sorted(ranks[docno]) for docno in sorted(ranks)}
