"""`pooler.strategies.bandits`: any run at first, later the best."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.rankings import rankings_of, uniform_numbers
from store.errors import ArgumentError
from tests.pooler.strategies.adaptive import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_rankings,
    play,
    relive,
    rows_of,
    start,
)


def test_epsilon_greedy_without_chance_worked_example() -> None:
    """With hardly any chance, the run with the greatest share of relevant documents is pulled."""
    # Shares of the three runs before each document, 1/2 where nothing is judged:
    # 1/2 1/2 1/2  a of the first.
    #  0  1/2 1/2  b of the second, relevant, and in the first, too.
    # 1/2  1  1/2  d of the second, which ends.
    # 1/2  .  1/2  a tie: c of the first, which ends; e remains.
    rankings = [["a", "b", "c"], ["b", "d"], ["e"]]
    assert play("epsilon-greedy", rankings, {"b": True}, c=1e-12, d=0.5) == "a b d c e"


def test_epsilon_greedy_unknown_run_is_worth_one_half() -> None:
    """A run without judgements is better than one that fails mostly, and not than a good one."""
    # a and b fail, so the first run has 0 and the second 1/2. With a relevant, the first has 1.
    rankings = [["a", "b"], ["c"]]
    assert play("epsilon-greedy", rankings, {}, c=1e-12, d=0.5) == "a c b"
    assert play("epsilon-greedy", rankings, {"a": True}, c=1e-12, d=0.5) == "a b c"


def test_epsilon_greedy_begins_at_random() -> None:
    """With the usual parameters, the first pulls, as many as there are runs, are all random."""
    # 0.01 * 4 / (0.1**2 * n) = 4 / n, at least 1 up to the 4th pull. Of runs without end, each
    # is pulled when the second number of the step falls into its quarter.
    runs = [[f"{tag}{i}" for i in range(5)] for tag in "pqrs"]
    rankings, docnos = rankings_of(runs, topic="51")
    for seed in range(20):
        state = start("epsilon-greedy", rankings, seed=seed)
        for step in range(4):
            chosen = state.choose()
            assert chosen is not None
            quarter = int(4 * uniform_numbers(seed, "51", 2, step=step)[1])
            assert docnos[chosen][0] == "pqrs"[quarter]
            state.observe(chosen, True)


def test_epsilon_greedy_smallest_d_is_all_chance() -> None:
    """A d whose square no float can hold is no error: arms are always tried at random."""
    rankings, _ = rankings_of([[f"{tag}{i}" for i in range(40)] for tag in "pq"], topic="51")
    state = start("epsilon-greedy", rankings, d=5e-324)
    chosen = set()
    for document in range(30):
        chosen.add(state.choose())
        state.observe(document, True)
    # Heads of both runs, though the second has no judgement and half the first one's mean.
    assert {document is not None and document < 40 for document in chosen} == {True, False}


@pytest.mark.parametrize(("name", "value"), [("c", 0), ("d", 0), ("d", 1)])
def test_epsilon_greedy_impossible_parameters_are_refused(name: str, value: float) -> None:
    """Neither parameter may be 0, and d must stay below 1."""
    with pytest.raises(ArgumentError, match=rf"`{name}` must be a number > 0"):
        find_strategy("epsilon-greedy").complete({name: value})


def _next(rows: Rows, log: Log, *, seed: int, c: float, d: float) -> int | None:
    """Work out the next document from the whole log."""
    seen = {document for document, _ in log}
    judged = [(document, relevant) for document, relevant in log if relevant is not None]
    arms = []
    for row in rows:
        left = [document for document in row if document not in seen]
        rewards = [relevant for document, relevant in judged if document in row]
        if left:
            arms.append((sum(rewards) / len(rewards) if rewards else 0.5, left[0]))
    if not arms:
        return None
    epsilon = min(1.0, c * len(rows) / (d**2 * (len(judged) + 1)))
    first, second = uniform_numbers(seed, "51", 2, step=len(log))
    if first < epsilon:
        return arms[int(second * len(arms))][1]
    best = max(mean for mean, _ in arms)
    return next(document for mean, document in arms if mean == best)


@given(
    runs=drawn_rankings,
    decisions=drawn_decisions,
    seed=st.integers(0, 9),
    c=st.sampled_from([0.001, 0.01, 0.02]),
)
def test_epsilon_greedy_equals_the_definition(
    runs: list[list[str]], decisions: Decisions, seed: int, c: float
) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs, topic="51")
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log, seed=seed, c=c, d=0.1)

    relive(start("epsilon-greedy", rankings, seed=seed, c=c), rankings, decisions, check)
