"""`pooler.strategies.bandits`: the run that could be the best."""

from __future__ import annotations

import math

from hypothesis import given

from pooler.strategies.rankings import rankings_of
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


def test_ucb1_tuned_worked_example() -> None:
    """Two runs by hand; each is tried once, then bounds decide."""
    # a of the first run, relevant; d of the second, not: both have been tried, n = 2.
    # ln 2 = 0.693. First: 1 + sqrt(0.693 * min(1/4, 0 + 1.18)) = 1.42; second: 0.42. So b.
    # b is not relevant, n = 3, ln 3 = 1.099. First, 1 of 2: 1/2 + sqrt(0.549 / 4) = 0.87;
    # second: sqrt(1.099 / 4) = 0.52. So c, and the first run ends; e and f remain.
    rankings = [["a", "b", "c"], ["d", "e", "f"]]
    assert play("ucb1-tuned", rankings, {"a": True}) == "a d b c e f"


def test_ucb1_tuned_untried_run_comes_first() -> None:
    """A run is tried by a judgement of its document, whichever run it came from."""
    # a is in both runs, so the second is tried with it, and the third is next; b was drawn, but
    # without a judgement the third is still not tried.
    assert play("ucb1-tuned", [["a", "z"], ["a"], ["b", "c"]], {"a": True, "b": None}) == "a b c z"


def test_ucb1_tuned_uses_the_variance() -> None:
    """A run known well to be good has less to hope for than its number of judgements allows."""
    # First run: 400 of 400 relevant; second: 93 of 100; ln 500 = 6.2146.
    # First: 6.2146 / 400 = 0.01554; variance 0 + sqrt(2 * 0.01554) = 0.1763 < 1/4;
    #   1 + sqrt(0.01554 * 0.1763) = 1.0523. (With 1/4: 1.0623.)
    # Second: 0.06215; variance 0.0651 + 0.3526 > 1/4; 0.93 + sqrt(0.06215 / 4) = 1.0547.
    runs = [[f"a{i:03}" for i in range(401)], [f"b{i:03}" for i in range(101)]]
    rankings, docnos = rankings_of(runs)
    state = start("ucb1-tuned", rankings)
    for docno in runs[0][:400]:
        state.observe(docnos.index(docno), True)
    for i, docno in enumerate(runs[1][:100]):
        state.observe(docnos.index(docno), i < 93)
    assert docnos[state.choose()] == "b100"


def test_ucb1_tuned_counts_each_judgement_of_the_topic_once() -> None:
    """The logarithm is of judged documents, not of credits: shared documents are counted once."""
    # n = 4, ln 4 = 1.386. First run, 1 of 3: 1/3 + sqrt(1.386 / 3 / 4) = 0.673. Second, 0 of 1:
    # sqrt(1.386 / 4) = 0.589. (Of 16 credits, ln 16 = 2.773: 0.814 and 0.833.)
    runs = [["a", "b", "c", "d"], ["x", "y"]] + [["a", "b", "c"]] * 4
    rankings, docnos = rankings_of(runs)
    state = start("ucb1-tuned", rankings)
    for docno, relevant in ("a", True), ("b", False), ("c", False), ("x", False):
        state.observe(docnos.index(docno), relevant)
    assert docnos[state.choose()] == "d"


def test_ucb1_tuned_variance_is_that_of_the_share() -> None:
    """A share of 5 % has a variance, and so more to hope for than one of 0."""
    # First run: 20 of 400 relevant; second: 0 of 140; n = 540, ln 540 = 6.2916.
    # First: 6.2916 / 400 = 0.01573; variance 0.05 * 0.95 + sqrt(2 * 0.01573) = 0.2249 < 1/4;
    #   0.05 + sqrt(0.01573 * 0.2249) = 0.1095. (Without 0.05 * 0.95: 0.1028.)
    # Second: 0.04494; sqrt(2 * 0.04494) = 0.2998 > 1/4; sqrt(0.04494 / 4) = 0.1060.
    runs = [[f"a{i:03}" for i in range(401)], [f"b{i:03}" for i in range(141)]]
    rankings, docnos = rankings_of(runs)
    state = start("ucb1-tuned", rankings)
    for i, docno in enumerate(runs[0][:400]):
        state.observe(docnos.index(docno), i < 20)
    for docno in runs[1][:140]:
        state.observe(docnos.index(docno), False)
    assert docnos[state.choose()] == "a400"


def _next(rows: Rows, log: Log) -> int | None:
    """Work out the next document from the whole log."""
    seen = {document for document, _ in log}
    judged = [(document, relevant) for document, relevant in log if relevant is not None]
    best: tuple[float, int] | None = None
    for row in rows:
        left = [document for document in row if document not in seen]
        rewards = [relevant for document, relevant in judged if document in row]
        bound = math.inf
        if rewards:
            mean = sum(rewards) / len(rewards)
            spread = math.log(len(judged)) / len(rewards)
            bound = mean + math.sqrt(spread * min(1 / 4, mean * (1 - mean) + math.sqrt(2 * spread)))
        if left and (best is None or bound > best[0]):
            best = bound, left[0]
    return None if best is None else best[1]


@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_ucb1_tuned_equals_the_definition(runs: list[list[str]], decisions: Decisions) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log)

    relive(start("ucb1-tuned", rankings), rankings, decisions, check)
