"""All adaptive strategies of the table: what every one of them promises."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import ADAPTIVE, STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, ParameterValue
from pooler.strategies.rankings import TopicRankings, rankings_of
from store.errors import ArgumentError
from tests.pooler.strategies.adaptive import Decisions, Log, drawn_decisions, drawn_rankings, relive, start

NAMES = [name for name, row in STRATEGIES.items() if isinstance(row, AdaptiveStrategy)]
CASES: list[tuple[str, dict[str, ParameterValue]]] = [(name, {}) for name in NAMES]
CASES += [("depth-then", {"then": row.name, "first": 2}) for row in ADAPTIVE]
each_strategy = pytest.mark.parametrize(("name", "given_parameters"), CASES)


def _big_topic() -> TopicRankings:
    """Return 12 runs of 30 out of 100 documents, the same every time."""
    rng = random.Random(7)
    docnos = [f"d{i:02}" for i in range(100)]
    return rankings_of([rng.sample(docnos, 30) for _ in range(12)], topic="51")[0]


def _drain(
    rankings: TopicRankings, name: str, seed: int, budget: int | None = None, **given: ParameterValue
) -> list[int]:
    """Judge in the order chosen, up to the budget; every fourth document is relevant."""
    state = start(name, rankings, seed=seed, **given)
    order: list[int] = []
    while len(order) != budget and (chosen := state.choose()) is not None:
        assert chosen not in order
        order.append(chosen)
        state.observe(chosen, chosen % 4 == 0)
    return order


def test_table_has_the_adaptive_strategies() -> None:
    """Every adaptive way of pooling is found under its own name."""
    assert NAMES == [
        "rbp-b", "rbp-c", "mtf", "hedge", "max-mean", "mm-ns", "thompson", "depth-then",
    ]  # fmt: skip


@each_strategy
@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_adaptive_state_is_made_again_from_what_was_observed(
    name: str, given_parameters: dict[str, ParameterValue], runs: list[list[str]], decisions: Decisions
) -> None:
    """At any point a new state that observes the same past chooses the same; asked twice, too."""
    rankings, _ = rankings_of(runs, topic="51")
    state = start(name, rankings, **given_parameters)

    def check(chosen: int | None, log: Log) -> None:
        assert state.choose() == chosen
        again = start(name, rankings, **given_parameters)
        for document, outcome in log:
            again.observe(document, outcome)
        assert again.choose() == chosen
        # One that was asked at every step has not changed by it.
        assert (chosen is None) == (len(log) == rankings.n_documents)
        assert chosen not in {document for document, _ in log}

    relive(state, rankings, decisions, check)


@each_strategy
def test_adaptive_visits_every_document_once(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """To the end, every document of the union is chosen exactly once; a budget cuts this short."""
    rankings = _big_topic()
    order = _drain(rankings, name, 1, **given_parameters)
    assert sorted(order) == list(range(rankings.n_documents))
    for budget in 1, 40, 1000:
        assert _drain(rankings, name, 1, budget, **given_parameters) == order[:budget]


@each_strategy
def test_adaptive_seed_decides(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """The same seed gives the same order; another seed another one where chance has a say."""
    rankings = _big_topic()
    first, again, other = (_drain(rankings, name, seed, **given_parameters) for seed in (1, 1, 2))
    assert first == again
    strategy = STRATEGIES[name]
    assert isinstance(strategy, AdaptiveStrategy)
    is_random = strategy.needs_seed_for(strategy.complete(given_parameters))
    assert (first != other) == is_random


@each_strategy
def test_adaptive_judgements_matter(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """What was found changes what comes next; method B alone looks at what is known only."""
    rankings = _big_topic()
    orders = []
    for remainder in range(4):
        state = start(name, rankings, **given_parameters)
        order = []
        while (chosen := state.choose()) is not None:
            order.append(chosen)
            state.observe(chosen, chosen % 4 == remainder)
        orders.append(order)
    is_blind = "rbp-b" in (name, given_parameters.get("then"))
    assert all(order == orders[0] for order in orders[1:]) == is_blind


@each_strategy
def test_adaptive_refuses_what_was_observed(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """A document cannot be observed twice, nor can one that is not there; nothing is changed."""
    rankings, _ = rankings_of([["a", "b"], ["c"]], topic="51")
    state = start(name, rankings, **given_parameters)
    state.observe(0, True)
    chosen = state.choose()
    for document in 0, 3, -1:
        with pytest.raises(ArgumentError, match="`document` must be the number of a document not"):
            state.observe(document, True)
    assert state.choose() == chosen


@each_strategy
def test_adaptive_without_runs_has_nothing_to_choose(
    name: str, given_parameters: dict[str, ParameterValue]
) -> None:
    """A topic that no run returned anything for is done at once."""
    assert start(name, rankings_of([])[0], **given_parameters).choose() is None


@each_strategy
@given(runs=drawn_rankings.filter(bool), run=st.integers(0, 4))
def test_adaptive_one_run_alone_is_taken_in_its_order(
    name: str, given_parameters: dict[str, ParameterValue], runs: list[list[str]], run: int
) -> None:
    """With a single run there is no choice but its own order, whatever is relevant."""
    ranking = runs[run % len(runs)]
    rankings, docnos = rankings_of([ranking], topic="51")
    order = _drain(rankings, name, 1, **given_parameters)
    assert [docnos[document] for document in order] == ranking
