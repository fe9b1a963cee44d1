"""What the tests of adaptive strategies share: drawn topics and histories, and how to play them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.kinds import Adaptive, AdaptiveStrategy, ParameterValue
from pooler.strategies.rankings import TopicRankings, rankings_of
from store.analysis.pools.contributions import NO_DOCUMENT

Rows = list[list[int]]
"""Documents of every run in rank order."""
Log = list[tuple[int, bool | None]]
"""What was observed, in order."""
Decisions = list[tuple[int | None, bool | None]]
"""Step by step: which of the documents left is observed (``None`` = the one chosen), and what
came of it."""

drawn_rankings = st.lists(
    st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8, unique=True), max_size=5
)
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
