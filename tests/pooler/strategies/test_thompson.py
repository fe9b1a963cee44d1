"""`pooler.strategies.adaptive`: an arm as often as it is likely the best."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import rankings_of, uniform_numbers
from tests.pooler.strategies.adaptive import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_rankings,
    relive,
    rows_of,
    start,
)

N_SEEDS = 2000


def _share_of_second(hits: tuple[int, int], misses: tuple[int, int]) -> float:
    """Choose between two runs with these hits and misses with many seeds: how often the second."""
    runs = [[f"a{i}" for i in range(12)], [f"b{i}" for i in range(12)]]
    rankings, docnos = rankings_of(runs, topic="51")
    n_second = 0
    for seed in range(N_SEEDS):
        state = start("thompson", rankings, seed=seed)
        for run, ranking in enumerate(runs):
            for i in range(hits[run] + misses[run]):
                state.observe(docnos.index(ranking[i]), i < hits[run])
        chosen = state.choose()
        assert chosen is not None
        n_second += docnos[chosen][0] == "b"
    return n_second / N_SEEDS


@pytest.mark.parametrize(
    ("hits", "misses", "expected"),
    [
        # Beta(1, 1) against Beta(1, 1): even.
        ((0, 0), (0, 0), 1 / 2),
        # P(X < Y), X uniform, Y of density 2y: the mean of Y, 2/3.
        ((0, 1), (0, 0), 2 / 3),
        # X uniform, Y ~ Beta(2, 4): its mean, 2/6.
        ((0, 1), (0, 3), 1 / 3),
        # X ~ Beta(1, 2), so P(X < y) = 1 - (1 - y)**2 = 2 y - y**2, and Y of density 3 y**2:
        # 2 * 3/4 - 3/5 = 9/10.
        ((0, 2), (1, 0), 9 / 10),
    ],
)
def test_thompson_pulls_an_arm_as_often_as_it_is_the_best(
    hits: tuple[int, int], misses: tuple[int, int], expected: float
) -> None:
    """Over many seeds, the shares are the probabilities of the Beta distributions by hand."""
    # Four standard errors; the seeds are fixed, so it fails always or never.
    tolerance = 4 * math.sqrt(expected * (1 - expected) / N_SEEDS)
    assert _share_of_second(hits, misses) == pytest.approx(expected, abs=tolerance)


def test_thompson_worked_example() -> None:
    """The third smallest of four numbers against the smallest of two."""
    rankings, docnos = rankings_of([["a", "b", "c", "x"], ["d", "y"]], topic="51")
    state = start("thompson", rankings, seed=5)
    for docno, relevant in ("a", True), ("b", False), ("c", True), ("d", False):
        state.observe(docnos.index(docno), relevant)
    # 2 hits of 3: Beta(3, 2), the third of four; 0 of 1: Beta(1, 2), the first of two.
    numbers = uniform_numbers(5, "51", 6, step=4).tolist()
    first, second = sorted(numbers[:4])[2], min(numbers[4:])
    assert docnos[state.choose()] == ("x" if first > second else "y")


def _next(rows: Rows, log: Log, seed: int) -> int | None:
    """Work out the next document from the whole log."""
    seen = {document for document, _ in log}
    draws = []
    n_used = 0
    for row in rows:
        left = [document for document in row if document not in seen]
        rewards = [relevant for document, relevant in log if document in row]
        hits, misses = rewards.count(True), rewards.count(False)
        if left:
            numbers = uniform_numbers(seed, "51", 200, step=len(log)).tolist()
            of_arm = sorted(numbers[n_used : n_used + hits + misses + 1])
            n_used += len(of_arm)
            draws.append((of_arm[hits], left[0]))
    return max(draws)[1] if draws else None


@given(runs=drawn_rankings, decisions=drawn_decisions, seed=st.integers(0, 9))
def test_thompson_equals_the_definition(runs: list[list[str]], decisions: Decisions, seed: int) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs, topic="51")
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log, seed)

    relive(start("thompson", rankings, seed=seed), rankings, decisions, check)
